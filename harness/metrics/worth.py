"""The gain of a relevance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from harness.errors import MetricError
from harness.kernels import kernel
from harness.metrics.arrays import Floats
from harness.metrics.grammar import Value, number

__all__ = ["Worth", "binary_worth", "make_worth", "neutral", "relevant_from", "worth_of"]

_EXP2, _LINEAR, _BINARY, _TABLE = range(4)
_KINDS = {"exp2": _EXP2, "linear": _LINEAR, "binary": _BINARY, "table": _TABLE}

LEAST_POSITIVE = 5e-324
"""At least this is the same as more than zero."""


class Worth(NamedTuple):
    """The gain of a relevance, in the form that kernels take."""

    kind: int
    least: float
    offset: float
    whole: bool
    clip: bool
    table: Floats


def make_worth(params: dict[str, Value], relevance: Floats, label: str) -> Worth:
    """Return the gain of the parameters, after a check that the grades allow it.

    Parameters
    ----------
    params : dict of str to Value
        With ``gain``, ``offset``, ``negative``, ``grades`` and perhaps ``threshold``.
    relevance : ndarray of float64, shape (n,)
        Every relevance that may need a gain.
    label : str
        Starts the message of an error.

    Raises
    ------
    MetricError
        If a relevance is negative or beyond the table, without a parameter for this case.
    """
    gain, negative = params["gain"], params["negative"].word
    offset = params["offset"].as_number or 0.0
    worth = Worth(
        kind=_KINDS[gain.word],
        least=_least(params),
        offset=offset,
        whole=params["grades"].word == "whole",
        clip=negative == "zero",
        table=np.array(gain.numbers if gain.word == "table" else (), dtype=np.float64),
    )
    if worth.kind == _BINARY or not len(relevance):
        return worth
    # The table has to hold every grade; for the rest the extremes tell all, without a sort.
    if worth.kind == _TABLE or worth.least > -np.inf:
        grades = np.unique(relevance)
    else:
        grades = np.array([relevance.min(), relevance.max()])
    grades = np.trunc(grades) if worth.whole else grades
    grades = grades[grades >= worth.least] - offset
    _check(label, worth, np.maximum(grades, 0) if worth.clip else grades, negative)
    return worth


def _check(label: str, worth: Worth, grades: Floats, negative: str) -> None:
    """Refuse grades, rising, that have no gain."""
    if len(grades) and grades[0] < 0 and negative == "error":
        raise MetricError(
            f"{label}: a relevance of {number(grades[0])}"
            + (f" after the offset of {number(worth.offset)}" if worth.offset else "")
            + "; add negative=zero, or move the scale with "
            f"offset={number(grades[0] + worth.offset)}"
        )
    if worth.kind == _TABLE:
        unlisted = grades[(grades < 0) | (grades >= len(worth.table)) | (grades % 1 != 0)]
        if len(unlisted):
            raise MetricError(
                f"{label}: no gain for a relevance of {number(unlisted[0])}; the table has those "
                f"of 0 to {len(worth.table) - 1}: lengthen it, or move the scale with offset"
            )
    if worth.kind == _EXP2 and len(grades) and grades[-1] > 1000:
        raise MetricError(
            f"{label}: 2**{number(grades[-1])} is beyond what a float holds; use gain=linear, "
            "or gain=binary for counts, as of plays"
        )


def _least(params: dict[str, Value]) -> float:
    """Return the least relevance with a gain."""
    gain = params["gain"]
    if gain.word == "binary":
        return gain.numbers[0] if gain.numbers else LEAST_POSITIVE
    threshold = params["threshold"].as_number if "threshold" in params else None
    return -np.inf if threshold is None else threshold


def relevant_from(params: dict[str, Value]) -> float:
    """Return the least relevance that makes an item relevant."""
    threshold = params["threshold"].as_number
    return LEAST_POSITIVE if threshold is None else threshold


def neutral(params: dict[str, Value]) -> float:
    """Return the relevance with the gain of an unjudged item: better stands above, worse below.

    Examples
    --------
    >>> neutral({"threshold": Value("4")}), neutral({"offset": Value("-10")})
    (4.0, -10.0)
    """
    if "gain" in params and params["gain"].word == "binary":
        return _least(params)
    if "offset" in params:
        return params["offset"].as_number or 0.0
    return relevant_from(params) if "threshold" in params else 0.0


def binary_worth(threshold: float) -> Worth:
    """Return the gain of 1 from a threshold on, else 0.

    Examples
    --------
    >>> worth_of(3.0, binary_worth(4.0)), worth_of(4.0, binary_worth(4.0))
    (0.0, 1.0)
    """
    return Worth(_BINARY, threshold, 0.0, False, False, np.zeros(0))


@kernel
def worth_of(relevance: float, worth: Worth) -> float:
    """Return the gain of one relevance.

    Examples
    --------
    >>> worth_of(3.0, Worth(0, 0.0, 0.0, False, False, np.zeros(0)))
    7.0
    """
    if worth.kind == _BINARY:
        return 1.0 if relevance >= worth.least else 0.0
    grade = np.trunc(relevance) if worth.whole else relevance
    if grade < worth.least:
        return 0.0
    grade -= worth.offset
    if worth.clip and grade < 0.0:
        grade = 0.0
    if worth.kind == _LINEAR:
        return grade
    if worth.kind == _EXP2:
        whole = int(grade)
        if 0 <= whole < 62 and whole == grade:
            return float((1 << whole) - 1)  # exact, as the power is, and much faster
        return float(2.0**grade - 1.0)
    return float(worth.table[int(grade)])
