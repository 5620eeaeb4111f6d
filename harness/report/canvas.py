"""Parts that all plots share: size, title, rows, ticks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report.appearance import INK, MUTED, RULE, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Heading",
    "figure_size",
    "keep_ticks",
    "label_rows",
    "label_seconds",
    "limit_rows",
    "make_axes",
    "scale_without",
    "wrapped",
    "write_heading",
]

WIDTH = 3.5
TITLE, SUBTITLE, LABEL = 8.0, 7.0, 7.5
"""Sizes of text in points, as `style.mplstyle` has them."""
MARGIN = 5.0
"""Points between text and the edge of a figure."""
MOST_LINES = 4
"""Lines of a title or subtitle; longer text is cut with an ellipsis."""
NOT_PERSONALISED = frozenset({"random", "popularity", "itemmean", "normalpredictor"})
"""Algorithms that a scale may leave out if they would compress the others."""


@dataclass(frozen=True)
class Heading:
    """Title and subtitle of a plot.

    Parameters
    ----------
    title : str
        What is shown, and which way is better.
    about : str
        Data set, split and candidates.
    """

    title: str
    about: str

    def lines(self, width: float) -> tuple[list[str], list[str]]:
        """Return the lines of title and subtitle that fit a width in points."""
        title = wrapped(self.title, width, TITLE, "bold")
        return title, wrapped(self.about, width, SUBTITLE)

    @property
    def n_lines(self) -> int:
        """Number of lines in a figure of the usual width."""
        return sum(len(lines) for lines in self.lines(WIDTH * 72 - 2 * MARGIN))


def figure_size(kind: str, n_rows: int, n_lines: int = 2) -> tuple[float, float]:
    """Return width and height in inches: one column wide, as high as the rows need.

    Examples
    --------
    >>> figure_size("tradeoff", 14), figure_size("distribution", 14)
    ((3.5, 3.24), (3.5, 3.56))
    """
    if kind == "tradeoff":
        height = 2.7 + 0.03 * max(n_rows - 4, 0)
    elif kind == "ndcg-over-k":
        height = max(2.5, 0.8 + 0.2 * n_rows)
    else:
        height = 0.66 + 0.19 * max(n_rows, 2)
    return WIDTH, round(height + 0.12 * n_lines, 2)


def make_axes(ax: Axes | None, kind: str, n_rows: int, heading: Heading) -> Axes:
    """Return the axes that are given, or those of a new figure of the right size."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(figsize=figure_size(kind, n_rows, heading.n_lines))[1]
    return made


def keep_ticks(axes: Axes) -> None:
    """Lay the plot out, wrap the label of the x axis, and keep ticks that do not overlap.

    The space decides the ticks, and tick labels need space: without
    a limit the two can alternate until a label crosses the edge.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        texts = axis.get_ticklabels()
        kept = [
            (tick, text.get_text(), text.get_window_extent())
            for tick, text in zip(axis.get_ticklocs(), texts, strict=True)
            if low <= tick <= high
        ]
        gap = figure.dpi / 72 * 4
        while axis is axes.xaxis and any(
            one[2].x1 + gap > other[2].x0 for one, other in pairwise(kept)
        ):
            kept = kept[::2]
        axis.set_ticks([tick for tick, *_ in kept], labels=[text for _, text, _ in kept])
    width = axes.get_window_extent().width / figure.dpi * 72
    axes.set_xlabel("\n".join(wrapped(axes.get_xlabel(), width, LABEL)))


def wrapped(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """Break text into lines that are no wider than a width.

    Parameters
    ----------
    text : str
    width, size : float
        Of a line and of the font, in points.
    weight : {"normal", "bold"}

    Examples
    --------
    >>> wrapped("ml-100k · 5-fold · rated", 60, 7.0)
    ['ml-100k · 5-fold ·', 'rated']
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)

    def fits(line: str) -> bool:
        return bool(text_to_path.get_text_width_height_descent(line, font, False)[0] <= width)

    lines = [""]
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}".strip()
        if fits(longer):
            lines[-1] = longer
            continue
        lines += [""] if lines[-1] else []
        for character in word:
            if lines[-1] and not fits(lines[-1] + character):
                lines.append("")
            lines[-1] += character
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][:-1] + "…"]
    return lines


