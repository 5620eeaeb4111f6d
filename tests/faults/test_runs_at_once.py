"""Several runs into one folder: all complete, nothing is computed twice, nothing is broken."""

import functools
import hashlib
import json
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import harness
from harness._util import files
from harness._util.files import hold, write_whole
from harness.errors import ResultsError
from harness.results import read_run
from harness.results.folder import DERIVED, WRITTEN, own_names
from harness.results.store import MaintainedStore

nothing_earlier = {"own_names": own_names, "earlier": lambda folder, aside: None}
replace_folder = functools.partial(files.replace_folder, **nothing_earlier)
restore_folder = functools.partial(files.restore_folder, **nothing_earlier)

SIX = """\
name: small
dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}
split: {kind: kfold, n_splits: 3}
algorithms:
  - {name: "misfits:Slow", params: {seconds: 0.3}, label: slow}
  - {name: "misfits:Slow", params: {seconds: 0.2}, label: slower}
metrics: [rmse]
baselines: false
statistics: null
"""

TINY = {
    "dataset": {"synthetic": {"n_users": 20, "n_items": 20, "n_ratings": 200}},
    "algorithms": ["Random"],
    "metrics": ["rmse"],
    "statistics": None,
}


@pytest.mark.long
@pytest.mark.parametrize("n_runs", [2, 8])
def test_runs_share_the_work_and_end_with_the_table_of_a_run_alone(bench, n_runs):
    (bench.folder / "small.yaml").write_text(SIX)
    runs = [bench.start("run", "small.yaml", "--workers", 1 + n % 2) for n in range(n_runs)]
    printed = [process.communicate(timeout=600) for process in runs]
    assert {process.returncode for process in runs} == {0}, printed
    assert len(bench.fits.read_text().split()) == 6
    store = MaintainedStore(bench.cache / "cells")
    assert [store.fault(cell.stem) for cell in bench.cells()] == [None] * 6
    alone = harness.run("small.yaml", results=None, fresh=True)
    together = read_run(bench.results / "small")
    assert [cell.scores for cell in together.info.cells] == [c.scores for c in alone.info.cells]


def count_up(path, lock, n):
    for _ in range(n):
        with hold(lock):
            path.write_text(str(int(path.read_text()) + 1))


@pytest.mark.long
def test_a_lock_is_held_by_one_process_at_a_time(tmp_path):
    path, lock = tmp_path / "count.txt", tmp_path / "locks" / "one.lock"
    path.write_text("0")
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=count_up, args=(path, lock, 200)) for _ in range(3)]
    for process in others:
        process.start()
    for process in others:
        process.join(60)
    assert path.read_text() == "600"


def test_a_lock_that_is_held_is_waited_for_as_long_as_asked(tmp_path):
    lock = tmp_path / "one.lock"
    with hold(lock):
        begun = time.monotonic()
        with pytest.raises(TimeoutError), hold(lock, patience=0.2):
            pass
        assert time.monotonic() - begun > 0.15
    with hold(lock, patience=0.0):
        pass


def test_locks_stay_few_however_many_cells_there_are(tmp_path):
    store = MaintainedStore(tmp_path)
    keys = [f"{number:03x}" + "0" * 61 for number in range(0, 4096, 64)]
    for key in (*keys, *(f"{key[:3]}{'1' * 61}" for key in keys)):
        with store.lock(key):
            pass
    assert len(list((tmp_path / "locks").iterdir())) == len(keys)


def version(number):
    """The files of a run, distinguished by a number."""
    described = json.dumps({"schema_version": 2, "number": number}).encode()
    return {"run.json": described, "a.txt": b"%d" % number, "b.txt": b"%d" % number}


