"""Policies for rows that cannot be used unchanged; one error names all rows that are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_RATING, unit_fault
from harness._util.libraries import pd
from harness.datasets.columns import Mask, shown
from harness.datasets.conversion import SHOWN, Coded, Flaw, Rows, Table
from harness.datasets.numerals import as_key, proposed
from harness.datasets.section import DatasetSection
from harness.datasets.times import NO_TIME
from harness.errors import DataError, counted
from harness.notes.note import Note

_ADVICE = {
    "unreadable": "`unreadable: drop` drops",
    "missing": "`missing: drop` drops",
    "out_of_scale": "`out_of_scale: drop`, `clip` or `keep` decides about",
    "duplicates": "`duplicates: first`, `last`, `latest` or `mean` decides about",
}
NEARLY_ALL = 0.9
"""Proportion of the rows from which a problem concerns the file as a whole."""
MOST = 0.5
"""Proportion of the rows above which they are not for dropping."""
_REPEATS = "`duplicates: count` or `sum` makes one rating of each pair, from"
_UNDATED = "`columns: {timestamp: null}` keeps all rows and reads no times"
_OTHER_TIMES = (
    "`time_format: '%d/%m/%Y %H:%M'` says how times are written, `columns: {timestamp: null}` "
    "reads none"
)
_KINDS = {
    "": "broken line",
    "unreadable": "unreadable row",
    "missing": "incomplete row",
    "timestamp": "undated row",
    "out_of_scale": "out-of-scale rating",
    "outlier": "extreme rating",
    "duplicates": "repeated pair",
}


def clean(table: Table, section: DatasetSection) -> tuple[Table, tuple[float, float]]:
    """Apply the policies and number users and items by first appearance; return also the scale.

    Rows that cannot be read, lack a value, are outside the scale or repeat a pair are searched in
    this order; a row with two problems counts once. Notes say what was changed. One error names all
    rows with a problem whose policy is ``error``; see `DatasetSection` for the policies.
    """
    scale, duplicates, out_of_scale = section.scale, section.duplicates, section.out_of_scale
    if not len(table):
        raise DataError(f"{table.at(-1)}: no ratings; give data that have some")
    notes: list[Note] = []
    flaws = [*table.flaws, *_missing(table)]
    usable = np.ones(len(table), dtype=bool)
    if flaws:
        usable = _without(flaws, len(table))
        _note_dropped(flaws, section, notes)
    ratings, not_rated = table.numbers["rating"], section.not_rated
    if not_rated is None:  # found with the layout, and said
        keys = (note.values.get("keys", {}) for note in table.notes)
        not_rated = next((key["not_rated"] for key in keys if "not_rated" in key), None)
    if not_rated:
        usable = _rated(ratings, usable, not_rated, notes)
    doubt = _doubted(ratings[usable], section, notes)
    if duplicates in ("sum", "count"):
        table, usable = _added_up(table, duplicates, usable, notes)
        ratings = table.numbers["rating"]
    usable_ratings = ratings[usable]
    if scale is None and table.scale is not None and len(usable_ratings):
        scale = _meant_scale(table.scale, usable_ratings, section, notes)
    if scale is None and len(usable_ratings):
        scale = _found_scale(usable_ratings, notes)
        odd = outliers(usable_ratings, *scale) if out_of_scale != "keep" else None
        if odd is not None:
            flaws.append(_extreme(ratings, scale, np.flatnonzero(usable), odd))
    elif scale is not None and len(usable_ratings):
        outside = _outside(ratings, scale, usable, doubt)
        flaws.append(outside)
        table, usable = _in_scale(table, scale, usable, outside, out_of_scale, notes)
    repeated = _repeated(table, usable, "rates")
    faults = [flaw for flaw in (*flaws, repeated) if len(flaw.rows)]
    if refused := [flaw for flaw in faults if getattr(section, flaw.policy, "error") == "error"]:
        _refuse(refused, table, _ADVICE, section.values or {})
    if scale is None or not usable.any():
        message = f"no ratings are left ({'; '.join(map(str, notes))}); check the policies"
        raise DataError(f"{table.at(-1)}: {message}")
    if len(repeated.rows):
        table, usable = _merged(table, duplicates, usable, repeated, notes)
    table = table if usable.all() else table.take(usable)
    if fault := unit_fault(MOST_RATING, table.numbers["rating"]):
        raise DataError(f"{table.at(-1)}: the ratings have {fault}")
    ids = {}
    for role, column in table.ids.items():  # numbered in the order in which they first appear
        codes, order = pd.factorize(column.codes)
        ids[role] = Coded(codes.astype(np.int32), column.ids[order])
    return replace(table, ids=ids, notes=(*table.notes, *notes), flaws=()), scale


def _rated(
    ratings: NDArray[np.float64], usable: Mask, not_rated: Sequence[float], notes: list[Note]
) -> Mask:
    """Return the usable rows without those that are not rated, and note how many these are."""
    unrated = usable & np.isin(ratings, not_rated)
    counts = {"n": int(np.count_nonzero(unrated)), "n_all": len(ratings)}
    notes.append(Note("not-rated-dropped", {"values": [*not_rated], **counts}))
    return usable & ~unrated


def _doubted(
    ratings: NDArray[np.float64], section: DatasetSection, notes: list[Note]
) -> Suspect | None:
    """Return the value that looks like "not rated", which a note asks about, beside those given."""
    if section.not_rated == []:
        return None
    doubt = suspect(ratings)
    if doubt is not None:
        notes.append(doubt.note(len(ratings), section.not_rated or ()))
    elif section.not_rated is None and section.scale is None:
        n_zeros = int(np.count_nonzero(ratings == 0))
        if 0 < n_zeros < len(ratings):
            _note_zeros(ratings, n_zeros, notes)
    return doubt


def _note_zeros(ratings: NDArray[np.float64], n_zeros: int, notes: list[Note]) -> None:
    """Note that zeros below a usual scale of 5 or 10 are read as ratings."""
    above = np.unique(ratings[ratings != 0])
    if above[0] >= 1 and above[-1] in (5, 10) and np.array_equal(above, np.round(2 * above) / 2):
        ends = {"low": float(above[0]), "high": float(above[-1])}
        notes.append(Note("zeros-are-ratings", {"n": n_zeros, **ends}))


def _note_dropped(flaws: Sequence[Flaw], section: DatasetSection, notes: list[Note]) -> None:
    """Note how many rows are dropped as they cannot be read or lack a value."""
    for key in ("unreadable", "missing"):
        n_lost = sum(len(flaw.rows) for flaw in flaws if flaw.policy == key)
        if n_lost and getattr(section, key) == "drop":
            notes.append(Note(f"{key}-dropped", {"n": n_lost}))
    n_unnamed = sum(len(flaw.rows) for flaw in flaws if flaw.policy == "no_id")
    if n_unnamed:
        notes.append(Note("no-id-dropped", {"texts": section.no_id or [], "n": n_unnamed}))


def _meant_scale(
    scale: tuple[float, float],
    ratings: NDArray[np.float64],
    section: DatasetSection,
    notes: list[Note],
) -> tuple[float, float] | None:
    """Return the scale that the writing of ratings shows, or None if it does not hold for all."""
    low, high = scale
    reason = "as they are written"
    if section.values:
        reason = "the lowest and highest number of `values`"
        rated = [number for number in section.values.values() if number not in
                 (section.not_rated or ())]  # fmt: skip
        low, high = (min(rated), max(rated)) if rated else scale
    if not low < high or ratings.min() < low or ratings.max() > high:
        return None
    notes.append(Note("scale-meant", {"low": low, "high": high, "reason": reason}))
    return float(low), float(high)


def _found_scale(ratings: NDArray[np.float64], notes: list[Note]) -> tuple[float, float]:
    """Return the lowest and the highest of some ratings as their scale, which a note says."""
    low, high = float(ratings.min()), float(ratings.max())
    code, rating = "scale-found", high
    if low == high:  # of no width, it would make all clipped estimates equal
        code = "scale-of-one-rating"
        low, high = (min(0.0, low), max(0.0, high)) if high else (0.0, 1.0)
    notes.append(Note(code, {"low": low, "high": high, "rating": rating}))
    return low, high


def _outside(
    ratings: NDArray[np.float64], scale: tuple[float, float], usable: Mask, doubt: Suspect | None
) -> Flaw:
    """Return the usable rows whose ratings are outside the scale."""
    low, high = scale
    beyond = f"is outside the scale {low:.16g} to {high:.16g}"
    advice = doubt.advice if doubt is not None and not low <= doubt.value <= high else ""
    rows = np.flatnonzero(usable & ((ratings < low) | (ratings > high)))
    return Flaw(
        "out_of_scale", rows, lambda row: f"the rating {ratings[row]:.16g} {beyond}", advice
    )


def _in_scale(
    table: Table,
    scale: tuple[float, float],
    usable: Mask,
    outside: Flaw,
    policy: str,
    notes: list[Note],
) -> tuple[Table, Mask]:
    """Drop, clip or keep ratings outside the scale, and note how many they are."""
    low, high = scale
    verbs = {"drop": "dropped", "clip": "clipped", "keep": "kept"}
    if policy in verbs and len(outside.rows):
        values = {"n": len(outside.rows), "low": low, "high": high}
        notes.append(Note(f"outside-scale-{verbs[policy]}", values))
    if policy == "drop":
        usable[outside.rows] = False
    if policy == "clip":
        clipped = np.clip(table.numbers["rating"], low, high)
        table = replace(table, numbers={"rating": clipped})
    return table, usable


def drop_missing(table: Table) -> Table:
    """Return a table without the rows that lack a value; a note counts them."""
    complete = _without(_missing(table)[:1], len(table))
    if complete.all():
        return table
    if not complete.any():
        raise DataError(f"{table.at(-1)}: every row lacks a value; give a file that has some")
    notes = (*table.notes, Note("missing-dropped", {"n": int(np.count_nonzero(~complete))}))
    rows, positions = np.flatnonzero(complete), np.cumsum(complete) - 1
    at = table.at

    def moved(flaw: Flaw) -> Flaw:  # of rows that cannot be read, which are not said to lack values
        return flaw._replace(
            rows=positions[flaw.rows], describe=lambda row: flaw.describe(int(rows[row]))
        )

    return replace(
        table.take(complete),
        at=lambda row: at(int(rows[row]) if row >= 0 else row),
        flaws=tuple(map(moved, table.flaws)),
        notes=notes,
    )


def refuse_faults(table: Table, advice: Mapping[str, str] = MappingProxyType({})) -> None:
    """Refuse a table with rows that cannot be read, lack a value or repeat a pair: all at once.

    `advice` says by policy what else can be done.
    """
    flaws = [*table.flaws, *_missing(table)]
    if "item" in table.ids:
        flaws.append(_repeated(table, _without(flaws, len(table)), "has"))
    if faults := [flaw for flaw in flaws if len(flaw.rows)]:
        _refuse(faults, table, advice)


def _without(flaws: Sequence[Flaw], n_rows: int) -> Mask:
    """Return which rows have none of these problems."""
    sound = np.ones(n_rows, dtype=bool)
    for flaw in flaws:
        sound[flaw.rows] = False
    return sound


def _refuse(
    flaws: Sequence[Flaw],
    table: Table,
    advice: Mapping[str, str],
    values: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Raise for all rows with problems, at least one; `advice` says what else can be done.

    A problem of nearly all rows is reported once, and nearly all rows are not for dropping.
    """
    at, nearly_all = table.at, NEARLY_ALL * len(table)
    total = sum(len(flaw.rows) for flaw in flaws)
    n_lost = sum(len(flaw.rows) for flaw in flaws if flaw.policy in ("unreadable", "missing"))
    once = [len(flaw.rows) > nearly_all and _are_alike(flaw) for flaw in flaws]
    # The first of each kind: one extreme rating must be seen among a thousand rows without a time.
    in_turn = sorted(
        (n, row, kind)
        for kind, flaw in enumerate(flaws)
        for n, row in enumerate(flaw.rows[: 1 if once[kind] else SHOWN].tolist())
    )[:SHOWN]
    first = sorted((row, kind) for _, row, kind in in_turn)
    lines = [f"{at(row)}: {flaws[kind].describe(row)}" for row, kind in first]
    counts = [counted(len(flaw.rows), _KINDS[flaw.kind or flaw.policy]) for flaw in flaws]
    ways: list[str] = []
    for flaw, count in zip(flaws, counts, strict=True):
        does = advice.get(flaw.policy, "")
        if flaw.policy == "duplicates" and len(flaw.rows) > MOST * len(table):
            does = _REPEATS
        if does and not (n_lost > MOST * len(table) > 1 and "drops" in does):
            ways.append(f"{does} {'it' if total == 1 else count}")
        if flaw.advice or (any(once) and flaw.role == "timestamp"):
            ways.append(flaw.advice or _OTHER_TIMES)
        if flaw.policy == "unreadable" and table.words and flaw.policy in advice:
            ways.append(_numbers_of_words(table.words, values))
    if total == 1:
        do = ", or ".join(["fix the data", *ways])
        raise DataError(f"{lines[0]}; {do}" if flaws[0].policy or ways else lines[0])
    extent = "the first" if any(once) else f"the first {SHOWN}"
    extent = "the first of each kind" if len(flaws) > 1 else extent
    more = f" in {len(table):,} rows" * any(once) + f", {extent} above" * (total > len(lines))
    kinds = ", ".join(counts)
    lines.append(
        f"{at(-1)}: {total:,} problems{more} ({kinds}); fix the data" + ", or:" * bool(ways)
    )
    raise DataError("\n".join([*lines, *(f"  {way}" for way in ways)]))


