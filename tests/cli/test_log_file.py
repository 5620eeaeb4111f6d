"""``--log-file``: everything that a command says, with the time."""

import re
from datetime import datetime
from pathlib import Path

import pytest

from harness.console import screen as log_file
from harness.console.screen import listeners

CONFIG = """
dataset: {synthetic: {n_users: 20, n_items: 15, n_ratings: 140}}
algorithms: [ItemMean]
baselines: false
metrics: [ndcg@5]
"""


def logged(name="job.log"):
    """The lines of a log without their times, which have to be times."""
    parts = [line.split(" ", 1) for line in Path(name).read_text(encoding="utf-8").splitlines()]
    assert all(datetime.fromisoformat(time).tzinfo is not None for time, _ in parts)
    return [text for _, text in parts]


@pytest.mark.parametrize("place", [0, 1], ids=["before", "after"])
@pytest.mark.parametrize("quiet", [True, False])
def test_a_run_logs_its_progress_also_where_the_screen_shows_none(call, quiet, place):
    Path("one.yaml").write_text(CONFIG)
    words = ["run", "one.yaml", *["-q"] * quiet]
    words[place:place] = ["--log-file", "job.log"]
    _, out, err = call(*words)
    lines = logged()
    assert any(re.search(r"✓ ItemMean.*: \d+\.\d\d s", line) for line in lines)
    shown = [re.sub(r"^\d{4}-\d\d-\d\dT\S+ ", "", line) for line in err.splitlines()]
    said = [*shown, *(line for line in out.splitlines() if line.startswith("note: "))]
    assert {line for line in said if line} <= set(lines)
    assert "written to runs/one" in [line.replace("\\", "/") for line in lines]
    assert lines[-1] == "exit code 0"
    assert ("✓" in err) is not quiet
    assert not listeners


@pytest.mark.parametrize(
    "words", [("run", "none.yaml"), ("run", "--no-such-option"), ("table", "nothing")]
)
def test_errors_are_logged_and_the_file_is_appended_to(call, words):
    Path("job.log").write_text("2026-01-01T00:00:00+00:00 the night before\n", encoding="utf-8")
    code, _, err = call("--log-file", "job.log", *words)
    assert code == 2
    assert [*filter(None, err.splitlines())] == logged()[1:-1]
    assert (logged()[0], logged()[-1]) == ("the night before", "exit code 2")


def test_a_log_that_cannot_be_written_is_an_error_before_the_command(call):
    err = call.refused("--log-file", "no/such/folder/job.log", "list", "metrics")
    assert err.startswith("--log-file no/such/folder/job.log: cannot be written")


def test_a_log_that_can_no_longer_be_written_is_a_note(call):
    log_file.log_to(Path("gone.log"))
    Path("gone.log").unlink()
    Path("gone.log").mkdir()
    log_file.say("a line")
    assert not listeners
    assert "note: gone.log: the log ends here" in call.capsys.readouterr().err
