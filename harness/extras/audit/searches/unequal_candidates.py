"""Candidates that differ between users, or between the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import MOST, NEGATIVES, AuditSearch, Values, pairs_of, share

FEWEST, PART = 3, 0.05
"""Users, and proportion of all, from which a group with other candidates counts."""


def of_predictions(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Search for users with many unrated items beside users with none."""
    unrated = (rows["rating"] <= 0).groupby(rows["user"]).sum()
    if unrated[unrated > 0].min() >= NEGATIVES if (unrated > 0).any() else False:
        _report(search, rows, None, unrated.index[unrated == 0], unrated.index[unrated > 0])


def of_lists(search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame) -> None:
    """Search for users whose list is their truth, beside users with other items."""
    judged = pd.Series(pairs_of(rows).isin(pairs_of(truth)), rows.index)
    n_listed, n_judged = (mask.groupby(rows["user"]).sum() for mask in (judged | True, judged))
    n_truth = truth.groupby("user").size().reindex(n_listed.index, fill_value=0)
    # A list as long as the longest may be cut, and then be its user's truth by merit.
    only = (n_judged == n_listed) & (n_truth == n_listed) & (n_listed < n_listed.max())
    fewer = n_judged < n_listed
    _report(search, rows, truth, only.index[only], fewer.index[fewer])


def _report(
    search: AuditSearch,
    rows: pd.DataFrame,
    truth: pd.DataFrame | None,
    only: pd.Index,
    rest: pd.Index,
) -> None:
    n_all = rows["user"].nunique()
    if min(len(only), len(rest)) < max(FEWEST, PART * n_all):
        return
    values: dict[str, float] = {}
    for name, users in (("with other items", rest), ("with only test items", only)):
        sides = [None if t is None else t[t["user"].isin(users)] for t in (rows, truth)]
        assert sides[0] is not None
        values[name] = search.scores(sides[0], sides[1])[search.label]
    values = {"all users": search.scores(rows, truth)[search.label], **values}
    effect: Values = {search.label: dict(values)}
    search.found("unequal-candidates.users", effect, only=share(len(only), n_all))


def of_files(search: AuditSearch, rows: pd.DataFrame, others: Mapping[Path, pd.DataFrame]) -> None:
    """Compare the pairs of predictions with the pairs of files that are beside them in a table."""
    pairs = pairs_of(rows).unique()
    for path, table in others.items():
        other = pairs_of(table).unique()
        n_common = int(pairs.isin(other).sum())
        n_all = len(pairs) + len(other) - n_common
        if MOST * min(len(pairs), len(other)) <= n_common < n_all:  # else of other folds
            common = rows[pairs_of(rows).isin(other)]
            effect = search.effect((rows, None), (common, None))
            apart = share(n_all - n_common, n_all)
            search.found("unequal-candidates.files", effect, apart=apart, other=str(path))


def of_cells(
    search: AuditSearch,
    first: tuple[str, pd.Series],
    row: tuple[str, pd.Series],
    where: Mapping[str, Any],
) -> None:
    """Compare how many candidates the users of two rows of a table have in one fold."""
    (name, sizes), (other_name, other_sizes) = first, row
    both = sizes.index.union(other_sizes.index)
    differ = sizes.reindex(both, fill_value=-1) != other_sizes.reindex(both, fill_value=-1)
    if np.any(differ):
        values: dict[str, Any] = {"first": name, "second": other_name, "users": share(differ)}
        search.found("unequal-candidates.rows", **values, **where)
