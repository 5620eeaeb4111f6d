"""Ratings as numbers: how they are written in text, and what words may stand for.

Numbers with marks, stars, percentages, "4 of 5" and a unit are read where all texts are written in
one way. Other texts need the key `values` of a config, for which `proposed` makes a suggestion.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import MOST_RATING
from harness._util.libraries import pa, pc
from harness.datasets.columns import (
    MISSING,
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
from harness.datasets.remedies import Remedy
from harness.errors import DataError
from harness.notes.note import Note

MOST_WORDS = 30
"""More distinct texts are not words that a person chose from a list."""
LEAST_WORDS = 0.2
"""Proportion of the rows from which words in place of ratings may be ratings."""
GROUPED = r"\d{1,3}(,\d{3})+"
"""A number with commas between groups of three digits, or one with a decimal comma."""
_THREE_DECIMALS = r"^([1-9]\d{0,2}\.\d{3}|\d{1,3})$"
"""A number with points between groups of three digits, or one with three decimals."""


class Marks(NamedTuple):
    """The mark before decimals and the one between thousands; empty where there is none."""

    decimal: str = ""
    thousands: str = ""


def marks_of(texts: Iterable[str]) -> Marks:
    """Return what commas, points, blanks and apostrophes in numbers are, if it is certain.

    Examples
    --------
    >>> marks_of(["4,5", "3"])
    Marks(decimal=',', thousands='')
    >>> marks_of(["1.234,5"]), any(marks_of(["1,234"]))
    (Marks(decimal=',', thousands='.'), False)
    """
    numbers = [text.strip().lstrip("+-") for text in texts]
    marked = [text for text in numbers if re.search(r"\d[,. ']", text)]
    signs = {sign for text in marked for sign in text if not sign.isdigit()}
    if signs == {","}:
        if not all(re.fullmatch(r"\d+(,\d+)+", text) for text in marked):
            return Marks()
        if not all(re.fullmatch(GROUPED, text) for text in marked):
            return Marks(",") if all(text.count(",") == 1 for text in marked) else Marks()
        whole = [int(text) for text in numbers if re.fullmatch(r"\d+", text)]
        if any(text.count(",") > 1 for text in marked) or 100 <= max(whole, default=0) < 1000:
            return Marks(thousands=",")
        return Marks()
    for decimal, thousands in ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'")):
        if thousands not in signs or not signs <= {decimal, thousands}:
            continue
        mark, point = re.escape(thousands), re.escape(decimal)
        number = rf"\d{{1,3}}({mark}\d{{3}})*({point}\d+)?|\d+({point}\d+)?"
        one_way = rf"\d{{1,3}}({mark}\d{{3}})+{point}\d+|\d{{1,3}}({mark}\d{{3}}){{2,}}"
        if thousands in " '":
            one_way = rf"\d{{1,3}}({mark}\d{{3}})+({point}\d+)?"
        fits = all(re.fullmatch(number, text) for text in marked)
        if fits and any(re.fullmatch(one_way, text) for text in marked):
            return Marks("," if decimal == "," else "", thousands)
    return Marks()


class WrittenNumbers(NamedTuple):
    """Numbers of texts that are all written in one way, how that is called, and their scale."""

    numbers: NDArray[np.float64]
    form: str
    scale: tuple[float, float] | None


_STARS, _NO_STARS = "★⭐🌟✭⭑*", "☆✩✰⚝"
_STAR_SIGNS = re.compile(rf"[{re.escape(_STARS)}{_NO_STARS}½ \ufe0f]+")
_PART = re.compile(r"(\d*)([½¼¾])")
_PARTS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
MOST_JOINED = 11
"""More numbers with letters directly before them, as s10, are ids."""
_NUMBER_AND_WORDS = re.compile(
    r"(?P<before>[^\d+-]*?(?:[^\W\d]-)?)(?P<number>[+-]?\d+(?:\.\d+)?|[+-]?\.\d+)(?P<after>[^\d]*"
    r"|\s*(?:/|out of|of|von|sur|de|su|di|van|av|из|z)\s*(?P<of>\d+)\D*)"
)


def written_alike(texts: Sequence[str]) -> WrittenNumbers | None:
    """Return the numbers of texts that are all written in one way; None if they are not.

    Examples
    --------
    >>> written_alike(["80%", "100 %"])
    WrittenNumbers(numbers=array([ 80., 100.]), form='percentages', scale=(0.0, 100.0))
    >>> written_alike(["★★★☆☆", "★☆☆☆☆"]).numbers
    array([3., 1.])
    >>> written_alike(["4 out of 5", "3.5 out of 5"]).scale
    (1.0, 5.0)
    >>> written_alike(["4½", "3"]).numbers
    array([4.5, 3. ])
    >>> written_alike(["4 stars", "8/10"]) is None
    True
    """
    if not texts:
        return None
    if all(_STAR_SIGNS.fullmatch(text) for text in texts):
        return _of_stars(texts)
    example, has_parts = texts[0], any(_PART.search(text) for text in texts)
    if has_parts:
        example = next(text for text in texts if _PART.search(text))
        texts = [_PART.sub(_of_parts, text) for text in texts]
    found = [_NUMBER_AND_WORDS.fullmatch(text) for text in texts]
    parts = [match for match in found if match is not None]
    if len(parts) < len(texts):
        return None
    before = {_plain(match["before"]) for match in parts}
    highest = {match["of"] for match in parts}
    after = [_plain(re.sub(r"\d+", "", match["after"])) for match in parts]
    if len(before) > 1 or len(highest) > 1 or not _one_unit(after):
        return None
    numbers = np.array([float(match["number"]) for match in parts])
    if not any(after) and not any(before):
        return WrittenNumbers(numbers, f"fractions, as {example}", None) if has_parts else None
    is_joined = any(match["before"][-1:].isalpha() for match in parts)
    if is_joined and len({*numbers.tolist()}) > MOST_JOINED:
        return None  # s10 is an id
    if (most := highest.pop()) is not None:
        top = float(most)
        if not 0 < top <= MOST_RATING or numbers.min() < 0 or numbers.max() > top:
            return None
        written = f"numbers of {most}, such as {example}"
        return WrittenNumbers(numbers, written, (_lowest(numbers), top))
    if after[0] in ("%", "percent", "per cent", "prozent", "pct"):
        if numbers.min() < 0 or numbers.max() > 100:
            return None
        return WrittenNumbers(numbers, "percentages", (0.0, 100.0))
    return WrittenNumbers(numbers, f"numbers with words around them, such as {example}", None)


def _of_parts(match: re.Match[str]) -> str:
    """Return a number with ½ behind it as a decimal."""
    return f"{int(match[1] or 0) + _PARTS[match[2]]:g}"


def _of_stars(texts: Sequence[str]) -> WrittenNumbers | None:
    full = np.array([sum(sign in _STARS for sign in text) for text in texts], np.float64)
    full += np.array([0.5 * ("½" in text) for text in texts])
    empty = np.array([sum(sign in _NO_STARS for sign in text) for text in texts])
    totals = {*np.ceil(full + empty).tolist()}
    if full.max() == 0 or any(text.count("½") > 1 for text in texts) or (
        empty.any() and len(totals) > 1
    ):  # fmt: skip
        return None
    top = totals.pop() if empty.any() else float(full.max())
    low = _lowest(full)
    scale = (low, top) if low < top else None
    return WrittenNumbers(full, f"counts of stars, such as {texts[0]}", scale)


def _lowest(numbers: NDArray[np.float64]) -> float:
    """Return the lowest number that can be given: 1 unless some are below."""
    least = float(numbers.min())
    return 1.0 if least >= 1 else 0.5 if least >= 0.5 else 0.0


def _plain(text: str) -> str:
    """Return a text in small letters without marks that change only how it looks."""
    visible = re.sub("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]", "", text)
    return " ".join(visible.casefold().split()).rstrip(".!") or visible.strip()


def _one_unit(words: Sequence[str]) -> bool:
    """Return whether words are one but for an ending, as star and stars."""
    short = min(words, key=len)
    longest = len(short) + 2 * (len(short) >= 3)
    return all(word[:4] == short[:4] and len(word) <= longest for word in words)


@cache
def _families() -> list[tuple[dict[str, int], int, frozenset[int]]]:
    """Return for each list of words the level of each, the lowest number, and optional levels."""
    text = Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
    return [
        (
            {word: level for level, words in enumerate(entry["levels"]) for word in words},
            entry["lowest"],
            frozenset(entry.get("between", ())),
        )
        for entry in tomllib.loads(text).values()
    ]


def proposed(texts: Sequence[str]) -> dict[str, float | None]:
    """Return numbers for words in place of ratings; None for all where their order is not known.

    Examples
    --------
    >>> proposed(["like", "dislike"]), proposed(["4_5", "3_0"]), proposed(["meh", "wow"])
    ({'dislike': 0, 'like': 1}, {'3_0': 3.0, '4_5': 4.5}, {'meh': None, 'wow': None})
    >>> proposed(["bad", "poor", "good"])
    {'bad': None, 'poor': None, 'good': None}
    """
    known = {text: _plain(text) for text in texts}
    for levels, lowest, optional in _families():
        if all(word in levels for word in known.values()):
            present = {levels[word] for word in known.values()}
            if len(present) < len({*known.values()}):
                break  # bad and poor beside each other differ in this file
            every = range(max(levels.values()) + 1)
            counted = [level for level in every if level in present or level not in optional]
            numbers: dict[str, float | None] = {
                text: lowest + counted.index(levels[word]) for text, word in known.items()
            }
            return dict(sorted(numbers.items(), key=lambda entry: entry[1] or 0))
    read = {text: _one_number(text) for text in texts}
    if None not in read.values() and len({*read.values()}) == len(read):
        return dict(sorted(read.items(), key=lambda entry: entry[1] or 0))
    return dict.fromkeys(texts)


def _one_number(text: str) -> float | None:
    """Return the only number in a text; of 4_5, 4.5."""
    if match := re.fullmatch(r"(\d)[_-](\d)", text.strip()):
        return float(f"{match[1]}.{match[2]}")
    numbers = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])", text)
    return float(numbers[0]) if len(numbers) == 1 else None


def as_key(numbers: Mapping[str, float | None]) -> str:
    """Return a mapping as a config has it, with dots where a number is to be chosen.

    Examples
    --------
    >>> as_key({"like": 1.0, "so, so": None, "no": 0})
    "values: {like: 1, 'so, so': …, 'no': 0}"
    """
    pairs = (
        f"{quoted(text)}: {'…' if number is None else f'{number:.16g}'}"
        for text, number in numbers.items()
    )
    return f"values: {{{', '.join(pairs)}}}"


_NOT_TEXT = ("yes", "no", "y", "n", "on", "off", "true", "false")
"""Words that YAML may read as true or false."""


def quoted(text: str) -> str:
    """Return a text as a config has it: in quotation marks unless it is words.

    Examples
    --------
    >>> quoted("so so"), quoted("no"), quoted("4/5")
    ('so so', "'no'", "'4/5'")
    """
    is_word = re.fullmatch(r"[^\W\d_][^\W_]*( [^\W_]+)*", text) is not None
    if is_word and text.casefold() not in (*_NOT_TEXT, *MISSING):
        return text
    return "'" + text.replace("'", "''") + "'"


def checked_values(values: Any) -> Any:
    """Return the key `values` of a config with texts as its keys, or raise `ValueError`.

    A key that YAML reads as true, false, a number or nothing becomes its text.
    """
    if not isinstance(values, Mapping):
        return values
    texts: dict[str, Any] = {}
    for key, number in values.items():
        names = [str(key)]
        if isinstance(key, bool):
            names = ["true", "yes"] if key else ["false", "no"]
        elif key is None:
            names = ["null"]
        for name in names:
            texts.setdefault(name, number)
    if not texts:
        raise ValueError("no texts; name some, such as {like: 1, dislike: 0}")
    of: dict[str, tuple[str, Any]] = {}
    for text, number in texts.items():
        first, other = of.setdefault(_name(text), (text, number))
        if other != number:
            raise ValueError(f"{first!r} and {text!r} are the same text; give them one number")
    return texts


def checked_texts(values: Any) -> Any:
    """Return a list of texts, among which YAML reads some as nothing, truth or numbers."""
    if not isinstance(values, list | tuple):
        return values
    return ["null" if value is None else str(value) for value in values]


def _name(text: str) -> str:
    """Return a text as it is looked up: in small letters, with single blanks, numbers as floats."""
    return repr(float(text)) if is_number(text) else " ".join(text.split()).casefold()


@dataclass
class NumberReader:
    """Turns a column into floats, NaN for none; rows that are not finite numbers are marked.

    Parameters
    ----------
    role : str
        What messages call a value.
    values : ValueFormat
    mark : callable
        Takes the rows that are not numbers.
    notes : list of Note
        Is added to.
    scale : (float, float) or None
        What the numbers can be, if their writing shows it.
    words : tuple of str
        Texts that are not numbers, each once, in the order of the file; none if they are many.
    """

    role: str
    values: ValueFormat
    mark: Marker
    notes: list[Note]
    scale: tuple[float, float] | None = None
    words: tuple[str, ...] = ()

    def numbers(self, column: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return the number of each row."""
        role, values = self.role, self.values
        if is_text(column.type) and not (
            values.values or values.thousands or values.decimal == ","
        ):
            with suppress(pa.ArrowInvalid):
                numbers = floats(column)
                if (np.abs(numbers) <= MOST_RATING).all():
                    if not values.decimal and len(column):
                        self._ask_about_points(column)
                    return numbers
        column = plain(column)
        if role == "rating" and pa.types.is_boolean(column.type):
            column = pc.cast(column, pa.string())
        if role == "rating" and values.values:
            numbers = self._named(column, values.values)
        elif is_text(column.type):
            numbers = self._of_texts(column)
        elif is_numeric(column.type):
            numbers = floats(column)
            self.mark(np.isinf(numbers), lambda row: f"the {role} {numbers[row]} is not finite")
        else:
            raise DataError(f"{role}s of type {column.type}; turn them into numbers")
        large = np.abs(numbers) > MOST_RATING
        if role == "rating" and large.any():  # which is squared; of other numbers the order counts
            fault = f"is too large to be squared; use a unit that gives at most {MOST_RATING:g}"
            says = lambda row: f"the rating {numbers[row]:.3g} {fault}"  # noqa: E731
            self.mark(large & np.isfinite(numbers), says)
        return numbers

    def _of_texts(self, texts: pa.ChunkedArray) -> NDArray[np.float64]:
        role, values = self.role, self.values
        is_plain = values.decimal != "," and not values.thousands
        with suppress(pa.ArrowInvalid):
            numbers = floats(texts if is_plain else _with_points(texts, values))
            if np.isfinite(numbers).all():
                return numbers
        wrong_texts: list[str] = []

        def describe(text: str) -> str:
            return f"the {role} {shown(text)} is not a number" + hint(text.strip(), values)

        def parse(distinct: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
            distinct = _with_plain_signs(distinct)
            numbers, wrong = _parse(_with_points(distinct, values))
            if not wrong.any():
                return numbers, wrong
            if not values.decimal and not values.thousands:
                marks = marks_of(distinct.to_pylist())
                if any(marks):
                    marked = ValueFormat(decimal=marks.decimal, thousands=marks.thousands)
                    numbers, wrong = _parse(_with_points(distinct, marked))
                    keys = {key: mark for key, mark in marks._asdict().items() if mark}
                    example = next((t for t in distinct.to_pylist() if not is_number(t)), "")
                    seen = {"role": role, "found": str(Remedy(keys)), "keys": keys}
                    self.notes.append(Note("marks-found", {**seen, "example": example}))
            if wrong.any() and role == "rating":
                written = written_alike(_pointed(distinct.to_pylist(), values))
                if written is not None:
                    self.scale = written.scale
                    read = {"role": role, "form": written.form}
                    self.notes.append(Note("ratings-written", read))
                    return written.numbers, np.zeros(len(distinct), bool)
            wrong_texts.extend(distinct.filter(pa.array(wrong)).to_pylist())
            return numbers, wrong

        wrong = np.zeros(len(texts), bool)

        def mark(rows: Mask, says: Callable[[int], str]) -> None:
            wrong[:] = rows
            self.mark(rows, says)

        numbers = parse_distinct(texts, parse, np.nan, describe, mark)
        are_numbers = all(hint(text.strip(), ValueFormat()) for text in wrong_texts)
        are_many = np.count_nonzero(wrong) >= max(min(2, len(texts)), LEAST_WORDS * len(texts))
        if are_many and not are_numbers:
            self._keep_words(wrong_texts)
        return numbers

    def _keep_words(self, texts: list[str]) -> None:
        if self.role == "rating" and len(texts) <= MOST_WORDS and all(len(t) <= 60 for t in texts):
            self.words = tuple(dict.fromkeys(texts))

    def _ask_about_points(self, texts: pa.ChunkedArray) -> None:
        """Say that three decimals are read as such, where all numbers may be thousands."""
        if self.role != "rating" or re.match(_THREE_DECIMALS, str(texts[0].as_py())) is None:
            return
        distinct = pc.unique(texts).drop_null()
        example = next((t for t in distinct.to_pylist() if "." in t), "")
        if example and pc.all(pc.match_substring_regex(distinct, _THREE_DECIMALS)).as_py():
            seen = {"example": example, "whole": example.replace(".", "")}
            self.notes.append(Note("maybe-thousands", seen))

    def _named(self, column: pa.ChunkedArray, named: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the numbers that a config gives to texts; of other numbers, themselves."""
        of_numbers = any(map(is_number, named))
        if is_numeric(column.type) and not of_numbers:
            return floats(column)
        names = {_name(text): float(number) for text, number in named.items()}
        encoded = combined(pc.cast(column, pa.string()).dictionary_encode())
        codes = encoded.indices.fill_null(-1).to_numpy()
        texts = encoded.dictionary.to_pylist()
        numbers = np.full(len(texts) + 1, np.nan)
        wrong = np.zeros(len(texts) + 1, bool)
        kept = np.zeros(len(texts) + 1, bool)
        pointed = _with_points(encoded.dictionary, self.values).to_pylist()
        for place, (text, number) in enumerate(zip(texts, pointed, strict=True)):
            exact = next((named[key] for key in (text, text.strip()) if key in named), None)
            value = names.get(_name(text)) if exact is None else float(exact)
            if value is not None:
                numbers[place] = value
            elif is_number(number) and not of_numbers:
                numbers[place], kept[place] = float(number), True
            elif text.strip().casefold() not in MISSING:
                wrong[place] = True
        lacking = "is not among the texts of `values`"
        role = self.role
        self.mark(wrong[codes], lambda row: f"the {role} {shown(texts[codes[row]])} {lacking}")
        self._keep_words([text.strip() for place, text in enumerate(texts) if wrong[place]])
        if n_kept := int(np.count_nonzero(kept[codes])):
            self.notes.append(Note("numbers-beside-values", {"n": n_kept, "n_all": len(codes)}))
        low, high = min(named.values()), max(named.values())
        inside = numbers[codes][kept[codes]]
        if low < high and (not len(inside) or (low <= inside.min() and inside.max() <= high)):
            self.scale = float(low), float(high)
        return np.asarray(numbers[codes])


def is_written(text: str, values: Mapping[str, float] | None) -> bool:
    """Return whether a text, not a number, is a rating: words that are named, stars, 80%, 4/5.

    Examples
    --------
    >>> is_written("80%", None), is_written("like", {"Like": 1}), is_written("rating 2", None)
    (True, True, False)
    """
    if values and _name(text) in map(_name, values):
        return True
    written = written_alike([text]) if text else None
    return written is not None and written.scale is not None


def hint(text: str, values: ValueFormat) -> str:
    """Return what a number with a comma may mean, as the end of a message."""
    if values.decimal == "," or values.thousands or not values.in_config:
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


def _with_plain_signs(texts: pa.StringArray) -> pa.StringArray:
    """Return texts with a plain minus and plain blanks in place of typographic ones."""
    texts = pc.replace_substring(texts, "\N{MINUS SIGN}", "-")
    return pc.utf8_trim(pc.replace_substring_regex(texts, "[\u00a0\u2009\u202f]", " "), " ")


def _with_points(texts: pa.ChunkedArray, values: ValueFormat) -> pa.ChunkedArray:
    """Return texts with a point as the decimal mark, and without marks between thousands."""
    decimal = values.decimal or ("," if values.thousands == "." else ".")
    if values.thousands:
        mark = re.escape(values.thousands)
        grouped = rf"^\s*[+-]?\d{{1,3}}({mark}\d{{3}})+({re.escape(decimal)}\d*)?\s*$"
        is_grouped = pc.match_substring_regex(texts, grouped)
        texts = pc.if_else(is_grouped, pc.replace_substring(texts, values.thousands, ""), texts)
    return pc.replace_substring(texts, ",", ".") if decimal == "," else texts


def _pointed(texts: list[str], values: ValueFormat) -> list[str]:
    """Return texts whose numbers have points, if a comma in them can only be a decimal mark."""
    commas = [text for text in texts if "," in text]
    are_decimal = all(re.search(r"\d,\d{1,2}(?!\d)", t) and "." not in t for t in commas)
    if values.decimal != "." and not values.thousands and are_decimal:
        return [re.sub(r"(?<=\d),(?=\d)", ".", text) for text in texts]
    return texts


def _parse(texts: pa.StringArray) -> tuple[NDArray[np.float64], Mask]:
    numbers = [float(text) if is_number(text) else np.inf for text in texts.to_pylist()]
    values = np.array(numbers, dtype=np.float64)
    return values, ~np.isfinite(values)
