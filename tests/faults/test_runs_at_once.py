"""Several runs into one folder: all complete, nothing is computed twice, nothing is broken."""

import multiprocessing
import threading
import time

import pytest
from filelock import Timeout

from harness.files import hold, write_whole
from harness.results import read_run
from harness.results.cells import CellStore
from harness.results.folders import replace_folder

SIX = """\
name: small
dataset: {synthetic: {n_users: 40, n_items: 30, n_ratings: 600}}
split: {kind: kfold, n_splits: 3}
algorithms:
  - {name: "misfits:Slow", params: {seconds: 0.3}, label: slow}
  - {name: "misfits:Slow", params: {seconds: 0.2}, label: slower}
metrics: [rmse]
floors: false
statistics: null
"""


def test_two_runs_share_the_work(bench):
    (bench.folder / "small.yaml").write_text(SIX)
    runs = [bench.start("run", "small.yaml", "--workers", 1) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in runs]
    assert [process.returncode for process in runs] == [0, 0], told
    assert len(bench.fits.read_text().split()) == 6
    store = CellStore(bench.cache / "cells")
    assert sum(store.is_whole(cell.stem) for cell in bench.cells()) == 6
    assert len(read_run(bench.results / "small").info["cells"]) == 6


def count_up(path, lock, n):
    for _ in range(n):
        with hold(lock):
            path.write_text(str(int(path.read_text()) + 1))


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
        with pytest.raises(Timeout), hold(lock, patience=0.2):
            pass
        assert 0.15 < time.monotonic() - begun < 10
    with hold(lock, patience=0.0):
        pass


def test_locks_stay_few_however_many_cells_there_are(tmp_path):
    store = CellStore(tmp_path)
    keys = [f"{number:03x}" + "0" * 61 for number in range(0, 4096, 64)]
    for key in (*keys, *(f"{key[:3]}{'1' * 61}" for key in keys)):
        with store.lock(key):
            pass
    assert len(list((tmp_path / "locks").iterdir())) == len(keys)


def test_a_reader_sees_an_old_or_a_new_folder_and_never_a_mixture(tmp_path):
    folder = tmp_path / "run"
    names = [f"{number}.txt" for number in range(4)]
    replace_folder(folder, dict.fromkeys(names, b"0"))
    done = threading.Event()
    errors = []

    def write(first):
        try:
            for number in range(first, first + 25):
                replace_folder(folder, dict.fromkeys(names, str(number).encode()))
        except OSError as error:
            errors.append(error)

    writers = [threading.Thread(target=write, args=(first,)) for first in (100, 200)]

    def finish():
        for writer in writers:
            writer.join()
        done.set()

    for writer in writers:
        writer.start()
    threading.Thread(target=finish).start()
    while not done.is_set():
        try:
            before = folder.stat().st_ino
            found = {(folder / name).read_bytes() for name in names}
            after = folder.stat().st_ino
        except FileNotFoundError:
            continue
        assert before != after or len(found) == 1
    assert errors == []
    assert {each.name for each in tmp_path.iterdir()} == {"run", ".lock"}
    assert len({(folder / name).read_bytes() for name in names}) == 1


def test_two_writers_of_one_file_leave_one_of_their_versions_whole(tmp_path):
    path = tmp_path / "a.bin"
    versions = [bytes([number]) * 100_000 for number in range(4)]
    threads = [
        threading.Thread(target=lambda v=version: [write_whole(path, v) for _ in range(20)])
        for version in versions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in versions
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]
