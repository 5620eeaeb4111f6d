"""Read a YAML file as plain data, with the line of every key, safely and in bounded time."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from harness.errors import ConfigError, Fault, suggestion
from harness.files import read_regular
from harness.sections import KeyPath, dotted

__all__ = ["Document", "bundled", "find", "parse", "read", "refusal"]

RUN_FILE = "run.json"
MAX_RECORD_BYTES = 64_000_000
MAX_BYTES = 100_000
MAX_DEPTH = 40
MAX_NODES = 5_000
"""Reading YAML takes up to a fifth of a millisecond for each."""

_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels; flatten it"
_TOO_MANY = f"more than {MAX_NODES:,} values; write fewer, or fewer aliases"
_YAML = "tag:yaml.org,2002:"
_SCALARS = {_YAML + kind for kind in ("str", "int", "float", "bool", "null", "timestamp")}


@dataclass(frozen=True)
class Document:
    """What a config file holds.

    Parameters
    ----------
    source : str
        Name for messages: the path as the user gave it, or ``config``.
    data : dict
        Mappings, lists and scalars; a config contains nothing else.
    lines : dict of tuple to int
        Line, from 1, of each key path; empty when the data did not come from a file.
    folder : Path or None
        Where relative paths in the file start.
    """

    source: str
    data: dict[str, Any]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    folder: Path | None = None

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest key around it; 0 when there is none."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return 0

    def fault(self, path: KeyPath, message: str) -> Fault:
        """Return what is wrong at a key."""
        return Fault(self.line(path), dotted(path), message)


def refusal(source: str, message: str, line: int = 0, path: KeyPath = ()) -> ConfigError:
    """Return the error of a single fault."""
    return ConfigError(source, [Fault(line, dotted(path), message)])


def bundled() -> dict[str, Path]:
    """Return the configs that come with the package, by name.

    Examples
    --------
    >>> "quickstart" in bundled()
    True
    """
    top = Path(__file__).parents[1]
    folder = next(
        (each for each in (top / "configs", top.parent / "configs") if each.is_dir()), top
    )
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find(path: Path) -> Path:
    """Return the file for a path, a run's folder or the name of a config that comes with us."""
    with suppress(OSError):  # a name too long: reading it says so
        if (path / RUN_FILE).is_file():
            return path / RUN_FILE
        if path.parent == Path() and (path.is_dir() or not path.exists()):
            return bundled().get(path.name.removesuffix(".yaml"), path)
    return path


def read(path: Path) -> Document:
    """Read a YAML 1.2 file, UTF-8, of at most 100,000 bytes, or the config in a ``run.json``.

    Raises
    ------
    ConfigError
        If the file is missing, too large, not UTF-8, not YAML or not a mapping.
    """
    path = find(path)
    source, recorded = str(path), path.name == RUN_FILE
    most = MAX_RECORD_BYTES if recorded else MAX_BYTES + 1
    # Standard input and `<(command)` are pipes with a writer; of others nothing may come.
    streamed = path.parts[:2] in (("/", "dev"), ("/", "proc"))
    try:
        if streamed:
            with path.open("rb") as file:  # which may be a device without end
                raw = file.read(most)
        else:
            raw = read_regular(path, most)
    except OSError as error:
        reason = (error.strerror or "cannot be read").lower()
        raise refusal(source, f"{reason}; {_hint(path)}") from None
    if recorded:
        return _recorded(raw, source)
    if len(raw) > MAX_BYTES:
        raise refusal(source, f"larger than {MAX_BYTES:,} bytes; a config is short")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise refusal(source, "not UTF-8 text; save the file as UTF-8", line) from None
    return parse(text, source, Path() if streamed else path.parent)


def _hint(path: Path) -> str:
    """Return what to do about a config that cannot be read."""
    if path.name == RUN_FILE:
        return "check the path"
    near = f"{path}.yaml"  # `harness report NAME` goes without
    hint = suggestion(path.stem, bundled())
    with suppress(OSError):
        hint = f"did you mean {near!r}?" if Path(near).is_file() else hint
    return hint if hint.endswith("?") else f"{hint}, or the path of a config"


