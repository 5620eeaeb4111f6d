"""Counts of plays from Last.fm 360K; invalid lines are left out and counted.

A line holds the user (SHA-1 of an address), the artist's MusicBrainz id (often none), the artist's
name and the plays, separated by tabs. Artists are identified by name, as in most publications on
these data, so the few that have several ids become one and their plays are added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from harness.datasets.cleaning import merge_pairs
from harness.datasets.columns import Coded, Table, coded
from harness.datasets.reading import read_columns
from harness.errors import DataError, counted

__all__ = ["read_plays", "read_plays_as_pandas"]

BLOCK = 1 << 24
ROWS_AT_ONCE = 1 << 19


def read_plays(stream: IO[bytes], where: str) -> Table:
    r"""Read every line that holds a user, an artist and a count of plays.

    Quotation marks are part of a name, and so are blanks around it.

    Examples
    --------
    >>> import io
    >>> user = b"00000c289a1829a808ac09c00daf10bc3c4e223b"
    >>> lines = user + b"\t\tdie \xc3\x84rzte\t1099\n" + b"sep 20, 2008\t\tx\t12\n"
    >>> found = read_plays(io.BytesIO(lines), "plays.tsv")
    >>> found.numbers["rating"].tolist(), found.notes
    ([1099.0], ('1 line without a SHA-1 for its user left out',))
    """
    import pyarrow as pa
    from pyarrow import csv

    odd = Counter[str]()

    def leave_out(line: object) -> str:
        odd["without four fields"] += 1
        return "skip"

    text = pa.dictionary(pa.int32(), pa.string())
    names = ["user", "artist", "plays"]
    try:
        with csv.open_csv(
            stream,
            csv.ReadOptions(column_names=["user", "mbid", "artist", "plays"], block_size=BLOCK),
            csv.ParseOptions(delimiter="\t", quote_char=False, invalid_row_handler=leave_out),
            csv.ConvertOptions(
                include_columns=names,
                column_types=dict(zip(names, (text, text, pa.string()), strict=True)),
                strings_can_be_null=False,
            ),
        ) as batches:
            parts = [_sound_lines(batch, odd) for batch in batches]
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            parts = []
        else:
            reason = str(error).splitlines()[0][:160]
            raise DataError(f"{where}: {reason}; fetch it again") from None
    if not sum(map(len, parts)):
        raise DataError(f"{where}: no plays; give a file that has some")
    whole = pa.Table.from_batches(parts)
    ids = {"user": coded(whole.column("user")), "item": coded(whole.column("artist"))}
    notes = [f"{counted(n, 'line')} {what} left out" for what, n in odd.items() if n]
    return _added_up(ids, whole.column("plays").to_numpy(), where, notes)


def read_plays_as_pandas(stream: IO[bytes], where: str) -> Table:
    """Read the file as ``pandas.read_table`` does with its defaults.

    It reads the first line as a header, and a quotation mark at the start of a name as the start of
    a quoted field, which extends over tabs and lines to the next one. Artists called NA or null
    count as missing. Many published results on these data use the remaining rows.
    """
    import pandas as pd

    parts, n_rows = [], 0
    types = {0: str, 2: str, 3: np.float64}
    try:
        for chunk in pd.read_csv(
            stream, sep="\t", usecols=[0, 2, 3], dtype=types, chunksize=ROWS_AT_ONCE
        ):
            chunk.columns = pd.Index(["user", "artist", "plays"])
            n_rows += len(chunk)
            parts.append(chunk.dropna().astype({"user": "category", "artist": "category"}))
    except IndexError:  # pandas' own, where no line follows the header
        pass
    except ValueError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise DataError(f"{where}: not read as pandas does ({reason}); leave out like") from None
    n_left = sum(map(len, parts))
    if not n_left:
        raise DataError(f"{where}: no plays; give a file that has some")
    notes = [f"read as pandas.read_table does by default, which makes {n_rows:,} rows of it"]
    if n_left < n_rows:
        notes.append(f"{counted(n_rows - n_left, 'row')} with a missing value left out")
    users, artists = (
        pd.api.types.union_categoricals([part[name] for part in parts])
        for name in ("user", "artist")
    )
    plays = np.concatenate([part["plays"].to_numpy() for part in parts])
    table = read_columns({"user": users, "item": artists}, where)
    return _added_up(table.ids, plays, where, notes)


def _sound_lines(batch: Any, odd: Counter[str]) -> Any:
    """Return the lines with a user, an artist and plays, which become numbers; count the others."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def passed(column: Any, check: Callable[[Any], Any]) -> NDArray[np.bool_]:
        verdicts = check(column.dictionary).to_numpy(zero_copy_only=False)  # each distinct id once
        return np.asarray(verdicts[column.indices.to_numpy()], dtype=bool)

    plays = batch.column("plays")
    checks = {
        "without a SHA-1 for its user": passed(
            batch.column("user"), lambda ids: pc.match_substring_regex(ids, "^[0-9a-f]{40}$")
        ),
        "without an artist": passed(
            batch.column("artist"), lambda ids: pc.not_equal(pc.utf8_trim_whitespace(ids), "")
        ),
        "without a whole number of plays from 1": pc.match_substring_regex(
            plays, "^0*[1-9][0-9]{0,8}$"
        ).to_numpy(zero_copy_only=False),
    }
    sound = np.ones(len(batch), bool)
    for what, is_sound in checks.items():
        odd[what] += int(np.count_nonzero(sound & ~is_sound))
        sound &= is_sound
    kept = batch.filter(pa.array(sound))
    return kept.set_column(2, "plays", kept.column("plays").cast(pa.float64()))


def _added_up(
    ids: dict[str, Coded], plays: NDArray[np.float64], where: str, notes: list[str]
) -> Table:
    """Return each pair once, at the place of its first row, with the sum of its plays."""
    table = Table(ids, {"rating": plays}, {}, lambda row: where)
    table, kept = merge_pairs(table, "sum", np.ones(len(table), dtype=bool))
    n_added = int(np.count_nonzero(~kept))
    if n_added:
        table = table.take(kept)
        notes.append(f"{counted(n_added, 'row')} added to another of the same user and artist")
    return replace(table, notes=tuple(notes))
