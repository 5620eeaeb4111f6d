"""Columns converted by the same rules from files and frames, and what is wrong with rows.

Imports pandas and Arrow; import it where it is needed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_RATING
from harness._util.libraries import pa, pc, pd
from harness.datasets.columns import (
    GROUPED,
    Kind,
    Marker,
    Mask,
    combined,
    floats,
    is_number,
    is_numeric,
    is_text,
    parse_distinct,
    plain,
    shown,
)
from harness.datasets.policies import ValueFormat
from harness.datasets.times import TimeReader
from harness.errors import DataError
from harness.notes.note import Note

SHOWN = 20
"""Faults that are shown one by one; the others are counted."""
Rows = NDArray[np.int64]
_AS_FOUND = ValueFormat()


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
    values: ValueFormat = _AS_FOUND,
    notes: Iterable[Note] = (),
    flaws: Iterable[Flaw] = (),
) -> Table:
    """Return columns of text or typed values (Arrow, arrays, Series, lists) as a table."""
    notes_made, faults = list(notes), list(flaws)
    by_row = at or (lambda row: where + f": row {row} (counted from 0)" * (row >= 0))
    table = Table({}, {}, {}, by_row)

    def mark(wrong: Mask, describe: Callable[[int], str]) -> None:
        if wrong.any():
            faults.append(Flaw("unreadable", np.flatnonzero(wrong), describe, role=role))

    role = ""
    try:
        arrays = {role: _to_arrow(column, role, kinds[role]) for role, column in columns.items()}
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        for role, array in arrays.items():
            if kinds[role] == "number":
                table.numbers[role] = read_numbers(array, role, values, mark)
            elif kinds[role] == "time":
                reader = TimeReader(role, values.time_format, mark, notes_made)
                table.times[role] = reader.seconds(array)
            else:
                ids = read_ids(array, role, kinds[role], values, mark, notes_made)
                table.ids[role] = Coded(*ids)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return replace(table, notes=tuple(notes_made), flaws=_united(faults) if faults else ())


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


def read_numbers(
    column: pa.ChunkedArray, role: str, values: ValueFormat, mark: Marker
) -> NDArray[np.float64]:
    """Return a column as floats, NaN for none; rows that are no finite numbers are marked."""
    column = plain(column)
    if is_text(column.type):
        numbers = _read_texts(column, role, values, mark)
    elif is_numeric(column.type):
        numbers = floats(column)
        mark(np.isinf(numbers), lambda row: f"the {role} {numbers[row]} is not finite")
    else:
        raise DataError(f"{role}s of type {column.type}; turn them into numbers")
    large = np.abs(numbers) > MOST_RATING
    if role == "rating" and large.any():  # which is squared; of other numbers the order counts
        fault = f"is too large to be squared; use a unit that gives at most {MOST_RATING:g}"
        mark(large & np.isfinite(numbers), lambda row: f"the rating {numbers[row]:.3g} {fault}")
    return numbers


def _read_texts(
    texts: pa.ChunkedArray, role: str, values: ValueFormat, mark: Marker
) -> NDArray[np.float64]:
    """Return texts as floats, NaN for none; rows that are no finite numbers are marked."""
    is_plain = values.decimal != "," and not values.thousands
    with suppress(pa.ArrowInvalid):
        numbers = floats(texts if is_plain else _with_points(texts, values))
        if np.isfinite(numbers).all():
            return numbers

    def describe(text: str) -> str:
        return f"the {role} {shown(text)} is not a number" + _hint(text.strip(), values)

    def parse(distinct: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
        return _parse(_with_points(distinct, values))

    return parse_distinct(texts, parse, np.nan, describe, mark)


def _hint(text: str, values: ValueFormat) -> str:
    if values.decimal != "." or values.thousands:
        return ""
    if re.fullmatch(GROUPED, text):
        several = text.count(",") > 1
        whole = f"if that is {text.replace(',', '')}, say `thousands: ','`"
        return f"; {whole}" + (
            "" if several else f"; if it is {text.replace(',', '.')}, `decimal: ','`"
        )
    is_comma = re.fullmatch(r"\d+,\d+", text)
    return (
        "; if that is a decimal comma, say `decimal: ','` (an option: --decimal ,)"
        if is_comma
        else ""
    )


def _with_points(texts: pa.ChunkedArray, values: ValueFormat) -> pa.ChunkedArray:
    """Return texts with a point as the decimal mark, and without marks between thousands."""
    decimal = values.decimal or "."
    if values.thousands:
        mark = re.escape(values.thousands)
        grouped = rf"^\s*[+-]?\d{{1,3}}({mark}\d{{3}})+({re.escape(decimal)}\d*)?\s*$"
        is_grouped = pc.match_substring_regex(texts, grouped)
        texts = pc.if_else(is_grouped, pc.replace_substring(texts, values.thousands, ""), texts)
    return pc.replace_substring(texts, ",", ".") if decimal == "," else texts


def _parse(texts: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
    numbers = [float(text) if is_number(text) else np.inf for text in texts.to_pylist()]
    values = np.array(numbers, dtype=np.float64)
    return values, ~np.isfinite(values)


_CONTROL = "[\\x00-\\x1f\\x7f]"
FLOAT_IDS = ("float-ids", "float-ids-joined")
"""Codes of the note about ids written as 1.0: without and with ids that stand as 1 too."""
_WHOLE = r"^-?(0|[1-9][0-9]*)(\.0)?$"


def read_ids(
    column: pa.ChunkedArray,
    role: str,
    kind: Kind,
    values: ValueFormat,
    mark: Marker,
    notes: list[Note],
) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Return for each row the position of its id, -1 for none, and the ids, each once.

    An id is text without blanks around it and may hold no control characters; of the kind ``text``
    anything is left as it is.
    """
    is_coded = pa.types.is_dictionary(column.type)
    if kind == "text" and not is_coded and not pa.types.is_nested(column.type):
        column = column.cast(pa.string())
    typed = column.type.value_type if is_coded else column.type
    if not is_text(typed) and (pa.types.is_decimal(typed) or not is_numeric(typed)):
        subject, how = f"{role} ids", "as .astype(str)"
        if kind == "text":
            subject, how = f"the column {role!r}", "several values separated by '|'"
        raise DataError(f"{subject} of type {typed}; turn the column into text, {how}")
    if pa.types.is_null(typed):
        column = column.cast(pa.string())
    encoded = combined(column if is_coded else column.dictionary_encode())
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
    ids = encoded.dictionary
    if pa.types.is_floating(typed):  # pandas makes floats of whole numbers beside a missing one
        numbers = ids.to_numpy(zero_copy_only=False)
        if not (np.all(numbers == np.floor(numbers)) and np.all(np.abs(numbers) < 2.0**53)):
            raise DataError(f"{role} ids with fractions; turn the column into text")
        ids = pc.cast(ids, pa.int64())
    texts = pc.cast(ids, pa.string()).fill_null("")
    if kind == "text":
        return codes, texts.to_numpy(zero_copy_only=False)
    texts = pc.utf8_trim(texts, " \t")
    odd = pc.match_substring_regex(texts, _CONTROL).to_numpy(zero_copy_only=False)
    if odd.any():
        trimmed = texts
        mark(
            np.append(odd, False)[codes],
            lambda row: f"the {role} {shown(trimmed[codes[row]])} has a control character",
        )
    if pc.any(pc.ends_with(texts, ".0")).as_py():
        texts = _whole(texts, role, notes)
    merged = texts.dictionary_encode()
    n_merged = len(texts) - len(merged.dictionary)
    if n_merged and texts.null_count == 0 and not _n_floats(notes, role):
        notes.append(Note("blanks-merged", {"role": role, "n": n_merged}))
    names = merged.dictionary.to_numpy(zero_copy_only=False)
    positions = merged.indices.to_numpy()
    has_marks = pc.invert(pc.string_is_ascii(merged.dictionary)).to_numpy(zero_copy_only=False)
    if has_marks.any():
        names, positions = _spelled(names, positions, has_marks, role, values, notes)
    positions = np.append(np.where(names[positions] == "", -1, positions), -1).astype(np.int32)
    return positions[codes], names


