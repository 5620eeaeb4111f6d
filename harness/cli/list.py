"""``harness list``: algorithms, data sets, metrics, runs and configs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

import harness.config
import harness.results
from harness import datasets
from harness.algorithms import registry
from harness.algorithms.sources import sources
from harness.console import options
from harness.console.command import command
from harness.console.screen import say, show_table
from harness.errors import HarnessError, ResultsError, suggestion
from harness.plugins import registry as plugins

NUMBERS = frozenset({"ratings", "users", "items", "algorithms", "failed cells"})
"""Columns that are aligned to the right."""
SUBJECTS = ("algorithms", "libraries", "datasets", "metrics", "runs", "configs", "plugins")


@command("list algorithms", "list plugins --check", group="Start here", name="list")
@click.argument("subject", type=options.Choice(SUBJECTS, "things"))
@click.argument("names", metavar="[NAME]...", nargs=-1)
@options.results
@click.option(
    "--all", "every", is_flag=True, help="With plugins: include the plug-ins of this package."
)
@click.option(
    "--check",
    "checks",
    is_flag=True,
    help="With plugins: try all, or the named ones, on small random data, and report problems.",
)
def list_(subject: str, names: tuple[str, ...], results: Path, every: bool, checks: bool) -> int:
    """List algorithms, models of other libraries, data sets, metrics, runs, configs or plugins.

    Names choose some of them. `harness list plugins` imports each plug-in to test whether it is
    usable. With --check, the exit code is 1 if a plug-in has a problem.
    """
    if subject == "plugins":
        from harness.console.plugin_list import check, show  # which imports every kind

        return check(names) if checks else show(names, every=every)
    if every or checks:
        raise HarnessError("--all, --check: need `list plugins`; leave them out")
    notes: list[str] = []
    listings: dict[str, Callable[[], Iterator[list[str]]]] = {
        "algorithms": _algorithms,
        "libraries": _libraries,
        "datasets": _datasets,
        "metrics": _metrics,
        "configs": _configs,
        "runs": lambda: _runs(results, notes),
    }
    columns, *rows = listings[subject]()
    if names and rows:
        rows = [*_named(names, rows, subject)]
    if rows:
        show_table(columns, rows, set(columns) - NUMBERS)
    else:
        say(f"no {subject} here")
    for note in notes:
        say(f"note: {note}")
    return 0


def _named(names: Iterable[str], rows: list[list[str]], subject: str) -> Iterator[list[str]]:
    """Yield the rows of some names; a HarnessError where a name is in none of them."""
    for name in dict.fromkeys(names):
        named = [row for row in rows if name in row[0].split(" or ")]
        if not named:
            known = [known for row in rows for known in row[0].split(" or ")]
            raise HarnessError(f"{name!r}: not among the {subject}; {suggestion(name, known)}")
        yield from named


def _algorithms() -> Iterator[list[str]]:
    yield ["algorithm", "what it does", "parameters"]
    for entry in registry.algorithms().values():
        parameters = [f"{name}={value!r}" for name, value in entry.parameters().items()]
        summary = _with_origin("algorithms", entry.name, entry.summary)
        yield [entry.name, summary, ", ".join(parameters) or "none"]


def _libraries() -> Iterator[list[str]]:
    yield ["library", "model", "scores", "parameters"]
    for source in dict.fromkeys(sources().values()):
        for model in source.models():
            yield [model[column] for column in ("library", "model", "scores", "parameters")]


def _datasets() -> Iterator[list[str]]:
    yield ["dataset", "ratings", "users", "items", "scale", "here", "licence"]
    for source in datasets.available():
        yield [
            f"{source.name} or {source.alias}" if source.alias else source.name,
            f"{source.n_ratings:,}" if source.n_ratings else "as asked",
            f"{source.n_users:,}" if source.n_users else "",
            f"{source.n_items:,}" if source.n_items else "",
            "{:g} to {:g}".format(*source.scale) if source.scale else "",
            "yes" if source.is_here() else "no",
            source.licence,
        ]
    for plugin, reason in plugins.declared("datasets"):
        if not plugin.is_builtin:
            yield [plugin.name, "", "", "", "", "", reason or f"of {plugin.origin}"]


def _metrics() -> Iterator[list[str]]:
    yield ["metric", "what it measures", "range", "source"]
    for metric in harness.metrics.describe():
        summary = _with_origin("metrics", metric.name, metric.summary)
        yield [metric.name, summary, "{:g} to {:g}".format(*metric.range), metric.source]


def _with_origin(kind: str, name: str, summary: str) -> str:
    """Return what a plug-in is, with the package that it is from if it is not this one."""
    origin = plugins.foreign_origin(kind, name)
    return f"{summary} (from {origin})" if origin else summary


def _configs() -> Iterator[list[str]]:
    yield ["config", "what it answers"]
    for name, path in harness.config.bundled().items():
        yield [name, " ".join(str(harness.config.read(path).data.get("description", "")).split())]


def _runs(results: Path, notes: list[str]) -> Iterator[list[str]]:
    yield ["run", "made", "data", "algorithms", "failed cells", "metrics"]
    for folder in harness.results.find_runs(results):
        try:
            info = harness.results.read_run(folder).info
        except ResultsError as error:
            yield [folder.name, "cannot be read", "", "", "", ""]
            notes.append(str(error))
            continue
        yield [
            folder.name,
            info.started.replace("T", " ")[:16],
            ", ".join(dataset.name for dataset in info.datasets),
            str(len(info.algorithms)),
            str(len(info.failed)),
            ", ".join(info.metrics),
        ]
