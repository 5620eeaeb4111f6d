"""The differences from a baseline, as a family of their own among all pairs."""

from __future__ import annotations

from harness.arguments import checked
from harness.errors import ComparisonError
from harness.lazy import pd
from harness.statistics.corrections import Correction, adjust
from harness.statistics.pairs import with_power


@checked(ComparisonError)
def against(
    pairs: pd.DataFrame,
    baseline: str,
    correction: Correction | None,
    level: float,
    margin: float | None,
) -> pd.DataFrame:
    """Return the pairs with the baseline, turned so that it is second, and corrected again.

    Without a correction, p-values stay those among all pairs.
    """
    if missing := {"first", "second", "p", "low", "high"} - {*pairs}:
        raise ComparisonError(
            f"against: pairs has no column {sorted(missing)[0]!r}; give those of a Comparison"
        )
    rows = pairs[(pairs["first"] == baseline) | (pairs["second"] == baseline)].copy()
    turned = rows["first"] == baseline
    rows.loc[turned, ["first", "second"]] = rows.loc[turned, ["second", "first"]].to_numpy()
    rows.loc[turned, ["low", "high"]] = -rows.loc[turned, ["high", "low"]].to_numpy()
    for column in ("difference", "effect_size"):
        rows.loc[turned, column] *= -1
    rows = rows.reset_index(drop=True)
    if correction is None:
        return rows
    rows["p_adjusted"] = adjust(rows["p"], correction)
    rows["significant"] = rows["p_adjusted"] <= level
    if "opposite" in rows:
        rows["significant"] &= ~rows["opposite"]
    if "can_decide" in rows:
        rows["can_decide"] |= rows["significant"]
    return with_power(rows, correction, level, margin)
