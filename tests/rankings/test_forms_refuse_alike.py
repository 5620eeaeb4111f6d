"""What no form of predictions may hide: each is refused, or scored, in every form alike."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import surprise

import harness
from harness import rankings
from harness.errors import MetricError
from harness.extras.spark.frames import score_batches

COLUMNS = ["user", "item", "estimate", "rating"]
ROWS = [("ann", "x", 3.5, 5), ("ann", "y", 3.2, 1), ("ann", "z", 1.1, 2), ("bob", "x", 1.5, 4)]


def frame(rows, names=("user", "item", "estimate", "rating")):
    table = pd.DataFrame(rows, columns=COLUMNS, dtype=object)[list(names)]
    return table.infer_objects()


def by_user(rows, own):
    found = {}
    for user, *rest in rows:
        found.setdefault(user, []).append(own(*rest))
    return found


def spark(rows):
    """Score what a worker of Spark gets: a batch of users whose rows are consecutive."""
    columns = {name: [row[n] for row in rows] for n, name in enumerate(COLUMNS)}
    columns |= {name: np.array(columns[name], float) for name in ("estimate", "rating")}
    batch = pa.RecordBatch.from_pydict(columns)
    ((part,),) = ([*score_batches([batch], ["ndcg@10"], ["user", "ndcg@10", "n"])],)
    return float(np.mean(part["ndcg@10"].to_numpy()))


FORMS = {
    "frame": lambda rows: harness.ndcg(frame(rows)),
    "Arrow table": lambda rows: harness.ndcg(pa.Table.from_pandas(frame(rows))),
    "columns": lambda rows: harness.ndcg({n: frame(rows)[n].tolist() for n in COLUMNS}),
    "predictions": lambda rows: harness.ndcg(
        [surprise.Prediction(user, item, r, est, {}) for user, item, est, r in rows]
    ),
    "frame of predictions": lambda rows: harness.ndcg(
        pd.DataFrame([surprise.Prediction(u, i, r, est, {}) for u, i, est, r in rows])
    ),
    "predictions by user": lambda rows: harness.ndcg(
        by_user(rows, lambda i, e, r: surprise.Prediction("anybody", i, r, e, {}))
    ),
    "triples by user": lambda rows: harness.ndcg(by_user(rows, lambda *own: own)),
    "two tables": lambda rows: harness.ndcg(
        frame(rows, ["user", "item", "rating"]), frame(rows, ["user", "item", "estimate"])
    ),
    "Spark": spark,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_one_value(form):
    assert FORMS[form](ROWS) == pytest.approx(FORMS["frame"](ROWS), abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rating", [5, 2])
def test_an_item_that_a_user_has_twice_is_refused(form, rating):
    twice = [*ROWS[:1], ("ann", "x", 2.25, rating), *ROWS[1:]]
    with pytest.raises(MetricError, match="item x comes twice for user ann; keep one of the rows"):
        FORMS[form](twice)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [0, 1])
def test_a_missing_id_is_refused(form, place):
    row = [*ROWS[1]]
    row[place] = None
    with pytest.raises(MetricError, match=r"an id is missing|has no (user|item)"):
        FORMS[form]([ROWS[0], *ROWS[2:], tuple(row)])


TYPED = ("frame", "columns", "predictions", "frame of predictions", "predictions by user",
         "triples by user", "two tables")  # fmt: skip


@pytest.mark.parametrize("form", TYPED)
@pytest.mark.parametrize("place", [0, 1])
def test_an_id_as_a_number_and_as_text_is_refused(form, place):
    rows = [[*row] for row in ROWS]
    rows[0][place], rows[3][place] = "7", 7
    with pytest.raises(MetricError, match="7 is there as text and as a number; give all"):
        FORMS[form](rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", [2, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_without_a_warning(form, place, value):
    row = [*ROWS[1]]
    row[place] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MetricError, match=r"user ann: .* is not finite; 1 such in all: drop"):
            FORMS[form]([ROWS[0], tuple(row), *ROWS[2:]])


@pytest.mark.parametrize("form", FORMS)
def test_negative_relevance_is_refused_and_truth_values_are_1_and_0(form):
    with pytest.raises(MetricError, match=r"a relevance of -1; add negative=zero, or move"):
        FORMS[form]([("ann", "w", 2.5, -1), *ROWS])
    as_bool = [(*row[:3], row[3] > 2) for row in ROWS]
    assert FORMS[form](as_bool) == FORMS[form]([(*row[:3], float(row[3])) for row in as_bool])


def test_names_of_items_in_mappings_and_matrices_are_checked_too():
    for missing in (None, float("nan")):
        with pytest.raises(MetricError, match="an id is missing"):
            harness.ndcg({"a": {missing: 5, "y": 2}}, {"a": {missing: 4.5, "y": 2.5}})
        with pytest.raises(MetricError, match="an id is missing"):
            harness.ndcg([{missing: 5, "y": 2}], [{missing: 4.5, "y": 2.5}])
        wide = pd.DataFrame([[5, 2]], index=["a"], columns=[missing, "y"])
        with pytest.raises(MetricError, match="an id is missing"):
            harness.ndcg(wide, wide - 0.25)
    with pytest.raises(MetricError, match="as text and as a number"):
        harness.ndcg({1: 5, "1": 2}, {1: 4.5, "1": 2.5})


@pytest.mark.parametrize(
    ("true", "estimated", "where"),
    [
        ([[1, 2], []], [[0.25, 0.5], []], "row 2"),
        ({"a": [1, 2], "b": []}, {"a": [0.25, 0.5], "b": []}, "user 'b'"),
        ({"a": {}}, {"a": {}}, "user 'a'"),
        (np.zeros((2, 0)), np.zeros((2, 0)), "row 1"),
    ],
)
def test_a_user_without_items_is_not_left_out_silently(true, estimated, where):
    with pytest.raises(MetricError, match=f"{where}: empty; leave this user out"):
        harness.ndcg(true, estimated)


SERIES = pd.Series([5, 3], index=["x", "y"]), pd.Series([2.25, 3.5], index=["y", "x"])


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: harness.ndcg(a, b),
        lambda a, b: harness.ndcg({"u": a}, {"u": b}),
        lambda a, b: harness.ndcg([a], [b]),
        lambda a, b: rankings.from_pairs(["u", "u"], b, a),
        lambda a, b: harness.ndcg({"user": ["u", "u"], "estimate": b, "rating": a}),
    ],
)
def test_columns_of_pandas_in_different_orders_are_refused(call):
    with pytest.raises(MetricError, match=r"the indexes of .* differ; bring the rows into one"):
        call(*SERIES)
    call(SERIES[0], SERIES[1].reindex(SERIES[0].index))


def test_the_index_and_the_categories_of_a_frame_change_nothing():
    plain = frame(ROWS)
    for other in (
        plain.set_axis([7, 3, 7, 1]),
        plain.assign(user=pd.Categorical(plain["user"], categories=["bob", "z", "ann"])),
        plain.assign(rating=pd.Categorical(plain["rating"])),
        plain.assign(rating=plain["rating"].astype("Int64")),
    ):
        assert harness.ndcg(other) == harness.ndcg(plain)
    true, estimated = plain[["user", "item", "rating"]], plain[["user", "item", "estimate"]]
    kinds = pd.Categorical(estimated["item"], categories=["z", "y", "x"])
    assert harness.ndcg(true, estimated.assign(item=kinds)) == harness.ndcg(plain)
    numbers = true.assign(item=[1, 2, 3, 4]), estimated.assign(item=[1.0, 2.0, 3.0, 4.0])
    assert harness.ndcg(*numbers) == harness.ndcg(plain)
    with pytest.raises(MetricError, match="2 of 5 pairs are in only one table"):
        harness.ndcg(numbers[0], estimated.assign(item=[1.0, 2.0, 3.0, 4.5]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: harness.ndcg(np.ma.array([5, 3], mask=[0, 1]), [2.5, 2.25]),
        lambda: harness.ndcg([5, 3], np.ma.array([2.5, 2.25], mask=[0, 1])),
        lambda: harness.ndcg(np.ma.array([[5, 3]], mask=[[0, 1]]), [[2.5, 2.25]]),
        lambda: harness.ndcg([np.ma.array([5, 3], mask=[0, 1])], [[2.5, 2.25]]),
        lambda: harness.ndcg(np.ma.array([[2.5, 5], [2.25, 3]], mask=[[0, 1], [0, 0]])),
        lambda: harness.ndcg([(2.5, np.ma.masked), (2.25, 3)]),
        lambda: harness.ndcg([("a", np.ma.masked, 5), ("a", 2.25, 3)]),
    ],
)
def test_masked_values_are_refused(call):
    with pytest.raises(MetricError, match="masked; drop"):
        call()


@pytest.mark.parametrize("predictions", [[(2.5, 5), (2.25, 3)], frame(ROWS)])
def test_k_is_a_whole_number_from_1_and_may_be_beyond_the_list(predictions):
    for k in (0, -1):
        with pytest.raises(MetricError, match="use a whole number from 1"):
            harness.ndcg(predictions, k)
    for k in (True, 2.0, "3"):
        with pytest.raises(MetricError, match="give a"):
            harness.ndcg(predictions, k=k)
        with pytest.raises((MetricError, ValueError), match="give"):
            harness.ndcg(predictions, k)
    assert harness.ndcg(predictions, 10**6) == harness.ndcg(predictions, None)
