"""The gain of a relevance: 2**rel - 1, rel, 1 from a threshold on, or a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_RATING, unit_fault
from harness._util.kernels import kernel
from harness.metrics.arrays import Floats
from harness.metrics.parameters import (
    ANY,
    LEAST_POSITIVE,
    OPTIONAL,
    SEVERAL,
    Parameter,
    Params,
    number,
    words,
)

GAIN = Parameter(
    "gain",
    "gain of an item by its relevance: 2**rel - 1, rel, 1 from a threshold on (binary without "
    "one: of anything above 0), or a table with the gain of relevance 0, 1, 2, ...",
    words("exp2", "linear", binary=OPTIONAL, table=SEVERAL),
)
LEAST = Parameter(
    "threshold",
    "relevance below it has no gain; by default none is left out",
    words("none"),
    ANY,
)
OFFSET = Parameter(
    "offset",
    "subtracted from each relevance before its gain; not for binary gains",
    limits=ANY,
    default="0",
)
NEGATIVE = Parameter(
    "negative",
    "what a negative relevance is: an error, zero, or kept as it is",
    words("error", "zero", "keep"),
)
GRADES = Parameter(
    "grades",
    "whether relevances keep their fractions, or lose them as in software that stores integers",
    words("real", "whole"),
)
GRADED = (GAIN, LEAST, OFFSET, NEGATIVE, GRADES)
"""What decides the gain of a relevance, for metrics of more than two grades."""
EXP2, LINEAR, BINARY = 0, 1, 2

Gains = tuple[Floats, int, float]
"""What `gain_of` needs: relevances, EXP2, LINEAR or BINARY, and the least relevance with a gain."""


def least_gain(params: Params) -> float:
    """Return the least relevance with a gain."""
    if params["gain"].word == "binary":
        return (*params["gain"].numbers, LEAST_POSITIVE)[0]
    threshold = params["threshold"].as_number
    return -np.inf if threshold is None else threshold


def _grades(params: Params, relevance: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return relevances as gains are computed from them, and which have a gain."""
    grades = np.trunc(relevance) if params["grades"] == "whole" else relevance
    counted = grades >= (least_gain(params) if "threshold" in params else -np.inf)
    grades = grades - float(params["offset"])
    return np.maximum(grades, 0.0) if params["negative"] == "zero" else grades, counted


def without_gain(params: Params, relevance: Floats) -> str:
    """Return which relevance has no gain and what to do, or ""."""
    gain, offset = params["gain"], float(params["offset"])
    if gain.word == "binary":
        return ""
    if gain.word == "table":  # it has to hold every grade; for the rest the extremes are enough
        relevance = np.unique(relevance)
    elif "threshold" not in params or least_gain(params) == -np.inf:
        relevance = np.array([relevance.min(), relevance.max()])
    grades, counted = _grades(params, relevance)
    grades = grades[counted]
    if not len(grades):
        return ""
    least, most = grades.min(), grades.max()
    if least < 0 and params["negative"] == "error":
        return (
            f"a relevance of {number(least)}"
            + (f" after the offset of {number(offset)}" if offset else "")
            + "; add negative=zero, or move the scale with "
            f"offset={number(least + offset)}"
        )
    if gain.word == "table":
        n = len(gain.numbers)
        unlisted = grades[(grades < 0) | (grades >= n) | (grades % 1 != 0)]
        if len(unlisted):
            return (
                f"no gain for a relevance of {number(unlisted[0])}; the table has gains of 0 to "
                f"{n - 1}: lengthen it, or move the scale with offset"
            )
    if gain == "exp2" and most > 1000:
        return (
            f"2**{number(most)} is beyond what a float holds; use gain=linear, or "
            "gain=binary for counts, as of plays"
        )
    return unit_fault(MOST_RATING, grades) if gain == "linear" else ""


LONG_SCALE = 10
"""Points above which 2**rel - 1 leaves all but the highest relevances without effect."""


def is_steep(params: Params, least: float, most: float) -> bool:
    """Return whether gains of 2**rel - 1 meet relevances from `least` to `most` on a long scale."""
    if params.get("gain") != "exp2":
        return False
    return most - float(params.get("offset", "0")) > LONG_SCALE and most - least > 1


def gains(params: Params, relevance: Floats, weights: Floats | None = None) -> Gains:
    """Return what the gains of relevances are computed from; `without_gain` must name none."""
    if weights is not None:
        return weighted(gains(params, relevance), weights)
    gain = params["gain"]
    if gain.word == "binary":
        return relevance, BINARY, least_gain(params)
    form = LINEAR if gain == "linear" else EXP2
    plain = params["grades"] == "real" and params["offset"] == "0" and params["negative"] != "zero"
    if plain and gain.word != "table":
        return relevance, form, least_gain(params) if "threshold" in params else -np.inf
    grades, counted = _grades(params, relevance)
    grades = np.where(counted, grades, 0.0)
    if gain.word == "table":
        by_grade = np.array(gain.numbers)
        return np.where(counted, by_grade[grades.astype(np.int64)], 0.0), LINEAR, -np.inf
    return grades, form, -np.inf


def weighted(gains: Gains, weights: Floats | None) -> Gains:
    """Return gains times weights, where there are some."""
    if weights is None:
        return gains
    relevance, form, least = gains
    plain = relevance if form == LINEAR else np.ones_like(relevance)
    if form == EXP2:
        plain = 2.0**relevance - 1.0
    return weights * np.where(relevance >= least, plain, 0.0), LINEAR, -np.inf


@kernel
def gain_of(relevance: float, form: int, least: float) -> float:
    """Return the gain of a relevance; 2**rel - 1 by a shift where that is exact and much faster."""
    if form == BINARY:
        return 1.0 if relevance >= least else 0.0
    if relevance < least:
        return 0.0
    if form == LINEAR:
        return relevance
    grade = int(relevance)
    if 0 <= grade < 62 and grade == relevance:
        return float((1 << grade) - 1)
    return float(2.0**relevance - 1.0)
