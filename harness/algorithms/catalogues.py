"""Estimates of all training items for each user."""

from __future__ import annotations

from collections.abc import Iterator

import numpy.typing as npt

from harness.algorithms import surprise
from harness.algorithms.models import codes_of, estimates_of, scorer_of
from harness.algorithms.trainset import Floats
from harness.arguments import checked
from harness.errors import AlgorithmError

BLOCK_BYTES = 32_000_000  # of the estimates that `catalogue` yields at a time


@checked(AlgorithmError)
def catalogue(
    model: surprise.AlgoBase,
    users: npt.ArrayLike,
    *,
    clip: bool = True,
    accelerate: bool = True,
    block: int | None = None,
) -> Iterator[tuple[int, int, Floats]]:
    """Estimate the rating of every training item for each user, some users at a time.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted by `fit`.
    users : array-like of int, shape (n,)
        Data set codes.
    clip : bool
        Clip estimates to the rating scale.
    accelerate : bool
        False calls ``model.predict`` for each pair.
    block : int, optional
        Users at a time; by default as many as have 32 MB of estimates.

    Yields
    ------
    start, stop : int
        Which part of `users` it is.
    estimates : ndarray of float64, shape (stop - start, n_items)
        Items in the order of inner ids; the array is the caller's to change.

    Examples
    --------
    >>> from harness.algorithms.models import ColumnTrainset, fit
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> for start, stop, estimates in catalogue(model, [1, 0]):
    ...     print(start, stop, estimates.tolist())
    0 2 [[5.0, 3.0], [4.0, 2.0]]
    """
    codes = codes_of(users)
    scorer = scorer_of(model, accelerate)
    row = 8 * max(model.trainset.n_items, 1)
    size = block or max(1, BLOCK_BYTES // row)
    at_once = size if block or scorer is None else max(size, scorer.block_bytes // row)
    for first in range(0, len(codes), at_once):
        estimates = estimates_of(model, scorer, codes[first : first + at_once], None, clip)[0]
        for start in range(0, len(estimates), size):
            part = estimates[start : start + size]
            yield first + start, first + start + len(part), part
