"""``harness schema``: the keys of a config, for editors and for readers."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import PydanticOmit

from harness.algorithms.registry import algorithms
from harness.candidates.base import CandidatesSection
from harness.config.experiment import Experiment
from harness.console.command import command
from harness.console.json import SCHEMA
from harness.console.options import formats
from harness.console.screen import documents, give_result, say
from harness.errors import joined
from harness.splits import FilterSection, SplitSection

if TYPE_CHECKING:
    from harness.schema.sections import Kind


JsonSchema = dict[str, Any]

METRICS = ["ndcg@10", "ndcg@5,10,20", "ndcg(gain=linear)@10", "rmse", "mae"]
WORDS = {
    "integer": "whole number",
    "string": "text",
    "boolean": "true or false",
    "object": "mapping",
}
SIGNS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
HEAD = """\
---
description: Every key of a config, with its values and default.
---

# Keys of a config

Made by `harness schema --format markdown` from the declarations that check every config;
do not edit it by hand. `harness new` writes a config to start from.
"""


@command("schema > schema.json", "schema --format markdown", group="Tools")
@formats(
    "json",
    "markdown",
    "output",
    help="JSON Schema for editors, a reference page, or the schema of what --json prints.",
)
def schema(form: str) -> int:
    """Print the keys of a config, their types and defaults.

    If you save it as schema.json, editors complete and check a config beside it that begins with

    `# yaml-language-server: $schema=schema.json`
    """
    if form == "output":
        say(to_text(SCHEMA), is_data=True)
        return 0
    declared = make_schema()
    if documents and form == "json":
        give_result(declared)
    as_json = form == "json"
    text = to_text(declared) if as_json else make_reference(declared).removesuffix("\n")
    say(text, is_data=True)
    return 0


def to_text(schema: JsonSchema) -> str:
    """Return a schema as the text of a file, without the last line's end."""
    return json.dumps(schema, indent=1, ensure_ascii=False)


def make_schema() -> JsonSchema:
    """Return the JSON Schema of a config file.

    It is what the models declare, with three things that only the command line knows: the name of
    a run may be left out of a file, and which algorithms and metrics an editor can offer.
    """
    families: dict[str, type[Kind]] = {
        "SplitSection": SplitSection,
        "FilterSection": FilterSection,
        "CandidatesSection": CandidatesSection,
    }
    declared = Experiment.model_json_schema()
    keys = {of: _add_kinds(declared["$defs"], family) for of, family in families.items()}
    declared["$defs"] = dict(sorted(declared["$defs"].items()))
    text = json.dumps(_with_kinds(declared, keys), ensure_ascii=False)
    schema: JsonSchema = json.loads(text, object_hook=_tidied)
    schema["required"].remove("name")
    sections, properties = schema["$defs"], schema["properties"]
    # Other spellings and import paths are names too: what is offered is not all that is right.
    any_name = {"anyOf": [{"enum": list(algorithms())}, {"type": "string"}]}
    name = sections["AlgorithmConfig"]["properties"]["name"]
    name |= any_name
    name.pop("type", None)
    _replace_string(properties["algorithms"]["items"], any_name)
    properties["metrics"]["items"] |= {"examples": METRICS}
    validations = [part.get("properties", {}).get("validation") for part in sections.values()]
    for part in filter(None, [properties["split"], properties["candidates"], *validations]):
        named = [sections[_name(option)] for option in part["anyOf"] if "$ref" in option]
        _replace_string(part, {"enum": [kind["properties"]["kind"]["const"] for kind in named]})
    _let_extend(schema)
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "A config of harness"} | schema


