"""Convert Pydantic's errors to faults of this project: key, what was found, what to do."""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel

from harness.config.document import Document, KeyPath
from harness.errors import Fault, suggestion
from harness.sections import Kind

__all__ = ["dotted", "explain"]

RENAMED = {"floors": "baselines"}
"""Keys of earlier versions, and their new names."""


def dotted(path: KeyPath) -> str:
    """Return a key path as a person writes it.

    Examples
    --------
    >>> dotted(("algorithms", 1, "params", "k"))
    'algorithms[1].params.k'
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def explain(error: Any, document: Document, model: type[BaseModel]) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a `Fault`.

    Parameters
    ----------
    error : dict
        With ``type``, ``loc``, ``msg``, ``input`` and ``ctx``.
    document : Document
        What was validated; gives the line.
    model : type of BaseModel
        What it was validated against; gives the keys that would have been right.
    """
    path = _written_path(error["loc"], document.data, error["type"])
    return Fault(document.line(path), dotted(path), _message(error, model, path))


def _written_path(location: tuple[Any, ...], data: Any, kind: str) -> KeyPath:
    """Drop from a location what the validator put in: tags of unions, the index of a lone value."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        last = position == len(location) - 1
        if (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        ):
            path.append(part)
            data = data[part]
        elif last and kind == "missing" and isinstance(data, dict):
            path.append(part)
    return tuple(path)


def _message(error: Any, model: type[BaseModel], path: KeyPath) -> str:
    kind, found, context = error["type"], error["input"], error.get("ctx", {})
    shown = _shown(found)
    match kind:
        case "extra_forbidden":
            if renamed := RENAMED.get(str(error["loc"][-1])):
                return f"this key is now called `{renamed}`; rename it"
            keys = _keys_beside(model, error["loc"][:-1])
            return f"unknown key; {suggestion(error['loc'][-1], keys)}"
        case "missing":
            return "missing; add it"
        case "union_tag_not_found":
            return f"no `kind` given; {suggestion('', _tags(context))}"
        case "union_tag_invalid":
            return f"unknown kind {context['tag']!r}; {suggestion(context['tag'], _tags(context))}"
        case "literal_error":
            choices = [part.strip("' ") for part in _split_expected(context["expected"])]
            return f"found {shown}; {suggestion(found, choices)}"
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


def _shown(value: Any) -> str:
    """Return a value short enough for one line."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _tags(context: dict[str, Any]) -> list[str]:
    return [part.strip("' ") for part in str(context.get("expected_tags", "")).split(",") if part]


def _split_expected(text: str) -> list[str]:
    return text.replace(" or ", ", ").split(", ")


def _keys_beside(model: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Return the keys that are legal where an unknown one was found."""
    candidates: list[Any] = [model]
    for part in location:
        stepped: list[Any] = []
        for candidate in candidates:
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                if part in candidate.model_fields:
                    stepped += _sections(candidate.model_fields[part].annotation)
                elif _tag(candidate) == part:
                    stepped.append(candidate)
        candidates = stepped or candidates
    return sorted({key for candidate in candidates for key in candidate.model_fields})


def _tag(model: type[BaseModel]) -> str | None:
    kind = model.model_fields.get("kind")
    if kind is None:
        return None
    values = typing.get_args(kind.annotation)
    return str(values[0]) if values else None


def _sections(annotation: Any) -> list[type[BaseModel]]:
    """Return every section that an annotation may hold, through lists, unions and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if issubclass(annotation, Kind) and "kind" not in annotation.model_fields:
            return [*annotation.kinds]
        return [annotation]
    if typing.get_origin(annotation) is typing.Annotated:
        return _sections(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (list, typing.Union, types.UnionType, tuple):
        return [found for part in typing.get_args(annotation) for found in _sections(part)]
    return []
