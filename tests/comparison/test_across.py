"""Several data sets in one verdict: what is compared, refused and left out, and how it is shown."""

import json

import numpy as np
import pytest
from scipy import stats

import harness
from harness.errors import ComparisonError, ResultsError
from harness.report import rank_tables as shown
from harness.results import Run

SIZES = {"n_users": 40, "n_items": 30, "n_ratings": 600}
CONFIG = {
    "dataset": [{"synthetic": {**SIZES, "seed": seed}} for seed in range(3)],
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@10", "rmse"],
}
SEARCHED = {"name": "BaselineOnly", "search": "recommended"}
RENAMED = {"name": "UserMean", "label": "ItemMean"}
TUNED = {"algorithms": ["ItemMean", SEARCHED], "tuning": {"trials": 1}}
ONE = {"dataset": {"synthetic": {**SIZES, "seed": 9}}}


@pytest.fixture(scope="module")
def make():
    """Return a function that makes a run with changes of the config, each once."""
    made = {}

    def run(**changes):
        key = repr(changes)
        if key not in made:
            made[key] = harness.run({"name": f"run{len(made)}", **CONFIG, **changes}, results=None)
        return made[key]

    return run


@pytest.mark.parametrize(("metric", "sign"), [("ndcg@10", -1), ("rmse", 1)])
def test_ranks_and_values_are_those_of_the_tables(make, metric, sign):
    runs = [make(), make(**ONE)]
    found = harness.across(runs, metric=metric)
    own, other = (f"synthetic (from {run.name})" for run in runs)
    assert found.datasets == [own, "synthetic (seed 1)", "synthetic (seed 2)", other]
    tables = [table for run in runs for _, table in run.table.groupby("dataset", sort=False)]
    order = found.table["algorithm"]
    values = np.array([table.set_index("algorithm").loc[order, metric] for table in tables])
    np.testing.assert_array_equal(found.table[found.datasets].to_numpy().T, values)
    ranks = stats.rankdata(sign * values, axis=1)
    np.testing.assert_allclose(found.table["mean_rank"], ranks.mean(axis=0))
    np.testing.assert_array_equal(found.table["wins"], (ranks == 1).sum(axis=0))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"split": {"kind": "kfold", "n_splits": 2}}, "other split"),
        ({"candidates": "catalogue"}, "kind catalogue instead of rated"),
        ({"clip": False}, "(clip false instead of true)"),
        ({"algorithms": ["BaselineOnly", RENAMED]}, "(name UserMean instead of ItemMean)"),
        (TUNED, "other tuning than"),
    ],
)
def test_runs_that_ask_different_questions_are_refused(make, changes, message):
    runs = [make(), make(**ONE, **changes)]
    with pytest.raises(ComparisonError) as error:
        harness.across(runs)
    assert message in str(error.value)
    assert any(message in str(note) for note in harness.across(runs, anyway=True).notes)


def test_the_validation_part_is_that_of_the_split_that_is_compared(make):
    tuned = {"algorithms": [{"name": "ItemMean", "search": {"damping": [1.0, 10.0]}}]}
    tuned |= {"tuning": {"metric": "rmse"}, "metrics": ["rmse"]}
    one, other = ({**ONE, **tuned, "split": each} for each in (["holdout", "rolling"], "rolling"))
    other["dataset"] = {"synthetic": {**SIZES, "seed": 8}}
    found = harness.across([make(**one), make(**other)], split="rolling 5 origins")
    assert not any("validation set" in str(note) for note in found.notes)


def test_recommended_spaces_are_compared_as_they_were_searched(make):
    one, other = (make(**each, **TUNED, metrics=["ndcg@10"]) for each in ({}, ONE))
    assert not harness.across([one, other]).notes
    info = other.info.model_copy(deep=True)
    own, name = info.spaces["BaselineOnly"], "bsl_options.reg_u"
    own[name] = own[name].model_copy(update={"low": own[name].low / 10})
    with pytest.raises(ComparisonError) as error:
        harness.across([one, Run(info)])
    assert f"space.bsl_options.reg_u.low {own[name].low} instead of" in str(error.value)


