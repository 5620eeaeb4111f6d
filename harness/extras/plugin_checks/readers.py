"""Whether a reader keeps what is expected of one, tried on a small file and on noise."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np

from harness.datasets import Ratings, load
from harness.datasets.readers import reader_named
from harness.datasets.readers.base import ReadOptions
from harness.plugins import registry as plugins

SEED = 7
N_RATINGS = 60
NOISE = {
    "an empty file": b"",
    "noise": np.random.default_rng(SEED).bytes(4096),
    "CSV": b"user,item,rating\nann,book,4\n",
}
"""What is not of a format, unless it is CSV."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a reader in this process, and the bytes of what it reads."""
    reader = reader_named(name)
    endings = reader.endings if hasattr(reader, "endings") else ()
    endings = (endings,) if isinstance(endings, str) else tuple(endings)
    for ending in endings:
        if not (isinstance(ending, str) and ending.startswith(".") and ending == ending.lower()):
            yield f"the ending {ending!r} is none; write it as '.abc', in small letters"
            return
    if not endings and not hasattr(reader, "recognises"):
        yield "it has neither `endings` nor `recognises`; without one, no file is ever read by it"
    recognises: Any = getattr(reader, "recognises", lambda head: False)
    for noise, head in NOISE.items():
        if not isinstance(recognises(head), bool | np.bool_):
            yield "`recognises` returns no bool; return True or False"
            return
        if recognises(head):
            yield f"`recognises` says yes to {noise}; let it say yes to files of its format alone"
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        path = Path(scratch, f"ratings{endings[0] if endings else ''}")
        if _write(name, reader, path):
            yield from _read(name, path)
        _read_noise(reader, path)


def _write(name: str, reader: Any, path: Path) -> bool:
    """Write a small file of the format; return whether there is one."""
    if name in SAMPLES and plugins.find("readers", name).is_builtin:
        SAMPLES[name](path)
    elif isinstance(getattr(reader, "example", None), bytes):
        path.write_bytes(reader.example)
    else:
        return False
    return True


def _read(name: str, path: Path) -> Iterator[str | bytes]:
    """Read a file twice, as a data set of a config."""
    before = path.read_bytes()
    first, second = (load({"path": str(path), "format": name}) for _ in range(2))
    if first.fingerprint != second.fingerprint:
        yield "it reads other ratings when it reads a file again; depend on the file alone"
    if not np.isfinite(first.ratings).all():
        yield "its ratings are not finite; return numbers"
    if plugins.find("readers", name).is_builtin and first.fingerprint != _sample().fingerprint:
        yield "it reads other ratings than were written"
    if path.read_bytes() != before:
        yield "it changes the file; open it to read"
    yield first.fingerprint.encode()


def _read_noise(reader: Any, path: Path) -> None:
    """Let a reader read what is no file of its format; code that ends its process is found so.

    An exception is right: a run makes it an error with the name of the reader and its package.
    """
    for content in NOISE.values():
        path.write_bytes(content)
        with suppress(Exception):
            reader.read(path, ReadOptions(where=str(path)))


def _sample() -> Ratings:
    """Return random ratings, of pairs of user and item that occur once."""
    rng = np.random.default_rng(SEED)
    pairs = np.sort(rng.choice(10 * 12, N_RATINGS, replace=False))
    return Ratings.from_columns(
        [f"u{pair // 12}" for pair in pairs],
        [f"i{pair % 12}" for pair in pairs],
        rng.integers(1, 6, N_RATINGS),
        scale=(1, 5),
    )


def _lines(separator: str) -> Callable[[Path], object]:
    def write(path: Path) -> object:
        frame = _sample().to_frame()[["user", "item", "rating"]]
        rows = [separator.join(map(str, row)) for row in frame.itertuples(index=False)]
        head = [] if separator == "::" else [separator.join(frame.columns)]
        return path.write_text("\n".join([*head, *rows, ""]), encoding="utf-8")

    return write


def _json(path: Path) -> object:
    rows = _sample().to_frame()[["user", "item", "rating"]].to_dict("records")
    return path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _arrow(write: str) -> Callable[[Path], object]:
    def written(path: Path) -> object:
        frame = _sample().to_frame()[["user", "item", "rating"]].reset_index(drop=True)
        return getattr(frame, write)(path)

    return written


def _sqlite(path: Path) -> object:
    frame = _sample().to_frame()[["user", "item", "rating"]]
    with closing(sqlite3.connect(path)) as base:
        return frame.to_sql("ratings", base, index=False)


SAMPLES: dict[str, Callable[[Path], object]] = {
    "csv": _lines(","),
    "tsv": _lines("\t"),
    "dat": _lines("::"),
    "parquet": _arrow("to_parquet"),
    "feather": _arrow("to_feather"),
    "orc": _arrow("to_orc"),
    "json": _json,
    "sqlite": _sqlite,
}
"""What writes a small file; the readers of other layouts have tests of their own."""
