"""What the patch has done so far, as a table."""

from __future__ import annotations

import pandas as pd

from harness.extras.accelerate.calls import state

COLUMNS = ("call", "way", "reason", "calls", "seconds", "seconds of surprise", "seconds saved")


def patch_report() -> pd.DataFrame:
    """Return how each kind of call went since Surprise was patched.

    Returns
    -------
    DataFrame
        A row for each call, way (``accelerated`` or ``surprise``) and reason, with the number of
        calls, their seconds and, under ``compare=True``, the seconds of Surprise's own code for the
        same calls, and what was saved; NaN where only one side ran.

    Examples
    --------
    >>> import harness, surprise
    >>> with harness.patched_surprise():
    ...     data = harness.load("bundled").to_surprise()
    ...     _ = surprise.BaselineOnly(verbose=False).fit(data.build_full_trainset())
    >>> harness.patch_report().set_index("call").loc["BaselineOnly.fit", "way"]
    'accelerated'
    """
    rows = []
    for (call, way, reason), counted in sorted(state.counts.items()):
        there = counted.seconds_of_surprise or float("nan")
        saved = there - counted.seconds
        rows.append((call, way, reason, counted.calls, counted.seconds, there, saved))
    return pd.DataFrame(rows, columns=list(COLUMNS))
