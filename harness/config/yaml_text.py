"""YAML read as plain data with the line of each key, safely and in bounded time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import Event
from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode

from harness.config.document import Document
from harness.config.places import refusal
from harness.errors import ConfigError, reason_of
from harness.sections import KeyPath

if TYPE_CHECKING:
    from harness.config.variables import Variables


MAX_DEPTH = 40


MAX_VALUES = 5_000
"""Reading YAML takes up to a fifth of a millisecond for each."""


def parse(text: str, source: str = "config", folder: Path | None = None) -> Document:
    """Turn YAML text into a `Document`, safely and in bounded time, or raise `ConfigError`."""
    variables = None
    if "${" in text:
        from harness.config import variables as substitution  # which few configs have

        variables, text = substitution.Variables(), substitution.marked(text)
    reader = _Reader(source, variables)
    try:
        if (node := reader.loader.compose(text)) is None:
            raise refusal(source, "empty; name a dataset and algorithms")
        reader.n_values = 0
        data = reader.value(node, ())
    except MarkedYAMLError as error:
        reason = str(error.problem or error.context or "not YAML").split("\n")[0]
        if reason.startswith("but "):
            reason = f"{error.context}, {reason}"
        reason = variables.as_written(reason) if variables else reason
        # What is never closed is missed later, at times behind the last line.
        unclosed = re.search("simple key|',' or|end of stream", f"{error.context} {reason}")
        mark = (error.context_mark if unclosed else error.problem_mark) or error.problem_mark
        line = mark.line + 1 if mark is not None else 0
        advice = "use spaces in place of tabs" if "'\\t'" in reason else "fix the line"
        raise refusal(source, f"not valid YAML: {reason}; {advice}", line) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise refusal(source, f"not valid YAML: {reason_of(error)}; fix it") from None
    if not isinstance(data, dict):
        raise refusal(source, "not a mapping of keys to values; start with `dataset: ...`", 1)
    if variables is None:
        return Document(source, data, reader.lines, folder)
    if variables.faults:
        raise ConfigError(source, variables.faults)
    return Document(source, data, reader.lines, folder, written=variables.written)


class _Reader(Composer):
    """Builds plain data from YAML text, with the line of each key; too much of it fails fast.

    Values are counted as they are composed, and again as they are built, where an alias stands for
    all of its anchor.
    """

    def __init__(self, source: str, variables: Variables | None) -> None:
        super().__init__(YAML(typ="safe", pure=True))
        self.variables = variables
        self.warn_double_anchors = False
        self.source = source
        self.lines: dict[KeyPath, int] = {}
        self.n_values = self.depth = 0

    def refusal(self, place: Event | Node, path: KeyPath, message: str) -> ConfigError:
        return refusal(self.source, message, place.start_mark.line + 1, path)

    def compose_node(self, parent: Node | None, index: object) -> object:
        is_key = parent is not None and index is None
        self.check(self.parser.peek_event(), self.depth, 0 if is_key else 1)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def check(self, place: Event | Node, depth: int, n_more: int = 1) -> None:
        """Count values, and refuse what is too deep or too much."""
        self.n_values += n_more
        if depth > MAX_DEPTH:
            raise self.refusal(place, (), f"nested deeper than {MAX_DEPTH} levels; flatten it")
        if self.n_values > MAX_VALUES:
            message = f"more than {MAX_VALUES:,} values; write fewer, or fewer aliases"
            raise self.refusal(place, (), message)

    def value(self, node: Node, path: KeyPath) -> object:
        """Return what a node stands for."""
        self.check(node, len(path))
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, ScalarNode):
            return self.scalar(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, n)) for n, item in enumerate(node.value)]
        result: dict[str, object] = {}
        for name, inner in node.value:
            if not isinstance(name, ScalarNode):
                raise self.refusal(name, path, "a key is not a plain word; write `key: value`")
            if name.value == "<<":
                raise self.refusal(name, path, "merge keys are not supported; write the keys")
            key = str(name.value)
            if self.variables and key != self.variables.as_written(key):
                raise self.refusal(name, path, "a variable in a key; write the key itself")
            if key in result:
                raise self.refusal(name, (*path, key), "given twice; remove one")
            self.lines[(*path, key)] = name.start_mark.line + 1
            result[key] = self.value(inner, (*path, key))
        return result

    def scalar(self, node: ScalarNode, path: KeyPath) -> object:
        kind = str(node.tag).removeprefix("tag:yaml.org,2002:")
        if kind == "timestamp":
            return node.value
        if kind not in ("str", "int", "float", "bool", "null"):
            message = f"tag {str(node.tag)!r} is not allowed; write a plain value"
            raise self.refusal(node, path, message)
        if self.variables and self.variables.are_in(node.value):
            is_text = kind != "str" or node.style is not None
            line = node.start_mark.line + 1
            return self.variables.value(node.value, path, line, is_text=is_text)
        try:
            return self.loader.constructor.construct_object(node)
        except (LookupError, ValueError, OverflowError):  # as of `!!bool maybe`
            value = repr(node.value if len(node.value) <= 60 else f"{node.value[:57]}...")
            message = f"{value} is no {kind}; write one, or leave the tag out"
            raise self.refusal(node, path, message) from None
