"""``harness table``: the table of one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.console import options
from harness.console import options as words
from harness.console import screen as table_columns
from harness.console.command import command
from harness.console.screen import say
from harness.console.tables import narrow, print_run, show_groups, titles_of
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

if TYPE_CHECKING:
    import pandas as pd

    from harness.results import Run
    from harness.results.table import TextTable


@command("table quickstart", "table quickstart --format latex", group="Look at results")
@options.runs
@options.results
@options.anyway
@options.formats(*options.TABLES)
@table_columns.option
@click.option(
    "--metrics",
    metavar="LABEL,...",
    shell_complete=words.of_kind("metrics"),
    help="Only these metrics, in this order; with --columns, in front of those columns.",
)
@click.option(
    "--algorithms",
    metavar="NAME,...",
    help="Only these rows; letters and intervals stay those of all rows.",
)
@click.option(
    "--together",
    is_flag=True,
    help="With --format latex: one table of several data sets, side by side.",
)
@click.option("--groups", is_flag=True, help="The values in groups of users and items.")
@click.option("--folds", is_flag=True, help="The values of each fold and seed.")
@click.option("--training", is_flag=True, help="The values of the training part too.")
@click.option("--analysis", metavar="NAME", help="The table of an analysis, as overlap.")
@click.option("--shares", is_flag=True, help="The values by share of the training ratings.")
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
    """Print the table of a run, or of several runs together.

    With --groups, the tables of a run by groups of its users and items; as CSV, of all metrics.
    With --folds, the values of which the table of a run shows the mean; with --training, those of
    the training part of a run with `outputs: {training: true}`. With --analysis, the table of an
    analysis that the config names. With --shares, the learning curves of a run with
    `training_shares`. With --together, runs of different data sets, or a run of several, become
    one table for a paper.
    """
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
        print_run(join(opened, anyway=anyway), form, columns)
        return 0
    if together:
        if form != "latex":
            raise HarnessError("--together: needs --format latex; add it")

        say(
            latex_of_sets(opened, columns=titles_of(opened, columns)).removesuffix("\n"),
            is_data=True,
        )
        return 0

    if analysis is not None:
        show_analysis(opened[0], form, analysis)
    elif shares:
        show_shares(opened[0], form, metric)
    elif groups:
        show_parts(opened[0], form, metric)
    elif training:
        show_training(opened[0], form)
    else:
        show_folds(opened[0], form)
    return 0


def show_folds(run: Run, form: str) -> None:
    """Print the values of each cell of a run."""
    if form == "csv":
        _print_csv(fold_frame(run.info))
    else:
        _print(fold_tables(run.info), form)


def show_training(run: Run, form: str) -> None:
    """Print the values of the training part beside those of the test part."""
    if form == "csv":
        _print_csv(training_frame(run.info).drop(columns="table"))
    else:
        _print(training_tables(run.info), form)


def show_shares(run: Run, form: str, label: str | None) -> None:
    """Print the learning curves of a run."""
    if form == "csv":
        _print_csv(plugins.hook("curve-frame")(run.info, label))
    else:
        _print(plugins.hook("curve-tables")(run, label), form)


def show_analysis(run: Run, form: str, name: str) -> None:
    """Print the table of an analysis."""
    if name not in run.analyses:
        known = f"use {joined(run.analyses, 'or')}, or" if run.analyses else "it has none;"
        raise ResultsError(
            f"{run.name}: no table of an analysis {name!r}; {known} add it to `analyses` in the "
            "config and run it again"
        )
    if form == "csv":
        _print_csv(run.analyses[name])
    else:
        own = run.info.analyses[name]
        _print([analysis_table(own.title or name, own.frame, own.caption)], form)


def show_parts(run: Run, form: str, label: str | None) -> None:
    """Print the tables of the groups of a run."""
    tables = group_tables(run.info, label)
    if not tables:
        raise ResultsError(f"{run.name}: no groups; add `groups` to its config and run it again")
    if form != "csv":
        _print(tables, form)
        return
    values = run.groups
    if label is not None:
        values = values[values["metric"] == str(parse(label))]
    _print_csv(values)


def _print(tables: Sequence[TextTable], form: str) -> None:
    """Print tables as text, Markdown or LaTeX."""
    if form == "text":
        for table in tables:
            show_groups(table)
        return
    if form == "latex":
        texts = [table_latex(table) for table in tables]
    else:
        texts = [table.markdown for table in tables]
    say("\n".join(texts).removesuffix("\n"), is_data=True)


def _print_csv(frame: pd.DataFrame) -> None:
    say(frame_to_csv(frame, "%.8f").removesuffix("\n"), is_data=True)
