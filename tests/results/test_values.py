"""What the number of a row is: one quantity with its interval, its cells and its decimals."""

import io
import math
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.comparison.inference import infer
from harness.config.experiment import Inference
from harness.report import build_page, latex, plots
from harness.report.summary import failures_text, summarise
from harness.results import Run, read_run
from harness.results.cells import CellResult, FailedCell
from harness.results.record import RunInfo
from harness.results.runs import to_markdown
from harness.results.statistics import AlgorithmMean, MetricComparison
from harness.results.table import column_decimals, decimals, display_table, rounded, to_csv
from harness.results.verdict import verdicts

ALGORITHMS = ["BaselineOnly", "ItemMean", "Random"]
LABELS = ["ndcg@5", "ndcg@3", "rmse"]
OWN = """
import surprise

class FailsInSomeFolds(surprise.AlgoBase):
    fits = 0

    def fit(self, trainset):
        FailsInSomeFolds.fits += 1
        if FailsInSomeFolds.fits > 2:
            raise RuntimeError("no more")
        return super().fit(trainset)

    def estimate(self, user, item):
        if not self.trainset.knows_item(item):
            return 3.0
        return sum(rating for _, rating in self.trainset.ir[item]) % 5
"""


@pytest.fixture(scope="module")
def ratings():
    """100 users with 40 ratings and 300 with 2, of whom most are in few folds."""
    rng = np.random.default_rng(5)
    counts = [40] * 100 + [2] * 300
    users = np.repeat(np.arange(len(counts)), counts)
    items = np.concatenate([rng.choice(60, count, replace=False) for count in counts])
    liked = 3 + rng.normal(0, 0.7, 60)[items] + rng.normal(0, 0.8, len(items))
    return pd.DataFrame({"user": users, "item": items, "rating": np.clip(liked.round(), 1, 5)})


