"""Whether a metric keeps what is expected of one, tried on small random lists and pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any

import numpy as np

from harness.errors import MetricError, counted
from harness.extras.plugin_checks import checks as conformance
from harness.metrics.arrays import Pairs, Rankings, Scores
from harness.metrics.exposure import Exposure
from harness.metrics.labels import Metric, definition, parse

N_USERS, N_ITEMS, LONGEST, N_TRAINING, N_GENRES = 30, 40, 20, 400, 4
"""Sizes of the random data; some users have no list, some no judged item."""
RANKS = (1, 5, 100)
TOLERANCE = 1e-9
"""Values that are out of range by less are rounded ones."""


def check_metrics(names: Sequence[str]) -> dict[str, list[str]]:
    """Return what is wrong with metrics, as sentences; none for those that can be used.

    A metric has, with the defaults of its parameters, one score a user, finite or NaN and within
    its range; it leaves its input as it was, and gives the same numbers again, in this process and
    in another one.

    Parameters
    ----------
    names : sequence of str
        Of metrics or their plug-ins, or ``module:function``.

    Returns
    -------
    dict of str to list of str

    Notes
    -----
    The code is imported and run, in their own processes.

    Examples
    --------
    >>> check_metrics(["ndcg", "rmse"])
    {'ndcg': [], 'rmse': []}
    """
    return conformance.problems_of(__name__, names)


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a metric in this process, and the bytes of its scores."""
    declared = definition(name)
    metrics = [parse(f"{name}@{k}") for k in RANKS if declared.cut != "none"]
    if declared.cut != "required":
        with suppress(MetricError):  # some need a rank with the defaults of their parameters
            metrics.append(parse(name))
    rankings, pairs, exposure = evidence()
    before = _bytes_of(rankings, pairs, exposure)
    is_defined = False
    for metric in metrics:
        scores = _scores(metric, rankings, pairs, exposure)
        yield from _faults(metric, scores)
        if _bytes_of(rankings, pairs, exposure) != before:
            yield f"{metric}: it changes its input; work on a copy"
            return
        again = _scores(metric, *evidence())
        if _values(again) != _values(scores):
            yield f"{metric}: the same input gives different scores; draw nothing without a seed"
        yield _values(scores)
        is_defined |= not np.isnan(np.append(scores.per_user, scores.mean)).all()
    if not is_defined:
        yield "NaN for every user at every rank; return numbers where users have judged items"


def evidence() -> tuple[Rankings, Pairs, Exposure]:
    """Return random lists with equal estimates, pairs, and training ratings with genres."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, LONGEST + 1, N_USERS)
    top = np.full((N_USERS, LONGEST), -1)
    top_estimates = np.full((N_USERS, LONGEST), np.nan)
    columns: dict[str, list[Any]] = {
        name: [] for name in ("relevance", "rank", "tie_low", "tie_high", "items")
    }
    offsets = [0]
    for user, length in enumerate(lengths):
        estimates = np.sort(rng.integers(2, 11, length) / 2)[::-1]
        items = rng.permutation(N_ITEMS)[:length]
        top[user, :length], top_estimates[user, :length] = items, estimates
        judged = np.flatnonzero(rng.random(length) < (0.0 if user % 7 == 0 else 0.5))
        columns["relevance"].extend(rng.integers(1, 6, len(judged)))
        columns["rank"].extend(judged + 1)
        columns["tie_low"].extend(np.searchsorted(-estimates, -estimates[judged]) + 1)
        columns["tie_high"].extend(np.searchsorted(-estimates, -estimates[judged], "right"))
        columns["items"].extend(items[judged])
        offsets.append(len(columns["rank"]))
    rankings = Rankings(
        offsets,
        n_ranked=lengths,
        top_items=top,
        top_estimates=top_estimates,
        users=np.arange(N_USERS),
        **columns,
    )
    n_pairs = rng.integers(1, 10, N_USERS)
    pairs = Pairs(
        [0, *np.cumsum(n_pairs)],
        1 + 4 * rng.random(n_pairs.sum()),
        rng.integers(1, 6, n_pairs.sum()),
    )
    exposure = Exposure(
        rng.integers(0, N_USERS, N_TRAINING),
        rng.integers(0, N_ITEMS, N_TRAINING),
        np.arange(N_USERS),
        N_ITEMS,
        ratings=rng.integers(1, 6, N_TRAINING),
        genres=rng.random((N_ITEMS, N_GENRES)) < 0.4,
    )
    return rankings, pairs, exposure


def _scores(metric: Metric, rankings: Rankings, pairs: Pairs, exposure: Exposure) -> Scores:
    (scores,) = metric.definition.scores(metric.chosen, [metric.k], rankings, pairs, exposure)
    return scores


def _faults(metric: Metric, scores: Scores) -> Iterator[str]:
    values = np.asarray(scores.per_user)
    if values.shape != (N_USERS,) or values.dtype != np.float64:
        yield (
            f"{metric}: scores are {values.dtype} of shape {values.shape}; return one float a "
            f"user, of shape ({N_USERS},) here"
        )
        return
    values = np.append(values, scores.mean)
    if n_infinite := int(np.isinf(values).sum()):
        yield f"{metric}: {counted(n_infinite, 'score')} infinite; return numbers, or NaN for none"
        return
    low, high = metric.range
    outside = (values < low - TOLERANCE) | (values > high + TOLERANCE)
    if outside.any():
        yield (
            f"{metric}: {counted(int(outside.sum()), 'score')} outside its range {low:g} to "
            f"{high:g}, such as {values[outside][0]:g}; correct the function or declare the range"
        )


def _values(scores: Scores) -> bytes:
    return np.append(scores.per_user, scores.mean).tobytes()


def _bytes_of(*parts: Rankings | Pairs | Exposure) -> list[bytes]:
    arrays = (getattr(part, field.name) for part in parts for field in fields(part))
    return [array.tobytes() for array in arrays if isinstance(array, np.ndarray)]
