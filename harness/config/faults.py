"""Everything that is wrong in a config, each fault at its key."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness import plugins
from harness.algorithms import registry
from harness.config.algorithms import AlgorithmConfig, AlgorithmSection
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.from_python import name_of_given
from harness.errors import ConfigError, Fault, PluginError
from harness.files import as_list, placed
from harness.sections import KeyPath, Section

MAX_BITS = 1_024
"""Of a whole number; a larger one is more than any floating-point number."""
MAX_KEY = 100
_ALGORITHM = TypeAdapter[AlgorithmConfig](AlgorithmSection)


def checked(document: Document, *, with_ratings: bool = False) -> Experiment:
    """Return the experiment of a document without faults."""
    data = document.data
    if unprintable := list(_unprintable(document, data)):
        raise ConfigError(document.source, unprintable)
    faults: set[Fault] = set()
    name = name_of_given(data.get("dataset"))
    if name is not None and not with_ratings:  # the record of a run without its data
        data["dataset"] = "bundled"
        source = f"the ratings ({name}) were given from Python"
        advice = "give them again there as ratings=..., or name a file in their place"
        faults.add(Fault(0, "dataset", f"{source}; {advice}"))
    if unusable := list(_plugin_faults(document)):  # whose names nothing else would know
        raise ConfigError(document.source, [*faults, *unusable])
    try:
        experiment = Experiment.model_validate(data)
        faults.update(_repeated_entries(experiment, document))
    except ValidationError as error:
        faults.update(_explained(entry, document) for entry in error.errors())
    faults.update(_algorithm_faults(document))
    if document.data.get("trackers"):
        from harness.config.tracker_faults import tracker_faults

        faults.update(tracker_faults(document))
    if faults:
        raise ConfigError(document.source, faults)
    return experiment


def _unprintable(document: Document, value: object, path: KeyPath = ()) -> Iterator[Fault]:
    """Yield a fault for each value or key that no message could show and no file could hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        yield document.fault(path, f"a number of {value.bit_length():,} bits; write a smaller one")
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        message = f"found {value[:60]!r}, which is not Unicode text; write other characters"
        yield document.fault(path, message)
    elif isinstance(value, dict):
        for key, inner in value.items():
            wrong = list(_unprintable(document, key, path))
            yield from wrong or _unprintable(document, inner, (*path, str(key)[:MAX_KEY]))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _unprintable(document, inner, (*path, position))


def _repeated_entries(experiment: Experiment, document: Document) -> Iterator[Fault]:
    """Report entries of a list that equal an earlier entry: their cells would be the same."""
    for key in ("dataset", "split", "candidates", "seed"):
        entries: list[object] = []
        for position, entry in enumerate(getattr(experiment, key)):
            if isinstance(entry, Section):
                entry = entry.model_dump(mode="json")
                if path := entry.get("path"):  # one file may be written in several ways
                    entry["path"] = [*map(os.path.normpath, as_list(path))]
            if entry in entries:
                yield repeated(document, key, entries.index(entry), position, "is the same as")
            entries.append(entry)


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the fault that two entries of a list give the same cells, with both places."""
    line = document.line((key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return document.fault((key, second), f"{how} {where}; remove one of them")


def _plugin_faults(document: Document) -> Iterator[Fault]:
    """Import the files under `plugins`; let modules beside the config and here be found by name."""
    folder, files = document.folder or Path(), document.data.get("plugins")
    if code_named(document.data):
        from harness.own_modules import search_in

        search_in((folder, Path()))
    if not isinstance(files, list):
        files = [files] if isinstance(files, str) else []
    for position, name in enumerate(files):
        if isinstance(name, str):
            try:
                from harness.own_modules import add_files

                add_files([placed(name, folder)])
            except PluginError as error:
                yield document.fault(("plugins", position), str(error))


def code_named(data: Mapping[str, object]) -> set[str]:
    """Return the files and the ``module:name`` that a config names, without importing them."""
    files = data.get("plugins")
    files = files if isinstance(files, list) else [files]
    return {name for name in files if isinstance(name, str)} | set(_modules_named(data))


def _modules_named(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _modules_named(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _modules_named(inner)
    elif isinstance(value, str) and (match := re.match(plugins.OBJECT, value)):
        yield match[0]


def _algorithm_faults(document: Document) -> Iterator[Fault]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    rows = document.data.get("algorithms")
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        with suppress(ValidationError):
            algorithm = _ALGORITHM.validate_python(row)
            # A class is searched in the config's folder, then here.
            folders = {place.resolve(): None for place in (document.folder or Path(), Path())}
            faults = registry.check(algorithm)
            if ":" in algorithm.name:
                from harness.algorithms import own

                if message := own.hidden(algorithm.name, folders):
                    faults = [(("name",), message)]
            if algorithm.depends:
                from harness.algorithms import depends

                faults += depends.faults(algorithm.depends, document.folder)
            for key, message in faults:
                inside = key if isinstance(row, dict) else ()
                yield document.fault(("algorithms", position, *inside), message)


def _explained(error: ErrorDetails, document: Document) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a fault at its key."""
    from harness.config.files import RENAMED
    from harness.section_faults import explained

    path = document.known(error["loc"])
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    elif error["type"] == "union_tag_invalid":  # a plain string has no key `kind`
        path = document.known((*error["loc"], "kind"))
    renamed = RENAMED.get(str(path[-1])) if error["type"] == "extra_forbidden" else None
    message = f"this key is now called `{renamed}`; rename it" if renamed else ""
    if error["type"] == "extra_forbidden" and str(path[-1]).startswith("+"):
        message = "`+` adds to a list of another config; name that config in `extends`"
    return document.fault(path, message or explained(error, Experiment, document.data))
