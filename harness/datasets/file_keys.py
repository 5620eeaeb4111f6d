"""Keys of a config that describe a file of ratings: which of them a kind of file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.datasets.readers import has_tables, is_text, kind_of, label_of

if TYPE_CHECKING:
    from harness.datasets.section import DatasetSection, FeaturesSection


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
    if key in ("table", "query") and kind is not None and not has_tables(kind):
        raise ValueError(f"a {label_of(kind)} file has no tables; leave this out")
    if key == "query" and others.get("table") is not None:
        raise ValueError("a query names its tables; leave out table or query")
    if key == "separator" and any(mark in str(value) for mark in '"\r\n'):
        raise ValueError(f"{value!r} cannot separate fields; use one such as ',' or '::'")


def check_files(section: DatasetSection) -> None:
    """Raise `ValueError` where keys of files contradict each other, or the name of a data set."""
    if section.decimal == section.thousands:
        raise ValueError(
            f"thousands: {section.thousands!r} is the decimal mark too; give two different ones"
        )
    if section.sha256 is not None and (len(section.paths) != 1 or "://" not in section.paths[0]):
        raise ValueError("sha256 is that of one file from a URL; leave it out")
    if isinstance(section.path, list) and section.name is not None:
        raise ValueError(f"a copy of {section.name} is one path; give one, or leave out name")
    if section.path is None or section.name is None:
        return
    if section.data_set is None or not section.data_set.is_published:  # of which there are copies
        raise ValueError(f"{section.name} is not read from a path; leave out name or path")


def check_features(section: FeaturesSection) -> None:
    """Raise `ValueError` where a file of users or items has keys that its kind does not need."""
    kind = kind_of(section.path)
    is_table = kind is not None and not is_text(kind)
    if is_table and (section.columns or section.separator or section.encoding):
        raise ValueError(
            f"a {label_of(kind or '')} file needs no columns, separator or encoding; leave them out"
        )
