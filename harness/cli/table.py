"""``harness table``: the table of one or several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from harness._util.files import write_output
from harness._util.names import meant
from harness.console import options
from harness.console import options as words
from harness.console import screen as table_columns
from harness.console.command import command
from harness.console.screen import say, say_written
from harness.console.tables import narrow, print_run, show_groups, titles_of, with_columns
from harness.errors import HarnessError, ResultsError, joined
from harness.metrics import parse
from harness.plugins import registry as plugins
from harness.report import join
from harness.report.papers import latex_of_sets
from harness.results.table import (
    analysis_table,
    fold_frame,
    fold_tables,
    frame_to_csv,
    group_tables,
    table_latex,
    training_frame,
    training_tables,
)
from harness.results.views import html_of_tables
from harness.results.workbook import write_workbook

if TYPE_CHECKING:
    import pandas as pd

    from harness.results import Run
    from harness.results.table import TextTable


ENDINGS = {
    ".csv": "csv",
    ".md": "markdown",
    ".html": "html",
    ".tex": "latex",
    ".xlsx": "excel",
}
"""The form of a file by its ending."""


@command("table quickstart", "table quickstart -o table.tex", group="Look at results")
@options.runs
@options.results
@options.anyway
@options.formats(*options.TABLES)
@table_columns.option
@click.option(
    "-o",
    "--output",
    type=options.output,
    help=f"A file, in the form of its ending: {', '.join(ENDINGS)}; by default it is printed.",
)
@options.force
@click.option(
    "--metrics",
    metavar="LABEL,...",
    shell_complete=words.of_kind("metrics"),
    help="Only these metrics, in this order; with --columns, in front of those columns.",
)
@click.option(
    "--algorithms",
    metavar="NAME,...",
    help="Only these rows; letters and intervals do not change.",
)
@click.option(
    "--together",
    is_flag=True,
    help="With --format latex: one table of several data sets, side by side.",
)
@click.option("--groups", is_flag=True, help="The values in groups of users and items.")
@click.option("--folds", is_flag=True, help="The values of each fold and seed.")
@click.option("--training", is_flag=True, help="Also the values on the training set.")
@click.option("--analysis", metavar="NAME", help="The table of an analysis, for example overlap.")
@click.option("--shares", is_flag=True, help="The values by proportion of the training ratings.")
@click.option(
    "--metric",
    shell_complete=words.of_kind("metrics"),
    metavar="LABEL",
    help="With --groups or --shares: by default the headline metric.",
)
def table(
    runs: tuple[str, ...],
    results: Path,
    anyway: bool,
    form: str,
    columns: str | None,
    output: Path | None,
    metrics: str | None,
    algorithms: str | None,
    together: bool,
    groups: bool,
    folds: bool,
    training: bool,
    analysis: str | None,
    shares: bool,
    metric: str | None,
) -> int:
    """Print the table of a run, or of several runs together, or write it to a file.

    --groups shows groups of users and items; as CSV, for all metrics. --folds shows the values of
    each fold and seed. --training shows the values on the training set, if the run has `outputs:
    {training: true}`. --analysis shows the table of an analysis that the config names. --shares
    shows the learning curves of a run with `training_shares`. --together puts several data sets
    into one table for a paper.
    """
    form = form if output is None else form_of(output, form)
    opened = narrow(options.opened(runs, results), metrics, algorithms)
    if metrics is not None and columns is not None:
        columns = f"{metrics},{columns}"
    parts = {
        "--groups": groups, "--folds": folds, "--training": training, "--shares": shares,
        "--analysis": analysis is not None, "--together": together,
    }  # fmt: skip
    chosen = [option for option, is_chosen in parts.items() if is_chosen]
    is_other = columns is not None and bool(chosen) and not together
    alone = [*(["--columns"] if is_other else []), *chosen]
    if len(alone) > 1:
        raise HarnessError(f"{alone[0]}: is not for {alone[1]}; leave one of them out")
    if metric is not None and chosen not in (["--groups"], ["--shares"]):
        raise HarnessError("--metric: needs --groups or --shares; add one, or leave the option out")
    if chosen and not together and len(opened) > 1:
        raise ResultsError(f"{chosen[0]}: shows one run at a time; name one run")
    if not chosen:
        run = join(opened, anyway=anyway)
        if output is None:
            print_run(run, form, columns)
        elif columns is not None and form in ("markdown", "csv", "latex"):
            _show(with_columns(run, form, columns), output)
        elif columns is not None:
            raise HarnessError(
                "--columns: not for this form; write .md, .csv or .tex, or leave it out"
            )
        else:
            WRITERS[form](run, output)
            say_written(output)
        return 0
    if together:
        if form != "latex":
            raise HarnessError("--together: needs --format latex; add it")

        _show(latex_of_sets(opened, columns=titles_of(opened, columns)), output)
        return 0

    run = opened[0]
    if analysis is not None:
        shown = analysis_shown(run, analysis)
    elif shares:
        shown = shares_shown(run, metric)
    elif groups:
        shown = groups_shown(run, metric)
    elif training:
        shown = Shown(
            lambda: training_frame(run.info).drop(columns="table"),
            lambda: training_tables(run.info),
        )
    else:
        shown = Shown(lambda: fold_frame(run.info), lambda: fold_tables(run.info))
    show(shown, form, output)
    return 0


def form_of(path: Path, form: str) -> str:
    """Return the form of a file by its ending; another one that was asked for is refused."""
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        hint = meant("forms", path.suffix.removeprefix("."), ENDINGS.values())
        said = f"use {hint}" if hint else f"use one of {', '.join(ENDINGS)}"
        raise ResultsError(f"--output {path}: the ending says the form; {said}")
    if options.in_the_call("form") and form != found:
        raise ResultsError(f"--format {form}: {path} is {found}; leave one of them out")
    return found


WRITERS: dict[str, Callable[[Run, Path], object]] = {
    "csv": lambda run, path: run.to_csv(path),
    "markdown": lambda run, path: run.to_markdown(path),
    "html": lambda run, path: run.to_html(path),
    "latex": lambda run, path: run.to_latex(path),
    "excel": lambda run, path: run.to_excel(path),
}
"""What writes the table of a run, by its form."""


class Shown(NamedTuple):
    """The output for a run: all its numbers, and the tables that people read."""

    frame: Callable[[], pd.DataFrame]
    tables: Callable[[], Sequence[TextTable]]


def shares_shown(run: Run, label: str | None) -> Shown:
    """Return the learning curves of a run."""
    return Shown(
        lambda: plugins.hook("curve-frame")(run.info, label),
        lambda: plugins.hook("curve-tables")(run, label),
    )


def analysis_shown(run: Run, name: str) -> Shown:
    """Return the table of an analysis."""
    if name not in run.analyses:
        known = f"use {joined(run.analyses, 'or')}, or" if run.analyses else "it has none;"
        raise ResultsError(
            f"{run.name}: no table of an analysis {name!r}; {known} add it to `analyses` in the "
            "config and run it again"
        )
    own = run.info.analyses[name]
    return Shown(
        lambda: run.analyses[name],
        lambda: [analysis_table(own.title or name, own.frame, own.caption)],
    )


def groups_shown(run: Run, label: str | None) -> Shown:
    """Return the values of the groups of a run."""
    tables = group_tables(run.info, label)
    if not tables:
        raise ResultsError(f"{run.name}: no groups; add `groups` to its config and run it again")

    def frame() -> pd.DataFrame:
        values = run.groups
        return values if label is None else values[values["metric"] == str(parse(label))]

    return Shown(frame, lambda: tables)


def show(shown: Shown, form: str, output: Path | None) -> None:
    """Print what is shown of a run in a form, or write it to a file."""
    if form == "text":
        for table in shown.tables():
            show_groups(table)
    elif form == "excel" and output is not None:
        write_workbook(output, {"table": shown.frame()})
        say_written(output)
    elif form == "csv":
        _show(frame_to_csv(shown.frame(), "%.8f"), output)
    elif form == "html":
        _show(html_of_tables(shown.tables()), output)
    elif form == "latex":
        _show("\n".join(map(table_latex, shown.tables())), output)
    else:
        _show("\n".join(table.markdown for table in shown.tables()), output)


def _show(text: str, output: Path | None) -> None:
    if output is None:
        say(text.removesuffix("\n"), is_data=True)
    else:
        write_output(output, text)
        say_written(output)
