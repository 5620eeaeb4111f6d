"""The ``dataset`` section for a file of ratings, found by reading the file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.datasets.layout import ENDINGS, TextFormat, find_columns, names_columns
from harness.datasets.loading import load
from harness.datasets.ratings import Ratings
from harness.datasets.reading import read_sample, unmarked_encoding
from harness.errors import DataError

__all__ = ["Detected", "detect", "first_lines"]

ROLES = ("user", "item", "rating", "timestamp")
LINES = 200
"""Lines that are searched for a decimal comma."""


@dataclass(frozen=True)
class Detected:
    """A file of ratings, as a config describes it.

    Attributes
    ----------
    section : dict
        The ``dataset`` part of a config: path, columns, scale, and what else reading needs.
    ratings : Ratings
        The usable rows of the file.
    faults : str
        Every row that the section, which decides about none, refuses; empty without one.
    """

    section: dict[str, Any]
    ratings: Ratings
    faults: str


def first_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the columns of a file, and its first rows as text.

    Parameters
    ----------
    path : Path

    Returns
    -------
    names : list of str
        The fields of the first line of a text, whether it is a header or not.
    rows : list of lists of str
        At most `LINES`; the first line among them.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    if ENDINGS.get(path.suffix.casefold()) == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return list(pq.read_schema(path).names), []
        except (pa.ArrowException, OSError, ValueError) as error:
            reason = str(error).splitlines()[0][:160]
            raise DataError(f"{path}: not a Parquet file that can be read ({reason})") from None
    known = TextFormat(ENDINGS.get(path.suffix.casefold()), encoding=_encoding(path))
    with path.open("rb") as file:
        rows = read_sample(file, known, str(path), LINES)
    return rows[0], rows


def detect(path: Path, columns: Mapping[str, str | int] | None = None) -> Detected:
    r"""Read a file of ratings and find its columns, its scale and its encoding.

    Parameters
    ----------
    path : Path
    columns : mapping, optional
        From user, item, rating and timestamp to a name or a position from 1, for those that
        cannot be found by their usual names.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is not found.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> found = detect(path)
    >>> found.section["columns"], found.section["scale"], found.section["decimal"]
    ({'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, [2, 4.5], ',')
    """
    names, rows = first_lines(path)
    section: dict[str, Any] = {"path": str(path)}
    is_text = bool(rows)
    header = not is_text or bool(columns) or names_columns(names) or not _like_ratings(names)
    if header:
        found = find_columns(names, dict(columns or {}), str(path))
        section["columns"] = {role: names[place] for role, place in found.items()}
    else:
        found = dict(zip(ROLES, range(len(names)), strict=False))
        section["columns"] = {role: place + 1 for role, place in found.items()}
    if is_text:
        encoding = _encoding(path)
        if encoding:
            section["encoding"] = encoding
        marks = [row[found["rating"]] for row in rows[header:] if len(row) > found["rating"]]
        if any(re.fullmatch(r"\s*-?\d+,\d+\s*", mark) for mark in marks):
            section["decimal"] = ","
    policies = {"duplicates": "first", "missing": "drop", "unreadable": "drop"}
    faults = ""
    try:
        ratings = load(section)
    except DataError as error:
        faults = str(error)
        ratings = load(section | policies | {"out_of_scale": "keep"})
    low, high = _usual_scale(ratings)
    if low < high:
        section["scale"] = [_short(low), _short(high)]
    return Detected(section, ratings, faults)


def _usual_scale(ratings: Ratings) -> tuple[float, float]:
    """Return the lowest and the highest rating, without those that are far from all others."""
    from harness.datasets.cleaning import outliers

    odd = outliers(ratings.ratings, *ratings.scale)
    rest = ratings.ratings if odd is None else ratings.ratings[~odd]
    return float(rest.min()), float(rest.max())


def _like_ratings(fields: Sequence[str]) -> bool:
    """Return whether a first line is one of ratings: its third field is a number."""
    return len(fields) > 2 and re.fullmatch(r"\s*-?\d+([.,]\d*)?\s*", fields[2]) is not None


def _encoding(path: Path) -> str | None:
    """Return the encoding that a config has to name; None for UTF-8, or where a mark says it."""
    with path.open("rb") as file:
        start = file.read(4)
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return None
        encoding = unmarked_encoding(start)
        if encoding:
            return encoding
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while data := file.read(1 << 20):
                decoder.decode(data)
        except UnicodeDecodeError:
            return "cp1252"
    return None


def _short(value: float) -> float | int:
    return int(value) if value.is_integer() else value
