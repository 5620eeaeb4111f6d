"""``harness report``, ``harness plot`` and ``harness table``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options

__all__ = ["plot_command", "report_command", "table_command"]

KINDS = ("tradeoff", "ndcg-over-k", "distribution", "differences", "spread")

_baseline = click.option(
    "--baseline", metavar="LABEL", help="The algorithm that the others are compared with."
)


@click.command("report")
@options.runs
@options.results
@_baseline
@options.anyway
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file; by default report.html in the run's folder, comparison.html for several runs.",
)
def report_command(
    runs: tuple[str, ...], results: Path, baseline: str | None, anyway: bool, output: Path | None
) -> int:
    """Write a page about a run, or about several runs.

    RUN is a folder, or the name of a run in the results folder. The page is one file that loads
    nothing from elsewhere; index.html beside the runs lists them all.
    """
    from harness.cli.screen import say
    from harness.report import write_index, write_page

    opened = options.opened(runs, results)
    path = output
    if path is None and len(opened) == 1:
        path = (opened[0].folder or results / opened[0].name) / "report.html"
    written = write_page(
        opened, path or results / "comparison.html", baseline=baseline, anyway=anyway
    )
    say(f"written to {written}")
    if output is None:
        folders = {run.folder.parent for run in opened if run.folder is not None}
        for folder in sorted(folders):
            say(f"written to {write_index(folder)}")
    return 0


@click.command("plot")
@options.runs
@options.results
@_baseline
@options.anyway
@click.option(
    "--kind",
    "kinds",
    type=click.Choice((*KINDS, "all")),
    multiple=True,
    default=("all",),
    show_default=True,
    help="Kind of plot; can be repeated.",
)
@click.option(
    "--metric", metavar="LABEL", help="Metric to plot; by default ndcg@10 or the nearest one."
)
@click.option("--table", "place", type=int, help="Which table of the run, from 1; by default all.")
@click.option(
    "--format", "form", type=click.Choice(["png", "svg"]), default="svg", show_default=True
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the files; by default plots in the run's folder.",
)
def plot_command(
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
    from harness.cli.screen import say
    from harness.errors import ResultsError
    from harness.report import join, plots
    from harness.report.summary import summarise

    summary = summarise(join(options.opened(runs, results), anyway=anyway), baseline=baseline)
    folder = output or (summary.run.folder or results) / "plots"
    chosen = KINDS if "all" in kinds else kinds
    label = summary.metric(metric)
    written, missing = 0, []
    for number in range(1, len(summary.tables) + 1) if place is None else [place]:
        title = summary.table(number).title
        for kind in dict.fromkeys(chosen):
            try:
                path = plots.KINDS[kind].write(summary, label, number, form, folder)
                say(f"written to {path}")
                written += 1
            except ResultsError as error:
                if kind in kinds or isinstance(error.__context__, OSError):
                    raise  # it was asked for, or it cannot be written
                missing.append(f"no {kind} of {title}: {error}")
    if not written:
        raise ResultsError("\n".join(missing))
    for reason in missing:
        say(reason, err=True)
    return 0


@click.command("table")
@options.runs
@options.results
@options.anyway
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "csv", "latex"]),
    default="text",
    show_default=True,
)
def table_command(runs: tuple[str, ...], results: Path, anyway: bool, form: str) -> int:
    """Print the table of a run, or of several runs together."""
    from harness.cli.screen import say, show_run
    from harness.report import join, latex
    from harness.results.runs import to_csv, to_markdown

    run = join(options.opened(runs, results), anyway=anyway)
    if form == "text":
        show_run(run)
    else:
        forms = {"csv": to_csv, "markdown": to_markdown}
        text = latex(run) if form == "latex" else forms[form](run.info)
        say(text.removesuffix("\n"), whole=True)
    return 0
