"""A metric that does not tell orders or rows apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import metrics
from harness._util.libraries import pd
from harness.extras.audit.search import CLOSE, MOST, AuditSearch, share
from harness.metrics import Rankings
from harness.rankings import evaluation
from harness.results.record import RunInfo


def of_lists(search: AuditSearch, lists: Rankings) -> None:
    """Search for equal orders, a mean near a random order's mean, and short lists."""
    metric, label = search.metric, search.label
    scores, short = metrics.score([metric], lists)[metric], lists.n_ranked <= search.k
    random = evaluation.bound_scores([metric], lists)[label]["random"].mean
    said = {"table": "", "best": "all lists"}
    longer = scores.per_user[~short & ~np.isnan(scores.per_user)]
    if reason := evaluation.cannot_distinguish(metric, lists):
        search.found("indistinct.metric", {label: {"here": scores.mean}}, reason=reason)
    elif scores.mean - random < CLOSE * scores.mean:
        values = {"here": scores.mean, "random order": random}
        search.found("indistinct.random", {label: values}, **said)
    elif short.mean() >= MOST:
        values = {"all": scores.mean, "longer lists": longer.mean() if len(longer) else math.nan}
        search.found("indistinct.short", {label: values}, short=share(short), **said)


def of_run(search: AuditSearch, info: RunInfo) -> None:
    """Repeat the notes on metrics that score all rows the same."""
    for note in info.notes:
        if note.code in ("indistinct", "all-equal"):
            search.found("indistinct.note", note=str(note))


def of_table(
    search: AuditSearch,
    info: RunInfo,
    table: str,
    ends: tuple[pd.Series, pd.Series],
    where: Mapping[str, Any],
    *,
    rated: bool,
) -> None:
    """Compare the best row with a random order and with the last row; look for short lists."""
    label, (best, last) = search.label, ends
    bounds = {bound.bound: bound.scores.get(label) for bound in info.bounds if bound.table == table}
    if (random := bounds.get("random")) and best[label] - random < CLOSE * best[label]:
        both = {"best row": best[label], "random order": random}
        search.found("indistinct.random", {label: both}, **where)
    for compared in info.statistics:
        alike = not any(pair.significant for pair in compared.pairs)
        if (compared.table, compared.metric) == (table, label) and alike:
            both = {"first row": best[label], "last row": last[label]}
            search.found("indistinct.letters", {label: both}, n=len(compared.algorithms), **where)
    if not rated:
        return
    for data in info.descriptions:
        for split in data.splits if data.name == best["dataset"] else ():
            of_k = split.short.get(str(search.k), 0)
            if split.name == best["split"] and of_k >= MOST:
                search.found("indistinct.short", short=f"{of_k:.0%} of all", **where)
