"""``harness table``: the table of one or several runs."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options, table_columns, words
from harness.cli.command import command
from harness.cli.screen import print_run, say
from harness.errors import HarnessError, ResultsError


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
    from harness.report import join

    opened = options.opened(runs, results)
    parts = {
        "--groups": groups, "--folds": folds, "--training": training, "--shares": shares,
        "--analysis": analysis is not None, "--together": together,
    }  # fmt: skip
    chosen = [option for option, is_chosen in parts.items() if is_chosen]
    alone = [*(["--columns"] if columns is not None and chosen else []), *chosen]
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
        from harness.report.latex_of_sets import latex_of_sets

        say(latex_of_sets(opened).removesuffix("\n"), is_data=True)
        return 0
    from harness.cli import table_parts

    if analysis is not None:
        table_parts.show_analysis(opened[0], form, analysis)
    elif shares:
        table_parts.show_shares(opened[0], form, metric)
    elif groups:
        table_parts.show_parts(opened[0], form, metric)
    elif training:
        table_parts.show_training(opened[0], form)
    else:
        table_parts.show_folds(opened[0], form)
    return 0
