"""Turn a config file, mapping or overrides into an `Experiment`, or report all problems at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from harness._util.arguments import is_unicode
from harness._util.files import as_list, placed
from harness.algorithms import depends, own, registry
from harness.config.bases import extended
from harness.config.document import Document, fault_at, key_at, line_of, refusal
from harness.config.experiment import AlgorithmConfig, AlgorithmSection, Experiment
from harness.config.from_python import as_sections, with_variables
from harness.config.trackers import tracker_faults
from harness.config.yaml import RENAMED, parse, read
from harness.datasets.section import GIVEN, OF_LOADED, DatasetSection, as_path, name_of_given
from harness.errors import ConfigError, Fault, PluginError, counted, joined
from harness.plugins import registry as plugins
from harness.plugins.own_modules import add_files, search_in
from harness.plugins.registry import folded
from harness.schema.sections import KeyPath, Section, brief, explained, plain_data, sections_at


def load(
    config: str | Path | Mapping[str, object] | Experiment,
    *,
    overrides: Iterable[str] = (),
    folder: Path | None = None,
    with_ratings: bool = False,
    trust: bool = True,
) -> tuple[Experiment, Document]:
    """Read and validate a config, and return where it came from; raise all its problems at once.

    It is a YAML file, the name of a config that comes with the package, a run's folder or
    ``run.json``, or Python data, whose paths are relative to `folder`. An override is
    ``key.path=value``, with the value as in YAML: ``split.test_size=0.1``,
    ``algorithms[0].params.k=20``.
    """
    name = "run"
    try:
        if isinstance(config, str | os.PathLike):
            document = read(Path(config))
            name = re.sub(r"(?a)[^\w.-]", "-", Path(config).stem).lstrip("._-")[:80] or name
        elif isinstance(config, Experiment):
            document = Document("config", config.model_dump(mode="json", exclude_unset=True))
        elif isinstance(config, Mapping):
            _refuse_objects(config)
            if any(map(_has_objects, (config.get("algorithms"), config.get("split")))):
                config = as_sections(config)
            data = {key: plain_data(value) for key, value in config.items()}
            document = with_variables(Document("config", data, folder=folder))
        else:
            raise _no_config(config)
        if not document.recorded and document.data.get("extends") is not None:
            document = extended(document)
        document.data.setdefault("name", name)
        if not isinstance(overrides, list | tuple) or overrides:
            for override in listed(overrides):
                set_key(document, override)
        if document.recorded and not trust and (code := all_code_named(document.data)):
            advice = "read that code first; `--trust` then imports and runs it"
            raise refusal(document.source, f"it names code, {joined(code)}; {advice}")
        plugins.forget_records()
        if with_ratings:
            stand_in(document)
        return checked(document, with_ratings=with_ratings), document
    except RecursionError:
        source = str(config) if isinstance(config, str | Path) else "config"
        raise refusal(source, "nested too deeply; flatten it") from None


def _no_config(config: object) -> ConfigError:
    advice = "give a path, a mapping or an Experiment"
    if not isinstance(config, int | float | list):  # such as a frame
        advice += "; give ratings beside it: harness.run(config, ratings=...)"
    return refusal("config", f"found {brief(config)}; {advice}")


def read_config(config: str | Path) -> Document:
    """Read a config with what it extends; nothing in it is validated, and no code imported."""
    document = read(Path(config))
    return document if document.recorded else extended(document)


def _has_objects(value: object) -> bool:
    """Return whether a value is a class, an object of Surprise, or a list or row with one."""
    if isinstance(value, list | tuple):
        return any(map(_has_objects, value))
    if isinstance(value, Mapping):
        return isinstance(value.get("name"), type)
    return isinstance(value, type) or type(value).__module__.partition(".")[0] == "surprise"


LOADED = ("columns", "tocoo", "raw_ratings", "user_ids")
"""Attributes of which frames, matrices, data sets of Surprise and ratings have one."""


def _refuse_objects(config: Mapping[str, object]) -> None:
    """Refuse data that you loaded and models that you fitted where a config names them."""
    data, rows = config.get("dataset"), config.get("algorithms")
    if any(hasattr(data, name) for name in LOADED) and not isinstance(data, Section):
        raise refusal(
            "config",
            f"dataset: found {brief(data)}; give loaded data beside the config: "
            "harness.run(config, ratings=data)",
        )
    for place, row in enumerate(rows if isinstance(rows, list | tuple) else [rows]):
        own = type(row)
        is_own = hasattr(row, "fit") and not isinstance(row, type | Section)
        if is_own and own.__module__.partition(".")[0] != "surprise":
            raise refusal(
                "config",
                f"algorithms[{place}]: found an object of {own.__name__}; give the class, "
                f"{own.__name__}, with parameters as {{'name': {own.__name__}, 'params': {{...}}}}",
            )


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
        raise ConfigError(where, [fault._replace(line=0) for fault in error.faults]) from None
    path: list[str | int] = []
    for name, index in re.findall(r"([^.\[]+)|\[([^.\[]*)", key):
        if not (name or re.fullmatch(r"[0-9]{1,9}\]?", index)):
            raise refusal(where, f"{index!r} is not a list index; write algorithms[0]", path=(key,))
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


def stand_in(document: Document) -> None:
    """Put loaded ratings in the place of the data set that a config names; its options hold.

    A mapping that says where ratings are, or how a file is written, is refused by its keys.
    """
    written = document.data.get("dataset")
    one = isinstance(written, list) and len(written) == 1
    entry = written[0] if one else written  # type: ignore[index]
    where = ("dataset", 0) if one else ("dataset",)
    if isinstance(entry, list):
        message = f"found {counted(len(entry), 'data set')}; `ratings` are one: leave this out"
        raise ConfigError(document.source, [fault_at(document, where, message)])
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
            faults.append(fault_at(document, (*where, key), message))
    if faults:
        raise ConfigError(document.source, faults)
    section = {"path": f"{GIVEN}ratings", **options}
    document.data["dataset"] = [section] if one else section


MAX_BITS = 1_024
"""Bits of a whole number; a larger one is more than any floating-point number."""
MAX_KEY = 100
_ALGORITHM = TypeAdapter[AlgorithmConfig](AlgorithmSection)


Finding = tuple[KeyPath, str]
"""A key, and what is wrong there."""


def checked(document: Document, *, with_ratings: bool = False) -> Experiment:
    """Return the experiment of a document without problems."""
    data = document.data
    if unprintable := list(_unprintable(data)):
        raise ConfigError(document.source, at_keys(document, unprintable))
    faults: set[Fault] = set()
    if not with_ratings and (name := name_of_given(data.get("dataset"))) is not None:
        # It is the record of a run without its data.
        data["dataset"] = "bundled"
        faults.add(without_data(name))
    if isinstance(entry := data.get("dataset"), list):
        data["dataset"] = [as_path(each, document.folder) for each in entry]
    elif entry is not None:
        data["dataset"] = as_path(entry, document.folder)
    # Nothing else would know their names.
    if code_named(data) and (unusable := list(import_files(document))):
        raise ConfigError(document.source, [*faults, *unusable])
    try:
        experiment = Experiment.model_validate(data, context=document.folder or Path())
        for key in ("dataset", "split", "candidates", "seed"):
            if len(entries := getattr(experiment, key)) > 1:
                again = _repeated_entries(entries)
                faults.update(repeated(document, key, *pair, "is the same as") for pair in again)
    except ValidationError as error:
        faults.update(explained_at_key(entry, document) for entry in error.errors())
    if findings := list(_algorithm_faults(document)):
        faults.update(at_keys(document, findings))
    if document.data.get("trackers"):
        faults.update(tracker_faults(document))
    if faults:
        raise ConfigError(document.source, faults)
    return experiment


def _unprintable(value: object, path: KeyPath = ()) -> Iterator[Finding]:
    """Yield each value or key that no message could show and no file could hold."""
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        yield path, f"a number of {value.bit_length():,} bits; write a smaller one"
    elif isinstance(value, str) and not is_unicode(value):
        yield path, f"found {value[:60]!r}, which is not Unicode text; write other characters"
    elif isinstance(value, dict):
        for key, inner in value.items():
            wrong = list(_unprintable(key, path))
            yield from wrong or _unprintable(inner, (*path, str(key)[:MAX_KEY]))
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            yield from _unprintable(inner, (*path, position))


def _repeated_entries(given: Iterable[object]) -> Iterator[tuple[int, int]]:
    """Yield where an entry of a list and an equal later one are: their cells would be the same."""
    entries: list[object] = []
    for position, entry in enumerate(given):
        if isinstance(entry, Section):
            entry = entry.model_dump(mode="json")
            if path := entry.get("path"):  # one file may be written in several ways
                entry["path"] = [*map(os.path.normpath, as_list(path))]
        if entry in entries:
            yield entries.index(entry), position
        entries.append(entry)


def code_named(data: Mapping[str, object]) -> set[str]:
    """Return the files and the ``module:name`` that a config names, without importing them."""
    files = data.get("plugins")
    files = files if isinstance(files, list) else [files]
    return {name for name in files if isinstance(name, str)} | set(_modules_named(data))


def all_code_named(data: Mapping[str, object]) -> list[str]:
    """Return the code that a config would run: what it names, and plug-ins of other packages.

    Nothing is imported. A plug-in that is not installed is not among them.
    """
    return [*sorted(code_named(data)), *dict.fromkeys(_plugins_named(data))]


def _plugins_named(data: Mapping[str, object]) -> Iterator[str]:
    """Yield the installed plug-ins of other packages that a config names, each with its package."""
    tuning = _mapping(data.get("tuning"))
    labels = [*_entries(data.get("metrics")), data.get("headline"), tuning.get("metric")]
    divided = [*map(_mapping, _entries(data.get("split"))), tuning]
    validations = [part.get("validation") for part in divided]
    named: dict[str, list[object]] = {
        "algorithms": [_under("name", row) for row in _entries(data.get("algorithms"))],
        "metrics": [str(label).partition("(")[0].partition("@")[0].strip() for label in labels],
        "splits": [
            _under("kind", part) for key in ("split", "filters") for part in _entries(data.get(key))
        ]
        + [_under("kind", part) for part in validations],
        "datasets": [_under("name", part) for part in _entries(data.get("dataset"))],
        "readers": [_mapping(part).get("format") for part in _entries(data.get("dataset"))],
        "analyses": _entries(data.get("analyses")),
        "trackers": [
            name
            for part in _entries(data.get("trackers"))
            for name in (part if isinstance(part, dict) else [part])
        ],
    }
    for kind, names in named.items():
        spelled = folded if kind == "algorithms" else str  # which are found in any spelling
        foreign = {spelled(name): name for name in plugins.foreign_names(kind)}
        for name in map(spelled, filter(None, map(_text, names))):
            if name in foreign and name not in {*map(spelled, plugins.builtin_names(kind))}:
                yield f"{foreign[name]} of {plugins.foreign_origin(kind, foreign[name])}"


def _entries(value: object) -> list[object]:
    """Return a list as it is, and one value as a list; none for null."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _under(key: str, entry: object) -> object:
    return entry.get(key) if isinstance(entry, dict) else entry


