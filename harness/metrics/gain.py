"""The gain of a relevance, and which items are relevant."""

from __future__ import annotations

import numpy as np

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Rankings, sum_per_user
from harness.metrics.definitions import Parameter, Params, Value, number, words

__all__ = [
    "GRADED",
    "THRESHOLD",
    "count_relevant",
    "gains",
    "neutral",
    "relevant_from",
    "without_gain",
]

LEAST_POSITIVE = 5e-324
"""At least this is the same as more than zero."""

GAIN = Parameter(
    "gain",
    "gain of an item by its relevance: 2**rel - 1, rel, 1 from a threshold on, or a table "
    "with the gain of relevance 0, 1, 2, ...",
    Value("exp2"),
    {**words("exp2", "linear"), "binary": (0, 1), "table": (1, None)},
)
LEAST = Parameter(
    "threshold",
    "relevance below it has no gain; by default none is left out",
    Value("none"),
    words("none"),
    numeric=True,
)
OFFSET = Parameter(
    "offset", "subtracted from each relevance before its gain", Value("0"), numeric=True
)
NEGATIVE = Parameter(
    "negative",
    "what a negative relevance is: an error, zero, or kept as it is",
    Value("error"),
    words("error", "zero", "keep"),
)
GRADES = Parameter(
    "grades",
    "whether relevances keep their fractions, or lose them as in software that stores integers",
    Value("real"),
    words("real", "whole"),
)
GRADED = (GAIN, LEAST, OFFSET, NEGATIVE, GRADES)
"""What decides the gain of a relevance, for metrics of more than two grades."""

THRESHOLD = Parameter(
    "threshold",
    "least relevance of a relevant item; by default anything above 0",
    Value("positive"),
    words("positive"),
    numeric=True,
)
"""What decides whether an item is relevant, for metrics that ask no more."""


def gains(params: Params, relevance: Floats) -> Floats:
    """Return the gain of each relevance.

    Parameters
    ----------
    params : mapping of str to Value
        Those of `GRADED`, or of err, whose gain is 2**rel - 1.
    relevance : ndarray of float64, shape (n,)
        Without those that `without_gain` names.

    Examples
    --------
    >>> from harness.metrics.dcg import dcg
    >>> gains(dcg.complete({"threshold": Value("2")}), np.array([1.0, 2.0, 3.5])).round(4)
    array([ 0.    ,  3.    , 10.3137])
    """
    gain, least = params.get("gain", GAIN.default), _least(params)
    if gain.word == "binary":
        return (relevance >= least).astype(np.float64)
    grades = _grades(params, relevance)
    below = _whole(params, relevance) < least
    if least > -np.inf:
        grades = np.where(below, 0.0, grades)
    if gain == "linear":
        found = grades
    elif gain == "exp2":
        found = np.empty_like(grades)
        _exp2(grades, found)
    else:
        found = np.array(gain.numbers)[grades.astype(np.int64)]
    return np.where(below, 0.0, found) if least > -np.inf else found


def without_gain(params: Params, relevance: Floats) -> str:
    """Return which relevance has no gain and what to do, or "".

    Parameters
    ----------
    params : mapping of str to Value
    relevance : ndarray of float64, shape (n,)
        At least one.
    """
    gain, offset = params.get("gain", GAIN.default), float(params["offset"])
    if gain.word == "binary":
        return ""
    # The table has to hold every grade; for the rest the extremes tell all, without a sort.
    if gain.word == "table" or _least(params) > -np.inf:
        relevance = np.unique(relevance)
    else:
        relevance = np.array([relevance.min(), relevance.max()])
    grades = _grades(params, relevance[_whole(params, relevance) >= _least(params)])
    if len(grades) and grades[0] < 0 and params["negative"] == "error":
        return (
            f"a relevance of {number(grades[0])}"
            + (f" after the offset of {number(offset)}" if offset else "")
            + "; add negative=zero, or move the scale with "
            f"offset={number(grades[0] + offset)}"
        )
    if gain.word == "table":
        n = len(gain.numbers)
        unlisted = grades[(grades < 0) | (grades >= n) | (grades % 1 != 0)]
        if len(unlisted):
            return (
                f"no gain for a relevance of {number(unlisted[0])}; the table has those of 0 to "
                f"{n - 1}: lengthen it, or move the scale with offset"
            )
    if gain == "exp2" and len(grades) and grades[-1] > 1000:
        return (
            f"2**{number(grades[-1])} is beyond what a float holds; use gain=linear, or "
            "gain=binary for counts, as of plays"
        )
    return ""


def relevant_from(params: Params) -> float:
    """Return the least relevance that makes an item relevant."""
    threshold = params["threshold"].as_number
    return LEAST_POSITIVE if threshold is None else threshold


def count_relevant(rankings: Rankings, params: Params) -> Floats:
    """Return how many of each user's judged items are relevant, ranked or not; nan where none is.

    Returns
    -------
    ndarray of float64, shape (n_users, 1)

    Examples
    --------
    >>> lists = Rankings([0, 2, 3], [1, 4, 2], [1, 2, 1], [1, 2, 1], [1, 2, 1], [5, 5])
    >>> count_relevant(lists, {"threshold": Value("3")}).tolist()
    [[1.0], [nan]]
    """
    counts = sum_per_user(rankings.pool >= relevant_from(params), rankings.pool_offsets)
    counts[counts == 0] = np.nan
    return counts[:, np.newaxis]


def neutral(params: Params) -> float:
    """Return the relevance with the gain of an unjudged item: better stands above, worse below.

    Examples
    --------
    >>> neutral({"threshold": Value("4")}), neutral({"offset": Value("-10")})
    (4.0, -10.0)
    """
    if "gain" in params and params["gain"].word == "binary":
        return _least(params)
    if "offset" in params:
        return float(params["offset"])
    return relevant_from(params) if "threshold" in params else 0.0


def _least(params: Params) -> float:
    """Return the least relevance with a gain."""
    gain = params.get("gain", GAIN.default)
    if gain.word == "binary":
        return gain.numbers[0] if gain.numbers else LEAST_POSITIVE
    threshold = params["threshold"].as_number if "threshold" in params else None
    return -np.inf if threshold is None else threshold


def _whole(params: Params, relevance: Floats) -> Floats:
    return np.trunc(relevance) if params["grades"] == "whole" else relevance


def _grades(params: Params, relevance: Floats) -> Floats:
    """Return relevances as gains are computed from them."""
    grades, offset = _whole(params, relevance), float(params["offset"])
    if offset:
        grades = grades - offset
    return np.maximum(grades, 0.0) if params["negative"] == "zero" else grades


@kernel
def _exp2(grades: Floats, out: Floats) -> None:
    """Write ``2**grade - 1``; by a shift where that is exact, which is much faster."""
    for i in range(len(grades)):
        whole = int(grades[i])
        if 0 <= whole < 62 and whole == grades[i]:
            out[i] = (1 << whole) - 1
        else:
            out[i] = 2.0 ** grades[i] - 1.0
