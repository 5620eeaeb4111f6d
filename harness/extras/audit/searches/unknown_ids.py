"""Ids of another type or another data set."""

from __future__ import annotations

import itertools

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import (
    FEW,
    MOST,
    NEARLY_ALL,
    PAIR,
    AuditSearch,
    Values,
    lists_of,
    share,
)

NUMBER = r"^\D*0*(\d+?)(?:\.0+)?$"  # the number in an id: 7 in ``m007`` and ``7.0``


def constant(search: AuditSearch, rows: pd.DataFrame, known: float | None = None) -> bool:
    """Search for one estimate for nearly all pairs; return whether the estimates are of no use.

    `known` is the proportion of the pairs whose user or item has a training rating.
    """
    keys, ratings, n = rows["key"].to_numpy(), rows["rating"].to_numpy(), len(rows)
    values, counts = np.unique(keys, return_counts=True)
    estimate, n_same = values[counts.argmax()], counts.max()
    code = ""
    if known is not None and known <= 1 - NEARLY_ALL:
        code = "unknown-ids.training"
    elif n_same >= max(FEW, NEARLY_ALL * n):
        code = "unknown-ids.constant" if known is None else "bad-estimates.constant"
    elif n_same >= max(FEW, MOST * n) and estimate not in (ratings.min(), ratings.max()):
        code = "bad-estimates.constant"
    if code:
        said = {"same": share(n_same, n), "estimate": estimate, "deviation": ratings.std()}
        effect = search.effect((rows, None), (rows[keys != estimate], None))
        search.found(code, effect, known=known, **said)
    return bool(code)


def of_lists(search: AuditSearch, rows: pd.DataFrame, truth: pd.DataFrame) -> bool:
    """Return whether no listed pair is in the truth; try the numbers in the ids."""
    if len(lists_of(rows, truth).relevance):
        return False
    common = [f"{role}s" for role in PAIR if rows[role].isin(truth[role]).any()]
    numbers = [table.copy() for table in (rows, truth)]
    for table, role in itertools.product(numbers, PAIR):
        table[role] = table[role].str.extract(NUMBER, expand=False).fillna("")
    effect: Values = {search.label: {"as it is": 0.0, "without the problem": None}}
    if not any(table.duplicated(PAIR).any() for table in numbers):
        listed, judged = numbers
        if len(lists_of(listed, judged).relevance):
            effect = search.effect((rows, truth), (listed, judged))
    first = ["user {user}, item {item}".format(**table.iloc[0]) for table in (rows, truth)]
    said = {"common": " and ".join(common) or "none", "listed": first[0], "judged": first[1]}
    search.found("unknown-ids.lists", effect, **said)
    return True
