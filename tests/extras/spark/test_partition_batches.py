"""Cutting a partition's batches between users; needs no Spark."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import metrics, rankings
from harness.errors import MetricError
from harness.extras.spark.frames import score_batches

NAMES = ["user", "ndcg@3", "rmse", "n"]


@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 108), max_size=8),
    block_rows=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_users_are_scored_whole_wherever_batches_are_cut(lengths, cuts, block_rows, seed):
    users = np.repeat(np.arange(len(lengths)), lengths)
    rng = np.random.default_rng(seed)
    estimates, ratings = rng.integers(0, 3, (2, len(users))).astype(float)
    whole = pa.RecordBatch.from_pydict({"user": users, "estimate": estimates, "rating": ratings})
    edges = sorted({0, len(users), *(cut for cut in cuts if cut < len(users))})
    batches = [whole.slice(a, b - a) for a, b in pairwise(edges)]
    parts = list(score_batches(batches, NAMES[1:3], NAMES, block_rows))
    got = pa.Table.from_batches(parts).to_pydict()
    pairs, ids = rankings.group_pairs(users, estimates, ratings)
    found = metrics.score(metrics.parse_many(NAMES[1:3]), rankings.from_grouped(pairs, ids), pairs)
    assert got["user"] == ids.tolist()
    assert got["n"] == lengths
    for metric, scores in found.items():
        nan_for_none = [np.nan if value is None else value for value in got[str(metric)]]
        np.testing.assert_array_equal(nan_for_none, scores.per_user)


def test_blocks_end_between_users_once_they_are_large_enough():
    users = pa.array([1] * 5 + [2] * 5 + [3] * 5)
    ones = pa.array([1.0] * 15)
    whole = pa.RecordBatch.from_arrays([users, ones, ones], ["user", "estimate", "rating"])
    parts = score_batches([whole[:4], whole[4:8], whole[8:]], NAMES[1:3], NAMES, block_rows=4)
    assert [part.num_rows for part in parts] == [1, 2]


def test_empty_batches_leave_nothing():
    nothing = pa.RecordBatch.from_pydict(
        {"user": pa.array([], pa.int64()), "estimate": pa.array([], pa.float64())}
    )
    assert list(score_batches([nothing], NAMES[1:3], NAMES)) == []


def test_rows_without_a_user_are_refused_in_any_block():
    columns = {"user": [None, None, 4], "estimate": [1.0] * 3, "rating": [1.0] * 3}
    whole = pa.RecordBatch.from_pydict(columns)
    with pytest.raises(MetricError, match="a row has no user"):
        list(score_batches([whole[:1], whole[1:]], NAMES[1:3], NAMES, block_rows=1))
