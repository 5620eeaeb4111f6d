"""Ratings and other numbers, as text writes them or of any numeric type."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_RATING
from harness._util.libraries import pa, pc
from harness.datasets.arrow_columns import (
    Marker,
    Mask,
    combined,
    floats,
    is_numeric,
    is_text,
    parse_distinct,
    plain,
    shown,
)
from harness.datasets.columns import Kind, is_number
from harness.datasets.policies import ValueFormat
from harness.errors import DataError
from harness.notes.note import Note

GROUPED = r"\d{1,3}(,\d{3})+"
"""A number with commas between groups of three digits, or one with a decimal comma."""


def read_numbers(
    column: pa.ChunkedArray, role: str, values: ValueFormat, mark: Marker
) -> NDArray[np.float64]:
    """Return a column as floats, NaN for none; rows that are no finite numbers are marked."""
    column = plain(column)
    if is_text(column.type):
        with suppress(pa.ArrowInvalid):
            numbers = floats(_with_points(column, values))
            if np.isfinite(numbers).all():
                return _of_size(numbers, role, mark)

        def describe(text: str) -> str:
            return f"the {role} {shown(text)} is not a number" + _hint(text.strip(), values)

        parse = lambda texts: _parse(_with_points(texts, values))  # noqa: E731
        parsed = parse_distinct(column, parse, np.nan, describe, mark)
        return _of_size(parsed, role, mark)
    if not is_numeric(column.type):
        raise DataError(f"{role}s of type {column.type}; turn them into numbers")
    numbers = floats(column)
    mark(np.isinf(numbers), lambda row: f"the {role} {numbers[row]} is not finite")
    return _of_size(numbers, role, mark)


def _of_size(numbers: NDArray[np.float64], role: str, mark: Marker) -> NDArray[np.float64]:
    """Mark ratings that are too large to be squared; of other numbers the order counts."""
    if role == "rating":
        fault = f"is too large to be squared; use a unit that gives at most {MOST_RATING:g}"
        large = np.isfinite(numbers) & (np.abs(numbers) > MOST_RATING)
        mark(large, lambda row: f"the rating {numbers[row]:.3g} {fault}")
    return numbers


def _hint(text: str, values: ValueFormat) -> str:
    if values.decimal != "." or values.thousands:
        return ""
    if re.fullmatch(GROUPED, text):
        several = text.count(",") > 1
        whole = f"if that is {text.replace(',', '')}, say thousands: ','"
        return f"; {whole}" + (
            "" if several else f"; if it is {text.replace(',', '.')}, decimal: ','"
        )
    is_comma = re.fullmatch(r"\d+,\d+", text)
    return (
        "; if that is a decimal comma, say decimal: ',' (an option: --decimal ,)"
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
    if pa.types.is_decimal(typed) or not (is_numeric(typed) or is_text(typed)):
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
    texts = _whole(texts, role, notes)
    merged = texts.dictionary_encode()
    n_merged = len(texts) - len(merged.dictionary)
    if n_merged and texts.null_count == 0 and not _n_floats(notes, role):
        notes.append(Note("blanks-merged", {"role": role, "n": n_merged}))
    names, positions = _spelled(merged, role, values, notes)
    positions = np.append(np.where(names[positions] == "", -1, positions), -1).astype(np.int32)
    return positions[codes], names


def _n_floats(notes: list[Note], role: str) -> bool:
    return any(note.code in FLOAT_IDS and note.values["role"] == role for note in notes)


def _whole(texts: pa.StringArray, role: str, notes: list[Note]) -> pa.StringArray:
    """Return whole numbers without the ``.0`` that programs write beside a missing number.

    Only where all ids are whole numbers: in "1.0" beside "1.1" it is a part of the name.
    """
    is_float = pc.ends_with(texts, ".0")
    if not pc.any(is_float).as_py():
        return texts
    present = texts.filter(pc.not_equal(texts, ""))
    if not pc.all(pc.match_substring_regex(present, _WHOLE)).as_py():
        return texts
    whole = pc.replace_substring_regex(texts, r"\.0$", "")
    example = texts.filter(is_float)[0].as_py()
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
    merged: pa.DictionaryArray, role: str, values: ValueFormat, notes: list[Note]
) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    """Return the ids and the positions of the encoded texts, ids of one spelling joined if said."""
    names = merged.dictionary.to_numpy(zero_copy_only=False)
    positions = merged.indices.to_numpy()
    has_marks = pc.invert(pc.string_is_ascii(merged.dictionary)).to_numpy(zero_copy_only=False)
    if not has_marks.any():
        return names, positions
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
