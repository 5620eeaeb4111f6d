"""Counts of plays from Last.fm 360K; invalid lines are left out and counted.

A line holds the user (SHA-1 of an address), the artist's MusicBrainz id (often none), the artist's
name and the plays, separated by tabs. Artists are identified by name, as in most publications on
these data, so the few that have several ids become one and their plays are added up.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from harness.datasets.columns import Table, encode
from harness.datasets.delimited import Readable, read_blocks
from harness.datasets.rows import Coded, Rows
from harness.errors import DataError, counted

__all__ = ["read_plays", "read_plays_as_pandas"]

FIELDS = ("user", "mbid", "artist", "plays")
ROWS_AT_ONCE = 1 << 19

Tick = Callable[[int], object]


def read_plays(stream: Readable, where: str, tick: Tick | None = None) -> Table:
    r"""Read every line that holds a user, an artist and a count of plays.

    Quotation marks are part of a name. Text is read in blocks.

    Parameters
    ----------
    stream : readable
        Bytes, from their start.
    where : str
        What is read, for messages.
    tick : callable, optional
        Called with the number of bytes of each block.

    Raises
    ------
    DataError
        If no line can be used, or the text is not UTF-8.

    Examples
    --------
    >>> user = b"00000c289a1829a808ac09c00daf10bc3c4e223b"
    >>> lines = user + b"\t\tdie \xc3\x84rzte\t1099\n" + b"sep 20, 2008\t\tx\t12\n"
    >>> found = read_plays(io.BytesIO(lines), "plays.tsv")
    >>> found.numbers["rating"].tolist(), found.notes
    ([1099.0], ('1 line without a SHA-1 for its user left out',))
    """
    import pyarrow as pa

    tables, odd = [], Counter[str]()
    for block in read_blocks(stream, where):
        if tick:
            tick(len(block))
        tables.append(_sound_lines(_parse(block, where, odd), odd))
    if not sum(map(len, tables)):
        raise DataError(f"{where}: no plays; give a file that has some")
    whole = pa.concat_tables(tables)
    rows = Rows(
        _coded(whole.column("user")), _coded(whole.column("artist")), whole.column(2).to_numpy()
    )
    notes = tuple(f"{counted(n, 'line')} {what} left out" for what, n in odd.items() if n)
    return _finished(rows, where, notes)


def read_plays_as_pandas(stream: Readable, where: str, tick: Tick | None = None) -> Table:
    """Read the file as ``pandas.read_table`` does with its defaults.

    It reads the first line as a header, and a quotation mark at the start of a name as the start of
    a quoted field, which extends over tabs and lines to the next one. Artists called NA or null
    count as missing. Many published results on these data use the remaining rows.

    Parameters
    ----------
    stream, where, tick
        As in `read_plays`.

    Raises
    ------
    DataError
        If nothing is left, or a count of plays is not a number.
    """
    import pandas as pd

    parts, n_rows = [], 0
    text = io.BufferedReader(_Raw(stream, tick), 1 << 20)
    try:
        chunks = pd.read_csv(
            text,
            sep="\t",
            usecols=[0, 2, 3],
            dtype={0: str, 2: str, 3: np.float64},
            chunksize=ROWS_AT_ONCE,
        )
        for chunk in chunks:
            chunk.columns = pd.Index(["user", "artist", "plays"])
            n_rows += len(chunk)
            part = chunk.dropna()
            parts.append(part.astype({"user": "category", "artist": "category"}))
    except (ValueError, pd.errors.ParserError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(f"{where}: not read as pandas does ({reason}); leave out like") from None
    n_left = sum(map(len, parts))
    if not n_left:
        raise DataError(f"{where}: no plays; give a file that has some")
    rows = Rows(
        encode(pd.api.types.union_categoricals([part["user"] for part in parts]), "user"),
        encode(pd.api.types.union_categoricals([part["artist"] for part in parts]), "item"),
        np.concatenate([part["plays"].to_numpy() for part in parts]),
    )
    notes = [f"read as pandas.read_table does by default, which makes {n_rows:,} rows of it"]
    if n_left < n_rows:
        notes.append(f"{counted(n_rows - n_left, 'row')} with a missing value left out")
    return _finished(rows, where, tuple(notes))


def _parse(block: bytes, where: str, odd: Counter[str]) -> Any:
    """Return the lines of a block that have four fields, as a table of text."""
    import pyarrow as pa
    from pyarrow import csv

    def pass_over(line: Any) -> str:
        odd["without four fields"] += 1
        return "skip"

    text = pa.dictionary(pa.int32(), pa.string())
    try:
        return csv.read_csv(
            pa.BufferReader(block),
            read_options=csv.ReadOptions(column_names=FIELDS),
            parse_options=csv.ParseOptions(
                delimiter="\t", quote_char=False, invalid_row_handler=pass_over
            ),
            convert_options=csv.ConvertOptions(
                include_columns=["user", "artist", "plays"],
                column_types={"user": text, "artist": text, "plays": pa.string()},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"{where}: {str(error).splitlines()[0][:160]}; fetch it again") from None


def _sound_lines(table: Any, odd: Counter[str]) -> Any:
    """Return the lines with a user, an artist and plays, which become numbers; count the others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def flags(column: Any, judge: Callable[[Any], Any]) -> Any:
        """Judge each distinct id once."""
        whole = column.unify_dictionaries().combine_chunks()
        verdicts = judge(whole.dictionary).to_numpy(zero_copy_only=False)
        return verdicts[whole.indices.to_numpy()] if len(whole) else np.zeros(0, bool)

    users, artists, plays = (table.column(name) for name in ("user", "artist", "plays"))
    whole_number = pc.match_substring_regex(plays, "^0*[1-9][0-9]{0,8}$").to_numpy()
    checks = {
        "without a SHA-1 for its user": flags(
            users, lambda ids: pc.match_substring_regex(ids, "^[0-9a-f]{40}$")
        ),
        "without an artist": flags(
            artists, lambda ids: pc.not_equal(pc.utf8_trim_whitespace(ids), "")
        ),
        "without a whole number of plays from 1": whole_number,
    }
    sound = np.ones(len(table), bool)
    for what, passed in checks.items():
        odd[what] += int(np.count_nonzero(sound & ~passed))
        sound &= passed
    kept = table.filter(pa.array(sound))
    return kept.set_column(2, "plays", kept.column("plays").cast(pa.float64()))


