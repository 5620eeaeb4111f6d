"""Turn a config file, a mapping or overrides into an `Experiment`, or report all faults at once."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import Event
from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode

from harness import plugins
from harness.algorithms import depends, own, registry
from harness.config.experiment import (
    GIVEN,
    AlgorithmConfig,
    AlgorithmSection,
    Experiment,
    name_of_given,
)
from harness.datasets.own_files import is_ratings_file
from harness.datasets.section import OF_LOADED, DatasetSection
from harness.errors import (
    ConfigError,
    Fault,
    PluginError,
    counted,
    joined,
    nearest,
    reason_of,
    suggestion,
)
from harness.files import placed, read_regular
from harness.sections import (
    PATHS,
    KeyPath,
    Section,
    brief,
    dotted,
    explained,
    located,
    plain_data,
    sections_at,
)

RUN_FILE = "run.json"
MAX_RECORD_BYTES = 64_000_000
MAX_BYTES = 100_000
MAX_DEPTH = 40
MAX_VALUES = 5_000
"""Reading YAML takes up to a fifth of a millisecond for each."""
MAX_BITS = 1_024
"""Of a whole number; a larger one is more than any floating-point number."""
MAX_KEY = 100
OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""A name in a module of one's own."""
RENAMED = {"floors": "baselines"}
"""Keys of earlier versions, and their new names."""

_ALGORITHM = TypeAdapter[AlgorithmConfig](AlgorithmSection)
_TEXTS = TypeAdapter(list[str])


