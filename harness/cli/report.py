"""``harness report``: a page about one or several runs."""

from __future__ import annotations

from pathlib import Path

import click

from harness.console import options
from harness.console.command import command
from harness.console.screen import say_written
from harness.report import write_index, write_page


@command("report quickstart", "report quickstart my-run -o both.html", group="Look at results")
@options.runs
@options.results
@options.baseline
@options.anyway
@click.option(
    "-o",
    "--output",
    type=options.output,
    help="The file; by default report.html in the run's folder, comparison.html for several runs.",
)
@options.force
def report(
    runs: tuple[str, ...], results: Path, baseline: str | None, anyway: bool, output: Path | None
) -> int:
    """Write a page about a run, or about several runs.

    RUN is a folder, or the name of a run in the results folder. The page is one file that loads
    nothing from elsewhere; index.html beside the runs lists them all.
    """
    opened = options.opened(runs, results)
    path = results / "comparison.html"
    if len(opened) == 1:
        path = (opened[0].folder or results / opened[0].name) / "report.html"
    path = options.page(output, path)
    say_written(write_page(opened, path, baseline=baseline, anyway=anyway))
    if output is None:
        for folder in sorted({run.folder.parent for run in opened if run.folder is not None}):
            say_written(write_index(folder))
    return 0
