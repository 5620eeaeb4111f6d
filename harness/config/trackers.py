"""Where a run is logged: the names of trackers in a config, with their parameters."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

Parameters = dict[str, Any]


def _by_name(value: object) -> object:
    """Return the parameters of each tracker by its name, however they are written."""
    if value == {}:
        return value
    from harness.config.tracker_entries import entries_of

    return {name: {} if params is None else params for _, name, params in entries_of(value)}


Entry = str | dict[str, Parameters | None]
TrackersSection = Annotated[
    dict[str, Parameters], BeforeValidator(_by_name, json_schema_input_type=Entry | list[Entry])
]
"""A name, a list of names, or parameters by name."""
