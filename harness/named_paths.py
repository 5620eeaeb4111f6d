"""The paths that a config names: of files on this machine, patterns of them, and addresses.

An address can hold a secret: a password before ``@``, or a token in its query. Everything that is
written or shown holds the masked address.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

PATTERN = re.compile(r"[*?\[]")
"""What a path that stands for several files has in it."""
MASK = "***"
"""What stands for the secrets of an address."""
# Path turns the slashes after a scheme into one. Secrets may hold quotation marks.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+:/+)(\S*)")
_PUNCTUATION = ")]},;.:'\"`>"


def placed(path: str | Path, base: Path | None) -> Path:
    """Return where a path is that a config names: relative to its folder or the working one."""
    # Path.expanduser raises an error for the home of a user that does not exist.
    return (base or Path()) / os.path.expanduser(path)  # noqa: PTH111


def as_list(paths: str | Sequence[str]) -> list[str]:
    """Return one path, or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)


def is_url(path: str) -> bool:
    """Return whether a path names a file that is not on this machine.

    Examples
    --------
    >>> is_url("https://example.org/a.csv"), is_url("C:/a.csv"), is_url("a/b.csv")
    (True, False, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def are_there(paths: Sequence[str], base: Path | None) -> bool:
    """Return whether each path, or what a pattern stands for, is on this machine or elsewhere."""
    return all(
        is_url(path)
        or placed(path, base).exists()
        or (PATTERN.search(path) is not None and bool(glob.glob(str(placed(path, base)))))  # noqa: PTH207
        for path in paths
    )


def masked(address: str) -> str:
    """Return an address without user, password and query, any of which can be a secret.

    All of the query is left out, because no rule tells a token from another value. A path on this
    machine is returned as it is. What is left out cannot be found again: see `is_masked`.

    Examples
    --------
    >>> masked("https://ann:secret@example.org/a.csv?signature=secret")
    'https://***@example.org/a.csv?***'
    >>> masked("https://example.org/a.csv"), masked("a/b?.csv")
    ('https://example.org/a.csv', 'a/b?.csv')
    """
    if not is_url(address):
        return address
    scheme, rest = re.split(r"(?<=:)(?=/)", address, maxsplit=1)
    slashes = rest[: len(rest) - len(rest.lstrip("/"))]
    return scheme + slashes + _without_secrets(rest.lstrip("/"))


def masked_text(text: str) -> str:
    """Return a text in which every address is masked.

    Examples
    --------
    >>> masked_text("no answer (http://ann:secret@127.0.0.1:80/a.csv?key=secret); try again")
    'no answer (http://***@127.0.0.1:80/a.csv?***); try again'
    """
    if ":/" not in text:
        return text

    def replaced(match: re.Match[str]) -> str:
        rest = match[2].rstrip(_PUNCTUATION)
        return match[1] + _without_secrets(rest) + match[2][len(rest) :]

    return _ADDRESS.sub(replaced, text)


def masked_values(data: Any) -> Any:
    """Return plain data in which every address is masked."""
    if isinstance(data, Mapping):
        return {key: masked_values(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [masked_values(value) for value in data]
    if isinstance(data, str):
        return masked(data) if is_url(data) else masked_text(data)
    return data


def is_masked(address: str) -> bool:
    """Return whether secrets of an address were left out, so that it cannot be read.

    Examples
    --------
    >>> is_masked("https://***@example.org/a.csv"), is_masked("https://example.org/a.csv")
    (True, False)
    """
    return is_url(address) and (f"//{MASK}@" in address or address.endswith(MASK))


def file_name(path: str) -> str:
    """Return the last part of a path, or of an address without its query.

    Examples
    --------
    >>> file_name("a/b.csv"), file_name("https://ann:secret@example.org/b.csv?key=a/b.c")
    ('b.csv', 'b.csv')
    """
    if is_url(path):
        path = masked(path).partition("://")[2].removesuffix("?" + MASK)
        return PurePosixPath(path.partition("/")[2]).name
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _without_secrets(rest: str) -> str:
    """Return what follows the scheme of an address, without its secrets."""
    place = rest.partition("?")[0]
    authority = place.partition("/")[0]
    # A password may hold / or ?, which should be written as %2F and %3F.
    if "@" in authority or (":" in authority and "@" in place):
        rest = f"{MASK}@{rest[place.rindex('@') + 1 :]}"
    elif "@" in rest and re.search(r":(?!\d*$)", authority):
        return MASK
    place, mark, _ = rest.partition("?")
    return place + (mark and "?" + MASK)
