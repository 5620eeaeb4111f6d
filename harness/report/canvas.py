"""What every plot has around its data: size, title, rows, ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.report.appearance import RULE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figure_size", "keep_ticks", "label_rows", "label_seconds", "make_axes", "write_title"]

WIDTH = 3.5


def figure_size(kind: str, n_rows: int) -> tuple[float, float]:
    """Return width and height in inches: one column wide, as high as the rows need.

    Examples
    --------
    >>> figure_size("tradeoff", 14), figure_size("distribution", 14)
    ((3.5, 2.9), (3.5, 3.41))
    """
    if kind == "tradeoff":
        return WIDTH, 2.9
    if kind == "ndcg-over-k":
        return WIDTH, max(2.6, 0.9 + 0.155 * n_rows)
    return WIDTH, round(0.75 + 0.19 * max(n_rows, 2), 2)


def make_axes(ax: Axes | None, kind: str, n_rows: int) -> Axes:
    """Return the axes that are given, or those of a new figure of the right size."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(figsize=figure_size(kind, n_rows))[1]
    return made


def keep_ticks(axes: Axes) -> None:
    """Lay the plot out and keep the ticks that it has then.

    Ticks are chosen by the room there is, and room is made for the labels of ticks: left alone,
    the two can chase each other until a label hangs over the edge.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        labels = [text.get_text() for text in axis.get_ticklabels()]
        kept = [
            (tick, label)
            for tick, label in zip(axis.get_ticklocs(), labels, strict=True)
            if low <= tick <= high
        ]
        axis.set_ticks([tick for tick, _ in kept], labels=[label for _, label in kept])


def write_title(axes: Axes, label: str, higher_is_better: float | bool) -> None:
    """Say above the plot what its values are and which way is better."""
    way = "higher is better" if higher_is_better and higher_is_better > 0 else "lower is better"
    axes.set_title(f"{label}, {way}", loc="left")


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label one row for each algorithm, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")


def label_seconds(axes: Axes, values: Sequence[float]) -> None:
    """Label seconds in plain numbers, at least two of them."""
    from matplotlib.ticker import NullLocator

    low, high = min(values), max(values)
    low, high = low / 1.6, high * 1.6
    axes.set_xlim(low, high)
    steps = (1,) if high / low > 1500 else (1, 3) if high / low > 8 else (1, 2, 3, 5, 7)
    ticks = [
        step * 10.0**power
        for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        for step in steps
        if low <= step * 10.0**power <= high
    ]
    axes.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", color=RULE)
