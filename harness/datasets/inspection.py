"""Find out what a file of ratings is: its columns, its scale and its encoding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from harness.datasets.cleaning import outliers
from harness.datasets.columns import RATINGS
from harness.datasets.loading import load
from harness.datasets.numerals import marks_of
from harness.datasets.places import find_file
from harness.datasets.ratings import Ratings
from harness.datasets.readers import column_names, is_text, kind_of_file, reading, separators_of
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.encodings import encoding_of
from harness.datasets.readers.packed import unpacked
from harness.datasets.readers.text import header_and_columns, read_sample
from harness.errors import DataError

LINES = 200
"""Lines that are searched for a decimal comma."""
ROLES = tuple(RATINGS.kinds)


class Description(TypedDict, total=False):
    """What is found in a file, as keys of the ``dataset`` part of a config."""

    path: str
    columns: dict[str, str | int]
    encoding: str
    decimal: str
    thousands: str
    scale: list[float]


@dataclass(frozen=True)
class Detected:
    """A file of ratings, as a config describes it.

    `section` is the ``dataset`` part of a config, `ratings` are the usable rows, and `faults` names
    every row that the section, which decides about none, refuses.
    """

    section: Description
    ratings: Ratings
    faults: str


def first_lines(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the fields of the first line of a file, header or not, and its first rows as text.

    There are at most `LINES` rows, the first line among them; none of a file that is no text.
    """
    with unpacked(find_file(path, None), str(path)) as (place, where), reading(where):
        kind = kind_of_file(place)
        if kind is not None and not is_text(kind):
            return column_names(place, kind, where), []
        with place.open("rb") as file:
            options = ReadOptions(separators=separators_of(kind), encoding=encoding_of(place))
            _, rows = read_sample(file, options, where, LINES)
    return rows[0], rows


def detect(path: Path, columns: Mapping[str, str | int] | None = None) -> Detected:
    r"""Read a file of ratings and find its columns, its scale and its encoding.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> found = detect(path)
    >>> found.section["columns"], found.section["scale"], found.section["decimal"]
    ({'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, [2, 4.5], ',')
    """
    section = find_section(path, columns)
    faults = ""
    try:
        ratings = load(section)
    except DataError as error:
        faults = str(error)
        policies = {"duplicates": "first", "missing": "drop", "unreadable": "drop"}
        try:
            ratings = load({**section, **policies, "out_of_scale": "keep"})
        except DataError:  # no row is left
            raise error from None
    odd = outliers(ratings.ratings, *ratings.scale)
    usual = ratings.ratings if odd is None else ratings.ratings[~odd]
    ends = [float(usual.min()), float(usual.max())]
    if ends[0] < ends[1]:
        section["scale"] = [int(end) if end.is_integer() else end for end in ends]
    return Detected(section, ratings, faults)


def find_section(path: Path, columns: Mapping[str, str | int] | None = None) -> Description:
    """Return the ``dataset`` part of a config for a file, but for its scale.

    `columns` gives a name, or a position from 1, for roles that cannot be found by usual names.
    """
    names, rows = first_lines(path)
    options = ReadOptions(header=None if rows else True, columns=columns or {})
    header, positions = header_and_columns(names, options, str(path))
    written = {role: names[place] if header else place + 1 for role, place in positions.items()}
    section: Description = {"path": str(path), "columns": written}
    if rows:
        with unpacked(path, str(path)) as (place, _):
            encoding = encoding_of(place)
        if encoding:
            section["encoding"] = encoding
        marks = [
            row[positions["rating"]] for row in rows[header:] if len(row) > positions["rating"]
        ]
        found = {key: mark for key, mark in marks_of(marks)._asdict().items() if mark}
        section.update(Description(**found))  # type: ignore[typeddict-item]
    return section