@pytest.fixture(scope="module")
def run(ratings, tmp_path_factory):
    """Run algorithms on these ratings, in a folder that can be imported from."""

    def run(algorithms, labels, resamples):
        folder = tmp_path_factory.mktemp("values")
        (folder / "fails_in_some_folds.py").write_text(OWN)
        config = {
            "split": {"kind": "kfold", "n_splits": 5},
            "algorithms": algorithms,
            "metrics": labels,
            "statistics": {"resamples": resamples},
            "baselines": False,
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(folder)
            patch.delitem(sys.modules, "fails_in_some_folds", raising=False)  # another folder's
            patch.setenv("HARNESS_CACHE", str(folder / "cache"))
            return harness.run(config, ratings=ratings, results=folder)

    return run


@pytest.fixture(scope="module")
def done(run):
    return run(ALGORITHMS, LABELS, 500)


@pytest.fixture(scope="module")
def partial(run):
    """A run in which an algorithm failed in three of five folds."""
    fails = {"name": "fails_in_some_folds:FailsInSomeFolds", "label": "Fails"}
    return run([fails, *ALGORITHMS], ["ndcg@5"], 100)


def test_the_value_is_the_mean_over_users_of_each_users_average(done):
    for row in done.table.to_dict(orient="records"):
        own = done.users[done.users["row"] == row["row"]]
        for label in LABELS[:2]:
            assert row[label] == pytest.approx(own.groupby("user")[label].mean().mean(), abs=1e-12)
        cells = [cell for cell in done.info.cells if cell["row"] == row["row"]]
        means = [cell["scores"]["ndcg@5"]["mean"] for cell in cells]
        assert row["ndcg@5_sd"] == pytest.approx(np.std(means, ddof=1))
        assert abs(row["ndcg@5"] - np.mean(means)) > 0.01  # the data tell the two apart
        pooled = [cell["scores"]["rmse"]["mean"] for cell in cells]
        assert row["rmse"] == pytest.approx(np.mean(pooled), abs=1e-12)


def test_the_value_is_the_mean_that_is_compared(done):
    for entry in done.info.statistics:
        values = done.table.set_index("row")[entry["metric"]]
        for each in entry["algorithms"]:
            assert values[each["row"]] == pytest.approx(each["mean"], abs=1e-12)
        by_name = done.table.set_index("algorithm")[entry["metric"]]
        for pair in entry["pairs"]:
            difference = by_name[pair["first"]] - by_name[pair["second"]]
            assert difference == pytest.approx(pair["difference"], abs=1e-12)


@pytest.mark.long
def test_no_value_lies_outside_its_interval_wherever_both_are_shown(done):
    summary = summarise(done)
    shown = pd.read_csv(io.StringIO(to_csv(done.info)))
    page = build_page([done])
    for label in LABELS[:2]:
        assert shown[label].between(shown[f"{label}_low"], shown[f"{label}_high"]).all()
        for kind in ("tradeoff", "ndcg-over-k"):
            data = plots.kinds()[kind](summary, label).data
            assert data["value"].between(data["low"], data["high"]).all()
        means = plots.kinds()["distribution"](summary, label).data.set_index("algorithm")["mean"]
        assert means.to_dict() == pytest.approx(done.table.set_index("algorithm")[label].to_dict())
    numbers = r'class="number">([\d.]+)<.*?class="interval">([\d.]+) to ([\d.]+)<'
    found = re.findall(numbers, page)
    assert len(found) == len(ALGORITHMS) * 2
    for value, low, high in found:
        assert float(low) <= float(value) <= float(high)
    digits = summary.tables[0].decimals["ndcg@5"]
    for value in done.table["ndcg@5"]:
        assert f"{value:.{digits}f}" in latex(done)
        assert f"{value:.{digits}f}" in to_markdown(done.info)


def test_conventions_and_bounds_are_the_same_mean_over_users(done):
    values = done.table.set_index("row")["ndcg@5"]
    (ties,) = done.info.ties
    for row in ties["rows"]:
        assert row["scores"]["average"] == pytest.approx(values[row["row"]], abs=1e-12)
    best, chance = done.bounds["ndcg@5"]
    assert best == 1.0
    assert chance == pytest.approx(values.iloc[2], abs=0.02)  # that of Random
    assert chance < values.iloc[0] < best


def test_the_largest_value_of_the_table_is_that_of_the_best_algorithm(done):
    best = summarise(done).tables[0].best("ndcg@5")
    assert done.table.loc[done.table["ndcg@5"].idxmax(), "algorithm"] == best[0]
    table = display_table(done.info)
    names = table.frame["algorithm"].tolist()
    column = table.columns.index("ndcg@5")
    assert [names[row] for row, at in table.best if at == column] == best
    assert names[table.below[0] :] == done.bounds["bound"].tolist()
    assert len(names) == len(done.table) + len(done.bounds)


def test_an_algorithm_that_failed_in_some_folds_is_marked_and_not_compared(partial):
    done = read_run(partial.folder / "run.json")
    row = done.table.set_index("algorithm").loc["Fails"]
    assert (row["n_cells"], row["n_failed"], row["ndcg@5_letters"]) == (2, 3, "")
    assert np.isfinite(row["ndcg@5"])
    assert np.isnan(row["ndcg@5_low"])
    (entry,) = done.info.statistics
    assert {each["algorithm"] for each in entry["algorithms"]} == set(ALGORITHMS)
    # The others are compared by all of their users.
    n_users = done.users[done.users["algorithm"] == "Random"]["user"].nunique()
    assert {pair["n_users"] for pair in entry["pairs"]} == {n_users}
    assert any(str(note).startswith("Fails: 2 of 5 cells finished;") for note in done.info.notes)


def test_an_algorithm_that_failed_in_some_folds_never_leads(partial):
    info = partial.info.model_copy(deep=True)
    for row in info["rows"]:
        if row["algorithm"] == "Fails":
            row["scores"]["ndcg@5"] = 1.0
    run = Run(info, partial.users)
    table = display_table(info)
    shown = table.frame["algorithm"]
    assert shown[0] == "Fails (2 of 5 cells)"
    assert not any(shown[row].startswith("Fails") for row, _ in table.best)
    place = summarise(run).tables[0]
    assert "Fails" not in [*place.best("ndcg@5"), *place.ranked("ndcg@5")]
    assert "Fails" not in verdicts(info)[0].values["leaders"]
    assert failures_text(info.failed) == "3 cells failed: Fails."
    page, table = build_page([run]), latex(run)
    assert "Fails (2 of 5 cells)" in page
    assert "Fails (2 of 5 cells) & 1.0" in table
    assert table.count(r"\textbf") == 1
    assert "Fails" not in set(plots.kinds()["tradeoff"](run).data["algorithm"])


def scored_by(**columns):
    """Return users and cells of algorithms with these scores of users 0, 1, 2, ..."""
    table = {"dataset": "d", "split": "s", "candidates": "c", "table": "0" * 16}
    table |= {"seed": 0, "fold": 0}
    cells = [table | {"row": name * 16, "algorithm": name} for name in columns]
    frames = [
        pd.DataFrame({**cell, "user": [str(user) for user in range(len(scores))], "ndcg@5": scores})
        for cell, scores in zip(cells, columns.values(), strict=True)
    ]
    made = [CellResult.model_construct(**cell, split_fingerprint="f") for cell in cells]
    return pd.concat(frames), made


NAN = math.nan
NONE = ["ndcg@5: no two algorithms have scores of the same users; none are compared"]
FEW = "in a comparison, intervals may be too narrow; they hold from 25 users on"
NOT_C = ["ndcg@5: c not compared: without users in common with every other algorithm"]
NOT_C += [f"with 3 users {FEW}"]
FOUR = [0.4, 0.3, 0.2, 0.1]


@pytest.mark.parametrize(
    ("columns", "compared", "notes"),
    [
        ({"a": [0.1, 0.2, NAN, NAN], "b": [NAN, NAN, 0.3, 0.4]}, "", NONE),
        ({"a": [0.1, 0.2, 0.3, NAN], "b": FOUR, "c": [NAN, NAN, NAN, 0.4]}, "ab", NOT_C),
        ({"a": [NAN, NAN], "b": [NAN, NAN]}, "", NONE),
        ({"a": [0.5, 0.6, 0.7], "b": [0.4, 0.1, 0.2], "c": [NAN] * 3}, "ab", NOT_C),
        ({"a": [0.5, 0.6, 0.7], "b": [0.4, NAN, NAN]}, "ab", [f"with 1 user {FEW}"]),
        ({"a": [0.5] * 25, "b": [0.4] * 25}, "ab", []),
        ({"a": [0.5, 0.6, 0.7]}, "", []),
    ],
)
def test_what_cannot_be_compared_is_a_note(columns, compared, notes):
    users, cells = scored_by(**columns)
    found, said = infer(users, ["ndcg@5"], cells, Inference(resamples=100), 0)
    assert [each.algorithm for entry in found for each in entry.algorithms] == list(compared)
    assert [*map(str, said)] == notes


def test_algorithms_that_failed_in_different_folds_are_notes():
    users, cells = scored_by(a=[0.1, 0.2], b=[0.3, 0.4])
    cells += [FailedCell.model_construct(**dict(cell), error="no") for cell in cells]
    found, notes = infer(users, ["ndcg@5"], cells, Inference(resamples=100), 0)
    assert found == []
    failed = [(note.code, note.values["algorithm"], note.values["n"]) for note in notes]
    assert failed == [("cells-failed", "a", 1), ("cells-failed", "b", 1)]


def test_a_run_with_a_metric_that_no_user_has_is_written(tmp_path, ratings):
    label = "ndcg(short=skipped)@10000"
    config = {"algorithms": ["ItemMean", "Random"], "metrics": [label], "baselines": False}
    done = read_run(harness.run(config, ratings=ratings, results=tmp_path).folder)
    assert done.info.statistics == []
    assert any(note.code == "none-compared" for note in done.info.notes)
    assert done.table[label].isna().all()
    assert display_table(done.info).best == []
    assert verdicts(done.info)[0].code == "no-row"


@given(st.lists(st.floats(1e-6, 90.0), min_size=1).filter(lambda several: len(several) % 2))
def test_the_middle_standard_error_shows_two_digits(several):
    middle, places = sorted(several)[len(several) // 2], decimals(several)
    digits = f"{middle:.{places}f}".replace(".", "").lstrip("0")
    assert len(digits) == 2 or (middle > 9.9 and places == 0)


@pytest.mark.parametrize(
    ("errors", "digits"),
    [([], 4), ([0.0, math.nan, math.inf], 4), ([0.0996], 2), ([1e-15], 7)],
)
def test_decimals_of_odd_errors(errors, digits):
    """0.0996 becomes 0.10, without a third digit; there are seven digits at most."""
    assert decimals(errors) == digits


def test_numbers_are_written_with_their_decimals():
    numbers = [(0.12345, 3), (2.0, 0), (-0.0004, 3), (-0.5, 1), (None, 3), (math.nan, 3)]
    assert [rounded(*each) for each in numbers] == ["0.123", "2", "0.000", "-0.5", "", ""]


@pytest.mark.parametrize(
    ("bounds", "digits"),
    [
        ([(None, None)], [4]),
        ([], []),
        ([(0.5 - 1.96 * 0.012, 0.5 + 1.96 * 0.012)], [3]),  # 2 * 1.96 standard errors wide
        ([(0.1, 0.9), (0.101, 0.109)], [2, 4]),
    ],
)
def test_each_data_set_has_decimals_of_its_own(bounds, digits):
    found = column_decimals(compared(bounds, datasets=[*map(str, range(len(bounds)))]))
    assert found == {(str(number), "a"): each for number, each in enumerate(digits)}


@pytest.mark.parametrize(
    ("bounds", "digits"),
    [
        ([(0.1, 0.9), (0.101, 0.109)], 4),
        ([(0.1, 0.9), (None, None)], 2),  # what has no uncertainty does not decide
        ([(0.1, 0.9), (1.0, 1.0)], 2),
        ([(1.0, 1.0), (None, None)], 4),
    ],
)
def test_tables_that_share_a_column_share_its_decimals(bounds, digits):
    found = column_decimals(compared(bounds, datasets=["one", "one"]))
    assert found == {("0", "a"): digits, ("1", "a"): digits}


def compared(bounds, datasets):
    statistics = [
        MetricComparison.model_construct(
            table=str(number), metric="a", dataset=dataset, split="holdout",
            algorithms=[AlgorithmMean.model_construct(low=low, high=high)],
        )
        for number, ((low, high), dataset) in enumerate(zip(bounds, datasets, strict=True))
    ]  # fmt: skip
    return RunInfo.model_construct(statistics=statistics)