def _numbers_of_words(words: Sequence[str], values: Mapping[str, float]) -> str:
    """Return the key of a config that reads words as ratings."""
    numbers = proposed(words)
    key = as_key({**values, **numbers})
    if None in numbers.values():
        return f"`{key}` with a number for each reads these words as ratings"
    return f"`{key}` reads these words as ratings; change the numbers as you like"


def _are_alike(flaw: Flaw) -> bool:
    """Return whether the first rows of a problem differ in nothing but their values."""
    descriptions = (flaw.describe(row) for row in flaw.rows[:SHOWN].tolist())
    return len({re.sub(r"'.*'|[-+.,\d]+", "", text) for text in descriptions}) == 1


def _missing(table: Table) -> list[Flaw]:
    """Return the rows without an id or a number, and those that only lack a timestamp."""
    lacking = {role: column.codes < 0 for role, column in table.ids.items()}
    lacking |= {role: np.isnan(column) for role, column in table.numbers.items()}
    lacking |= {role: column == NO_TIME for role, column in table.times.items()}
    if not any(rows.any() for rows in lacking.values()):
        return []
    readable = _without(table.flaws, len(table))
    of_values = [rows for role, rows in lacking.items() if role not in table.times]
    incomplete = readable & np.logical_or.reduce(of_values)
    only_undated = readable & ~incomplete & np.logical_or.reduce(list(lacking.values()))

    def describe(row: int) -> str:
        return f"no {' and no '.join(role for role, rows in lacking.items() if rows[row])}"

    return [
        Flaw("missing", np.flatnonzero(incomplete), describe),
        Flaw("missing", np.flatnonzero(only_undated), describe, _UNDATED, "timestamp"),
    ]


