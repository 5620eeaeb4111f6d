"""What ``harness table`` shows of one run beside its results table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.cli.screen import say, show_groups
from harness.errors import ResultsError, joined

if TYPE_CHECKING:
    import pandas as pd

    from harness.results import Run
    from harness.results.display import TextTable


def show_folds(run: Run, form: str) -> None:
    """Print the values of each cell of a run."""
    from harness.results.fold_tables import fold_frame, fold_tables

    if form == "csv":
        _print_csv(fold_frame(run.info))
    else:
        _print(fold_tables(run.info), form)


def show_training(run: Run, form: str) -> None:
    """Print the values of the training part beside those of the test part."""
    from harness.results.training_tables import training_frame, training_tables

    if form == "csv":
        _print_csv(training_frame(run.info).drop(columns="table"))
    else:
        _print(training_tables(run.info), form)


def show_shares(run: Run, form: str, label: str | None) -> None:
    """Print the learning curves of a run."""
    from harness.comparison.learning import curve_frame
    from harness.comparison.learning_tables import curve_tables

    if form == "csv":
        _print_csv(curve_frame(run.info, label))
    else:
        _print(curve_tables(run, label), form)


def show_analysis(run: Run, form: str, name: str) -> None:
    """Print the table of an analysis."""
    from harness.results.analysis_tables import analysis_table

    if name not in run.analyses:
        known = f"use {joined(run.analyses, 'or')}, or" if run.analyses else "it has none;"
        raise ResultsError(
            f"{run.name}: no table of an analysis {name!r}; {known} add it to `analyses` in the "
            "config and run it again"
        )
    if form == "csv":
        _print_csv(run.analyses[name])
    else:
        _print([analysis_table(name, run.analyses[name])], form)


def show_parts(run: Run, form: str, label: str | None) -> None:
    """Print the tables of the groups of a run."""
    from harness import metrics
    from harness.results.group_tables import group_tables

    tables = group_tables(run.info, label)
    if not tables:
        raise ResultsError(f"{run.name}: no groups; add `groups` to its config and run it again")
    if form != "csv":
        _print(tables, form)
        return
    values = run.groups
    if label is not None:
        values = values[values["metric"] == str(metrics.parse(label))]
    _print_csv(values)


def _print(tables: Sequence[TextTable], form: str) -> None:
    """Print tables as text, Markdown or LaTeX."""
    if form == "text":
        for table in tables:
            show_groups(table)
        return
    if form == "latex":
        from harness.results.latex import table_latex

        texts = [table_latex(table) for table in tables]
    else:
        texts = [table.markdown for table in tables]
    say("\n".join(texts).removesuffix("\n"), is_data=True)


def _print_csv(frame: pd.DataFrame) -> None:
    from harness.results.display import frame_to_csv

    say(frame_to_csv(frame, "%.8f").removesuffix("\n"), is_data=True)
