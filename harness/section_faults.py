"""What is wrong with a section of a config, in words, and which sections a place may hold."""

from __future__ import annotations

import re
from typing import TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from harness.errors import DataError, suggestion
from harness.key_paths import brief, dotted, located
from harness.sections import KeyPath, Kind, Section, plain_data

WORDS = {
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "tuple": "a list",
}
"""What messages call the types of Pydantic."""


S = TypeVar("S", bound=Section)


def validated(section: type[S], data: object, where: str) -> S:
    """Return a section of plain data that belong to no config, or raise a DataError."""
    try:
        return section.model_validate(plain_data(data))
    except ValidationError as error:
        lines = []
        for fault in error.errors():
            missing = fault["loc"][-1:] if fault["type"] == "missing" else ()
            path = dotted((*located(data, fault["loc"]), *missing))
            lines.append(": ".join(filter(None, (where, path, explained(fault, section, data)))))
        raise DataError("\n".join(dict.fromkeys(lines))) from None
    except RecursionError:  # as of a mapping that contains itself
        raise DataError(f"{where}: nested too deeply; flatten it") from None


def explained(error: ErrorDetails, top: type[Section], data: object) -> str:
    """Return what one entry of ``ValidationError.errors()`` of a section found, and what to do.

    `data` are those of the section.
    """
    kind, value, location = error["type"], error["input"], error["loc"]
    context = error.get("ctx", {})
    if isinstance(value, dict | list):
        shown = "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"
    else:
        shown = brief(value)
    match kind:
        case "extra_forbidden":
            inside = sections_at(top, location[:-1])
            stated = _stated_kind(data, location)
            inside = [section for section in inside if _kind(section) == stated] or inside
            keys = {key for section in inside for key in section.model_fields}
            return f"unknown key; {suggestion(location[-1], keys)}"
        case "missing":
            return "missing; add it"
        case "union_tag_not_found":
            kinds = [_kind(section) or "" for section in sections_at(top, location)]
            return f"no `kind` given; {suggestion('', kinds)}"
        case "union_tag_invalid":
            tag = context["tag"]
            hint = context.get("hint") or suggestion(tag, _quoted(context["expected_tags"]))
            return f"unknown kind {tag!r}; {hint}"
        case "literal_error":
            said = "empty" if value is None else f"found {shown}"
            return f"{said}; {suggestion(value, _quoted(context['expected']))}"
        case "value_error":
            return str(context["error"])
        case "string_pattern_mismatch":
            allowed = "letters from a to z, digits, '.', '_' and '-', a letter or digit first"
            return f"found {shown}; use up to 80 {allowed}"
        case "too_short":
            return "empty; name at least one"
        case _ if value is None:
            return "empty; write a value"
        case "list_type":
            bare = ", ".join(map(str, value)) if isinstance(value, tuple) else shown.strip("'")
            entry = "{…}" if isinstance(value, dict) or "\n" in repr(value) else bare
            return f"found {shown}; write a list: [{entry}]"
        case "model_type" | "model_attributes_type" | "dict_type":
            short = "" if kind == "dict_type" else sections_at(top, location)[0].short
            alone = f", or its `{short}` alone" if short else ""
            return f"found {shown}; it must be a mapping of keys to values{alone}"
        case "string_type" if not isinstance(value, dict | list):
            return f"found {shown}; it must be text: put it in quotation marks"
    expected = re.sub("^[A-Z][a-z]+ should ", "", error["msg"])
    for word, plain in WORDS.items():
        expected = expected.replace(f"a valid {word}", plain)
    return f"found {shown}; it must {expected}"


def _stated_kind(data: object, location: KeyPath) -> object:
    """Return the `kind` that stands beside a key in data; None where there is none."""
    for part in located(data, location)[:-1]:
        data = dict(enumerate(data)) if isinstance(data, list) else data
        data = data[part] if isinstance(data, dict) else None
    return data.get("kind") if isinstance(data, dict) else None


def _quoted(text: str) -> list[str]:
    """Return the words that a message of Pydantic lists in quotation marks."""
    return re.findall(r"'([^']*)'", text)


def sections_at(top: type[Section], location: KeyPath) -> list[type[Section]]:
    """Return the sections that may stand at a location, or around it if none does."""
    sections = [top]
    for part in location:
        fields = [
            section.model_fields[part] for section in sections if part in section.model_fields
        ]
        inner = [section for field in fields for section in _sections(field.annotation)]
        sections = inner or [section for section in sections if _kind(section) == part] or sections
    return sections


def _kind(section: type[Section]) -> str | None:
    return section.model_fields["kind"].default if "kind" in section.model_fields else None


def _sections(annotation: object) -> list[type[Section]]:
    """Return every section that an annotation may hold, through lists, unions and Annotated."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        if issubclass(annotation, Kind) and _kind(annotation) is None:
            return [section for _, section in annotation.usable_kinds()]
        return [annotation]
    return [section for part in get_args(annotation) for section in _sections(part)]
