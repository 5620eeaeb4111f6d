"""Policies for rows that cannot be used unchanged: none is dropped silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from harness.datasets.columns import (
    NO_TIME,
    SHOWN,
    Coded,
    Flaw,
    Table,
    in_order_of_appearance,
    shown,
)
from harness.errors import DataError, counted

__all__ = ["Policies", "Policy", "clean", "merge_pairs", "outliers", "refuse_faults"]

ADVICE = {
    "unreadable": "`unreadable: drop` drops",
    "missing": "`missing: drop` drops",
    "out_of_scale": "`out_of_scale: drop`, `clip` or `keep` decides about",
    "duplicates": "`duplicates: first`, `last` or `mean` decides about",
}
"""What a config can do with rows with a kind of fault."""

UNDATED = "`timestamp: null` in `columns` keeps all rows and reads no times"
"""What else a config can do with rows that only lack a timestamp."""

KINDS = {
    "": "broken line",
    "unreadable": "unreadable row",
    "missing": "incomplete row",
    "timestamp": "undated row",
    "out_of_scale": "out-of-scale rating",
    "outlier": "extreme rating",
    "duplicates": "repeated pair",
}


@dataclass(frozen=True)
class Policy:
    """Policies for rows that cannot be used unchanged.

    Attributes
    ----------
    duplicates : {"error", "first", "last", "mean"}
        A pair of user and item that is rated more than once. The mean takes the place of the first
        rating, with the latest timestamp.
    missing : {"error", "drop"}
        A row without user, item, rating or, where times are read, timestamp.
    out_of_scale : {"error", "clip", "drop", "keep"}
        A rating outside the scale.
    scale : (float, float), optional
        The lowest and the highest rating; by default those of the data.
    unreadable : {"error", "drop"}
        A row whose rating is not a number, whose timestamp is not a time, or with another number
        of fields than the first.
    """

    duplicates: str = "error"
    missing: str = "error"
    out_of_scale: str = "error"
    scale: tuple[float, float] | None = None
    unreadable: str = "error"


class Policies(TypedDict, total=False):
    """The attributes of `Policy` as keyword arguments."""

    duplicates: str
    missing: str
    out_of_scale: str
    scale: tuple[float, float] | None
    unreadable: str


def clean(table: Table, policy: Policy) -> tuple[Table, tuple[float, float]]:
    """Apply the policies and number users and items by first appearance; return also the scale.

    Rows that cannot be read, lack a value, are outside the scale or repeat a pair are searched in
    this order; a row with two faults counts once. Notes say what was changed. One error names all
    rows with a fault whose policy is ``error``.
    """
    at = table.at
    if not len(table):
        raise DataError(f"{at(-1)}: no ratings; give a file that has some")
    notes: list[str] = []
    flaws = [*table.flaws, *_missing(table)]
    usable = _without(flaws, len(table))
    for key, what in {"unreadable": "that cannot be read", "missing": "without a value"}.items():
        n_lost = sum(len(flaw.rows) for flaw in flaws if flaw.policy == key)
        if n_lost and getattr(policy, key) == "drop":
            notes.append(f"{counted(n_lost, 'row')} {what} dropped")
    scale, outside = _scale(table.numbers["rating"], policy, usable, notes)
    flaws += outside
    if policy.out_of_scale == "drop":
        usable &= _without(outside, len(table))
    repeated = _repeated(table, usable, "rates")
    flaws.append(repeated)
    _refuse(
        [each for each in flaws if getattr(policy, each.policy, "error") == "error"], at, ADVICE
    )
    if scale is None or not usable.any():
        raise DataError(f"{at(-1)}: no ratings are left ({'; '.join(notes)}); check the policies")
    if policy.out_of_scale == "clip" and policy.scale is not None:
        table = replace(table, numbers={"rating": np.clip(table.numbers["rating"], *scale)})
    if len(repeated.rows):
        n_pairs = len(np.unique(_pairs(table, repeated.rows)))
        notes.append(
            f"{counted(n_pairs, 'duplicate pair')}: the {policy.duplicates} kept, "
            f"{counted(len(repeated.rows), 'row')} dropped"
        )
        table, usable = merge_pairs(table, policy.duplicates, usable)
    if not usable.all():
        table = table.take(usable)
    ids = {role: in_order_of_appearance(each) for role, each in table.ids.items()}
    return replace(table, ids=ids, notes=(*table.notes, *notes), flaws=()), scale


def refuse_faults(table: Table) -> None:
    """Refuse a table with rows that cannot be read, lack a value or repeat a pair: all at once."""
    flaws = [*table.flaws, *_missing(table)]
    if "item" in table.ids:
        flaws.append(_repeated(table, _without(flaws, len(table)), "has"))
    _refuse(flaws, table.at, {})


def _without(flaws: Sequence[Flaw], n_rows: int) -> NDArray[np.bool_]:
    """Return which rows have none of these faults."""
    sound = np.ones(n_rows, dtype=bool)
    for flaw in flaws:
        sound[flaw.rows] = False
    return sound


def _refuse(flaws: Sequence[Flaw], at: Callable[[int], str], advice: Mapping[str, str]) -> None:
    """Raise for all rows with faults; `advice` says by policy what else can be done."""
    flaws = [flaw for flaw in flaws if len(flaw.rows)]
    if not flaws:
        return
    total = sum(len(flaw.rows) for flaw in flaws)
    # The first of each kind: one extreme rating must be seen among a thousand rows without a time.
    in_turn = sorted(
        (n, row, kind)
        for kind, flaw in enumerate(flaws)
        for n, row in enumerate(flaw.rows[:SHOWN].tolist())
    )[:SHOWN]
    first = sorted((row, kind) for _, row, kind in in_turn)
    lines = [f"{at(row)}: {flaws[kind].describe(row)}" for row, kind in first]
    counts = [counted(len(flaw.rows), KINDS[flaw.kind or flaw.policy]) for flaw in flaws]
    ways: list[str] = []
    for flaw, count in zip(flaws, counts, strict=True):
        if flaw.policy in advice:
            ways.append(f"{advice[flaw.policy]} {'it' if total == 1 else count}")
        if flaw.advice:
            ways.append(flaw.advice)
    if total == 1:
        do = ", or ".join(["fix the data", *ways])
        raise DataError(f"{lines[0]}; {do}" if flaws[0].policy else lines[0])
    which = "the first of each kind" if len(flaws) > 1 else f"the first {SHOWN}"
    more = f", {which} above" if total > SHOWN else ""
    what = ", ".join(counts)
    lines.append(f"{at(-1)}: {total:,} faults{more} ({what}); fix the data" + ", or:" * bool(ways))
    raise DataError("\n".join([*lines, *(f"  {way}" for way in ways)]))


def _missing(table: Table) -> list[Flaw]:
    """Return the rows without an id or a number, and those that only lack a timestamp."""
    absent = {role: column.codes < 0 for role, column in table.ids.items()}
    absent |= {role: np.isnan(column) for role, column in table.numbers.items()}
    incomplete = np.logical_or.reduce(list(absent.values()))
    undated = {role: column == NO_TIME for role, column in table.times.items()}
    only_undated = np.logical_or.reduce([np.zeros(len(table), bool), *undated.values()])
    readable = _without(table.flaws, len(table))
    lacking = absent | undated

    def describe(row: int) -> str:
        return f"no {' and no '.join(role for role, rows in lacking.items() if rows[row])}"

    return [
        Flaw("missing", np.flatnonzero(incomplete & readable), describe),
        Flaw(
            "missing", np.flatnonzero(only_undated & ~incomplete & readable), describe, UNDATED,
            "timestamp",
        ),
    ]  # fmt: skip


def _scale(
    ratings: NDArray[np.float64], policy: Policy, usable: NDArray[np.bool_], notes: list[str]
) -> tuple[tuple[float, float] | None, list[Flaw]]:
    """Return the scale and the ratings outside it; note what is done to them."""
    rows = np.flatnonzero(usable)
    given = ratings[rows]
    if not len(given):
        return policy.scale, []
    if policy.scale is None:
        low, high = float(given.min()), float(given.max())
        notes.append(f"scale {low:g} to {high:g}, the lowest and highest rating found")
        odd = None if policy.out_of_scale == "keep" else outliers(given, low, high)
        if odd is None:
            return (low, high), []
        inner = f"{given[~odd].min():g}", f"{given[~odd].max():g}"
        advice = (
            f"`scale: [{low:g}, {high:g}]` confirms it; `scale: [{inner[0]}, {inner[1]}]` with "
            "`out_of_scale: drop` or `clip` removes or clips it"
        )
        far = f"is far from all others, which are {inner[0]} to {inner[1]}"
        return (low, high), [
            Flaw("outlier", rows[odd], lambda row: f"the rating {ratings[row]:g} {far}", advice)
        ]
    low, high = policy.scale
    outside = rows[(given < low) | (given > high)]
    done = {"drop": "dropped", "clip": "clipped", "keep": "kept as they are"}
    if len(outside) and policy.out_of_scale in done:
        found = counted(len(outside), "rating")
        notes.append(f"{found} outside {low:g} to {high:g} {done[policy.out_of_scale]}")
    beyond = f"is outside the scale {low:g} to {high:g}"
    return policy.scale, [
        Flaw("out_of_scale", outside, lambda row: f"the rating {ratings[row]:g} {beyond}")
    ]


def outliers(ratings: NDArray[np.float64], low: float, high: float) -> NDArray[np.bool_] | None:
    """Return which ratings are so far from all others that they alone determine the scale.

    At most one in a thousand (or a single one) may lie beyond the middle of the scale, on either
    side, while the others spread over their own range, as counts with a long tail do not.
    """
    few, middle = max(1, len(ratings) // 1000), (low + high) / 2
    for odd in (ratings > middle, ratings < middle):
        if len(ratings) < 20 or not 0 < np.count_nonzero(odd) <= few:
            continue
        rest = ratings[~odd]
        spread = float(rest.max() - rest.min())
        edge = rest.min() if ratings[odd][0] > middle else rest.max()
        if 0 < 2 * spread < high - low and abs(float(rest.mean()) - edge) >= spread / 10:
            return np.asarray(odd)
    return None


def _pairs(table: Table, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pair of user and item of each row as one number."""
    users, items = table.ids["user"], table.ids["item"]
    return users.codes[rows].astype(np.int64) * len(items.ids) + items.codes[rows]


