"""The page of a name's history: plots of each table, and the values below them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness._util.files import write_output
from harness.extras.history.values import BREAKS, DEFINITION, start_times
from harness.report.drawing import LABEL, SUBTITLE, WIDTH, drop_crowded_ticks, rendered
from harness.report.page import inline_svg, page_of
from harness.report.styles import FAINT, MUTED, algorithm_styles
from harness.report.summary import short_names
from harness.results.table import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.extras.history.values import History, HistoryLine, Point


HEIGHT, NAME = 2.5, 0.16
"""Inches: without the legend, and of each line of it."""
LONGEST_TITLE = 44
"""Characters of a line of a title."""
SHIFT = 0.3
"""The part of the space between two runs that all rows of one take."""
Runs = Sequence[tuple[str, str]]
"""Start and name of each run, in order."""


def write_history_page(history: History, path: Path) -> Path:
    """Write the page of a history: plots of each table, with its values below.

    The first is of the values, the second, where there is a baseline, of the differences to it.
    """
    tables: dict[tuple[str, str, str], list[HistoryLine]] = {}
    for line in history.lines:
        tables.setdefault((line.dataset, line.split, line.candidates), []).append(line)
    figures = []
    for number, (place, lines) in enumerate(tables.items(), 1):
        names = [f"plot{number}", f"plot{number}-differences"]
        drawn = [(names[0], inline(names[0], history, lines), False)]
        if history.baseline and any(line.has_differences for line in lines):
            drawn.append((names[1], inline(names[1], history, lines, is_difference=True), True))
        started = [start for start, _ in runs_of(lines)]
        times = dict(zip(started, start_times(started), strict=True))
        figures.append((", ".join(place), drawn, marks_of(lines), lines, times))
    page = page_of("history.html", history=history, figures=figures)
    return write_output(path, page, "choose another place with --page")


def inline(
    name: str, history: History, lines: list[HistoryLine], *, is_difference: bool = False
) -> object:
    """Return a plot of the rows of a table in the colours of the page."""
    settings = {"svg_fonttype": "none", "svg_hashsalt": name}
    baseline = history.baseline if is_difference else ""
    return inline_svg(plot_history(history.metric, lines, "svg", baseline, **settings), name)


def plot_history(
    metric: str, lines: list[HistoryLine], form: str, baseline: str = "", **settings: object
) -> bytes:
    """Return the plot of the rows of a table over time as an SVG or PNG file.

    With a baseline, it is of the differences to it, each on the data of its run. A line joins what
    can be compared; a dashed vertical line is where values cannot, a dotted one where code,
    versions or settings changed, with the numbers of `marks_of`.
    """
    shown = [line for line in lines if line.has_differences] if baseline else lines
    runs = runs_of(lines)
    size = WIDTH, HEIGHT + NAME * ((len(shown) + 1) // 2)
    draw = partial(draw_history, metric=metric, lines=shown, runs=runs, baseline=baseline)
    return rendered(form, size, draw, **settings)


def runs_of(lines: Sequence[HistoryLine]) -> list[tuple[str, str]]:
    """Return start and name of each run of some rows, the oldest first."""
    return sorted({(point.started, point.run) for line in lines for point in line.points})


def marks_of(lines: Sequence[HistoryLine]) -> dict[str, int]:
    """Return what changed between runs, with the number that a plot has for it."""
    points = sorted((point for line in lines for point in line.points), key=lambda p: p.started)
    texts = dict.fromkeys(text for point in points for text in (*point.breaks, *point.changes))
    return {text: number for number, text in enumerate(texts, 1)}


def draw_history(
    axes: Axes, metric: str, lines: Sequence[HistoryLine], runs: Runs, baseline: str = ""
) -> None:
    """Draw the rows of a table into axes; see `plot_history`."""
    styles = algorithm_styles(line.algorithm for line in lines)
    short = short_names((line.algorithm for line in lines), 18)
    at = {run: number for number, (_, run) in enumerate(runs)}
    shift = SHIFT / max(len(lines), 1)
    for number, line in enumerate(lines):
        style = styles[line.algorithm]
        for i, part in enumerate(line.difference_parts if baseline else line.parts):
            shown = [(at[point.run], *_numbers(point, baseline)) for point in part]
            shown = [point for point in shown if point[1] is not None]
            places = [x + (number - (len(lines) - 1) / 2) * shift for x, *_ in shown]
            values = [math.nan if value is None else value for _, value, *_ in shown]
            label = short[line.algorithm] if i == 0 else "_"
            axes.plot(places, values, style.line, ms=3.6, lw=1.1, label=label, **style.marks)
            for x, (_, _, low, high) in zip(places, shown, strict=True):
                if low is not None and high is not None:
                    axes.vlines(x, low, high, style.colour, lw=1, alpha=0.55)
    if baseline:
        axes.axhline(0, color=FAINT, lw=0.8, zorder=1)
    _draw_marks(axes, lines, at, [DEFINITION] if baseline else BREAKS)
    axes.set_xticks(range(len(runs)), _days([started for started, _ in runs]))
    axes.tick_params("x", labelsize=SUBTITLE)
    axes.set_xlim(-0.6, len(runs) - 0.4)
    way = "higher" if metrics.parse(metric).higher_is_better else "lower"
    of = f"{metric} less {printable(baseline)}, same data" if baseline else metric
    axes.set_title(textwrap.fill(f"{of}, {way} is better", LONGEST_TITLE), loc="left")
    place: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 2}
    axes.legend(**place, frameon=False, fontsize=LABEL)
    drop_crowded_ticks(axes)


def _numbers(point: Point, baseline: str) -> tuple[float | None, float | None, float | None]:
    """Return what is shown of a point, and both ends of its interval."""
    if baseline:
        return point.difference, point.difference_low, point.difference_high
    return point.value, point.low, point.high


def _draw_marks(
    axes: Axes, lines: Sequence[HistoryLine], at: dict[str, int], reasons: Collection[str]
) -> None:
    """Draw a vertical line before each run that something changed for, with numbers above it.

    It is dashed for the `reasons` that lines break for, else dotted.
    """
    numbers = marks_of(lines)
    apart = {numbers[text] for text in reasons if text in numbers}
    for run, place in at.items():
        points = [point for line in lines for point in line.points if point.run == run]
        breaks = {numbers[text] for point in points for text in point.breaks}
        changes = {numbers[text] for point in points for text in point.changes}
        if not breaks | changes:
            continue
        is_apart = not breaks.isdisjoint(apart)
        look: dict[str, Any] = {"color": MUTED if is_apart else FAINT, "lw": 0.9, "zorder": 0}
        axes.axvline(place - 0.5, ls="--" if is_apart else ":", **look)
        if len(at) <= MOST_MARKED:
            text = "\n".join(map(str, sorted(breaks | changes)))
            axes.text(place - 0.47, 0.99, text, size=SUBTITLE, color=MUTED, va="top",
                      transform=axes.get_xaxis_transform())  # fmt: skip
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * (high - low))  # room for the numbers


MOST_MARKED = 15
"""Runs up to which there is room for numbers; the table below has what changed in words."""


def _days(started: Sequence[str]) -> list[str]:
    r"""Return the days of starts, with the time where two are of one day, as exact as is needed.

    >>> _days(["2026-11-26T02:41:07", "2026-11-27T02:41:07"])
    ['11-26', '11-27']
    >>> _days(["2026-11-26T02:41:07", "2026-11-26T03:41:07"])
    ['11-26\n02:41', '11-26\n03:41']
    """
    if len({text[:10] for text in started}) == len(started):
        return [text[5:10] for text in started]
    return [text[5:].replace(" ", "\n") for text in start_times(started)]
