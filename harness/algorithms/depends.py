"""Files that the code of an algorithm reads, from the key `depends` of a config."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from harness._util.files import placed, remembered_digest
from harness.errors import AlgorithmError, reason_of


def faults(patterns: Iterable[str], base: Path | None) -> list[tuple[tuple[str | int, ...], str]]:
    """Return which files of an algorithm are missing, with their places in its row."""
    wrong: list[tuple[tuple[str | int, ...], str]] = []
    for position, pattern in enumerate(patterns):
        try:
            digest(pattern, base)
        except AlgorithmError as error:
            wrong.append((("depends", position), str(error)))
    return wrong


def digest(pattern: str, base: Path | None) -> str:
    """Return a hash of the files that a pattern names, relative to a folder.

    Parameters
    ----------
    pattern : str
        A file, a folder, which stands for all files in it, or a pattern, such as ``data/*.csv``.
    base : Path or None
        The folder of the config; None for the working folder.

    Returns
    -------
    str
        In hexadecimal; of a single file its SHA-256.

    Raises
    ------
    AlgorithmError
        If there is no such file, or one cannot be read.
    """
    path = placed(pattern, base)
    try:
        if path.is_file():
            return remembered_digest(path)
        below = path / "**" if path.is_dir() else path
        files = glob.glob(str(below), recursive=True, include_hidden=True)  # noqa: PTH207
        digests = {
            Path(os.path.relpath(file, base or Path())).as_posix(): remembered_digest(Path(file))
            for file in files
            if Path(file).is_file()
        }
    except (OSError, ValueError) as error:
        raise AlgorithmError(
            f"{pattern}: cannot be read ({reason_of(error)}); check its permissions"
        ) from None
    if not digests:
        raise AlgorithmError(
            f"{pattern}: no such file; check the path, which starts in the config's folder"
        )
    listed = "\n".join(f"{name} {digests[name]}" for name in sorted(digests))
    return hashlib.sha256(listed.encode("utf-8", "surrogatepass")).hexdigest()
