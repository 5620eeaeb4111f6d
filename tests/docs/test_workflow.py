"""The workflow that the documentation shows does what it says, as far as it goes offline."""

import shlex
from pathlib import Path

import pytest
import yaml

import harness
from harness.results.record import to_json

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gate.md"
PUBLISHED = """
dataset: bundled
split: {kind: holdout, test_size: 0.25}
algorithms: [BaselineOnly]
baselines: false
metrics: [ndcg@10]
"""


def lines():
    """The lines of the workflow that its runner would carry out, without the installation."""
    text = PAGE.read_text(encoding="utf-8").partition("## In continuous integration")[2]
    workflow = yaml.safe_load(text.partition("```text\n")[2].partition("```")[0])
    steps = [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    install, *commands = steps
    assert install == "pip install ./surprise-harness"
    return [shlex.split(command) for command in commands]


@pytest.fixture
def repository(tmp_path, monkeypatch, cli):
    """A repository with the run of a paper in results/paper."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    Path("paper.yaml").write_text(PUBLISHED)
    cli("run", "-q", "paper.yaml", "--results", "results")
    return cli


@pytest.mark.long
@pytest.mark.parametrize(
    ("candidate", "code"), [("BaselineOnly", 0), ("NormalPredictor", 1)], ids=["equal", "worse"]
)
def test_it_passes_an_equal_model_and_refuses_a_worse_one(repository, candidate, code):
    Path("candidate.yaml").write_text(PUBLISHED.replace("BaselineOnly", candidate))
    codes = [repository(*words[1:])[0] for words in lines() if words[0] == "harness"]
    assert codes == [0, 0, code]
    assert f'failures="{code}"' in Path("gate.xml").read_text(encoding="utf-8")


@pytest.mark.long
def test_it_refuses_results_that_do_not_come_out_again(repository):
    verify = next(words for words in lines() if "verify" in words)
    info = harness.read_run("results/paper").info
    cell = info.cells_of_rows[info.rows[0].row][0]
    cell.scores["ndcg@10"].mean = 0.9
    Path("results/paper/run.json").write_bytes(to_json(info))
    assert repository(*verify[1:])[0] == 1
