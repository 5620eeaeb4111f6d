"""Columns converted by the same rules from files and frames, and what is wrong with rows.

Imports pandas and Arrow; import it where it is needed.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pa, pc, pd
from harness.datasets.columns import (
    MISSING,
    RATINGS,
    Kind,
    Marker,
    Mask,
    combined,
    is_numeric,
    is_text,
    plain,
    shown,
)
from harness.datasets.numerals import NumberReader, quoted
from harness.datasets.policies import ValueFormat
from harness.datasets.remedies import Remedy
from harness.datasets.times import TimeReader
from harness.errors import DataError
from harness.notes.note import Note

SHOWN = 20
"""Problems that are shown one by one; the others are counted."""
Rows = NDArray[np.int64]
_AS_FOUND = ValueFormat()


class Coded(NamedTuple):
    """A column of ids: each id once in `ids`, and for each row its position there, -1 for none."""

    codes: NDArray[np.int32]
    ids: NDArray[np.object_]


class Flaw(NamedTuple):
    """Rows with one kind of problem.

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
    scale: tuple[float, float] | None = None
    """What the ratings can be, if their writing shows it, as percentages do."""
    words: tuple[str, ...] = ()
    """The few texts in place of ratings that are not numbers."""

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

    try:
        arrays = {
            role: column
            if isinstance(column, pa.Array | pa.ChunkedArray)
            else _to_arrow(column, role, kinds[role])
            for role, column in columns.items()
        }
        if len(lengths := {len(array) for array in arrays.values()}) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        ids = {role: array for role, array in arrays.items() if kinds[role] == "id"}
        simple = {} if values.no_id else {role: _simple_ids(array) for role, array in ids.items()}
        finds_totals = kinds is RATINGS.kinds and values.no_id is None
        may_have_totals = finds_totals and not all(simple.values())
        if may_have_totals and (n_totals := _count_totals(arrays, notes_made)):
            simple.clear()
            n_left = len(arrays["user"]) - n_totals
            arrays = {role: array.slice(0, n_left) for role, array in arrays.items()}
            faults[:] = [flaw._replace(rows=flaw.rows[flaw.rows < n_left]) for flaw in faults]
        for role, array in arrays.items():
            if coded := simple.get(role):
                table.ids[role] = coded
            elif kinds[role] == "number":
                numbers = NumberReader(role, values, mark, notes_made)
                table.numbers[role] = numbers.numbers(array)
                table = replace(table, scale=numbers.scale, words=numbers.words)
            elif kinds[role] == "time":
                reader = TimeReader(role, values.time_format, mark, notes_made)
                table.times[role] = reader.seconds(array)
            else:
                of_ids = values if kinds is RATINGS.kinds else replace(values, in_config=False)
                coded = Coded(*read_ids(array, role, kinds[role], of_ids, mark, notes_made))
                if kinds is RATINGS.kinds:
                    coded, lost = _without_lost(coded, role, values, notes_made)
                    faults += lost
                table.ids[role] = coded
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return replace(table, notes=tuple(notes_made), flaws=united(faults) if faults else ())


