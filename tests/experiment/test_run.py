"""A config becomes a table: the whole flow on small data, compared with Surprise by hand."""

import json
import math
import sys

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import KFold, train_test_split

import harness
import harness.config.load
import harness.splits
from harness.datasets import Ratings
from harness.errors import ConfigError
from harness.report.methods import methods

SMALL = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1200}},
    "split": {"kind": "holdout", "test_size": 0.25, "random_state": 7},
    "algorithms": ["SVD", "KNNBasic", "SlopeOne", "Popularity"],
    "metrics": ["ndcg(ties=first)@5", "ndcg@5", "rmse", "mae"],
    "baselines": False,
    "statistics": None,
}


def fitted(table):
    """The rows of algorithms, without the bounds below them."""
    return table[table["n_cells"] > 0]


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


def ndcg_by_hand(predictions, k):
    """Mean over users of the worked example's formula, ties in input order."""
    by_user = {}
    for prediction in predictions:
        by_user.setdefault(prediction.uid, []).append((prediction.est, prediction.r_ui))
    scores = []
    for pairs in by_user.values():
        found = [r for _, r in sorted(pairs, key=lambda pair: pair[0], reverse=True)][:k]
        best = sorted((r for _, r in pairs), reverse=True)[:k]
        dcg, ideal = (
            sum((2**r - 1) / math.log2(i + 1) for i, r in enumerate(each, start=1))
            for each in (found, best)
        )
        scores.append(dcg / ideal)
    return np.mean(scores)


@pytest.mark.parametrize(
    ("name", "scale"),
    # Whole stars: Surprise's SlopeOne cuts half ones, the harness does not.
    [("KNNBasic", [0.5, 5]), ("SlopeOne", [1, 5])],
)
def test_a_run_gives_what_a_surprise_script_gives(tmp_path, name, scale):
    dataset = {"synthetic": SMALL["dataset"]["synthetic"] | {"scale": scale, "step": scale[0]}}
    data = harness.load(dataset).to_surprise()
    done = harness.run(SMALL | {"dataset": dataset, "algorithms": [name]}, results=tmp_path)
    train, test = train_test_split(data, test_size=0.25, random_state=7)
    options = {"verbose": False} if name == "KNNBasic" else {}
    predictions = getattr(surprise, name)(**options).fit(train).test(test)
    row = done.table.set_index("algorithm").loc[name]
    assert row["rmse"] == pytest.approx(surprise.accuracy.rmse(predictions, verbose=False))
    assert row["mae"] == pytest.approx(surprise.accuracy.mae(predictions, verbose=False))
    assert row["ndcg(ties=first)@5"] == pytest.approx(ndcg_by_hand(predictions, 5), abs=1e-12)


def test_folds_are_averaged_with_their_spread(tmp_path):
    config = SMALL | {
        "split": {"kind": "kfold", "n_splits": 3, "random_state": 0},
        "algorithms": ["BaselineOnly"],
        "metrics": ["rmse"],
    }
    data = harness.load(SMALL["dataset"]).to_surprise()
    by_hand = [
        surprise.accuracy.rmse(
            surprise.BaselineOnly(verbose=False).fit(train).test(test), verbose=False
        )
        for train, test in KFold(3, random_state=0).split(data)
    ]
    row = harness.run(config, results=tmp_path).table.iloc[0]
    assert row["rmse"] == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert row["rmse_sd"] == pytest.approx(np.std(by_hand, ddof=1), abs=1e-12)
    assert row["n_cells"] == 3


def test_the_table_has_the_promised_columns(tmp_path):
    done = harness.run(SMALL, results=tmp_path)
    written = pd.read_csv(tmp_path / "run" / "table.csv")
    promised = [
        "algorithm",
        *SMALL["metrics"],
        "fit_seconds",
        "score_seconds",
        "metric_seconds",
        "peak_mb",
        "n_users",
        "error",
    ]
    assert set(promised) <= set(written.columns)
    assert fitted(written)["algorithm"].tolist() == SMALL["algorithms"]
    assert written["ndcg@5"].round(6).tolist() == done.table["ndcg@5"].round(6).tolist()


NOT_TIMED = ["fit_seconds", "score_seconds", "metric_seconds", "peak_mb"]


