"""The plug-ins of all kinds: where they are from, whether they can be used, what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import click

from harness.algorithms import registry
from harness.algorithms.sources import Source
from harness.candidates.base import CandidatesSection
from harness.config.trackers import Tracker
from harness.console.screen import say, show_table
from harness.datasets.catalogue import DataSet
from harness.datasets.openers import Opener
from harness.datasets.readers import reader_named
from harness.errors import HarnessError, PluginError, counted, suggestion
from harness.experiment.analyses.base import Analysis
from harness.experiment.execute.pool import Executor
from harness.metrics.labels import definition
from harness.plugins import registry as plugins
from harness.report.drawing import Plot
from harness.splits import FilterSection, SplitSection

COLUMNS = ("name", "kind", "package", "version", "state")


def show(names: Collection[str], *, every: bool) -> int:
    """Print the plug-ins with these names, or all; without `every` the built-in ones as numbers."""
    rows: list[list[str]] = []
    for kind, plugin, reason in _named(names):
        if plugin.is_builtin and not (every or names):
            continue
        row = [plugin.name, kind, plugin.package, plugin.version]
        fault = reason or state(plugin)
        rows.append([*row, f"not usable: {fault}" if fault else "usable"])
    if not (every or names):
        for kind in plugins.KINDS:
            if n_builtin := len(plugins.builtin_names(kind)):
                version = plugins.find(kind, plugins.builtin_names(kind)[0]).version
                rows.append([f"{n_builtin:,} built in", kind, plugins.PACKAGE, version, "usable"])
    show_table(COLUMNS, rows, COLUMNS)
    return 0


def check(names: Collection[str]) -> int:
    """Try the plug-ins with these names, or all that are not built in, and print what is wrong."""
    rows: list[list[str]] = []
    by_kind: dict[str, list[plugins.Plugin]] = {}
    for kind, plugin, reason in _named(names):
        if plugin.is_builtin and not names:
            continue
        if fault := reason or state(plugin):
            rows.append([plugin.name, kind, plugin.origin, fault])
        else:
            by_kind.setdefault(kind, []).append(plugin)
    n_wrong = len(rows)
    for kind, usable in by_kind.items():
        problems_of = plugins.hook("trials")
        module = plugins.find("trials", kind).target.partition(":")[0]
        problems = problems_of(module, [plugin.name for plugin in usable])
        for plugin in usable:
            faults = problems[plugin.name]
            n_wrong += bool(faults)
            rows += [[plugin.name, kind, plugin.origin, fault] for fault in faults or ["passes"]]
    if not rows:
        say("only the plug-ins of this package are installed; name one of them to try it")
        return 0
    columns = ("name", "kind", "package", "result")
    show_table(columns, rows, columns)
    if n_wrong:
        say(f"\n{counted(n_wrong, 'plug-in')} with something wrong; tell the author")
    return 1 if n_wrong else 0


def state(plugin: plugins.Plugin) -> str:
    """Return why a plug-in cannot be used, or ''; its code is imported."""
    try:
        USES[plugin.kind](plugin)
    except HarnessError as error:
        return str(error)
    return ""


def _is_of(*bases: type) -> Callable[[plugins.Plugin], object]:
    """Return a function that raises a `PluginError` if a plug-in is not of these classes."""

    def check(plugin: plugins.Plugin) -> None:
        value = plugin.load()
        is_subclass = isinstance(value, type) and issubclass(value, bases)
        if not (isinstance(value, bases) or is_subclass):
            what = plugins.KINDS[plugin.kind]
            raise PluginError(f"{plugin.target} is not {what}; correct the entry point")

    return check


USES: dict[str, Callable[[plugins.Plugin], object]] = {
    "algorithms": lambda plugin: registry.entry(plugin.name),
    "metrics": lambda plugin: definition(plugin.name),
    "splits": _is_of(SplitSection, FilterSection),
    "datasets": _is_of(DataSet, Callable),  # type: ignore[arg-type]
    "readers": lambda plugin: reader_named(plugin.name),
    "analyses": _is_of(Analysis),
    "trackers": _is_of(Tracker),
    "commands": _is_of(click.Command),
    "candidates": _is_of(CandidatesSection),
    "plots": _is_of(Plot),
    "sources": _is_of(Source),
    "executors": _is_of(Executor),
    "openers": _is_of(Opener),
}
"""By kind, what makes the object of a plug-in, or raises a `HarnessError` if it cannot."""


def _named(names: Collection[str]) -> Iterator[tuple[str, plugins.Plugin, str]]:
    """Yield the plug-ins with these names, or all, with their kinds and why they cannot be used."""
    everything = [
        (kind, plugin, reason)
        for kind in plugins.KINDS
        for plugin, reason in plugins.declared(kind)
    ]
    choices = {plugin.name for _, plugin, _ in everything}
    for name in names:
        if name not in choices:
            raise PluginError(f"{name!r}: no plug-in has this name; {suggestion(name, choices)}")
    for kind, plugin, reason in everything:
        if not names or plugin.name in names:
            yield kind, plugin, reason
