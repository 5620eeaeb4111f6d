"""Columns converted by the same rules from files and frames, and what is wrong with rows.

Imports pandas and Arrow; import it where it is needed.
"""

from __future__ import annotations

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

from harness.arguments import MOST_RATING
from harness.datasets.columns import Kind
from harness.datasets.texts import DATE, NO_TIME, Mask, parse_numbers, parse_times
from harness.errors import DataError
from harness.notes import Note

SHOWN = 20
"""Faults that are shown one by one; the others are counted."""

_MISSING = ("", "na", "n/a", "nan", "null", "none", "nat", "<na>", "\\n")
_CONTROL = "[\\x00-\\x1f\\x7f]"
_UNITS = (
    (1e17, 10**9, "nanoseconds"),
    (1e14, 10**6, "microseconds"),
    (1e11, 10**3, "milliseconds"),
)
_LAST_SECOND = 1e11
"""Larger numbers (the year 5138 in seconds) are read as smaller units."""

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
    policy; `kind` is what they are called, if not by the policy; `role` is the column that cannot
    be read in the first row, if it is one.
    """

    policy: str
    rows: Rows
    describe: Callable[[int], str]
    advice: str = ""
    kind: str = ""
    role: str = ""


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
    notes: tuple[Note, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def __len__(self) -> int:
        return len(self.ids["user"].codes)

    def take(self, rows: Rows | Mask) -> Table:
        """Return some of the rows (positions, or a mask), with the same codes and no flaws."""
        return replace(
            self,
            ids={role: Coded(column.codes[rows], column.ids) for role, column in self.ids.items()},
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
    decimal: str = "",
    notes: Iterable[Note] = (),
    flaws: Iterable[Flaw] = (),
) -> Table:
    """Return columns of text or typed values (Arrow, arrays, Series, lists) as a table."""
    conversion = _Conversion(decimal, list(notes), list(flaws))
    by_row = at or (lambda row: where + f": row {row} (counted from 0)" * (row >= 0))
    table = Table({}, {}, {}, by_row)
    try:
        arrays = {role: _to_arrow(values, role, kinds[role]) for role, values in columns.items()}
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        for role, array in arrays.items():
            conversion.role = role
            if kinds[role] == "number":
                table.numbers[role] = conversion.numbers(array, role)
            elif kinds[role] == "time":
                table.times[role] = conversion.times(array, role)
            else:
                table.ids[role] = conversion.ids(array, role, kinds[role])
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return replace(table, notes=tuple(conversion.notes), flaws=_united(conversion.flaws))


def _united(flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    """Return one flaw for each policy: a row with several faults is described by the first."""

    def united(policy: str) -> Flaw:
        parts = [flaw for flaw in flaws if flaw.policy == policy]
        rows = np.unique(np.concatenate([part.rows for part in parts]))

        def of_row(row: int) -> Flaw:
            return next(part for part in parts if row in part.rows)

        role = of_row(rows[0]).role if len(rows) else ""
        return Flaw(policy, rows, lambda row: of_row(row).describe(row), role=role)

    return tuple(united(policy) for policy in dict.fromkeys(flaw.policy for flaw in flaws))


class _Conversion:
    """Converts columns, and collects notes and the rows that cannot be read."""

    def __init__(self, decimal: str, notes: list[Note], flaws: list[Flaw]) -> None:
        self.decimal, self.notes, self.flaws = decimal, notes, flaws
        self.role = ""
        """Of the column that is converted."""

    def _mark(self, wrong: Mask, describe: Callable[[int], str]) -> None:
        if wrong.any():
            rows = np.flatnonzero(wrong)
            self.flaws.append(Flaw("unreadable", rows, describe, role=self.role))

    def ids(self, column: pa.ChunkedArray, role: str, kind: Kind) -> Coded:
        """Return ids as text; an id loses surrounding blanks and may hold no control characters."""
        is_coded = pa.types.is_dictionary(column.type)
        if kind == "text" and not is_coded and not pa.types.is_nested(column.type):
            column = column.cast(pa.string())
        typed = column.type.value_type if is_coded else column.type
        if pa.types.is_decimal(typed) or not (_is_numeric(typed) or _is_text(typed)):
            subject, how = f"{role} ids", "as .astype(str)"
            if kind == "text":
                subject, how = f"the column {role!r}", "several values separated by '|'"
            raise DataError(f"{subject} of type {typed}; turn the column into text, {how}")
        if pa.types.is_null(typed):
            column = column.cast(pa.string())
        encoded = _combined(column if is_coded else column.dictionary_encode())
        codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
        ids = encoded.dictionary
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
            self.notes.append(Note("blanks-merged", {"role": role, "n": n_merged}))
        positions = merged.indices.to_numpy()
        positions = np.append(np.where(names[positions] == "", -1, positions), -1).astype(np.int32)
        return Coded(positions[codes], names)

    def numbers(self, column: pa.ChunkedArray, role: str) -> NDArray[np.float64]:
        column = _plain(column)
        if _is_text(column.type):
            with suppress(pa.ArrowInvalid):
                values = _floats(self._with_points(column))
                if np.isfinite(values).all():
                    return self._of_size(values, role)
            fault = f"the {role} {{}} is not a number"
            parse = lambda texts: parse_numbers(self._with_points(texts))  # noqa: E731
            return self._of_size(self._each_text(column, parse, np.nan, fault), role)
        if not _is_numeric(column.type):
            raise DataError(f"{role}s of type {column.type}; turn them into numbers")
        values = _floats(column)
        self._mark(np.isinf(values), lambda row: f"the {role} {values[row]} is not finite")
        return self._of_size(values, role)

    def _of_size(self, values: NDArray[np.float64], role: str) -> NDArray[np.float64]:
        """Mark ratings that are too large to be squared; of other numbers the order counts."""
        if role == "rating":
            fault = f"is too large to be squared; use a unit that gives at most {MOST_RATING:g}"
            large = np.isfinite(values) & (np.abs(values) > MOST_RATING)
            self._mark(large, lambda row: f"the rating {values[row]:.3g} {fault}")
        return values

    def _with_points(self, texts: pa.ChunkedArray) -> pa.ChunkedArray:
        return pc.replace_substring(texts, ",", ".") if self.decimal == "," else texts

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
            seconds = pc.cast(column, pa.int64()).fill_null(NO_TIME).to_numpy()
            return self._in_seconds(seconds, role)
        if not _is_numeric(kind):
            raise DataError(f"{role}s of type {kind}; turn them into seconds since 1970 or dates")
        values = _floats(column)
        bad = np.abs(values) >= 2.0**62
        self._mark(bad, lambda row: f"the {role} {values[row]:g} is not a time")
        none = bad | np.isnan(values)
        seconds = np.floor(np.where(none, 0, values)).astype(np.int64)
        return self._in_seconds(np.where(none, NO_TIME, seconds), role)

    def _times_of_text(self, column: pa.ChunkedArray, role: str) -> NDArray[np.int64]:
        with suppress(pa.ArrowInvalid):
            numbers = _floats(column)
            largest = np.abs(numbers).max(initial=0)
            if largest < 2.0**53:
                return self._in_seconds(np.floor(numbers).astype(np.int64), role)
            if largest < 2.0**62:  # more digits than a float has
                return self._in_seconds(pc.cast(column, pa.int64()).to_numpy(), role)
        fault = f"the {role} {{}} is neither seconds since 1970 nor an ISO date"
        values = self._each_text(column, parse_times, NO_TIME, fault)
        are_dates = pc.match_substring_regex(pc.utf8_trim(column, " \t"), DATE).fill_null(False)
        has_time = values != NO_TIME
        dates = np.asarray(are_dates) & has_time
        if not dates.any():
            return self._in_seconds(values, role)
        most = "dates" if 2 * np.count_nonzero(dates) >= np.count_nonzero(has_time) else "numbers"
        odd, one = has_time & (dates != (most == "dates")), "number" if most == "dates" else "date"
        self._mark(
            odd, lambda row: f"the {role} {shown(column[row])} is a {one}, others are {most}"
        )
        values = np.where(odd, NO_TIME, values)
        return values if most == "dates" else self._in_seconds(values, role)

    def _in_seconds(self, values: NDArray[np.int64], role: str) -> NDArray[np.int64]:
        has_time = values != NO_TIME
        if not has_time.any():
            return values
        sizes = np.where(has_time, np.abs(values.astype(np.float64)), np.inf)
        for least, per_second, unit in _UNITS:
            if sizes.min() >= least:
                self.notes.append(Note("time-unit", {"role": role, "unit": unit}))
                return np.where(has_time, values // per_second, NO_TIME)
        self._mark(
            has_time & (sizes >= _LAST_SECOND),
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
        is_value = pc.invert(pc.is_in(pc.utf8_lower(texts), pa.array(_MISSING)))
        parsed, wrong = parse(texts.filter(is_value))
        present = np.flatnonzero(is_value)
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
    if not every.ndim:  # as of a set, which has no order
        raise DataError(f"{role}s: a {type(values).__name__}; give a list or an array")
    present = [
        None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in every
    ]
    names = sorted({type(value).__name__ for value in present if value is not None})
    if kind == "id" and names != ["int"]:  # whole numbers beyond 64 bits become text
        raise DataError(
            f"{role} ids of several types ({', '.join(names)}); "
            "turn the column into text or whole numbers, as .astype(str)"
        )
    texts = (value if value is None or isinstance(value, str) else repr(value) for value in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


def _combined(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return a dictionary column as one array."""
    if isinstance(column, pa.ChunkedArray):
        return column.unify_dictionaries().combine_chunks()
    return column


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_numeric(kind: pa.DataType) -> bool:
    """Return whether a type can be cast to floats; also that of a column without values."""
    predicates = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    return any(is_one(kind) for is_one in predicates)


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    return np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan).to_numpy())
