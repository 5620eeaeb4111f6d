"""Keys that are set in a call: ``key.path=value``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pydantic import TypeAdapter, ValidationError

from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.places import key_at, refusal
from harness.config.yaml_text import parse
from harness.errors import ConfigError
from harness.key_paths import brief
from harness.section_faults import sections_at
from harness.sections import KeyPath

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
