"""The reader of SNAP's reviews: blocks of lines such as ``review/score: 5.0``."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pa
from harness.datasets.columns import RATINGS, find_columns
from harness.datasets.conversion import Flaw, convert
from harness.datasets.readers.base import (
    NO_ROWS,
    UNREADABLE,
    Reader,
    ReadOptions,
    Sample,
    example_ratings,
    unread,
)
from harness.errors import DataError

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

CHUNK = 1 << 16
"""Blocks that are held as Python objects at once."""
SAMPLE = 200
"""Blocks whose keys are the columns of the file."""
LONGEST = 1 << 20
"""Characters of a line."""
_LINE = re.compile(r"([A-Za-z][\w/ .-]{0,60}): ?(.*)")
_STRAY = re.compile("[\udc80-\udcff]")


class KeyValue(Reader):
    """Blocks of lines, each a key, a colon and a value, as SNAP's reviews are."""

    keys = ("encoding",)
    label = "key-value"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, a block for each."""
        rows = example_ratings().itertuples(index=False, name=None)
        keys = ("product/productId", "review/userId", "review/score")
        blocks = [
            "".join(f"{key}: {value}\n" for key, value in zip(keys, (i, u, r), strict=True))
            for u, i, r in rows
        ]
        path.write_text("\n".join(blocks), encoding="utf-8")

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with a block whose keys name the columns of ratings."""
        text = head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
        lines = re.split(r"\r?\n[ \t]*\r?\n", text)[0].splitlines()
        found = [_LINE.fullmatch(line) for line in lines]
        if len(found) < 3 or not found[0] or not found[1]:
            return False
        return RATINGS.names_columns([each[1] for each in found if each])

    def names(self, path: Path, where: str) -> list[str]:
        """Return the keys of the first blocks."""
        return _names(islice(_blocks(path, where, None), SAMPLE))

    def sample(self, path: Path, options: ReadOptions) -> Sample:
        """Return the keys and the values of the first blocks."""
        first = list(islice(_blocks(path, options.where, options.encoding), SAMPLE))
        names = _names(iter(first))
        return Sample(names, _texts(first, names))

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read the values of the keys that are needed; every problem has the line of its block."""
        where, roles = options.where, options.roles
        blocks = _blocks(path, where, options.encoding)
        first = list(islice(blocks, SAMPLE))
        if not first:
            raise DataError(f"{where}: {NO_ROWS}")
        names = _names(iter(first))
        positions = find_columns(names, options.columns, where, roles)
        keys = {role: names[position] for role, position in positions.items()}
        values: dict[str, list[str | None]] = {role: [] for role in keys}
        chunks: dict[str, list[pa.Array]] = {role: [] for role in keys}
        lines, faults = array("q"), dict[int, str]()

        def flush() -> None:
            for role, texts in values.items():
                chunks[role].append(pa.array(texts, pa.string()))
                texts.clear()

        for row, (line, block) in enumerate(chain(first, blocks)):
            for role, key in keys.items():
                value = block.get(key)
                if value is not None and not value.isascii() and _STRAY.search(value):
                    faults[row] = f"the {role} is not UTF-8; save the file as UTF-8"
                    value = None
                values[role].append(value)
            lines.append(line)
            if len(lines) % CHUNK == 0:
                flush()
        flush()
        flaw = Flaw("unreadable", np.array(sorted(faults), np.int64), faults.__getitem__)
        return convert(
            {role: pa.chunked_array(parts) for role, parts in chunks.items()},
            roles.kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{lines[row]}",
            values=options,
            notes=unread(names, lambda: _texts(first, names), options, positions),
            flaws=[flaw] if faults else [],
        )


def _names(blocks: Iterator[tuple[int, dict[str, str]]]) -> list[str]:
    return list(dict.fromkeys(key for _, block in blocks for key in block))


def _texts(blocks: list[tuple[int, dict[str, str]]], names: list[str]) -> list[tuple[str, ...]]:
    return [tuple(block.get(name, "") for name in names) for _, block in blocks]


def _blocks(path: Path, where: str, encoding: str | None) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line and the values of each block; a line without a key continues a text."""
    with (
        report_os_error(where, *UNREADABLE),
        path.open(encoding=encoding or "utf-8-sig", errors="surrogateescape") as file,
    ):
        block: dict[str, str] = {}
        begun = 0
        for number, text in enumerate(iter(lambda: file.readline(LONGEST), ""), 1):
            found = _LINE.fullmatch(text.rstrip("\r\n"))
            if block and (not text.strip() or (found and found[1] in block)):
                yield begun, block
                block = {}
            if found:
                begun = begun if block else number
                block[found[1]] = found[2].strip()
        if block:
            yield begun, block