def _n_floats(notes: list[Note], role: str) -> bool:
    return any(note.code in FLOAT_IDS and note.values["role"] == role for note in notes)


def _whole(texts: pa.StringArray, role: str, notes: list[Note]) -> pa.StringArray:
    """Return whole numbers without the ``.0`` that programs write beside a missing number.

    Only where all ids are whole numbers: in "1.0" beside "1.1" it is a part of the name.
    """
    present = texts.filter(pc.not_equal(texts, ""))
    if not pc.all(pc.match_substring_regex(present, _WHOLE)).as_py():
        return texts
    whole = pc.replace_substring_regex(texts, r"\.0$", "")
    example = texts.filter(pc.ends_with(texts, ".0"))[0].as_py()
    n_joined = len(pc.unique(texts)) - len(pc.unique(whole))
    values = {"role": role, "example": example, "plain": example[:-2]}
    alone, joined = FLOAT_IDS
    notes.append(Note(joined, values | {"n": n_joined}) if n_joined else Note(alone, values))
    return whole


def plain_spelling(text: str) -> str:
    r"""Return an id in Unicode's composed form, without invisible marks, with plain blanks.

    Examples
    --------
    >>> plain_spelling("bob\u00a0"), plain_spelling("cafe\u0301") == "caf\u00e9"
    ('bob', True)
    """
    composed = unicodedata.normalize("NFC", text)
    visible = "".join(sign for sign in composed if unicodedata.category(sign) != "Cf")
    return re.sub(r"\s+", " ", visible).strip()


def _spelled(
    names: NDArray[np.object_],
    positions: NDArray[np.int64],
    has_marks: Mask,
    role: str,
    values: ValueFormat,
    notes: list[Note],
) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return ids and positions of rows among them, ids of one spelling joined if said."""
    plain = names.copy()
    plain[has_marks] = [plain_spelling(name) for name in names[has_marks]]
    first: dict[str, int] = {}
    same = np.array([first.setdefault(name, place) for place, name in enumerate(plain)])
    alike = np.flatnonzero(same != np.arange(len(names)))
    if not len(alike):
        return names, positions
    one, other = names[same[alike[0]]], names[alike[0]]
    code = "spellings-joined" if values.id_spellings == "join" else "spellings-differ"
    notes.append(
        Note(code, {"role": role, "n": len(alike), "one": ascii(one), "other": ascii(other)})
    )
    if values.id_spellings != "join":
        return names, positions
    return plain, same[positions]
