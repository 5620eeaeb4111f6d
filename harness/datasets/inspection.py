"""Find out once what ratings a ``dataset`` part of a config names, before they are read.

Every way in uses this: `harness.load`, `harness describe`, `harness run --dataset`, `harness new`,
`harness check` and a config. Certain findings are used, and a note gives the keys of a config that
say the same; uncertain ones are refused, with keys that decide them.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness._util.files import placed
from harness.datasets.cleaning import outliers
from harness.datasets.columns import RATINGS, find_columns
from harness.datasets.conversion import Table, joined
from harness.datasets.evidence import Candidate, candidates, named_columns
from harness.datasets.limits import Limits
from harness.datasets.places import OF_SHEETS, found
from harness.datasets.ratings import Ratings
from harness.datasets.readers import (
    check_keys,
    column_names,
    columns_vary,
    is_text,
    kind_of_plain,
    read_as,
    reader_named,
    reading,
    recognised,
    sample_of,
)
from harness.datasets.readers.base import OF_TABLES, OF_TEXT, ReadOptions, Sample
from harness.datasets.readers.packed import Progress, unpacked
from harness.datasets.readers.text import Delimited, Seen, look
from harness.datasets.readers.trec import RUN, form_of_lines
from harness.datasets.remedies import Remedy
from harness.datasets.section import OF_VALUES, DatasetSection, name_of
from harness.errors import ColumnsError, DataError
from harness.notes.note import Note

ROLES = tuple(RATINGS.kinds)


@dataclass(frozen=True)
class InspectedFile:
    """One file of ratings, unpacked, and what was found of it.

    Parameters
    ----------
    path : Path
    where : str
        What messages call it.
    kind : str or None
        The name of its reader, by its first bytes, else its ending; None for a plain text.
    options : ReadOptions
        With all that was found.
    seen : Seen or None
        The beginning of a text.
    notes : tuple of Note
        What was found or assumed.
    """

    path: Path
    where: str
    kind: str | None
    options: ReadOptions
    seen: Seen | None = None
    notes: tuple[Note, ...] = ()

    def names(self) -> list[str]:
        """Return the names of the columns, or the fields of the first line of a text."""
        if self.seen is not None:
            return self.seen.first
        return column_names(self.path, self.kind or "", self.where)

    def sample(self) -> Sample:
        """Return the names of the columns, and the first rows as text where they can be had."""
        try:
            return sample_of(self.path, self.kind or "", self.options)
        except DataError:  # of a column that need not be read
            return Sample(self.names(), [])

    @property
    def has_names(self) -> bool:
        """Whether the columns have names."""
        layout = self.options.layout
        return layout is None or layout.header

    def columns(self) -> dict[str, str | int]:
        """Return the column of each role, as a config names it: by name, else by position."""
        if columns_vary(self.kind):
            return {}
        names, layout = self.names(), self.options.layout
        if layout is not None:
            positions = layout.columns
        elif is_text(self.kind or ""):  # it names what has no names in the file
            return {role: at for role, at in self.options.columns.items() if at is not None}
        else:
            try:
                positions = find_columns(names, self.options.columns, self.where)
            except ColumnsError:  # the reader knows which they are, as of a wide table
                return {}
        by_name = layout is None or (layout.header and RATINGS.names_columns(names))
        by_name = by_name or any(isinstance(at, str) for at in self.options.columns.values())
        return {
            role: names[at] if by_name and names.count(names[at]) == 1 else at + 1
            for role, at in positions.items()
        }


@dataclass
class Inspection:
    """The ratings that a ``dataset`` part of a config names, and what was found of them.

    Parameters
    ----------
    section : DatasetSection
        As it was given.
    name : str
        What the ratings are called.
    members : list of InspectedFile
        The files, in order.
    """

    section: DatasetSection
    name: str
    members: list[InspectedFile]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was found or assumed, each once; a note names the keys that change it."""
        return tuple(dict.fromkeys(note for member in self.members for note in member.notes))

    def table(self, progress: Progress | None = None) -> Table:
        """Read and return all rows."""
        tables = []
        for member in self.members:
            table = read_as(member.kind, member.path, replace(member.options, progress=progress))
            notes = dict.fromkeys((*member.notes, *table.notes))
            tables.append(replace(table, notes=tuple(notes)))
        return tables[0] if len(tables) == 1 else joined(tables, self.name)

    def keys(self, notes: tuple[Note, ...] | None = None) -> dict[str, Any]:
        """Return the keys of a config that say what was found."""
        keys: dict[str, Any] = {}
        if len(self.members) == 1:
            columns = self.members[0].columns()
            keys = {"columns": columns} if columns else {}
        for note in self.notes if notes is None else notes:
            found_keys = note.values.get("keys", {})
            keys |= {key: value for key, value in found_keys.items() if key != "columns"}
        return keys

    def candidates(self, *, decided: bool = True) -> list[Candidate]:
        """Return the columns of the first file, what they hold, and why they have a role or not.

        If it is not `decided` which is which, none has a role.
        """
        member = self.members[0]
        seen, options, roles = member.seen, member.options, dict[str, int]()
        names, rows = (seen.first, seen.rows) if seen is not None else member.sample()
        if seen is not None and not member.has_names:
            names, rows = [], [names, *rows]
        if decided and options.layout is not None:
            roles = options.layout.columns
        elif decided and seen is None and is_text(member.kind or ""):
            roles = {role: at - 1 for role, at in options.columns.items() if isinstance(at, int)}
        elif decided and seen is None:
            roles = named_columns(names, lambda: rows, options.columns, member.where).columns
        return candidates(names, rows, roles)


