"""Rankings larger than memory: the harness's metrics over Spark data frames.

Spark brings each user's rows together and sorts them, spilling to disk as it must; a Python worker
then reads them as Arrow batches, cuts them between users and scores some hundred thousand rows at a
time. Such a block and the rows of its largest user must fit into a worker's memory.

Needs the extra ``spark`` (``pip install 'surprise-harness[spark]'``) and a Java runtime, on the
driver and on every executor. Importing this module needs neither.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness._util.libraries import pa, pc
from harness.errors import MetricError, suggestion
from harness.metrics import Metric, Pairs, parse_many, score
from harness.rankings import from_grouped
from harness.rankings.columns import refuse_repeats

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


POSITION, N_ROWS = "__position", "__rows"
FROM_USERS = ("rmse", "mse", "mae")
"""Metrics over all pairs that follow from the users' values and numbers of pairs."""
BLOCK_ROWS = 500_000
"""Rows that are scored together, all rows of the last user included."""


@dataclass(frozen=True)
class Mean:
    """The table value of one metric: the mean of the defined scores, or the value over all rows.

    nan when nothing is defined. `n_users` counts all users, `n_undefined` those left out.
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
    item: str = "item",
    partitions: int | None = None,
) -> DataFrame:
    """Compute metrics per user of a Spark data frame of estimates and true ratings.

    Nothing runs until the result is used. Every number equals the result of
    `harness.rankings.from_pairs` and `harness.metrics.score` over the same rows.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row for each rated item; other columns than the named ones are not used.
    metrics : str or iterable of str or Metric
        Labels, such as ``"ndcg@5,10"`` or ``["ndcg(ties=first)@10", "rmse"]``.
    user, estimate, rating : str
        Names of the columns.
    item : str
        The column of items; if the frame has it, an item that a user has twice stops the plan.
    partitions : int, optional
        Into how many parts users are spread; by default ``spark.sql.shuffle.partitions``.

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
    repeat. ``ties=random`` is refused: its draws depend on a user's position among all users.
    """
    parsed = _parse(metrics)
    return _scored(df, parsed, (user, estimate, rating, item), partitions).drop(N_ROWS)


def mean(
    df: DataFrame,
    metrics: str | Iterable[str | Metric],
    *,
    user: str = "user",
    estimate: str = "estimate",
    rating: str = "rating",
    item: str = "item",
    partitions: int | None = None,
) -> dict[str, Mean]:
    """Compute the table values of metrics by label: means over users, pooled ones over all rows.

    Takes what `evaluate` takes, and runs its plan; what comes to the driver is a few sums for each
    partition. Raises a MetricError also if a value is missing or infinite, there is no row, or a
    metric that is pooled over all rows does not follow from the users' values (``r2``, ``fcp``).
    """
    parsed = _parse(metrics)
    for metric in parsed:
        if metric.pooled and metric.name not in FROM_USERS:
            raise MetricError(
                f"{metric}: its value over all rows does not follow from the users'; "
                "use evaluate for the users' values, or leave it out"
            )
    scored = _scored(df, parsed, (user, estimate, rating, item), partitions)
    from pyspark.sql import functions as f

    sums = [f.count("*").alias("n_users")]
    for position, metric in enumerate(parsed):
        value = _named(str(metric))
        weight = f.col(N_ROWS).cast("double") if metric.pooled else f.lit(1.0)
        total = weight * (value * value if metric.name == "rmse" else value)
        sums.append(f.sum(total).alias(f"total_{position}"))
        sums.append(f.sum(f.when(value.isNotNull(), weight)).alias(f"weight_{position}"))
        sums.append(f.count(value).alias(f"n_{position}"))
    # Sums within a partition are made in one order, and sums of these without rounding: the same
    # frame always gives the same bits.
    rows = _collected(scored.groupBy(f.spark_partition_id()).agg(*sums))
    if not rows:
        raise MetricError("spark: there is no row; give at least one pair of estimate and rating")
    n_users = sum(row.n_users for row in rows)
    means = {}
    for position, metric in enumerate(parsed):
        total, weight, n_defined = (
            math.fsum(row[f"{part}_{position}"] or 0.0 for row in rows)
            for part in ("total", "weight", "n")
        )
        value = total / weight if weight else math.nan
        means[str(metric)] = Mean(
            math.sqrt(value) if metric.name == "rmse" else value, n_users, n_users - int(n_defined)
        )
    return means


def _parse(metrics: str | Iterable[str | Metric]) -> tuple[Metric, ...]:
    labels = [metrics] if isinstance(metrics, str) else [str(metric) for metric in metrics]
    parsed = parse_many(labels)
    for metric in parsed:
        if metric.needs_exposure:
            raise MetricError(
                f"{metric}: needs items and what training showed of them; "
                "leave it out, or use harness.run"
            )
        if "ties" in metric.params and metric.params["ties"].word == "random":
            raise MetricError(
                f"{metric}: ties=random depends on a user's position among all users, which "
                "no part of a cluster knows; use ties=average"
            )
    return parsed


def _scored(
    df: DataFrame,
    metrics: tuple[Metric, ...],
    names: tuple[str, str, str, str],
    partitions: int | None,
) -> DataFrame:
    """Return a row for each user: id, scores, number of rows."""
    user, estimate, rating, item = names
    user_type = _check_columns(df, user, estimate, rating)
    items = {"item": _named(item)} if item in df.columns else {}
    from pyspark.sql import functions as f
    from pyspark.sql.types import DoubleType, LongType, StructField, StructType

    columns = df.select(
        _named(user).alias("user"),
        _named(estimate).cast("double").alias("estimate"),
        _named(rating).cast("double").alias("rating"),
        *(column.cast("string").alias(name) for name, column in items.items()),
        f.monotonically_increasing_id().alias(POSITION),
    )
    spread = ("user",) if partitions is None else (partitions, "user")
    grouped = columns.repartition(*spread).sortWithinPartitions("user", POSITION)
    labels = [str(metric) for metric in metrics]
    schema = StructType(
        [StructField(user, user_type)]
        + [StructField(label, DoubleType()) for label in labels]
        + [StructField(N_ROWS, LongType())]
    )
    n_threads = df.sparkSession.conf.get("spark.task.cpus", "1") or "1"

    def score_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.environ.setdefault("HARNESS_THREADS", n_threads)
        return score_batches(batches, labels, [*schema.names])

    return grouped.select("user", "estimate", "rating", *items).mapInArrow(score_partition, schema)


def _named(column: str) -> Column:
    from pyspark.sql import functions as f

    return f.col("`" + column.replace("`", "``") + "`")


def _check_columns(df: DataFrame, user: str, estimate: str, rating: str) -> DataType:
    """Return the type of the user's column; refuse a frame that lacks a column of its type."""
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
                f"(rename it, or say which it is: evaluate(df, metrics, {role}=...))"
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


