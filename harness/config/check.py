"""A config checked as a whole; what is wrong in it is said by `config.faults`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness._util.files import as_list, placed
from harness.algorithms import depends, own, registry
from harness.config.document import Document, fault_at, key_at, line_of, name_of_given
from harness.config.experiment import AlgorithmConfig, AlgorithmSection, Experiment
from harness.config.trackers import tracker_faults
from harness.config.yaml import RENAMED
from harness.errors import ConfigError, Fault, PluginError
from harness.plugins import registry as plugins
from harness.plugins.own_modules import add_files, search_in
from harness.plugins.registry import folded
from harness.schema.sections import KeyPath, Section, explained

MAX_BITS = 1_024
"""Of a whole number; a larger one is more than any floating-point number."""
MAX_KEY = 100
_ALGORITHM = TypeAdapter[AlgorithmConfig](AlgorithmSection)


Finding = tuple[KeyPath, str]
"""A key, and what is wrong there."""


def checked(document: Document, *, with_ratings: bool = False) -> Experiment:
    """Return the experiment of a document without faults."""
    data = document.data
    if unprintable := list(_unprintable(data)):
        raise ConfigError(document.source, at_keys(document, unprintable))
    faults: set[Fault] = set()
    name = name_of_given(data.get("dataset"))
    if name is not None and not with_ratings:  # the record of a run without its data
        data["dataset"] = "bundled"
        faults.add(without_data(name))
    # Nothing else would know their names.
    if code_named(data) and (unusable := list(import_files(document))):
        raise ConfigError(document.source, [*faults, *unusable])
    try:
        experiment = Experiment.model_validate(data)
        if again := list(_repeated_entries(experiment)):
            faults.update(repeated(document, *entry, "is the same as") for entry in again)
    except ValidationError as error:
        faults.update(explained_at_key(entry, document) for entry in error.errors())
    if findings := list(_algorithm_faults(document)):
        faults.update(at_keys(document, findings))
    if document.data.get("trackers"):
        faults.update(tracker_faults(document))
    if faults:
        raise ConfigError(document.source, faults)
    return experiment


def _unprintable(value: object, path: KeyPath = ()) -> Iterator[Finding]:
    """Yield each value or key that no message could show and no file could hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        yield path, f"a number of {value.bit_length():,} bits; write a smaller one"
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        yield path, f"found {value[:60]!r}, which is not Unicode text; write other characters"
    elif isinstance(value, dict):
        for key, inner in value.items():
            wrong = list(_unprintable(key, path))
            yield from wrong or _unprintable(inner, (*path, str(key)[:MAX_KEY]))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _unprintable(inner, (*path, position))


def _repeated_entries(experiment: Experiment) -> Iterator[tuple[str, int, int]]:
    """Yield entries of a list that equal an earlier entry: their cells would be the same."""
    for key in ("dataset", "split", "candidates", "seed"):
        entries: list[object] = []
        given = getattr(experiment, key)
        for position, entry in enumerate(given if len(given) > 1 else ()):
            if isinstance(entry, Section):
                entry = entry.model_dump(mode="json")
                if path := entry.get("path"):  # one file may be written in several ways
                    entry["path"] = [*map(os.path.normpath, as_list(path))]
            if entry in entries:
                yield key, entries.index(entry), position
            entries.append(entry)


def code_named(data: Mapping[str, object]) -> set[str]:
    """Return the files and the ``module:name`` that a config names, without importing them."""
    files = data.get("plugins")
    files = files if isinstance(files, list) else [files]
    return {name for name in files if isinstance(name, str)} | set(_modules_named(data))


def all_code_named(data: Mapping[str, object]) -> list[str]:
    """Return the code that a config would run: what it names, and plug-ins of other packages.

    Nothing is imported. A plug-in that is not installed is not among them.
    """
    return [*sorted(code_named(data)), *dict.fromkeys(_plugins_named(data))]


