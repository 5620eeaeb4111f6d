"""``harness table``: the table of one or several runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli import options, table_columns, words
from harness.cli.command import command
from harness.cli.screen import print_run, say, show_groups
from harness.errors import HarnessError, ResultsError

if TYPE_CHECKING:
    from harness.results import Run


@command("table quickstart", "table quickstart --format latex")
@options.runs
@options.results
@options.anyway
@options.formats(*options.TABLES)
@table_columns.option
@click.option(
    "--together",
    is_flag=True,
    help="With --format latex: one table of several data sets, side by side.",
)
@click.option("--groups", is_flag=True, help="The values in groups of users and items.")
@click.option("--folds", is_flag=True, help="The values of each fold and seed.")
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
    together: bool,
    groups: bool,
    folds: bool,
    shares: bool,
    metric: str | None,
) -> int:
    """Print the table of a run, or of several runs together.

    With --groups, the tables of a run by groups of its users and items; as CSV, of all metrics.
    With --folds, the values of which the table of a run shows the mean. With --shares, the
    learning curves of a run with `training_shares`. With --together, runs of different data sets,
    or a run of several, become one table for a paper.
    """
    from harness.report import join

    opened = options.opened(runs, results)
    if together:
        if (
            form != "latex"
            or groups
            or folds
            or shares
            or metric is not None
            or columns is not None
        ):
            raise HarnessError("--together: needs --format latex and no other choice; add it")
        from harness.report.latex_of_sets import latex_of_sets

        say(latex_of_sets(opened).removesuffix("\n"), is_data=True)
        return 0
    if shares:
        if groups or folds or columns is not None:
            raise HarnessError(
                "--shares: is not for --groups, --folds or --columns; leave them out"
            )
        return _show_shares(opened, form, metric)
    if folds:
        if groups or columns is not None or metric is not None:
            raise HarnessError(
                "--folds: is not for --groups, --columns or --metric; leave them out"
            )
        return _show_folds(opened, form)
    if groups:
        if columns is not None:
            raise HarnessError("--columns: is not for --groups; leave one of them out")
        return _show_groups(opened, form, metric)
    if metric is not None:
        raise HarnessError("--metric: needs --groups or --shares; add one, or leave the option out")
    print_run(join(opened, anyway=anyway), form, columns)
    return 0


def _show_folds(runs: list[Run], form: str) -> int:
    """Print the values of each cell of a run."""
    from harness.results.display import frame_to_csv
    from harness.results.fold_tables import fold_frame, fold_tables

    if len(runs) > 1:
        raise ResultsError("--folds: the folds of one run at a time; name one run")
    (run,) = runs
    if form == "csv":
        say(frame_to_csv(fold_frame(run.info), "%.8f").removesuffix("\n"), is_data=True)
        return 0
    tables = fold_tables(run.info)
    if form == "text":
        for values in tables:
            show_groups(values)
    else:
        texts = (values.latex if form == "latex" else values.markdown for values in tables)
        say("\n".join(texts).removesuffix("\n"), is_data=True)
    return 0


def _show_shares(runs: list[Run], form: str, label: str | None) -> int:
    """Print the learning curves of a run."""
    from harness.comparison.learning import curve_frame
    from harness.comparison.learning_tables import curve_tables
    from harness.results.display import frame_to_csv

    if len(runs) > 1:
        raise ResultsError("--shares: the curves of one run at a time; name one run")
    (run,) = runs
    if form == "csv":
        frame = curve_frame(run.info, label)
        say(frame_to_csv(frame, "%.8f").removesuffix("\n"), is_data=True)
        return 0
    tables = curve_tables(run, label)
    if form == "text":
        for values in tables:
            show_groups(values)
    else:
        texts = (values.latex if form == "latex" else values.markdown for values in tables)
        say("\n".join(texts).removesuffix("\n"), is_data=True)
    return 0


def _show_groups(runs: list[Run], form: str, label: str | None) -> int:
    """Print the groups of a run."""
    from harness import metrics
    from harness.results.display import frame_to_csv
    from harness.results.group_tables import group_tables

    if len(runs) > 1:
        raise ResultsError("--groups: the groups of one run at a time; name one run")
    (run,) = runs
    tables = group_tables(run.info, label)
    if not tables:
        raise ResultsError(f"{run.name}: no groups; add `groups` to its config and run it again")
    if form == "text":
        for grouped in tables:
            show_groups(grouped)
    elif form == "csv":
        chosen = run.groups
        if label is not None:
            chosen = chosen[chosen["metric"] == str(metrics.parse(label))]
        say(frame_to_csv(chosen, "%.8f").removesuffix("\n"), is_data=True)
    else:
        texts = (grouped.latex if form == "latex" else grouped.markdown for grouped in tables)
        say("\n".join(texts).removesuffix("\n"), is_data=True)
    return 0
