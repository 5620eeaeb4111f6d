"""``harness plot``: plots of runs as files."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness._util.files import FORMS
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import say, say_written
from harness.errors import ResultsError
from harness.plugins import registry as plugins
from harness.report import join, plots
from harness.report.summary import summarise

if TYPE_CHECKING:
    from harness.report.drawing import Plot


@command(
    "plot quickstart",
    "plot quickstart --kind tradeoff --format png -o figures",
    group="Look at results",
)
@options.runs
@options.results
@options.baseline
@options.anyway
@click.option(
    "--kind",
    "kinds",
    type=options.Choice((*plugins.names("plots"), "all")),
    multiple=True,
    default=("all",),
    show_default=True,
    help="Kind of plot; can be repeated.",
)
@click.option(
    "--metric",
    shell_complete=words.of_kind("metrics"),
    metavar="LABEL",
    help="The plotted metric; by default the headline metric.",
)
@click.option("--table", "place", type=int, help="Which table of the run, from 1; by default all.")
@options.formats("svg", "png")
@click.option(
    "-o",
    "--output",
    type=options.folder,
    help="Folder for the files; by default plots in the run's folder.",
)
@options.force
def plot(
    runs: tuple[str, ...],
    results: Path,
    baseline: str | None,
    anyway: bool,
    kinds: tuple[str, ...],
    metric: str | None,
    place: int | None,
    form: str,
    output: Path | None,
) -> int:
    """Draw plots of a run, or of several runs together.

    Each plot is one file; for a run with several tables, its name contains the table.
    """
    summary = summarise(join(options.opened(runs, results), anyway=anyway), baseline=baseline)
    if output and output.suffix.lower() in FORMS and not output.is_dir():
        advice = "name a folder, and use --format svg or png"
        raise ResultsError(f"{output}: plots are files in a folder; {advice}")
    folder = output or (summary.run.folder or results) / "plots"
    label = summary.metric(metric)
    numbers = range(1, len(summary.tables) + 1) if place is None else [place]
    usable = plots.kinds()
    chosen = usable if "all" in kinds else dict.fromkeys(kinds)
    drawn: list[Plot] = []
    missing: dict[str, list[str]] = {}
    for number, kind in itertools.product(numbers, chosen):
        title = summary.table(number).title
        try:
            drawn += usable[kind].each(summary, label, number)
        except ResultsError as error:
            is_last = number == numbers[-1]
            if kind in kinds and is_last and not any(plot.name == kind for plot in drawn):
                raise  # it was asked for, and no table has it
            missing.setdefault(kind, []).append(f"no {kind} of {title}: {error}")
    if not drawn:
        raise ResultsError("\n".join(itertools.chain(*missing.values())))
    for drawing in drawn if output else ():
        options.unused(drawing.path(form, folder))
    for drawing in drawn:
        say_written(drawing.write(form, folder))
    for kind, reasons in missing.items():
        for reason in () if usable[kind].is_optional else reasons:
            say(reason, err=True)
    return 0
