"""What ``--fresh`` computes again, and what it leaves alone."""

import pytest

import harness
from harness.results.store import CellStore

TUNED = {
    "algorithms": [
        "ItemMean",
        {"name": "KNNBasic", "label": "tuned", "search": {"k": [2, 5, 10]}},
    ],
    "tuning": {"method": "grid", "trials": 4, "metric": "rmse"},
}
N_FILES = 6
"""A mean, four trials, and the fit with what they found."""


def written(bench):
    return {path: path.stat().st_mtime_ns for path in bench.cells()}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_fresh_run_computes_every_cell_and_every_trial_once(bench, small, workers):
    first = harness.run(small | TUNED, results=None)
    before = written(bench)
    assert len(before) == N_FILES
    again = bench.run(small | TUNED, results=None, fresh=True, workers=workers)
    started = [event.cell for event in bench.seen("CellStarted")]
    assert len(started) == len(set(started)) == N_FILES
    after = written(bench)
    assert after.keys() == before.keys()
    assert all(after[path] > before[path] for path in before)
    assert again.users.equals(first.users)


def test_a_search_that_is_not_fresh_takes_its_trials_from_disk(bench, small):
    harness.run(small | TUNED, results=None)
    before = written(bench)
    bench.run(small | TUNED, results=None)
    assert bench.seen("CellStarted") == []
    assert written(bench) == before


def test_settings_that_are_tried_twice_are_computed_once(bench, small):
    twins = [
        {"name": "KNNBasic", "label": label, "search": {"k": [2, 5]}} for label in ("one", "other")
    ]
    bench.run(small | TUNED | {"algorithms": twins}, results=None, fresh=True)
    assert len(bench.seen("CellStarted")) == len(bench.cells()) == 4


@pytest.mark.long
def test_what_cannot_be_renewed_is_kept(bench, small):
    slow = {"name": "misfits:Slow", "label": "slow"}
    config = small | {"algorithms": [slow, "ItemMean"]}
    harness.run(config, results=None)
    cells = {path: path.read_bytes() for path in bench.cells()}
    limited = config | {"execution": {"time_limit": 1e-9}}
    done = harness.run(limited, results=None, fresh=True)
    assert all("time limit" in cell["error"] for cell in done.info["cells"])
    assert {path: path.read_bytes() for path in bench.cells()} == cells
    assert not harness.run(config, results=None).failed


def test_a_broken_trial_is_said_to_be_and_computed_again(bench, small):
    harness.run(small | TUNED, results=None)
    for path in bench.cells():
        path.write_bytes(path.read_bytes()[:-1])
    bench.run(small | TUNED, results=None)
    notes = [event.message for event in bench.seen("Note")]
    assert len(notes) == len(bench.seen("CellStarted")) == N_FILES
    assert all(note.endswith("it is computed again") for note in notes)
    assert all(CellStore.default().is_whole(path.stem) for path in bench.cells())
