"""The verdict on each published value: how far what is computed here agrees with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

from harness import metrics
from harness._util.arguments import checked
from harness.errors import ResultsError
from harness.extras.reproduce.values import Band, NotRun, Quantity, ReproducedValue

EXACT = 1e-12
TIMES = ("runtime_s",)
EQUAL = ("equal", "equal as printed", "truncated")


@checked(ResultsError)
def compare(quantity: Quantity, here: object) -> list[ReproducedValue]:
    """Compare each single value of a quantity with ours, in the form of what is expected.

    Examples
    --------
    >>> [finding] = compare(Quantity(source="s", what="x", expected=0.25), 0.2512)
    >>> finding.verdict, round(finding.difference, 4)
    ('equal as printed', 0.0012)
    """
    missing = here if isinstance(here, NotRun) else NotRun("it needs a run")
    ours = {} if here is missing else dict(_leaves(quantity, here))
    return [
        _judge(quantity, name, printed, ours.get(name, missing))
        for name, printed in _leaves(quantity, quantity.expected)
    ]


def _leaves(quantity: Quantity, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each single value of a quantity with its name; a list of pairs is one value."""
    if isinstance(value, dict) and "per_user" in value:
        ks = [metrics.parse(label).k for label in quantity.metrics]
        for user, row in enumerate(value["per_user"], start=1):
            yield from ((f"@{k}, user {user}", entry) for k, entry in zip(ks, row, strict=True))
        yield from ((f"@{k}, mean", entry) for k, entry in zip(ks, value["mean"], strict=True))
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list) and not isinstance(value[0], list):
        for position, entry in enumerate(value, start=1):
            yield f"{position} of {len(value)}", entry
    else:
        yield "", value


def _judge(quantity: Quantity, name: str, printed: Any, here: Any) -> ReproducedValue:
    named = f"{quantity.what} {name}".strip().replace("@k @", "@")
    note = quantity.note
    printed = math.nan if printed is None else printed
    wrong, why = quantity.errata.get(name, (printed, ""))
    finding = partial(ReproducedValue, quantity.source, named, wrong)
    if isinstance(here, NotRun):
        return finding(None, None, "not run", here.why)
    verdict = _verdict(printed, here)
    if why:
        other = _verdict(wrong, here) in ("differs", "outside the band")
        agrees = verdict in EQUAL or (math.isnan(printed) and other)
        difference = None if isinstance(here, Band) else here - wrong
        return finding(here, difference, "erratum" if agrees else "differs", why)
    if name in TIMES:
        return finding(here, None, "another machine", note)
    if isinstance(here, Band):
        note = "; ".join(part for part in (note, here.about) if part)
    numeric = isinstance(printed, (int, float)) and isinstance(here, (int, float))
    difference = float(here - printed) if numeric and not math.isnan(here) else None
    if difference is not None and verdict == "differs" and quantity.truncated:
        verdict = "truncated" if 0 < difference < unit_of(printed) else verdict
    return finding(here, difference, verdict, note)


def _verdict(printed: Any, here: Any) -> str:
    if isinstance(here, Band):
        return "within the band" if here.low <= printed <= here.high else "outside the band"
    if isinstance(printed, str):
        return "named here"
    if isinstance(here, str):
        return "refused here"
    if not isinstance(printed, (int, float)):
        return "equal" if printed == here else "differs"
    if math.isnan(printed) or math.isnan(here):
        return "equal" if math.isnan(printed) and math.isnan(here) else "differs"
    if abs(here - printed) <= EXACT * max(1.0, abs(printed)):
        return "equal"
    return "equal as printed" if abs(here - printed) <= unit_of(printed) / 2 else "differs"


def unit_of(printed: float) -> float:
    """Return one unit of the last digit that was printed."""
    return float(10.0 ** int(Decimal(repr(printed)).as_tuple().exponent))
