"""Every command goes on whatever its output can show, and whoever stops reading it."""

import io
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from rich.console import Console

from harness._util import terminal as streams
from harness.console.commands import main
from harness.console.progress import Live
from harness.experiment.execute.progress import CellFinished, CellStarted, RunPlanned
from harness.experiment.run import run

ENCODINGS = ("cp1252", "latin-1", "shift_jis", "ascii", "cp437", "utf-16")
SLOW = ("compare", "report", "plot")
"""Commands that take a second: they are tried with one encoding."""
LABEL = "søk ✓ 电影 λ"

CONFIG = {
    "name": "odd",
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "algorithms": [{"name": "SVD", "label": LABEL}, "ItemMean"],
    "metrics": ["ndcg@5", "rmse"],
    "statistics": {"resamples": 200, "margin": 0.01},
}

COMMANDS = {
    "run": ["run", "odd.json"],
    "run with a failed row": ["run", "failing.json"],
    "check": ["check", "odd.json"],
    "describe": ["describe", "odd.json"],
    "table": ["table", "odd"],
    "table as csv": ["table", "odd", "--format", "csv"],
    "table as markdown": ["table", "odd", "--format", "markdown"],
    "table as latex": ["table", "odd", "--format", "latex"],
    "compare": ["compare", "odd", "other", "--force"],
    "methods": ["methods", "odd"],
    "report": ["report", "odd"],
    "plot": ["plot", "odd", "--kind", "tradeoff", "-o", "✓plots", "--force"],
    "best": ["best", "odd", "--metric", "rmse"],
    "recommend": ["recommend", "odd", "--algorithm", LABEL, "--top", "2"],
    "save": ["save", "odd", "电.model", "--algorithm", LABEL, "--force"],
    "evaluate": ["evaluate", "✓scored.csv", "--metrics", "rmse"],
    "audit": ["audit", "odd"],
    "doctor": ["doctor"],
    "conventions": ["conventions", "odd"],
    "split": ["split", "odd.json", "-o", "✓splits", "--force"],
    "new": ["new", "✓new.yaml", "-y", "--force"],
    "list algorithms": ["list", "algorithms"],
    "list metrics": ["list", "metrics"],
    "list datasets": ["list", "datasets"],
    "list runs": ["list", "runs"],
    "cache": ["cache", "list"],
    "schema": ["schema", "--format", "markdown"],
    "reproduce": ["reproduce", "bellei-2017", "--no-runs"],
    "help": ["--help"],
    "help of a command": ["run", "--help"],
    "version": ["--version"],
    "an error": ["table", "✗电"],
    "an error of the call": ["tablé"],
}