def without_times(path):
    return pd.read_csv(path, dtype=str).drop(columns=NOT_TIMED).to_csv()


def test_the_same_config_gives_the_same_bytes_whatever_the_workers(tmp_path, monkeypatch):
    config = SMALL | {"seed": [0, 1], "candidates": ["rated", {"kind": "sampled", "n": 5}]}
    tables = []
    for number, workers in enumerate((1, 1, 2)):
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / f"cache{number}"))
        done = harness.run(config, results=tmp_path / str(number), workers=workers)
        assert {cell["measured"]["workers"] for cell in done.info["cells"]} == {workers}
        counted = f"{workers} cell{'s' * (workers > 1)} at a time"
        assert counted in dict(methods(done.info).paragraphs)["Computation"]
        tables.append(without_times(tmp_path / str(number) / "run" / "table.csv"))
    assert tables[0] == tables[1] == tables[2]


def test_a_second_run_computes_nothing_and_says_the_same(tmp_path):
    first, second = [], []
    harness.run(SMALL, results=tmp_path / "a", watch=first.append)
    harness.run(SMALL, results=tmp_path / "b", watch=second.append)
    assert sum(type(event).__name__ == "CellStarted" for event in first) == 4
    assert not any(type(event).__name__ == "CellStarted" for event in second)
    # Even the seconds are those of the cells, so all but the metrics' is equal.
    first_table, second_table = (
        pd.read_csv(tmp_path / name / "run" / "table.csv").drop(columns="metric_seconds")
        for name in "ab"
    )
    pd.testing.assert_frame_equal(first_table, second_table)


def test_one_changed_algorithm_is_the_only_one_computed_again(tmp_path):
    harness.run(SMALL, results=tmp_path)
    events = []
    rows = ["SVD", {"name": "KNNBasic", "params": {"k": 3}}, "SlopeOne", "Popularity"]
    harness.run(SMALL | {"algorithms": rows}, results=tmp_path, watch=events.append)
    started = [e.cell for e in events if type(e).__name__ == "CellStarted"]
    assert started == ["KNNBasic"]


def test_a_deterministic_algorithm_is_computed_once_for_all_seeds(tmp_path):
    events = []
    config = SMALL | {"seed": [0, 1, 2], "algorithms": ["SVD", "KNNBasic"]}
    harness.run(config, results=tmp_path, watch=events.append)
    started = [e.cell for e in events if type(e).__name__ == "CellStarted"]
    assert started == ["SVD · seed 0", "KNNBasic · seed 0", "SVD · seed 1", "SVD · seed 2"]


