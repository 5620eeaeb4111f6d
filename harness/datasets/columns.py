"""Columns of ids, numbers and times, converted by the same rules from files and frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.errors import DataError

__all__ = [
    "NO_TIME", "SHOWN", "Coded", "Flaw", "Kind", "Table", "TableBuilder", "coded",
    "in_order_of_appearance", "is_number", "shown", "to_arrow",
]  # fmt: skip

Kind = Literal["id", "number", "time"]

SHOWN = 20
"""Faults of a file that are shown one by one; the others are counted."""

NO_TIME = np.iinfo(np.int64).min
"""Marks a row without a time."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.I)
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


class Coded(NamedTuple):
    """A column of ids, each stored once: text in `ids`, and the position of each row's id there.

    The position of a row without an id is -1.
    """

    codes: NDArray[np.int32]
    ids: NDArray[np.object_]


@dataclass(frozen=True)
class Flaw:
    """Rows with one kind of fault.

    `policy` is the key of the config with the policy for such rows, empty if they cannot be used;
    `rows` are their positions, rising; `describe` says what is wrong with one of the first `SHOWN`;
    `advice` says how a config can handle them beside the policy; `kind` is what they are called, if
    not by the policy.
    """

    policy: str
    rows: NDArray[np.int64]
    describe: Callable[[int], str]
    advice: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Table:
    """Columns that were read, by role.

    A row without a number has NaN, one without a time `NO_TIME`; times are seconds since 1970. `at`
    says where a row stands, or for -1 what was read. `flaws` are rows whose lines or values cannot
    be read.
    """

    ids: dict[str, Coded]
    numbers: dict[str, NDArray[np.float64]]
    times: dict[str, NDArray[np.int64]]
    at: Callable[[int], str]
    notes: tuple[str, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def __len__(self) -> int:
        return len(self.ids["user"].codes)

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Table:
        """Return some of the rows (positions, or a mask), with the same codes and no flaws."""
        return replace(
            self,
            ids={role: Coded(each.codes[rows], each.ids) for role, each in self.ids.items()},
            numbers={role: column[rows] for role, column in self.numbers.items()},
            times={role: column[rows] for role, column in self.times.items()},
            flaws=(),
        )


class TableBuilder:
    """Converts columns of text, with a decimal mark, or of typed values, part by part."""

    def __init__(self, kinds: Mapping[str, Kind], decimal: str = ".") -> None:
        self.kinds, self.decimal = kinds, decimal
        self.n_rows = 0
        self._parts: dict[str, list[Any]] = {role: [] for role in kinds}
        self._rows: dict[str, list[NDArray[np.int64]]] = {"": [], "unreadable": []}
        self._words: dict[str, dict[int, str]] = {"": {}, "unreadable": {}}

    def add(self, columns: Mapping[str, Any]) -> None:
        """Append rows, as one Arrow array for each column."""
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        convert = {"id": _encoded, "number": self._numbers, "time": self._times}
        for role, column in columns.items():
            self._parts[role].append(convert[self.kinds[role]](column, role))
        self.n_rows += lengths.pop()

    def mark(
        self, rows: NDArray[np.int64], describe: Callable[[int], str], policy: str = "unreadable"
    ) -> None:
        """Mark rows of the next part, which rise; `describe` is called for the first of them."""
        if len(rows):
            self._rows[policy].append(rows + self.n_rows)
            for row in rows[:SHOWN].tolist():
                self._words[policy].setdefault(row + self.n_rows, describe(row))

    def finish(self, at: Callable[[int], str], notes: Iterable[str] = ()) -> Table:
        """Return the whole table; `at` says where a row stands."""
        self.n_rows = 0  # from now on, all rows are marked
        found: dict[str, dict[str, Any]] = {"id": {}, "number": {}, "time": {}}
        said = list(notes)
        for role, parts in self._parts.items():
            kind = self.kinds[role]
            if kind == "id":
                found[kind][role] = self._whole_ids(parts, role, said)
            elif kind == "number":
                found[kind][role] = np.concatenate(parts)
            else:
                values, dates = (np.concatenate(each) for each in zip(*parts, strict=True))
                found[kind][role] = self._seconds(values, dates, role, said)
        flaws = tuple(
            Flaw(policy, np.unique(np.concatenate(rows)), self._describe(policy))
            for policy, rows in self._rows.items()
            if rows
        )
        return Table(found["id"], found["number"], found["time"], at, tuple(said), flaws)

    def _describe(self, policy: str) -> Callable[[int], str]:
        words = self._words[policy]
        return lambda row: words.get(row, "cannot be read")

    def _numbers(self, column: Any, role: str) -> NDArray[np.float64]:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _plain(column)
        if _is_text(column.type):
            if self.decimal != ".":
                column = pc.replace_substring(column, self.decimal, ".")
            try:
                values = _floats(column)
                if np.isfinite(values).all():
                    return values
            except pa.ArrowInvalid:
                pass
            return self._each_text(
                column, _parse_numbers, np.nan, f"the {role} {{}} is not a number"
            )
        if not _is_numeric(column.type):
            raise DataError(f"{role}s of type {column.type}; turn them into numbers")
        values = _floats(column)
        self.mark(np.flatnonzero(np.isinf(values)),
                  lambda row: f"the {role} {values[row]} is not finite")  # fmt: skip
        return values

    def _each_text(
        self,
        column: Any,
        parse: Callable[[Any], tuple[NDArray[Any], NDArray[np.bool_]]],
        absent: float | int,
        fault: str,
    ) -> NDArray[Any]:
        """Parse each distinct text once; mark the rows whose text is no value."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = _combined(column.dictionary_encode())
        codes = encoded.indices.fill_null(-1).to_numpy()
        texts = pc.utf8_trim(encoded.dictionary, " \t")
        given = pc.invert(pc.is_in(pc.utf8_lower(texts), pa.array(_MISSING)))
        present = np.flatnonzero(given.to_numpy(zero_copy_only=False))
        values = np.full(len(texts) + 1, absent)  # the last one is that of a null
        bad = np.zeros(len(texts) + 1, dtype=bool)
        values[present], bad[present] = parse(texts.filter(given))

        def describe(row: int) -> str:
            text = texts[codes[row]].as_py()
            comma = self.decimal == "." and re.fullmatch(r"\d+,\d+", text)
            hint = "; if that is a decimal comma, say decimal: ','" if comma else ""
            return fault.format(shown(encoded.dictionary[codes[row]])) + hint

        self.mark(np.flatnonzero(bad[codes]), describe)
        values[bad] = absent
        return np.asarray(values[codes])

    def _times(self, column: Any, role: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return times as written, whole units or seconds for dates, and which are dates."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _plain(column)
        kind = column.type
        no_dates = np.zeros(len(column), dtype=bool)
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            unit = pa.timestamp("s", tz=getattr(kind, "tz", None))
            seconds = pc.cast(pc.cast(column, unit, safe=False), pa.int64())
            return np.asarray(seconds.fill_null(NO_TIME).to_numpy()), ~no_dates
        if _is_text(kind):
            try:
                values = _floats(column)
                if np.all(np.abs(values) < 2.0**53):
                    return np.floor(values).astype(np.int64), no_dates
            except pa.ArrowInvalid:
                pass
            whole = pc.match_substring_regex(column, "^-?[0-9]{1,18}$|^[1-3][0-9]{18}$")
            if pc.all(whole, skip_nulls=False).as_py():
                return np.asarray(pc.cast(column, pa.int64()).to_numpy()), no_dates
            are_dates = pc.match_substring_regex(pc.utf8_trim(column, " \t"), _DATE)
            fault = f"the {role} {{}} is neither seconds since 1970 nor an ISO date"
            moments = self._each_text(column, _parse_times, NO_TIME, fault)
            return moments, are_dates.fill_null(False).to_numpy(zero_copy_only=False)
        if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            return np.asarray(pc.cast(column, pa.int64()).fill_null(NO_TIME).to_numpy()), no_dates
        if not _is_numeric(kind):
            raise DataError(f"{role}s of type {kind}; turn them into seconds since 1970 or dates")
        values = _floats(column)
        bad = np.abs(values) >= 2.0**62
        self.mark(np.flatnonzero(bad), lambda row: f"the {role} {values[row]:g} is not a time")
        none = bad | np.isnan(values)
        seconds = np.floor(np.where(none, 0, values)).astype(np.int64)
        return np.where(none, NO_TIME, seconds), no_dates

    def _whole_ids(self, parts: list[Any], role: str, notes: list[str]) -> Coded:
        """Return ids without surrounding blanks; mark those with control characters."""
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = _combined(pa.chunked_array(parts))
        codes = whole.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
        trimmed = pc.utf8_trim(whole.dictionary, " \t")
        odd = pc.match_substring_regex(trimmed, _CONTROL).to_numpy(zero_copy_only=False)
        if odd.any():
            self.mark(
                np.flatnonzero(np.append(odd, False)[codes]),
                lambda row: f"the {role} {shown(trimmed[codes[row]])} has a control character",
            )
        merged = trimmed.dictionary_encode()
        ids = np.asarray(merged.dictionary.to_numpy(zero_copy_only=False), dtype=object)
        table = np.append(merged.indices.to_numpy(), -1).astype(np.int32)
        n_merged = len(trimmed) - len(ids)
        if n_merged:
            notes.append(
                f"{role} ids that differ only in surrounding blanks were merged: {n_merged}"
            )
        elif "" not in ids:
            return Coded(codes, ids)
        table[:-1][ids[table[:-1]] == ""] = -1
        return Coded(table[codes], ids)

    def _seconds(
        self, values: NDArray[np.int64], dates: NDArray[np.bool_], role: str, notes: list[str]
    ) -> NDArray[np.int64]:
        """Return seconds: find the unit of numbers, and mark rows that do not fit the others."""
        known = values != NO_TIME
        dates = dates & known
        if dates.any():
            most = "dates" if 2 * np.count_nonzero(dates) >= np.count_nonzero(known) else "numbers"
            odd = known & (dates != (most == "dates"))
            self.mark(
                np.flatnonzero(odd),
                lambda row: f"the {role} is not one of the {most} as others are",
            )
            known &= ~odd
            values = np.where(known, values, NO_TIME)
            if most == "dates":
                return values
        if not known.any():
            return values
        sizes = np.abs(values[known].astype(np.float64))
        for least, per_second, unit in _UNITS:
            if sizes.min() >= least:
                notes.append(f"{role}s read as {unit}, because of their size; stored as seconds")
                return np.where(known, values // per_second, NO_TIME)
        self.mark(
            np.flatnonzero(known)[sizes >= _LAST_SECOND],
            lambda row: (
                f"the {role} {values[row]} is beyond the year 5138 in seconds, but smaller ones in "
                "the file are seconds"
            ),
        )
        return values


def coded(column: Any) -> Coded:
    """Return an Arrow column of ids, each stored once, exactly as they are."""
    whole = _combined(column)
    return Coded(whole.indices.to_numpy(), whole.dictionary.to_numpy(zero_copy_only=False))


def in_order_of_appearance(column: Coded) -> Coded:
    """Return ids numbered by first appearance, without those that no row uses.

    Examples
    --------
    >>> import numpy as np
    >>> ids = np.array(["a", "b", "c"], dtype=object)
    >>> column = in_order_of_appearance(Coded(np.array([2, 0, 2], np.int32), ids))
    >>> column.codes.tolist(), column.ids.tolist()
    ([0, 1, 0], ['c', 'a'])
    """
    import pandas as pd

    codes, order = pd.factorize(column.codes)
    return Coded(codes.astype(np.int32), column.ids[order])


def is_number(text: str) -> bool:
    """Return whether a text is a number by the rule for files.

    Examples
    --------
    >>> is_number("4.5"), is_number("1e3"), is_number("0x10"), is_number("nan"), is_number("")
    (True, True, False, False, False)
    """
    return _NUMBER.fullmatch(text.strip(" \t")) is not None


def shown(value: object) -> str:
    """Return a text in quotation marks, cut where it is long."""
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")


def to_arrow(values: Any, role: str, kind: Kind) -> Any:
    """Return a column of Python values, an array or a Series as Arrow has it."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        series: Any = pd.Series(values)
        return pa.array(series, from_pandas=True)
    except UnicodeEncodeError:
        raise DataError(f"{role}s that cannot be written as UTF-8; clean the text") from None
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        pass
    present = [None if pd.api.types.is_scalar(each) and pd.isna(each) else each for each in series]
    names = sorted({type(each).__name__ for each in present if each is not None})
    if kind == "id" and names != ["int"]:  # whole numbers beyond 64 bits become text
        raise DataError(
            f"{role} ids of several types ({', '.join(names)}); "
            "turn the column into text or whole numbers, as .astype(str)"
        )
    texts = (each if each is None or isinstance(each, str) else repr(each) for each in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


def _encoded(column: Any, role: str) -> Any:
    """Return ids of any type as a dictionary array of text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type == pa.dictionary(pa.int32(), pa.string()) and not column.null_count:
        whole = _combined(column)
        if not whole.dictionary.null_count:
            return whole  # as the reader of text makes them
    column = _plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    refused = f"{role} ids of type {column.type}; turn the column into text, as .astype(str)"
    if not (_is_numeric(column.type) or _is_text(column.type)):
        raise DataError(refused)
    whole = _combined(column.dictionary_encode())
    ids = whole.dictionary
    if pa.types.is_floating(ids.type):
        values = np.asarray(ids.to_numpy(zero_copy_only=False))
        if not (np.all(values == np.floor(values)) and np.all(np.abs(values) < 2.0**53)):
            raise DataError(f"{role} ids with fractions; turn the column into text")
        ids = pc.cast(ids, pa.int64())  # pandas makes floats of whole numbers beside a missing one
    if pa.types.is_decimal(ids.type):
        raise DataError(refused)
    return pa.DictionaryArray.from_arrays(whole.indices, pc.cast(ids, pa.string()))


def _combined(column: Any) -> Any:
    """Return a dictionary column as one array."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
    return column


def _plain(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_numeric(kind: Any) -> bool:
    """Return whether a type can be cast to floats; also that of a column without values."""
    import pyarrow.types as types

    known = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    return any(is_one(kind) for is_one in known)


def _floats(column: Any) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return np.asarray(pc.cast(column, pa.float64(), safe=False).fill_null(np.nan).to_numpy())


def _parse_numbers(texts: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers that texts are, and which are none."""
    values = np.array([_number(text) for text in texts.to_pylist()], dtype=np.float64)
    return values, ~np.isfinite(values)


def _number(text: str) -> float:
    return float(text) if is_number(text) else np.inf


def _parse_times(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return whole numbers, or dates as seconds since 1970, and which texts are neither."""
    import pandas as pd
    import pyarrow.compute as pc

    are_dates = pc.match_substring_regex(texts, _DATE)
    written = pc.replace_substring(texts.filter(are_dates), "/", "-").to_pandas()
    moments = pd.Series(pd.to_datetime(written, errors="coerce", utc=True, format="ISO8601"))
    values = np.full(len(texts), NO_TIME)
    dates = are_dates.to_numpy(zero_copy_only=False)
    values[dates] = np.where(
        moments.isna(), NO_TIME, moments.to_numpy(dtype="datetime64[s]").astype(np.int64)
    )
    values[~dates] = [_moment(text) for text in texts.filter(pc.invert(are_dates)).to_pylist()]
    return values, values == NO_TIME


def _moment(text: str) -> int:
    """Return the whole part of a number that fits 64 bits, else `NO_TIME`."""
    if text.lstrip("+-").isdecimal() and is_number(text):
        whole = int(text) if len(text) < 25 else 2**63
    else:
        value = _number(text)
        whole = int(np.floor(value)) if np.isfinite(value) else 2**63
    return whole if abs(whole) < 2**62 else NO_TIME
