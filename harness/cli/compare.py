"""``harness compare``: several runs in one table, or one verdict over data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import harness
from harness._util.files import write_output
from harness.console import options
from harness.console import options as words
from harness.console import screen as table_columns
from harness.console.command import command
from harness.console.screen import plain, say, say_written, show_table
from harness.console.tables import show_run
from harness.errors import HarnessError
from harness.report import join, rank_tables, write_page

if TYPE_CHECKING:
    from harness.comparison.across import AcrossDataSets


ENDINGS = {
    ".md": "markdown",
    ".csv": "csv",
    ".tex": "latex",
    ".json": "json",
    ".png": "png",
    ".svg": "svg",
}
"""What a file with such a name holds."""


@command(
    "compare quickstart my-run", "compare ml-100k ml-1m epinions --across", group="Look at results"
)
@options.runs
@options.results
@options.anyway
@table_columns.option
@click.option("--across", is_flag=True, help="One verdict over the data sets of the runs.")
@click.option(
    "--metric",
    shell_complete=words.of_kind("metrics"),
    metavar="LABEL",
    help="With --across: by default the headline metric.",
)
@click.option("--split", metavar="NAME", help="With --across: the split of the tables to compare.")
@click.option(
    "--candidates", metavar="NAME", help="With --across: the candidates of the tables to compare."
)
@click.option(
    "--post-hoc",
    type=options.Choice(("nemenyi", "holm")),
    default="nemenyi",
    show_default=True,
    help="With --across: how pairs are compared.",
)
@click.option(
    "--rope",
    type=float,
    default=0.01,
    show_default=True,
    help="With --across: the largest difference that does not matter, in units of the metric.",
)
@options.formats(
    "text",
    "markdown",
    "csv",
    "latex",
    "json",
    help="With --across: the form; by default from the ending of --output.",
)
@click.option(
    "-o",
    "--output",
    type=options.output,
    help="The page's file; by default comparison.html in the results folder. With --across: a file "
    "for the table (.md, .csv, .tex, .json) or the diagram (.png, .svg).",
)
@options.force
def compare(
    runs: tuple[str, ...],
    results: Path,
    anyway: bool,
    columns: str | None,
    across: bool,
    form: str,
    output: Path | None,
    **settings: Any,
) -> int:
    """Put several runs into one table and one page.

    RUN is a folder, or the name of a run in the results folder. The runs must have the same data,
    split and candidates. The page is like the page of `harness report`, with all runs.

    With --across, runs of different data sets become one verdict: mean ranks and wins of the rows
    that all have, Friedman's test, Nemenyi's or Holm's for each pair, and the Bayesian signed-rank
    test of practical equivalence. Runs that ask different questions are refused.
    """
    opened = options.opened(runs, results)
    if across:
        if columns is not None:
            raise HarnessError("--columns: is not for --across; leave one of them out")
        comparison = harness.across(opened, anyway=anyway, **settings)
        return _show_across(comparison, form, output)
    if misplaced := options.in_the_call(*settings, "form"):
        option = misplaced[0].replace("form", "format").replace("_", "-")
        raise HarnessError(f"--{option}: needs --across; add it, or leave the option out")

    path = options.page(output, results / "comparison.html")
    joined = join(opened, anyway=anyway)
    show_run(joined, columns)
    say()
    say_written(write_page(opened, path, joined=joined))
    return 0


def _show_across(comparison: AcrossDataSets, form: str, output: Path | None) -> int:
    """Print a comparison over data sets, or write it to a file."""
    if output is None and form == "text":
        say(f"\n{plain(rank_tables.headline(comparison))}\n")
        ranks = rank_tables.as_texts(comparison)
        probable = rank_tables.probabilities(comparison)
        *tests, bayes = rank_tables.verdict(comparison)
        show_table([*ranks.columns], ranks.to_numpy().tolist(), ["algorithm"])
        say()
        for text in (*tests, bayes):
            say(text)
        say()
        show_table([*probable.columns], probable.to_numpy().tolist(), [probable.columns[0]])
        for number, note in enumerate(comparison.notes):
            say("\n" * (not number) + f"note: {plain(note)}")
        return 0
    ending = "" if output is None else output.suffix.lower()
    form = ENDINGS.get(ending, "") if form == "text" else form
    if not form:
        endings = ", ".join(ENDINGS)
        raise HarnessError(
            f"{output}: a file of an unknown kind; use one of {endings}, or --format"
        )
    content = (
        rank_tables.render(comparison, form)
        if form in ("png", "svg")
        else rank_tables.FORMATS[form](comparison)
    )
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    if output is None:
        say(data.decode().removesuffix("\n"), is_data=True)
    else:
        say_written(write_output(output, data))
    return 0