def united(flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    """Return one flaw for each policy: a row with several problems is described by the first."""

    def of_policy(policy: str) -> Flaw:
        parts = [flaw for flaw in flaws if flaw.policy == policy]
        rows = np.unique(np.concatenate([part.rows for part in parts]))

        def of_row(row: int) -> Flaw:
            return next(part for part in parts if row in part.rows)

        first = of_row(rows[0]) if len(rows) else parts[0]
        describe = lambda row: of_row(row).describe(row)  # noqa: E731
        return Flaw(policy, rows, describe, first.advice, role=first.role)

    return tuple(of_policy(policy) for policy in dict.fromkeys(flaw.policy for flaw in flaws))


def joined(tables: Sequence[Table], where: str) -> Table:
    """Return the rows of several tables one after the other; each keeps its file and line.

    Raises
    ------
    DataError
        If some have timestamps and others none.
    """
    starts = np.cumsum([0, *map(len, tables)]).tolist()
    with_times = [table for table in tables if table.times]
    if 0 < len(with_times) < len(tables):
        without = next(table for table in tables if not table.times)
        raise DataError(
            f"{without.at(-1)}: no timestamps, which {with_times[0].at(-1)} has; add them, or "
            "leave them out with `columns: {timestamp: null}`"
        )

    def at(row: int) -> str:
        if row < 0:
            return where
        number = bisect_right(starts, row) - 1
        return tables[number].at(row - starts[number])

    first = tables[0]
    flaws = [
        _moved(flaw, start)
        for table, start in zip(tables, starts[:-1], strict=True)
        for flaw in table.flaws
        if len(flaw.rows)
    ]
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    scales = {table.scale for table in tables}
    return Table(
        {role: _together([table.ids[role] for table in tables]) for role in first.ids},
        {role: np.concatenate([table.numbers[role] for table in tables]) for role in first.numbers},
        {role: np.concatenate([table.times[role] for table in tables]) for role in first.times},
        at,
        tuple(notes),
        united(flaws),
        scales.pop() if len(scales) == 1 else None,
        tuple(dict.fromkeys(word for table in tables for word in table.words)),
    )


def _together(columns: Sequence[Coded]) -> Coded:
    codes, ids = pd.factorize(np.concatenate([column.ids for column in columns]))
    parts = np.split(codes.astype(np.int32), np.cumsum([len(c.ids) for c in columns])[:-1])
    rows = [
        np.append(part, -1).astype(np.int32)[column.codes]  # -1 stays the code of none
        for part, column in zip(parts, columns, strict=True)
    ]
    return Coded(np.concatenate(rows), np.asarray(ids, object))


def _moved(flaw: Flaw, start: int) -> Flaw:
    return flaw._replace(rows=flaw.rows + start, describe=lambda row: flaw.describe(row - start))


def _to_arrow(values: object, role: str, kind: Kind) -> pa.ChunkedArray:
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
            "turn the column into text or whole numbers, for example with .astype(str)"
        )
    texts = (value if value is None or isinstance(value, str) else repr(value) for value in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


TOTALS = (
    "total", "totals", "grand total", "sum", "mean", "average", "avg", "count", "summe", "gesamt",
    "gesamtsumme", "mittelwert", "durchschnitt", "insgesamt", "somme", "moyenne", "suma", "media",
    "promedio", "totale", "somma", "soma", "totaal", "gemiddelde", "итого", "всего", "среднее",
    "合计", "总计", "平均", "合計",
)  # fmt: skip
"""Texts in place of an id in a last row of totals, in small letters."""
_NUMERIC_ID = r"^[+-]?[0-9]+(\.0)?$"


def _count_totals(arrays: Mapping[str, pa.ChunkedArray], notes: list[Note]) -> int:
    """Return how many of the last rows are not ratings but their total, their mean or the like.

    It is certain where all other ids are numbers, or where the numbers of the row add up.
    """
    n_rows = n_left = len(arrays["user"])
    for _ in range(3):
        for role in ("user", "item"):
            if not n_left or not (label := _label(arrays[role], n_left - 1)):
                continue
            column = _texts(arrays[role].slice(0, n_left))
            is_label = np.asarray(pc.equal(column, label).fill_null(False))
            first = int(np.argmax(is_label))
            if not first or not is_label[first:].all():  # not at the end alone
                continue
            others = pc.unique(column.slice(0, first)).drop_null().to_pylist()
            are_numbers = all(
                re.fullmatch(_NUMERIC_ID, text) for text in others if not _is_total(text)
            )
            if not are_numbers and not _adds_up(arrays, role, first):
                seen = {"role": role, "text": label.strip(), "key": quoted(label.strip())}
                notes.append(Note("maybe-total", seen))
                continue
            values = {"role": role, "text": label.strip(), "n": n_left - first}
            notes.append(Note("total-left-out", values))
            n_left = first
            break
        else:
            break
    return n_rows - n_left


def _label(column: pa.ChunkedArray, row: int) -> str:
    """Return the text of a row if it is one that totals have, else nothing."""
    text = column[row].as_py()
    return text if isinstance(text, str) and _is_total(text) else ""


def _is_total(text: str) -> bool:
    return text.strip(" \t:.").casefold() in TOTALS


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.cast(plain(column), pa.string())


def _adds_up(arrays: Mapping[str, pa.ChunkedArray], role: str, row: int) -> bool:
    """Return whether a row has the sum or the mean of the ratings before it, or their number."""
    ratings = pd.to_numeric(pd.Series(_texts(arrays["rating"]).to_pylist()), errors="coerce")
    before, value = ratings[:row].dropna(), ratings[row]
    if len(before) and pd.notna(value):
        is_sum = abs(value - before.sum()) <= 0.005
        if is_sum or abs(value - before.mean()) <= 0.006:
            return True
    other = arrays["item" if role == "user" else "user"][row].as_py()
    return str(other).strip() == str(row)


def _without_lost(
    coded: Coded, role: str, values: ValueFormat, notes: list[Note]
) -> tuple[Coded, list[Flaw]]:
    """Return ids without the texts that stand for none, and the rows that had them.

    Such texts of a config are dropped. Else a text such as "nan" is none where all others are
    numbers or are none either; among other ids a note asks.
    """
    asked = MISSING if values.no_id is None else [text.strip().casefold() for text in values.no_id]
    texts = {text for text in asked if text}
    longest = max(map(len, texts), default=0)
    codes, ids = coded
    found = {text for text in ids.tolist() if len(text) <= longest and text.casefold() in texts}
    if not found:
        return coded, []
    are_lost = np.array([text in found for text in ids.tolist()], bool)
    lost = np.append(are_lost, False)[coded.codes]
    if values.no_id is None:
        others = [text for text in coded.ids[~are_lost].tolist() if text]
        if not all(re.fullmatch(_NUMERIC_ID, text) for text in others):
            counts = np.bincount(coded.codes[lost], minlength=len(coded.ids))
            for place in np.flatnonzero(are_lost).tolist():
                text = coded.ids[place]
                seen = {"role": role, "text": text, "key": quoted(text), "n": int(counts[place])}
                notes.append(Note("maybe-no-id", seen))
            return coded, []
    describe = lambda row: f"the {role} {shown(ids[codes[row]])} stands for no {role}, it seems"  # noqa: E731
    policy = "missing" if values.no_id is None else "no_id"
    flaw = Flaw(policy, np.flatnonzero(lost), describe, "`no_id: []` reads such texts as ids")
    return Coded(np.where(lost, -1, codes).astype(np.int32), ids), [flaw]


def _simple_ids(column: pa.ChunkedArray) -> Coded | None:
    """Return ids as they are written if each is a number from 1 on, without a zero before it.

    None of the rules of `read_ids`, of totals and of lost ids changes such an id.
    """
    if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
        encoded = combined(column)
        texts = encoded.dictionary
        are_simple = pc.all(pc.match_substring_regex(texts, "^[1-9][0-9]*$"), skip_nulls=False)
        if are_simple.as_py() and len(texts.unique()) == len(texts):
            codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)
            return Coded(codes, texts.to_numpy(zero_copy_only=False))
    return None


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
            lambda row: _controlled(role, str(trimmed[codes[row]])),
        )
    if pc.any(pc.ends_with(texts, ".0")).as_py():
        texts = _whole(texts, role, notes)
    if len(texts) and re.match(_EXPONENT, texts[0].as_py()):
        present = texts.filter(pc.not_equal(texts, ""))
        if pc.all(pc.match_substring_regex(present, _EXPONENT)).as_py():
            notes.append(Note("exponent-ids", {"role": role, "example": texts[0].as_py()}))
    merged = texts.dictionary_encode()
    n_merged = len(texts) - len(merged.dictionary)
    are_floats = any(n.code in FLOAT_IDS and n.values["role"] == role for n in notes)
    if n_merged and texts.null_count == 0 and not are_floats:
        notes.append(Note("blanks-merged", {"role": role, "n": n_merged}))
    names = merged.dictionary.to_numpy(zero_copy_only=False)
    positions = merged.indices.to_numpy()
    has_marks = _may_differ(merged.dictionary)
    if has_marks.any():
        names, positions = _spelled(names, positions, has_marks, role, values, notes)
    positions = np.append(np.where(names[positions] == "", -1, positions), -1).astype(np.int32)
    return positions[codes], names


