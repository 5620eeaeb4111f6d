"""A file that is cut, changed, empty or of another program is found, named and made again."""

import os
import re

import pandas as pd
import pytest

import harness
from harness.errors import ResultsError
from harness.results import find_runs, read_run
from harness.results.folder import TABLE_FILES
from harness.results.store import MaintainedStore


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES = {
    "cut": lambda data: data[:-7],
    "cut short": lambda data: data[:20],
    "flipped": flip,
    "empty": lambda data: b"",
    "foreign": lambda data: b"PK\x03\x04 something else altogether " * 40,
    "longer": lambda data: data + b"\0",
}


def damage(path, kind):
    if kind == "a pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        path.write_bytes(DAMAGES[kind](path.read_bytes()))


@pytest.mark.parametrize("kind", [*DAMAGES, "a pipe"])
def test_a_damaged_cell_or_trial_is_said_to_be_and_computed_again(bench, tuned, kind):
    first = harness.run(tuned)
    for cell in bench.cells()[::2]:  # three of six: four are trials, so that some are among them
        damage(cell, kind)
    second = bench.run(tuned)
    assert len(bench.seen("Noted")) == 3
    assert all(note.message.endswith("; it is computed again") for note in bench.seen("Noted"))
    assert len(bench.seen("CellStarted")) == 3
    pd.testing.assert_frame_equal(first.users, second.users)
    assert not any(MaintainedStore.default().fault(cell.stem) for cell in bench.cells())


LESS_READ = ["users.parquet", *sorted({*TABLE_FILES} - {"table.csv"})]
LATER = [pytest.param(name, marks=pytest.mark.long) for name in LESS_READ]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["run.json", "table.csv", "trials.parquet", *LATER])
def test_a_damaged_result_is_named_and_the_next_run_replaces_it(bench, tuned, name):
    first = harness.run(tuned)
    for kind in DAMAGES:
        read = read_run(first.folder)  # whose other files are read when they are asked for
        damage(first.folder / name, kind)
        with pytest.raises(ResultsError, match=rf"{re.escape(name)}: .*run the config again"):
            read_run(first.folder)
        if name.endswith(".parquet"):
            with pytest.raises(ResultsError, match=rf"{re.escape(name)}: changed since it was"):
                getattr(read, name.removesuffix(".parquet"))
        harness.run(tuned)
        again = read_run(first.folder)
        assert bench.numbers(again) == bench.numbers(first)
        pd.testing.assert_frame_equal(again.trials, first.trials, check_dtype=False)


@pytest.mark.long
def test_what_nothing_reads_is_written_again(bench, small):
    """Locks, pages and plots."""
    done = harness.run(small)
    commands = ("run", "small.yaml"), ("report", "small"), ("plot", "small", "--kind", "tradeoff")
    for command in commands:
        assert bench.call(*command)[0] == 0
    made = [done.folder / "report.html", bench.results / "index.html"]
    made += done.folder.glob("plots/*.svg")
    whole = {path: len(path.read_bytes()) for path in made}
    for path in (*made, bench.results / ".lock", *bench.cache.glob("cells/locks/*")):
        path.write_bytes(b"PK something else")
    for command in commands:
        assert bench.call(*command)[0] == 0
    assert len(whole) == 3
    assert all(len(path.read_bytes()) > size // 2 for path, size in whole.items())
    assert bench.numbers(read_run(done.folder)) == bench.numbers(done)


def test_what_a_killed_writer_left_is_swept_away(bench, small):
    done = harness.run(small)
    cell = bench.cells()[0]
    left = cell.with_name(f".{cell.name}.abc123.part")
    left.write_bytes(cell.read_bytes()[:100])
    cell.unlink()
    harness.run(small)
    assert not left.exists()
    fresh = done.folder.with_name(".small.0123abcd.new")
    fresh.mkdir()
    (fresh / "run.json").write_text("{")
    assert [each.name for each in find_runs(bench.results)] == ["small"]
    harness.run(small)
    assert not fresh.exists()


def test_an_old_run_comes_back_when_its_writer_died_between_two_renames(bench, small):
    done = harness.run(small)
    done.folder.rename(done.folder.with_name(".small.0123abcd.old"))
    assert bench.numbers(read_run(done.folder)) == bench.numbers(done)
    assert {each.name for each in bench.results.iterdir()} == {"small", ".lock"}


def test_an_empty_folder_in_the_place_of_a_cell_is_replaced_and_another_is_named(bench, small):
    first = harness.run(small)
    (path, *_) = bench.cells()
    path.unlink()
    path.mkdir()
    assert bench.numbers(harness.run(small)) == bench.numbers(first)
    assert path.is_file()
    path.unlink()
    path.mkdir()
    (path / "mine").touch()
    with pytest.raises(ResultsError, match=rf"{path.name}: cannot be removed .*; move it elsewh"):
        harness.run(small)


@pytest.mark.parametrize("taken", ["locks", "locks/*"])
def test_what_stands_in_the_place_of_a_lock_is_named(bench, small, taken):
    harness.run(small)
    folder = next(bench.cache.glob("cells/locks"))
    for lock in (*folder.iterdir(),):
        lock.unlink()
        if taken != "locks":
            lock.mkdir()
    if taken == "locks":
        folder.rmdir()
        folder.touch()
    with pytest.raises(ResultsError, match=r"\.lock: no lock \(.*\); remove what is in its place"):
        harness.run(small, fresh=True)
