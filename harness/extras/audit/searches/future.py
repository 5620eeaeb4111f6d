"""Training ratings that are later than the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import AuditSearch, Values, share
from harness.results.record import SplitInfo


def of_file(search: AuditSearch, judged: pd.DataFrame, train: pd.DataFrame) -> None:
    """Compare the times of the training pairs with the median time of the test."""
    if "timestamp" not in judged or "timestamp" not in train:
        search.skip("the test or the training pairs have no timestamps", "future")
        return
    later = train["timestamp"] > np.quantile(judged["timestamp"], 0.5, method="lower")
    if later.any():
        n_users = judged[judged["timestamp"] < train["timestamp"].max()]["user"].nunique()
        search.found("future.pairs", later=share(later), users=n_users)


def of_table(
    search: AuditSearch,
    splits: Sequence[SplitInfo],
    best: pd.Series,
    beside: Callable[[str, str], Values],
    where: Mapping[str, Any],
) -> None:
    """Report the leak that the notes on the split of a table name, beside a split without one."""
    leaks = {
        split.split: [note for note in split.notes if note.code == "leak"]
        for split in reversed(splits)
    }
    for note in leaks.get(str(best["split"]), []):
        other = next((split for split, notes in leaks.items() if not notes), "a split by time")
        effect = beside("split", other)
        values = {"split": best["split"], "note": note.text, "later": note.values.get("share")}
        search.found("future.run", effect, **values, **where)