def test_what_cannot_be_answered_is_refused_or_said(make):
    both = make(candidates=["rated", "catalogue"])
    for runs, settings, message in (
        ([make(**ONE), make(**ONE, seed=1)], {}, "seeds and splits are not further data sets"),
        ([make(), make()], {}, "given twice"),
        ([], {}, "across: no run; give runs of two data sets or more"),
        ([both], {}, "choose one with --candidates"),
        ([make()], {"metric": "ndcg@5"}, "no metric 'ndcg@5'; did you mean 'ndcg@10'?"),
        ([make()], {"split": "5-fold"}, "no split '5-fold'; use one of holdout 20%"),
        ([make(), make(**ONE, metrics=["mae"])], {}, "no metric in common"),
        ([make(), make(**ONE, algorithms=["SVD"], baselines=False)], {}, "0 rows"),
    ):
        with pytest.raises(ResultsError) as error:
            harness.across(runs, **settings)
        assert message in str(error.value)
    chosen = harness.across([both], candidates="rated", metric="NDCG@10")
    assert chosen.table.equals(harness.across([make()]).table)
    other = make(**ONE, algorithms=["ItemMean", "SVD"])
    (left, cannot) = harness.across([make(), other]).notes, harness.across([make()]).notes
    assert [*map(str, left)] == ["left out, because not every data set has them: BaselineOnly, SVD"]
    assert not cannot
    (note,) = harness.across([make(baselines=False)]).notes
    assert "with 3 data sets and 2 algorithms no difference of mean ranks can be" in str(note)


def test_rows_that_failed_somewhere_are_left_out(make):
    broken = {"algorithms": [*CONFIG["algorithms"], {"name": "SVD", "params": {"lr_all": 1e6}}]}
    found = harness.across([make(**broken)])
    assert "SVD" not in set(found.table["algorithm"])
    assert str(found.notes[0]).startswith("left out: SVD: no value of ndcg@10 on synthetic,")


def test_every_format_has_the_same_numbers(make):
    found = harness.across([make()])
    held = json.loads(shown.to_json(found))
    best = found.table.iloc[0]
    (row,) = [row for row in held["algorithms"] if row["algorithm"] == best["algorithm"]]
    assert row == best.to_dict()
    assert np.mean(list(held["ranks"][row["algorithm"]].values())) == best["mean_rank"]
    assert held["friedman"]["p"] == found.comparison.friedman.p
    for form, write in shown.FORMATS.items():
        assert f"{best['synthetic']:.4f}"[:5] in write(found), form
    of_best = shown.probabilities(found)
    assert set(of_best.iloc[:, 0]) == set(found.table["algorithm"]) - {best["algorithm"]}
    sums = of_best.iloc[:, 1:].astype(float).sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=0.002)


@pytest.mark.parametrize("post_hoc", ["nemenyi", "holm"])
def test_the_diagram_joins_what_is_not_significantly_different(make, post_hoc):
    found = harness.across([make()], post_hoc=post_hoc)
    letters = found.table["letters"].tolist()
    for first, last in shown.groups(found):
        assert set(letters[first]) & set(letters[last])
    axes = shown.critical_difference(found)
    texts = [text.get_text() for text in axes.texts]
    for name, rank in zip(found.table["algorithm"], found.table["mean_rank"], strict=True):
        assert f"{name} {rank:.2f}" in texts or f"{rank:.2f} {name}" in texts
    assert any("critical difference" in text for text in texts) == (post_hoc == "nemenyi")
    assert shown.render(found, "png").startswith(b"\x89PNG")


@pytest.mark.parametrize("k", [2, 9, 10, 18, 19, 23, 60, 200])
def test_numbers_of_many_ranks_leave_each_other_room(k):
    numbers = shown.ranks_with_number(k)
    assert (numbers[0], numbers[-1]) == (1, k)
    assert len(numbers) <= shown.MOST_NUMBERS + 1
    gaps = np.diff(numbers)
    assert min(gaps) * 2 >= max(gaps[1:-1], default=0)


def test_rows_of_different_users_on_a_data_set_are_noted(make):
    run = make()
    assert not [n for n in harness.across([run]).notes if n.code == "ranks-of-other-users"]
    info = run.info.model_copy(deep=True)
    [first, *_] = [each for each in info.statistics if each.metric == "ndcg@10"]
    first.algorithms[0].n_users += 1
    found = harness.across([Run(info, run.users)])
    [note] = [note for note in found.notes if note.code == "ranks-of-other-users"]
    assert str(note).startswith(found.datasets[0])
    assert "ndcg@10" in str(note)