@dataclass(frozen=True)
class Document:
    """What a config holds: plain data, the line of each key, where its relative paths start."""

    source: str
    """Name for messages: the path as the user gave it, or ``config``."""
    data: dict[str, object]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    """From 1; empty when the data did not come from a file."""
    folder: Path | None = None
    recorded: str = ""
    """Of a run's record, the file that the config came from."""
    overrides: dict[KeyPath, str] = field(default_factory=dict)
    """What was set in the call, by the key that it sets, or the first on the way that it makes."""

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest key around it; 0 when there is none."""
        ends = range(len(path), -1, -1)
        return next((self.lines[path[:end]] for end in ends if path[:end] in self.lines), 0)

    def known(self, location: KeyPath) -> KeyPath:
        """Return a location without tags of unions and the index of a lone value."""
        return located(self.data, location)

    def fault(self, path: KeyPath, message: str) -> Fault:
        """Return what is wrong at a key, of the file or of an override."""
        for end in range(len(path), 0, -1):
            if override := self.overrides.get(path[:end]):
                inside = f": {dotted(path)}" if path[end:] else ""
                return Fault(0, f"--set {override}{inside}", message)
        return Fault(self.line(path), dotted(path), message)


def refuse_ratings(path: Path) -> None:
    """Refuse a file of ratings, by its name, where a config is meant."""
    if is_ratings_file(path.name) and path.suffix not in (".txt", ".json"):  # perhaps configs
        new = f"harness new {path.with_suffix('.yaml')} --dataset {path}"
        raise _refusal(str(path), f"a file of ratings; write a config for it with `{new}`")


def _refusal(source: str, message: str, line: int = 0, path: KeyPath = ()) -> ConfigError:
    return ConfigError(source, [Fault(line, dotted(path), message)])


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
            data = {key: plain_data(value) for key, value in config.items()}
            document = Document("config", data, folder=folder)
        elif not isinstance(config, str | os.PathLike):
            raise _refusal(
                "config", f"found {brief(config)}; give a path, a mapping or an Experiment"
            )
        else:
            document = read(Path(config))
            name = re.sub(r"(?a)[^\w.-]", "-", Path(config).stem).lstrip("._-")[:80] or name
        document.data.setdefault("name", name)
        for override in listed(overrides):
            _override(document, override)
        if document.recorded and not trust and (code := sorted(code_named(document.data))):
            advice = "read that code first; `--trust` then imports and runs it"
            raise _refusal(document.source, f"it names code, {joined(code)}; {advice}")
        if trust or not document.recorded:
            plugins.forget_records()
        if with_ratings:
            _stand_in(document)
        return _checked(document, with_ratings=with_ratings), document
    except RecursionError:
        source = str(config) if isinstance(config, str | Path) else "config"
        raise _refusal(source, "nested too deeply; flatten it") from None


def _stand_in(document: Document) -> None:
    """Put loaded ratings in the place of the data set that a config names; its options hold.

    A mapping that says where ratings are, or how a file is written, is refused by its keys.
    """
    written = document.data.get("dataset")
    one = isinstance(written, list) and len(written) == 1
    entry = written[0] if one else written  # type: ignore[index]
    where = ("dataset", 0) if one else ("dataset",)
    if isinstance(entry, list):
        message = f"found {counted(len(entry), 'data set')}; `ratings` are one: leave this out"
        raise ConfigError(document.source, [document.fault(where, message)])
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
            faults.append(document.fault((*where, key), message))
    if faults:
        raise ConfigError(document.source, faults)
    section = {"path": f"{GIVEN}ratings", **options}
    document.data["dataset"] = [section] if one else section


def listed(overrides: Iterable[str]) -> list[str]:
    """Return overrides as a list, or refuse what is none, as a text, which is one of letters."""
    try:
        return _TEXTS.validate_python(overrides)
    except ValidationError:
        meant = overrides if isinstance(overrides, str) else "split.test_size=0.1"
        message = f"found {brief(overrides)}; write a list: {[meant]}"
        raise _refusal("config", message, path=("overrides",)) from None


def bundled() -> dict[str, Path]:
    """Return the configs that come with the package, by name."""
    top = Path(__file__).parents[1]
    folders = (top / "configs", top.parent / "configs")
    folder = next((each for each in folders if each.is_dir()), top)
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def read(path: Path) -> Document:
    """Read a YAML file, a config of the package by its name, or the config in a ``run.json``."""
    with suppress(OSError):  # a name too long: reading it says so
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
        raise _refusal(source, f"{reason_of(error)}; {_hint(path)}") from None
    if recorded:
        return _recorded(raw, path)
    refuse_ratings(path)
    if len(raw) > MAX_BYTES:
        raise _refusal(source, f"larger than {MAX_BYTES:,} bytes; a config is short")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise _refusal(source, "not UTF-8 text; save the file as UTF-8", line) from None
    return parse(text, source, Path() if streamed else path.parent)


def _hint(path: Path) -> str:
    """Return what to do about a config that cannot be read."""
    if path.name == RUN_FILE:
        return "check the path"
    hint = suggestion(path.stem, bundled())
    with suppress(OSError):  # `harness report NAME` goes without the ending
        every = [*path.parent.iterdir()]
        beside = {str(each) for each in every if each.suffix in (".yaml", ".yml")}
        near = f"{path}.yaml" if f"{path}.yaml" in beside else str(path)
        data = [each for each in every if each.stem == path.stem and is_ratings_file(each.name)]
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
        data, given = info["config"], info.get("config_file") or ""
        if not isinstance(data, dict) or not isinstance(given, str):
            raise TypeError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise _refusal(source, "not the record of a run; give a config") from None
    for used in info.get("plugins", []):
        with suppress(LookupError, TypeError):  # a damaged record; reading it as a run says so
            if used["version"]:
                package = str(used["package"]), str(used["version"])
                plugins.remember(str(used["kind"]), str(used["name"]), {}, package)
    data = {RENAMED.get(key, key): value for key, value in data.items()}
    folder = folder_of(data, given, path.parent)
    return Document(source, data, folder=folder, recorded=str(folder / Path(given).name))


def folder_of(config: Mapping[str, object], config_file: str, run: Path | None) -> Path:
    """Return what the paths in the config of a run are relative to: the folder of `config_file`."""
    # As seen from here or, where a file that the config names is not there, from above the runs.
    sections = [config.get("dataset"), config.get("split")]
    entries = [each for part in sections for each in (part if isinstance(part, list) else [part])]
    named = (each[key] for each in entries if isinstance(each, dict) for key in PATHS & each.keys())
    paths = [str(path) for path in named if path and "{fold}" not in str(path)]
    below = Path(config_file).parent
    places = [below] if run is None else [below, run.parent.parent / below]
    found = (p for p in places if all(placed(each, p).exists() for each in paths))
    return next(found, below)


def parse(text: str, source: str = "config", folder: Path | None = None) -> Document:
    """Turn YAML text into a `Document`, safely and in bounded time, or raise `ConfigError`."""
    reader = _Reader(source)
    try:
        if (node := reader.loader.compose(text)) is None:
            raise _refusal(source, "empty; name a dataset and algorithms")
        reader.n_values = 0
        data = reader.value(node, ())
    except MarkedYAMLError as error:
        found = str(error.problem or error.context or "not YAML").split("\n")[0]
        if found.startswith("but "):
            found = f"{error.context}, {found}"
        # What is never closed is missed later, at times behind the last line.
        unclosed = re.search("simple key|',' or|end of stream", f"{error.context} {found}")
        mark = (error.context_mark if unclosed else error.problem_mark) or error.problem_mark
        line = mark.line + 1 if mark is not None else 0
        advice = "use spaces in place of tabs" if "'\\t'" in found else "fix the line"
        raise _refusal(source, f"not valid YAML: {found}; {advice}", line) from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise _refusal(source, f"not valid YAML: {reason_of(error)}; fix it") from None
    if not isinstance(data, dict):
        raise _refusal(source, "not a mapping of keys to values; start with `dataset: ...`", 1)
    return Document(source, data, reader.lines, folder)


class _Reader(Composer):
    """Builds plain data from YAML text, with the line of each key; too much of it fails fast.

    Values are counted as they are composed, and again as they are built, where an alias stands for
    all of its anchor.
    """

    def __init__(self, source: str) -> None:
        super().__init__(YAML(typ="safe", pure=True))
        self.warn_double_anchors = False
        self.source = source
        self.lines: dict[KeyPath, int] = {}
        self.n_values = self.depth = 0

    def refusal(self, place: Event | Node, path: KeyPath, message: str) -> ConfigError:
        return _refusal(self.source, message, place.start_mark.line + 1, path)

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
            return [self.value(each, (*path, n)) for n, each in enumerate(node.value)]
        result: dict[str, object] = {}
        for name, inner in node.value:
            if not isinstance(name, ScalarNode):
                raise self.refusal(name, path, "a key is not a plain word; write `key: value`")
            if name.value == "<<":
                raise self.refusal(name, path, "merge keys are not supported; write the keys")
            key = str(name.value)
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
        try:
            return self.loader.constructor.construct_object(node)
        except (LookupError, ValueError, OverflowError):  # as of `!!bool maybe`
            found = repr(node.value if len(node.value) <= 60 else f"{node.value[:57]}...")
            message = f"{found} is no {kind}; write one, or leave the tag out"
            raise self.refusal(node, path, message) from None


def _override(document: Document, override: str) -> None:
    """Set one key from ``path=value``, creating the mappings on the way."""
    where = f"--set {override}"
    key, separator, text = override.partition("=")
    if not separator:
        raise _refusal(where, "no '='; write --set split.test_size=0.1")
    try:
        value = parse(f"value: {text}", where).data["value"]
    except ConfigError as error:  # whose line is none of a file
        raise ConfigError(where, [replace(fault, line=0) for fault in error.faults]) from None
    path: list[str | int] = []
    for name, index in re.findall(r"([^.\[]+)|\[([^.\[]*)", key):
        if not (name or re.fullmatch(r"[0-9]{1,9}\]?", index)):
            raise _refusal(where, f"{index!r} is no list index; write algorithms[0]", path=(key,))
        path.append(name or int(index.removesuffix("]")))
    if not path:
        raise _refusal(where, "no key; write --set split.test_size=0.1", path=(key,))
    if path[1:] and (first := str(path[0])) in ("split", "candidates"):  # of the default kind
        document.data.setdefault(first, Experiment.model_fields[first].default[0].kind)
    try:
        there = document.known(tuple(path))
        _with_value(document.data, path, value)
        document.overrides[tuple(path[: len(there) + 1])] = override
    except LookupError:
        message = "no such place in the config; check the path"
        raise _refusal(where, message, path=tuple(path)) from None


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


def _checked(document: Document, *, with_ratings: bool = False) -> Experiment:
    """Return the experiment of a document without faults."""
    data = document.data
    if unprintable := list(_unprintable(document, data)):
        raise ConfigError(document.source, unprintable)
    faults: set[Fault] = set()
    given = name_of_given(data.get("dataset"))
    if given is not None and not with_ratings:  # the record of a run without its data
        data["dataset"] = "bundled"
        found = f"the ratings ({given}) were given from Python"
        advice = "give them again there as ratings=..., or name a file in their place"
        faults.add(Fault(0, "dataset", f"{found}; {advice}"))
    if unusable := list(_plugin_faults(document)):  # whose names nothing else would know
        raise ConfigError(document.source, [*faults, *unusable])
    try:
        experiment = Experiment.model_validate(data)
        faults.update(_repeated_entries(experiment, document))
    except ValidationError as error:
        faults.update(_explained(entry, document) for entry in error.errors())
    faults.update(_algorithm_faults(document))
    if faults:
        raise ConfigError(document.source, faults)
    return experiment


def _unprintable(document: Document, value: object, path: KeyPath = ()) -> Iterator[Fault]:
    """Yield a fault for each value or key that no message could show and no file could hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        yield document.fault(path, f"a number of {value.bit_length():,} bits; write a smaller one")
    elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        message = f"found {value[:60]!r}, which is not Unicode text; write other characters"
        yield document.fault(path, message)
    elif isinstance(value, dict):
        for key, inner in value.items():
            wrong = list(_unprintable(document, key, path))
            yield from wrong or _unprintable(document, inner, (*path, str(key)[:MAX_KEY]))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _unprintable(document, inner, (*path, position))