def score_batches(
    batches: Iterable[pa.RecordBatch],
    labels: Sequence[str],
    names: Sequence[str],
    block_rows: int = BLOCK_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Score users whose rows are consecutive, cut anywhere into batches; a row for each user.

    Columns come as user, estimate, rating and, where there are items, item. They go as `names`:
    user, each of `labels` (null where undefined), number of rows. At least `block_rows` rows are
    scored at once.
    """
    metrics = parse_many(labels)
    for block in _blocks(batches, block_rows):
        yield _score(block, metrics, names)


def _blocks(batches: Iterable[pa.RecordBatch], block_rows: int) -> Iterator[pa.Table]:
    """Join batches into blocks of whole users."""
    pending: list[pa.RecordBatch] = []
    n_rows = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if n_rows >= block_rows:
            cut = _end_of_user(batch, pending[-1])
            if cut is not None:
                yield pa.Table.from_batches([*pending, batch.slice(0, cut)])
                pending, n_rows, batch = [], 0, batch.slice(cut)
        pending.append(batch)
        n_rows += batch.num_rows
    if n_rows:
        yield pa.Table.from_batches(pending)


def _end_of_user(batch: pa.RecordBatch, before: pa.RecordBatch) -> int | None:
    """Return where the rows of the user end with whom the batch before ended, None if nowhere."""
    user = before.column("user")[before.num_rows - 1]
    if user.as_py() is None:
        return 0
    same = pc.fill_null(pc.equal(batch.column("user"), user), False)
    end = pc.index(same, False).as_py()
    return None if end < 0 else int(end)


def _score(block: pa.Table, metrics: Sequence[Metric], names: Sequence[str]) -> pa.RecordBatch:
    users = block.column("user").combine_chunks()
    if users.null_count:
        raise MetricError("spark: a row has no user; drop such rows or name their users")
    codes = pc.dictionary_encode(users).indices.to_numpy()
    offsets = np.concatenate(([0], np.flatnonzero(np.diff(codes)) + 1, [block.num_rows]))
    ids = users.take(pa.array(offsets[:-1]))
    if "item" in block.column_names:
        if block.column("item").null_count:
            raise MetricError("spark: a row has no item; drop such rows or name their items")
        owners = ids.to_numpy(zero_copy_only=False)[codes]
        refuse_repeats("spark", owners, block.column("item").to_numpy())
    # A null becomes nan, which the rankings refuse by name of the user.
    pairs = Pairs(offsets, block.column("estimate").to_numpy(), block.column("rating").to_numpy())
    rankings = from_grouped(pairs, ids.to_numpy(zero_copy_only=False))
    scored = score(metrics, rankings, pairs)
    scores = [pa.array(scored[metric].per_user, from_pandas=True) for metric in metrics]
    return pa.RecordBatch.from_arrays([ids, *scores, pa.array(np.diff(offsets))], list(names))
