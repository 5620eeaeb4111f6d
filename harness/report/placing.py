"""Positions of names in a plot, so that none covers another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from harness.report.appearance import FAINT, MUTED

__all__ = ["name_ends", "place_names", "spread"]

Box = tuple[float, float, float, float]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions on a line as little as possible until none overlap.

    Parameters
    ----------
    wanted : sequence of float
        Where each would stand.
    gap : float
        Least distance between two; less where there is no room.
    low, high : float
        Between which all stand.

    Returns
    -------
    list of float
        In the order given.

    Examples
    --------
    >>> spread([1.0, 1.0, 5.0], 1.0, 0.0, 10.0)
    [0.5, 1.5, 5.0]
    """
    n = len(wanted)
    if not n:
        return []
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = sorted(range(n), key=lambda i: wanted[i])
    # Pool adjacent violators: neighbours that are too close become one block about their mean.
    blocks: list[list[float]] = []
    for step, index in enumerate(order):
        blocks.append([wanted[index] - gap * step, 1.0])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            value, weight = blocks.pop()
            before, count = blocks[-1]
            blocks[-1] = [(before * count + value * weight) / (count + weight), count + weight]
    starts = [value for value, weight in blocks for _ in range(int(weight))]
    placed = [0.0] * n
    for step, (index, start) in enumerate(zip(order, starts, strict=True)):
        placed[index] = min(max(start, low), high - gap * (n - 1)) + gap * step
    return placed


