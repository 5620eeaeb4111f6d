"""What a Spark worker does: score the users of one partition from Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.errors import MetricError
from harness.metrics import Metric, Pairs, parse_many, score
from harness.rankings import from_grouped

__all__ = ["score_batches"]

BLOCK_ROWS = 500_000
"""Rows that are scored together, those of the last user completed."""


def score_batches(
    batches: Iterable[pa.RecordBatch],
    labels: Sequence[str],
    names: Sequence[str],
    block_rows: int = BLOCK_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Score users whose rows are consecutive, cut anywhere into batches.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Columns user, estimate and rating; each user's rows follow each other.
    labels : sequence of str
        Metrics that need only estimates and ratings.
    names : sequence of str
        What to call the columns of the result: user, each metric, number of rows.
    block_rows : int
        Fewest rows to score at once.

    Yields
    ------
    RecordBatch
        A row for each user, null where a metric is undefined.

    Raises
    ------
    MetricError
        If a value is missing or not finite.

    Examples
    --------
    >>> columns = {"user": ["a", "a", "b"], "estimate": [1.0, 2.0, 1.0], "rating": [4.0, 5.0, 0.0]}
    >>> halves = pa.RecordBatch.from_pydict(columns)
    >>> for part in score_batches([halves[:1], halves[1:]], ["ndcg@2"], ["user", "ndcg@2", "n"]):
    ...     part.to_pydict()
    {'user': ['a', 'b'], 'ndcg@2': [1.0, None], 'n': [2, 1]}
    """
    wanted = parse_many(labels)
    for block in _blocks(batches, block_rows):
        yield _score(block, wanted, names)


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


def _score(block: pa.Table, wanted: Sequence[Metric], names: Sequence[str]) -> pa.RecordBatch:
    users = block.column("user").combine_chunks()
    if users.null_count:
        raise MetricError("spark: a row has no user; drop such rows or name their users")
    starts = _starts(users)
    ids = users.take(pa.array(starts))
    offsets = np.append(starts, block.num_rows)
    pairs = Pairs(offsets, _floats(block, "estimate"), _floats(block, "rating"))
    rankings = from_grouped(pairs, ids.to_numpy(zero_copy_only=False))
    found = score(wanted, rankings, pairs)
    scores = [pa.array(found[metric].per_user, from_pandas=True) for metric in wanted]
    return pa.RecordBatch.from_arrays([ids, *scores, pa.array(np.diff(offsets))], list(names))


def _starts(users: pa.Array) -> NDArray[np.int64]:
    """Return where each user's rows start."""
    codes = pc.dictionary_encode(users).indices.to_numpy()
    changes: NDArray[np.int64] = np.flatnonzero(np.diff(codes)) + 1
    return np.concatenate(([0], changes))


def _floats(block: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column with nan for nulls, which the rankings refuse by name of the user."""
    values: NDArray[np.float64] = block.column(name).to_numpy()
    return values