def _modules_named(value: object) -> Iterator[str]:
    if isinstance(value, dict | list | tuple):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _modules_named(inner)
    elif isinstance(value, str) and (match := re.match(plugins.OBJECT, value)):
        yield match[0]


def _algorithm_faults(document: Document) -> Iterator[Finding]:
    """Check each algorithm that is well formed in itself, whatever else is wrong in the file."""
    rows = document.data.get("algorithms")
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        with suppress(ValidationError):
            algorithm = _ALGORITHM.validate_python(row)
            faults = registry.check(algorithm)
            if ":" in algorithm.name:  # a class is searched in the config's folder, then here
                folders = {place.resolve(): None for place in (document.folder or Path(), Path())}
                if message := own.hidden(algorithm.name, folders):
                    faults = [(("name",), message)]
            if algorithm.depends:
                faults += depends.faults(algorithm.depends, document.folder)
            for key, message in faults:
                yield ("algorithms", position, *(key if isinstance(row, dict) else ())), message


def at_keys(document: Document, findings: Iterable[tuple[KeyPath, str]]) -> list[Fault]:
    """Return what is wrong at keys, as problems."""
    return [fault_at(document, path, message) for path, message in findings]


def without_data(name: str) -> Fault:
    """Return the problem of the record of a run whose data were given from Python."""
    source = f"the ratings ({name}) were given from Python"
    advice = "give them again there as ratings=..., or name a file in their place"
    return Fault(0, "dataset", f"{source}; {advice}")


