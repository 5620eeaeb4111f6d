"""Columns of ids, numbers and times, converted by the same rules from files and frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness.datasets.rows import NO_TIME, SHOWN, Coded, Flaw, Rows
from harness.errors import DataError

__all__ = [
    "Kind", "Marks", "Table", "TableBuilder", "encode", "is_number", "numbered", "to_arrow",
]  # fmt: skip

Kind = Literal["id", "number", "time"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.I)
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "nat", "<na>", "\\n"})
_DATE = re.compile(
    r"\d{4}([-/])\d\d?\1\d\d?([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?( ?Z|[+-]\d\d:?\d\d)?", re.ASCII
)
_PLAIN_DATE = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?$"
)
_CONTROL = "[\\x00-\\x1f\\x7f]"
_UNITS = (
    (1e17, 10**9, "nanoseconds"),
    (1e14, 10**6, "microseconds"),
    (1e11, 10**3, "milliseconds"),
)
_LAST_SECOND = 1e11
"""Larger numbers (the year 5138 in seconds) are read as smaller units."""


@dataclass
class Marks:
    """Rows that were marked while a source was read: all positions, and the first described."""

    rows: list[NDArray[np.int64]] = field(default_factory=list)
    words: dict[int, str] = field(default_factory=dict)

    def add(self, rows: NDArray[np.int64], describe: Callable[[int], str]) -> None:
        """Mark rows, which rise; `describe` is called for some of the positions."""
        if len(rows):
            self.rows.append(rows)
            for row in rows[:SHOWN].tolist():
                self.words.setdefault(row, describe(row))

    def flaw(self, policy: str) -> Flaw:
        """Return what was marked."""
        rows = np.unique(np.concatenate([np.zeros(0, np.int64), *self.rows]))
        return Flaw(policy, rows, lambda row: self.words.get(row, "cannot be read"))


_NONE = Flaw("", np.zeros(0, np.int64), str)


@dataclass(frozen=True)
class Table:
    """Columns that were read, by role, and the location of each row.

    Attributes
    ----------
    ids : dict of str to Coded
    numbers : dict of str to ndarray of float64
        NaN where there is none.
    times : dict of str to ndarray of int64
        Seconds since 1970; `NO_TIME` where there is none.
    at : callable
        From a row's position, from 0, to where it stands; from -1 to the source.
    notes : tuple of str
    unreadable, broken : Flaw
        Rows whose values, or lines, cannot be read; and those that no policy can leave out.
    """

    ids: dict[str, Coded]
    numbers: dict[str, NDArray[np.float64]]
    times: dict[str, NDArray[np.int64]]
    at: Callable[[int], str]
    notes: tuple[str, ...] = ()
    unreadable: Flaw = _NONE
    broken: Flaw = _NONE

    def flaws(self, names: Mapping[str, str]) -> tuple[Flaw, ...]:
        """Return the rows that cannot be read, and those without a value in a column.

        Parameters
        ----------
        names : mapping of str to str
            Names of columns in messages, if they are not the roles.
        """
        absent = {role: column.codes < 0 for role, column in self.ids.items()}
        absent |= {role: np.isnan(column) for role, column in self.numbers.items()}
        known = np.concatenate([self.unreadable.rows, self.broken.rows])
        rows = np.setdiff1d(np.flatnonzero(np.any(list(absent.values()), axis=0)), known)

        def describe(row: int) -> str:
            return "no " + " and no ".join(
                names.get(role, role) for role in absent if absent[role][row]
            )

        return self.broken, self.unreadable, Flaw("missing", rows, describe)

    def rows(self) -> Rows:
        """Return the columns of ratings."""
        return Rows(
            self.ids["user"],
            self.ids["item"],
            self.numbers["rating"],
            self.times.get("timestamp"),
            (self.broken, self.unreadable),
        )


class TableBuilder:
    """Converts columns of text, or of typed values, part by part.

    Parameters
    ----------
    kinds : mapping of str to {"id", "number", "time"}
        What each column holds.
    decimal : str
        The decimal mark of numbers in text.
    """

    def __init__(self, kinds: Mapping[str, Kind], decimal: str = ".") -> None:
        self.kinds, self.decimal = kinds, decimal
        self.n_rows = 0
        self.unreadable, self.broken = Marks(), Marks()
        self._parts: dict[str, list[Any]] = {role: [] for role in kinds}
        self._dates: dict[str, list[tuple[int, NDArray[np.bool_]]]] = {role: [] for role in kinds}

    def add(self, columns: Mapping[str, Any]) -> None:
        """Append rows, as one Arrow array for each column."""
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        for role, column in columns.items():
            if self.kinds[role] == "id":
                part = _encoded(column, role)
            elif self.kinds[role] == "number":
                part = self._numbers(column, role)
            else:
                part = self._times(column, role)
            self._parts[role].append(part)
        self.n_rows += lengths.pop()

    def finish(self, at: Callable[[int], str], notes: Iterable[str] = ()) -> Table:
        """Return the whole table; `at` says where a row stands."""
        ids, numbers, times, said = {}, {}, {}, list(notes)
        for role, parts in self._parts.items():
            if self.kinds[role] == "id":
                ids[role] = self._finished_ids(parts, role, said)
            elif self.kinds[role] == "number":
                numbers[role] = np.concatenate(parts)
            else:
                times[role] = self._finished_times(np.concatenate(parts), role, said)
        unreadable, broken = self.unreadable.flaw("unreadable"), self.broken.flaw("")
        return Table(ids, numbers, times, at, tuple(said), unreadable, broken)

    def _numbers(self, column: Any, role: str) -> NDArray[np.float64]:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _plain(column)
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            if self.decimal != ".":
                column = pc.replace_substring(column, self.decimal, ".")
            try:
                values = _to_numpy(pc.cast(column, pa.float64()))
                if np.isfinite(values).all():
                    return values
            except pa.ArrowInvalid:
                pass
            return self._each_text(column, _number, np.nan, f"the {role} {{}} is not a number")
        if not (_is_numeric(kind) or pa.types.is_null(kind)):
            raise DataError(f"{role}s of type {kind}; turn them into numbers")
        values = _to_numpy(pc.cast(column, pa.float64(), safe=False))
        rows = np.flatnonzero(np.isinf(values))
        self.unreadable.add(
            rows + self.n_rows, lambda row: f"the {role} {values[row - self.n_rows]} is not finite"
        )
        return values

    def _has_comma(self, text: str) -> bool:
        return self.decimal == "." and re.fullmatch(r"\s*\d+,\d+\s*", text) is not None

    def _each_text(
        self, column: Any, convert: Callable[[str], Any], absent: Any, fault: str
    ) -> NDArray[Any]:
        """Convert each distinct text once; mark the rows for which `convert` returns None."""
        encoded = _combined(column.dictionary_encode())
        texts = encoded.dictionary.to_pylist()
        values = [absent if text.strip(" \t").lower() in _MISSING else convert(text.strip(" \t"))
                  for text in texts]  # fmt: skip
        bad = np.array([value is None for value in values] + [False])
        dtype = np.float64 if isinstance(absent, float) else np.int64
        table = np.array([absent if v is None else v for v in values] + [absent], dtype=dtype)
        codes = encoded.indices.fill_null(-1).to_numpy()

        def describe(row: int) -> str:
            text = texts[codes[row - self.n_rows]]
            hint = "; if that is a decimal comma, say decimal: ','" * self._has_comma(text)
            return fault.format(_shown(text)) + hint

        self.unreadable.add(np.flatnonzero(bad[codes]) + self.n_rows, describe)
        values_of_rows: NDArray[Any] = table[codes]
        return values_of_rows

    def _times(self, column: Any, role: str) -> NDArray[np.int64]:
        """Return times as they are written: whole units for numbers, seconds for dates."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = _plain(column)
        kind = column.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            self._dates[role].append((self.n_rows, np.ones(len(column), bool)))
            return _seconds_of(column)
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            try:
                values = _to_numpy(pc.cast(column, pa.float64()))
            except pa.ArrowInvalid:
                values = np.full(1, np.nan)
            if np.all(np.abs(values) < 2.0**53):
                return np.floor(values).astype(np.int64)
            if _all_match(column, "^-?[0-9]{1,18}$|^[1-3][0-9]{18}$"):
                return np.asarray(pc.cast(column, pa.int64()).to_numpy())
            parsed = _dates(column) if _all_match(column, _PLAIN_DATE) else np.array([NO_TIME])
            if (parsed == NO_TIME).any():
                return self._times_of_texts(column, role)
            self._dates[role].append((self.n_rows, np.ones(len(column), bool)))
            return parsed
        if pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            return np.asarray(pc.cast(column, pa.int64()).fill_null(NO_TIME).to_numpy())
        if not (_is_numeric(kind) or pa.types.is_null(kind)):
            raise DataError(f"{role}s of type {kind}; turn them into seconds since 1970 or dates")
        values = _to_numpy(pc.cast(column, pa.float64(), safe=False))
        bad = np.abs(values) >= 2.0**62
        self.unreadable.add(
            np.flatnonzero(bad) + self.n_rows,
            lambda row: f"the {role} {values[row - self.n_rows]:g} is not a time",
        )
        whole = np.floor(np.where(bad | np.isnan(values), 0, values)).astype(np.int64)
        return np.where(bad | np.isnan(values), NO_TIME, whole)

    def _times_of_texts(self, column: Any, role: str) -> NDArray[np.int64]:
        import pyarrow as pa

        encoded = _combined(column.dictionary_encode())
        texts = [text.strip(" \t") for text in encoded.dictionary.to_pylist()]
        are_dates = np.array([_DATE.fullmatch(text) is not None for text in texts] + [False])
        written = [text for text, is_date in zip(texts, are_dates, strict=False) if is_date]
        plain = pa.array([text.replace("/", "-") for text in written], pa.string())
        found = dict(zip(written, _dates(plain).tolist(), strict=True))

        def convert(text: str) -> int | None:
            value = found.get(text)
            return (None if value == NO_TIME else value) if value is not None else _moment(text)

        codes = encoded.indices.fill_null(-1).to_numpy()
        self._dates[role].append((self.n_rows, are_dates[codes]))
        return self._each_text(
            column, convert, NO_TIME,
            f"the {role} {{}} is neither seconds since 1970 nor an ISO date",
        )  # fmt: skip

    def _finished_ids(self, parts: list[Any], role: str, notes: list[str]) -> Coded:
        """Return ids without surrounding blanks; mark those with control characters."""
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = _combined(pa.chunked_array(parts))
        codes = whole.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
        trimmed = pc.utf8_trim(whole.dictionary, " \t")
        odd = pc.match_substring_regex(trimmed, _CONTROL).to_numpy(zero_copy_only=False)
        if odd.any():
            rows = np.flatnonzero(np.append(odd, False)[codes])
            self.unreadable.add(
                rows.astype(np.int64),
                lambda row: f"the {role} {_shown(trimmed[codes[row]])} has a control character",
            )
        if trimmed.equals(whole.dictionary) and not pc.any(pc.equal(trimmed, "")).as_py():
            return Coded(codes, _objects(trimmed))
        merged = trimmed.dictionary_encode()
        ids = _objects(merged.dictionary)
        table = np.append(merged.indices.to_numpy(), -1).astype(np.int32)
        n_merged = len(table) - 1 - len(ids)
        if n_merged:
            notes.append(
                f"{role} ids that differ only in surrounding blanks were merged: {n_merged}"
            )
        table[:-1][ids[table[:-1]] == ""] = -1
        return Coded(table[codes], ids)

    def _finished_times(
        self, values: NDArray[np.int64], role: str, notes: list[str]
    ) -> NDArray[np.int64]:
        """Return seconds: find the unit of numbers, and mark rows that do not fit the others."""
        are_dates = np.zeros(len(values), bool)
        for first, dates in self._dates[role]:
            are_dates[first : first + len(dates)] = dates
        known = values != NO_TIME
        if not known.any():
            return values
        are_dates &= known
        n_dates = np.count_nonzero(are_dates)
        if n_dates:
            most = "dates" if 2 * n_dates >= np.count_nonzero(known) else "numbers"
            odd = known & (are_dates != (most == "dates"))
            self.unreadable.add(
                np.flatnonzero(odd),
                lambda row: f"the {role} is not one of the {most} as others are",
            )
            known &= ~odd
            values = np.where(known, values, NO_TIME)
            if most == "dates":
                return values
        sizes = np.abs(values[known].astype(np.float64))
        for least, per_second, unit in _UNITS:
            if sizes.min() >= least:
                notes.append(f"{role}s read as {unit}, because of their size; stored as seconds")
                return np.where(known, values // per_second, NO_TIME)
        odd = np.flatnonzero(known)[sizes >= _LAST_SECOND]
        self.unreadable.add(
            odd,
            lambda row: (
                f"the {role} {values[row]} is beyond the year 5138 in seconds, but smaller ones in "
                "the file are seconds"
            ),
        )
        return values


def encode(values: Any, what: str) -> Coded:
    """Give each distinct id a code, in order of first appearance; ids become text.

    Parameters
    ----------
    values : array_like, shape (n,)
        Ids, all of one type: text or whole numbers. None and NaN are missing ids.
    what : str
        What the ids are, for messages.

    Raises
    ------
    DataError
        If the ids are of several types, or of a type that cannot be an id.

    Examples
    --------
    >>> coded = encode(["b", "a", "b"], "user")
    >>> coded.codes.tolist(), coded.ids.tolist()
    ([0, 1, 0], ['b', 'a'])
    """
    builder = TableBuilder({what: "id"})
    builder.add({what: to_arrow(values, what, "id")})
    return builder.finish(numbered).ids[what]


def numbered(row: int) -> str:
    """Return where a row of a table without lines stands."""
    return f"row {row} (counted from 0)"


def is_number(text: str) -> bool:
    """Return whether a text is a number by the rule for files.

    Examples
    --------
    >>> is_number("4.5"), is_number("1e3"), is_number("0x10"), is_number("nan"), is_number("")
    (True, True, False, False, False)
    """
    return _NUMBER.fullmatch(text.strip(" \t")) is not None


def to_arrow(values: Any, role: str, kind: Kind) -> Any:
    """Return a column of Python values, an array or a Series as an Arrow array.

    Raises
    ------
    DataError
        If the values are of several types, or are ids of an invalid type.
    """
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
    if kind == "id":
        if names != ["int"]:
            raise DataError(
                f"{role} ids of several types ({', '.join(names)}); "
                "turn the column into text or whole numbers, as .astype(str)"
            )
        return pa.array([None if each is None else str(each) for each in present], pa.string())
    texts = (each if each is None or isinstance(each, str) else repr(each) for each in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


def _encoded(column: Any, role: str) -> Any:
    """Return ids of any type as a dictionary array of text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    kind = column.type
    if pa.types.is_null(kind):
        column, kind = column.cast(pa.string()), pa.string()
    if pa.types.is_dictionary(kind) and kind.index_type != pa.int32():
        column, kind = column.cast(kind.value_type), kind.value_type
    if not pa.types.is_dictionary(kind):
        if pa.types.is_string(kind):
            return _combined(column.dictionary_encode())
        if not (_is_numeric(kind) or _is_text(kind)):
            raise DataError(_no_ids(role, kind))
        column = column.dictionary_encode()
    whole = _combined(column)
    ids = whole.dictionary
    if pa.types.is_floating(ids.type):
        values = np.asarray(ids.drop_null().to_numpy(zero_copy_only=False))
        if not (np.all(values == np.floor(values)) and np.all(np.abs(values) < 2.0**53)):
            raise DataError(f"{role} ids with fractions; turn the column into text")
        ids = pc.cast(ids, pa.int64())  # pandas makes floats of whole numbers beside a missing one
    kind = ids.type
    if not (pa.types.is_integer(kind) or _is_text(kind)):
        raise DataError(_no_ids(role, kind))
    texts = pc.cast(ids, pa.string())
    indices = pc.cast(whole.indices, pa.int32())
    if texts.null_count:  # a dictionary may hold a null of its own
        gone = texts.is_null().to_numpy(zero_copy_only=False)
        codes = indices.fill_null(-1).to_numpy()
        indices = pa.array(codes, mask=np.append(gone, True)[codes])
        texts = texts.fill_null("")
    return pa.DictionaryArray.from_arrays(indices, texts)


def _no_ids(role: str, kind: Any) -> str:
    return f"{role} ids of type {kind}; turn the column into text, as .astype(str)"


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
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _to_numpy(column: Any) -> NDArray[np.float64]:
    """Return floats, NaN for null."""
    return np.asarray(column.fill_null(np.nan).to_numpy())


def _objects(texts: Any) -> NDArray[Any]:
    return np.asarray(texts.to_numpy(zero_copy_only=False), dtype=object)


def _all_match(texts: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return pc.all(pc.match_substring_regex(texts, pattern), skip_nulls=False).as_py() is True


def _dates(texts: Any) -> NDArray[np.int64]:
    """Return ISO dates as seconds since 1970, `NO_TIME` for those that are not in the calendar."""
    import pandas as pd

    moments = pd.Series(
        pd.to_datetime(texts.to_pandas(), errors="coerce", utc=True, format="ISO8601")
    )
    seconds = moments.to_numpy(dtype="datetime64[s]").astype(np.int64)
    return np.where(moments.isna(), NO_TIME, seconds)


def _seconds_of(column: Any) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    moments = pc.cast(column, pa.timestamp("s", tz=getattr(column.type, "tz", None)), safe=False)
    return np.asarray(pc.cast(moments, pa.int64()).fill_null(NO_TIME).to_numpy())


def _number(text: str) -> float | None:
    value = float(text) if is_number(text) else np.inf
    return value if np.isfinite(value) else None


def _moment(text: str) -> int | None:
    """Return the whole part of a number that fits 64 bits."""
    if text.lstrip("+-").isdecimal() and is_number(text):
        whole = int(text) if len(text) < 25 else 2**63
    else:
        value = _number(text)
        if value is None:
            return None
        whole = int(np.floor(value))
    return whole if abs(whole) < 2**62 else None


def _shown(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")
