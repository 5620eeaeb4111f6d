"""Why a table has no verdict: its rows were not compared, are all equal, or have no value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import counted
from harness.results.scores import is_mean_of_users
from harness.results.sentences import fitting, row_names

if TYPE_CHECKING:
    from harness.results.verdict import Standing

CANNOT = "cannot decide: "
"""How a comparison begins to say why no difference could be significant."""
TOO_FEW = "too few users differ between any two rows"


def reasons(standing: Standing, code: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Return the sentences of a verdict of this code, which is not ``leads``."""
    return {
        "not-compared": _not_compared,
        "all-equal": _all_equal,
        "cannot-decide": _cannot_decide,
        "no-leader": _no_leader,
        "one-row": _one_row,
        "no-row": _no_row,
    }[code](standing, values)


def _not_compared(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    if not is_mean_of_users(metrics.parse(standing.label)):
        why = "its values are not means over users, which the tests need"
    elif standing.info.experiment.statistics is None:
        why = "the config turns statistics off; delete `statistics: null`"
    else:
        why = "its rows were not compared; the notes say why"
    yield f"No verdict by {standing.label}: {why}."
    yield fitting(
        lambda most: (
            f"The best value is {standing.shown()}, of {row_names(standing.leaders, most)}"
            f"{standing.above_baseline(values)}{standing.left_out(values, most)}."
        )
    )


def _cannot_decide(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    note = standing.comparison.note if standing.comparison else ""
    why = note.removeprefix(CANNOT) if note.startswith(CANNOT) else TOO_FEW
    yield f"No verdict by {standing.label}: the test cannot decide; {why}."
    yield from _best_value(standing, values)


def _no_leader(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"No verdict by {standing.label}: the rows have different users, and each row is "
        "significantly worse than another one for the users that the two share."
    )
    yield from _best_value(standing, values)


def _best_value(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    def text(most: int) -> str:
        within = ""
        if standing.margin is not None and (names := standing.answered("equivalent")):
            within = f", within {standing.margin:g} equivalent to {row_names(names, most)}"
        began = f"The best value is {standing.shown()}, of {row_names(standing.leaders, most)}"
        return f"{began}{within}{standing.left_out(values, most)}."

    yield fitting(text)


def _all_equal(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    rows = counted(len(standing.scores), "row")
    yield fitting(
        lambda most: (
            f"No verdict by {standing.label}: all {rows} have the same value, {standing.shown()}"
            f"{standing.left_out(values, most)}."
        )
    )


def _one_row(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    def text(most: int) -> str:
        name = row_names(standing.leaders, 1)
        began = f"No verdict by {standing.label}: {name} ({standing.shown()}) is the only row"
        among = " with a value" * (len(standing.rows) > 1)
        return f"{began}{among}{standing.left_out(values, most)}."

    yield fitting(text)


def _no_row(standing: Standing, values: Mapping[str, Any]) -> Iterator[str]:
    folds = " on every fold" if standing.info.has_several_cells else ""
    yield fitting(
        lambda most: (
            f"No verdict by {standing.label}: no row has a value{folds}"
            f"{standing.left_out(values, most)}."
        )
    )
