"""A config becomes a table: the whole flow on small data, compared with Surprise by hand."""

import json
import math
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import KFold, train_test_split

import harness
import harness.splits
from harness.config.load import load
from harness.errors import AlgorithmError, ConfigError
from harness.experiment.dry_run import dry_run
from harness.report.methods import methods

SMALL = {
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1200}},
    "split": {"kind": "holdout", "test_size": 0.25, "random_state": 7},
    "algorithms": ["SVD", "KNNBasic", "SlopeOne", "Popularity"],
    "metrics": ["ndcg(ties=first)@5", "ndcg@5", "rmse", "mae"],
    "baselines": False,
    "statistics": None,
}


def run(tmp_path=None, *, watch=lambda event: None, workers=None, **changes):
    return harness.run(SMALL | changes, results=tmp_path, watch=watch, workers=workers)


def started(events):
    return [event.cell for event in events if type(event).__name__ == "CellStarted"]


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
def test_a_run_gives_what_a_surprise_script_gives(name, scale):
    dataset = {"synthetic": SMALL["dataset"]["synthetic"] | {"scale": scale, "step": scale[0]}}
    data = harness.load(dataset).to_surprise()
    row = run(dataset=dataset, algorithms=[name]).table.set_index("algorithm").loc[name]
    train, test = train_test_split(data, test_size=0.25, random_state=7)
    options = {"verbose": False} if name == "KNNBasic" else {}
    predictions = getattr(surprise, name)(**options).fit(train).test(test)
    assert row["rmse"] == pytest.approx(surprise.accuracy.rmse(predictions, verbose=False))
    assert row["mae"] == pytest.approx(surprise.accuracy.mae(predictions, verbose=False))
    assert row["ndcg(ties=first)@5"] == pytest.approx(ndcg_by_hand(predictions, 5), abs=1e-12)


def test_folds_are_averaged_with_their_spread():
    data = harness.load(SMALL["dataset"]).to_surprise()
    by_hand = [
        surprise.accuracy.rmse(
            surprise.BaselineOnly(verbose=False).fit(train).test(test), verbose=False
        )
        for train, test in KFold(3, random_state=0).split(data)
    ]
    split = {"kind": "kfold", "n_splits": 3, "random_state": 0}
    row = run(split=split, algorithms=["BaselineOnly"], metrics=["rmse"]).table.iloc[0]
    assert row["rmse"] == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert row["rmse_sd"] == pytest.approx(np.std(by_hand, ddof=1), abs=1e-12)
    assert row["n_cells"] == 3


def test_the_same_config_gives_the_same_bytes_whatever_the_workers(tmp_path, monkeypatch):
    more = {"seed": [0, 1], "candidates": ["rated", {"kind": "sampled", "n": 5}]}
    tables = []
    for number, workers in enumerate((1, 1, 2)):
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / f"cache{number}"))
        done = run(tmp_path / str(number), workers=workers, **more)
        assert {cell["measured"]["workers"] for cell in done.info["cells"]} == {workers}
        counted = f"{workers} cell{'s' * (workers > 1)} at a time"
        assert counted in dict(methods(done.info).paragraphs)["Computation"]
        table = pd.read_csv(tmp_path / str(number) / "run" / "table.csv", dtype=str)
        times = ["fit_seconds", "score_seconds", "metric_seconds", "peak_mb"]
        tables.append(table.drop(columns=times).to_csv())
    assert tables[0] == tables[1] == tables[2]


def test_a_second_run_computes_what_is_missing_and_says_the_same(tmp_path):
    first, second, third = [], [], []
    for name, events in (("a", first), ("b", second)):
        run(tmp_path / name, watch=events.append)
    assert (len(started(first)), len(started(second))) == (4, 0)
    # Even the seconds are those of the cells, so all but the metrics' is equal.
    first_table, second_table = (
        pd.read_csv(tmp_path / name / "run" / "table.csv").drop(columns="metric_seconds")
        for name in "ab"
    )
    pd.testing.assert_frame_equal(first_table, second_table)
    rows = ["SVD", {"name": "KNNBasic", "params": {"k": 3}}, "SlopeOne", "Popularity"]
    run(watch=third.append, algorithms=rows)
    assert started(third) == ["KNNBasic"]


def test_a_deterministic_algorithm_is_computed_once_for_all_seeds():
    events = []
    run(watch=events.append, seed=[0, 1, 2], algorithms=["SVD", "KNNBasic"])
    expected = ["SVD · seed 0", "KNNBasic · seed 0", "SVD · seed 1", "SVD · seed 2"]
    assert started(events) == expected


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
        return float(self.value)

