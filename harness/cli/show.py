"""``harness compare`` and ``harness list``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from harness.cli import options

__all__ = ["compare_command", "list_command"]


class Listing(NamedTuple):
    """A table with notes below it.

    Parameters
    ----------
    columns : list of str
    rows : list of list of str
    words : list of str
        The columns that hold words.
    notes : list of str
    """

    columns: list[str]
    rows: list[list[str]]
    words: list[str]
    notes: Sequence[str] = ()


@click.command("compare")
@options.runs
@options.results
@options.anyway
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page's file; by default comparison.html in the results folder.",
)
def compare_command(runs: tuple[str, ...], results: Path, anyway: bool, output: Path | None) -> int:
    """Put several runs into one table and one page.

    RUN is a folder, or the name of a run in the results folder. Runs on other data, another split
    or other candidates are refused. The page is that of `harness report`, for all of them.
    """
    from harness.cli.screen import say, show_run
    from harness.report import join, write_page

    opened = options.opened(runs, results)
    joined = join(opened, anyway=anyway)
    show_run(joined)
    path = output or results / "comparison.html"
    say(f"\nwritten to {write_page(opened, path, joined=joined)}")
    return 0


@click.command("list")
@click.argument("what", type=click.Choice(["algorithms", "datasets", "metrics", "runs", "configs"]))
@options.results
def list_command(what: str, results: Path) -> int:
    """List algorithms, data sets, metrics, runs or configs."""
    from harness.cli.screen import say, show_table

    listings: dict[str, Callable[[], Listing]] = {
        "algorithms": _algorithms,
        "datasets": _datasets,
        "metrics": _metrics,
        "configs": _configs,
        "runs": lambda: _runs(results),
    }
    listing = listings[what]()
    if listing.rows:
        show_table(listing.columns, listing.rows, listing.words)
    else:
        say(f"no {what} here")
    for note in listing.notes:
        say(f"note: {note}")
    return 0


def _algorithms() -> Listing:
    from harness.algorithms import registry

    columns = ["algorithm", "what it does", "parameters"]
    rows = [
        [
            entry.name,
            entry.summary,
            ", ".join(f"{name}={value!r}" for name, value in entry.parameters().items()) or "none",
        ]
        for entry in registry.algorithms().values()
    ]
    return Listing(columns, rows, columns)


def _datasets() -> Listing:
    from harness import datasets

    columns = ["dataset", "ratings", "users", "items", "scale", "here", "licence"]
    rows = [
        [
            f"{each.name} or {each.alias}" if each.alias else each.name,
            f"{each.n_ratings:,}" if each.n_ratings else "as asked",
            f"{each.n_users:,}" if each.n_users else "",
            f"{each.n_items:,}" if each.n_items else "",
            "{:g} to {:g}".format(*each.scale) if each.scale else "",
            "yes" if each.is_here() else "no",
            each.licence,
        ]
        for each in datasets.available()
    ]
    return Listing(columns, rows, ["dataset", "scale", "here", "licence"])


def _metrics() -> Listing:
    from harness import metrics

    columns = ["metric", "what it measures", "range", "source"]
    rows = [
        [
            each.name,
            each.summary,
            f"{each.range[0]:g} to {each.range[1]:g}",
            each.source,
        ]
        for each in metrics.describe()
    ]
    return Listing(columns, rows, columns)


def _configs() -> Listing:
    from harness.config.load import bundled, read

    rows = [
        [name, " ".join(str(read(path).data.get("description", "")).split())]
        for name, path in bundled().items()
    ]
    columns = ["config", "what it answers"]
    return Listing(columns, rows, columns)


def _runs(results: Path) -> Listing:
    from harness.errors import ResultsError
    from harness.results.runs import find_runs, read_run

    rows, notes = [], []
    for folder in find_runs(results):
        try:
            info = read_run(folder).info
        except ResultsError as error:
            rows.append([folder.name, "cannot be read", "", "", "", ""])
            notes.append(str(error))
            continue
        rows.append(
            [
                info.name,
                info.started.replace("T", " ")[:16],
                ", ".join(each.name for each in info.datasets),
                str(len(info.algorithms)),
                str(len(info.failed)),
                ", ".join(info.metrics),
            ]
        )
    columns = ["run", "made", "data", "algorithms", "failed cells", "metrics"]
    return Listing(columns, rows, ["run", "made", "data", "metrics"], notes)
