"""The page of a name's history: a plot of each table, and the values below it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from harness import metrics
from harness._util.files import write_output
from harness.report.drawing import rendered
from harness.report.page import inline_svg, page_of
from harness.report.styles import FAINT, MUTED, algorithm_styles
from harness.results.table import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from harness.extras.history.values import History, HistoryLine


SIZE = (7.2, 3.4)
"""Inches."""


def write_history_page(history: History, path: Path) -> Path:
    """Write the page of a history: a plot of each table, with its values below."""
    tables: dict[tuple[str, str, str], list[HistoryLine]] = {}
    for line in history.lines:
        tables.setdefault((line.dataset, line.split, line.candidates), []).append(line)
    figures = []
    for number, (place, lines) in enumerate(tables.items(), 1):
        name = f"plot{number}"
        settings = {"svg_fonttype": "none", "svg_hashsalt": name}
        drawn = plot_history(history.metric, lines, "svg", **settings)
        figures.append((name, ", ".join(place), inline_svg(drawn, name), lines))
    page = page_of("history.html", history=history, figures=figures)
    return write_output(path, page, "choose another place with --page")


def plot_history(metric: str, lines: list[HistoryLine], form: str, **settings: object) -> bytes:
    """Return the plot of the rows of a table over time as an SVG or PNG file.

    A line joins values that can be compared; a dashed vertical line is where they cannot, a dotted
    one where code, versions or settings changed.
    """
    runs = dict.fromkeys(sorted((p.started, p.run) for line in lines for p in line.points))
    return rendered(form, SIZE, lambda axes: draw_history(axes, metric, lines, [*runs]), **settings)


def draw_history(
    axes: Axes, metric: str, lines: list[HistoryLine], runs: list[tuple[str, str]]
) -> None:
    """Draw the rows of a table into axes; `runs` are start and name of each run, in order."""
    styles = algorithm_styles(line.algorithm for line in lines)
    at = {run: number for number, (_, run) in enumerate(runs)}
    shift = 0.3 / max(len(lines), 1)
    for number, line in enumerate(lines):
        style = styles[line.algorithm]
        for i, part in enumerate(line.parts):
            points = [point for point in part if point.value is not None]
            places = [at[point.run] + (number - (len(lines) - 1) / 2) * shift for point in points]
            label = printable(line.algorithm) if i == 0 else "_"
            values = [math.nan if p.value is None else p.value for p in points]
            axes.plot(places, values, style.line, label=label, **style.marks)
            spans = [(x, p.low, p.high) for x, p in zip(places, points, strict=True)
                     if p.low is not None and p.high is not None]  # fmt: skip
            for x, low, high in spans:
                axes.vlines(x, low, high, style.colour, lw=1, alpha=0.55)
    for run, number in at.items():
        points = [p for line in lines for p in line.points if p.run == run]
        reasons = list(dict.fromkeys(text for p in points for text in p.breaks))
        marks = reasons or list(dict.fromkeys(text for p in points for text in p.changes))
        if marks:
            axes.axvline(number - 0.5, color=MUTED if reasons else FAINT,
                         ls="--" if reasons else ":", lw=0.9, zorder=0)  # fmt: skip
            text = "\n".join([*marks[:3], *["…"][: len(marks) > 3]])
            axes.text(number - 0.48, 1.0, text, size=6, color=MUTED, va="top",
                      transform=axes.get_xaxis_transform())  # fmt: skip
    axes.set_xticks(range(len(runs)), [s[:16].replace("T", "\n") for s, _ in runs], fontsize=6)
    axes.set_xlim(-0.6, len(runs) - 0.4)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * (high - low))  # room for the marks
    way = "higher" if metrics.parse(metric).higher_is_better else "lower"
    axes.set_title(f"{metric}, {way} is better", loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=7)
