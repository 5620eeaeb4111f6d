"""Metrics over Spark data frames are the local ones, and MLlib's own agree with them."""

import numpy as np
import pandas as pd
import pytest

import harness.extras.spark.frames
from harness import metrics, rankings
from harness.errors import MetricError

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated.*:FutureWarning"),
]

LABELS = [
    "ndcg@5",
    "ndcg(ties=first)@10",
    "ndcg(ties=last)@3",
    "ndcg(gain=binary(4), undefined=0)@10",
    "precision(threshold=4)@5",
    "recall(threshold=4)@5",
    "ap(threshold=4)",
    "auc(threshold=4)",
    "rmse",
    "mae",
]


def draw(n_rows, n_users, seed=0):
    """Return rows with many equal estimates, and users without anything relevant."""
    rng = np.random.default_rng(seed)
    users = rng.integers(0, n_users, n_rows)
    ratings = np.where(users % 5 == 0, 0, rng.integers(0, 6, n_rows)).astype(float)
    return {
        "user": users.tolist(),
        "item": list(range(n_rows)),
        "estimate": (rng.integers(0, 8, n_rows) / 2).tolist(),
        "rating": ratings.tolist(),
    }


def frame(spark, columns, n_partitions=3):
    """Return the columns as a Spark frame that keeps their order."""
    rows = list(zip(*columns.values(), strict=True))
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, n_partitions), list(columns))


def scores_here(columns, labels):
    pairs, ids = rankings.group_pairs(columns["user"], columns["estimate"], columns["rating"])
    found = metrics.score(metrics.parse_many(labels), rankings.from_grouped(pairs, ids), pairs)
    return ids, {str(metric): scores for metric, scores in found.items()}


def assert_as_local(scored, columns, labels):
    rows = {row["user"]: row for row in scored.collect()}
    ids, expected = scores_here(columns, labels)
    assert set(rows) == set(ids.tolist())
    for label in labels:
        got = [rows[user][label] for user in ids.tolist()]
        nothing = [value is None for value in got]
        np.testing.assert_array_equal(nothing, np.isnan(expected[label].per_user))
        np.testing.assert_allclose(
            np.array([np.nan if value is None else value for value in got]),
            expected[label].per_user,
            rtol=0,
            atol=1e-12,
        )


@pytest.mark.parametrize("n_partitions", [1, 3, 50])
def test_scores_are_the_local_ones_however_the_rows_are_spread(spark, n_partitions):
    columns = draw(5_000, 120)
    df = frame(spark, columns, n_partitions)
    scored = harness.extras.spark.frames.evaluate(df, LABELS, partitions=n_partitions)
    assert_as_local(scored, columns, LABELS)


def test_the_draw_has_ties_and_undefined_users():
    _, expected = scores_here(draw(5_000, 120), LABELS)
    assert expected["auc(threshold=4)"].n_undefined > 0
    first, last = (expected[label].per_user for label in LABELS[1:3])
    assert not np.allclose(first[~np.isnan(first)], last[~np.isnan(last)])


def test_a_user_with_a_million_rows_is_scored_beside_small_ones(spark):
    from pyspark.sql import functions as f

    n_rows = 1_000_000
    giant = spark.range(n_rows, numPartitions=4).select(
        f.lit(7).cast("long").alias("user"),
        f.col("id").alias("item"),
        ((f.col("id") * 7919) % 1000 / 10).alias("estimate"),
        ((f.col("id") * 31) % 6).cast("double").alias("rating"),
    )
    small = {"user": [1, 1, 2], "item": [1, 2, 1], "estimate": [1.0, 2.0, 1.0]}
    small["rating"] = [5.0, 3.0, 0.0]
    df = giant.unionByName(frame(spark, small))
    ids = np.arange(n_rows)
    columns = {
        "user": [*([7] * n_rows), *small["user"]],
        "estimate": np.concatenate([ids * 7919 % 1000 / 10, small["estimate"]]),
        "rating": np.concatenate([ids * 31 % 6, small["rating"]]),
    }
    labels = ["ndcg@10", "ndcg(ties=first)@100", "rmse"]
    assert_as_local(harness.extras.spark.frames.evaluate(df, labels), columns, labels)


def test_means_are_the_local_ones_with_pooled_metrics_over_all_rows(spark):
    columns = draw(4_000, 90, seed=1)
    found = harness.extras.spark.frames.mean(frame(spark, columns), LABELS)
    ids, expected = scores_here(columns, LABELS)
    assert list(found) == LABELS
    for label, value in found.items():
        assert value.mean == pytest.approx(expected[label].mean, abs=1e-12)
        assert (value.n_users, value.n_undefined) == (len(ids), expected[label].n_undefined)


def test_users_may_be_text_and_columns_have_other_names(spark):
    df = spark.createDataFrame(
        [("böb", "x", 1.5, 3), ("böb", "y", 2.5, 5), ("ann", "x", 1.0, 4)],
        ["who is it", "item", "my.guess", "stars"],
    )
    scored = harness.extras.spark.frames.evaluate(
        df, "ndcg@1", user="who is it", estimate="my.guess", rating="stars"
    )
    assert scored.columns == ["who is it", "ndcg@1"]
    assert sorted(map(tuple, scored.collect())) == [("ann", 1.0), ("böb", 1.0)]