def name_ends(
    axes: Any, ends: Sequence[float], names: Sequence[str], colours: Sequence[str], size: float
) -> None:
    """Write names beside the right edge in the order of the lines that end there.

    A thin line joins each name to the end of its line; a name
    whose line ends outside the scale has none, and is at the nearer edge.

    Parameters
    ----------
    axes : Axes
        Lines end at its right edge.
    ends : sequence of float
        Where the lines end, in data coordinates.
    names, colours : sequence of str
    size : float
        Of the font, in points.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height / figure.dpi * 72
    placed = spread(ends, (high - low) * (size + 1.6) / height, low, high)
    for end, at, name, colour in zip(ends, placed, names, colours, strict=True):
        axes.annotate(
            name,
            (1.1, at),
            xycoords=axes.get_yaxis_transform(),
            fontsize=size,
            va="center",
            color=MUTED,
            annotation_clip=False,
        )
        if low <= end <= high:
            axes.plot(
                [1.02, 1.05, 1.09],
                [end, at, at],
                transform=axes.get_yaxis_transform(),
                color=colour,
                lw=0.6,
                clip_on=False,
            )
    axes.set_ylim(low, high)


def place_names(
    axes: Any,
    xs: Sequence[float],
    ys: Sequence[float],
    names: Sequence[str],
    size: float,
    bars: Sequence[tuple[float, float]] = (),
    steps: Sequence[tuple[float, float, float]] = (),
) -> None:
    """Write a name beside each point, none over a point, another name or the edge.

    Parameters
    ----------
    axes : Axes
        Drawn to its limits already; each name is tried at several places about its point, near
        ones first, and joined to it by a thin line where it stands off.
    xs, ys : sequence of float
        In data coordinates.
    names : sequence of str
    size : float
        Of the font, in points.
    bars : sequence of (float, float)
        Lower and upper end of a bar through each point, which names keep clear of; NaN for none.
    steps : sequence of (float, float, float)
        Left end, right end and height of level lines, which names keep clear of too.
    """
    figure = axes.figure
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    points = axes.transData.transform(np.column_stack([xs, ys]))
    reach = 3.5 * scale
    taken: list[Box] = [(x - reach, y - reach, x + reach, y + reach) for x, y in points]
    for x, (low, high) in zip(xs, bars, strict=False):
        if np.isfinite(low) and np.isfinite(high):
            (left, bottom), (_, top) = axes.transData.transform([(x, low), (x, high)])
            taken.append((left - scale, bottom, left + scale, top))
    for start, stop, y in steps:
        (left, bottom), (right, _) = axes.transData.transform([(start, y), (stop, y)])
        taken.append((left, bottom - scale, right, bottom + scale))
    frame = tuple(axes.get_window_extent().extents)
    texts = [
        axes.annotate(
            name, (x, y), xytext=(0, 0), textcoords="offset points", fontsize=size, zorder=5
        )
        for x, y, name in zip(xs, ys, names, strict=True)
    ]
    options = []
    for text, point in zip(texts, points, strict=True):
        extent = text.get_window_extent()
        options.append(
            [
                _box(point, dx * scale, dy * scale, align, extent.width, extent.height)
                for dx, dy, align in _OFFSETS
            ]
        )
    chosen = _choose(options, points, taken, frame, scale)
    for text, point, boxes, place in zip(texts, points, options, chosen, strict=True):
        dx, dy, align = _OFFSETS[place]
        text.set(position=(dx, dy), ha=align, va="center")
        text.set_in_layout(False)
        if _stands_off(place):
            _join(axes, point, boxes[place], scale)


def _choose(
    options: Sequence[Sequence[Box]], points: Any, marks: list[Box], frame: Box, scale: float
) -> list[int]:
    """Return which of its places each name takes.

    The outermost names get their place first: they have
    most space. Then each may move again, given the others.
    """
    centre = points.mean(axis=0)
    order = sorted(range(len(options)), key=lambda i: -float(np.hypot(*(points[i] - centre))))
    chosen: dict[int, int] = {}
    for i in order * 3:
        others = [options[j][place] for j, place in chosen.items() if j != i]
        costs = [
            2 * _cost(box, [*marks, *others], frame)
            # A line shows whose name it is that stands off.
            + (0.0 if _stands_off(rank) else _doubt(box, points, i, scale))
            + 0.8 * rank * scale**2
            for rank, box in enumerate(options[i])
        ]
        chosen[i] = int(np.argmin(costs))
    return [chosen[i] for i in range(len(options))]


def _stands_off(place: int) -> bool:
    """Return whether a place is so far from its point that a line joins the two."""
    return abs(_OFFSETS[place][1]) > 5


def _join(axes: Any, point: Any, box: Box, scale: float) -> None:
    """Draw a thin line from a point to the nearest place of its name."""
    end = np.clip(point, (box[0], box[1] + 2 * scale), (box[2], box[3] - 2 * scale))
    length = float(np.hypot(*(end - point)))
    if length < 5 * scale:
        return
    start = point + (end - point) * 3.5 * scale / length
    line = axes.transData.inverted().transform([start, end])
    axes.plot(line[:, 0], line[:, 1], color=FAINT, linewidth=0.5, zorder=1)


def _doubt(box: Box, points: Any, own: int, scale: float) -> float:
    """Return a cost for a name that is nearer to another point than to its own."""
    gaps = np.hypot(
        np.maximum(0, np.maximum(box[0] - points[:, 0], points[:, 0] - box[2])),
        np.maximum(0, np.maximum(box[1] - points[:, 1], points[:, 1] - box[3])),
    )
    others = np.delete(gaps, own)
    return float(np.maximum(0, gaps[own] + 2 * scale - others).sum()) * 6 * scale


_OFFSETS = [
    (6, 0, "left"),
    (-6, 0, "right"),
    (0, 8, "center"),
    (0, -8, "center"),
    (6, 6, "left"),
    (6, -6, "left"),
    (-6, 6, "right"),
    (-6, -6, "right"),
    *((dx, dy, align) for dy in (16, -16, 25, -25, 34, -34, 44, -44) for dx, align in (
        (4, "left"), (0, "center"), (-4, "right"), (18, "left"), (-18, "right"))),
]  # fmt: skip


def _box(point: Any, dx: float, dy: float, align: str, width: float, height: float) -> Box:
    left = point[0] + dx - {"left": 0.0, "center": width / 2, "right": width}[align]
    bottom = point[1] + dy - height / 2
    return (left, bottom, left + width, bottom + height)


def _cost(box: Box, taken: Sequence[Box], frame: Box) -> float:
    """Return the area that a name shares with others, and its area outside the plot."""
    covered = sum(
        max(0.0, min(box[2], other[2]) - max(box[0], other[0]))
        * max(0.0, min(box[3], other[3]) - max(box[1], other[1]))
        for other in taken
    )
    inside = max(0.0, min(box[2], frame[2]) - max(box[0], frame[0])) * max(
        0.0, min(box[3], frame[3]) - max(box[1], frame[1])
    )
    outside = (box[2] - box[0]) * (box[3] - box[1]) - inside
    return covered + 10 * outside