def _plugins_named(data: Mapping[str, object]) -> Iterator[str]:
    """Yield the installed plug-ins of other packages that a config names, each with its package."""
    tuning = _mapping(data.get("tuning"))
    labels = [*_entries(data.get("metrics")), data.get("headline"), tuning.get("metric")]
    divided = [*map(_mapping, _entries(data.get("split"))), tuning]
    validations = [part.get("validation") for part in divided]
    named: dict[str, list[object]] = {
        "algorithms": [_under("name", row) for row in _entries(data.get("algorithms"))],
        "metrics": [str(label).partition("(")[0].partition("@")[0].strip() for label in labels],
        "splits": [
            _under("kind", part) for key in ("split", "filters") for part in _entries(data.get(key))
        ]
        + [_under("kind", part) for part in validations],
        "datasets": [_under("name", part) for part in _entries(data.get("dataset"))],
        "readers": [_mapping(part).get("format") for part in _entries(data.get("dataset"))],
        "analyses": _entries(data.get("analyses")),
        "trackers": [
            name
            for part in _entries(data.get("trackers"))
            for name in (part if isinstance(part, dict) else [part])
        ],
    }
    for kind, names in named.items():
        spelled = folded if kind == "algorithms" else str  # which are found in any spelling
        foreign = {spelled(name): name for name in plugins.foreign_names(kind)}
        for name in map(spelled, filter(None, map(_text, names))):
            if name in foreign and name not in {*map(spelled, plugins.builtin_names(kind))}:
                yield f"{foreign[name]} of {plugins.foreign_origin(kind, foreign[name])}"


def _entries(value: object) -> list[object]:
    """Return a list as it is, and one value as a list; none for null."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _under(key: str, entry: object) -> object:
    return entry.get(key) if isinstance(entry, dict) else entry


def _modules_named(value: object) -> Iterator[str]:
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _modules_named(inner)
    elif isinstance(value, str) and (match := re.match(plugins.OBJECT, value)):
        yield match[0]


def _algorithm_faults(document: Document) -> Iterator[Finding]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    rows = document.data.get("algorithms")
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        with suppress(ValidationError):
            algorithm = _ALGORITHM.validate_python(row)
            faults = registry.check(algorithm)
            if ":" in algorithm.name:  # a class is searched in the config's folder, then here
                folders = {place.resolve(): None for place in (document.folder or Path(), Path())}
                if message := own.hidden(algorithm.name, folders):
                    faults = [(("name",), message)]
            if algorithm.depends:
                faults += depends.faults(algorithm.depends, document.folder)
            for key, message in faults:
                yield ("algorithms", position, *(key if isinstance(row, dict) else ())), message


def at_keys(document: Document, findings: Iterable[tuple[KeyPath, str]]) -> list[Fault]:
    """Return what is wrong at keys, as faults."""
    return [fault_at(document, path, message) for path, message in findings]


def without_data(name: str) -> Fault:
    """Return the fault of the record of a run whose data were given from Python."""
    source = f"the ratings ({name}) were given from Python"
    advice = "give them again there as ratings=..., or name a file in their place"
    return Fault(0, "dataset", f"{source}; {advice}")


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the fault that two entries of a list give the same cells, with both places."""
    line = line_of(document, (key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return fault_at(document, (key, second), f"{how} {where}; remove one of them")


def explained_at_key(error: ErrorDetails, document: Document) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a fault at its key."""
    path = key_at(document, error["loc"])
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    elif error["type"] == "union_tag_invalid":  # a plain string has no key `kind`
        path = key_at(document, (*error["loc"], "kind"))
    renamed = RENAMED.get(str(path[-1])) if error["type"] == "extra_forbidden" else None
    message = f"this key is now called `{renamed}`; rename it" if renamed else ""
    if error["type"] == "extra_forbidden" and str(path[-1]).startswith("+"):
        message = "`+` adds to a list of another config; name that config in `extends`"
    return fault_at(document, path, message or explained(error, Experiment, document.data))


def import_files(document: Document) -> Iterator[Fault]:
    """Import the files under `plugins`; let modules beside the config and here be found by name."""
    folder, files = document.folder or Path(), document.data.get("plugins")
    search_in((folder, Path()))
    if not isinstance(files, list):
        files = [files] if isinstance(files, str) else []
    for position, name in enumerate(files):
        if isinstance(name, str):
            try:
                add_files([placed(name, folder)])
            except PluginError as error:
                yield fault_at(document, ("plugins", position), str(error))
