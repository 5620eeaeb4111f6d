"""Metrics per user of a Spark data frame, computed by the same code as local ones.

Spark brings each user's rows together and sorts them, spilling to disk as it must; a Python worker
then reads them as Arrow batches, cuts them between users and scores some hundred thousand rows at a
time. Such a block and the rows of its largest user must fit into a worker's memory.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import MetricError, suggestion
from harness.metrics import Metric, parse_many

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["Mean", "evaluate", "mean"]

POSITION, N_ROWS = "__position", "__rows"
POOLED = {"rmse": 2, "mse": 1, "mae": 1}
"""Metrics over all pairs that follow from the users' values: the power in which they are added."""


@dataclass(frozen=True)
class Mean:
    """The table value of one metric.

    Parameters
    ----------
    mean : float
        The mean of the defined scores, or for a pooled metric the value over all rows; nan when
        nothing is defined.
    n_users, n_undefined : int
        Users in all, and those left out of the mean.
    """

    mean: float
    n_users: int
    n_undefined: int


def evaluate(
    df: DataFrame,
    metrics: str | Iterable[str | Metric],
    *,
    user: str = "user",
    estimate: str = "estimate",
    rating: str = "rating",
    partitions: int | None = None,
) -> DataFrame:
    """Compute metrics per user of a Spark data frame of estimates and true ratings.

    Nothing runs until the result is used. Every number equals the one of
    `harness.rankings.from_pairs` and `harness.metrics.score` over the same rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row for each rated item: user, item, estimate, rating. The item is not used.
    metrics : str or iterable of str or Metric
        Labels, as ``"ndcg@5,10"`` or ``["ndcg(ties=first)@10", "rmse"]``.
    user, estimate, rating : str
        Names of the columns.
    partitions : int, optional
        Into how many parts users are spread; Spark's ``spark.sql.shuffle.partitions`` when left
        out.

    Returns
    -------
    pyspark.sql.DataFrame
        A row for each user: the user's column, then a column of doubles for each label, null where
        the metric is undefined. In no set order.

    Raises
    ------
    MetricError
        If a column is missing or no number, a label cannot be read, or a metric needs more than
        estimates and ratings. A missing or infinite value is found when the plan runs and stops
        it with a message that names the user.

    Notes
    -----
    ``ties=first`` and ``ties=last`` go by the order in which Spark holds the rows, the one that
    ``df.toPandas()`` shows; a frame that has been shuffled has an order that a second run need not
    repeat. ``ties=random`` is refused: its draws depend on a user's place among all users.
    """
    wanted = _wanted(metrics)
    return _scored(df, wanted, user, estimate, rating, partitions).drop(N_ROWS)


def mean(
    df: DataFrame,
    metrics: str | Iterable[str | Metric],
    *,
    user: str = "user",
    estimate: str = "estimate",
    rating: str = "rating",
    partitions: int | None = None,
) -> dict[str, Mean]:
    """Compute the table values of metrics: means over users, pooled ones over all rows.

    Runs the plan of `evaluate`; what comes to the driver is a few sums for each Arrow batch.

    Parameters
    ----------
    df, metrics, user, estimate, rating, partitions
        As `evaluate` takes them.

    Returns
    -------
    dict of str to Mean
        By label, in the given order.

    Raises
    ------
    MetricError
        As `evaluate`; also if a value is missing or infinite, there is no row, or a metric that is
        pooled over all rows does not follow from the users' values (``r2``, ``fcp``).
    """
    wanted = _wanted(metrics)
    for metric in wanted:
        if metric.pooled and metric.name not in POOLED:
            raise MetricError(
                f"{metric}: its value over all rows does not follow from the users'; "
                "use evaluate for the users' values, or leave it out"
            )
    scored = _scored(df, wanted, user, estimate, rating, partitions)
    labels = [str(metric) for metric in wanted]
    powers = [POOLED[metric.name] if metric.pooled else 0 for metric in wanted]

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (_sums(batch, labels, powers) for batch in batches if batch.num_rows)

    schema = "position int, total double, weight double, n_users long, n_undefined long"
    rows = _collected(scored.mapInArrow(add, schema))
    if not rows:
        raise MetricError("spark: there is no row; give at least one pair of estimate and rating")
    return {
        label: _joined([row for row in rows if row.position == position], powers[position])
        for position, label in enumerate(labels)
    }


def _wanted(metrics: str | Iterable[str | Metric]) -> tuple[Metric, ...]:
    labels = [metrics] if isinstance(metrics, str) else [str(metric) for metric in metrics]
    wanted = parse_many(labels)
    for metric in wanted:
        if metric.needs_items:
            raise MetricError(
                f"{metric}: needs the items at the top of each list and what training showed; "
                "leave it out, or use harness.run"
            )
        if "ties" in metric.params and metric.params["ties"].word == "random":
            raise MetricError(
                f"{metric}: ties=random depends on a user's position among all users, which "
                "no part of a cluster knows; use ties=average"
            )
    return wanted


