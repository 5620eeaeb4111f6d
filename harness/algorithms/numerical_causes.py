"""Numbers of a fit that are not finite, and what they and divisions by zero come from."""

from __future__ import annotations

import numpy as np

from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset, Floats
from harness.arguments import MOST_RATING
from harness.errors import AlgorithmError, counted

_LEARNED = ("bu", "bi", "pu", "qi", "yj")
"""Attributes that gradient descent computes, which diverges where its steps are too long."""

BY_ZERO = (
    "division by zero, as where all ratings are equal (standard deviation 0); "
    "use other parameters or another algorithm"
)
DIVERGED = "; the fit diverged: lower the learning rate or raise the regularisation"


def of_ratings(trainset: ColumnTrainset) -> str:
    """Return which rating of a training set is not finite."""
    offsets, items, ratings = trainset.by_user
    row = int(np.argmin(np.isfinite(ratings)))
    user = int(np.searchsorted(offsets, row, side="right")) - 1
    pair = f"user {trainset.to_raw_uid(user)!r}, item {trainset.to_raw_iid(int(items[row]))!r}"
    return f"trainset: {pair}: the rating {ratings[row]} is not finite; drop it or give it a value"


def of_estimates(model: surprise.AlgoBase, estimates: Floats, n_bad: int, *, clip: bool) -> str:
    """Return what estimates of which `n_bad` cannot be used come from."""
    why = f", perhaps from a {BY_ZERO}"
    if hasattr(model, "n_epochs") or getattr(model, "bsl_options", {}).get("method") == "sgd":
        why = DIVERGED
    fault = "not numbers"
    if not clip and np.isfinite(estimates).all():
        fault = f"beyond {MOST_RATING:g}"
    problem = f"{n_bad:,} of {estimates.size:,} estimates are {fault}{why}"
    return f"{type(model).__name__}: {problem}"


def of_division_by_zero(model: surprise.AlgoBase) -> str:
    """Return what a division by zero in one of Surprise's algorithms comes from."""
    return f"{type(model).__name__}: {_zero_cosine(model) or BY_ZERO}"


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
