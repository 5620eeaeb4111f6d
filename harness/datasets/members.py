"""Which files of an archive, a folder or a workbook hold the ratings."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from harness._util.libraries import pq
from harness.datasets.catalogue import SOURCES
from harness.datasets.columns import RATINGS, find_columns
from harness.datasets.readers import column_names, is_text, kind_of_file, read_file, reader_named
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.packed import Member, beginning, packing_of, without_packing
from harness.datasets.readers.text import header_and_columns, read_sample
from harness.errors import DataError, counted, listed, suggestion
from harness.notes.note import Note

HEAD = 1 << 16
"""Bytes of a member by which it is seen whether it holds ratings."""
WHOLE = 1 << 26
"""Bytes up to which a member of a format that cannot be read in part is taken out to be seen."""
_DOCUMENTS = (
    ".md", ".rst", ".html", ".htm", ".pdf", ".doc", ".docx", ".sh", ".pl", ".py", ".r", ".ipynb",
    ".png", ".jpg", ".jpeg", ".gif", ".svg", ".log", ".crc", ".bib", ".yaml", ".yml", ".toml",
)  # fmt: skip
_STEMS = ("readme", "license", "licence", "copying", "changelog", "citation", "checksums")
_SAVED_MODEL = {"model.json", "by_user.ids.npy"}
"""Members that a saved model has, and no archive of ratings."""
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst")
FEW = 50
"""Members that are looked at one by one, also where their names differ only in numbers."""
LARGEST = 1e8
"""A rating is smaller; a time is not."""


class ChosenMembers(NamedTuple):
    """The members that are read, and notes about the choice."""

    members: list[Member]
    notes: tuple[Note, ...] = ()


def choose(
    members: Sequence[Member],
    where: str,
    options: ReadOptions,
    take_out: Callable[[Member, int | None], Path],
    *,
    key: str = "member",
    kind: str = "file",
) -> ChosenMembers:
    """Return the members that hold ratings: the one that `options` name, or those that show it.

    Parameters
    ----------
    members : sequence of Member
    where : str
        What messages call the archive, folder or workbook.
    options : ReadOptions
    take_out : callable
        Returns a file with a member, or with its first bytes as the second argument says.
    key, kind : str
        The key of a config that names a member, and what one is.

    Raises
    ------
    DataError
        If no member holds ratings, or it cannot be told which does.
    """
    asked = options.table if key == "table" else options.member
    if asked is not None:
        return ChosenMembers(_named(members, asked, where, key, kind))
    data = [member for member in members if not is_document(member.name)] or list(members)
    data = [member for member in data if member.size] or data  # a part may hold no row
    if len(data) == 1:
        return ChosenMembers(data, _notes(data, members, key, kind))
    published = [member for member in data if member.name in _published()]
    if len(published) == 1:
        return ChosenMembers(published, _notes(published, members, key, kind))
    looked_at = data
    if len(data) > FEW and _are_numbered(data):
        looked_at = [data[0], data[len(data) // 2], data[-1]]
    found = {member.name: _columns_of(member, options, take_out) for member in looked_at}
    if looked_at is not data:  # what holds for three of so many alike is taken to hold for all
        alike = found[data[0].name] if len({*found.values()}) == 1 else None
        found = {member.name: alike for member in data}
    fitting = [member for member in data if found[member.name] is not None]
    fitting = [member for member in fitting if found[member.name] != _NO_ROW] or fitting
    named = [member for member in fitting if isinstance(found[member.name], frozenset)]
    if named and len(named) < len(fitting):
        rest = [member for member in fitting if member not in named]
        if _are_numbered(fitting):
            raise DataError(
                f"{where}: {named[0].name} has a header and {rest[0].name} has none; join "
                "them in one file, the one with the header first"
            )
        fitting = named
    columns = {found[member.name] for member in fitting}
    has_header = any(isinstance(each, frozenset) for each in columns)
    has_copies = len({_stem(member.name) for member in fitting}) < len(fitting)
    are_parts = len(columns) == 1 and (has_header or _are_numbered(fitting)) and not has_copies
    if len(fitting) > 1 and not are_parts:
        called = [member for member in fitting if "rating" in _stem(member.name)]
        fitting = called if len(called) == 1 else fitting
    if not fitting:
        fitting = [member for member in data if member.name.casefold().endswith(_ARCHIVES)]
        fitting = fitting if len(fitting) == 1 else []
    names = [member.name for member in fitting or data]
    if not names:
        raise DataError(f"{where}: holds no {kind}; give an archive with ratings")
    if not fitting and _SAVED_MODEL.issubset(names):
        raise DataError(
            f"{where}: a saved model, not ratings; harness.load_model reads it, and "
            "harness.recommend uses it"
        )
    if not fitting:
        raise DataError(
            f"{where}: no {kind} of ratings among {counted(len(data), kind)} "
            f"({listed(names, 10)}); {_reason(data, options, take_out)}name the one to read, "
            f"such as {key}: {names[0]}"
        )
    if len(fitting) > 1 and not are_parts:
        several = f", or several by a pattern, such as {key}: '*'" if key == "member" else ""
        raise DataError(
            f"{where}: {counted(len(fitting), kind)} may hold the ratings ({listed(names, 10)}); "
            f"name one, such as {key}: {names[0]}{several}"
        )
    return ChosenMembers(fitting, _notes(fitting, members, key, kind))


def _reason(
    members: Sequence[Member], options: ReadOptions, take_out: Callable[[Member, int | None], Path]
) -> str:
    """Return what to do about members that are parts of one table without users; else empty."""
    if len(members) < 2 or not _are_numbered(members):
        return ""
    with suppress(DataError, OSError), take_out(members[0], HEAD).open("rb") as file:
        _, (names,) = read_sample(file, options, members[0].name)
        if {role for role in RATINGS.required if RATINGS.positions(names, role)} == _NO_USER:
            return (
                f"{members[0].name} has no column for the user: if each is the file of a user, add "
                "a column with the name of each file; else "
            )
    return ""


_NO_USER = {"item", "rating"}


def _notes(
    read: Sequence[Member], members: Sequence[Member], key: str, kind: str
) -> tuple[Note, ...]:
    members = [member for member in members if member.size]
    if len(read) == len(members) and (len(read) == 1 or _are_numbered(read)):
        return ()
    names = [member.name for member in read]
    values = {"members": names[:4], "key": key, "n_more": max(0, len(names) - 4)}
    left = [member.name for member in members if member not in read]
    if len(read) > 1:
        return (Note("members-joined", values | {"n": len(read), "kind": kind}),)
    left_out = values | {"others": left[:4], "n_left": len(left), "kind": kind}
    return (Note("member-read", left_out),)


def _named(members: Sequence[Member], asked: str, where: str, key: str, kind: str) -> list[Member]:
    matching = [member for member in members if member.name == asked]
    matching = matching or [
        member
        for member in members
        if fnmatchcase(member.name, asked) or fnmatchcase(PurePosixPath(member.name).name, asked)
    ]
    if not matching:
        advice = suggestion(asked, [member.name for member in members], most=10)
        raise DataError(f"{where}: no {kind} {asked!r} for {key}; {advice}")
    return matching


def _published() -> set[str]:
    """Return the names that files of ratings have in archives of data sets of the catalogue."""
    sets = vars(SOURCES).values()
    return {member for each in sets if (member := getattr(each, "member", ""))}


def is_document(name: str) -> bool:
    """Return whether a file is one for people, such as a README, by its name."""
    name = PurePosixPath(name).name.casefold()
    return name.endswith(_DOCUMENTS) or name.startswith(_STEMS)


def _stem(name: str) -> str:
    return PurePosixPath(without_packing(name)).stem.casefold()


def _are_numbered(members: Sequence[Member]) -> bool:
    """Return whether names differ only in numbers and hashes, as for parts of one table."""
    shapes = {re.sub(r"[0-9a-f]*[0-9][0-9a-f]*", "0", member.name.casefold()) for member in members}
    return len(shapes) == 1


def _columns_of(
    member: Member, options: ReadOptions, take_out: Callable[[Member, int | None], Path]
) -> frozenset[str] | int | None:
    """Return the names of the columns of a member, or how many it has; None without ratings."""
    with suppress(DataError, OSError), scratch() as folder:
        path = take_out(member, HEAD)
        is_whole = member.size <= HEAD
        if packing_of(path):
            path, is_whole = _unpacked_beginning(path, Path(folder))
        kind = options.kind or kind_of_file(path)
        is_table = kind is not None and not is_text(kind) and kind != "netflix"
        if is_table and not is_whole:
            if member.size > WHOLE and kind != "parquet":
                return None
            path, is_whole = take_out(member, None), True
        if not is_whole:
            _cut(path)
        if is_table:
            names = column_names(path, kind or "", member.name)
            find_columns(names, options.columns, member.name, options.roles)
            is_empty = kind == "parquet" and pq.read_metadata(path).num_rows == 0
            return _NO_ROW if is_empty else frozenset(names)
        table = read_file(path, replace(options, member=None, where=""), member.name)
        ratings = table.numbers.get("rating", np.zeros(1))
        usable = np.isfinite(ratings)
        if usable.mean() < 0.5 or (usable.any() and ratings[usable].min() > LARGEST):
            return None
        if kind == "netflix":
            return 3
        with path.open("rb") as file:
            separators = () if kind is None else reader_named(kind).separators
            known = replace(options, separators=separators)
            _, (first,) = read_sample(file, known, member.name)
        header, _ = header_and_columns(first, known, member.name)
        return frozenset(first) if header else len(first)
    return None


_NO_ROW = -1


def _unpacked_beginning(path: Path, folder: Path) -> tuple[Path, bool]:
    """Return a file with the beginning of what a packed one holds, and whether that is all."""
    data = beginning(path, HEAD + 1)
    place = folder / f"beginning-{without_packing(path.name)}"
    place.write_bytes(data[:HEAD])
    return place, len(data) <= HEAD


def _cut(path: Path) -> None:
    """Let the first bytes of a text end with a line."""
    data = path.read_bytes()
    path.write_bytes(data[: data.rfind(b"\n") + 1] or data)


def scratch() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed at the end."""
    return tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True)
