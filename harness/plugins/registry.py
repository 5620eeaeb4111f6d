"""Plug-ins: what a name stands for, found without importing it and imported when it is used.

A plug-in is an entry point of an installed package, or an object in your own module, such as
``mine:MyALS``. This package declares its own parts in the same way, in ``pyproject.toml``. They are
looked up first, so that a run of built-in parts reads the metadata of no other package.
"""

from __future__ import annotations

import importlib
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import PluginError, joined, nearest, suggestion
from harness.plugins import entry_points
from harness.plugins.own_modules import import_module

API = 1
"""The version of the interface between this package and plug-ins."""
KINDS = {
    "algorithms": "a class that fits and estimates",
    "metrics": "a decorated function",
    "splits": "a class of a split or a filter",
    "datasets": "a function that gives ratings",
    "readers": "a reader of a file format",
    "analyses": "a class that analyses computed cells",
    "trackers": "a class that logs a run",
    "commands": "a click command",
    "candidates": "a class of candidates",
    "plots": "a class of a plot",
    "sources": "a class that gives models of other libraries",
    "executors": "a class that computes cells elsewhere",
    "openers": "a class that reads files by address",
}
"""What a plug-in of each kind is."""
WORDS = {"algorithms": ("all",), "analyses": ("default",), "datasets": ("bundled",)}
"""What stands for built-in parts beside their names, by kind."""
PACKAGE = "surprise-harness"
GROUP = "harness."
PARTS = "harness.extras."
"""The package of the parts that can be taken away."""
OBJECT = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"
"""A name in your own module."""


@dataclass(frozen=True, order=True)
class Plugin:
    """A name that stands for an object, and where it comes from.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    name : str
    target : str
        ``module:object``.
    package, version : str
        Of the distribution that declares it; the file and "" for an object of a module of one's
        own.

    Examples
    --------
    >>> find("metrics", "rmse").package
    'surprise-harness'
    """

    kind: str
    name: str
    target: str
    package: str
    version: str

    @property
    def is_builtin(self) -> bool:
        """Whether it belongs to this package."""
        return self.package == PACKAGE

    @property
    def is_spine(self) -> bool:
        """Whether it belongs to this package and to none of the parts that can be taken away."""
        return self.is_builtin and not self.target.startswith(PARTS)

    @property
    def origin(self) -> str:
        """The package with its version, for messages."""
        return f"{self.package} {self.version}".strip()

    @property
    def _where(self) -> str:
        """How a message about it begins."""
        return f"{self.kind}: {self.name!r}" + f" of {self.origin}" * bool(self.version)

    def load(self) -> object:
        """Import the object, or raise a `PluginError` that names the plug-in and its package."""
        module_name, _, attribute = self.target.partition(":")
        try:
            imported = importlib.import_module if self.is_builtin else import_module
            value: object = imported(module_name)
        except PluginError as error:
            raise PluginError(f"{self._where}: {error}") from error.__cause__
        except ModuleNotFoundError as error:
            if not module_name.startswith(PARTS) or not (error.name or "").startswith(PARTS):
                raise
            part = module_name.removeprefix(PARTS).partition(".")[0]
            raise PluginError(
                f"{self._where} needs the part {part!r}, which was taken out of this installation; "
                f"reinstall {PACKAGE}, or leave it out"
            ) from error
        for part in attribute.split("."):
            if not hasattr(value, part):
                names_of_value = [name for name in vars(value) if not name.startswith("_")]
                hint = suggestion(part, names_of_value, most=8)
                raise PluginError(f"{self._where}: {module_name!r} has no {part!r}; {hint}")
            value = getattr(value, part)
        if (api := getattr(value, "api", API)) != API:
            raise PluginError(
                f"{self._where}: it is written for version {api!r} of the interface, and this is "
                f"{API}; install a version of {self.package} for {PACKAGE} {_version()}"
            )
        _LOADED.add((self.kind, self.name))
        return value


def find(kind: str, name: str) -> Plugin:
    """Return the plug-in of a name, without importing it.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    name : str
        A name that a package declares, or ``module:object``.

    Returns
    -------
    Plugin

    Raises
    ------
    PluginError
        If no package declares the name, or two packages do.

    Examples
    --------
    >>> find("metrics", "ndgc")
    Traceback (most recent call last):
    harness.errors.PluginError: 'ndgc' is not among the metrics; did you mean 'ndcg'?
    """
    if builtin := _builtin(kind).get(name):
        return builtin
    if ":" in name:
        module, _, attribute = name.partition(":")
        return Plugin(kind, name, f"{module}:{attribute}", module, "")
    declared = _foreign(kind).get(name, ())
    if not declared:
        raise PluginError(f"{name!r} is not among the {kind}; {absent(kind, name)}")
    if len(declared) > 1:
        packages = joined(plugin.origin for plugin in declared)
        raise PluginError(f"{kind}: {packages} all have {name!r}; uninstall all but one of them")
    return declared[0]


def hook(name: str) -> Callable[..., Any]:
    """Return a function of a part by the name of its hook.

    Raises
    ------
    PluginError
        If the part is not installed.
    """
    function: Callable[..., Any] = find("hooks", name).load()  # type: ignore[assignment]
    return function


def absent(kind: str, name: str, choices: Iterable[str] = ()) -> str:
    """Return what to do about a name that nothing has: the end of a message.

    If the record of a run says which package had it, that is named.
    """
    if package := _PACKAGES.get((kind, name)):
        requirement = "==".join(part for part in package if part)
        return f"it was of the package {package[0]}; pip install {requirement}"
    choices = [*choices] or names(kind)
    if meant := nearest(name, choices):
        origin = foreign_origin(kind, meant)
        return f"did you mean {meant!r}{' of ' * bool(origin)}{origin}?"
    return f"{suggestion(name, choices)}, or install the package that has it"


