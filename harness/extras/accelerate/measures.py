"""``surprise.accuracy`` from columns, and a fold fitted and scored without predictions between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from harness._util.kernels import group_rows, kernel
from harness.algorithms.trainset import Floats, Offsets
from harness.extras.accelerate.calls import NotAccelerated
from harness.extras.accelerate.columns import NUMBERS


def columns_of_predictions(
    predictions: Sequence[Any],
) -> tuple[Callable[[], list[Any]], Floats, Floats]:
    """Return a function that gives the users, the ratings and the estimates."""
    rows = predictions if isinstance(predictions, list) else list(predictions)
    if not set(map(len, rows)) <= {5}:
        raise NotAccelerated("predictions that have not five members")
    ratings, estimates = (list(map(itemgetter(place), rows)) for place in (2, 3))
    return lambda: list(map(itemgetter(0), rows)), numbers(ratings), numbers(estimates)


def numbers(values: list[Any]) -> Floats:
    """Return ratings or estimates as an array."""
    if not set(map(type, values)) <= NUMBERS:
        raise NotAccelerated("ratings or estimates that are not floats")
    return np.array(values, np.float64)


def value(measure: str, users: Callable[[], list[Any]], truth: Floats, guesses: Floats) -> Any:
    """Return what a function of ``surprise.accuracy`` does, for at least one prediction."""
    if not len(truth):
        raise NotAccelerated("no predictions")
    if measure == "fcp":
        return _concordant(users(), truth, guesses)
    differences = truth - guesses
    if measure == "mae":
        return np.mean(np.abs(differences))
    # Python's power, whose last bit differs from that of the product.
    mean = np.mean([difference**2 for difference in differences.tolist()])
    return np.sqrt(mean) if measure == "rmse" else mean


def _concordant(users: list[Any], truth: Floats, guesses: Floats) -> Any:
    distinct = dict.fromkeys(users)
    code_of = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(code_of.__getitem__, users), np.int64, len(users))
    offsets, rows = group_rows(codes, len(distinct))
    counts = np.zeros((len(distinct), 2), np.int64)
    count_pairs(offsets, truth[rows], guesses[rows], counts)
    # Surprise averages over users with such a pair.
    means = [np.mean(n[n > 0]) if (n > 0).any() else 0 for n in counts.T]
    if sum(means) == 0:
        raise NotAccelerated("users without two predictions")
    return means[0] / (means[0] + means[1])


@kernel
def count_pairs(offsets: Offsets, truth: Floats, guesses: Floats, counts: Offsets) -> None:
    """Count concordant and discordant pairs of each user."""
    for user in range(len(offsets) - 1):
        for i in range(offsets[user], offsets[user + 1]):
            for j in range(offsets[user], offsets[user + 1]):
                counts[user, 0] += guesses[i] > guesses[j] and truth[i] > truth[j]
                counts[user, 1] += guesses[i] >= guesses[j] and truth[i] < truth[j]