def _recorded(raw: bytes, source: str) -> Document:
    """Return the config of a run from its ``run.json``."""
    try:
        info = json.loads(raw)
        data, given = info["config"], info.get("config_file") or ""
        if not isinstance(data, dict) or not isinstance(given, str):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise refusal(source, "not the record of a run; give a config") from None
    if "floors" in data:  # their name in version 0.1
        data["baselines"] = data.pop("floors")
    return Document(source, data, folder=Path(given).parent)


def parse(text: str, source: str = "config", folder: Path | None = None) -> Document:
    r"""Turn YAML text into a `Document`.

    Raises
    ------
    ConfigError
        If the text is not YAML, not a mapping, nested deeper than 40 levels or, with its aliases
        written out, of more than 5,000 values.

    Examples
    --------
    >>> document = parse("name: a\nsplit:\n  kind: holdout\n")
    >>> document.data
    {'name': 'a', 'split': {'kind': 'holdout'}}
    >>> document.line(("split", "kind"))
    3
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Composer
    yaml.composer.source = source
    reader = _Reader(source, yaml.constructor)
    try:
        node = yaml.compose(text)
        if node is None:
            raise refusal(source, "empty; name a dataset and algorithms")
        data = reader.value(node, ())
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = str(error.problem or error.context or "not YAML").split("\n")[0]
        line = mark.line + 1 if mark is not None else 0
        raise refusal(source, f"not valid YAML: {found}; fix the line", line) from None
    except (YAMLError, ValueError, OverflowError) as error:
        found = str(error).split("\n")[0]
        raise refusal(source, f"not valid YAML: {found}; fix it") from None
    if not isinstance(data, dict):
        message = "not a mapping of keys to values; start with `dataset: ...`"
        raise refusal(source, message, 1)
    return Document(source, data, reader.lines, folder)


class _Composer(Composer):
    """Composes nodes within limits, so that a large file fails fast."""

    source = ""
    level = n_nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.n_nodes += 1
        too_deep = self.level > MAX_DEPTH
        if too_deep or self.n_nodes > 2 * MAX_NODES:
            line = self.parser.peek_event().start_mark.line + 1
            raise refusal(self.source, _TOO_DEEP if too_deep else _TOO_MANY, line)
        self.level += 1
        node = super().compose_node(parent, index)
        self.level -= 1
        return node


class _Reader:
    """Walks a node graph into plain data, counting what aliases would expand to."""

    def __init__(self, source: str, constructor: Any) -> None:
        self.source = source
        self.constructor = constructor
        self.lines: dict[KeyPath, int] = {}
        self.n_nodes = 0

    def refuse(self, node: Node, path: KeyPath, message: str) -> ConfigError:
        return refusal(self.source, message, node.start_mark.line + 1, path)

    def value(self, node: Node, path: KeyPath) -> Any:
        self.n_nodes += 1
        if len(path) > MAX_DEPTH:
            raise self.refuse(node, (), _TOO_DEEP)
        if self.n_nodes > MAX_NODES:
            raise self.refuse(node, (), _TOO_MANY)
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, MappingNode):
            return self.mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, i)) for i, item in enumerate(node.value)]
        tag = str(node.tag)
        if tag not in _SCALARS:
            raise self.refuse(node, path, f"tag {tag!r} is not allowed; write a plain value")
        if tag == _YAML + "timestamp":
            return node.value
        try:
            return self.constructor.construct_object(node)
        except (LookupError, ValueError, OverflowError):  # as of `!!bool maybe`
            kind = tag.removeprefix(_YAML)
            found = repr(node.value if len(node.value) <= 60 else f"{node.value[:57]}...")
            message = f"{found} is no {kind}; write one, or leave the tag out"
            raise self.refuse(node, path, message) from None

    def mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if isinstance(key_node, MappingNode | SequenceNode):
                raise self.refuse(key_node, path, "a key is not a plain word; write `key: value`")
            key = str(key_node.value)
            if key == "<<":
                raise self.refuse(key_node, path, "merge keys are not supported; write the keys")
            if key in result:
                raise self.refuse(key_node, (*path, key), "given twice; remove one")
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            result[key] = self.value(value_node, (*path, key))
        return result