def _controlled(role: str, text: str) -> str:
    """Return what is wrong with an id that holds a control character."""
    of_japanese = "\x1b$" in text or "\x1b(" in text
    advice = f", as ISO-2022-JP has; {Remedy({'encoding': 'iso2022_jp'})} reads that" * of_japanese
    return f"the {role} {shown(text)} has a control character{advice}"


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


_EXPONENT = r"^[0-9](\.[0-9]+)?[eE][+-]?[0-9]+$"
_UUID = r"^\{?[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\}?$"
_MAIL = r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"
_ZEROS = r"^0[0-9]+$"


def _may_differ(names: pa.StringArray) -> Mask:
    """Return which ids another spelling may be of: marks, capital letters, zeros before digits."""
    differ = pc.invert(pc.string_is_ascii(names))
    if not pc.any(pc.match_substring_regex(names, "^0|[A-Z]")).as_py():
        return np.asarray(differ.to_numpy(zero_copy_only=False))
    has_capitals = pc.match_substring_regex(names, "[A-Z]")
    of_no_case = pc.match_substring_regex(names, f"{_UUID}|{_MAIL}")
    differ = pc.or_(differ, pc.and_(has_capitals, of_no_case))
    lengths = pc.min_max(pc.utf8_length(names))
    if lengths["min"] != lengths["max"]:
        differ = pc.or_(differ, pc.match_substring_regex(names, _ZEROS))
    return np.asarray(differ.to_numpy(zero_copy_only=False))


def plain_spelling(text: str) -> str:
    r"""Return an id in Unicode's composed form, without invisible marks, with plain blanks.

    A UUID and an e-mail address are in small letters, and digits without zeros before them.

    Examples
    --------
    >>> plain_spelling("bob\u00a0"), plain_spelling("cafe\u0301") == "caf\u00e9"
    ('bob', True)
    >>> plain_spelling("Ann@Shop.org"), plain_spelling("007"), plain_spelling("Ann")
    ('ann@shop.org', '7', 'Ann')
    """
    if text.isascii():
        if re.fullmatch(_ZEROS, text):
            return text.lstrip("0") or "0"
        return text.lower() if re.fullmatch(f"{_UUID}|{_MAIL}", text) else text
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
    is_alone = has_marks.copy()
    is_alone[alike] = is_alone[same[alike]] = False
    for place in np.flatnonzero(is_alone):
        if re.fullmatch(_ZEROS, names[place]):
            plain[place] = names[place]  # 0123 stays where there is no 123
    if not len(alike):
        return names, positions
    one, other = names[same[alike[0]]], names[alike[0]]
    code = "spellings-differ" if values.in_config else "spellings-kept"
    code = "spellings-joined" if values.id_spellings == "join" else code
    notes.append(
        Note(code, {"role": role, "n": len(alike), "one": ascii(one), "other": ascii(other)})
    )
    if values.id_spellings != "join":
        return names, positions
    return plain, same[positions]