def _add_kinds(sections: JsonSchema, family: type[Kind]) -> list[str]:
    """Add the kinds of a family that can be used to the sections, and return their keys there.

    A kind of another package has its plug-in's name, whatever its class and the parts of it are
    called.
    """
    keys = []
    for name, kind in family.usable_kinds():
        is_ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
        try:
            of_kind = kind.model_json_schema()
        except (PydanticInvalidForJsonSchema, PydanticOmit):  # a key of a type that JSON lacks
            of_kind = {"type": "object", "properties": {}, "required": []}
        parts = of_kind.pop("$defs", {})
        key = kind.__name__
        if not is_ours:
            key = _free(key, sections)
            for part in [part for part in parts if parts[part] != sections.get(part, parts[part])]:
                free = _free(part, {**sections, **parts})
                text = json.dumps([of_kind, parts]).replace(
                    f'"#/$defs/{part}"', f'"#/$defs/{free}"'
                )
                of_kind, parts = json.loads(text)
                parts[free] = parts.pop(part)
            of_kind["properties"]["kind"] = {"const": name, "type": "string"}
            of_kind["required"] = sorted({"kind", *of_kind.get("required", ())})
        sections |= parts
        sections[key] = of_kind
        keys.append(key)
    return keys


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number where it is taken."""
    numbered = (f"{name}{number}" for number in itertools.count(2))
    return next(free for free in itertools.chain([name], numbered) if free not in taken)


def _let_extend(schema: JsonSchema) -> None:
    """Let a config that extends another one leave out what the other says, and add to its lists."""
    extending = {"required": ["extends"]}
    schema |= {"if": {"not": extending}, "then": {"required": schema.pop("required")}}
    lists = [key for key, value in schema["properties"].items() if '"array"' in json.dumps(value)]
    pattern = rf"^\+({'|'.join(key for key in lists if key != 'extends')})$"
    schema["patternProperties"] = {pattern: {"description": "Added to the list of the base."}}


def _with_kinds(part: Any, keys: Mapping[str, list[str]]) -> Any:
    """Put the kinds that can be used, by their `keys`, in the place of each family."""
    if isinstance(part, list):
        return [_with_kinds(option, keys) for option in part]
    if not isinstance(part, dict):
        return part
    part = {key: _with_kinds(value, keys) for key, value in part.items()}
    options: list[JsonSchema] = []
    for option in part.get("anyOf", []):
        nested = option.get("anyOf") if option.keys() == {"anyOf"} else None
        options += nested or [option]
    if options:
        part["anyOf"] = options
    if "family" in part:
        family, short = part.pop("of"), part.pop("short")
        del part["family"]
        kinds = [{"$ref": f"#/$defs/{key}"} for key in keys[family]]
        part["anyOf"] = [{"type": "string"}, *kinds] if short else kinds
    return part


def _tidied(part: JsonSchema) -> JsonSchema:
    """Take out titles that only repeat a key, and put descriptions on one line."""
    if isinstance(part.get("title"), str):
        del part["title"]
    if isinstance(part.get("description"), str):
        paragraphs = part["description"].split("\n\n")
        part["description"] = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    return part


def _replace_string(part: JsonSchema, other: JsonSchema) -> None:
    """Replace a plain string, inside lists too."""
    for option in part.get("anyOf", []):
        if option == {"type": "string"}:
            option.clear()
            option |= other
        elif "items" in option:
            _replace_string(option["items"], other)


def make_reference(schema: JsonSchema) -> str:
    """Return the reference page of all keys as Markdown."""
    sections = schema["$defs"]
    lines = [HEAD, *_section("The whole file", schema, sections)]
    for name in _in_order(schema["properties"], sections, []):
        lines += _section(_heading(name, sections), sections[name], sections)
    return "\n".join(lines).rstrip() + "\n"


def _name(part: JsonSchema) -> str:
    return str(part["$ref"]).removeprefix("#/$defs/")


def _in_order(part: object, sections: JsonSchema, met: list[str]) -> list[str]:
    """Return the names of the sections in the order in which a reader meets them."""
    for name in re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(part)):
        if name not in met:
            met.append(name)
            _in_order(sections[name], sections, met)
    return met


def _properties(section: JsonSchema) -> JsonSchema:
    """Return a section as a mapping, if it may also be written as text."""
    return next((part for part in section.get("anyOf", []) if "properties" in part), section)


def _heading(name: str, sections: JsonSchema) -> str:
    """Return the title of a section: its kind, or its name in words."""
    kind = _properties(sections[name])["properties"].get("kind", {}).get("const")
    return str(kind or name.removesuffix("Section").removesuffix("Config"))


def _section(heading: str, section: JsonSchema, sections: JsonSchema) -> Iterator[str]:
    """Yield the lines about one section: what it is, then a row for each key."""
    section = _properties(section)
    required = section.get("required", section.get("then", {}).get("required", []))
    yield from (f"## {heading}", "")
    if "description" in section:
        yield from (section["description"], "")
    yield "| key | value | default | meaning |"
    yield "| --- | --- | --- | --- |"
    for key, value in sorted(section["properties"].items(), key=lambda entry: entry[0] != "kind"):
        default, declared = "", value.get("default", {})  # those of a section stand at its own keys
        if isinstance(declared, list) and len(declared) == 1:  # of one or a list
            declared = declared[0].get("kind") if isinstance(declared[0], dict) else declared[0]
        if key in required:
            default = "required"
        elif "const" not in value and declared != [] and not isinstance(declared, dict):
            default = f"`{json.dumps(declared, ensure_ascii=False)}`"
        meaning = " ".join(value.get("description", "").split())
        cells = (f"`{key}`", _value(value, sections), default, meaning)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _value(value: JsonSchema, sections: JsonSchema) -> str:
    """Return what may be written for a key, in words and links."""
    match value:
        case {"anyOf": options} | {"oneOf": options}:
            return _either(options, sections)
        case {"const": const}:
            return f"`{const}`"
        case {"enum": words}:
            return ", ".join(f"`{word}`" for word in words)
        case {"$ref": _}:
            heading = _heading(_name(value), sections)
            return f"[{heading}](#{heading.lower()})"
        case {"type": "array", "prefixItems": items}:
            return f"list of {len(items)} {_value(items[0], sections)}s"
        case {"type": "array", "items": item}:
            return f"list: {_value(item, sections)}"
        case {"type": "object", "additionalProperties": dict(item)}:
            return f"mapping: {_value(item, sections)}"
    kind = value.get("type", "anything")
    bounds = " and ".join(f"{sign} {value[key]:,}" for key, sign in SIGNS.items() if key in value)
    return f"{WORDS.get(kind, kind)} {bounds}".rstrip()


def _either(options: list[JsonSchema], sections: JsonSchema) -> str:
    """Return what several options allow, each thing once."""
    *single, last = options
    several = last.get("items") == (single[0] if len(single) == 1 else {"anyOf": single})
    if several:
        options = single
    if any("$ref" in option for option in options) or {"type": "string"} in options:
        # Names that stand for a section, and names that an editor offers, say nothing more.
        options = [option for option in options if "enum" not in option]
    text = joined(dict.fromkeys(_value(option, sections) for option in options), "or")
    return f"{text}; one or a list" if several else text