def _coded(column: Any) -> Coded:
    whole = column.unify_dictionaries().combine_chunks()
    ids = whole.dictionary.to_numpy(zero_copy_only=False)
    return Coded(whole.indices.to_numpy().astype(np.int32, copy=False), ids)


def _finished(rows: Rows, where: str, notes: tuple[str, ...]) -> Table:
    """Return the rows with one for each pair, and what was done to them."""
    rows, n_added = _added_up(rows)
    if n_added:
        notes += (f"{counted(n_added, 'row')} added to another of the same user and artist",)
    ids = {"user": rows.users, "item": rows.items}
    return Table(ids, {"rating": rows.ratings}, {}, lambda row: where, notes)


def _added_up(rows: Rows) -> tuple[Rows, int]:
    """Return each pair once, at the place of its first row, with the sum; and how many went."""
    pairs = rows.users.codes.astype(np.int64) * len(rows.items.ids) + rows.items.codes
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    if len(starts) == len(rows):
        return rows, 0
    sums = rows.ratings.copy()
    sums[order[starts]] = np.add.reduceat(rows.ratings[order], starts)
    merged = replace(rows, ratings=sums).take(np.sort(order[starts]))
    return merged, len(rows) - len(merged)


class _Raw(io.RawIOBase):
    """A stream of bytes in the form that pandas reads."""

    def __init__(self, stream: Readable, tick: Tick | None) -> None:
        self._stream, self._tick = stream, tick

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        if self._tick:
            self._tick(len(data))
        return len(data)
