"""Corrections of p-values for the number of comparisons, and the letters that show the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.arguments import as_array, checked
from harness._util.libraries import scipy
from harness.errors import ComparisonError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CorrectionMethod:
    """A correction of p-values for the number of comparisons.

    Parameters
    ----------
    title : str
        As the sentence below a table calls it.
    sentence : str
        As the methods text calls it, after a test.
    citation : str
        The key of its source in the report's bibliography; "" for none.
    adjusted : callable
        From p-values of shape (n,) to the adjusted ones, in the same order.
    """

    title: str
    sentence: str
    citation: str
    adjusted: Callable[[Floats], Floats]

    def n_counted(self, n: int) -> float:
        """Return by what the level is divided for one small p-value among `n`.

        >>> [each.n_counted(10) for each in CORRECTIONS.values()]
        [10.0, 10.0, 1.0]
        """
        p_values = np.ones(max(n, 1))
        p_values[0] = _TINY
        return float(self.adjusted(p_values)[0] / _TINY)

    def n_counted_of_equal(self, n: int) -> float:
        """Return by what the level is divided if all of `n` p-values are equally small.

        >>> [each.n_counted_of_equal(10) for each in CORRECTIONS.values()]
        [10.0, 1.0, 1.0]
        """
        return float(self.adjusted(np.full(max(n, 1), _TINY))[0] / _TINY)


_TINY = 2.0**-100
"""A power of two, of which products and quotients are exact."""


def _holm(p_values: Floats) -> Floats:  # SciPy does not have it
    adjusted = np.empty_like(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.arange(len(p_values), 0, -1) * p_values[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def _benjamini_hochberg(p_values: Floats) -> Floats:
    adjusted: Floats = scipy.stats.false_discovery_control(p_values, method="bh")
    return adjusted


CORRECTIONS: dict[str, CorrectionMethod] = {
    "holm": CorrectionMethod(
        title="Holm's correction",
        sentence="with Holm's correction",
        citation="holm1979simple",
        adjusted=_holm,
    ),
    "benjamini-hochberg": CorrectionMethod(
        title="Benjamini and Hochberg's correction",
        sentence="with Benjamini and Hochberg's correction",
        citation="benjamini1995controlling",
        adjusted=_benjamini_hochberg,
    ),
    "none": CorrectionMethod(
        title="no correction for the number of comparisons",
        sentence="without a correction for the number of comparisons",
        citation="",
        adjusted=np.copy,
    ),
}
"""Every correction by the name that configs use. One is added here and nowhere else."""
if TYPE_CHECKING:
    Correction: TypeAlias = str
else:
    Correction = Literal[tuple(CORRECTIONS)]


@checked(ComparisonError)
def adjust(p_values: ArrayLike, correction: Correction) -> NDArray[np.float64]:
    r"""Adjust p-values for the number of comparisons.

    Holm's correction keeps the chance of even one false difference at the level, whatever the
    dependence between the comparisons (1979, https://www.jstor.org/stable/4615733): with p sorted
    ascending, :math:`\tilde p_i = \max_{j \le i} \min(1, (m - j + 1) p_j)`. Benjamini and
    Hochberg's keeps the expected proportion of false differences there (1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x): :math:`\tilde p_i = \min_{j \ge i} \min(1, m p_j / j)`.

    A ComparisonError names another word, and what is not a p-value.

    >>> adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    plain = as_array("adjust: p_values", p_values, error=ComparisonError)
    if plain.ndim != 1 or ((plain < 0) | (plain > 1)).any():
        raise ComparisonError(
            "adjust: p_values are not all in [0, 1]; give one for each comparison"
        )
    return CORRECTIONS[correction].adjusted(plain) if len(plain) else plain.copy()


@checked(ComparisonError)
def letters(different: NDArray[np.bool_]) -> list[str]:
    """Give each algorithm letters so that two share one only if they do not differ significantly.

    `different` is symmetric; the order, best first, determines the first letters. After 26 letters,
    ``aa``, ``ab`` follow, separated by points.

    Insert and absorb (Piepho 2004, doi:10.1198/1061860043515): begin with one group of all; for
    each pair that differs, replace every group with both by one without the first and one without
    the second; drop groups that lie within another. At the end drop redundant groups, the smallest
    first: without them every pair that does not differ still shares one.
    """
    if different.ndim != 2 or len(different) != different.shape[1]:
        raise ComparisonError(
            f"different of shape {different.shape}; give a row and a column for each name"
        )
    n = len(different)
    groups = [frozenset(range(n))] if n else []
    for pair in combinations(range(n), 2):
        if different[pair]:
            untouched = [group for group in groups if not {*pair} <= group]
            split = [group - {member} for group in groups if {*pair} <= group for member in pair]
            distinct = list(dict.fromkeys(untouched + split))
            groups = [group for group in distinct if not any(group < other for other in distinct)]
    for group in sorted(groups, key=lambda group: (len(group), sorted(group))):
        rest = [member for member in groups if member is not group]
        equal = [pair for pair in combinations(sorted(group), 2) if not different[pair]]
        needs = [*equal, *((member,) for member in group)]
        if all(any({*need} <= other for other in rest) for need in needs):
            groups = rest
    groups.sort(key=sorted)
    between = "." if len(groups) > len(ascii_lowercase) else ""
    return [
        between.join(_name(i) for i, group in enumerate(groups, 1) if member in group)
        for member in range(n)
    ]


def ranked_letters(
    keys: Floats, significant: NDArray[np.bool_], differences: Floats | None = None
) -> list[str]:
    """Return the letters of algorithms, given which pairs differ.

    The least key comes first, but no algorithm before one that is better in a pair that differs:
    the keys can be means over different users. `differences` are how much worse the first of each
    pair is; by default from the keys.
    """
    firsts, seconds = np.triu_indices(len(keys), 1)
    different = np.zeros((len(keys), len(keys)), bool)
    different[firsts, seconds] = different[seconds, firsts] = significant
    order = np.argsort(keys, kind="stable")
    if differences is not None:
        worse = np.zeros_like(different)
        worse[firsts, seconds] = significant & (differences > 0)
        worse[seconds, firsts] = significant & (differences < 0)
        order = _unbeaten_first(order, worse)
    marks = np.empty(len(keys), object)
    marks[order] = letters(different[np.ix_(order, order)])
    return marks.tolist()


def is_first(letters: str) -> bool:
    """Return whether letters of `ranked_letters` have the first one, or there are none.

    An algorithm with the best mean lacks it where another one is better for common users.
    """
    return not letters or "a" in (letters.split(".") if "." in letters else letters)


def _unbeaten_first(order: NDArray[np.intp], worse: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return an order in which none comes before one that it is worse than, where there is one."""
    rest, ordered = order.tolist(), list[int]()
    while rest:
        unbeaten = (one for one in rest if not worse[one, rest].any())
        ordered.append(next(unbeaten, rest[0]))
        rest.remove(ordered[-1])
    return np.array(ordered, np.intp)


def _name(number: int) -> str:
    """Return the name of a group: a to z, then aa, ab and so on."""
    name = ""
    while number:
        number, letter = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[letter] + name
    return name
