"""Errors, seeds, files and threads: what everything else stands on."""

import os
import subprocess
import sys
import threading

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import errors
from harness._util import kernels, seeds
from harness._util.files import write_whole
from harness._util.kernels import each_block, n_threads
from harness.errors import CapacityError, ConfigError, Fault, HarnessError, suggestion


def test_every_error_stands_in_the_drawn_tree():
    drawn = errors.__doc__
    for name, kind in vars(errors).items():
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert issubclass(kind, HarnessError)
            assert name in drawn


def test_faults_come_in_the_order_of_the_file():
    error = ConfigError("a.yaml", [Fault(9, "b", "late"), Fault(2, "a", "early")])
    assert str(error) == "a.yaml:2: a: early\na.yaml:9: b: late"


def test_a_suggestion_for_nothing_close_names_every_choice():
    assert suggestion("zzz", ["mae", "rmse"]) == "use one of mae, rmse"
    assert suggestion("zzz", []) == "nothing fits here; remove it"


@given(st.integers(0, 2**32 - 1), st.lists(st.text(), max_size=4))
def test_a_derived_seed_is_one_that_numpy_takes(seed, names):
    np.random.RandomState(seeds.derive(seed, *names))


def test_names_are_told_apart_from_their_concatenation():
    assert seeds.derive(0, "ab", "c") != seeds.derive(0, "a", "bc")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_whole(path, b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_bytes() == b"old"


@given(st.integers(0, 500), st.integers(1, 50))
def test_blocks_cover_a_range_once(n, smallest):
    counts = np.zeros(n, dtype=int)
    lock = threading.Lock()

    def task(start, stop):
        with lock:
            counts[start:stop] += 1

    each_block(task, n, smallest)
    assert (counts == 1).all()


def test_a_failure_in_a_block_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("HARNESS_THREADS", "4")

    def task(start, stop):
        raise ValueError(f"block {start}")

    with pytest.raises(ValueError, match="block 0"):
        each_block(task, 100)


INVALID = ["", "0", "-4", "many", "²", "9" * 30, "1.5"]


@pytest.mark.parametrize(("setting", "expected"), [("3", 3), *((value, None) for value in INVALID)])
def test_the_number_of_threads_is_that_of_the_environment_or_of_the_cores(
    monkeypatch, setting, expected
):
    monkeypatch.setenv("HARNESS_THREADS", setting)
    assert n_threads() == (expected or len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("value", ["0", "abc"])
def test_numba_is_imported_whatever_its_number_of_threads_says(value):
    code = (
        "from harness._util.kernels import group_rows as g; import numpy; g(numpy.zeros(1, int), 1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NUMBA_NUM_THREADS": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_compiled_loops_are_loaded_without_what_only_a_compiler_needs(tmp_path):
    code = """
import sys
import numpy as np
from harness._util.kernels import _place, group_rows
offsets, rows = group_rows(np.array([1, 0, 1]), 2)
print(rows.tolist(), "numba.np.arraymath" in sys.modules)
if sys.argv[1:]:  # types that nothing was compiled for: the compiler finds what it needs
    _place(np.array([1, 0, 1], np.int32), offsets[:-1].copy(), rows)
    print(rows.tolist(), "numba.np.arraymath" in sys.modules)
"""
    lines = []
    for arguments in ([], ["more"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        lines += done.stdout.splitlines()
    assert lines == ["[1, 0, 2] True", "[1, 0, 2] False", "[1, 0, 2] True"]


def test_threads_of_openblas_sleep_soon_unless_the_environment_says_otherwise():
    name = "OPENBLAS_THREAD_TIMEOUT"
    code = f"import harness, os, sys; print('numpy' in sys.modules, os.environ['{name}'])"
    others = {key: value for key, value in os.environ.items() if key != name}
    for own, expected in (({}, "20"), ({name: "26"}, "26")):
        how = {"capture_output": True, "text": True, "check": True, "env": others | own}
        done = subprocess.run([sys.executable, "-c", code], **how)
        assert done.stdout.split() == ["False", expected]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of address space")
@pytest.mark.parametrize("left", [100_000_000, None])
def test_too_little_address_space_for_what_compiles_is_a_message(monkeypatch, left):
    import resource

    used = psutil.Process().memory_info().vms
    limit = resource.RLIM_INFINITY if left is None else used + left
    monkeypatch.setattr(resource, "getrlimit", lambda what: (limit, resource.RLIM_INFINITY))
    check = kernels._refuse_too_little_memory.__wrapped__
    if left is None:
        check()
    else:
        with pytest.raises(CapacityError, match=r"leaves \d+ MB, .* raise it with `ulimit -v`"):
            check()
