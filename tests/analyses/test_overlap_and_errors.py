"""What a config can ask for: overlap of lists, errors by rating, calibration, training values."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import surprise
from hypothesis import given
from hypothesis import strategies as st
from surprise.model_selection import cross_validate

import harness
from harness.experiment.analyses.calibration import Calibration, starts_of_parts
from harness.experiment.analyses.overlap import overlaps
from harness.metrics import Pairs
from harness.results.table import analysis_table, training_frame, training_tables

DATA = {"synthetic": {"n_users": 40, "n_items": 60, "n_ratings": 900}}
CONFIG = {
    "dataset": DATA,
    "split": {"kind": "kfold", "n_splits": 2, "random_state": 1},
    "algorithms": ["ItemMean", "BaselineOnly", {"name": "ItemMean", "label": "again"}],
    "metrics": ["ndcg@5", "rmse", "mae"],
    "candidates": "catalogue",
    "baselines": False,
}


@pytest.fixture(scope="module")
def run():
    asked = {"analyses": ["default", "overlap", "errors", "calibration"]}
    kept = {"outputs": {"training": True, "lists": 12, "estimates": True}}
    return harness.run(CONFIG | asked | kept, results=None)


def by_definition(first, second, p=0.9):
    """Return Jaccard index and extrapolated RBO of two lists, item by item."""
    k = min(len(first), len(second))
    common = [len(set(first[:d]) & set(second[:d])) for d in range(1, k + 1)]
    total = sum((1 - p) / p * common[d - 1] / d * p**d for d in range(1, k + 1))
    either = set(first) | set(second)
    jaccard = len(set(first) & set(second)) / len(either)
    return jaccard, total + (common[-1] / k * p**k if k else 0)


def test_overlaps_are_those_of_the_definition():
    rng = np.random.default_rng(5)
    first, second = np.full((300, 10), -1), np.full((300, 10), -1)
    for lists in (first, second):
        for user in range(300):
            n = rng.integers(1, 11)
            lists[user, :n] = rng.permutation(25)[:n]
    found = np.column_stack(overlaps(first.astype(np.int32), second.astype(np.int32)))
    expected = [
        by_definition(a[a >= 0].tolist(), b[b >= 0].tolist())
        for a, b in zip(first, second, strict=True)
    ]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)
    jaccard, overlap = overlaps(first[:, ::-1] * 0 - 1, first * 0 - 1)  # empty lists
    assert np.isnan(jaccard).all()
    assert np.isnan(overlap).all()


def test_the_table_is_of_the_lists_that_the_run_keeps(run):
    frame = run.analyses["overlap"].set_index(["first", "second"])
    assert frame.loc[("ItemMean", "again"), "rbo@10"] == pytest.approx(1.0, abs=1e-12)
    assert frame.loc[("ItemMean", "again"), "jaccard@10"] == 1.0
    lists = run.lists
    lists = lists[lists["rank"] <= 10]
    of = {
        name: {key: part["item"].tolist() for key, part in rows.groupby(["user", "fold"])}
        for name, rows in lists.sort_values("rank").groupby("algorithm")
    }
    values = pd.DataFrame(
        [
            (user, *by_definition(of["ItemMean"][user, fold], of["BaselineOnly"][user, fold]))
            for user, fold in of["ItemMean"]
        ],
        columns=["user", "jaccard", "rbo"],
    )
    means = values.groupby("user").mean().mean()
    row = frame.loc[("ItemMean", "BaselineOnly")]
    assert row["jaccard@10"] == pytest.approx(means["jaccard"], abs=1e-9)
    assert row["rbo@10"] == pytest.approx(means["rbo"], abs=1e-9)
    assert row["low"] < row["jaccard@10"] < row["high"]


def test_errors_and_calibration_are_those_of_the_estimates(run):
    estimates = run.estimates
    estimates = estimates[estimates["algorithm"] == "BaselineOnly"]
    frame = run.analyses["errors"]
    frame = frame[frame["algorithm"] == "BaselineOnly"].set_index("rating")
    for rating, part in estimates.groupby("rating"):
        error = part["estimate"] - part["rating"]
        row = frame.loc[rating]
        assert row["n"] == len(part)
        assert row["bias"] == pytest.approx(error.mean())
        assert row["rmse"] == pytest.approx((error**2).mean() ** 0.5)
    frame = run.analyses["calibration"]
    frame = frame[frame["algorithm"] == "BaselineOnly"]
    assert frame["n"].sum() == len(estimates)
    least, greatest = harness.load(DATA).scale
    step = (greatest - least) / 10
    for row in frame.to_dict("records"):
        low = row["estimate from"]
        last = np.isclose(low, greatest - step)
        part = estimates[
            (estimates["estimate"] >= low - 1e-12)
            & ((estimates["estimate"] < low + step - 1e-12) | last)
        ]
        assert row["n"] == len(part)
        assert row["mean rating"] == pytest.approx(part["rating"].mean())


def test_training_values_are_those_of_surprise():
    ratings = harness.load(DATA)
    frame = ratings.to_frame()
    data = surprise.Dataset.load_from_df(
        frame[["user", "item", "rating"]], surprise.Reader(rating_scale=ratings.scale)
    )
    folds = surprise.model_selection.KFold(2, random_state=1)
    expected = cross_validate(
        surprise.BaselineOnly(verbose=False),
        data,
        ["rmse", "mae"],
        folds,
        return_train_measures=True,
    )
    run = harness.run(
        CONFIG | {"algorithms": ["BaselineOnly"], "outputs": {"training": True}}, results=None
    )
    (row,) = training_frame(run.info).to_dict("records")
    for label in ("rmse", "mae"):
        assert row[f"{label} (training)"] == pytest.approx(expected[f"train_{label}"].mean(), 1e-9)
        assert row[label] == pytest.approx(expected[f"test_{label}"].mean(), 1e-9)
    assert 0 < row["ndcg@5 (training)"] <= 1
    assert training_tables(run.info)[0].columns[1:3] == ["ndcg@5", "ndcg@5 (training)"]


def test_what_nobody_asks_for_changes_no_key(run):
    plain = harness.run(CONFIG, results=None)
    assert not any(cell.training for cell in plain.info.finished)
    other = {cell.key for cell in run.info.cells}
    assert not {cell.key for cell in plain.info.cells} & other  # these have lists by name


def test_a_table_of_an_analysis_leaves_out_names_that_all_rows_share(run):
    table = analysis_table("overlap", run.analyses["overlap"])
    assert table.columns[:3] == ["first", "second", "jaccard@10"]
    assert table.n_words == 2


@given(
    low=st.integers(-40, 40),
    length=st.integers(1, 200),
    digits=st.sampled_from([1, 2, 4, 10]),
    part=st.integers(0, 9),
)
def test_a_part_of_a_scale_starts_at_the_number_that_is_printed(low, length, digits, part):
    ends = low / digits, (low + length) / digits
    start = starts_of_parts(*ends)[part]
    exact = Fraction(str(ends[0])) + (Fraction(str(ends[1])) - Fraction(str(ends[0]))) * part / 10
    assert start == float(exact)


def test_an_estimate_where_parts_meet_is_in_the_upper_one():
    starts = starts_of_parts(0.5, 5.0)
    pairs = Pairs([0, 10], [*starts[1:], 9.0], np.full(10, 3.0))
    data = SimpleNamespace(ratings=SimpleNamespace(scale=(0.5, 5.0)))
    cell = SimpleNamespace(split=data, record=SimpleNamespace(pairs=pairs))
    assert Calibration().values(cell).tolist() == [*starts[1:], starts[9]]