def test_nothing_runs_before_the_result_is_used(spark):
    broken = frame(spark, {"user": [1], "item": [1], "estimate": [np.nan], "rating": [1.0]})
    scored = harness.extras.spark.frames.evaluate(broken, "ndcg@1")
    from pyspark.errors import PythonException

    with pytest.raises(PythonException, match="user 1: estimate nan is not finite"):
        scored.collect()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("estimate", float("nan"), "user 1: estimate nan is not finite"),
        ("estimate", None, "user 1: estimate nan is not finite"),
        ("rating", float("inf"), "user 1: rating inf is not finite"),
        ("user", None, "spark: a row has no user"),
    ],
)
def test_a_missing_value_is_refused_in_the_words_of_the_engine(spark, column, value, message):
    row = {"user": 1, "item": 1, "estimate": 1.0, "rating": 1.0, column: value}
    schema = "user long, item long, estimate double, rating double"
    with pytest.raises(MetricError, match=f"^{message}"):
        harness.extras.spark.frames.mean(spark.createDataFrame([row], schema), "ndcg@1")


ROW = {"user": 1, "item": 1, "estimate": 1.0, "rating": 3.0}


@pytest.mark.parametrize(
    ("row", "label", "message"),
    [
        *(
            (
                {name + "s" * (name == gone): value for name, value in ROW.items()},
                "ndcg@5",
                f"has no column '{gone}'.*did you mean '{gone}s'",
            )
            for gone in ("user", "estimate", "rating")
        ),
        (ROW | {"estimate": "4"}, "ndcg@5", "column 'estimate' is string, not a number; cast it"),
        (ROW | {"user": [1]}, "ndcg@5", "column 'user' is array<bigint>; give ids"),
        (ROW, "ndcg(ties=random)@5", "ties=random depends on a user's position among all users"),
        (ROW, "r2", "r2: its value over all rows does not follow"),
    ],
)
def test_what_cannot_be_computed_is_refused(spark, row, label, message):
    df = spark.createDataFrame([tuple(row.values())], list(row))
    with pytest.raises(MetricError, match=message):
        harness.extras.spark.frames.mean(df, label)
    if label != "r2":
        with pytest.raises(MetricError, match=message):
            harness.extras.spark.frames.evaluate(df, label)


def test_a_frame_of_pandas_is_refused():
    with pytest.raises(MetricError, match="found DataFrame, not a Spark data frame"):
        harness.extras.spark.frames.evaluate(pd.DataFrame(draw(10, 2)), "ndcg@5")


def test_an_empty_frame_has_no_mean(spark):
    with pytest.raises(MetricError, match="there is no row"):
        harness.extras.spark.frames.mean(frame(spark, draw(10, 2)).limit(0), "ndcg@5")


def draw_lists(seed):
    """Return lists and labels: some short or empty, some users without a label."""
    rng = np.random.default_rng(seed)
    predicted, relevant = [], []
    for user in range(200):
        length = 0 if user % 11 == 0 else int(rng.integers(1, 16))
        n_labels = 0 if user % 7 == 0 else int(rng.integers(1, 30))
        predicted.append(rng.choice(60, length, replace=False).tolist())
        relevant.append(rng.choice(60, n_labels, replace=False).tolist())
    return predicted, relevant


@pytest.mark.parametrize("seed", [0, 1])
def test_every_metric_of_mllib_is_a_label_here(spark, seed):
    from pyspark.mllib.evaluation import RankingMetrics

    predicted, relevant = draw_lists(seed)
    pairs = list(zip(predicted, relevant, strict=True))
    theirs = RankingMetrics(spark.sparkContext.parallelize(pairs, 3))
    lists = rankings.from_lists(predicted, relevant)

    def ours(label):
        metric = metrics.parse(label)
        return metrics.score([metric], lists)[metric].mean

    for k in (1, 3, 10, 15):
        expected = {
            f"ndcg(gain=binary, undefined=0)@{k}": theirs.ndcgAt(k),
            f"precision(undefined=0)@{k}": theirs.precisionAt(k),
            f"recall(undefined=0)@{k}": theirs.recallAt(k),
            f"ap(denominator=achievable, undefined=0)@{k}": theirs.meanAveragePrecisionAt(k),
        }
        for label, value in expected.items():
            assert ours(label) == pytest.approx(value, abs=1e-12), label
    assert ours("ap(undefined=0)") == pytest.approx(theirs.meanAveragePrecision, abs=1e-12)


def test_an_item_that_a_user_has_twice_stops_the_plan(spark):
    rows = [("ann", "x", 3.5, 5.0), ("bob", "x", 1.5, 4.0), ("ann", "x", 3.2, 5.0)]
    df = spark.createDataFrame(rows, ["user", "item", "estimate", "rating"])
    with pytest.raises(MetricError, match="item x comes twice for user ann; keep one of the rows"):
        harness.extras.spark.frames.mean(df, "ndcg@5")
    assert harness.extras.spark.frames.mean(df, "ndcg@5", item="none")["ndcg@5"].n_users == 2