def write_heading(axes: Any, heading: Heading) -> None:
    """Write title and subtitle above the plot, from the left edge of a figure with one plot."""
    from matplotlib.transforms import blended_transform_factory

    figure = axes.get_figure(root=True)
    assert figure is not None
    alone = len(figure.axes) == 1
    whole = figure.bbox if alone else axes.get_window_extent()
    width = whole.width / figure.dpi * 72 - (2 * MARGIN if alone else 0)
    title, about = heading.lines(width)
    # Empty lines of the title hold the place of the subtitle, so that the layout makes room.
    text = axes.set_title("\n".join([*title, *([" "] * len(about))]), loc="left", color=INK)
    place, x = axes.transAxes, 0.0
    if alone:
        place = blended_transform_factory(figure.transFigure, axes.transAxes)
        x = MARGIN / 72 / figure.get_figwidth()
    text.set_transform(place + axes.titleOffsetTrans)
    text.set_x(x)
    below = figure.text(
        x,
        1.0,
        "\n".join(about),
        transform=place + axes.titleOffsetTrans,
        va="baseline",
        fontsize=SUBTITLE,
        color=MUTED,
    )
    below.set_in_layout(False)


def scale_without(
    spans: Mapping[str, tuple[float, float]], higher: bool, always: Sequence[float] = ()
) -> tuple[float, float, list[str]]:
    """Return limits in which baselines do not compress the others, and the names left out.

    Random, Popularity, ItemMean and NormalPredictor are left out if they are
    worse than all others by more than half of the others' range.

    Parameters
    ----------
    spans : mapping of str to (float, float)
        Lower and upper end of what is drawn of each algorithm.
    higher : bool
        Whether higher values are better.
    always : sequence of float
        Values that the limits include.

    Examples
    --------
    >>> scale_without({"SVD": (0.82, 0.83), "NMF": (0.80, 0.81), "Random": (0.69, 0.70)}, True)
    (0.8, 0.83, ['Random'])
    """
    personal = [
        n for n in spans if "".join(filter(str.isalnum, n.casefold())) not in NOT_PERSONALISED
    ]
    if len(personal) < 2:
        personal = list(spans)
    ends = [end for name in personal for end in spans[name] if np.isfinite(end)] + list(always)
    low, high = min(ends), max(ends)
    reach = (high - low) / 2
    out = [
        name
        for name, (start, stop) in spans.items()
        if name not in personal and (start < low - reach if higher else stop > high + reach)
    ]
    kept = [end for name in spans if name not in out for end in spans[name] if np.isfinite(end)]
    return min([low, *kept]), max([high, *kept]), out


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label one row for each algorithm, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")


def limit_rows(
    axes: Axes, limits: tuple[float, float, list[str]], rows: Sequence[tuple[str, float, str]]
) -> None:
    """Set the scale of the x axis; a row outside it gets its value and an arrow.

    Parameters
    ----------
    axes : Axes
    limits : (float, float, list of str)
        As `scale_without` gives them.
    rows : sequence of (str, float, str)
        Name, value and shown value of each row, the first on top.
    """
    low, high, out = limits
    pad = 0.05 * ((high - low) or abs(high) or 1.0)
    axes.set_xlim(low - pad, high + pad)
    for y, (name, value, text) in enumerate(rows):
        if name in out:
            left = value < low
            axes.annotate(
                f"← {text}" if left else f"{text} →",
                (0.01 if left else 0.99, y),
                xycoords=axes.get_yaxis_transform(),
                ha="left" if left else "right",
                va="center",
                fontsize=SUBTITLE,
                color=MUTED,
            )


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
