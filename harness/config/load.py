"""Turn a config file, a mapping or overrides into an `Experiment`, or report all faults."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness import metrics
from harness.config.algorithm import AlgorithmConfig
from harness.config.document import Document, KeyPath, parse, read
from harness.config.experiment import Experiment
from harness.config.faults import dotted, explain
from harness.errors import ConfigError, Fault, MetricError
from harness.sections import Section

__all__ = ["GIVEN", "AlgorithmCheck", "load", "repeated"]

GIVEN = "given from Python: "
"""How the record of a run names ratings that were given from Python."""

MOST_BITS = 1_024
"""Of a whole number; a larger one is more than any floating-point number."""
LONGEST_KEY = 100

AlgorithmCheck = Callable[[AlgorithmConfig], Iterable[tuple[KeyPath, str]]]
"""Given an algorithm of a config, yields what is wrong: the key inside it, and the message."""


def load(
    config: str | Path | Mapping[str, Any] | Experiment,
    *,
    overrides: Iterable[str] = (),
    check_algorithm: AlgorithmCheck | None = None,
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
    check_algorithm : callable, optional
        Checks each algorithm's name and parameters.

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
        return _load(config, overrides, check_algorithm)
    except RecursionError:
        source = str(config) if isinstance(config, str | Path) else "config"
        raise ConfigError(source, [Fault(0, "", "nested too deeply; flatten it")]) from None


def _load(
    config: str | Path | Mapping[str, Any] | Experiment,
    overrides: Iterable[str],
    check_algorithm: AlgorithmCheck | None,
) -> tuple[Experiment, Document]:
    if isinstance(config, Experiment):
        document = Document("config", config.model_dump(mode="json", exclude_unset=True))
    elif isinstance(config, Mapping):
        document = Document("config", copy.deepcopy(dict(config)))
    else:
        document = read(Path(config))
        document.data.setdefault("name", _safe_name(Path(config).stem))
    if not isinstance(config, str | Path):
        document.data.setdefault("name", "run")
    for override in overrides:
        _apply(document.data, override)
    if unprintable := list(_unprintable(document, document.data)):
        raise ConfigError(document.source, unprintable)
    _let_import(document)
    faults = list(_ratings_of_a_session(document))
    experiment: Experiment | None = None
    try:
        experiment = Experiment.model_validate(document.data)
    except ValidationError as error:
        faults += [explain(entry, document, Experiment) for entry in error.errors()]
    faults += _metric_faults(document)
    if check_algorithm is not None:
        faults += _algorithm_faults(document, check_algorithm)
    if experiment is not None:
        faults += _repeated_entries(experiment, document)
    if faults or experiment is None:
        raise ConfigError(document.source, dict.fromkeys(faults))
    return experiment, document


def _unprintable(document: Document, value: Any, path: KeyPath = ()) -> Iterator[Fault]:
    """Yield a fault for each value or key that no message could show and no file could hold."""
    message = ""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        message = f"a number of {value.bit_length():,} bits; write a smaller one"
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        message = f"found {value[:60]!r}, which is not Unicode text; write other characters"
    if message:
        yield Fault(document.line(path), dotted(path), message)
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
    where = f" (line {line})" if line else ""
    message = f"{how} {dotted((key, first))}{where}; remove one of them"
    return Fault(document.line((key, second)), dotted((key, second)), message)


def _safe_name(stem: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in stem)[:80]


def _let_import(document: Document) -> None:
    """Let algorithms be imported from the folder of the config and from the current folder."""
    rows = document.data.get("algorithms")
    rows = rows if isinstance(rows, list) else []
    names = [row.get("name") if isinstance(row, dict) else row for row in rows]
    if any(":" in str(name) for name in names):
        for folder in (document.folder or Path(), Path()):
            if (place := str(folder.resolve())) not in sys.path:
                sys.path.append(place)


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


def _metric_faults(document: Document) -> list[Fault]:
    labels = document.data.get("metrics")
    faults = []
    for position, label in enumerate(labels if isinstance(labels, list) else []):
        if isinstance(label, str):
            try:
                metrics.parse_many(label)
            except MetricError as error:
                path = ("metrics", position)
                faults.append(Fault(document.line(path), dotted(path), str(error)))
    return faults


def _algorithm_faults(document: Document, check: AlgorithmCheck) -> list[Fault]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    rows = document.data.get("algorithms")
    faults = []
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        try:
            algorithm = AlgorithmConfig.model_validate(
                {"name": row} if isinstance(row, str) else row
            )
        except ValidationError:
            continue
        for key, message in check(algorithm):
            path = (
                ("algorithms", position, *key)
                if isinstance(row, dict)
                else ("algorithms", position)
            )
            faults.append(Fault(document.line(path), dotted(path), message))
    return faults


def _apply(data: dict[str, Any], override: str) -> None:
    """Set one key from ``path=value``, creating the mappings on the way."""
    where = f"--set {override}"
    key, separator, text = override.partition("=")
    if not separator or not key:
        raise ConfigError(where, [Fault(0, "", "no '='; write --set split.test_size=0.1")])
    value = parse(f"value: {text}", where).data["value"]
    path = _key_path(key, where)
    target: Any = data
    for part, following in pairwise(path):
        if isinstance(target, dict) and isinstance(part, str):
            if isinstance(target.get(part), str) and isinstance(following, str):
                target[part] = {"kind" if part in ("split", "candidates") else "name": target[part]}
            target = target.setdefault(part, {})
        else:
            target = _item(target, part, where)
    last = path[-1]
    in_mapping = isinstance(last, str) and isinstance(target, dict)
    if in_mapping or (isinstance(last, int) and isinstance(target, list) and last < len(target)):
        target[last] = value
    else:
        fault = Fault(0, dotted(path), "no such place in the config; check the path")
        raise ConfigError(where, [fault])


def _item(target: Any, part: str | int, where: str) -> Any:
    if isinstance(target, list) and isinstance(part, int) and part < len(target):
        if isinstance(target[part], str):
            target[part] = {"name": target[part]}
        return target[part]
    raise ConfigError(where, [Fault(0, str(part), "no such place in the config; check the path")])


def _key_path(key: str, where: str) -> KeyPath:
    """Return ``a.b[1].c`` as ``("a", "b", 1, "c")``."""
    path: list[str | int] = []
    for piece in key.split("."):
        name, *indices = piece.split("[")
        if name:
            path.append(name)
        for index in indices:
            digits = index.removesuffix("]")
            if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
                fault = Fault(0, key, f"{index!r} is no list index; write algorithms[0]")
                raise ConfigError(where, [fault])
            path.append(int(digits))
    if not path:
        fault = Fault(0, key, "no key; write --set split.test_size=0.1")
        raise ConfigError(where, [fault])
    return tuple(path)
