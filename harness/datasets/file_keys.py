"""Keys of a config that describe a file of ratings: which of them a kind of file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.datasets.readers import is_text, kind_of, label_of

OF_TEXT = ("separator", "header", "skip", "comment", "encoding", "decimal", "thousands")
"""Keys of files of text alone."""


def check_key_of_file(key: str, value: object, others: Mapping[str, Any]) -> None:
    """Raise `ValueError` where a key does not fit the keys before it."""
    name, kind, path = (others.get(other) for other in ("name", "format", "path"))
    if name is not None:
        raise ValueError(
            f"what {name} looks like is known; leave this out, "
            "or leave out name to read a file of your own"
        )
    kind = kind or kind_of((path[0] if isinstance(path, list) else path) or "")
    if kind is not None and not is_text(kind) and key in OF_TEXT:
        raise ValueError(f"a {label_of(kind)} file has none; leave this out")
    if key in ("table", "query") and kind not in (None, "sqlite", "duckdb"):
        raise ValueError(f"a {label_of(kind)} file has no tables; leave this out")
    if key == "query" and others.get("table") is not None:
        raise ValueError("a query names its tables; leave out table or query")
    if key == "separator" and any(mark in str(value) for mark in '"\r\n'):
        raise ValueError(f"{value!r} cannot separate fields; use one such as ',' or '::'")
