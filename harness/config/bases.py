"""A config that extends others: what it says is merged into what they say, key by key."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness._util.files import placed
from harness.config.document import Document, fault_at, line_of, moved, moved_paths, source_of
from harness.config.experiment import Experiment
from harness.config.yaml import bundled, read
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError
from harness.schema.sections import PATHS, KeyPath, brief, sections_at

MORE = "+"
"""Before the key of a list: its entries come behind the entries of the base."""
MOST_FILES = 20
RIVALS = {"name": {"path", "synthetic"}, "path": {"synthetic"}, "synthetic": {"name", "path"}}
"""Keys that say where data come from, and the keys of a base that they replace."""


def extended(document: Document) -> Document:
    """Return a document with the bases that it extends; raise what is wrong with them.

    Mappings are merged by key, lists and other values take the place of the base's, and the
    entries of ``+algorithms`` come behind the base's. A mapping of another ``kind``, or data
    from another place, takes the place of the whole mapping. Paths in a base are relative to the
    base.
    """
    return _extended(document, [], [0])


def _extended(document: Document, chain: list[Path], n_files: list[int]) -> Document:
    names = document.data.get("extends")
    where: KeyPath = ("extends",)
    if names is None:
        return document
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        message = f"found {brief(names)}; write the path of a config, or a list of paths"
        raise ConfigError(document.source, [fault_at(document, where, message)])
    merged: Document | None = None
    for name in names:
        n_files[0] += 1
        base = _read(document, name, chain, n_files)
        merged = base if merged is None else _merged(merged, base)
    data = {key: value for key, value in document.data.items() if key != "extends"}
    top = replace(document, data=data)
    return top if merged is None else _merged(merged, top)


def _read(document: Document, name: str, chain: list[Path], n_files: list[int]) -> Document:
    """Return a base with its own bases, and its paths as seen from the folder of the document."""
    folder = document.folder or Path()
    path = placed(name, folder)
    if not path.exists() and Path(name).name == name:
        path = bundled().get(name.removesuffix(".yaml"), path)
    chain = chain or [Path(document.source).absolute()]
    place = path.absolute()
    fault: Callable[[str], ConfigError] = lambda message: ConfigError(  # noqa: E731
        document.source, [fault_at(document, ("extends",), message)]
    )
    if not path.exists():
        raise fault(f"no file {path.as_posix()!r}; give a path relative to this config")
    if path.is_dir() or path.suffix not in (".yaml", ".yml"):
        raise fault(f"{path.as_posix()!r} is not a config in YAML; name one, such as base.yaml")
    if any(place.samefile(earlier) for earlier in chain if earlier.exists()):
        circle = [*(earlier.name for earlier in chain), place.name]
        raise fault(f"a circle of files, {' extends '.join(circle)}; take one `extends` out")
    if n_files[0] > MOST_FILES:
        raise fault(f"more than {MOST_FILES} files in all; put some together")
    base = _extended(read(path), [*chain, place], n_files)
    lines = dict(base.lines)
    sources = {key: base.sources.get(key, base.source) for key in lines}
    data = base.data
    if path.parent.absolute() != folder.absolute():
        data = _seen_from(data, path.parent, folder)
    return replace(base, data=data, lines=lines, sources=sources)


@dataclass
class _Merger:
    """Merges the data of one document into another's, with the place of each key."""

    base: Document
    top: Document
    lines: dict[KeyPath, int] = field(default_factory=dict)
    sources: dict[KeyPath, str] = field(default_factory=dict)
    written: dict[KeyPath, str] = field(default_factory=dict)

    def take(self, document: Document, old: KeyPath, new: KeyPath) -> None:
        """Take the lines of a value and all inside it, which moves to another place."""
        for path, line in document.lines.items():
            if path[: len(old)] == old:
                place = (*new, *path[len(old) :])
                self.lines[place] = line
                if source := document.sources.get(path):
                    self.sources[place] = source
        for path, text in document.written.items():
            if path[: len(old)] == old:
                self.written[(*new, *path[len(old) :])] = text

    def mapping(
        self, base: dict[str, object], top: dict[str, object], old: KeyPath, path: KeyPath
    ) -> dict[str, object]:
        """Return a mapping of the base with what one of the top says, which is at `old` there."""
        merged: dict[str, object] = {}
        for key, value in base.items():
            merged[key] = value
            self.take(self.base, (*path, key), (*path, key))
        for name, value in top.items():
            key = name.removeprefix(MORE)
            inner, here = (*old, name), (*path, key)
            before = base.get(key)
            if key != name and key in top:
                message = f"`{name}` beside `{key}`; keep one"
                raise ConfigError(self.top.source, [fault_at(self.top, inner, message)])
            if key != name:
                merged[key] = self.longer(before, value, inner, here)
                continue
            if isinstance(before, str) and isinstance(value, dict):
                with suppress(LookupError):  # no section is there
                    before = sections_at(Experiment, here)[0].spelled_out(before)
            if isinstance(before, dict) and isinstance(value, dict) and _is_same(before, value):
                merged[key] = self.mapping(before, value, inner, here)
            else:
                self.forget(here)
                self.take(self.top, inner, here)
                merged[key] = value
            self.place(inner, here)
        return merged

    def forget(self, path: KeyPath) -> None:
        """Forget the lines of a value of the base and all inside it."""
        places: dict[KeyPath, Any]
        for places in (self.lines, self.sources, self.written):
            for place in [place for place in places if place[: len(path)] == path]:
                del places[place]

    def place(self, inner: KeyPath, here: KeyPath) -> None:
        """Let a key be where the top has it: in no line if it was written in Python."""
        self.lines[here] = line_of(self.top, inner)
        self.sources.pop(here, None)
        if source := source_of(self.top, inner):
            self.sources[here] = source

    def longer(self, before: object, value: object, inner: KeyPath, here: KeyPath) -> list[object]:
        """Return a list of the base with more entries behind its own."""
        entries = [] if before is None else before if isinstance(before, list) else [before]
        more = value if isinstance(value, list) else [value]
        if before is not None and not isinstance(before, list):
            self.take(self.base, here, (*here, 0))
        for position, _ in enumerate(more):
            old = (*inner, position) if isinstance(value, list) else inner
            new = (*here, len(entries) + position)
            self.take(self.top, old, new)
            self.place(old, new)
        return [*entries, *more]