def _repeated(table: Table, usable: NDArray[np.bool_], verb: str) -> Flaw:
    """Return the usable rows whose pair stands in an earlier one."""
    import pandas as pd

    rows = np.flatnonzero(usable)
    pairs = _pairs(table, rows)

    def describe(row: int) -> str:
        first = int(rows[np.argmax(pairs == pairs[np.searchsorted(rows, row)])])
        user, item = (_id(table.ids[role], row) for role in ("user", "item"))
        return f"user {user} {verb} item {item} again (first at {table.at(first)})"

    return Flaw("duplicates", rows[pd.Series(pairs).duplicated()], describe)


def _id(column: Coded, row: int) -> str:
    return shown(column.ids[column.codes[row]])


def merge_pairs(
    table: Table, policy: str, usable: NDArray[np.bool_]
) -> tuple[Table, NDArray[np.bool_]]:
    """Return the table, and which of its usable rows represent their pairs.

    These are the first ones, or for the policy ``last`` the last. The mean or the sum of a pair's
    numbers, and its latest time, take the place of the first.
    """
    rows = np.flatnonzero(usable)
    pairs = _pairs(table, rows)
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    order = rows[order]
    firsts, sizes = order[starts], np.diff(starts, append=len(order))
    if policy in ("mean", "sum"):
        ratings = table.numbers["rating"].copy()
        ratings[firsts] = np.add.reduceat(ratings[order], starts)
        if policy == "mean":
            ratings[firsts] /= sizes
        times = {role: column.copy() for role, column in table.times.items()}
        for column in times.values():
            column[firsts] = np.maximum.reduceat(column[order], starts)
        table = replace(table, numbers={"rating": ratings}, times=times)
    kept = np.zeros(len(usable), dtype=bool)
    kept[order[starts + sizes - 1] if policy == "last" else firsts] = True
    return table, kept
