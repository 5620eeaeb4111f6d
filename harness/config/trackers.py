"""Where a run is logged: the names of trackers in a config, with their parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator

from harness.config.document import Document
from harness.errors import Fault, PluginError
from harness.sections import KeyPath, brief

Parameters = dict[str, Any]


def _by_name(value: object) -> object:
    """Return the parameters of each tracker by its name, however they are written."""
    return {name: {} if params is None else params for _, name, params in _entries(value)}


def _entries(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str, object]]:
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
            yield from _entries(entry, (*path, position))
    elif value is not None:
        raise ValueError(f"found {brief(value)}; name trackers, as [csv], or csv: {{path: a.csv}}")


Entry = str | dict[str, Parameters | None]
TrackersSection = Annotated[
    dict[str, Parameters], BeforeValidator(_by_name, json_schema_input_type=Entry | list[Entry])
]
"""A name, a list of names, or parameters by name."""


def tracker_faults(document: Document) -> Iterator[Fault]:
    """Yield what is wrong with the names of trackers and with their parameters, each at its key."""
    try:
        entries = [*_entries(document.data.get("trackers"), ("trackers",))]
    except ValueError:  # a fault of the config's form
        return
    if entries:
        yield from _faults_of(document, entries)


def _faults_of(
    document: Document, entries: Iterable[tuple[KeyPath, str, object]]
) -> Iterator[Fault]:
    from harness.trackers import parameter_faults  # imported where a tracker is named

    names: list[str] = []
    for path, name, params in entries:
        if name in names:
            yield document.fault(path, f"{name!r} is there twice; remove one of them")
        names.append(name)
        try:
            faults = [*parameter_faults(name, params if isinstance(params, dict) else {})]
        except PluginError as error:
            yield document.fault(path, str(error))
            continue
        for parameter, message in faults:
            yield document.fault((*path, parameter) if parameter else path, message)


def with_names(trackers: dict[str, Parameters], names: Iterable[str]) -> dict[str, Parameters]:
    """Return the trackers of a config and those that a call names, or raise a PluginError.

    >>> with_names({"csv": {"path": "a.csv"}}, ["csv"])
    {'csv': {'path': 'a.csv'}}
    """
    is_listed = isinstance(names, list | tuple)
    if not is_listed or not all(isinstance(name, str) for name in names):
        raise PluginError(f"track: found {brief(names)}; give names of trackers, as ['csv']")
    called: dict[str, Parameters] = {name: {} for name in names}
    for name in called:
        if name in trackers:
            continue
        from harness.trackers import parameter_faults

        for _, message in parameter_faults(name, {}):
            raise PluginError(f"{message} under `trackers` in the config")
    return called | trackers
