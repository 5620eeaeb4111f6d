"""The words that a shell completes: names of configs, runs and plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from harness import plugins

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def configs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the configs of the package and the YAML files here; elsewhere the shell looks."""
    from harness.config.files import bundled

    files = (path.name for pattern in ("*.yaml", "*.yml") for path in Path().glob(pattern))
    return _or_files([*sorted(files), *bundled()], incomplete)


def runs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the runs in the folder of `--results`, or by default in `runs`."""
    from harness.results.reading import find_runs

    folder = Path(context.params.get("results") or "runs")
    return _or_files([run.name for run in find_runs(folder)], incomplete)


def datasets(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the names of data sets; elsewhere the shell looks for files."""
    return _or_files(sorted(plugins.names("datasets")), incomplete)


def configs_and_runs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the runs and the configs."""
    items = runs(context, parameter, incomplete) + configs(context, parameter, incomplete)
    names = [item for item in items if item.type == "plain"]
    return names or items[:1]


def of_kind(kind: str) -> Completion:
    """Return what completes the names of plug-ins of a kind, the last one of a list with commas."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        names = sorted(plugins.names(kind))
        return [CompletionItem(before + comma + name) for name in names if _begins(name, last)]

    return complete


def _or_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin so, or where there are none what asks the shell for files."""
    items = [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


def _begins(name: str, incomplete: str) -> bool:
    return name.casefold().startswith(incomplete.casefold())
