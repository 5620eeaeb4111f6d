"""Convert Pydantic's errors to faults of this project: key, what was found, what to do."""

from __future__ import annotations

import re
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from harness.config.document import Document
from harness.errors import Fault, suggestion
from harness.sections import KeyPath, Kind

__all__ = ["explain"]

RENAMED = {"floors": "baselines"}
"""Keys of earlier versions, and their new names."""


def explain(error: ErrorDetails, document: Document, model: type[BaseModel]) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` of a model into a `Fault`."""
    path = _written_path(error["loc"], document.data, error["type"])
    return document.fault(path, _message(error, model))


def _written_path(location: tuple[Any, ...], data: Any, kind: str) -> KeyPath:
    """Drop from a location what the validator put in: tags of unions, the index of a lone value."""
    path: list[str | int] = []
    for part in location:
        known = range(len(data)) if isinstance(data, list) else data
        if isinstance(data, dict | list) and part in known:
            path.append(part)
            data = data[part]
    if kind == "missing":
        path.append(location[-1])
    return tuple(path)


def _message(error: ErrorDetails, model: type[BaseModel]) -> str:
    kind, found, context = error["type"], error["input"], error.get("ctx", {})
    shown = _shown(found)
    match kind:
        case "extra_forbidden":
            if renamed := RENAMED.get(str(error["loc"][-1])):
                return f"this key is now called `{renamed}`; rename it"
            beside = _sections_at(model, error["loc"][:-1])
            keys = sorted({key for section in beside for key in section.model_fields})
            return f"unknown key; {suggestion(error['loc'][-1], keys)}"
        case "missing":
            return "missing; add it"
        case "union_tag_not_found":
            kinds = [_kind(section) or "" for section in _sections_at(model, error["loc"])]
            return f"no `kind` given; {suggestion('', kinds)}"
        case "union_tag_invalid":
            known = _choices(context["expected_tags"])
            return f"unknown kind {context['tag']!r}; {suggestion(context['tag'], known)}"
        case "literal_error":
            return f"found {shown}; {suggestion(found, _choices(context['expected']))}"
        case "value_error":
            return str(context["error"])
        case "string_pattern_mismatch":
            return f"found {shown}; use up to 80 letters, digits, '.', '_' and '-', a letter first"
        case "too_short":
            return "empty; name at least one"
        case _ if found is None:
            return "empty; write a value"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"found {shown}; it must be a mapping of keys to values"
    expected = error["msg"]
    for start in ("Input should be ", "Value should ", "List should ", "String should "):
        expected = expected.removeprefix(start)
    return f"found {shown}; it must be {expected}"


def _shown(value: object) -> str:
    """Return a value short enough for one line."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _choices(text: str) -> list[str]:
    """Return the words that a message of Pydantic lists in quotation marks."""
    return re.findall(r"'([^']*)'", text)


def _sections_at(model: type[BaseModel], location: KeyPath) -> list[type[BaseModel]]:
    """Return the sections that may stand at a location, or around it if none does."""
    sections = [model]
    for part in location:
        fields = [each.model_fields[part] for each in sections if part in each.model_fields]
        inner = [each for field in fields for each in _sections(field.annotation)]
        sections = inner or [each for each in sections if _kind(each) == part] or sections
    return sections


def _kind(section: type[BaseModel]) -> str | None:
    return section.model_fields["kind"].default if "kind" in section.model_fields else None


def _sections(annotation: Any) -> list[type[BaseModel]]:
    """Return every section that an annotation may hold, through lists, unions and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if issubclass(annotation, Kind) and _kind(annotation) is None:
            return [*annotation.kinds]
        return [annotation]
    return [found for part in get_args(annotation) for found in _sections(part)]
