"""Ratings and fits whose numbers are not finite, and divisions by zero: what they come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError, DataError, counted

_LEARNED = ("bu", "bi", "pu", "qi", "yj")
"""Attributes that gradient descent computes, which diverges where its steps are too long."""

BY_ZERO = (
    "division by zero, as where all ratings are equal (standard deviation 0); "
    "use other parameters or another algorithm"
)
DIVERGED = "; the fit diverged: lower the learning rate or raise the regularisation"


def check_ratings(trainset: ColumnTrainset) -> None:
    """Refuse ratings that are not finite, as a training set made by hand may have."""
    offsets, items, ratings = trainset.by_user
    for row in np.flatnonzero(~np.isfinite(ratings))[:1].tolist():
        user = int(np.searchsorted(offsets, row, side="right")) - 1
        pair = f"user {trainset.to_raw_uid(user)!r}, item {trainset.to_raw_iid(items[row])!r}"
        raise DataError(
            f"trainset: {pair}: the rating {ratings[row]} is not finite; drop it or give it a value"
        )


@contextmanager
def report_division_by_zero(model: surprise.AlgoBase) -> Iterator[None]:
    """Say what a division by zero in an algorithm means; one in a class of your own stays as is."""
    try:
        yield
    except ZeroDivisionError as error:
        entry = registry.entry_of(type(model))
        if entry is None or entry.model_class is not type(model):
            raise
        reason = _zero_cosine(model) or BY_ZERO
        raise AlgorithmError(f"{type(model).__name__}: {reason}") from error


def _zero_cosine(model: surprise.AlgoBase) -> str:
    """Return whose ratings have no cosine, if the model's similarities are cosines."""
    options = getattr(model, "sim_options", {})
    if str(options.get("name", "")).casefold() != "cosine" or not hasattr(model, "trainset"):
        return ""
    by_user = options.get("user_based", True)
    trainset = ColumnTrainset.from_surprise(model.trainset)
    lists = trainset.by_user if by_user else trainset.by_item
    zeros = np.add.reduceat((lists.ratings == 0).astype(np.int64), lists.offsets[:-1])
    inner = int(np.argmax(zeros / np.diff(lists.offsets)))  # the largest share of ratings of 0
    if not zeros[inner]:
        return ""
    noun, other = ("user", "item") if by_user else ("item", "user")
    raw = trainset.to_raw_uid(inner) if by_user else trainset.to_raw_iid(inner)
    return (
        f"two {noun}s have no cosine where one of them has ratings of 0 alone for the {other}s "
        f"that both have, as {noun} {raw!r} with {counted(int(zeros[inner]), 'rating')} of 0; use "
        "another similarity, as `sim_options: {name: msd}`, or leave ratings of 0 out"
    )


def check_fitted(model: surprise.AlgoBase) -> None:
    """Refuse a model whose learned numbers are not finite: every estimate would be one bound.

    A model of your own is not looked at.
    """
    if registry.entry_of(type(model)) is None:
        return
    learned = [np.asarray(value) for name, value in vars(model).items() if name in _LEARNED]
    if not all(np.isfinite(array).all() for array in learned if array.dtype.kind == "f"):
        raise AlgorithmError(f"{type(model).__name__}: what it learned is not finite{DIVERGED}")
