"""Ratings or estimates cut off by another scale."""

from __future__ import annotations

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import FEW, AuditSearch, share
from harness.results.record import RunInfo


def of_estimates(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Search estimates for an end that many have, with ratings beyond it."""
    if len(rows) < FEW:
        return
    keys, ratings = rows["key"].to_numpy(), rows["rating"].to_numpy()
    values, counts = np.unique(keys, return_counts=True)
    if len(values) < 2:
        return
    for position, side, sign in ((0, "below", 1), (-1, "above", -1)):
        n_cut, n_next, end = counts[position], counts[position + sign], values[position]
        cut, beyond = keys == end, sign * ratings < sign * end
        # Without a scale the outermost estimates are rare, also where they are rounded.
        if n_cut >= max(FEW, 2 * n_next) and end % 0.5 == 0 and beyond.any():
            free = rows.assign(key=np.where(cut & beyond, ratings, keys))
            said = {"cut": share(cut), "beyond": share(beyond), "end": end, "side": side}
            search.found("clipped.estimates", search.effect((rows, None), (free, None)), **said)


def of_run(search: AuditSearch, info: RunInfo) -> None:
    """Search the notes on the data for ratings outside the scale that were clipped or kept."""
    for data in info.datasets:
        for note in data.notes:
            if note.code in ("outside-scale-clipped", "outside-scale-kept"):
                search.found("clipped.ratings", note=note, data=data.name)
