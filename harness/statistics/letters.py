"""Letters that mark which algorithms are not significantly different."""

from __future__ import annotations

from itertools import combinations
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

__all__ = ["letters"]


def letters(different: NDArray[np.bool_]) -> list[str]:
    """Give each algorithm letters so that two share one only if they do not differ significantly.

    Parameters
    ----------
    different : ndarray of bool, shape (n, n)
        Symmetric: whether two algorithms differ significantly. The order, best first, determines
        the first letters.

    Returns
    -------
    list of str, length n
        As ``a``, ``ab``, ``b``. After 26 letters, ``aa``, ``ab`` follow, separated by points.

    Notes
    -----
    Insert and absorb [1]_: begin with one group of all; for each pair that differs, replace every
    group with both by one without the first and one without the second; drop groups that lie within
    another. At the end drop redundant groups: without them every pair that does not differ still
    shares one.

    References
    ----------
    .. [1] H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise
       comparisons", Journal of Computational and Graphical Statistics 13(2), 2004,
       doi:10.1198/1061860043515.

    Examples
    --------
    >>> apart = np.zeros((3, 3), bool)
    >>> apart[0, 2] = apart[2, 0] = True  # the first is better than the third, no more is known
    >>> letters(apart)
    ['a', 'ab', 'b']
    """
    n = len(different)
    groups = [frozenset(range(n))] if n else []
    for one, other in combinations(range(n), 2):
        if different[one, other]:
            groups = _insert(groups, one, other)
    groups = sorted(_needed(groups, different), key=sorted)
    names = [_name(number) for number in range(len(groups))]
    between = "." if len(groups) > len(ascii_lowercase) else ""
    return [
        between.join(name for name, group in zip(names, groups, strict=True) if member in group)
        for member in range(n)
    ]


def _insert(groups: list[frozenset[int]], one: int, other: int) -> list[frozenset[int]]:
    kept = [group for group in groups if not {one, other} <= group]
    for group in groups:
        if {one, other} <= group:
            kept += [group - {one}, group - {other}]
    distinct = list(dict.fromkeys(kept))
    return [group for group in distinct if not any(group < larger for larger in distinct)]


def _needed(groups: list[frozenset[int]], different: NDArray[np.bool_]) -> list[frozenset[int]]:
    """Drop redundant groups, the smallest first: their pairs share another letter."""
    left = sorted(groups, key=lambda group: (len(group), sorted(group)))
    for group in list(left):
        others = [each for each in left if each is not group]
        ties = [pair for pair in combinations(sorted(group), 2) if not different[pair]]
        alone = [(member, member) for member in group]
        if all(any({*pair} <= each for each in others) for pair in [*ties, *alone]):
            left = others
    return left


def _name(number: int) -> str:
    """Return the name of a group: a to z, then aa, ab and so on."""
    name = ""
    number += 1
    while number:
        number, place = divmod(number - 1, len(ascii_lowercase))
        name = ascii_lowercase[place] + name
    return name
