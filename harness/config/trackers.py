"""Where a run is logged: the names of trackers in a config, with their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator

from harness.sections import KeyPath, brief

Parameters = dict[str, Any]


def _by_name(value: object) -> object:
    """Return the parameters of each tracker by its name, however they are written."""
    return {name: {} if params is None else params for _, name, params in entries_of(value)}


def entries_of(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str, object]]:
    """Yield where each tracker is named, its name, and its parameters."""
    if isinstance(value, str):
        yield path, value, None
    elif isinstance(value, dict):
        for name, params in value.items():
            if not isinstance(name, str):
                raise ValueError(f"found {brief(name)} as a name; write text")
            yield (*path, name), name, params
    elif isinstance(value, list):
        for position, entry in enumerate(value):
            if isinstance(entry, list):
                raise ValueError(f"found a list in a list at [{position}]; write names")
            yield from entries_of(entry, (*path, position))
    elif value is not None:
        raise ValueError(f"found {brief(value)}; name trackers, as [csv], or csv: {{path: a.csv}}")


Entry = str | dict[str, Parameters | None]
TrackersSection = Annotated[
    dict[str, Parameters], BeforeValidator(_by_name, json_schema_input_type=Entry | list[Entry])
]
"""A name, a list of names, or parameters by name."""
