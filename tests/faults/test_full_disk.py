"""Whatever write fails, the row or the message says why, and the next run completes."""

import errno
import json
import os
import sys

import pytest

import harness
from harness._util import files
from harness.errors import ResultsError
from harness.results import read_run
from harness.results.store import MaintainedStore

CALLS = {"open": files.Path, "fsync": files.os, "replace": files.Path}
"""What `write_whole` asks of the system, one after the other, and where it finds it."""


class Disk:
    """The system, on which one call fails."""

    def __init__(self, monkeypatch, name, number, code):
        self.name, self.number, self.code = name, number, code
        self.n_calls, self.failed = 0, False
        self.real = getattr(CALLS[name], name)
        monkeypatch.setattr(CALLS[name], name, lambda *given, **more: self.call(*given, **more))

    def call(self, *arguments, **options):
        if self.name == "open" and "xb" not in arguments:  # read, or locked
            return self.real(*arguments, **options)
        self.n_calls += 1
        if self.n_calls == self.number:
            self.failed = True
            raise OSError(self.code, os.strerror(self.code))
        return self.real(*arguments, **options)


@pytest.mark.long
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
@pytest.mark.parametrize("name", CALLS)
def test_every_write_in_turn_fails_and_nothing_is_lost(bench, small, monkeypatch, name, code):
    undisturbed = harness.run(small, results=None)
    reasons = set()
    for number in range(1, 200):
        monkeypatch.setenv("HARNESS_CACHE", str(bench.folder / f"cache-{number}"))
        store = MaintainedStore.default()
        with monkeypatch.context() as patch:
            disk = Disk(patch, name, number, code)
            try:
                done = harness.run(small)
                reasons |= {cell["error"].partition(": ")[2] for cell in done.failed}
            except ResultsError as error:
                reasons.add(str(error).partition(": ")[2])
        assert not any(store.fault(entry.key) for entry in store.entries())
        assert not list(store.folder.rglob("*.part"))
        if not disk.failed:
            break
        before = {entry.key: entry.written for entry in store.entries()}
        after = harness.run(small)
        assert bench.numbers(after) == bench.numbers(undisturbed)
        assert bench.numbers(read_run(after.folder)) == bench.numbers(undisturbed)
        assert before.items() <= {e.key: e.written for e in store.entries()}.items()
    assert number > len(small["algorithms"])
    said = os.strerror(code).lower()
    assert reasons
    assert all(said in reason for reason in reasons), reasons


def test_a_cell_that_cannot_be_kept_is_a_row_that_says_so_and_the_rest_is_kept(
    bench, small, monkeypatch
):
    disk = Disk(monkeypatch, "fsync", 1, errno.ENOSPC)
    done = harness.run(small)
    assert disk.failed
    errors = [cell.error for cell in done.info["cells"]]
    assert "cannot write a cell to the cache (no space left on device); free space" in errors[0]
    assert errors[1:] == [None] * 3
    assert len(bench.cells()) == 3
    assert json.loads((bench.results / "small" / "run.json").read_text())["cells"][0]["error"]


def test_a_cache_that_cannot_be_made_is_said_before_anything_is_fitted(bench):
    (bench.folder / "taken").write_text("a file")
    code, _, err = bench.call("run", "small.yaml", HARNESS_CACHE=str(bench.folder / "taken"))
    assert code == 2
    assert "cells cannot be cached there (not a directory)" in err
    assert "set HARNESS_CACHE to another folder" in err
    assert "✓" not in err


def test_finished_cells_are_read_from_a_disk_that_is_read_only(bench, small, monkeypatch):
    first = harness.run(small)

    def opened(path, mode="r", *more, real=files.Path.open, **options):
        if path.is_relative_to(bench.cache) and set(mode) & set("wax+"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return real(path, mode, *more, **options)

    monkeypatch.setattr(files.Path, "open", opened)
    assert bench.numbers(bench.run(small)) == bench.numbers(first)
    assert not bench.seen("CellStarted")


def test_results_that_cannot_be_written_keep_the_cells(bench):
    (bench.folder / "taken" / ".lock").mkdir(parents=True)
    code, _, err = bench.call("run", "small.yaml", "--results", "taken")
    assert code == 2
    assert "cannot write the results (is a directory); computed cells are cached" in err
    assert len(bench.cells()) == 4
    code, _, err = bench.call("run", "small.yaml")
    assert code == 0
    assert "✓" not in err


LATE = [pytest.param(limit, marks=pytest.mark.long) for limit in (0, 4_000)]


@pytest.mark.sample(2)
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits")
@pytest.mark.parametrize("limit", [1_000, *LATE])
def test_a_limit_of_file_sizes_is_met_with_a_reason(bench, limit):
    import resource
    import subprocess

    process = subprocess.run(
        [sys.executable, "-m", "harness", "run", "small.yaml"],
        env={**os.environ, "PYTHONPATH": str(files.__file__).rpartition("/harness/")[0]},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in process.stderr
    assert process.returncode in (1, 2)
    assert "file too large" in process.stderr
    store = MaintainedStore(bench.cache / "cells")
    assert not any(store.fault(cell.stem) for cell in bench.cells())
    assert bench.call("run", "small.yaml")[0] == 0


def test_every_command_says_what_it_cannot_write(bench, small):
    harness.run(small)
    (bench.folder / "scored.csv").write_text("user,item,estimate,rating\n1,1,3,4\n1,2,4,5\n")
    (bench.folder / "taken").write_text("a file")
    for command in (
        "evaluate scored.csv --metrics rmse --per-user taken/users.csv",
        "report small --output taken/page.html",
        "plot small --output taken/plots",
        "new taken/new.yaml --yes",
        "split small.yaml --output taken/splits",
    ):
        code, _, err = bench.call(*command.split())
        assert code == 2, command
        assert "taken" in err
        assert (bench.folder / "taken").read_text() == "a file"
