"""Ratings that are not finite, and divisions by zero: refused, with what they come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError, DataError


def check_ratings(trainset: ColumnTrainset) -> None:
    """Refuse ratings that are not finite, as a training set made by hand may have."""
    if not np.isfinite(trainset.by_user.ratings).all():
        from harness.algorithms.numerical_causes import of_ratings

        raise DataError(of_ratings(trainset))


@contextmanager
def report_division_by_zero(model: surprise.AlgoBase) -> Iterator[None]:
    """Say what a division by zero in an algorithm means; one in a class of your own stays as is."""
    try:
        yield
    except ZeroDivisionError as error:
        entry = registry.entry_of(type(model))
        if entry is None or entry.model_class is not type(model):
            raise
        from harness.algorithms.numerical_causes import of_division_by_zero

        raise AlgorithmError(of_division_by_zero(model)) from error