def _scored(
    df: DataFrame,
    wanted: tuple[Metric, ...],
    user: str,
    estimate: str,
    rating: str,
    partitions: int | None,
) -> DataFrame:
    """Return a row for each user: id, scores, number of rows."""
    user_type = _check_columns(df, user, estimate, rating)
    from pyspark.sql import functions as f
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    columns = df.select(
        _named(user).alias("user"),
        _named(estimate).cast("double").alias("estimate"),
        _named(rating).cast("double").alias("rating"),
        f.monotonically_increasing_id().alias(POSITION),
    )
    counts = () if partitions is None else (partitions,)
    grouped = columns.repartition(*counts, "user").sortWithinPartitions("user", POSITION)
    labels = [str(metric) for metric in wanted]
    schema = StructType(
        [StructField(user, user_type)]
        + [StructField(label, DoubleType()) for label in labels]
        + [StructField(N_ROWS, LongType())]
    )
    n_threads = int(df.sparkSession.conf.get("spark.task.cpus", "1") or 1)

    def score(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.environ.setdefault("HARNESS_THREADS", str(n_threads))
        from harness.spark.batches import score_batches

        return score_batches(batches, labels, [*schema.names])

    return grouped.select("user", "estimate", "rating").mapInArrow(score, schema)


def _named(column: str) -> Any:
    from pyspark.sql import functions as f

    return f.col("`" + column.replace("`", "``") + "`")


def _check_columns(df: Any, user: str, estimate: str, rating: str) -> Any:
    """Return the type of the user's column.

    Raises
    ------
    MetricError
        If `df` is not a Spark data frame, lacks a column, or a column is not numeric.
    """
    if not hasattr(df, "mapInArrow"):
        raise MetricError(
            f"spark: found {type(df).__name__}, not a Spark data frame; "
            "for data in memory use harness.rankings.from_pairs and harness.metrics.score"
        )
    from pyspark.sql.types import AtomicType, NumericType

    fields = {field.name: field.dataType for field in df.schema.fields}
    roles = {"user": user, "estimate": estimate, "rating": rating}
    for role, name in roles.items():
        if name not in fields:
            raise MetricError(
                f"spark: the frame has no column {name!r}; {suggestion(name, fields)} "
                f"Rename it, or say which it is: evaluate(df, metrics, {role}=...)"
            )
    for role in ("estimate", "rating"):
        kind = fields[roles[role]]
        if not isinstance(kind, NumericType):
            raise MetricError(
                f"spark: column {roles[role]!r} is {kind.simpleString()}, not a number; "
                "cast it to double"
            )
    if not isinstance(fields[user], AtomicType):
        raise MetricError(
            f"spark: column {user!r} is {fields[user].simpleString()}; give ids as text or numbers"
        )
    return fields[user]


def _sums(batch: pa.RecordBatch, labels: list[str], powers: list[int]) -> pa.RecordBatch:
    """Add up one batch of users; a pooled metric in proportion to the users' rows."""
    import numpy as np
    import pyarrow as pa

    weights = batch.column(N_ROWS).to_numpy().astype(float)
    totals, shares, undefined = [], [], []
    for label, power in zip(labels, powers, strict=True):
        values = batch.column(label).to_numpy(zero_copy_only=False).astype(float)
        defined = ~np.isnan(values)
        share = weights[defined] if power else np.ones(int(defined.sum()))
        totals.append(float((values[defined] ** (power or 1) * share).sum()))
        shares.append(float(share.sum()))
        undefined.append(int((~defined).sum()))
    return pa.RecordBatch.from_pydict(
        {
            "position": pa.array(range(len(labels)), pa.int32()),
            "total": pa.array(totals, pa.float64()),
            "weight": pa.array(shares, pa.float64()),
            "n_users": pa.array([batch.num_rows] * len(labels), pa.int64()),
            "n_undefined": pa.array(undefined, pa.int64()),
        }
    )


def _joined(rows: list[Any], power: int) -> Mean:
    weight = math.fsum(row.weight for row in rows)
    value = math.fsum(row.total for row in rows) / weight if weight else math.nan
    return Mean(
        value ** (1 / power) if power > 1 else value,
        sum(row.n_users for row in rows),
        sum(row.n_undefined for row in rows),
    )


def _collected(frame: DataFrame) -> list[Any]:
    """Run a plan; an error of a worker is raised here again."""
    from pyspark.errors import PythonException

    try:
        return list(frame.collect())
    except PythonException as error:
        name = f"{MetricError.__module__}.{MetricError.__qualname__}: "
        for line in str(error).splitlines():
            if line.strip().startswith(name):
                raise MetricError(line.strip().removeprefix(name)) from None
        raise