def _repeated_entries(experiment: Experiment, document: Document) -> Iterator[Fault]:
    """Report entries of a list that equal an earlier entry: their cells would be the same."""
    for key in ("dataset", "split", "candidates", "seed"):
        entries: list[object] = []
        for position, entry in enumerate(getattr(experiment, key)):
            if isinstance(entry, Section):
                entry = entry.model_dump(mode="json")
                if entry.get("path"):  # one file may be written in several ways
                    entry["path"] = os.path.normpath(entry["path"])
            if entry in entries:
                yield repeated(document, key, entries.index(entry), position, "is the same as")
            entries.append(entry)


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the fault that two entries of a list give the same cells, with both places."""
    line = document.line((key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return document.fault((key, second), f"{how} {where}; remove one of them")


def _plugin_faults(document: Document) -> Iterator[Fault]:
    """Import the files under `plugins`; let modules beside the config and here be found by name."""
    folder, files = document.folder or Path(), document.data.get("plugins")
    if code_named(document.data):
        plugins.search_in((folder, Path()))
    if not isinstance(files, list):
        files = [files] if isinstance(files, str) else []
    for position, name in enumerate(files):
        if isinstance(name, str):
            try:
                plugins.add_files([placed(name, folder)])
            except PluginError as error:
                yield document.fault(("plugins", position), str(error))


def code_named(data: Mapping[str, object]) -> set[str]:
    """Return the files and the ``module:name`` that a config names, without importing them."""
    files = data.get("plugins")
    files = files if isinstance(files, list) else [files]
    return {name for name in files if isinstance(name, str)} | set(_modules_named(data))


def _modules_named(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _modules_named(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _modules_named(inner)
    elif isinstance(value, str) and (match := OWN.match(value)):
        yield match[0]


def _algorithm_faults(document: Document) -> Iterator[Fault]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    given = document.data.get("algorithms")
    for position, row in enumerate(given if isinstance(given, list) else []):
        with suppress(ValidationError):
            algorithm = _ALGORITHM.validate_python(row)
            # A class is searched in the config's folder, then here.
            folders = {place.resolve(): None for place in (document.folder or Path(), Path())}
            faults = registry.check(algorithm)
            if ":" in algorithm.name and (message := own.hidden(algorithm.name, folders)):
                faults = [(("name",), message)]
            faults += depends.faults(algorithm.depends, document.folder)
            for key, message in faults:
                inside = key if isinstance(row, dict) else ()
                yield document.fault(("algorithms", position, *inside), message)


def _explained(error: ErrorDetails, document: Document) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a fault at its key."""
    path = document.known(error["loc"])
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    elif error["type"] == "union_tag_invalid":  # a plain string has no key `kind`
        path = document.known((*error["loc"], "kind"))
    renamed = RENAMED.get(str(path[-1])) if error["type"] == "extra_forbidden" else None
    message = f"this key is now called `{renamed}`; rename it" if renamed else ""
    return document.fault(path, message or explained(error, Experiment))
