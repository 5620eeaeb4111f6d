"""Policies for rows that cannot be used unchanged: none is dropped silently."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.datasets.columns import Table
from harness.datasets.rows import NO_TIME, SHOWN, Coded, Flaw, Rows, in_order_of_appearance
from harness.errors import DataError, counted

__all__ = ["Clean", "Policy", "clean", "outliers", "refuse_faults"]

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


class Clean(NamedTuple):
    """Usable rows, their scale, and notes on what was changed."""

    rows: Rows
    scale: tuple[float, float]
    notes: tuple[str, ...]


def clean(rows: Rows, policy: Policy, at: Callable[[int], str]) -> Clean:
    """Apply the policies and number users and items by first appearance.

    Parameters
    ----------
    rows : Rows
        As read.
    policy : Policy
        Policy for rows that cannot be read, lack a value, are outside the scale or repeat a pair.
        They are searched in this order; a row with two faults counts once.
    at : callable
        From a row's position, from 0, to where it stands, as ``ratings.csv:17``.

    Raises
    ------
    DataError
        If there are no rows, before or after; or for all rows with a fault whose policy is
        ``error``.
    """
    if not len(rows):
        raise DataError(f"{at(-1)}: no ratings; give a file that has some")
    notes: list[str] = []
    flaws = [*rows.flaws, *_missing(rows)]
    usable = np.ones(len(rows), dtype=bool)
    for flaw in flaws:
        usable[flaw.rows] = False
    dropped = {"unreadable": "that cannot be read", "missing": "without a value"}
    lost = {key: sum(len(flaw.rows) for flaw in flaws if flaw.policy == key) for key in dropped}
    notes += [
        f"{counted(n, 'row')} {dropped[key]} dropped"
        for key, n in lost.items()
        if n and getattr(policy, key) == "drop"
    ]
    scale, outside = _scale(rows, policy, usable, notes)
    flaws += outside
    if policy.out_of_scale == "drop":
        for flaw in outside:
            usable[flaw.rows] = False
    pairs = _repeated_pairs(rows, usable)
    if pairs is not None:
        flaws.append(_repeated(rows, *pairs, at))
    _refuse(
        [flaw for flaw in flaws if getattr(policy, flaw.policy, "error") == "error"], at, ADVICE
    )
    if scale is None or not usable.any():
        raise DataError(f"{at(-1)}: no ratings are left ({'; '.join(notes)}); check the policies")
    if policy.out_of_scale == "clip" and policy.scale is not None:
        rows = replace(rows, ratings=np.clip(rows.ratings, *scale))
    if pairs is not None:
        rows, usable = _single(rows, policy, *pairs, notes)
    rows = replace(rows, flaws=()) if usable.all() else rows.take(usable)
    users, items = in_order_of_appearance(rows.users), in_order_of_appearance(rows.items)
    return Clean(replace(rows, users=users, items=items), scale, tuple(notes))


def refuse_faults(table: Table, names: Mapping[str, str] | None = None) -> None:
    """Refuse a table with rows that cannot be read, lack a value or repeat a pair: all at once.

    Parameters
    ----------
    table : Table
        Of any columns.
    names : mapping of str to str, optional
        Names of columns in messages, if they are not the roles.

    Raises
    ------
    DataError
        If there is a row with a fault.
    """
    flaws = table.flaws(names or {})
    if "item" in table.ids:
        users, items = table.ids["user"], table.ids["item"]
        rows = Rows(users, items, np.zeros(len(users.codes)))
        usable = np.ones(len(rows), dtype=bool)
        for flaw in flaws:
            usable[flaw.rows] = False
        pairs = _repeated_pairs(rows, usable)
        if pairs is not None:
            flaws = (*flaws, _repeated(rows, *pairs, table.at, "has"))
    _refuse(flaws, table.at)


def _refuse(
    flaws: Sequence[Flaw], at: Callable[[int], str], advice: dict[str, str] | None = None
) -> None:
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
    known = advice or {}
    counts = [counted(len(flaw.rows), KINDS[flaw.kind or flaw.policy]) for flaw in flaws]
    ways: list[str] = []
    for flaw, count in zip(flaws, counts, strict=True):
        if flaw.policy in known:
            ways.append(f"{known[flaw.policy]} {'it' if total == 1 else count}")
        if flaw.advice:
            ways.append(flaw.advice)
    if total == 1:
        do = ["fix the data"] if flaws[0].policy else []
        raise DataError("; ".join([lines[0], ", or ".join([*do, *ways])]) if do else lines[0])
    shown = "the first of each kind" if len(flaws) > 1 else f"the first {SHOWN}"
    more = f", {shown} above" if total > SHOWN else ""
    what = ", ".join(counts)
    lines.append(f"{at(-1)}: {total:,} faults{more} ({what}); fix the data" + ", or:" * bool(ways))
    raise DataError("\n".join([*lines, *(f"  {way}" for way in ways)]))


def _missing(rows: Rows) -> list[Flaw]:
    """Return the rows without user, item or rating, and those that only lack a timestamp."""
    absent = {
        "user": rows.users.codes < 0,
        "item": rows.items.codes < 0,
        "rating": ~np.isfinite(rows.ratings),
    }
    bad = np.logical_or.reduce(list(absent.values()))
    undated = np.zeros(len(rows), dtype=bool)
    if rows.timestamps is not None:
        absent["timestamp"] = rows.timestamps == NO_TIME
        undated = absent["timestamp"] & ~bad
    for flaw in rows.flaws:
        bad[flaw.rows] = undated[flaw.rows] = False

    def describe(row: int) -> str:
        return f"no {' and no '.join(what for what, rows in absent.items() if rows[row])}"

    return [
        Flaw("missing", np.flatnonzero(bad), describe),
        Flaw("missing", np.flatnonzero(undated), describe, UNDATED, "timestamp"),
    ]


def _scale(
    rows: Rows, policy: Policy, usable: NDArray[np.bool_], notes: list[str]
) -> tuple[tuple[float, float] | None, list[Flaw]]:
    """Return the scale and the ratings outside it; note what is done to them."""
    ratings = rows.ratings if usable.all() else rows.ratings[usable]
    if not len(ratings):
        return policy.scale, []
    low, high = policy.scale or (float(ratings.min()), float(ratings.max()))
    if policy.scale is None:
        notes.append(f"scale {low:g} to {high:g}, the lowest and highest rating found")
        odd = None if policy.out_of_scale == "keep" else outliers(ratings, low, high)
        if odd is None:
            return (low, high), []
        rest = ratings[~odd]
        inner = float(rest.min()), float(rest.max())

        def alone(row: int) -> str:
            return (
                f"the rating {rows.ratings[row]:g} is far from all others, which are "
                f"{inner[0]:g} to {inner[1]:g}"
            )

        advice = (
            f"`scale: [{low:g}, {high:g}]` confirms it; `scale: [{inner[0]:g}, {inner[1]:g}]` with "
            "`out_of_scale: drop` or `clip` removes or clips it"
        )
        return (low, high), [Flaw("outlier", np.flatnonzero(usable)[odd], alone, advice)]
    outside = (ratings < low) | (ratings > high)
    if not outside.any():
        return policy.scale, []
    bad = np.flatnonzero(usable)[outside]
    done = {"drop": "dropped", "clip": "clipped", "keep": "kept as they are"}
    if policy.out_of_scale in done:
        found = counted(len(bad), "rating")
        notes.append(f"{found} outside {low:g} to {high:g} {done[policy.out_of_scale]}")

    def describe(row: int) -> str:
        return f"the rating {rows.ratings[row]:g} is outside the scale {low:g} to {high:g}"

    return policy.scale, [Flaw("out_of_scale", bad, describe)]


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


def _repeated_pairs(
    rows: Rows, usable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return the usable rows, those of a pair together, and where each pair starts.

    None if no pair occurs twice.
    """
    pairs = rows.users.codes.astype(np.int64) * len(rows.items.ids) + rows.items.codes
    everything = bool(usable.all())
    pairs = pairs if everything else pairs[usable]
    in_order = np.sort(pairs)
    if not np.any(in_order[1:] == in_order[:-1]):
        return None
    del in_order
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    return order if everything else np.flatnonzero(usable)[order], starts