MODULE = """
import surprise

class Fails(surprise.AlgoBase):
    def fit(self, trainset):
        raise ValueError("no <luck> | today")

    def estimate(self, u, i):
        return 3.0

class Constant(surprise.AlgoBase):
    def __init__(self, value):
        surprise.AlgoBase.__init__(self)
        self.value = value

    def estimate(self, u, i):
        return self.value

class NotANumber(surprise.AlgoBase):
    def estimate(self, u, i):
        return float("nan")
"""


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    (tmp_path / "own_algorithms_for_tests.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "own_algorithms_for_tests"
    sys.modules.pop("own_algorithms_for_tests", None)


def test_a_failing_algorithm_is_a_row_that_says_why_and_the_others_go_on(tmp_path, own_module):
    rows = [
        "BaselineOnly",
        f"{own_module}:Fails",
        f"{own_module}:NotANumber",
        {"name": f"{own_module}:Constant", "label": "three", "params": {"value": 3.0}},
    ]
    done = harness.run(SMALL | {"algorithms": rows}, results=tmp_path)
    errors = dict(zip(done.table["algorithm"], done.table["error"], strict=True))
    assert errors["BaselineOnly"] == errors["three"] == ""
    assert "ValueError: no <luck> | today (own_algorithms_for_tests.py:" in errors[rows[1]]
    assert "estimates are not numbers" in errors[rows[2]]
    assert len(done.failed) == 2
    assert "no &lt;luck&gt; \\| today" in (tmp_path / "run" / "table.md").read_text()


def test_a_failed_cell_is_tried_again_by_the_next_run(tmp_path, own_module):
    config = SMALL | {"algorithms": ["BaselineOnly", f"{own_module}:Fails"]}
    harness.run(config, results=tmp_path)
    events = []
    harness.run(config, results=tmp_path, watch=events.append)
    assert [e.cell for e in events if type(e).__name__ == "CellStarted"] == [f"{own_module}:Fails"]


def test_data_at_hand_can_be_run(tmp_path):
    frame = harness.load(SMALL["dataset"]).to_frame()
    config = {key: SMALL[key] for key in ("split", "algorithms", "metrics")}
    from_frame = harness.run(config, ratings=frame, results=tmp_path)
    from_surprise = harness.run(
        config, ratings=harness.load(SMALL["dataset"]).to_surprise(), results=None
    )
    expected = fitted(from_surprise.table)["rmse"].tolist()
    assert fitted(from_frame.table)["rmse"].tolist() == pytest.approx(expected)
    assert "given from Python" in json.dumps(from_frame.info["config"])


def test_a_fault_is_found_before_anything_is_loaded(tmp_path):
    events = []
    config = SMALL | {"algorithms": [{"name": "SVD", "params": {"n_factor": 2}}]}
    with pytest.raises(ConfigError, match="did you mean 'n_factors'"):
        harness.run(config, results=tmp_path, watch=events.append)
    assert events == []


def test_acceleration_can_be_turned_off_without_changing_a_number(tmp_path):
    config = SMALL | {"algorithms": ["SVD", "KNNBasic", "BaselineOnly"], "candidates": "catalogue"}
    fast = harness.run(config, results=None)
    slow = harness.run(config | {"accelerate": False}, results=None)
    for label in SMALL["metrics"]:
        expected = fitted(slow.table)[label].tolist()
        assert fitted(fast.table)[label].tolist() == pytest.approx(expected, abs=1e-9)
    assert {cell["fit_path"] for cell in fast.info["cells"]} == {"accelerated"}
    assert {cell["fit_path"] for cell in slow.info["cells"]} == {"surprise"}


def test_per_user_scores_average_to_the_table(tmp_path):
    done = harness.run(SMALL, results=tmp_path)
    means = done.users.groupby("algorithm")["ndcg@5"].mean()
    table = fitted(done.table)
    for name, value in zip(table["algorithm"], table["ndcg@5"], strict=True):
        assert means[name] == pytest.approx(value, abs=1e-12)


def test_baselines_stand_in_every_table_and_bounds_beside_it(tmp_path):
    config = SMALL | {"baselines": True, "metrics": ["ndcg@5", "rmse"], "algorithms": ["SVD"]}
    done = harness.run(config, results=tmp_path)
    table, bounds = done.table.set_index("algorithm"), done.bounds.set_index("bound")
    assert table.index.tolist() == ["SVD", "Random", "Popularity"]
    assert bounds.index.tolist() == ["best possible order", "random order, expected"]
    assert table["ndcg@5"].max() == table.loc["SVD", "ndcg@5"] < 1
    assert bounds.loc["best possible order", "ndcg@5"] == 1.0
    assert math.isnan(bounds.loc["best possible order", "rmse"])
    assert bounds.loc["random order, expected", "ndcg@5"] < table.loc["SVD", "ndcg@5"]
    written = pd.read_csv(done.folder / "table.csv")
    assert written["algorithm"].tolist() == table.index.tolist()
    assert pd.read_csv(done.folder / "bounds.csv")["ndcg@5"].max() == 1.0


def test_the_expected_random_order_is_the_mean_of_many_random_ones(tmp_path):
    config = SMALL | {"algorithms": ["Random"], "metrics": ["ndcg@5"], "seed": list(range(40))}
    done = harness.run(config, results=tmp_path)
    sampled = done.table.set_index("algorithm").loc["Random"]
    expected = done.bounds.set_index("bound").loc["random order, expected", "ndcg@5"]
    error = sampled["ndcg@5_sd"] / math.sqrt(40)
    assert abs(sampled["ndcg@5"] - expected) < 4 * error


def test_algorithms_are_compared_over_users(tmp_path):
    config = SMALL | {
        "algorithms": ["SVD", {"name": "SVD", "label": "twin"}, "Random"],
        "metrics": ["ndcg@5", "rmse"],
        "statistics": {"baseline": "Random", "resamples": 1000},
    }
    done = harness.run(config, results=tmp_path)
    table = done.table.set_index("algorithm")
    assert table.loc["SVD", "ndcg@5_letters"] == table.loc["twin", "ndcg@5_letters"]
    assert table.loc["SVD", "ndcg@5_letters"] != table.loc["Random", "ndcg@5_letters"]
    row = table.loc["SVD"]
    assert row["ndcg@5_low"] < row["ndcg@5"] < row["ndcg@5_high"]
    assert "rmse_low" not in table.columns  # pooled: not a mean over users
    against = done.info["statistics"][0]["baseline"]
    assert {each["first"] for each in against} == {"SVD", "twin"}


SPY = """
import surprise

shown = []

class Spy(surprise.AlgoBase):
    def fit(self, trainset):
        surprise.AlgoBase.fit(self, trainset)
        shown.append({
            (trainset.to_raw_uid(u), trainset.to_raw_iid(i)) for u, i, _ in trainset.all_ratings()
        })

    def estimate(self, u, i):
        return 3.0
"""


@pytest.mark.parametrize(
    "split", ["holdout", "kfold", "leave-n-out", "user-fraction", "global-time", "user-holdout"]
)
def test_no_test_rating_is_ever_shown_to_fit_or_tuning(tmp_path, monkeypatch, split):
    (tmp_path / "spying_algorithm.py").write_text(SPY)
    monkeypatch.syspath_prepend(tmp_path)
    import spying_algorithm

    config = SMALL | {
        "split": split,
        "algorithms": [{"name": "spying_algorithm:Spy", "search": {}}],
        "metrics": ["rmse"],
        "tuning": {"metric": "rmse", "trials": 2},
    }
    harness.run(config, results=tmp_path)
    experiment, _ = harness.config.load.load(config)
    ratings = harness.load(SMALL["dataset"])
    tests = [
        set(
            zip(
                ratings.user_ids[ratings.users[made.test]],
                ratings.item_ids[ratings.items[made.test]],
                strict=True,
            )
        )
        for made in harness.splits.make(experiment.split[0], ratings, 0)
    ]
    assert len(spying_algorithm.shown) == 2 * len(tests)  # a trial and the final fit for each
    trials, finals = spying_algorithm.shown[: len(tests)], spying_algorithm.shown[len(tests) :]
    for trial, final, test in zip(trials, finals, tests, strict=True):
        assert not final & test
        assert trial < final
    sys.modules.pop("spying_algorithm")


def test_tuning_finds_at_least_the_written_setting_and_tests_it_once(tmp_path):
    config = SMALL | {
        "algorithms": [
            {
                "name": "KNNBasic",
                "label": "tuned",
                "params": {"k": 1},
                "search": {"k": [2, 5, 10, 20], "sim_options.user_based": [True, False]},
            },
            {"name": "KNNBasic", "label": "as written", "params": {"k": 1}},
        ],
        "tuning": {"method": "grid", "trials": 9, "metric": "rmse"},
        "metrics": ["rmse"],
    }
    done = harness.run(config, results=tmp_path)
    trials = pd.read_parquet(tmp_path / "run" / "trials.parquet")
    assert len(trials) == 9
    best = json.loads(trials.sort_values("value", kind="stable")["params"].iloc[0])
    tuned = next(cell for cell in done.info["cells"] if cell["algorithm"] == "tuned")
    assert tuned["params"] == best
    assert tuned["n_trials"] == 8
    row = done.table.set_index("algorithm").loc["tuned"]
    assert json.loads(row["tuned"]) == best
    assert row["n_trials"] == 8
    assert row["search_seconds"] == pytest.approx(trials["seconds"].sum())
    rmse = done.table.set_index("algorithm")["rmse"]
    assert rmse["tuned"] < rmse["as written"]


@pytest.mark.parametrize("method", ["random", "tpe"])
def test_a_search_is_the_same_every_time(tmp_path, monkeypatch, method):
    config = SMALL | {
        "algorithms": [{"name": "SVD", "search": {"n_factors": {"low": 2, "high": 20}}}],
        "tuning": {"method": method, "trials": 6, "metric": "ndcg@5"},
    }
    runs = []
    for number in range(2):
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / str(number)))
        runs.append(harness.run(config, results=None).info["cells"][0]["params"])
    assert runs[0] == runs[1]


def test_ratings_are_what_the_package_exports():
    assert harness.Ratings is Ratings
