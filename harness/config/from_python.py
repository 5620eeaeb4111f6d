"""What was given from Python: ratings, as the record of a run names them, and mappings."""

from __future__ import annotations

from dataclasses import replace

from harness.config.document import Document
from harness.errors import ConfigError

GIVEN = "given from Python: "
"""How the record of a run names ratings that were given from Python."""


def name_of_given(dataset: object) -> str | None:
    """Return the name of ratings from Python in the recorded ``dataset`` of a run; else None."""
    entry = dataset[0] if isinstance(dataset, list) and dataset else dataset
    text = entry.get("path") if isinstance(entry, dict) else entry
    is_given = isinstance(text, str) and text.startswith(GIVEN)
    return str(text).removeprefix(GIVEN) if is_given else None


def with_variables(document: Document) -> Document:
    """Return a document of Python data with the values of variables."""
    if not _has_variable(document.data):
        return document
    from harness.config.variables import Variables

    variables = Variables()
    data = variables.in_data(document.data)
    if variables.faults:
        raise ConfigError(document.source, variables.faults)
    return replace(document, data=data, written=variables.written)  # type: ignore[arg-type]


def _has_variable(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_variable, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_variable, value))
    return isinstance(value, str) and "${" in value