def foreign_names(kind: str) -> list[str]:
    """Return the names of a kind that other packages declare, without importing anything."""
    return sorted(_foreign(kind))


def foreign_origin(kind: str, name: str) -> str:
    """Return the package and version of a plug-in that is not this package's own, or ''."""
    declared = () if name in _builtin(kind) else _foreign(kind).get(name, ())
    return joined(plugin.origin for plugin in declared)


def names(kind: str) -> list[str]:
    """Return every name of a kind, this package's first, without importing what they stand for.

    Examples
    --------
    >>> "rmse" in names("metrics")
    True
    """
    return [*_builtin(kind), *sorted(_foreign(kind))]


def builtin_names(kind: str) -> list[str]:
    """Return the names of a kind that this package declares."""
    return [*_builtin(kind)]


def declared(kind: str) -> Iterator[tuple[Plugin, str]]:
    """Yield every plug-in of a kind, and why it cannot be used by its name; '' where it can."""
    for plugin in _builtin(kind).values():
        yield plugin, ""
    for name, plugins in sorted(_all_foreign(kind).items()):
        packages = joined(plugin.origin for plugin in plugins)
        for plugin in plugins:
            if own := own_name(kind, name):
                spelled = f", spelled {own!r}" * (own != name)
                yield (
                    plugin,
                    f"{name!r} is a name of {PACKAGE} itself{spelled}; its author has to rename it",
                )
            elif len(plugins) > 1:
                yield plugin, f"{packages} all have this name; uninstall all but one of them"
            else:
                yield plugin, ""


def own_name(kind: str, name: str) -> str:
    """Return the name or word of this package that a name is but for its spelling, or ''.

    >>> own_name("metrics", "NDCG"), own_name("algorithms", "svd++"), own_name("splits", "k_core")
    ('ndcg', 'SVDpp', 'k-core')
    """
    return _own_names(kind).get(_spelling(kind, name), "")


def folded(name: str) -> str:
    """Return a name as names are compared, without capitals and punctuation: SVD++ as svdpp."""
    return "".join(c for c in name.casefold().replace("+", "p") if c.isalnum())


def problem(plugin: Plugin) -> str:
    """Return why a plug-in cannot be imported, or ''."""
    try:
        plugin.load()
    except PluginError as error:
        return str(error)
    return ""


def remember(
    kind: str, name: str, facts: dict[str, object], package: tuple[str, str] | None = None
) -> None:
    """Keep what the record of a run says of a plug-in, so that reading it imports no code."""
    _RECORDED[kind, name] = facts
    if package is not None:
        _PACKAGES[kind, name] = package


def recorded(kind: str, name: str) -> dict[str, object] | None:
    """Return what the record of a run says of a plug-in whose code this process has not used."""
    return None if (kind, name) in _LOADED else _RECORDED.get((kind, name))


def forget_records() -> None:
    """Import plug-ins by their names again, as a config that is to be run asks for."""
    _RECORDED.clear()


_RECORDED: dict[tuple[str, str], dict[str, object]] = {}
_PACKAGES: dict[tuple[str, str], tuple[str, str]] = {}
"""Name and version of the package that a run had a plug-in from."""
_LOADED: set[tuple[str, str]] = set()


def refresh() -> None:
    """Forget what is installed, after a package came or went in a live process."""
    for lookup in (_builtin, _own_names, _all_foreign, entry_points.of_other_packages):
        lookup.cache_clear()


def _version() -> str:
    return str(importlib.import_module(__name__.partition(".")[0]).__version__)


@cache
def _builtin(kind: str) -> dict[str, Plugin]:
    """Return this package's own plug-ins of a kind by name, in the order of their declaration."""
    return {
        name: Plugin(kind, name, target, PACKAGE, _version())
        for name, target in _declarations().get(GROUP + kind, {}).items()
    }


@cache
def _declarations() -> dict[str, dict[str, str]]:
    """Return the entry points of this package by group and name.

    They are read from ``pyproject.toml``, in its order, which metadata do not keep: from a
    checkout's file, because its installed metadata may be older, else from the package's copy.
    """
    here = Path(__file__)
    for project in (here.parents[2] / "pyproject.toml", here.parents[1] / "pyproject.toml"):
        if project.is_file():
            table = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
            if table.get("name") == PACKAGE:
                groups: dict[str, dict[str, str]] = table.get("entry-points", {})
                return groups

    return entry_points.of_package(PACKAGE)


@cache
def _own_names(kind: str) -> dict[str, str]:
    """Return the names and words of this package of a kind by the spelling that is compared."""
    return {_spelling(kind, name): name for name in (*WORDS.get(kind, ()), *_builtin(kind))}


def _spelling(kind: str, name: str) -> str:
    """Return what names of a kind have in common that only differ in how they are written."""
    return folded(name) if kind == "algorithms" else name.casefold().replace("_", "-")


def _foreign(kind: str) -> dict[str, tuple[Plugin, ...]]:
    """Return the plug-ins of other packages that do not have a name of this package's own."""
    foreign = _all_foreign(kind).items()
    return {name: plugins for name, plugins in foreign if not own_name(kind, name)}


@cache
def _all_foreign(kind: str) -> dict[str, tuple[Plugin, ...]]:
    by_name = defaultdict[str, list[Plugin]](list)
    for package, version, declared in entry_points.of_other_packages(GROUP, PACKAGE):
        for entry_point in declared.select(group=GROUP + kind):
            plugin = Plugin(kind, entry_point.name, entry_point.value, package, version)
            by_name[entry_point.name].append(plugin)
    return {name: tuple(sorted(plugins)) for name, plugins in by_name.items()}
