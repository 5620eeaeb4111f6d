"""Whether two algorithms recommend the same: the overlap of their lists, user by user."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.experiment.analyses.base import Analysis, ScoredCell
from harness.metrics import Scores
from harness.metrics.arrays import Floats
from harness.statistics.arrays import bootstrap_interval

K = 10
"""How many items of each list are compared."""
PERSISTENCE = 0.9
"""For rank-biased overlap: the probability that a reader of a list goes on to the next item."""
NAMES = ("dataset", "split", "candidates")
Items = NDArray[np.int32]


def overlaps(
    first: Items, second: Items, persistence: float = PERSISTENCE
) -> tuple[Floats, Floats]:
    r"""Return the Jaccard index and the rank-biased overlap of two lists of each user.

    With the :math:`X_d` items that the first d of both lists have in common, of lists of k items,
    the extrapolated rank-biased overlap [1]_ is
    :math:`p^k X_k / k + (1 - p) / p \sum_{d=1}^k p^d X_d / d`. It is 1 for equal lists and 0 for
    lists without a common item; the first ranks weigh most.

    Parameters
    ----------
    first, second : ndarray of int32, shape (n_users, k)
        Codes of items, no code twice in a list; -1 behind the end of a list.
    persistence : float
        p, in (0, 1).

    Returns
    -------
    jaccard, overlap : ndarray of float64, shape (n_users,)
        In [0, 1]; NaN for users whose lists are both empty. If one list is shorter, ranks up to
        its end count.

    References
    ----------
    .. [1] W. Webber, A. Moffat, J. Zobel, "A similarity measure for indefinite rankings", ACM
       Transactions on Information Systems 28(4), 2010, doi:10.1145/1852102.1852106.

    Examples
    --------
    >>> jaccard, overlap = overlaps(np.array([[1, 2]]), np.array([[2, 1]]), 0.5)
    >>> float(jaccard[0]), float(overlap[0])
    (1.0, 0.5)
    """
    k = first.shape[1]
    lengths = np.minimum((first >= 0).sum(axis=1), (second >= 0).sum(axis=1))
    either = (first >= 0).sum(axis=1) + (second >= 0).sum(axis=1)
    equal = (first[:, :, None] == second[:, None, :]) & (first >= 0)[:, :, None]
    in_common = equal.sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        jaccard = np.where(either > 0, in_common / np.maximum(either - in_common, 1), np.nan)
    overlap = np.zeros(len(first))
    for depth in range(1, k + 1):
        common = equal[:, :depth, :depth].sum(axis=(1, 2)) / depth
        reaches, ends = depth <= lengths, depth == lengths
        overlap += reaches * (1 - persistence) / persistence * persistence**depth * common
        overlap += ends * persistence**depth * common
    return jaccard, np.where(either > 0, overlap, np.nan)


class Overlap(Analysis):
    """How alike the lists of two algorithms are: a row for each pair of rows of a table.

    ``jaccard@10`` is the proportion of the items of both lists that are in both; ``rbo@10`` the
    rank-biased overlap, which weighs the first ranks most. Both are means over users of each
    user's average over folds and seeds, with intervals over users.
    """

    needs_items: ClassVar[int] = K

    def __init__(self) -> None:
        self._lists: dict[tuple[str, ...], dict[str, dict[tuple[int, int], pd.DataFrame]]] = {}

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Keep the first items of each list of a cell."""
        table = tuple(str(cell.name[name]) for name in NAMES)
        of_row = self._lists.setdefault(table, {}).setdefault(cell.algorithm, {})
        of_row[cell.name.seed, cell.name.fold] = pd.DataFrame(
            cell.lists.items(K), index=cell.record.users
        )

    def result(self) -> pd.DataFrame | None:
        """Return the mean overlap of each pair of rows, with its interval."""
        rows = []
        for table, of_rows in self._lists.items():
            for one, other in combinations(of_rows, 2):
                values = _of_users(of_rows[one], of_rows[other])
                if not len(values):
                    continue
                low, high = bootstrap_interval(values.to_numpy())
                means = values.mean().tolist()
                numbers = [
                    number
                    for place in range(2)
                    for number in (means[place], float(low[place]), float(high[place]))
                ]
                rows.append((*table, one, other, *numbers, len(values)))
        labels = ["jaccard@10", "low", "high", "rbo@10", "rbo low", "rbo high"]
        columns = [*NAMES, "first", "second", *labels, "users"]
        return pd.DataFrame(rows, columns=columns) if rows else None


def _of_users(
    one: Mapping[tuple[int, int], pd.DataFrame], other: Mapping[tuple[int, int], pd.DataFrame]
) -> pd.DataFrame:
    """Return both overlaps of each user, averaged over the folds and seeds that two rows share."""
    parts = []
    for cell in one.keys() & other.keys():
        users = one[cell].index.intersection(other[cell].index)
        first, second = (lists[cell].loc[users].to_numpy(np.int32) for lists in (one, other))
        jaccard, overlap = overlaps(first, second)
        parts.append(pd.DataFrame({"user": users, "jaccard": jaccard, "overlap": overlap}))
    if not parts:
        return pd.DataFrame()
    return pd.concat(parts).groupby("user").mean().dropna()