@contextmanager
def inspect(section: DatasetSection, base: Path | None = None) -> Iterator[Inspection]:
    r"""Yield what is found of the file, or the files, that a config names.

    Files from elsewhere and what packed ones hold are there until it ends.

    Parameters
    ----------
    section : DatasetSection
        With a path; its keys count before anything is found out.
    base : Path, optional
        Where relative paths start; the working directory when left out.

    Raises
    ------
    DataError
        If there is no such file, or what it holds cannot be told; the message says what to do.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> with inspect(DatasetSection(path=str(path))) as found:
    ...     table = found.table()
    ...     found.keys(table.notes), len(table)
    ({'columns': {'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, 'decimal': ','}, 2)
    """
    columns = section.columns.model_dump(exclude_unset=True) if section.columns else {}
    columns = {role: column for role, column in columns.items() if column or role == "timestamp"}
    keys = {*OF_TEXT, *OF_TABLES, *OF_VALUES, "member", "not_items", "not_rated"}
    written = section.model_dump(include=keys - {"columns"}, exclude_none=True)
    limits, paths = Limits(section.most_megabytes, section.most_seconds), section.paths
    options = ReadOptions(kind=section.format, columns=columns, limits=limits, **written)
    given, name = section.model_fields_set, name_of(paths)
    if len(paths) == 1 and section.format is None and section.member is None:
        path = placed(paths[0], base)
        if kind := kind_of_plain(path):
            member = inspect_file(path, str(Path(paths[0])), replace(options, kind=kind), given)
            yield Inspection(section, name, [member])
            return
    with ExitStack() as held:
        places = held.enter_context(found(paths, base, section.sha256, limits, options))
        members = []
        for place in places:
            path, where = held.enter_context(unpacked(place.path, place.where, limits))
            known = options
            if place.is_sheet:
                known = replace(options, kind=OF_SHEETS[options.kind], table=None)
            member = inspect_file(path, where, known, given)
            members.append(replace(member, notes=(*place.notes, *member.notes)))
        yield Inspection(section, name, members)


def inspect_file(path: Path, where: str, options: ReadOptions, given: Set[str]) -> InspectedFile:
    """Return what is found of one file that is not packed; `given` are keys that decide."""
    kind = options.kind or recognised(path, where)
    reader = Delimited() if kind is None else reader_named(kind)
    if kind == "matrix" and (of_file := recognised(path, where)) and not is_text(of_file):
        kind, reader = of_file, reader_named(of_file)
        options = replace(options, is_wide=True)
    if not given.isdisjoint((*OF_TEXT, *OF_TABLES)):
        check_keys(kind, options, where)
    if not isinstance(reader, Delimited):
        return InspectedFile(path, where, kind, replace(options, where=where))
    with reading(where, kind):
        seen = look(path, replace(options, where=where, separators=reader.separators), where, given)
    may_be_run = len(seen.first) == 6 and not options.columns
    if may_be_run and form_of_lines([seen.first, *seen.rows]) == RUN:
        scores = Remedy({"columns": {"user": 1, "item": 3, "rating": 5, "timestamp": None}})
        raise DataError(
            f"{where}: a TREC run ({RUN}), which has rankings of a program, not ratings; score it "
            f"with `harness evaluate`, or read its scores as ratings with {scores}"
        )
    return InspectedFile(path, where, seen.options.kind or kind, seen.options, seen, seen.notes)


