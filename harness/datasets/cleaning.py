"""Columns converted by the same rules from files and frames, and policies for unusable rows.

Imports pandas and Arrow; import it where it is needed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from harness.datasets.layout import Kind, is_number
from harness.errors import DataError, counted

SHOWN = 20
"""Faults that are shown one by one; the others are counted."""

NO_TIME = np.iinfo(np.int64).min
"""Marks a row without a time."""

_MISSING = ("", "na", "n/a", "nan", "null", "none", "nat", "<na>", "\\n")
_DATE = (
    r"^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}|[0-9]{4}/[0-9]{1,2}/[0-9]{1,2})"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?( ?Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
_CONTROL = "[\\x00-\\x1f\\x7f]"
_UNITS = (
    (1e17, 10**9, "nanoseconds"),
    (1e14, 10**6, "microseconds"),
    (1e11, 10**3, "milliseconds"),
)
_LAST_SECOND = 1e11
"""Larger numbers (the year 5138 in seconds) are read as smaller units."""

_ADVICE = {
    "unreadable": "`unreadable: drop` drops",
    "missing": "`missing: drop` drops",
    "out_of_scale": "`out_of_scale: drop`, `clip` or `keep` decides about",
    "duplicates": "`duplicates: first`, `last` or `mean` decides about",
}
_UNDATED = "`timestamp: null` in `columns` keeps all rows and reads no times"
_KINDS = {
    "": "broken line",
    "unreadable": "unreadable row",
    "missing": "incomplete row",
    "timestamp": "undated row",
    "out_of_scale": "out-of-scale rating",
    "outlier": "extreme rating",
    "duplicates": "repeated pair",
}

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Number = TypeVar("Number", np.float64, np.int64)


class Coded(NamedTuple):
    """A column of ids: each id once in `ids`, and for each row its position there, -1 for none."""

    codes: NDArray[np.int32]
    ids: NDArray[np.object_]


class Flaw(NamedTuple):
    """Rows with one kind of fault.

    `policy` is the key of the config that decides about them, empty if they cannot be used; `rows`
    rise; `describe` says what is wrong with a row; `advice` is what a config can do beside the
    policy; `kind` is what they are called, if not by the policy.
    """

    policy: str
    rows: Rows
    describe: Callable[[int], str]
    advice: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Columns by role, and the rows that could not be read.

    A row without a number has NaN, one without a time `NO_TIME`; times are seconds since 1970.
    `at` says where a row is, or for -1 what was read.
    """

    ids: dict[str, Coded]
    numbers: dict[str, NDArray[np.float64]]
    times: dict[str, NDArray[np.int64]]
    at: Callable[[int], str]
    notes: tuple[str, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def __len__(self) -> int:
        return len(self.ids["user"].codes)

    def take(self, rows: Rows | Mask) -> Table:
        """Return some of the rows (positions, or a mask), with the same codes and no flaws."""
        return replace(
            self,
            ids={role: Coded(each.codes[rows], each.ids) for role, each in self.ids.items()},
            numbers={role: column[rows] for role, column in self.numbers.items()},
            times={role: column[rows] for role, column in self.times.items()},
            flaws=(),
        )


def convert(
    columns: Mapping[str, object],
    kinds: Mapping[str, Kind],
    where: str,
    at: Callable[[int], str] | None = None,
    *,
    decimal: str = ".",
    notes: Iterable[str] = (),
    flaws: Iterable[Flaw] = (),
) -> Table:
    """Return columns of text or typed values (Arrow, arrays, Series, lists) as a table."""
    found = _Conversion(decimal, list(notes), list(flaws))
    by_row = at or (lambda row: where + f": row {row} (counted from 0)" * (row >= 0))
    table = Table({}, {}, {}, by_row)
    try:
        arrays = {role: _to_arrow(values, role, kinds[role]) for role, values in columns.items()}
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        for role, array in arrays.items():
            if kinds[role] == "number":
                table.numbers[role] = found.numbers(array, role)
            elif kinds[role] == "time":
                table.times[role] = found.times(array, role)
            else:
                table.ids[role] = found.ids(array, role, kinds[role])
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return replace(table, notes=tuple(found.notes), flaws=_united(found.flaws))


def _united(flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    """Return one flaw for each policy: a row with several faults is described by the first."""

    def united(policy: str) -> Flaw:
        parts = [flaw for flaw in flaws if flaw.policy == policy]
        rows = np.unique(np.concatenate([part.rows for part in parts]))
        return Flaw(policy, rows, lambda row: next(p.describe(row) for p in parts if row in p.rows))

    return tuple(united(policy) for policy in dict.fromkeys(flaw.policy for flaw in flaws))


class _Conversion:
    """Converts columns, and collects notes and the rows that cannot be read."""

    def __init__(self, decimal: str, notes: list[str], flaws: list[Flaw]) -> None:
        self.decimal, self.notes, self.flaws = decimal, notes, flaws

    def _mark(self, wrong: Mask, describe: Callable[[int], str]) -> None:
        if wrong.any():
            self.flaws.append(Flaw("unreadable", np.flatnonzero(wrong), describe))

    def ids(self, column: pa.ChunkedArray, role: str, kind: Kind) -> Coded:
        """Return ids as text; an id loses surrounding blanks and may hold no control characters."""
        is_coded = pa.types.is_dictionary(column.type)
        if kind == "text" and not is_coded and not pa.types.is_nested(column.type):
            column = column.cast(pa.string())
        typed = column.type.value_type if is_coded else column.type
        if pa.types.is_decimal(typed) or not (_is_numeric(typed) or _is_text(typed)):
            raise DataError(
                f"{role} ids of type {typed}; turn the column into text, as .astype(str)"
            )
        if pa.types.is_null(typed):
            column = column.cast(pa.string())
        whole = _combined(column if is_coded else column.dictionary_encode())
        codes = whole.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
        ids = whole.dictionary
        if pa.types.is_floating(typed):  # pandas makes floats of whole numbers beside a missing one
            values = ids.to_numpy(zero_copy_only=False)
            if not (np.all(values == np.floor(values)) and np.all(np.abs(values) < 2.0**53)):
                raise DataError(f"{role} ids with fractions; turn the column into text")
            ids = pc.cast(ids, pa.int64())
        texts = pc.cast(ids, pa.string()).fill_null("")
        if kind == "text":
            return Coded(codes, texts.to_numpy(zero_copy_only=False))
        texts = pc.utf8_trim(texts, " \t")
        odd = pc.match_substring_regex(texts, _CONTROL).to_numpy(zero_copy_only=False)
        if odd.any():
            self._mark(
                np.append(odd, False)[codes],
                lambda row: f"the {role} {shown(texts[codes[row]])} has a control character",
            )
        merged = texts.dictionary_encode()
        names = merged.dictionary.to_numpy(zero_copy_only=False)
        if n_merged := len(texts) - len(names):
            self.notes.append(
                f"{role} ids that differ only in surrounding blanks were merged: {n_merged}"
            )
        positions = merged.indices.to_numpy()
        positions = np.append(np.where(names[positions] == "", -1, positions), -1).astype(np.int32)
        return Coded(positions[codes], names)

    def numbers(self, column: pa.ChunkedArray, role: str) -> NDArray[np.float64]:
        column = _plain(column)
        if _is_text(column.type):
            if self.decimal != ".":
                column = pc.replace_substring(column, self.decimal, ".")
            with suppress(pa.ArrowInvalid):
                values = _floats(column)
                if np.isfinite(values).all():
                    return values
            fault = f"the {role} {{}} is not a number"
            return self._each_text(column, _parse_numbers, np.nan, fault)
        if not _is_numeric(column.type):
            raise DataError(f"{role}s of type {column.type}; turn them into numbers")
        values = _floats(column)
        self._mark(np.isinf(values), lambda row: f"the {role} {values[row]} is not finite")
        return values

    def times(self, column: pa.ChunkedArray, role: str) -> NDArray[np.int64]:
        """Return seconds: of dates, or of whole numbers in the unit that their size shows."""
        column = _plain(column)
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            unit = pa.timestamp("s", tz=getattr(kind, "tz", None))
            seconds = pc.cast(pc.cast(column, unit, safe=False), pa.int64())
            return np.asarray(seconds.fill_null(NO_TIME).to_numpy())
        if _is_text(kind):
            return self._times_of_text(column, role)
        if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            whole = pc.cast(column, pa.int64()).fill_null(NO_TIME).to_numpy()
            return self._in_seconds(whole, role)
        if not _is_numeric(kind):
            raise DataError(f"{role}s of type {kind}; turn them into seconds since 1970 or dates")
        values = _floats(column)
        bad = np.abs(values) >= 2.0**62
        self._mark(bad, lambda row: f"the {role} {values[row]:g} is not a time")
        none = bad | np.isnan(values)
        whole = np.floor(np.where(none, 0, values)).astype(np.int64)
        return self._in_seconds(np.where(none, NO_TIME, whole), role)

    def _times_of_text(self, column: pa.ChunkedArray, role: str) -> NDArray[np.int64]:
        with suppress(pa.ArrowInvalid):
            numbers = _floats(column)
            largest = np.abs(numbers).max(initial=0)
            if largest < 2.0**53:
                return self._in_seconds(np.floor(numbers).astype(np.int64), role)
            if largest < 2.0**62:  # more digits than a float has
                return self._in_seconds(pc.cast(column, pa.int64()).to_numpy(), role)
        fault = f"the {role} {{}} is neither seconds since 1970 nor an ISO date"
        values = self._each_text(column, _parse_times, NO_TIME, fault)
        are_dates = pc.match_substring_regex(pc.utf8_trim(column, " \t"), _DATE).fill_null(False)
        known = values != NO_TIME
        dates = np.asarray(are_dates) & known
        if not dates.any():
            return self._in_seconds(values, role)
        most = "dates" if 2 * np.count_nonzero(dates) >= np.count_nonzero(known) else "numbers"
        odd = known & (dates != (most == "dates"))
        self._mark(odd, lambda row: f"the {role} is not one of the {most} as others are")
        values = np.where(odd, NO_TIME, values)
        return values if most == "dates" else self._in_seconds(values, role)

    def _in_seconds(self, values: NDArray[np.int64], role: str) -> NDArray[np.int64]:
        known = values != NO_TIME
        if not known.any():
            return values
        sizes = np.where(known, np.abs(values.astype(np.float64)), np.inf)
        for least, per_second, unit in _UNITS:
            if sizes.min() >= least:
                self.notes.append(
                    f"{role}s read as {unit}, because of their size; stored as seconds"
                )
                return np.where(known, values // per_second, NO_TIME)
        self._mark(
            known & (sizes >= _LAST_SECOND),
            lambda row: (
                f"the {role} {values[row]} is beyond the year 5138 in seconds, but smaller ones in "
                "the file are seconds"
            ),
        )
        return values

    def _each_text(
        self,
        column: pa.ChunkedArray,
        parse: Callable[[pa.StringArray], tuple[NDArray[Number], Mask]],
        absent: float | int,
        fault: str,
    ) -> NDArray[Number]:
        """Parse each distinct text once; mark the rows whose text has no value."""
        encoded = _combined(column.dictionary_encode())
        codes = encoded.indices.fill_null(-1).to_numpy()
        texts = pc.utf8_trim(encoded.dictionary, " \t")
        given = pc.invert(pc.is_in(pc.utf8_lower(texts), pa.array(_MISSING)))
        parsed, wrong = parse(texts.filter(given))
        present = np.flatnonzero(given)
        values = np.full(len(texts) + 1, absent, parsed.dtype)  # the last one is that of a null
        bad = np.zeros(len(texts) + 1, dtype=bool)
        values[present], bad[present] = np.where(wrong, absent, parsed), wrong

        def describe(row: int) -> str:
            comma = self.decimal == "." and re.fullmatch(r"\d+,\d+", texts[codes[row]].as_py())
            hint = "; if that is a decimal comma, say decimal: ','" if comma else ""
            return fault.format(shown(encoded.dictionary[codes[row]])) + hint

        self._mark(bad[codes], describe)
        return np.asarray(values[codes])


def shown(value: object) -> str:
    """Return a text in quotation marks, cut where it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _to_arrow(values: object, role: str, kind: Kind) -> pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(pd.Series(values), from_pandas=True)
    except UnicodeEncodeError:
        raise DataError(f"{role}s that cannot be written as UTF-8; clean the text") from None
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        pass
    every = np.asarray(values, dtype=object)
    present = [None if pd.api.types.is_scalar(each) and pd.isna(each) else each for each in every]
    names = sorted({type(each).__name__ for each in present if each is not None})
    if kind == "id" and names != ["int"]:  # whole numbers beyond 64 bits become text
        raise DataError(
            f"{role} ids of several types ({', '.join(names)}); "
            "turn the column into text or whole numbers, as .astype(str)"
        )
    texts = (each if each is None or isinstance(each, str) else repr(each) for each in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


def _combined(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary column as one array."""
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
    return column


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type can be cast to floats; also that of a column without values."""
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_one(kind) for is_one in known)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan).to_numpy())


def _number(text: str) -> float:
    return float(text) if is_number(text) else np.inf


def _parse_numbers(texts: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
    values = np.array([_number(text) for text in texts.to_pylist()], dtype=np.float64)
    return values, ~np.isfinite(values)


def _parse_times(texts: pa.StringArray) -> tuple[NDArray[np.int64], Mask]:
    """Return whole numbers, or dates as seconds since 1970, and which texts are neither."""
    dates = np.asarray(pc.match_substring_regex(texts, _DATE))
    written = pc.replace_substring(texts.filter(dates), "/", "-").to_pandas()
    moments = pd.Series(pd.to_datetime(written, errors="coerce", utc=True, format="ISO8601"))
    seconds = moments.to_numpy(dtype="datetime64[s]").astype(np.int64)
    values = np.full(len(texts), NO_TIME)
    values[dates] = np.where(moments.isna(), NO_TIME, seconds)
    values[~dates] = [_moment(text) for text in texts.filter(~dates).to_pylist()]
    return values, values == NO_TIME


def _moment(text: str) -> int:
    """Return the whole part of a number that fits 64 bits, else `NO_TIME`."""
    with suppress(OverflowError):
        is_whole = re.fullmatch("[+-]?[0-9]{1,24}", text)
        whole = int(text) if is_whole else math.floor(_number(text))
        if abs(whole) < 2**62:
            return whole
    return NO_TIME


def clean(
    table: Table,
    *,
    scale: tuple[float, float] | None = None,
    duplicates: str = "error",
    missing: str = "error",
    out_of_scale: str = "error",
    unreadable: str = "error",
) -> tuple[Table, tuple[float, float]]:
    """Apply the policies and number users and items by first appearance; return also the scale.

    Rows that cannot be read, lack a value, are outside the scale or repeat a pair are searched in
    this order; a row with two faults counts once. Notes say what was changed. One error names all
    rows with a fault whose policy is ``error``; see `DatasetSection` for the policies.
    """
    policies = {
        "duplicates": duplicates, "missing": missing, "out_of_scale": out_of_scale,
        "unreadable": unreadable,
    }  # fmt: skip
    if not len(table):
        raise DataError(f"{table.at(-1)}: no ratings; give a file that has some")
    notes: list[str] = []
    flaws = [*table.flaws, *_missing(table)]
    usable = _without(flaws, len(table))
    for key, what in {"unreadable": "that cannot be read", "missing": "without a value"}.items():
        n_lost = sum(len(flaw.rows) for flaw in flaws if flaw.policy == key)
        if n_lost and policies[key] == "drop":
            notes.append(f"{counted(n_lost, 'row')} {what} dropped")
    ratings = table.numbers["rating"]
    given = ratings[usable]
    if scale is None and len(given):
        scale = float(given.min()), float(given.max())
        notes.append("scale {:g} to {:g}, the lowest and highest rating found".format(*scale))
        if out_of_scale != "keep":
            flaws += _extreme(ratings, scale, usable)
    elif scale is not None and len(given):
        low, high = scale
        outside = usable & ((ratings < low) | (ratings > high))
        beyond = f"is outside the scale {low:g} to {high:g}"
        n_outside = int(np.count_nonzero(outside))
        flaws.append(
            Flaw(
                "out_of_scale", np.flatnonzero(outside),
                lambda row: f"the rating {ratings[row]:g} {beyond}",
            )
        )  # fmt: skip
        done = {"drop": "dropped", "clip": "clipped", "keep": "kept as they are"}
        if n_outside and out_of_scale in done:
            found = counted(n_outside, "rating")
            notes.append(f"{found} outside {low:g} to {high:g} {done[out_of_scale]}")
        if out_of_scale == "drop":
            usable &= ~outside
        if out_of_scale == "clip":
            table = replace(table, numbers={"rating": np.clip(ratings, low, high)})
    repeated = _repeated(table, usable, "rates")
    flaws.append(repeated)
    refused = [each for each in flaws if policies.get(each.policy, "error") == "error"]
    _refuse(refused, table.at, _ADVICE)
    if scale is None or not usable.any():
        left = f"no ratings are left ({'; '.join(notes)}); check the policies"
        raise DataError(f"{table.at(-1)}: {left}")
    if len(repeated.rows):
        n_pairs = len(np.unique(_pairs(table, repeated.rows)))
        notes.append(
            f"{counted(n_pairs, 'duplicate pair')}: the {duplicates} kept, "
            f"{counted(len(repeated.rows), 'row')} dropped"
        )
        table, usable = merge_pairs(table, duplicates, usable)
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


def in_order_of_appearance(column: Coded) -> Coded:
    """Return ids numbered by first appearance, without those that no row uses."""
    codes, order = pd.factorize(column.codes)
    return Coded(codes.astype(np.int32), column.ids[order])


def _without(flaws: Sequence[Flaw], n_rows: int) -> Mask:
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
    counts = [counted(len(flaw.rows), _KINDS[flaw.kind or flaw.policy]) for flaw in flaws]
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
    undated = {role: column == NO_TIME for role, column in table.times.items()}
    lacking = absent | undated
    readable = _without(table.flaws, len(table))
    incomplete = readable & np.logical_or.reduce(list(absent.values()))
    only_undated = readable & ~incomplete & np.logical_or.reduce(list(lacking.values()))

    def describe(row: int) -> str:
        return f"no {' and no '.join(role for role, rows in lacking.items() if rows[row])}"

    return [
        Flaw("missing", np.flatnonzero(incomplete), describe),
        Flaw("missing", np.flatnonzero(only_undated), describe, _UNDATED, "timestamp"),
    ]


def _extreme(ratings: NDArray[np.float64], scale: tuple[float, float], usable: Mask) -> list[Flaw]:
    """Return the few ratings that alone determine the scale."""
    rows = np.flatnonzero(usable)
    odd = outliers(ratings[rows], *scale)
    if odd is None:
        return []
    usual = ratings[rows[~odd]]
    low, high = f"{usual.min():g}", f"{usual.max():g}"
    advice = (
        f"`scale: [{scale[0]:g}, {scale[1]:g}]` confirms it; `scale: [{low}, {high}]` with "
        "`out_of_scale: drop` or `clip` removes or clips it"
    )
    far = f"is far from all others, which are {low} to {high}"
    return [Flaw("outlier", rows[odd], lambda row: f"the rating {ratings[row]:g} {far}", advice)]


def outliers(ratings: NDArray[np.float64], low: float, high: float) -> Mask | None:
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


def merge_pairs(table: Table, policy: str, usable: Mask) -> tuple[Table, Mask]:
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
