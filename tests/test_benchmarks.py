"""The benchmarks' rule of measurement, and their scripts of Surprise and NumPy alone."""

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import surprise
from scipy import stats
from surprise.model_selection import train_test_split

import harness
from harness import metrics, rankings
from harness.algorithms import registry

FOLDER = Path(__file__).parents[1] / "dev" / "benchmarks"


@pytest.fixture
def benchmark_module(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    for path in Path(FOLDER).glob("*.py"):  # of which other tests may have imported a namesake
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
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


def test_parts_of_a_file_of_figures_stay_each_with_its_machine(benchmark_module, tmp_path):
    shared, file = benchmark_module("shared"), tmp_path / "figures.json"
    for part, rows in (("one", [1]), ("other", [2]), ("one", [3])):
        shared.keep(file, {"rows": rows}, part)
    kept = json.loads(file.read_text())
    assert {part: found["rows"] for part, found in kept.items()} == {"one": [3], "other": [2]}
    assert all(found["machine"]["cores"] > 0 for found in kept.values())


def test_an_environment_is_complete_when_its_installation_succeeded(
    benchmark_module, monkeypatch, tmp_path
):
    shared, ran = benchmark_module("shared"), []

    def run(command, check):
        ran.append(command)
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / "python").touch()
        if len(ran) == 2:
            raise subprocess.CalledProcessError(1, command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(shared.subprocess, "run", run)
    with pytest.raises(subprocess.CalledProcessError):
        shared.python_with(tmp_path, ["some-library"])
    for _ in range(2):
        shared.python_with(tmp_path, ["some-library"])
    assert len(ran) == 4


ALGORITHMS = (
    *("SVD", "SVDpp", "NMF", "BaselineOnly", "SlopeOne", "CoClustering"),
    *("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
)


@pytest.fixture(scope="module")
def train():
    shape = {"n_users": 60, "n_items": 50, "n_ratings": 1500, "scale": (1, 5), "step": 1}
    data = harness.load({"name": "synthetic", "synthetic": shape}).to_surprise()
    return train_test_split(data, test_size=0.25, random_state=0)[0]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_estimates_with_arrays_are_those_of_predict(benchmark_module, train, name):
    plain = benchmark_module("plain")
    few = {"k": 5, "verbose": False} if name.startswith("KNN") else {}
    seeded = {"random_state": 0} if name[0] in "SN" and name != "SlopeOne" else {}
    model = getattr(surprise, name)(**few, **seeded).fit(train)
    users = np.arange(0, train.n_users, 3)
    expected = plain.with_predict(model, users)
    np.testing.assert_allclose(plain.with_numpy(model, users), expected, rtol=0, atol=1e-12)


def test_ndcg_with_arrays_is_that_of_the_metric_with_averaged_ties(benchmark_module):
    rng = np.random.default_rng(0)
    estimates, relevance = rng.integers(0, 9, (40, 30)) / 2, rng.integers(0, 6, (40, 30)) * 1.0
    relevance[3] = 0
    lists = rankings.from_matrix(relevance, estimates)
    label = metrics.parse("ndcg(gain=linear, undefined=0)@10")
    expected = metrics.score([label], lists)[label].mean
    found = benchmark_module("plain").ndcg(estimates, relevance)
    assert found == pytest.approx(expected, rel=1e-12)


def test_every_algorithm_of_surprise_has_steps_at_every_size(benchmark_module):
    sizes = benchmark_module("sizes")
    assert sorted(sizes.STEPS) == sorted([*registry.names("surprise"), "KNNBasic of items"])
    users, items = np.array([2, 1]), np.array([1, 2])
    assert {name: sizes.STEPS[name](users, items) for name in ("SVD", "SlopeOne", "KNNBasic")} == {
        "SVD": 60,
        "SlopeOne": 5,
        "KNNBasic": 5,
    }


def test_the_cost_of_statistics_is_measured_in_seconds_and_bytes(benchmark_module):
    cost = benchmark_module("statistics_cost")
    for n_resamples in (None, 100):
        measured = cost.one_comparison(300, 2, 1, n_resamples)
        assert measured["cpu"] > 0
        assert 0 < measured["mb"] < 50
    scores = cost.table_of(1000, 3)
    assert scores.shape == (1000, 3)
    assert scores.T.flags["C_CONTIGUOUS"]


@pytest.mark.long
def test_all_sides_read_the_same_rows_of_each_format(benchmark_module, tmp_path):
    files = benchmark_module("files")
    frame = files.ratings(4000)
    assert not frame.duplicated(["user", "item"]).any()
    for kind, ending in files.ENDINGS.items():
        if kind == "duckdb" and importlib.util.find_spec("duckdb") is None:
            continue
        path = tmp_path / f"ratings.{ending}"
        files.write(kind, frame, path)
        sides = files.sides_of(kind)
        counts = {side: files.read(side, kind, str(path))["rows"] for side in sides}
        assert counts == dict.fromkeys(sides, 4000), kind
        path.unlink()
    assert 0 < files.peak() < 100


def test_a_comparison_with_a_missing_library_says_what_to_install(
    benchmark_module, monkeypatch, capsys
):
    gate = benchmark_module("gate")
    monkeypatch.setattr(gate, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["gate.py", "peer"])
    with pytest.raises(SystemExit) as stopped:
        gate.main()
    assert stopped.value.code == 2
    assert "recsys_eval is not installed; pip install recsys-eval" in capsys.readouterr().err
    # Its study runs at any size.
    monkeypatch.setattr(gate, "SIZES", (3,))
    monkeypatch.setattr(gate, "N_DRAWS", 2)
    assert {row["users"] for row in gate.study()["rows"]} == {3}
