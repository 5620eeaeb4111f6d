"""A mark of pairs without an estimate, as -1, that is counted as an estimate."""

from __future__ import annotations

import numpy as np

from harness._util.libraries import pd
from harness.extras.audit.search import MOST, AuditSearch, share


def of_estimates(search: AuditSearch, rows: pd.DataFrame) -> None:
    """Search for one number outside the ratings that several estimates are, alone at its end.

    Estimates of a model that go beyond the ratings differ from each other, and come near to them.
    """
    keys, ratings = rows["key"].to_numpy(), rows["rating"].to_numpy()
    low, high = ratings.min(), ratings.max()
    for beyond, end in ((keys < low, low), (keys > high, high)):
        values, count = np.unique(keys[beyond]), beyond.sum()
        if len(values) != 1 or not 1 < count < MOST * len(keys):
            continue
        mark = float(values[0])
        if mark.is_integer() and abs(mark - end) >= 1:
            said = {"marked": share(beyond), "mark": mark, "low": low, "high": high}
            effect = search.effect((rows, None), (rows[~beyond], None))
            search.found("marked-estimates.pairs", effect, **said)
