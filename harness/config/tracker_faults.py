"""What is wrong with the trackers that a config or a call names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.config.document import Document
from harness.config.places import fault_at
from harness.config.tracker_entries import entries_of
from harness.config.trackers import Parameters
from harness.errors import Fault, PluginError
from harness.key_paths import brief
from harness.sections import KeyPath
from harness.trackers import parameter_faults


def tracker_faults(document: Document) -> Iterator[Fault]:
    """Yield what is wrong with the names of trackers and with their parameters, each at its key."""
    try:
        entries = [*entries_of(document.data.get("trackers"), ("trackers",))]
    except ValueError:  # a fault of the config's form
        return
    if entries:
        yield from _faults_of(document, entries)


def _faults_of(
    document: Document, entries: Iterable[tuple[KeyPath, str, object]]
) -> Iterator[Fault]:
    names: list[str] = []
    for path, name, params in entries:
        if name in names:
            yield fault_at(document, path, f"{name!r} is there twice; remove one of them")
        names.append(name)
        try:
            faults = [*parameter_faults(name, params if isinstance(params, dict) else {})]
        except PluginError as error:
            yield fault_at(document, path, str(error))
            continue
        for parameter, message in faults:
            yield fault_at(document, (*path, parameter) if parameter else path, message)


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
        for _, message in parameter_faults(name, {}):
            raise PluginError(f"{message} under `trackers` in the config")
    return called | trackers
