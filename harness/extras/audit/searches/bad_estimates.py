"""Estimates that are not finite, far outside the scale, or one default for most pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import MOST, AuditSearch, share


def infinite(
    search: AuditSearch,
    rows: pd.DataFrame,
    truth: pd.DataFrame | None,
    wrong: pd.DataFrame,
    mask: np.ndarray,
) -> None:
    """Report the estimates in `wrong`, which `mask` marks, that are not finite numbers."""
    if len(wrong):
        effect = search.effect(None, (rows, truth))
        search.found("bad-estimates.infinite", effect, wrong=share(mask), first=wrong["at"].iloc[0])


def far(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Search estimates farther outside the ratings than these are apart."""
    keys, ratings = rows["key"].to_numpy(), rows["rating"].to_numpy()
    low, high = ratings.min(), ratings.max()
    room = high - low
    outside = (keys < low - room) | (keys > high + room)
    if room and outside.any():
        values = {"low": low, "high": high, "least": keys.min(), "most": keys.max()}
        effect = search.effect((rows, None), (rows.assign(key=keys.clip(low, high)), None))
        search.found("bad-estimates.far", effect, far=share(outside), **values)


def impossible(
    search: AuditSearch, counts: Mapping[str, tuple[int, int]], where: Mapping[str, Any]
) -> None:
    """Report the rows of a table whose evaluated test pairs were mostly impossible to estimate.

    `counts` has for each row how many were impossible, of how many.
    """
    shares = {name: share(n, n_all) for name, (n, n_all) in counts.items() if n >= MOST * n_all > 0}
    if shares:
        first = next(iter(shares))
        values: dict[str, Any] = {"impossible": shares[first], "first": first, "rows": [*shares]}
        search.found("bad-estimates.impossible", **where, **values)