def _repeated(
    rows: Rows,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    at: Callable[[int], str],
    verb: str = "rates",
) -> Flaw:
    """Return the rows that rate a pair again."""
    first = np.zeros(len(order), dtype=bool)
    first[starts] = True
    again = np.flatnonzero(~first)
    origin = order[starts][np.cumsum(first) - 1]
    by_row = np.argsort(order[again])
    again = again[by_row]

    def describe(row: int) -> str:
        place = int(again[np.searchsorted(order[again], row)])
        user, item = _shown(rows.users, row), _shown(rows.items, row)
        return f"user {user} {verb} item {item} again (first at {at(int(origin[place]))})"

    return Flaw("duplicates", order[again], describe)


def _single(
    rows: Rows,
    policy: Policy,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    notes: list[str],
) -> tuple[Rows, NDArray[np.bool_]]:
    """Return rows, and which of them represent their pairs."""
    sizes = np.diff(starts, append=len(order))
    notes.append(
        f"{counted(int(np.count_nonzero(sizes > 1)), 'duplicate pair')}: the {policy.duplicates} "
        f"kept, {counted(len(order) - len(starts), 'row')} dropped"
    )
    if policy.duplicates == "mean":
        rows = _merged(rows, order, starts, sizes)
    kept = np.zeros(len(rows), dtype=bool)
    kept[order[starts + sizes - 1] if policy.duplicates == "last" else order[starts]] = True
    return rows, kept


def _merged(
    rows: Rows, order: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Rows:
    """Return the rows with each pair's mean and latest timestamp at the place of its first."""
    firsts = order[starts]
    ratings = rows.ratings.copy()
    ratings[firsts] = np.add.reduceat(rows.ratings[order], starts) / sizes
    timestamps = rows.timestamps
    if timestamps is not None:
        timestamps = timestamps.copy()
        timestamps[firsts] = np.maximum.reduceat(timestamps[order], starts)
    return replace(rows, ratings=ratings, timestamps=timestamps)


def _shown(column: Coded, row: int) -> str:
    text = str(column.ids[column.codes[row]])
    return repr(text if len(text) <= 40 else text[:40] + "…")
