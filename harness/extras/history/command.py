"""``harness history``: the metric of each row over the runs of a name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.console import options, screen
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import plain, say, say_written, show_table
from harness.extras.history.page import write_history_page
from harness.extras.history.values import history as values
from harness.extras.history.values import start_times
from harness.results.table import decimals, rounded

if TYPE_CHECKING:
    from harness.extras.history.values import HistoryLine, Point


COLUMNS = ("started (UTC)", "value", "low", "high", "users", "changed since the run above")


@command(
    "history quickstart",
    "history quickstart --metric ndcg@10 --row SVD --last 10",
    group="Look at results",
)
@click.argument("name", metavar="NAME", shell_complete=words.run_names)
@click.option(
    "--metric",
    metavar="LABEL",
    shell_complete=words.of_kind("metrics"),
    help="By default the headline metric of the run.",
)
@click.option("--row", metavar="NAME", help="One row; by default all.")
@click.option(
    "--baseline",
    metavar="NAME",
    help="The row that others are compared with in each run; by default the baseline of the "
    "report.",
)
@click.option("--last", type=click.IntRange(1), metavar="N", help="Only the latest runs.")
@click.option("--page", type=options.output, help="Write a page with a plot to this file.")
@options.force
@options.results
def history(
    name: str,
    metric: str | None,
    row: str | None,
    baseline: str | None,
    last: int | None,
    page: Path | None,
    results: Path,
) -> int:
    """Show a metric of each row over the run and its earlier runs.

    What changed since the run before is beside each value: settings, code, and versions of
    packages. A line is drawn where two values cannot be compared, because data, split, definition
    or seed differ, or other cells failed. The difference to the baseline is within one run,
    on the same data, so it can be followed where the data change every day.
    """
    (run,) = options.opened((name,), results)
    answer = values(run, metric=metric, row=row, last=last, baseline=baseline)
    if page is not None:
        page = write_history_page(answer, options.page(page, page))
    if screen.documents:
        screen.give_result(answer.to_dict())
    say(plain(answer.sentence()))
    for line in answer.lines:
        place = ", ".join((line.dataset, line.split, line.candidates))
        say(f"\n{plain(line.algorithm)}: {plain(place)}")
        _show(line, answer.baseline)
    for note in answer.notes:
        say(f"note: {plain(note)}")
    if page is not None:
        say()
        say_written(page)
    return 0


def _show(line: HistoryLine, baseline: str) -> None:
    """Print the points of a row as a table, the oldest first."""
    points = line.points
    widths = [p.high - p.low for p in points if p.low is not None and p.high is not None]
    places = decimals(width / 4 for width in widths if math.isfinite(width))
    rows = [
        (
            start,
            *(rounded(value, places) for value in (point.value, point.low, point.high)),
            "" if point.n_users is None else point.n_users,
            "; ".join([f"not comparable: {', '.join(point.breaks)}"] * bool(point.breaks)
                      + point.changes),
        )
        for point, start in zip(points, start_times([p.started for p in points]), strict=True)
    ]  # fmt: skip
    columns = [*COLUMNS]
    if line.has_differences:
        columns.insert(-1, f"less {baseline}")
        shown = [_difference(point, places) for point in points]
        rows = [(*row[:-1], text, row[-1]) for row, text in zip(rows, shown, strict=True)]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    below = [number for number, point in enumerate(points) if point.breaks]
    show_table(columns, rows, words={COLUMNS[0], COLUMNS[-1]} & {*columns}, below=below)


def _difference(point: Point, places: int) -> str:
    """Return the difference to the baseline with its interval: ``+0.012 (0.003 to 0.021)``."""
    if point.difference is None:
        return ""
    text = rounded(point.difference, places)
    text = text if text.startswith("-") else f"+{text}"
    ends = [rounded(end, places) for end in (point.difference_low, point.difference_high)]
    return f"{text} ({ends[0]} to {ends[1]})" if all(ends) else text
