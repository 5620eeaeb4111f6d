"""Users of the truth who are left out of the mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness import metrics
from harness._util.libraries import pd
from harness.extras.audit.search import AuditSearch, share
from harness.metrics import Rankings
from harness.results.cells import CellResult
from harness.results.record import SplitInfo


def of_lists(search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame, lists: Rankings) -> None:
    """Find users of the truth without a list: the mean without them, and with them as 0."""
    owners = np.asarray(lists.users)
    without = ~np.isin(owners, rows["user"]) & np.isin(owners, truth["user"])
    if without.any():
        scores = metrics.score([search.metric], lists)[search.metric].per_user
        rest = scores[~without & ~np.isnan(scores)]
        n = len(rest) + int(without.sum())
        both = {"users with a list": rest.mean(), "others as 0": rest.sum() / n}
        said = {"without": share(without.sum(), n), "users": owners[without][:5]}
        search.found("dropped-users.lists", {search.label: both}, **said)


def of_table(
    search: AuditSearch,
    cells: Sequence[CellResult],
    splits: Sequence[SplitInfo],
    where: Mapping[str, Any],
) -> None:
    """Report the users that `unknown_users: drop` leaves out, in the cells of the best row."""
    unknown = {split.fingerprint: (split.unknown or [0.0])[0] for split in splits}
    shares = np.array([unknown.get(cell.split_fingerprint, 0.0) for cell in cells])
    if shares.any():
        means = np.array([cell.scores[search.label].mean for cell in cells], float)
        both = {"users of training": means.mean(), "others as 0": (means * (1 - shares)).mean()}
        search.found("dropped-users.run", {search.label: both}, share=shares.mean(), **where)
