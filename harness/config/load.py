"""Turn a config file, a mapping or overrides into an `Experiment`, or report all faults at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from harness.config.bases import extended
from harness.config.check import all_code_named, checked
from harness.config.document import GIVEN, Document, fault_at, key_at, name_of_given, refusal
from harness.config.experiment import Experiment
from harness.config.from_python import as_sections, with_variables
from harness.config.yaml import parse, read
from harness.datasets.section import OF_LOADED, DatasetSection
from harness.errors import ConfigError, counted, joined
from harness.plugins import registry as plugins
from harness.schema.sections import KeyPath, brief, plain_data, sections_at


def load(
    config: str | Path | Mapping[str, object] | Experiment,
    *,
    overrides: Iterable[str] = (),
    folder: Path | None = None,
    with_ratings: bool = False,
    trust: bool = True,
) -> tuple[Experiment, Document]:
    """Read and validate a config, and return where it came from too; raise all its faults at once.

    It is a YAML file, the name of a config that comes with the package, a run's folder or
    ``run.json``, or Python data, whose paths are relative to `folder`. An override is
    ``key.path=value``, with the value as in YAML: ``split.test_size=0.1``,
    ``algorithms[0].params.k=20``.
    """
    name = "run"
    try:
        if isinstance(config, Experiment):
            document = Document("config", config.model_dump(mode="json", exclude_unset=True))
        elif isinstance(config, Mapping):
            if any(map(_is_of_surprise, (config.get("algorithms"), config.get("split")))):
                config = as_sections(config)
            data = {key: plain_data(value) for key, value in config.items()}
            document = with_variables(Document("config", data, folder=folder))
        elif not isinstance(config, str | os.PathLike):
            raise _no_config(config)
        else:
            document = read(Path(config))
            name = re.sub(r"(?a)[^\w.-]", "-", Path(config).stem).lstrip("._-")[:80] or name
        if not document.recorded and document.data.get("extends") is not None:
            document = extended(document)
        document.data.setdefault("name", name)
        if not isinstance(overrides, list | tuple) or overrides:
            for override in listed(overrides):
                set_key(document, override)
        if document.recorded and not trust and (code := all_code_named(document.data)):
            advice = "read that code first; `--trust` then imports and runs it"
            raise refusal(document.source, f"it names code, {joined(code)}; {advice}")
        plugins.forget_records()
        if with_ratings:
            stand_in(document)
        return checked(document, with_ratings=with_ratings), document
    except RecursionError:
        source = str(config) if isinstance(config, str | Path) else "config"
        raise refusal(source, "nested too deeply; flatten it") from None


def _no_config(config: object) -> ConfigError:
    return refusal("config", f"found {brief(config)}; give a path, a mapping or an Experiment")


def read_config(config: str | Path) -> Document:
    """Read a config with what it extends; nothing in it is validated, and no code imported."""
    document = read(Path(config))
    return document if document.recorded else extended(document)


def _is_of_surprise(value: object) -> bool:
    """Return whether a value is a class or an object of Surprise, or a list with one."""
    if isinstance(value, list | tuple):
        return any(map(_is_of_surprise, value))
    kind = value if isinstance(value, type) else type(value)
    return kind.__module__.partition(".")[0] == "surprise"


_TEXTS = TypeAdapter(list[str])


def listed(overrides: Iterable[str]) -> list[str]:
    """Return overrides as a list, or refuse what is none, as a text, which is one of letters."""
    try:
        return _TEXTS.validate_python(overrides)
    except ValidationError:
        meant = overrides if isinstance(overrides, str) else "split.test_size=0.1"
        message = f"found {brief(overrides)}; write a list: {[meant]}"
        raise refusal("config", message, path=("overrides",)) from None


def set_key(document: Document, override: str) -> None:
    """Set one key from ``path=value``, creating the mappings on the way."""
    where = f"--set {override}"
    key, separator, text = override.partition("=")
    if not separator:
        raise refusal(where, "no '='; write --set split.test_size=0.1")
    try:
        value = parse(f"value: {text}", where).data["value"]
    except ConfigError as error:  # whose line is none of a file
        raise ConfigError(where, [replace(fault, line=0) for fault in error.faults]) from None
    path: list[str | int] = []
    for name, index in re.findall(r"([^.\[]+)|\[([^.\[]*)", key):
        if not (name or re.fullmatch(r"[0-9]{1,9}\]?", index)):
            raise refusal(where, f"{index!r} is no list index; write algorithms[0]", path=(key,))
        path.append(name or int(index.removesuffix("]")))
    if not path:
        raise refusal(where, "no key; write --set split.test_size=0.1", path=(key,))
    if path[1:] and (first := str(path[0])) in ("split", "candidates"):  # of the default kind
        document.data.setdefault(first, Experiment.model_fields[first].default[0].kind)
    try:
        there = key_at(document, tuple(path))
        _with_value(document.data, path, value)
        document.overrides[tuple(path[: len(there) + 1])] = override
    except LookupError:
        message = "no such place in the config; check the path"
        raise refusal(where, message, path=tuple(path)) from None


def _with_value(
    target: object, path: list[str | int], value: object, where: KeyPath = ()
) -> object:
    """Return the target, which is at `where` in the config, with a value at a path inside it."""
    if not path:
        return value
    part, *rest = path
    if isinstance(part, str):
        target = sections_at(Experiment, where)[0].spelled_out(target)
    if isinstance(target, dict) and isinstance(part, str):
        target[part] = _with_value(target.get(part, {}), rest, value, (*where, part))
    elif isinstance(target, list) and isinstance(part, int):
        target[part] = _with_value(target[part], rest, value, where)
    else:
        raise LookupError
    return target


def stand_in(document: Document) -> None:
    """Put loaded ratings in the place of the data set that a config names; its options hold.

    A mapping that says where ratings are, or how a file is written, is refused by its keys.
    """
    written = document.data.get("dataset")
    one = isinstance(written, list) and len(written) == 1
    entry = written[0] if one else written  # type: ignore[index]
    where = ("dataset", 0) if one else ("dataset",)
    if isinstance(entry, list):
        message = f"found {counted(len(entry), 'data set')}; `ratings` are one: leave this out"
        raise ConfigError(document.source, [fault_at(document, where, message)])
    options: dict[str, object] = {}
    if isinstance(entry, dict):
        options = {key: value for key, value in entry.items() if key != "path"}
        if name_of_given(entry) is None:
            options = dict(entry)
    faults = []
    for key, value in [*options.items()]:
        field = DatasetSection.model_fields.get(key)
        if key in OF_LOADED or field is None:
            continue
        del options[key]
        if value != field.default:
            message = f"found {brief(value)}; `ratings` from Python have none: leave one out"
            faults.append(fault_at(document, (*where, key), message))
    if faults:
        raise ConfigError(document.source, faults)
    section = {"path": f"{GIVEN}ratings", **options}
    document.data["dataset"] = [section] if one else section
