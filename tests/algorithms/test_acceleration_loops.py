import threading

import numba
import numpy as np
import pytest

from harness.algorithms.compiled import loops


def test_a_summing_kernel_works_where_nothing_can_be_cached(monkeypatch):
    compile_plainly = numba.njit

    def refuse_to_cache(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_plainly(*args, **options)

    monkeypatch.setattr(numba, "njit", refuse_to_cache)

    @loops.summing_kernel
    def total(values):
        s = 0.0
        for value in values:
            s += value
        return s

    assert total(np.arange(1000.0)) == 499_500.0
    assert np.isnan(total(np.array([1.0, np.nan])))


@pytest.mark.parametrize("steps", [1, 10 * loops.WORTH_A_THREAD])
def test_blocks_cover_the_range_once(steps, monkeypatch):
    monkeypatch.setenv("HARNESS_THREADS", "3")
    seen = np.zeros(50, int)

    def count(first, last, array):
        array[first:last] += 1

    loops.in_blocks(count, 50, steps, seen, start=7)
    assert seen.tolist() == [0] * 7 + [1] * 43


@pytest.mark.parametrize(("steps", "alone"), [(1000, True), (100 * loops.WORTH_A_THREAD, False)])
def test_threads_are_started_only_for_long_work(steps, alone, monkeypatch):
    monkeypatch.setenv("HARNESS_THREADS", "2")
    threads = set()
    loops.in_blocks(lambda first, last: threads.add(threading.get_ident()), 1000, steps)
    assert (threads == {threading.get_ident()}) is alone
