"""The benchmarks' rule of measurement."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize("n", [6, 9, 10, 16, 25, 100])
def test_the_spread_is_the_interval_of_the_median(benchmark_module, n):
    seconds = np.random.default_rng(n).exponential(size=n).tolist()
    middle = np.median(seconds)
    exact = stats.quantile_test(seconds, q=middle, p=0.5).confidence_interval(0.95)
    found = benchmark_module("timing").half_width(seconds)
    assert found == pytest.approx((exact.high - exact.low) / 2 / middle, rel=1e-12)


@pytest.mark.parametrize(
    ("steps", "runs"), [([1.0] * 9, 5), ([4.0, 2.0], 2), ([1.0, 0.5] * 9, 7), ([9.0], 1)]
)
def test_runs_end_when_the_median_is_known_or_at_the_limit(
    benchmark_module, monkeypatch, steps, runs
):
    timing = benchmark_module("timing")
    clock = [0.0]
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock[0])
    todo = iter(steps)

    def task():
        clock[0] += next(todo)

    found = timing.measure(task, limit=5)
    assert found["runs"] == runs
    assert found["wall"] == np.median(steps[:runs])
