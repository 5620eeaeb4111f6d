"""Ratings that were given from Python, as the record of a run names them."""

from __future__ import annotations

GIVEN = "given from Python: "
"""How the record of a run names ratings that were given from Python."""


def name_of_given(dataset: object) -> str | None:
    """Return the name of ratings from Python in the recorded ``dataset`` of a run; else None."""
    entry = dataset[0] if isinstance(dataset, list) and dataset else dataset
    text = entry.get("path") if isinstance(entry, dict) else entry
    is_given = isinstance(text, str) and text.startswith(GIVEN)
    return str(text).removeprefix(GIVEN) if is_given else None
