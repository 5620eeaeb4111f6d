"""The page for coding agents: its errors come out, and its exit codes are those of the table."""

import json
import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "coding-agents.md").read_text(encoding="utf-8")
FILES = dict(
    re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
ERRORS = re.findall(r"^\| `harness (.+?)` \| `(.+?)` \| (.+) \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with the files of the page and its run, on fewer ratings."""
    import harness

    folder = tmp_path_factory.mktemp("agents")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    config = {
        "name": "first",
        "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
        "algorithms": ["BaselineOnly", "SVD"],
        "metrics": ["ndcg@10", "rmse"],
    }
    harness.run(config, results=folder / "runs")
    return folder


def test_there_are_ten_errors():
    assert len(ERRORS) == len({call for call, *_ in ERRORS}) == 10


@pytest.mark.parametrize(("call", "message"), [row[:2] for row in ERRORS])
def test_an_error_of_the_page_comes_out(call, message, made, cli, monkeypatch):
    monkeypatch.chdir(made)
    code, out, _ = cli(*shlex.split(call), "--json")
    document = json.loads(out)
    assert code == document["exit"] == 2
    faults = [fault for each in document["result"] or () for fault in each["faults"]]
    said = document["error"]["message"] if document["error"] else "\n".join(faults)
    assert message in said


def test_its_exit_codes_are_those_of_the_command_line():
    reference = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    own, all_of_them = (
        {
            code
            for cell in re.findall(r"^\| ([\d, ]+) \| ", text, re.MULTILINE)
            for code in cell.split(", ")
        }
        for text in (PAGE, reference)
    )
    assert own == all_of_them
