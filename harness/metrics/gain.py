"""The gain of a relevance, and which items are relevant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.kernels import kernel
from harness.metrics.arrays import Floats, Rankings, sum_per_user
from harness.metrics.definitions import Parameter, Params, Value, number

LEAST_POSITIVE = 5e-324
"""At least this is the same as more than zero."""

GAIN = Parameter(
    "gain",
    "exp2",
    "exp2, linear, binary or with (number), table(number, ...)",
    "gain of an item by its relevance: 2**rel - 1, rel, 1 from a threshold on, or a table "
    "with the gain of relevance 0, 1, 2, ...",
)
LEAST = Parameter(
    "threshold",
    "none",
    "none, a number",
    "relevance below it has no gain; by default none is left out",
)
OFFSET = Parameter("offset", "0", "a number", "subtracted from each relevance before its gain")
NEGATIVE = Parameter(
    "negative",
    "error",
    "error, zero, keep",
    "what a negative relevance is: an error, zero, or kept as it is",
)
GRADES = Parameter(
    "grades",
    "real",
    "real, whole",
    "whether relevances keep their fractions, or lose them as in software that stores integers",
)
GRADED = (GAIN, LEAST, OFFSET, NEGATIVE, GRADES)
"""What decides the gain of a relevance, for metrics of more than two grades."""

THRESHOLD = Parameter(
    "threshold",
    "positive",
    "positive, a number",
    "least relevance of a relevant item; by default anything above 0",
)
"""What decides whether an item is relevant, for metrics that ask no more."""


def gains(params: Params, relevance: Floats) -> Floats:
    """Return the gain of each relevance, of which `without_gain` names none.

    Examples
    --------
    >>> from harness.metrics.dcg import dcg
    >>> gains(dcg.complete({"threshold": Value("2")}), np.array([1.0, 2.0, 3.5])).round(4)
    array([ 0.    ,  3.    , 10.3137])
    """
    gain = params.get("gain", Value("exp2"))
    if gain.word == "binary":
        return (relevance >= _least(params)).astype(np.float64)
    grades, counted = _grades(params, relevance)
    grades = grades if counted is None else np.where(counted, grades, 0.0)
    found = grades
    if gain == "exp2":
        _exp2(grades, found := np.empty_like(grades))
    elif gain != "linear":
        found = np.array(gain.numbers)[grades.astype(np.int64)]
    return found if counted is None else np.where(counted, found, 0.0)


@kernel
def _exp2(grades: Floats, out: Floats) -> None:
    """Write ``2**grade - 1``, by a shift where that is exact, which is much faster."""
    for i in range(len(grades)):
        whole = int(grades[i])
        if 0 <= whole < 62 and whole == grades[i]:
            out[i] = (1 << whole) - 1
        else:
            out[i] = 2.0 ** grades[i] - 1.0


def without_gain(params: Params, relevance: Floats) -> str:
    """Return which relevance has no gain and what to do, or ""."""
    gain, offset = params.get("gain", Value("exp2")), float(params["offset"])
    if gain.word == "binary":
        return ""
    # The table has to hold every grade; for the rest the extremes tell all, without a sort.
    if gain.word == "table" or _least(params) > -np.inf:
        relevance = np.unique(relevance)
    else:
        relevance = np.array([relevance.min(), relevance.max()])
    grades, counted = _grades(params, relevance)
    grades = grades if counted is None else grades[counted]
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


def relevant(lists: Rankings, params: Params) -> Floats:
    """Return 1 for each entry that is relevant, else 0."""
    return (lists.relevance >= relevant_from(params)).astype(np.float64)


def count_relevant(lists: Rankings, params: Params) -> Floats:
    """Return how many of each user's judged items are relevant, ranked or not; nan where none is.

    Examples
    --------
    >>> lists = Rankings([0, 2, 3], [1, 4, 2], [1, 2, 1], [1, 2, 1], [1, 2, 1], [5, 5])
    >>> count_relevant(lists, {"threshold": Value("3")}).tolist()
    [[1.0], [nan]]
    """
    counts = sum_per_user(lists.pool >= relevant_from(params), lists.pool_offsets)
    counts[counts == 0] = np.nan
    return counts[:, np.newaxis]


def where_relevant(scores: Floats, lists: Rankings, params: Params) -> Floats:
    """Return scores, nan for users without a relevant item."""
    return np.where(np.isnan(count_relevant(lists, params)), np.nan, scores)


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


def relevant_from(params: Params) -> float:
    """Return the least relevance that makes an item relevant."""
    threshold = params["threshold"].as_number
    return LEAST_POSITIVE if threshold is None else threshold


def _least(params: Params) -> float:
    """Return the least relevance with a gain."""
    if "gain" in params and params["gain"].word == "binary":
        return (*params["gain"].numbers, LEAST_POSITIVE)[0]
    threshold = params["threshold"].as_number if "threshold" in params else None
    return -np.inf if threshold is None else threshold


def _grades(params: Params, relevance: Floats) -> tuple[Floats, NDArray[np.bool_] | None]:
    """Return relevances as gains are computed from them, and which count; None where all do."""
    grades = np.trunc(relevance) if params["grades"] == "whole" else relevance
    least = _least(params)
    counted = None if least == -np.inf else grades >= least
    if offset := float(params["offset"]):
        grades = grades - offset
    return np.maximum(grades, 0.0) if params["negative"] == "zero" else grades, counted
