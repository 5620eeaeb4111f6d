"""Variables of the environment that hold no number of threads change nothing and stop nothing."""

import os
import subprocess
import sys

import pytest

from harness.kernels import n_threads


@pytest.mark.parametrize("value", ["", "0", "-4", "abc", "²", "9" * 30, "1.5"])
def test_what_is_no_number_of_threads_is_not_taken_for_one(monkeypatch, value):
    monkeypatch.delenv("HARNESS_THREADS", raising=False)
    cores = n_threads()
    monkeypatch.setenv("HARNESS_THREADS", value)
    assert n_threads() == cores


@pytest.mark.parametrize("value", ["0", "abc"])
def test_numba_is_imported_whatever_its_number_of_threads_says(value):
    program = "from harness.kernels import kernel; kernel(lambda: None).dispatcher"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_NUM_THREADS": value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
