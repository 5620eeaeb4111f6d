"""What ``--fresh`` computes again, and what it leaves alone."""

import pytest

import harness


def written(bench):
    return {path: path.stat().st_mtime_ns for path in bench.cells()}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_fresh_run_computes_every_cell_and_every_trial_once_and_another_none(
    bench, tuned, workers
):
    first = harness.run(tuned, results=None)
    before = written(bench)
    assert len(before) == 6
    bench.run(tuned, results=None, workers=workers)
    assert bench.seen("CellStarted") == []
    assert written(bench) == before
    again = bench.run(tuned, results=None, fresh=True, workers=workers)
    started = [event.cell for event in bench.seen("CellStarted")]
    assert len(started) == len(set(started)) == 6
    after = written(bench)
    assert after.keys() == before.keys()
    assert all(after[path] > before[path] for path in before)
    assert again.users.equals(first.users)


def test_settings_that_are_tried_twice_are_computed_once(bench, tuned):
    twins = [{"name": "KNNBasic", "label": n, "search": {"k": [2, 5]}} for n in ("one", "other")]
    bench.run(tuned | {"algorithms": twins}, results=None, fresh=True)
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
