"""The number of decimals: one rule for screen, Markdown, page and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from harness.results.record import RunInfo

__all__ = ["DEFAULT_DECIMALS", "column_decimals", "decimals", "rounded"]

DEFAULT_DECIMALS = 4
"""If the uncertainty of a number is unknown."""

MOST_DECIMALS = 7
ERRORS_IN_INTERVAL = 2 * 1.96
"""Standard errors between the ends of a 95% interval."""


def decimals(errors: Iterable[float], default: int = DEFAULT_DECIMALS) -> int:
    """Return how many decimals the numbers of a column get.

    Parameters
    ----------
    errors : iterable of float
        A standard error for each number; 0 and NaN are ignored.
    default : int
        Where nothing is said.

    Returns
    -------
    int
        The decimals that show the median standard
        error with two digits, from 0 to 7.

    Examples
    --------
    >>> decimals([0.0043, 0.02]), decimals([0.3]), decimals([12.0]), decimals([])
    (3, 2, 0, 4)
    """
    told = [each for each in errors if math.isfinite(each) and each > 0]
    if not told:
        return default
    # The error as it is written with two digits decides: 0.0996 becomes 0.10, not 0.100.
    exponent = int(f"{median(told):.1e}".partition("e")[2])
    return min(max(1 - exponent, 0), MOST_DECIMALS)


def column_decimals(info: RunInfo) -> dict[tuple[str, str], int]:
    """Return the decimals of each metric in each table of a run.

    Parameters
    ----------
    info : RunInfo

    Returns
    -------
    dict of tuple to int
        By table and label, from the intervals over users; nothing for a
        metric without intervals, which gets `DEFAULT_DECIMALS`.
    """
    return {
        (entry.table, entry.metric): decimals(
            (row.high - row.low) / ERRORS_IN_INTERVAL
            for row in entry.algorithms
            if row.low is not None and row.high is not None
        )
        for entry in info.statistics
    }


def rounded(value: float | None, places: int) -> str:
    """Return a number as text, nothing where there is none.

    Examples
    --------
    >>> rounded(0.91249, 3), rounded(-0.0001, 2), rounded(None, 2)
    ('0.912', '0.00', '')
    """
    if value is None or math.isnan(value):
        return ""
    text = f"{value:.{places}f}"
    return text if text.strip("-0.") else text.removeprefix("-")
