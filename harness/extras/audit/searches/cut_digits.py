"""Ids and estimates that lost digits when they were written or read."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness import metrics
from harness._util.libraries import pd
from harness.errors import MetricError
from harness.extras.audit.search import EXPECTED, FEW, MOST, PAIR, AuditSearch, share
from harness.metrics import Rankings

POWER = r"[0-9](?:\.[0-9]+)?[eE]\+[0-9]+"  # of a number as 1.23457e+06
SHORTEST = 3
"""Characters of an id; by chance shorter ones begin longer ones."""
FINEST = 3
"""Decimals of estimates; more than so many seldom make ties."""


def of_ids(
    search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame | None, train: pd.DataFrame | None
) -> None:
    """Search ids that are the beginning of longer ones in training, or powers of ten.

    No id of the rows is as long as these, although many would be if rows were like the training.
    """
    for role in PAIR:
        if role not in rows:
            continue
        ids, there = rows[role], None if train is None else train[role]
        powers = ids.str.fullmatch(POWER).to_numpy()
        if there is not None:
            powers = powers & ~ids.isin(there).to_numpy()
        code, wrong = "cut-ids.powers", powers
        said: dict[str, Any] = {}
        if there is not None and not powers.any():
            length = int(ids.str.len().max())
            longer = there[there.str.len() > length]
            if len(longer) / len(there) * len(rows) < EXPECTED:
                continue
            beginnings = longer.str[:length]
            unknown = ~ids.isin(there)
            wrong = (unknown & ids.isin(beginnings) & (ids.str.len() == length)).to_numpy()
            if length < SHORTEST or wrong.sum() < MOST * unknown.sum():
                continue  # new ids are shorter by chance
            code, said = "cut-ids.beginnings", {"length": length}
            if wrong.any():
                said["id"] = longer[beginnings == ids[wrong].iloc[0]].iloc[0]
        if wrong.sum() >= FEW:
            said |= {"cut": share(wrong), "role": role, "first": ids[wrong].iloc[0]}
            effect = search.effect((rows, truth), (rows[~wrong], truth))
            search.found(code, effect, **said)


def of_estimates(search: AuditSearch, rows: pd.DataFrame, lists: Rankings) -> None:
    """Search estimates of few decimals, whose ties decide a score; ratings are not estimates."""
    keys = rows["key"].to_numpy()
    if np.isin(keys, rows["rating"].to_numpy()).all():
        return
    for digits in range(1, FINEST + 1):
        if np.array_equal(np.round(keys, digits), keys):
            break
    else:
        return
    try:
        rules = {rule: search.metric.having(ties=rule) for rule in ("worst", "best")}
    except MetricError as error:
        search.skip(str(error), "cut-estimates")
        return
    orders = {rule: metrics.score([metric], lists)[metric].mean for rule, metric in rules.items()}
    n, n_values = len(keys), len(np.unique(keys))
    search.depends(
        "cut-estimates.decimals", search.label, orders, digits=digits, n=n, n_values=n_values
    )
