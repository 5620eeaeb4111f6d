"""What all plots share: heading, scale, ticks, rows, and names beside what is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report.styles import INK, MUTED, RULE, AlgorithmStyle
from harness.report.summary import plain
from harness.results.runs import decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "WIDTH",
    "drop_crowded_ticks",
    "heading_lines",
    "label_rows",
    "label_seconds",
    "limit_rows",
    "name_ends",
    "scale_without",
    "spread_positions",
    "write_heading",
]

WIDTH = 3.5
"""Inches: one column of text."""
TITLE, SUBTITLE, LABEL = 8.0, 7.0, 7.5
"""Sizes of text in points, as `style.mplstyle` has them."""
MARGIN = 5.0
"""Points between text and the edge of a figure."""
MOST_LINES = 4
"""Lines of a title or subtitle; longer text is cut with an ellipsis."""
NOT_PERSONALISED = frozenset({"random", "popularity", "itemmean", "normalpredictor"})
"""Algorithms that a scale may leave out if they would compress the others."""


def heading_lines(
    title: str, about: str, width: float = WIDTH * 72 - 2 * MARGIN
) -> tuple[list[str], list[str]]:
    """Return the lines of title and subtitle that fit a width in points."""
    return _wrapped(title, width, TITLE, "bold"), _wrapped(about, width, SUBTITLE)


def write_heading(axes: Any, title: str, about: str) -> None:
    """Write title and subtitle above the plot, from the left edge of a figure with one plot."""
    from matplotlib.transforms import blended_transform_factory

    figure = axes.get_figure(root=True)
    alone = len(figure.axes) == 1
    whole = figure.bbox if alone else axes.get_window_extent()
    width = whole.width / figure.dpi * 72 - (2 * MARGIN if alone else 0)
    upper, lower = heading_lines(title, about, width)
    # Empty lines of the title hold the place of the subtitle, so that the layout makes room.
    text = axes.set_title("\n".join([*upper, *([" "] * len(lower))]), loc="left", color=INK)
    place, x = axes.transAxes, 0.0
    if alone:
        place = blended_transform_factory(figure.transFigure, axes.transAxes)
        x = MARGIN / 72 / figure.get_figwidth()
    text.set_transform(place + axes.titleOffsetTrans)
    text.set_x(x)
    subtitle = figure.text(x, 1.0, "\n".join(lower), fontsize=SUBTITLE, color=MUTED)
    subtitle.set_transform(place + axes.titleOffsetTrans)
    subtitle.set_in_layout(False)


def drop_crowded_ticks(axes: Axes) -> None:
    """Lay the plot out, wrap the label of the x axis, and keep ticks that do not overlap.

    The space decides the ticks, and tick labels need space: without
    a limit the two can alternate until a label crosses the edge.
    """
    figure = _laid_out(axes)
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        kept = [
            (tick, text.get_text(), text.get_window_extent())
            for tick, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            if low <= tick <= high
        ]
        gap = figure.dpi / 72 * 4
        while axis is axes.xaxis and any(a[2].x1 + gap > b[2].x0 for a, b in pairwise(kept)):
            kept = kept[::2]
        axis.set_ticks([tick for tick, *_ in kept], labels=[text for _, text, _ in kept])
    width = axes.get_window_extent().width / figure.dpi * 72
    axes.set_xlabel("\n".join(_wrapped(axes.get_xlabel(), width, LABEL)))


def scale_without(
    spans: Mapping[str, tuple[float, float]], higher: bool, always: Sequence[float] = ()
) -> tuple[float, float, list[str]]:
    """Return limits in which baselines do not compress the others, and the names left out.

    A baseline is left out if it is worse than all others by more than half of their range. `spans`
    has both ends of what is drawn of each algorithm; the limits include the values `always`.
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
    axes: Axes,
    spans: Mapping[str, tuple[float, float]],
    values: Sequence[float],
    higher: bool,
    always: Sequence[float] = (),
) -> None:
    """Set the scale of the x axis by `scale_without`; a row outside gets its value and an arrow."""
    low, high, out = scale_without(spans, higher, always)
    digits = decimals([(high - low) / 20])
    pad = 0.05 * ((high - low) or abs(high) or 1.0)
    axes.set_xlim(low - pad, high + pad)
    for y, (name, value) in enumerate(zip(spans, values, strict=True)):
        if name in out:
            left, text = value < low, f"{value:.{digits}f}".replace("-", "−")
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
    """Label seconds on a logarithmic axis in plain numbers, at least two of them."""
    from matplotlib.ticker import NullLocator

    low, high = min(values) / 1.6, max(values) * 1.6
    axes.set_xlim(low, high)
    steps = (1,) if high / low > 1500 else (1, 3) if high / low > 8 else (1, 2, 3, 5, 7)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [step * 10.0**power for power in powers for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(axis="x", color=RULE)


def name_ends(
    axes: Axes, ends: Sequence[float], names: Sequence[str], styles: Sequence[AlgorithmStyle]
) -> None:
    """Write names beside the right edge, each as near to the end of its line as the others allow.

    A thin line joins the marker beside each name to its value; a
    name whose value is outside the scale stands at the nearer edge.
    """
    figure = _laid_out(axes)
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height / figure.dpi * 72
    placed = spread_positions(ends, (high - low) * (SUBTITLE + 1.6) / height, low, high)
    beside = axes.get_yaxis_transform()
    for end, at, name, style in zip(ends, placed, names, styles, strict=True):
        axes.annotate(
            name,
            (1.12, at),
            xycoords=beside,
            fontsize=SUBTITLE,
            va="center",
            color=MUTED,
            annotation_clip=False,
        )
        axes.plot(
            [1.01, 1.04, 1.085],
            [min(max(end, low), high), at, at],
            transform=beside,
            ls="-" if low <= end <= high else "",
            markevery=[-1],
            ms=3.6,
            lw=0.6,
            clip_on=False,
            **style.marks,
        )
    axes.set_ylim(low, high)


def spread_positions(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions as little as possible until they are `gap` apart, or what room there is."""
    from scipy.optimize import isotonic_regression

    n = len(wanted)
    if not n:
        return []
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    # Without the gaps before them, positions only must not decrease: least squares finds those.
    offsets = gap * np.arange(n)
    starts = isotonic_regression(np.asarray(wanted)[order] - offsets).x
    placed = np.empty(n)
    placed[order] = np.clip(starts, low, high - offsets[-1]) + offsets
    return placed.tolist()


def _laid_out(axes: Axes) -> Figure:
    """Return the figure after its layout has given the axes their place."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def _wrapped(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """Break text into lines no wider than a width in points, long words too."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=size, weight=weight)

    def fits(line: str) -> bool:
        return bool(text_to_path.get_text_width_height_descent(line, font, False)[0] <= width)

    lines = [""]
    for word in plain(text).split():
        if fits(longer := f"{lines[-1]} {word}".strip()):
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
