"""Counts of plays, as Last.fm 360K has them."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.datasets.cleaning import merge_pairs
from harness.datasets.columns import Roles
from harness.datasets.conversion import Coded, Table, convert
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.text import Layout, read_text
from harness.errors import DataError, reason_of
from harness.notes.note import Note

_PLAYS = ReadOptions(
    encoding="utf-8",
    roles=Roles({"user": "text", "item": "text", "plays": "text"}, {}),
    layout=Layout("\t", False, 4, {"user": 0, "item": 2, "plays": 3}, quotes=False),
)
_SOUND_PLAYS = {
    "user": ("^[0-9a-f]{40}$", "without a SHA-1 for its user"),
    "item": (r"\S", "without an artist"),
    "plays": ("^0*[1-9][0-9]{0,8}$", "without a whole number of plays from 1"),
}


def read_plays(stream: io.BufferedReader, where: str) -> Table:
    """Read counts of plays from Last.fm 360K; invalid lines are left out and counted.

    A line has the user (SHA-1 of an address), the artist's MusicBrainz id (often none), the
    artist's name and the plays, separated by tabs; quotation marks and surrounding blanks are part
    of a name. Artists are identified by name, as in most publications on these data, so the few
    that have several ids become one and their plays are added up.
    """
    table = read_text(stream, _PLAYS, where)
    flaws = {flaw.policy: flaw for flaw in table.flaws}
    if "" in flaws:
        row = int(flaws[""].rows[0])
        raise DataError(f"{table.at(row)}: {flaws[''].describe(row)}")
    notes = []
    sound = np.ones(len(table), dtype=bool)
    if "unreadable" in flaws:
        ragged = flaws["unreadable"].rows
        values = {"n": len(ragged), "fault": "without four fields"}
        notes.append(Note("lines-left-out", values))
        sound[ragged] = False
    for role, (pattern, fault) in _SOUND_PLAYS.items():
        codes, ids = table.ids[role]
        passed = np.array([re.search(pattern, text) is not None for text in ids], dtype=bool)
        odd = sound & ~np.append(passed, False)[codes]
        sound &= ~odd
        if odd.any():
            notes.append(Note("lines-left-out", {"n": odd.sum(), "fault": fault}))
    table = table.take(sound)
    codes, texts = table.ids.pop("plays")
    counts = np.array([float(text) if text.isdecimal() else 0 for text in texts])
    return _plays_added_up(table.ids, counts[codes], where, notes)


def read_plays_as_pandas(stream: io.BufferedReader, where: str) -> Table:
    """Read the file of Last.fm 360K as ``pandas.read_table`` does with its defaults.

    It reads the first line as a header, and a quotation mark at the start of a name as the start of
    a quoted field, which extends over tabs and lines to the next one. Artists called NA or null
    count as missing. Many published results on these data use the remaining rows.
    """
    types = {0: "category", 2: "category", 3: "float64"}
    try:
        frame = pd.read_csv(stream, sep="\t", usecols=[0, 2, 3], dtype=types)
    except IndexError:  # pandas' own, where no line follows the header
        raise DataError(f"{where}: no plays; give a file that has some") from None
    except ValueError as error:
        reason = reason_of(error)
        raise DataError(f"{where}: not read as pandas does ({reason}); leave out like") from None
    frame.columns = pd.Index(["user", "item", "plays"])
    complete = frame.dropna()
    notes = [Note("read-as-pandas", {"n": len(frame)})]
    if len(complete) < len(frame):
        notes.append(Note("rows-left-out", {"n": len(frame) - len(complete)}))
    ids = {role: complete[role] for role in ("user", "item")}
    table = convert(ids, {"user": "id", "item": "id"}, where)
    return _plays_added_up(table.ids, complete["plays"].to_numpy(), where, notes)


def _plays_added_up(
    ids: dict[str, Coded], plays: NDArray[np.float64], where: str, notes: list[Note]
) -> Table:
    """Return each pair once, at the place of its first row, with the sum of its plays."""
    if not len(plays):
        raise DataError(f"{where}: no plays; give a file that has some")
    table = Table(ids, {"rating": plays}, {}, lambda row: where)
    table, is_first = merge_pairs(table, "sum", np.ones(len(table), dtype=bool))
    n_added = int((~is_first).sum())
    if n_added:
        table = table.take(is_first)
        notes.append(Note("plays-added", {"n": n_added}))
    return replace(table, notes=tuple(notes))