def candidates_of(section: DatasetSection, base: Path | None = None) -> list[Candidate]:
    """Return the columns of a file, what they hold, and which role each has and why.

    If columns cannot be told apart, all are there without a role.
    """
    try:
        with inspect(section, base) as found_out:
            return found_out.candidates()
    except ColumnsError:
        positions = {"columns": {"user": 1, "item": 2, "rating": 3, "timestamp": None}}
        named = {**section.model_dump(exclude_unset=True), **positions}
        with inspect(DatasetSection(**named), base) as found_out:
            return found_out.candidates(decided=False)


@dataclass(frozen=True)
class Detected:
    """Ratings for which a config is written.

    `section` is the ``dataset`` part of the config with all that was found, and `named` without
    what a note says, so that a run with it has the same notes. `ratings` are the usable rows, and
    `faults` names every row that the section refuses.
    """

    section: dict[str, Any]
    named: dict[str, Any]
    ratings: Ratings
    faults: str


def detect(source: DatasetSection | Path, base: Path | None = None) -> Detected:
    r"""Read ratings, also those with rows that need a decision, and return the keys that say how.

    Examples
    --------
    >>> path = getfixture("tmp_path") / "a.csv"
    >>> _ = path.write_text("userId;movieId;stars\n7;10;4,5\n7;11;2,0\n")
    >>> found = detect(path)
    >>> found.section["columns"], found.section["scale"], found.section["decimal"]
    ({'user': 'userId', 'item': 'movieId', 'rating': 'stars'}, [2, 4.5], ',')
    """
    section = DatasetSection(path=str(source)) if isinstance(source, Path) else source
    given = section.model_dump(mode="json", exclude_unset=True, exclude={"columns", "scale"})
    faults = ""
    with inspect(section, base) as found_out:
        table = found_out.table()
        try:
            ratings = Ratings.from_table(table, found_out.name, section=section)
        except DataError as error:
            faults = str(error)
            policies = {"duplicates": "first", "missing": "drop", "unreadable": "drop"}
            lenient = section.model_copy(update={**policies, "out_of_scale": "keep"})
            try:
                ratings = Ratings.from_table(table, found_out.name, section=lenient)
            except DataError:  # no row is left
                raise error from None
        keys = found_out.keys(table.notes)
    assumed = any(
        note.code == "columns-assumed" or "columns" in note.values.get("keys", {})
        for note in table.notes
    )
    named = {} if assumed else {key: keys[key] for key in ("columns",) if key in keys}
    if section.columns is not None:
        columns = section.columns.model_dump(exclude_unset=True)
        named["columns"] = columns | named.get("columns", {})
        keys["columns"] = columns | keys.get("columns", {})
    scale = _scale(section, ratings)
    # A run says in a note of its own the scale that the ratings show as they are written, and asks
    # about zeros, which a scale in its config would settle.
    of_zeros = any(note.code == "zeros-are-ratings" for note in ratings.notes)
    of_run = {} if section.scale is None and (table.scale is not None or of_zeros) else scale
    return Detected({**given, **keys, **scale}, {**given, **named, **of_run}, ratings, faults)


def _scale(section: DatasetSection, ratings: Ratings) -> dict[str, list[float]]:
    """Return the scale of a section, else of the ratings without values far from all others."""
    if section.scale is not None:
        return {"scale": [*section.scale]}
    odd = outliers(ratings.ratings, *ratings.scale)
    usual = ratings.ratings if odd is None else ratings.ratings[~odd]
    ends = [float(usual.min()), float(usual.max())]
    if ends[0] >= ends[1]:
        return {}
    return {"scale": [int(end) if end.is_integer() else end for end in ends]}