def test_a_reader_sees_an_old_or_a_new_folder_and_never_a_mixture(tmp_path):
    folder = tmp_path / "run"
    replace_folder(folder, version(0))

    def write(first):
        for number in range(first, first + 25):
            replace_folder(folder, version(number))

    pool = ThreadPoolExecutor(2)
    writers = [pool.submit(write, first) for first in (100, 200)]
    while not all(writer.done() for writer in writers):
        try:
            # Held open, so that a later folder cannot have its inode number.
            held = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            found = {(folder / name).read_bytes() for name in ("a.txt", "b.txt")}
            same = os.fstat(held).st_ino == folder.stat().st_ino
        except FileNotFoundError:
            continue
        finally:
            os.close(held)
        assert not same or len(found) == 1
    assert [writer.result() for writer in writers] == [None, None]
    assert {each.name for each in tmp_path.iterdir()} == {"run", ".lock"}
    assert (folder / "a.txt").read_bytes() == (folder / "b.txt").read_bytes()


def test_what_a_person_put_into_a_runs_folder_stays_and_old_results_go(tmp_path):
    folder = tmp_path / "run"
    digest = hashlib.sha256(b"trials").hexdigest()
    described = {"schema_version": 2, "files": {"trials.parquet": digest, "b.txt": "changed since"}}
    first = {"run.json": json.dumps(described).encode(), "trials.parquet": b"trials"}
    replace_folder(folder, first)
    (folder / "notes").mkdir()
    (folder / "notes" / "mine.txt").write_text("keep")
    (folder / "b.txt").write_text("edited by hand")
    replace_folder(folder, {"run.json": version(1)["run.json"], "a.txt": b"1"})
    names = {each.name for each in folder.iterdir()}
    assert names == {"run.json", "a.txt", "notes", "b.txt"}
    assert (folder / "notes" / "mine.txt").read_text() == "keep"


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": "print()"},
        {"main.py": "print()", "run.json": "{}"},
        {"main.py": "print()", "run.json": "no JSON"},
        {"table.csv": "of another program"},
    ],
)
def test_a_folder_that_no_run_was_written_into_is_refused_and_left_as_it_is(tmp_path, files):
    folder = tmp_path / "src"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(ResultsError, match=r"src: has files, and no run .* use --results"):
        harness.run({**TINY, "name": "src"}, results=tmp_path)
    assert {each.name: each.read_text() for each in folder.iterdir()} == files
    assert {each.name for each in tmp_path.iterdir()} <= {"src", ".lock"}


def test_a_writer_that_was_killed_half_way_loses_no_file_of_a_persons(tmp_path):
    folder = tmp_path / "run"
    replace_folder(folder, version(1))
    (folder / "mine.txt").write_text("keep")
    for brought_back in (restore_folder, lambda place: replace_folder(place, version(2))):
        # Killed after both renames, before the other files were moved.
        folder.rename(tmp_path / ".run.0123.old")
        folder.mkdir()
        for name, data in version(2).items():
            (folder / name).write_bytes(data)
        brought_back(folder)
        assert (folder / "mine.txt").read_text() == "keep"
        assert (folder / "a.txt").read_bytes() == b"2"
        assert {each.name for each in tmp_path.iterdir()} == {"run", ".lock"}


def test_new_files_have_the_permissions_of_the_umask_and_follow_no_planted_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for name in (".run.new", ".run.old"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    before = os.umask(0o077)
    try:
        replace_folder(tmp_path / "run", version(1))
        write_whole(tmp_path / "a.bin", b"a")
    finally:
        os.umask(before)
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "run" / "a.txt").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a.bin").stat().st_mode & 0o777 == 0o600
    assert not list((tmp_path / "elsewhere").iterdir())


def test_two_writers_of_one_file_leave_one_of_their_versions_whole(tmp_path):
    path = tmp_path / "a.bin"
    versions = [bytes([number]) * 100_000 for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write_whole, [path] * 80, versions * 20))
    assert path.read_bytes() in versions
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_every_file_that_a_run_writes_is_known_where_run_json_is_damaged(tmp_path):
    tuned = {"algorithms": [{"name": "KNNBasic", "search": {"k": [2, 3]}}], "baselines": False}
    kept = {"groups": [{"users": "training_ratings"}], "outputs": {"lists": 3, "estimates": True}}
    more = {"metrics": ["ndcg@5"], "tuning": {"trials": 2}}
    done = harness.run(TINY | tuned | kept | more, results=tmp_path)
    assert {each.name for each in done.folder.iterdir()} == WRITTEN - {*DERIVED}
