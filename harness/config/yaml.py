"""The source of a config, and its YAML: read as plain data, safely and in bounded time."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import Event
from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode
from ruamel.yaml.scalarstring import SingleQuotedScalarString

from harness._util.arguments import check_path, is_unicode
from harness._util.files import RUN_FILE, are_there, as_list, read_regular
from harness.config.document import Document, refusal
from harness.datasets.places import is_ratings_file
from harness.errors import ConfigError, Fault, HarnessError, nearest, reason_of, suggestion
from harness.plugins import registry as plugins
from harness.schema.sections import PATHS, KeyPath, brief, dotted

MAX_DEPTH = 40


MAX_VALUES = 5_000
"""Reading YAML takes up to a fifth of a millisecond for each."""


def parse(text: str, source: str = "config", folder: Path | None = None) -> Document:
    """Turn YAML text into a `Document`, safely and in bounded time, or raise `ConfigError`."""
    variables = None
    if "${" in text:
        variables, text = Variables(), marked(text)
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
        self.source, self.variables = source, variables
        self.warn_double_anchors = False
        self.lines: dict[KeyPath, int] = {}
        self.n_values = self.depth = 0

    def refusal(self, place: Event | Node, path: KeyPath, message: str) -> ConfigError:
        return refusal(self.source, message, place.start_mark.line + 1, path)

    def compose_node(self, parent: Node | None, index: object) -> object:
        # A key does not count.
        self.check(self.parser.peek_event(), self.depth, parent is None or index is not None)
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
        if kind not in ("str", "int", "float", "bool", "null"):
            if kind == "timestamp":
                return node.value
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
            message = f"{value} is not of type {kind}; write one, or leave the tag out"
            raise self.refusal(node, path, message) from None


START = "${"
"""What begins a variable in a config; `$${` stands for these two characters."""


def escaped(value: object) -> object:
    """Return plain data so that no text in it is read as a variable.

    >>> escaped({"label": "costs ${A}"})
    {'label': 'costs $${A}'}
    """
    if isinstance(value, Mapping):
        return {key: escaped(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [escaped(inner) for inner in value]
    if isinstance(value, str):
        text = value.replace(START, "$" + START)
        return SingleQuotedScalarString(text) if text[:1] in _UNQUOTED else text
    return value


_UNQUOTED = (":", "?")
"""What ruamel writes without quotation marks at the beginning of a text, and cannot read."""


def as_yaml(config: Mapping[str, object]) -> str:
    """Return the keys of a config as YAML, lists and mappings on their own lines.

    >>> print(as_yaml({"seed": [0], "metrics": ["ndcg@10"]}).rstrip())
    seed:
    - 0
    metrics:
    - ndcg@10
    """
    yaml, text = YAML(), io.StringIO()
    yaml.default_flow_style = False
    yaml.width = 100
    yaml.dump(escaped(config), text)
    return text.getvalue()


_BEGIN, _LITERAL, _END, _LONE = "\U000f5b01", "\U000f5b02", "\U000f5b03", "\U000f5b04"
"""What stands for ``${``, ``$${`` and ``}`` while YAML is parsed, where braces have a meaning; the
last for ``$${`` without an end."""
_WRITTEN = re.compile(r"\$?\$\{([^{}\n]*)\}|\$\$\{")
_MARKED = re.compile(f"([{_BEGIN}{_LITERAL}])([^{_END}]*){_END}")
_FORM = re.compile(r"(?a)([A-Za-z_]\w*)(?::-(.*))?")


def marked(text: str) -> str:
    """Return the text of a config with marks in the place of the braces of variables."""

    def mark(match: re.Match[str]) -> str:
        if match[1] is None:
            return _LONE
        begin = _LITERAL if match[0].startswith("$$") else _BEGIN
        return f"{begin}{match[1]}{_END}"

    return _WRITTEN.sub(mark, text)


class Variables:
    """Puts the values of variables into the values of one document, and collects problems.

    Parameters
    ----------
    environment : mapping of str to str
        The variables; `os.environ` by default.

    Attributes
    ----------
    faults : list of Fault
        Variables without a value, and what has another form.
    written : dict
        By key, the text of each value with a variable, as it was written.

    Examples
    --------
    >>> variables = Variables({"SIZE": "0.2"})
    >>> variables.value(marked("${SIZE}"), ("test_size",)), variables.written
    (0.2, {('test_size',): '${SIZE}'})
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = os.environ if environment is None else environment
        self.faults: list[Fault] = []
        self.written: dict[KeyPath, str] = {}
        self._yaml = YAML(typ="safe", pure=True)

    @staticmethod
    def are_in(text: str) -> bool:
        """Return whether a value has a variable in it, or what looks like one."""
        return START in text or _LONE in text or _MARKED.search(text) is not None

    @staticmethod
    def as_written(text: str) -> str:
        """Return a text with marks as it was written."""
        text = text.replace(_BEGIN, START)
        text = text.replace(_LITERAL, "$" + START).replace(_LONE, "$" + START)
        return text.replace(_END, "}")

    def value(self, text: str, path: KeyPath, line: int = 0, *, is_text: bool = False) -> object:
        """Return a value whose variables are replaced; text within quotation marks is text."""
        self.written[path] = self.as_written(text)
        if START in text:  # without an end, or around another variable
            self._refuse(text[text.index(START) :], path, line)
            return None
        value = _MARKED.sub(lambda match: self._replaced(match, path, line), text)
        value = value.replace(_LONE, START)
        return value if is_text else self._typed(value)

    def _typed(self, text: str) -> object:
        """Return what YAML reads as a plain value."""
        tag = self._yaml.resolver.resolve(ScalarNode, text, (True, False))
        if str(tag).endswith(":timestamp"):
            return text
        return self._yaml.constructor.construct_object(ScalarNode(tag, text))

    def _replaced(self, match: re.Match[str], path: KeyPath, line: int) -> str:
        if match[1] == _LITERAL:
            return START + match[2] + "}"
        form = _FORM.fullmatch(match[2])
        if form is None:
            self._refuse(match[0], path, line)
            return ""
        name, default = form.groups()
        value = self.environment.get(name, "")
        if value or default is not None:
            return value or default
        if name not in self.environment:
            message = f"the environment variable {name} is not set; set it, or write a default, as"
            self.faults.append(Fault(line, dotted(path), f"{message} ${{{name}:-default}}"))
        return value

    def _refuse(self, text: str, path: KeyPath, line: int) -> None:
        message = f"found {brief(self.as_written(text))}; write ${{NAME}} or ${{NAME:-default}}"
        self.faults.append(Fault(line, dotted(path), f"{message}, and $${{ for the characters"))

    def in_data(self, value: object, path: KeyPath = ()) -> object:
        """Return Python data with the values of variables in its texts."""
        if isinstance(value, dict):
            return {key: self.in_data(part, (*path, str(key))) for key, part in value.items()}
        if isinstance(value, list | tuple):
            parts = [self.in_data(part, (*path, place)) for place, part in enumerate(value)]
            return parts if isinstance(value, list) else tuple(parts)
        if isinstance(value, str) and START in value:
            return self.value(marked(value), path)
        return value


MAX_RECORD_BYTES = 64_000_000
MAX_BYTES = 100_000
CONFIGS = (".yaml", ".yml", ".txt", ".json")
"""Endings of files that may be configs."""
RENAMED = {"floors": "baselines"}
"""Keys of earlier versions, and their new names."""


def refuse_ratings(path: Path) -> None:
    """Refuse a file of ratings, by its name, where a config is meant."""
    if path.suffix not in CONFIGS and is_ratings_file(path.name):
        run = f"harness run --dataset {path}"
        new = f"harness new {path.with_suffix('.yaml')} --dataset {path}"
        raise refusal(
            str(path),
            f"a file of ratings; run algorithms on it with `{run}`, or write a config "
            f"for it with `{new}`",
        )


def bundled() -> dict[str, Path]:
    """Return the configs that come with the package, by name."""
    top = Path(__file__).parents[1]
    folders = (top / "configs", top.parent / "configs")
    folder = next((folder for folder in folders if folder.is_dir()), top)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def read(path: Path) -> Document:
    """Read a YAML file, a config of the package by its name, or the config in a ``run.json``."""
    check_path("config", path, HarnessError)
    with suppress(OSError):  # reading it says so
        if (path / RUN_FILE).is_file():
            path = path / RUN_FILE
        elif path.parent == Path() and (path.is_dir() or not path.exists()):
            path = bundled().get(path.name.removesuffix(".yaml"), path)
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
        raise refusal(source, f"{reason_of(error)}; {_hint(path)}") from None
    if recorded:
        return _recorded(raw, path)
    if not is_unicode(path.name if path.is_absolute() else source):  # the record of a run has it
        raise refusal(source, "its name is not UTF-8 text; rename it")
    refuse_ratings(path)
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
    hint = suggestion(path.stem, bundled())
    with suppress(OSError):  # `harness report NAME` goes without the ending
        every = [*path.parent.iterdir()]
        beside = {str(file) for file in every if file.suffix in (".yaml", ".yml")}
        near = f"{path}.yaml" if f"{path}.yaml" in beside else str(path)
        data = [file for file in every if file.stem == path.stem and is_ratings_file(file.name)]
        if data and near not in beside:
            new = shlex.join(
                ["harness", "new", str(path.with_suffix(".yaml")), "--dataset", str(data[0])]
            )
            return f"did you mean {str(data[0])!r}, or `{new}`?"
        if (meant := nearest(near, beside)) is not None:
            hint = f"did you mean {meant!r}?"
    return hint if hint.endswith("?") else f"{hint}, or the path of a config"


def _recorded(raw: bytes, path: Path) -> Document:
    """Return the config of a run from its ``run.json``."""
    source = str(path)
    try:
        info = json.loads(raw)
        data, file = info["config"], info.get("config_file") or ""
        if not isinstance(data, dict) or not isinstance(file, str):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise refusal(source, "not the record of a run; give a config") from None
    for used in info.get("plugins", []):
        with suppress(LookupError, TypeError):  # a damaged record; reading it as a run says so
            if used["version"]:
                package = str(used["package"]), str(used["version"])
                plugins.remember(str(used["kind"]), str(used["name"]), {}, package)
    data = {RENAMED.get(key, key): value for key, value in data.items()}
    folder = folder_of(data, file, path.parent)
    return Document(source, data, folder=folder, recorded=str(folder / Path(file).name))


def folder_of(config: Mapping[str, object], config_file: str, run: Path | None) -> Path:
    """Return what the paths in the config of a run are relative to: the folder of `config_file`."""
    # As seen from here or, where a file that the config names is not there, from above the runs.
    sections = [config.get("dataset"), config.get("split")]
    entries = [entry for part in sections for entry in (part if isinstance(part, list) else [part])]
    named = (
        entry[key] for entry in entries if isinstance(entry, dict) for key in PATHS & entry.keys()
    )
    paths = [path for value in named if value for path in as_list(value) if "{fold}" not in path]
    below = Path(config_file).parent
    places = [below] if run is None else [below, run.parent.parent / below]
    usable = (place for place in places if are_there(paths, place))
    return next(usable, below)