def repeated(document: Document, key: str, first: int, second: int, how: str) -> Fault:
    """Return the problem that two entries of a list give the same cells, with both places."""
    line = line_of(document, (key, first))
    where = f"{key}[{first}]" + (f" (line {line})" if line else "")
    return fault_at(document, (key, second), f"{how} {where}; remove one of them")


def explained_at_key(error: ErrorDetails, document: Document) -> Fault:
    """Turn one entry of ``ValidationError.errors()`` into a problem at its key."""
    path = key_at(document, error["loc"])
    if error["type"] == "missing":
        path = (*path, error["loc"][-1])
    elif error["type"] == "union_tag_invalid":  # a plain string has no key `kind`
        path = key_at(document, (*error["loc"], "kind"))
    renamed = RENAMED.get(str(path[-1])) if error["type"] == "extra_forbidden" else None
    message = f"this key is now called `{renamed}`; rename it" if renamed else ""
    if error["type"] == "extra_forbidden" and str(path[-1]).startswith("+"):
        message = "`+` adds to a list of another config; name that config in `extends`"
    return fault_at(document, path, message or explained(error, Experiment, document.data))


def import_files(document: Document) -> Iterator[Fault]:
    """Import the files under `plugins`; let modules beside the config and here be found by name."""
    folder, files = document.folder or Path(), document.data.get("plugins")
    search_in((folder, Path()))
    if not isinstance(files, list):
        files = [files] if isinstance(files, str) else []
    for position, name in enumerate(files):
        if isinstance(name, str):
            try:
                add_files([placed(name, folder)])
            except PluginError as error:
                yield fault_at(document, ("plugins", position), str(error))