def _merged(base: Document, top: Document) -> Document:
    """Return the document of a base with what another says; errors name the latter."""
    merger = _Merger(base, top)
    data = merger.mapping(base.data, top.data, (), ())
    merger.place((), ())
    return replace(
        top, data=data, lines=merger.lines, sources=merger.sources, written=merger.written
    )


def _is_same(base: dict[str, object], top: dict[str, object]) -> bool:
    """Return whether a mapping describes the same thing as the base's."""
    if "kind" in top and top["kind"] != base.get("kind", top["kind"]):
        return False
    named = (key for key in RIVALS.keys() & top.keys() if key not in base)
    return not any(RIVALS[key] & base.keys() for key in named)


def _seen_from(data: dict[str, object], base: Path, folder: Path) -> dict[str, object]:
    """Return the data of a config whose paths are relative to another folder."""

    def of_data(value: object) -> object:
        if isinstance(value, list):
            return [of_data(entry) for entry in value]
        spelled = DatasetSection.spelled_out(value)
        is_path = isinstance(spelled, dict) and "path" in spelled
        return moved(spelled if is_path else value, base, folder, PATHS)

    changes: dict[str, Callable[[object], object]] = {
        "dataset": of_data,
        "split": lambda value: moved(value, base, folder, PATHS),
        "candidates": lambda value: moved(value, base, folder, PATHS),
        "algorithms": lambda value: moved(value, base, folder, {"depends"}),
        "plugins": lambda value: moved_paths(value, base, folder),
    }
    result = dict(data)
    for key, value in data.items():
        if change := changes.get(key.removeprefix(MORE)):
            result[key] = change(value)
    return result
