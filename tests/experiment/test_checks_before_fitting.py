"""What the data alone says about a config's metrics, before anything is fitted."""

import pytest

from harness import Ratings
from harness.errors import MetricError
from harness.experiment.dry_run import dry_run, notes_before_fit
from harness.experiment.plan import Plan
from harness.experiment.run import run

RATINGS = [1, 2, 3, 4, 5, 4, 3, 2, 5, 4]


def data(ratings=RATINGS, scale=(1, 5), n_users=6):
    rows = [
        (user, item, ratings[(user + item) % 10]) for user in range(n_users) for item in range(10)
    ]
    users, items, values = zip(*rows, strict=True)
    return Ratings.from_columns(users, items, values, scale=scale)


def prepared(ratings, **config):
    """Return a plan that holds the ratings."""
    return Plan.from_config({"algorithms": ["SVD"], **config}, ratings=ratings)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ndcg@10", r"columns, rated from -10 to 10: ndcg: .*negative=zero.* offset=-10$"),
        ("err@10", r"offset=-10$"),
        ("ndcg(offset=-5)@10", r"a relevance of -5 after the offset of -5; .* offset=-10$"),
        ("ndcg(gain=table(0, 1), offset=-10)@3", r"no gain for a relevance of 0.5"),
        ("err(offset=-10)@3", r"a relevance of 20 is above max=5; set max"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_relevance_without_a_gain_is_refused_before_the_first_fit(metric, message, seed):
    ratings = data([-9.5, 3, 10, 4, 7, 0, 2, 2, 9, 1], (-10, 10))
    fitted = []
    with pytest.raises(MetricError, match=message):
        run(
            {"algorithms": ["BaselineOnly"], "metrics": [metric], "seed": seed},
            ratings=ratings,
            results=None,
            watch=lambda event: fitted.append(event),
        )
    assert {getattr(event, "stage", "") for event in fitted} <= {"loading"}


def test_the_metric_that_decides_a_search_is_checked_too():
    with pytest.raises(MetricError, match="ndcg"):
        prepared(
            data([-1, 2] * 5, (-1, 2)),
            metrics=["rmse"],
            algorithms=[{"name": "SVD", "search": {"n_factors": [2, 3]}}],
            tuning={"metric": "ndcg@10"},
        ).check_relevance()


@pytest.mark.parametrize("metric", ["precision@3", "ndcg(negative=zero)@10", "ndcg(gain=binary)@2"])
def test_a_metric_that_defines_negative_relevances_is_not_refused(metric):
    prepared(data([-1, 2] * 5, (-1, 2)), metrics=[metric]).check_relevance()


@pytest.mark.parametrize(
    ("metric", "config", "reason"),
    [
        ("precision@2", {}, "every test item is relevant.*precision(threshold=4)@2"),
        ("ndcg(gain=binary)@1", {}, "every test item is relevant.*ndcg(gain=binary(4))@1"),
        ("hit(threshold=6)@1", {}, "no test item is relevant"),
        ("recall(threshold=4)@10", {}, "no list is longer than 10"),
        ("ndcg@10", {"split": "leave-n-out"}, "no list has more than one item"),
        ("idcg@3", {"candidates": "catalogue"}, "it depends on the lists alone"),
        ("precision(threshold=4)@8", {"candidates": "catalogue"}, "no list is longer than 8"),
        (
            "precision(threshold=4)@8",
            {"candidates": {"kind": "sampled", "n": 5}},
            "no list is longer than 8",
        ),
    ],
)
def test_a_metric_that_cannot_distinguish_algorithms_is_named_with_the_reason(
    metric, config, reason
):
    config = {"split": {"kind": "user-fraction", "fraction": 0.3}, **config}
    (note,) = notes_before_fit(prepared(data(), metrics=["rmse", metric], **config))
    before, _, after = reason.partition(".*")
    assert note.startswith(f"{metric} cannot distinguish algorithms: {before}")
    assert after in note


@pytest.mark.parametrize("candidates", ["rated", "catalogue", {"kind": "sampled", "n": 5}])
@pytest.mark.parametrize("metric", ["ndcg@2", "precision(threshold=4)@1", "auc(threshold=4)"])
def test_a_metric_that_depends_on_the_order_gets_no_note(metric, candidates):
    config = {"metrics": [metric], "candidates": candidates}
    assert list(notes_before_fit(prepared(data(), **config))) == []


def test_the_notes_of_several_tables_say_which_table_they_are_of():
    config = {"metrics": ["ndcg@10"], "split": ["leave-n-out", "holdout"]}
    (note,) = notes_before_fit(prepared(data(), **config))
    assert note.startswith("columns, leave-1-out random, rated: ndcg@10 cannot distinguish")


def test_a_split_from_files_is_known_by_its_rows_and_goes_to_other_processes_with_them(tmp_path):
    ratings = data()
    table = ratings.to_frame()
    for number, name in enumerate(["a.csv", "b.csv", "c.csv"]):
        folds = [row % (2 + number // 2) for row in range(len(table))]
        table.assign(fold=folds).to_csv(tmp_path / name, index=False)
    names = [str(tmp_path / name) for name in ("a.csv", "b.csv", "c.csv")]
    split = [*({"kind": "predefined", "file": name} for name in names), "kfold"]
    plan = prepared(ratings, metrics=["rmse"], split=split)
    first, same, other, _ = [plan.tables[0, number, 0].table for number in range(4)]
    assert first == same != other
    plan.splits(0, 3, 0)
    assert {place[1] for place in plan.portable()._splits} == {0, 1, 2}


def test_an_algorithm_that_no_memory_of_this_machine_could_hold_is_a_fault():
    huge = {"name": "SVD", "params": {"n_factors": 2_000_000_000}}
    (fault,) = dry_run({"dataset": "bundled", "algorithms": [huge], "metrics": ["rmse"]}).faults
    assert fault.startswith("SVD: ")
    assert "GB needed, and this machine has" in fault