@pytest.fixture(scope="session")
def odd(tmp_path_factory):
    """A folder with runs whose labels and files no narrow encoding has, and their cache."""
    folder = tmp_path_factory.mktemp("odd")
    failing = {"name": "failing", "algorithms": [{"name": "printing:Failing", "label": LABEL}]}
    printing = {"name": "printing", "algorithms": ["printing:Printing", "ItemMean"]}
    other = {"name": "other", "algorithms": [{"name": "KNNBasic", "label": f"{LABEL} 2"}]}
    for config in (CONFIG, CONFIG | failing, CONFIG | printing):
        (folder / f"{config['name']}.json").write_text(json.dumps(config))
    (folder / "✓scored.csv").write_text("user,item,estimate,rating\né,1,4,4\né,电,4,3\n", "utf-8")
    (folder / "printing.py").write_text(
        "import surprise\n"
        "class Printing(surprise.AlgoBase):\n"
        "    def fit(self, trainset):\n"
        "        surprise.AlgoBase.fit(self, trainset)\n"
        "        for _ in range(3_000):\n"
        "            print('\\u2713 \\u7535\\u5f71', flush=True)\n"
        "        return self\n"
        "    def estimate(self, user, item):\n"
        "        return 3.0\n"
        "class Failing(Printing):\n"
        "    def fit(self, trainset):\n"
        "        print('\\u2713 \\u7535\\u5f71')\n"
        "        raise ValueError('\\u2717 \\u7535\\u5f71')\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        run("odd.json", results=folder / "runs")
        run(CONFIG | other, results=folder / "runs")
    return folder


@pytest.fixture
def folder(odd, tmp_path, monkeypatch):
    """A copy of the folder of runs, in which commands are called."""
    copy = tmp_path / "copy"
    shutil.copytree(odd, copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("HARNESS_CACHE", str(copy / "cache"))
    monkeypatch.setattr(sys, "path", [str(copy), *sys.path])
    yield copy
    sys.modules.pop("printing", None)


def call(arguments, encoding):
    """Return exit code, output and errors of a command whose streams have an encoding."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding))
        with pytest.raises(SystemExit) as end:
            main(arguments)
        written = []
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            written.append(stream.buffer.getvalue())
    return end.value.code, *written


def lines(text, encoding):
    """Return lines as an encoding shows them, without widths and measured numbers."""
    shown = text.encode(encoding, streams.SUBSTITUTE).decode(encoding)
    shown = re.sub(r"[\d.:]+|[-─]+", lambda part: "#" if part[0][0] in "-─" else "0", shown)
    return [" ".join(line.split()) for line in shown.splitlines()]


@pytest.mark.sample(16)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_narrow_encoding_loses_no_line_and_changes_no_exit_code(folder, command):
    if command.startswith("run"):  # a first one may say what it compiles or computes
        call(COMMANDS[command], "utf-8")
    code, *expected = call(COMMANDS[command], "utf-8")
    assert b"Traceback" not in expected[1]
    for encoding in ENCODINGS[: 1 if command in SLOW else None]:
        found, *written = call(COMMANDS[command], encoding)
        assert found == code, (encoding, written[1])
        for texts in zip(written, expected, strict=True):
            if command == "recommend" and texts[1] == expected[0]:
                assert texts[0] == texts[1]  # a file of UTF-8, whatever the terminal has
            else:
                shown, full = (
                    text.decode(name) for text, name in zip(texts, (encoding, "utf-8"), strict=True)
                )
                assert lines(shown, encoding) == lines(full, encoding), encoding


def test_letters_that_cannot_be_shown_are_escaped_and_columns_stay_aligned(folder):
    _, out, _ = call(["table", "odd"], "cp1252")
    lines_of_run = out.decode("cp1252").splitlines()
    start = next(n for n, line in enumerate(lines_of_run) if line.startswith("algorithm"))
    table = lines_of_run[start : start + 3]
    assert r"søk + \u7535\u5f71 \u03bb" in "\n".join(table)
    assert len({line.index(".") for line in table[1:]}) == 1


def test_bars_of_a_terminal_without_unicode_are_ascii():
    written = io.TextIOWrapper(io.BytesIO(), "ascii", streams.SUBSTITUTE)
    console = Console(file=written, force_terminal=True, width=80, highlight=False)
    with Live(console) as watch:
        for event in (
            RunPlanned(2, 0),
            CellStarted(LABEL),
            CellFinished(LABEL, 0.1),
            CellStarted(LABEL),
        ):
            watch(event)
    written.flush()
    text = written.buffer.getvalue().decode("ascii")
    assert "+ s\\xf8k + \\u7535\\u5f71 \\u03bb: 0.10 s" in text
    assert "\\u28" not in text  # the dots of a spinner


def program(folder, *arguments, before=(), **options):
    """Start the program in a folder; `before` stands before its name."""
    return subprocess.Popen(
        [*before, sys.executable, "-m", "harness", *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=folder,
        **options,
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["table", "odd"], 0),
        (["--help"], 0),
        pytest.param(["run", "printing.json"], 0, marks=pytest.mark.long),
        pytest.param(["run", "printing.json", "--workers", "2"], 0, marks=pytest.mark.long),
        (["run", "failing.json"], 1),
    ],
)
def test_a_reader_that_left_ends_nothing_and_changes_no_exit_code(folder, arguments, code):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        process = program(folder, *arguments, stdout=writer, stderr=writer)
    finally:
        os.close(writer)
    assert process.wait(120) == code
    if arguments[0] == "run":
        name = arguments[1].removesuffix(".json")
        table = (folder / "runs" / name / "table.csv").read_text(encoding="utf-8")
        assert ("BrokenPipe" in table, "ValueError" in table) == (False, code == 1)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors with a shell")
@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        (">&-", ["table", "odd"], 2),
        (">&- 2>&-", ["run", "odd.json"], 2),
        ("<&- 2>&-", ["run", "printing.json", "--workers", "2"], 0),
    ],
)
def test_descriptors_that_the_caller_closed_are_no_traceback(folder, closed, arguments, code):
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = program(folder, *arguments, before=shell, **options)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err
    refusal = "standard output is closed; send it to a file or to /dev/null\n"
    assert err == (refusal if "2>" not in closed else "")
    assert ("written to" in out) == (code == 0)
    if code == 0:
        assert "printing" in out
        assert "✗" not in out


@pytest.mark.long
def test_an_encoding_of_the_program_reaches_worker_processes(folder):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONIOENCODING", "cp1252")
        process = program(folder, "run", "printing.json", "--workers", "2", "-q", **options)
        out, err = (text.decode("cp1252") for text in process.communicate(timeout=120))
    assert process.returncode == 0, out + err
    assert err.count(r"+ \u7535\u5f71") == 3_000
    assert "Traceback" not in err
