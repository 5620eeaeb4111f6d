"""One split of the ratings, checked, named and hashed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.remarks import remarks

__all__ = ["Drawn", "Parts", "Rows", "Split", "assemble"]

Rows = NDArray[np.int64]
Parts = tuple[Rows, Rows]
"""Rows of the training part, in training order, and of the test part."""


class Drawn(NamedTuple):
    """The result of a kind of split.

    Parameters
    ----------
    folds : list of (train, test)
        Rows of each fold.
    notes : tuple of str
        Notes that the rows do not show, a sentence each.
    """

    folds: list[Parts]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Split:
    """Ratings divided into a training and a test part.

    Parameters
    ----------
    ratings : Ratings
        What was divided.
    train : ndarray of int64, shape (n_train,)
        Rows of the training part in the order in which a model sees them, which decides what
        stochastic gradient descent learns.
    test : ndarray of int64, shape (n_test,)
        Rows of the test part; none is in `train`, unless a config requests it.
    name : str
        The kind of split as tables name it; equal for all folds.
    fold : int
        Which of the folds this is, from 0.
    n_folds : int
        How many there are.
    fingerprint : str
        SHA-256, in hexadecimal, of the data's fingerprint and the rows in their order.
    notes : tuple of str
        What a reader of the numbers should know: test users and items without training ratings,
        ratings in neither part, a leak through time.
    """

    ratings: Ratings
    train: Rows
    test: Rows
    name: str
    fold: int
    n_folds: int
    fingerprint: str
    notes: tuple[str, ...] = ()


def assemble(
    ratings: Ratings, drawn: Drawn, name: str, n_divided: int | None = None
) -> list[Split]:
    """Check the parts of every fold, then name and hash them.

    Parameters
    ----------
    ratings : Ratings
        What was divided.
    drawn : Drawn
        Rows of each fold; its notes stand before what is found here.
    name : str
        Short name for tables and messages.
    n_divided : int, optional
        How many ratings there were to divide; all of them when left out.

    Raises
    ------
    SplitError
        If a fold has no training or no test rating.
    """
    n_folds = len(drawn.folds)
    n_divided = len(ratings) if n_divided is None else n_divided
    for fold, (train, test) in enumerate(drawn.folds):
        where = name if n_folds == 1 else f"{name}, fold {fold + 1} of {n_folds}"
        for rows, part in ((train, "training"), (test, "test")):
            if len(rows) == 0:
                raise SplitError(
                    f"{where}: no {part} rating is left of {n_divided:,}; "
                    "change the sizes of the split or use more data"
                )
    return [
        Split(
            ratings,
            train,
            test,
            name,
            fold,
            n_folds,
            _fingerprint(ratings.fingerprint, train, test),
            (*drawn.notes, *remarks(ratings, train, test, n_divided)),
        )
        for fold, (train, test) in enumerate(drawn.folds)
    ]


def _fingerprint(data: str, train: Rows, test: Rows) -> str:
    digest = hashlib.sha256(f"{data} {len(train)} {len(test)}\n".encode())
    for rows in (train, test):
        digest.update(np.ascontiguousarray(rows, dtype="<i8").data)
    return digest.hexdigest()
