"""Whether a reader keeps what is expected of one, tried on a small file and on noise."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from harness._util.libraries import pd
from harness.datasets import Ratings, load
from harness.datasets.readers import reader_named, recognised_by
from harness.datasets.readers.base import Reader, ReadOptions, example_ratings
from harness.plugins import registry as plugins

SEED = 7
NOISE = {
    "an empty file": b"",
    "noise": np.random.default_rng(SEED).bytes(4096),
    "CSV": b"user,item,rating\nann,book,4\n",
}
"""Files that are not of a format, unless it is CSV."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a reader in this process, and the bytes of what it reads."""
    reader = reader_named(name)
    endings = reader.endings if hasattr(reader, "endings") else ()
    endings = (endings,) if isinstance(endings, str) else tuple(endings)
    for ending in endings:
        if not (isinstance(ending, str) and ending.startswith(".") and ending == ending.lower()):
            yield f"the ending {ending!r} is none; write it as '.abc', in small letters"
            return
    by_content = hasattr(reader, "recognises") or hasattr(reader, "recognise_folder")
    if not endings and not by_content:
        yield "it has neither `endings` nor `recognises`; without one, no file is ever read by it"
    for noise, head in NOISE.items():
        if not isinstance(recognised_by(reader, head, "noise"), bool | np.bool_):
            yield "`recognises` returns no bool; return True or False"
            return
        if recognised_by(reader, head, "noise"):
            yield f"`recognises` says yes to {noise}; let it say yes only to files of its format"
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        path = Path(scratch, f"ratings{endings[0] if endings else ''}")
        if _write(reader, path):
            yield from _read(name, path)
        _read_noise(reader, path.with_name(f"noise{path.suffix}"))


def _write(reader: Any, path: Path) -> bool:
    """Write a small file of the format; return whether there is one."""
    if isinstance(reader, Reader):
        reader.write_example(path)
    elif isinstance(getattr(reader, "example", None), bytes):
        path.write_bytes(reader.example)
    return path.exists() and path.stat().st_size > 0


def _read(name: str, path: Path) -> Iterator[str | bytes]:
    """Read a file twice, as a data set of a config."""
    before = _content(path)
    first, second = (load({"path": str(path), "format": name}) for _ in range(2))
    if first.fingerprint != second.fingerprint:
        yield "it reads different ratings when it reads a file again; depend only on the file"
    if not np.isfinite(first.ratings).all():
        yield "its ratings are not finite; return numbers"
    written = example_ratings(spaces=getattr(reader_named(name), "spaces_in_ids", True))
    if plugins.find("readers", name).is_builtin and triples(first) != triples(written):
        yield "it reads other ratings than were written"
    if _content(path) != before:
        yield "it changes the file; open it to read"
    yield first.fingerprint.encode()


def _content(path: Path) -> dict[str, bytes]:
    """Return the bytes of a file, or of all files of a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*"))
    return {str(file): file.read_bytes() for file in files if file.is_file()}


def _read_noise(reader: Any, path: Path) -> None:
    """Let a reader read what is not a file of its format; code that ends its process is found so.

    An exception is right: a run makes it an error with the name of the reader and its package.
    """
    for content in NOISE.values():
        path.write_bytes(content)
        with suppress(Exception):
            reader.read(path, ReadOptions(where=str(path)))


def triples(ratings: Ratings | pd.DataFrame) -> set[tuple[str, str, float]]:
    """Return user, item and rating of each row."""
    frame = ratings.to_frame() if isinstance(ratings, Ratings) else ratings
    rows = frame[["user", "item", "rating"]].itertuples(index=False)
    return {(str(user), str(item), float(rating)) for user, item, rating in rows}