def _extreme(
    ratings: NDArray[np.float64], scale: tuple[float, float], rows: Rows, odd: Mask
) -> Flaw:
    """Return the problem of the few odd ratings of some rows that determine the scale."""
    usual = ratings[rows[~odd]]
    low, high = f"{usual.min():.16g}", f"{usual.max():.16g}"
    advice = (
        f"`scale: [{scale[0]:.16g}, {scale[1]:.16g}]` confirms it; `scale: [{low}, {high}]` with "
        "`out_of_scale: drop` or `clip` removes or clips it"
    )
    odd_ratings = np.unique(ratings[rows[odd]])
    if len(odd_ratings) == 1:
        drops = f'`not_rated: [{odd_ratings[0]:.16g}]` drops it if it means "not rated"'
        advice = f"{drops}; {advice}"
    far = f"is far from all others, which are {low} to {high}"
    return Flaw("outlier", rows[odd], lambda row: f"the rating {ratings[row]:.16g} {far}", advice)


def outliers(ratings: NDArray[np.float64], low: float, high: float) -> Mask | None:
    """Return which ratings are so far from all others that only they determine the scale.

    At most one in a thousand (or a single one) may lie beyond the middle of the scale, on either
    side, while the others spread over their own range, as counts with a long tail do not.
    """
    if len(ratings) < 20:
        return None
    few, middle = max(1, len(ratings) // 1000), (low + high) / 2
    for odd in (ratings > middle, ratings < middle):
        if not 0 < np.count_nonzero(odd) <= few:
            continue
        rest = ratings[~odd]
        spread = float(rest.max() - rest.min())
        edge = rest.min() if ratings[odd][0] > middle else rest.max()
        if 0 < 2 * spread < high - low and abs(float(rest.mean()) - edge) >= spread / 10:
            return np.asarray(odd)
    return None


def _pairs(table: Table, rows: Rows) -> NDArray[np.int64]:
    """Return the pair of user and item of each row as one number."""
    users, items = table.ids["user"], table.ids["item"]
    return users.codes[rows].astype(np.int64) * len(items.ids) + items.codes[rows]


def _repeated(table: Table, usable: Mask, verb: str) -> Flaw:
    """Return the usable rows whose pair is in an earlier one."""
    rows = np.flatnonzero(usable)
    pairs = _pairs(table, rows)

    def describe(row: int) -> str:
        first = int(rows[np.argmax(pairs == pairs[np.searchsorted(rows, row)])])
        user, item = (shown(column.ids[column.codes[row]]) for column in
                      (table.ids["user"], table.ids["item"]))  # fmt: skip
        return f"user {user} {verb} item {item} again (first at {table.at(first)})"

    return Flaw("duplicates", rows[pd.Series(pairs).duplicated()], describe)


def _added_up(table: Table, policy: str, usable: Mask, notes: list[Note]) -> tuple[Table, Mask]:
    """Merge repeated pairs by a policy whose values decide the scale: sums and counts."""
    if policy == "count":
        ones = np.where(usable, 1.0, table.numbers["rating"])
        table = replace(table, numbers={"rating": ones})
    repeated = _repeated(table, usable, "rates")
    if not len(repeated.rows):
        return table, usable
    return _merged(table, policy, usable, repeated, notes)


def _merged(
    table: Table, policy: str, usable: Mask, repeated: Flaw, notes: list[Note]
) -> tuple[Table, Mask]:
    """Merge the rows of repeated pairs, of which there are some, and note how many they are."""
    n_pairs = len(np.unique(_pairs(table, repeated.rows)))
    merged = {"n_pairs": n_pairs, "policy": policy, "n_rows": len(repeated.rows)}
    notes.append(Note("duplicates-merged", merged))
    if policy == "latest":
        if "timestamp" not in table.times:
            raise DataError(
                f"{table.at(-1)}: no timestamps, by which `duplicates: latest` decides; use first, "
                "last, mean, sum or count"
            )
        if n_alike := _n_at_one_time(table, usable):
            notes.append(Note("duplicates-at-one-time", {"n": n_alike}))
    return merge_pairs(table, "sum" if policy == "count" else policy, usable)


def _n_at_one_time(table: Table, usable: Mask) -> int:
    """Return how many pairs have several ratings at their latest time."""
    times = table.times["timestamp"][usable]
    rows = pd.DataFrame({"pair": _pairs(table, np.flatnonzero(usable)), "time": times})
    rows["rating"] = table.numbers["rating"][usable]
    latest = rows[rows["time"] == rows.groupby("pair")["time"].transform("max")]
    return int((latest.groupby("pair")["rating"].nunique() > 1).sum())


def merge_pairs(table: Table, policy: str, usable: Mask) -> tuple[Table, Mask]:
    """Return the table, and which of its usable rows represent their pairs.

    These are the first ones, or for the policies ``last`` and ``latest`` the last and the latest,
    of equal times the last. The mean or the sum of a pair's numbers, and its latest time, take the
    place of the first.
    """
    rows = np.flatnonzero(usable)
    pairs = _pairs(table, rows)
    if policy == "latest":
        order = np.lexsort((table.times["timestamp"][rows], pairs))
    else:
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
    is_first = np.zeros(len(usable), dtype=bool)
    is_first[order[starts + sizes - 1] if policy in ("last", "latest") else firsts] = True
    return table, is_first


LEAST_RATINGS = 20
"""Fewer ratings show no scale."""
MOST_VALUES = 101
"""More distinct ratings are measured or counted, not chosen from a scale."""
LEAST_OTHERS = 3
"""Distinct other ratings that make a scale; -1 and 1 beside 0 are dislike and like."""
LEAST_SHARE = 0.01
"""Zeros, or values far from all others, in fewer ratings than this proportion are odd ratings."""
MARKS = frozenset(
    [*(float("9" * n) for n in range(1, 10)), *(float(2**n - 1) for n in (7, 8, 15, 16, 31, 32))]
    + [float(2**n) for n in (7, 15, 31)]
)
"""Numbers that are written for a missing one, above the scale or, with a minus, below it."""


class Suspect(NamedTuple):
    """A value that may stand for "not rated", how many ratings have it, and what is odd in it."""

    value: float
    n: int
    reason: str

    @property
    def advice(self) -> str:
        """What removes its rows."""
        return f"`not_rated: [{self.value:.16g}]` drops {self.n:,} of them"

    def note(self, n_all: int, given: Sequence[float]) -> Note:
        """Return the note that asks what the value means, beside those `given`."""
        key = ", ".join(f"{value:.16g}" for value in (*given, self.value))
        values = {"value": f"{self.value:.16g}", "key": key, "reason": self.reason}
        return Note(
            "maybe-not-rated",
            {**values, "n": self.n, "n_all": n_all, "share": self.n / n_all},
        )


def suspect(ratings: NDArray[np.float64]) -> Suspect | None:
    """Return the value that looks like a mark for "not rated", or None.

    It is the only negative one beside a scale from 0 or more; 0 where the scale has a gap above it
    or where it is at least twice as frequent as the lowest rating above it; or a value that is
    farther from all others than these reach, as 99, 255 or -999, or that is above a whole scale, as
    9 above 1 to 5.

    Parameters
    ----------
    ratings : ndarray of float, shape (n,)
        Finite.

    Examples
    --------
    >>> suspect(np.array([-1.0, 7, 8, 9, 10] * 8))
    Suspect(value=-1.0, n=8, reason='the only negative one beside 7 to 10')
    >>> suspect(np.array([0.0, 0, 0, 0, 1, 2, 3, 4, 5] * 4)).value
    0.0
    >>> suspect(np.array([0.0, 1, 2, 3, 4] * 8)) is None
    True
    """
    if len(ratings) < LEAST_RATINGS:
        return None
    values, counts = np.unique(ratings, return_counts=True)
    if len(values) <= LEAST_OTHERS:
        return None
    doubt = _far(values, counts)
    if doubt is None and len(values) <= MOST_VALUES:
        doubt = _lowest(values, counts)
    return doubt if doubt is not None and doubt.n > 1 else None


def _far(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Suspect | None:
    """Return the largest or the smallest value if it is outside the scale of the others.

    It is farther from them than they reach; or it is 9 or at least three steps above a whole scale,
    as 8 and 9 are in surveys. Counts with a long tail have such values too: they are none.
    """
    for place, nearest, others in ((-1, -2, slice(None, -1)), (0, 1, slice(1, None))):
        value, rest = float(values[place]), values[others]
        if value == 9 and rest[-1] == 8:  # two marks of surveys, asked about one after the other
            nearest, others, rest = -3, slice(None, -2), rest[:-1]
        if (place == -1) != (value > 0) or (place == 0 and rest[0] >= 0):
            continue
        span, gap = float(rest[-1] - rest[0]), abs(value - float(values[nearest]))
        usual = float(np.average(rest, weights=counts[others]))
        is_mark = abs(value) in MARKS
        if gap > span and (is_mark or _is_scale(rest, usual)):
            return _suspect(value, counts[place], "far from the others, {}", rest)
        steps = np.diff(rest)
        is_whole = bool(np.all(steps == 1)) and _is_scale(rest, usual)
        if is_whole and gap >= (2 if value == 9 else 3):
            return _suspect(value, counts[place], "with none between it and {}", rest)
    return None


def _is_scale(values: NDArray[np.float64], mean: float) -> bool:
    """Return whether values are chosen from a scale rather than counts with a long tail."""
    return len(values) <= MOST_VALUES and mean - values[0] >= (values[-1] - values[0]) / 4


def _lowest(values: NDArray[np.float64], counts: NDArray[np.int64]) -> Suspect | None:
    lowest, rest = float(values[0]), values[1:]
    if lowest < 0 <= rest[0]:
        return _suspect(lowest, counts[0], "the only negative one beside {}", rest)
    if lowest:
        return None
    step = float(np.diff(rest).min())
    if rest[0] > 1.5 * step and rest[0] > 1:
        return _suspect(lowest, counts[0], "with none between it and {}", rest)
    stands_out = counts[0] >= 2 * counts[1] and counts[0] >= LEAST_SHARE * counts.sum()
    if stands_out and np.array_equal(rest, np.round(2 * rest) / 2):
        times = f"{counts[0] / counts[1]:.1f} times as frequent as {rest[0]:.16g}, beside {{}}"
        return _suspect(lowest, counts[0], times, rest)
    return None


def _suspect(value: float, n: np.int64, reason: str, rest: NDArray[np.float64]) -> Suspect:
    return Suspect(value, int(n), reason.format(f"{rest[0]:.16g} to {rest[-1]:.16g}"))
