"""``harness compare`` and ``harness list``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

__all__ = ["compare_command", "list_command"]

Listing = tuple[list[str], list[list[str]], list[str]]
"""Columns, rows, and the columns that hold words."""

_results = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder that holds the runs.",
)


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_results
@click.option("--anyway", is_flag=True, help="Show runs that cannot be compared, and say so.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page's file; by default comparison.html in the results folder.",
)
def compare_command(runs: tuple[str, ...], results: Path, anyway: bool, output: Path | None) -> int:
    """Put several runs into one table and one page.

    RUN is a folder, or the name of a run in the results folder. Runs on other data, another split
    or other candidates are refused. The page is that of `harness report`, with all of them in it.
    """
    from harness.cli.screen import show_run
    from harness.report import join, write_page
    from harness.results.cells import CellStore
    from harness.results.compare import open_run
    from harness.results.conventions import with_redefinitions

    store = CellStore.default()
    opened = [with_redefinitions(open_run(name, results), store) for name in runs]
    joined = join(opened, anyway=anyway)
    show_run(joined)
    path = output or results / "comparison.html"
    click.echo(f"\nwritten to {write_page(opened, path, joined=joined)}")
    return 0


@click.command("list")
@click.argument("what", type=click.Choice(["algorithms", "datasets", "metrics", "runs", "configs"]))
@_results
def list_command(what: str, results: Path) -> int:
    """List what there is to choose from."""
    from harness.cli.screen import show_table

    listings: dict[str, Callable[[], Listing]] = {
        "algorithms": _algorithms,
        "datasets": _datasets,
        "metrics": _metrics,
        "configs": _configs,
        "runs": lambda: _runs(results),
    }
    columns, rows, left = listings[what]()
    if rows:
        show_table(columns, rows, left)
    else:
        click.echo(f"no {what} here")
    return 0


def _algorithms() -> Listing:
    from harness.algorithms import registry

    columns = ["algorithm", "what it does", "parameters"]
    rows = [
        [
            info.name,
            info.summary,
            ", ".join(f"{name}={value!r}" for name, value in info.params.items()) or "none",
        ]
        for info in registry.describe()
    ]
    return columns, rows, columns


def _datasets() -> Listing:
    from harness import datasets

    columns = ["dataset", "ratings", "users", "items", "scale", "here", "licence"]
    rows = [
        [
            each.name,
            f"{each.n_ratings:,}" if each.n_ratings else "as asked",
            f"{each.n_users:,}" if each.n_users else "",
            f"{each.n_items:,}" if each.n_items else "",
            "{:g} to {:g}".format(*each.scale) if each.scale else "",
            "yes" if each.present else "no",
            each.licence,
        ]
        for each in datasets.available()
    ]
    return columns, rows, ["dataset", "scale", "here", "licence"]


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
    return columns, rows, columns


def _configs() -> Listing:
    from harness.config.document import read

    rows = []
    for path in sorted(Path("configs").glob("*.yaml")):
        description = " ".join(str(read(path).data.get("description", "")).split())
        rows.append([path.as_posix(), description])
    return ["config", "what it asks"], rows, ["config", "what it asks"]


def _runs(results: Path) -> Listing:
    from harness.results.run import find_runs, read_run

    rows = []
    for folder in find_runs(results):
        info = read_run(folder).info
        failed = sum(bool(cell.get("error")) for cell in info["cells"])
        rows.append(
            [
                info["name"],
                info["started"].replace("T", " ")[:16],
                ", ".join(each["name"] for each in info["datasets"]),
                str(len({cell["algorithm"] for cell in info["cells"]})),
                str(failed),
                ", ".join(info["metrics"]),
            ]
        )
    return (
        ["run", "made", "data", "algorithms", "failed cells", "metrics"],
        rows,
        ["run", "made", "data", "metrics"],
    )
