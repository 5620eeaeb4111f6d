"""Turn a config file, a mapping or overrides into an `Experiment`, or report all faults."""

from __future__ import annotations

import copy
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.algorithms import registry
from harness.config.document import Document, parse, read, refusal
from harness.config.experiment import GIVEN, AlgorithmConfig, AlgorithmSection, Experiment
from harness.config.faults import explain
from harness.errors import ConfigError, Fault
from harness.sections import KeyPath, Section

__all__ = ["load", "repeated"]

MOST_BITS = 1_024
"""Of a whole number; a larger one is more than any floating-point number."""
LONGEST_KEY = 100


def load(
    config: str | Path | Mapping[str, Any] | Experiment, *, overrides: Iterable[str] = ()
) -> tuple[Experiment, Document]:
    """Read and validate a config.

    Parameters
    ----------
    config : path, mapping or Experiment
        A YAML file, the name of a config that comes with the package, a run's folder or
        ``run.json``, or the same as Python data.
    overrides : iterable of str
        ``key.path=value`` each, the value written as in YAML: ``split.test_size=0.1``,
        ``algorithms[0].params.k=20``.

    Returns
    -------
    experiment : Experiment
    document : Document
        Where it came from: source name, folder, lines.

    Raises
    ------
    ConfigError
        With all faults of the config.
    """
    try:
        document = _document(config)
        for override in overrides:
            _apply(document.data, override)
        return _checked(document), document
    except RecursionError:
        source = str(config) if isinstance(config, str | Path) else "config"
        raise refusal(source, "nested too deeply; flatten it") from None


def _document(config: str | Path | Mapping[str, Any] | Experiment) -> Document:
    name = "run"
    if isinstance(config, Experiment):
        document = Document("config", config.model_dump(mode="json", exclude_unset=True))
    elif isinstance(config, Mapping):
        document = Document("config", copy.deepcopy(dict(config)))
    else:
        document = read(Path(config))
        name = re.sub(r"[^\w.-]", "-", Path(config).stem)[:80]
    document.data.setdefault("name", name)
    return document


def _checked(document: Document) -> Experiment:
    """Return the experiment of a document without faults."""
    if unprintable := list(_unprintable(document, document.data)):
        raise ConfigError(document.source, unprintable)
    faults = list(_ratings_of_a_session(document))
    experiment: Experiment | None = None
    try:
        experiment = Experiment.model_validate(document.data)
    except ValidationError as error:
        faults += [explain(entry, document, Experiment) for entry in error.errors()]
    faults += _algorithm_faults(document)
    if experiment is not None:
        faults += _repeated_entries(experiment, document)
    if faults or experiment is None:
        raise ConfigError(document.source, dict.fromkeys(faults))
    return experiment


def _unprintable(document: Document, value: Any, path: KeyPath = ()) -> Iterator[Fault]:
    """Yield a fault for each value or key that no message could show and no file could hold."""
    message = ""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        message = f"a number of {value.bit_length():,} bits; write a smaller one"
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        message = f"found {value[:60]!r}, which is not Unicode text; write other characters"
    if message:
        yield document.fault(path, message)
    elif isinstance(value, dict):
        for key, inner in value.items():
            wrong = list(_unprintable(document, key, path))
            yield from wrong or _unprintable(document, inner, (*path, str(key)[:LONGEST_KEY]))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _unprintable(document, inner, (*path, position))


def _repeated_entries(experiment: Experiment, document: Document) -> list[Fault]:
    """Report entries of a list that equal an earlier entry: their cells would be the same."""
    faults = []
    for key in ("dataset", "split", "candidates", "seed"):
        entries = [_compared(each) for each in getattr(experiment, key)]
        for position, entry in enumerate(entries):
            first = entries.index(entry)
            if first < position:
                faults.append(repeated(document, key, first, position, "is the same as"))
    return faults


def _compared(entry: Any) -> Any:
    """Return an entry so that equal ones compare equal, paths of one file among them."""
    if not isinstance(entry, Section):
        return entry
    said = entry.model_dump(mode="json")
    return said | {"path": os.path.normpath(said["path"])} if said.get("path") else said


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the fault that two entries of a list give the same cells, with both places."""
    line = document.line((key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return document.fault((key, second), f"{how} {where}; remove one of them")


def _ratings_of_a_session(document: Document) -> Iterator[Fault]:
    """Yield a fault where the record of a run does not hold where its ratings came from."""
    named = document.data.get("dataset")
    given = named[0] if isinstance(named, list) and named else ""
    if isinstance(given, str) and given.startswith(GIVEN):
        document.data["dataset"] = "bundled"
        yield Fault(
            0,
            "dataset",
            f"the ratings ({given.removeprefix(GIVEN)}) were given from Python; give them again as "
            "harness.run(..., ratings=...), or name a file with --set dataset=FILE",
        )


_ALGORITHM = TypeAdapter[AlgorithmConfig](AlgorithmSection)


def _algorithm_faults(document: Document) -> Iterator[Fault]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    given: Any = document.data.get("algorithms")
    rows = {}
    for position, row in enumerate(given if isinstance(given, list) else []):
        with suppress(ValidationError):
            rows[position] = _ALGORITHM.validate_python(row)
    if any(":" in row.name for row in rows.values()):  # a class in the config's folder, or here
        for folder in (document.folder or Path(), Path()):
            if (place := str(folder.resolve())) not in sys.path:
                sys.path.append(place)
    for position, row in rows.items():
        for key, message in registry.check(row):
            inside = key if isinstance(given[position], dict) else ()
            yield document.fault(("algorithms", position, *inside), message)


def _apply(data: dict[str, Any], override: str) -> None:
    """Set one key from ``path=value``, creating the mappings on the way."""
    where = f"--set {override}"
    key, separator, text = override.partition("=")
    if not separator or not key:
        raise refusal(where, "no '='; write --set split.test_size=0.1")
    value = parse(f"value: {text}", where).data["value"]
    path = _key_path(key, where)
    target: Any = data
    named = ""
    for part, following in pairwise([*path, None]):
        named = part if isinstance(part, str) else named
        if isinstance(target, dict) and isinstance(part, str):
            target.setdefault(part, {})
        elif not (isinstance(target, list) and isinstance(part, int) and part < len(target)):
            raise refusal(where, "no such place in the config; check the path", path=path)
        if following is None:
            target[part] = value
        elif isinstance(target[part], str) and isinstance(following, str):  # a name alone
            by = "kind" if named in ("split", "candidates", "validation") else "name"
            target[part] = {by: target[part]}
        target = target[part]


def _key_path(key: str, where: str) -> KeyPath:
    """Return ``a.b[1].c`` as ``("a", "b", 1, "c")``."""
    path: list[str | int] = []
    for name, index in re.findall(r"([^.\[]+)|\[([^.\[]*)", key):
        digits = index.removesuffix("]")
        if name:
            path.append(name)
        elif digits.isascii() and digits.isdigit() and len(digits) < 10:
            path.append(int(digits))
        else:
            raise refusal(where, f"{index!r} is no list index; write algorithms[0]", path=(key,))
    if not path:
        raise refusal(where, "no key; write --set split.test_size=0.1", path=(key,))
    return tuple(path)
