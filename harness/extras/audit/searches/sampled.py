"""Sampled candidates."""

from __future__ import annotations

import numpy as np

from harness.extras.audit.search import NEGATIVES, AuditSearch, per_list
from harness.metrics import Rankings


def of_lists(search: AuditSearch, lists: Rankings) -> None:
    """Search for as many unrated items in every list, beside all relevant ones."""
    unrated = lists.n_ranked - per_list(lists.offsets, lists.relevance > 0)
    complete = np.array_equal(lists.offsets, lists.pool_offsets) and len(unrated) > 1
    if complete and unrated[0] >= NEGATIVES and not np.ptp(unrated):
        search.found("sampled.lists", n=unrated[0])
