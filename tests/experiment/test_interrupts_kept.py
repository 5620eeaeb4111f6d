"""An interrupt that Python drops is raised again."""

import os
import signal
import subprocess
import sys

import pytest

from harness.experiment.pool import interrupts_kept

LOST = """
import os, signal
from harness.experiment.pool import interrupts_kept

class Disposed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

signal.signal(signal.SIGINT, signal.default_int_handler)
with interrupts_kept() as check:
    Disposed()
    print("dropped", flush=True)
    check()
print("not raised")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_an_interrupt_in_the_disposal_of_an_object_is_raised_by_the_check():
    done = subprocess.run([sys.executable, "-c", LOST], capture_output=True, text=True, check=False)
    assert done.stdout == "dropped\n"
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_another_handler_of_interrupts_stays_in_charge():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts_kept() as check:
            os.kill(os.getpid(), signal.SIGINT)
            check()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
