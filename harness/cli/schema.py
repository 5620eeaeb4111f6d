"""``harness schema``: the keys of a config, for editors and for readers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

__all__ = ["make_reference", "make_schema", "schema_command"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
REFERENCE = "#/$defs/"
METRICS = ["ndcg@10", "ndcg@5,10,20", "ndcg(gain=linear)@10", "rmse", "mae"]


@click.command("schema")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "markdown"]),
    default="json",
    show_default=True,
    help="JSON Schema for editors, or a reference page.",
)
def schema_command(form: str) -> int:
    """Print the keys of a config, their types and defaults.

    Save the JSON Schema beside a config whose first line is `# yaml-language-server:
    $schema=schema.json`, and editors complete and check it.
    """
    from harness.cli.screen import say

    schema = make_schema()
    if form == "json":
        say(json.dumps(schema, indent=1, ensure_ascii=False), whole=True)
    else:
        say(make_reference(schema).removesuffix("\n"), whole=True)
    return 0


def make_schema() -> dict[str, Any]:
    """Return the JSON Schema of a config file.

    It is what the models declare, with three things that only the command line knows: the name of
    a run may be left out of a file, and which algorithms and metrics an editor can offer.
    """
    from harness.algorithms.registry import algorithms
    from harness.config.experiment import Experiment

    schema = Experiment.model_json_schema()
    _tidy(schema)
    schema["required"].remove("name")
    sections = schema["$defs"]
    names = {"enum": list(algorithms())}
    # Other spellings and import paths are names too: what is offered is not all that is right.
    any_name = {"anyOf": [names, {"type": "string"}]}
    name = sections["AlgorithmConfig"]["properties"]["name"]
    name |= any_name
    name.pop("type", None)
    _replace_string(schema["properties"]["algorithms"]["items"], any_name)
    schema["properties"]["metrics"]["items"] |= {"examples": METRICS}
    by_kind = [schema["properties"][key] for key in ("split", "candidates")]
    by_kind += [
        section["properties"]["validation"]
        for section in sections.values()
        if "validation" in section.get("properties", {})
    ]
    for part in by_kind:
        _replace_string(part, {"enum": list(_kinds(part, sections))})
    return {"$schema": DIALECT, "title": "A config of harness"} | schema


def make_reference(schema: dict[str, Any]) -> str:
    """Return the reference page of all keys as Markdown.

    Parameters
    ----------
    schema : dict
        From `make_schema`.
    """
    sections = schema["$defs"]
    lines = [
        "# Keys of a config",
        "",
        "Made by `harness schema --format markdown` from the declarations that check every config;",
        "do not edit it by hand. `harness new` writes a config to start from.",
        "",
        *_section("The whole file", schema, sections),
    ]
    for name in _in_order(schema, sections):
        lines += _section(_heading(name, sections), sections[name], sections)
    return "\n".join(lines).rstrip() + "\n"


def _tidy(part: Any) -> None:
    """Take out titles that only repeat a key, and put descriptions on one line."""
    if isinstance(part, dict):
        if isinstance(part.get("title"), str):
            del part["title"]
        if isinstance(part.get("description"), str):
            paragraphs = part["description"].split("\n\n")
            part["description"] = "\n\n".join(" ".join(each.split()) for each in paragraphs)
        for each in part.values():
            _tidy(each)
    elif isinstance(part, list):
        for each in part:
            _tidy(each)


def _replace_string(part: dict[str, Any], other: dict[str, Any]) -> None:
    """Replace a plain string, inside lists too."""
    for option in part.get("anyOf", []):
        if option == {"type": "string"}:
            option.clear()
            option |= other
        elif "items" in option:
            _replace_string(option["items"], other)


def _kinds(part: dict[str, Any], sections: dict[str, Any]) -> Iterator[str]:
    """Yield the kinds that a string may name."""
    for option in part["anyOf"]:
        if "$ref" in option:
            section = sections[option["$ref"].removeprefix(REFERENCE)]
            yield section["properties"]["kind"]["const"]


def _in_order(schema: dict[str, Any], sections: dict[str, Any]) -> list[str]:
    """Return the names of the sections in the order in which a reader meets them."""
    met: list[str] = []

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            name = str(part.get("$ref", "")).removeprefix(REFERENCE)
            if name and name not in met:
                met.append(name)
                walk(sections[name])
            for each in part.values():
                walk(each)
        elif isinstance(part, list):
            for each in part:
                walk(each)

    walk(schema["properties"])
    return met


def _properties(section: dict[str, Any]) -> dict[str, Any]:
    """Return a section as a mapping, if it may also be written as text."""
    return next((each for each in section.get("anyOf", []) if "properties" in each), section)


def _heading(name: str, sections: dict[str, Any]) -> str:
    """Return the title of a section: its kind, or its name in words."""
    kind = _properties(sections[name])["properties"].get("kind", {}).get("const")
    return str(kind or name.removesuffix("Section").removesuffix("Config"))


def _section(heading: str, section: dict[str, Any], sections: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about one section: what it is, then a row for each key."""
    section = _properties(section)
    yield f"## {heading}"
    yield ""
    if "description" in section:
        yield section["description"]
        yield ""
    yield "| key | value | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for key, value in section["properties"].items():
        default = "required" if key in section.get("required", []) else _default(value)
        meaning = " ".join(value.get("description", "").split())
        cells = (f"`{key}`", _value(value, sections), default, meaning)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _default(value: dict[str, Any]) -> str:
    if "const" in value or "default" not in value:
        return ""
    default = value["default"]
    if isinstance(default, dict | list):
        return ""  # the defaults of a section stand at its own keys
    return f"`{json.dumps(default, ensure_ascii=False)}`"


def _value(value: dict[str, Any], sections: dict[str, Any]) -> str:
    """Return what may be written for a key, in words and links."""
    options = value.get("anyOf") or value.get("oneOf")
    if options:
        return _either(options, sections)
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    if "$ref" in value:
        heading = _heading(value["$ref"].removeprefix(REFERENCE), sections)
        return f"[{heading}](#{heading.lower()})"
    kind = value.get("type", "anything")
    if kind == "array" and "prefixItems" in value:
        return f"list of {len(value['prefixItems'])} {_value(value['prefixItems'][0], sections)}s"
    if kind == "array":
        return f"list: {_value(value['items'], sections)}"
    if kind == "object" and isinstance(value.get("additionalProperties"), dict):
        return f"mapping: {_value(value['additionalProperties'], sections)}"
    return f"{_WORDS.get(kind, kind)}{_bounds(value)}"


_WORDS = {
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
    "object": "mapping",
}


def _either(options: list[dict[str, Any]], sections: dict[str, Any]) -> str:
    """Return what several options allow, each thing once."""
    several = any(each.get("items") == {"anyOf": options[:-1]} for each in options[-1:])
    several = several or (len(options) == 2 and options[1].get("items") == options[0])
    if several:
        options = options[:-1]
    if any("$ref" in each for each in options) or {"type": "string"} in options:
        # Names that stand for a section, and names that an editor offers, say nothing more.
        options = [each for each in options if "enum" not in each]
    told = list(dict.fromkeys(_value(each, sections) for each in options))
    shown = told[0] if len(told) == 1 else f"{', '.join(told[:-1])} or {told[-1]}"
    return f"{shown}; one or a list" if several else shown


def _bounds(value: dict[str, Any]) -> str:
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {value[key]:,}" for key, sign in signs.items() if key in value]
    return f" {' and '.join(bounds)}" if bounds else ""
