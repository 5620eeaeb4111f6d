"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from harness.results.runs import Run

__all__ = ["anyway", "configs", "opened", "overrides", "results", "runs"]

RESULTS = Path("runs")

configs = click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...")
results = click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    default=RESULTS,
    show_default=True,
    help="Folder of the runs; each run has its own folder in it.",
)
anyway = click.option(
    "--anyway", is_flag=True, help="Show runs that cannot be compared, with a note that says why."
)
overrides = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="Override a key of the config, for example split.test_size=0.1; can be repeated.",
)


def opened(runs: tuple[str, ...], results: Path) -> list[Run]:
    """Return runs by their folders or, within `results`, by their names."""
    from harness.results.runs import open_run

    return [open_run(name, results) for name in runs]
