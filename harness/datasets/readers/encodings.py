"""Which encoding the bytes of a text show, where that is certain."""

from __future__ import annotations

import codecs
import re
from functools import partial
from pathlib import Path

_PIECE = 1 << 20
_HIGH = re.compile(rb"[\x80-\xff]+")
LEAST_SIGNS = 20
"""Fewer characters of two bytes show no language."""


def checked_encoding(name: str) -> str:
    """Return the name of an encoding that Python knows, or raise `ValueError`."""
    try:
        is_text = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise ValueError(
            f"{name!r} is no encoding; use one such as utf-8, utf-16, latin-1, cp1252, cp1251, "
            "gbk, big5, shift_jis or euc_kr"
        )
    return name


def unmarked_encoding(start: bytes) -> str | None:
    """Return which UTF-16 a text without byte order mark is, by its first four bytes.

    Examples
    --------
    >>> unmarked_encoding("user".encode("utf-16-le")[:4]), unmarked_encoding(b"user")
    ('utf-16-le', None)
    """
    zeros = "".join("0" if byte == 0 else "x" for byte in start[:4])
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros)


def encoding_of(path: Path) -> str | None:
    """Return the encoding that a config has to name; None for UTF-8, or where a mark says it."""
    with path.open("rb") as file:
        start = file.peek(4)[:4]
        if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return None
        if encoding := unmarked_encoding(start):
            return encoding
        try:
            for _ in codecs.iterdecode(iter(partial(file.read, _PIECE), b""), "utf-8"):
                pass
        except UnicodeDecodeError:
            file.seek(0)
            return encoding_of_bytes(file.read(_PIECE))
    return None


def encoding_of_bytes(data: bytes) -> str:
    r"""Return the encoding of text that is not UTF-8: ``gbk`` if all shows it, else ``cp1252``.

    In Western text, bytes above 127 stand alone between letters; in Chinese they come in pairs
    whose first byte says which character it is. Pairs of other languages use a part of the same
    first bytes, so those that only Chinese uses have to be among them.

    Examples
    --------
    >>> encoding_of_bytes("用户,电影,评分\\n用户七,霸王别姬,五\n用户八,赤壁,四\n".encode("gbk"))
    'gbk'
    >>> encoding_of_bytes("Jürgen,Amélie,5\n".encode("latin-1"))
    'cp1252'
    """
    runs = _HIGH.findall(data[: data.rfind(b"\n") + 1] or data)
    pairs = [run[n : n + 2] for run in runs if len(run) % 2 == 0 for n in range(0, len(run), 2)]
    n_odd = sum(len(run) % 2 for run in runs)
    if not n_odd and len(pairs) >= LEAST_SIGNS:
        lead = [pair[0] for pair in pairs]
        are_signs = all(0xA1 <= pair[0] <= 0xF7 and pair[1] >= 0xA1 for pair in pairs)
        usual = sum(0xB0 <= byte <= 0xD7 for byte in lead)
        if are_signs and usual >= 0.8 * len(lead) and any(0xC9 <= byte <= 0xD7 for byte in lead):
            return "gbk"
    return "cp1252"