class Nothing(surprise.AlgoBase):
    def estimate(self, u, i):
        pass
"""


def test_a_failing_algorithm_is_a_row_that_says_why_and_is_tried_again(tmp_path, write_module):
    write_module("own_rows", MODULE)
    rows = ["BaselineOnly", "own_rows:Fails", "own_rows:Nothing"]
    for label, value in (("three", 3.0), ("odd", "nan")):
        rows.append({"name": "own_rows:Constant", "label": label, "params": {"value": value}})
    done = run(tmp_path, algorithms=rows)
    errors = done.table.set_index("algorithm")["error"]
    assert errors["BaselineOnly"] == errors["three"] == ""
    assert "ValueError: no <luck> | today (own_rows.py:" in errors["own_rows:Fails"]
    assert "estimates are not numbers" in errors["odd"]
    assert (
        "Nothing: the estimate None is not a number; return a float" in errors["own_rows:Nothing"]
    )
    assert len(done.failed) == 3
    assert "no &lt;luck&gt; \\| today" in (tmp_path / "run" / "table.md").read_text()
    events = []
    run(watch=events.append, algorithms=rows)
    assert started(events) == ["own_rows:Fails", "own_rows:Nothing", "odd"]


def test_a_fit_that_divides_by_zero_or_diverges_says_which(write_module):
    write_module(
        "own_zero",
        "import surprise\nclass Own(surprise.SVD):\n    fit = lambda *_: 1 / 0\n"
        "class Arrays:\n    def fit(self, train):\n        self.mean = 1 / 0\n"
        "    def estimate(self, users, items): pass\n",
    )
    options = {"name": "pearson_baseline", "shrinkage": 1}
    rows = {
        "KNNWithZScore": {},
        "KNNBasic": {"sim_options": options},
        "SVD": {"lr_all": 1e9},
        "own_zero:Own": {},
        "own_zero:Arrays": {},
    }
    users, items = np.divmod(np.arange(240), 20)
    equal = harness.Ratings.from_columns(users, items, np.full(240, 3.0))
    algorithms = [{"name": name, "params": params} for name, params in rows.items()]
    config = SMALL | {"dataset": "bundled", "algorithms": algorithms}
    found = harness.run(config, ratings=equal, results=None).table
    zero = "division by zero, as where all ratings are equal (standard deviation 0); use other"
    wanted = ["numbers, perhaps from a " + zero, "KNNBasic: " + zero, "lower the learning rate"]
    wanted += ["(own_zero.py:3)", "(own_zero.py:6)"]
    for error, part in zip(found["error"], wanted, strict=True):
        assert part in error
    with pytest.raises(AlgorithmError, match="KNNBasic: division by zero"):
        harness.fit_row(config, "KNNBasic", ratings=equal)


def test_data_at_hand_can_be_run():
    ratings = harness.load(SMALL["dataset"])
    config = {key: SMALL[key] for key in ("split", "algorithms", "metrics")}
    one, other = (
        harness.run(config, ratings=given, results=None)
        for given in (ratings.to_frame(), ratings.to_surprise())
    )
    assert one.table["rmse"].tolist() == pytest.approx(other.table["rmse"].tolist())
    assert "given from Python" in json.dumps(one.info["config"])


def test_a_fault_is_found_before_anything_is_loaded():
    events = []
    with pytest.raises(ConfigError, match="run: workers: found -1; use a whole number from 1"):
        run(workers=-1)
    for wrong, listed in (("seed=3", "seed=3"), (5, "split"), ([5], "split")):
        message = rf"config: overrides: found {re.escape(repr(wrong))}; write a list: \['{listed}"
        for call in (harness.run, dry_run, partial(harness.run, ratings=harness.load("bundled"))):
            with pytest.raises(ConfigError, match=message):
                call(SMALL, overrides=wrong)
    with pytest.raises(ConfigError, match=r"config: found \[.*; give a path, a mapping or an Exp"):
        harness.run([SMALL])
    with pytest.raises(
        AlgorithmError, match="dataset: only a run has tables to choose from; leave it"
    ):
        harness.fit_row(SMALL, "SVD", dataset="synthetic")
    with pytest.raises(TypeError, match="unexpected keyword argument 'data'"):
        harness.fit_row(SMALL, "SVD", data="synthetic")
    with pytest.raises(ConfigError, match="did you mean 'n_factors'"):
        run(watch=events.append, algorithms=[{"name": "SVD", "params": {"n_factor": 2}}])
    assert events == []


def test_acceleration_can_be_turned_off_without_changing_a_number():
    more = {"algorithms": ["SVD", "KNNBasic", "BaselineOnly"], "candidates": "catalogue"}
    fast, slow = run(**more), run(**more, accelerate=False)
    for label in SMALL["metrics"]:
        assert fast.table[label].tolist() == pytest.approx(slow.table[label].tolist(), abs=1e-9)
    assert {cell["fit_path"] for cell in fast.info["cells"]} == {"accelerated"}
    assert {cell["fit_path"] for cell in slow.info["cells"]} == {"surprise"}


def test_baselines_stand_in_every_table_and_bounds_beside_it(tmp_path):
    done = run(tmp_path, baselines=True, metrics=["ndcg@5", "rmse"], algorithms=["SVD"])
    table, bounds = done.table.set_index("algorithm"), done.bounds.set_index("bound")
    assert table.index.tolist() == ["SVD", "Random", "Popularity"]
    assert bounds.index.tolist() == ["best possible order", "random order, expected"]
    assert table["ndcg@5"].max() == table.loc["SVD", "ndcg@5"] < 1
    assert bounds.loc["best possible order", "ndcg@5"] == 1.0
    assert math.isnan(bounds.loc["best possible order", "rmse"])
    assert bounds.loc["random order, expected", "ndcg@5"] < table.loc["SVD", "ndcg@5"]
    written = pd.read_csv(done.folder / "table.csv")
    assert written["algorithm"].tolist() == table.index.tolist()
    assert written["ndcg@5"].round(6).tolist() == table["ndcg@5"].round(6).tolist()
    costs = {"fit_seconds", "score_seconds", "metric_seconds", "peak_mb"}
    assert {"rmse", *costs, "n_users", "error"} <= set(written.columns)
    assert pd.read_csv(done.folder / "bounds.csv")["ndcg@5"].max() == 1.0


def test_algorithms_are_compared_over_users():
    done = run(
        algorithms=["SVD", {"name": "SVD", "label": "twin"}, "Random"],
        metrics=["ndcg@5", "rmse"],
        statistics={"baseline": "Random", "resamples": 1000},
    )
    table = done.table.set_index("algorithm")
    letters = table["ndcg@5_letters"]
    assert letters["SVD"] == letters["twin"] != letters["Random"]
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
def test_no_test_rating_is_ever_shown_to_fit_or_tuning(write_module, split):
    write_module("spying_algorithm", SPY)
    import spying_algorithm

    more = {"split": split, "algorithms": [{"name": "spying_algorithm:Spy", "search": {}}]}
    run(**more, metrics=["rmse"], tuning={"metric": "rmse", "trials": 2})
    experiment, _ = load(SMALL | more)
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


SHOWN = "item_coverage gini entropy popularity novelty diversity serendipity(threshold=4)"
METRICS = [f"{name}@5" for name in SHOWN.split()]


@pytest.mark.parametrize("candidates", ["catalogue", "rated"])
@pytest.mark.parametrize("text", [True, False])
def test_the_order_of_the_rows_changes_no_metric_of_which_items_are_shown(candidates, text):
    rng = np.random.default_rng(0)
    pairs = rng.permutation(30 * 40)[:500]
    rows = pd.DataFrame({"user": pairs // 40, "item": pairs % 40})
    rows["rating"] = rng.integers(3, 6, len(pairs)).astype(float)  # most items of a list are tied
    rows["timestamp"] = rng.permutation(len(pairs))
    if text:
        rows["user"], rows["item"] = "u" + rows["user"].astype(str), "i" + rows["item"].astype(str)
    config = {key: SMALL[key] for key in ("baselines", "statistics")} | {
        "algorithms": ["ItemMean", "Popularity"],
        "split": "global-time",
        "candidates": candidates,
        "metrics": METRICS,
    }
    tables, users = [], []
    for each in (rows.sample(frac=1.0, random_state=1), rows):
        columns = (each[name] for name in ("user", "item", "rating"))
        ratings = harness.Ratings.from_columns(*columns, timestamps=each["timestamp"], scale=(1, 5))
        done = harness.run(config, ratings=ratings, results=None)
        tables.append(done.table.set_index("algorithm")[METRICS])
        users.append(done.users.set_index(["algorithm", "user"]).sort_index())
    pd.testing.assert_frame_equal(*tables, rtol=0, atol=1e-12)
    columns = [label for label in METRICS if label in users[1] and users[1][label].notna().any()]
    assert columns
    pd.testing.assert_frame_equal(*(each[columns] for each in users), rtol=0, atol=1e-12)
