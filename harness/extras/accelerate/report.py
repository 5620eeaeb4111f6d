"""What the patch has done so far, as a table."""

from __future__ import annotations

from textwrap import fill, wrap

from harness._util.libraries import pd
from harness.extras.accelerate.calls import state
from harness.extras.accelerate.summary import summary

COLUMNS = ("call", "way", "reason", "calls", "seconds", "seconds of surprise", "seconds saved")


class Report(pd.DataFrame):
    """A table of calls that is printed in 80 columns, with each reason on its own line."""

    def __repr__(self) -> str:
        if not {*COLUMNS} <= {*self.columns}:
            return super().__repr__()
        if self.empty:
            return "no calls since Surprise was patched"
        width = max(len(call) for call in ("call", *self["call"]))
        is_compared = bool(self["seconds of surprise"].notna().any())
        title = f"{'call':{width}} {'way':11} {'calls':>6} {'seconds':>9}"
        lines = [title + f"{'surprise, s':>13}" * is_compared]
        for row in self.to_dict("records"):
            line = f"{row['call']:{width}} {row['way']:11} {row['calls']:6,} {row['seconds']:9.4f}"
            there = row["seconds of surprise"]
            lines.append(line if pd.isna(there) else f"{line}{there:13.4f}")
            if row["reason"]:
                lines.append(fill(row["reason"], 78, initial_indent="  ", subsequent_indent="  "))
        return "\n".join([*lines, *wrap(summary(), 78)])


def patch_report() -> pd.DataFrame:
    """Return how each kind of call went since Surprise was patched.

    Calls in processes that joblib started (``n_jobs``) are not counted here.

    Returns
    -------
    DataFrame
        A row for each call, way (``accelerated`` or ``surprise``) and reason, with the number of
        calls, their seconds and, under ``compare=True``, the seconds of Surprise's own code for the
        same calls, and what was saved; NaN where only one side ran. Seconds of the first call
        include what is compiled or loaded for it. A call within another one counts in both.

    Examples
    --------
    >>> import harness, surprise
    >>> with harness.patched_surprise(strict=True):
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
    return Report(rows, columns=list(COLUMNS))
