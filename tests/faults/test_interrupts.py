"""A run that is stopped leaves what it finished, nothing half done, and nobody behind."""

import os
import signal
import sys
import time

import psutil
import pytest

from harness.experiment.execute.processes import interrupts_ignored
from harness.results.store import MaintainedStore

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")

SLOW = 'algorithms=[ItemMean, {name: "misfits:Slow", params: {seconds: 60}, label: slow}, Random]'


def until(condition, seconds=60.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def is_alive(process):
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_an_interrupt_is_ignored_where_it_has_to_be_and_handled_afterwards():
    # Below nohup, and in the background of a shell, SIGINT is ignored from the start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with interrupts_ignored():
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture
def stuck(bench):
    """A run whose slow cell is being fitted and whose quick ones are done, and its processes."""
    started = []

    def start(workers, done):
        process = bench.start("run", "small.yaml", "--set", SLOW, "--workers", workers)
        until(lambda: bench.fits.read_text() and len(bench.cells()) == done)
        started.append(psutil.Process(process.pid))
        started.extend(started[0].children(recursive=True))
        return process, started

    yield start
    for process in started[1:]:  # `bench` ends the run itself
        if is_alive(process):
            process.kill()


@pytest.mark.parametrize(
    ("workers", "done", "times"),
    [(1, 1, 1), *(pytest.param(n, n, 4, marks=pytest.mark.long) for n in (1, 2))],
)
def test_ctrl_c_keeps_finished_cells_says_how_to_go_on_and_exits_130(
    bench, stuck, workers, done, times
):
    process, family = stuck(workers, done)
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        time.sleep(0.01)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; computed cells are cached: run again to resume" in err
    assert err.count("interrupted") == 1
    assert "Traceback" not in out + err
    until(lambda: not any(map(is_alive, family)))
    assert len(bench.cells()) == done
    assert not list(bench.cache.rglob("*.part"))
    assert not bench.results.exists()


LATER = [pytest.param(each, marks=pytest.mark.long) for each in (signal.SIGKILL, signal.SIGHUP)]


@pytest.mark.long
@pytest.mark.parametrize("sign", [signal.SIGTERM, *LATER])
def test_workers_do_not_outlive_a_run_that_is_ended(bench, stuck, sign):
    process, family = stuck(2, 2)
    assert len(family) >= 3
    process.send_signal(sign)
    process.communicate(timeout=30)
    until(lambda: not any(map(is_alive, family)), seconds=10)
    store = MaintainedStore(bench.cache / "cells")
    assert not any(store.fault(cell.stem) for cell in bench.cells())


@pytest.mark.long
def test_a_killed_run_is_gone_on_with_by_another_that_waited_for_it(bench, stuck):
    first, _ = stuck(1, 1)
    bench.start("run", "small.yaml", "--set", SLOW.replace("60", "61"), "--workers", 1)
    bench.start("run", "small.yaml", "--set", SLOW, "--set", "name=third")
    # The third does what is left and then waits for the slow cell, until its holder dies.
    until(lambda: len(bench.cells()) == 2 and len(bench.fits.read_text().split()) == 2)
    time.sleep(1.0)
    assert len(bench.fits.read_text().split()) == 2
    first.kill()
    first.communicate()
    until(lambda: len(bench.fits.read_text().split()) == 3)
