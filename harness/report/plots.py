"""Plots as functions that return an Axes, each algorithm with its own colour everywhere.

>>> from harness.report import plots
>>> sorted(plots.KINDS)
['differences', 'distribution', 'ndcg-over-k', 'spread', 'tradeoff']
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import metrics
from harness.errors import ResultsError
from harness.report.appearance import FAINT, INK, Look, shortened, style
from harness.report.canvas import (
    keep_ticks,
    label_rows,
    label_seconds,
    make_axes,
    write_title,
)
from harness.report.digest import Digest, Place, digest
from harness.report.placing import name_ends, place_names
from harness.report.series import (
    over_cells,
    over_k,
    over_time,
    over_users,
    rows_of,
    to_baseline,
)
from harness.results.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "KINDS",
    "differences",
    "distribution",
    "ndcg_over_k",
    "spread",
    "tradeoff",
]

NAME_SIZE = 7.0


def tradeoff(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot quality against the time that it takes.

    Parameters
    ----------
    run : Run or Digest
    metric : str, optional
        A label of the run; left out, nDCG at 10 or what is nearest to it.
    place : int
        Which table of the run, from 1.
    ax : Axes, optional
        Where to draw; a new figure in the report's style when left out.

    Returns
    -------
    Axes
        Seconds of fitting and scoring on a logarithmic axis; bars are intervals over users, the
        grey steps join the algorithms that nothing is both faster and better than.

    Raises
    ------
    ResultsError
        If no algorithm came to an end.
    """
    told, label, where = _asked(run, metric, place)
    data = over_time(where, label)
    if data.empty:
        raise ResultsError(f"{told.run.name}: no algorithm has a value of {label}; nothing to plot")
    with style():
        axes = make_axes(ax, "tradeoff", len(data))
        best_first = 1 if metrics.parse(label).higher_is_better else -1
        axes.set_xscale("log")
        axes.margins(y=0.1)
        for row in rows_of(data):
            look = told.looks[row.algorithm]
            if np.isfinite(row.low):
                axes.plot(
                    [row.seconds] * 2,
                    [row.low, row.high],
                    color=look.colour,
                    lw=1,
                    alpha=0.55,
                    solid_capstyle="butt",
                )
            _point(axes, row.seconds, row.value, look)
        front = data[data["front"]].sort_values("seconds")
        axes.step(front["seconds"], front["value"], where="post", color=FAINT, lw=0.7, zorder=1)
        steps = list(zip(front["seconds"], front["seconds"][1:], front["value"], strict=False))
        axes.set_xlabel("seconds to fit and score, mean of a cell")
        write_title(axes, label, best_first)
        label_seconds(axes, data["seconds"].tolist())
        names = [shortened(name) for name in data["algorithm"]]
        bars = list(zip(data["low"], data["high"], strict=True))
        at = data["seconds"].tolist(), data["value"].tolist()
        place_names(axes, *at, names, NAME_SIZE, bars, steps)
    return axes


def ndcg_over_k(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot a metric over its cut-off rank.

    Parameters
    ----------
    run : Run or Digest
    metric : str, optional
        Any label of the family, as ``ndcg@10`` for every ``ndcg@k`` of the run.
    place : int
        Which table of the run, from 1.
    ax : Axes, optional

    Returns
    -------
    Axes
        Bands are intervals over users; those of two algorithms may overlap where their difference,
        user by user, is sure.

    Raises
    ------
    ResultsError
        If the run has the metric at fewer than two ranks.
    """
    told, label, where = _asked(run, metric, place)
    data = over_k(told, where, label)
    ks = sorted(data["k"].unique())
    if len(ks) < 2:
        raise ResultsError(
            f"{told.run.name}: {label} at one rank only; add another to the config, as ndcg@5,10,20"
        )
    with style():
        names = list(dict.fromkeys(data["algorithm"]))
        axes = make_axes(ax, "ndcg-over-k", len(names))
        axes.set_xscale("log")
        for name in names:
            rows, look = data[data["algorithm"] == name], told.looks[name]
            if rows["low"].notna().all():
                axes.fill_between(
                    rows["k"], rows["low"], rows["high"], color=look.colour, alpha=0.1, lw=0
                )
            _line(axes, rows["k"], rows["value"], look)
        axes.set_xticks(ks, [str(k) for k in ks], minor=False)
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("k")
        write_title(axes, label.partition("@")[0] + "@k", metrics.parse(label).higher_is_better)
        ends = [float(data[data["algorithm"] == name]["value"].iloc[-1]) for name in names]
        keep_ticks(axes)
        colours = [told.looks[name].colour for name in names]
        name_ends(axes, float(ks[-1]), ends, [shortened(n) for n in names], colours, NAME_SIZE)
    return axes


def distribution(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot how a metric is distributed over users.

    Parameters
    ----------
    run : Run or Digest
    metric : str, optional
    place : int
        Which table of the run, from 1.
    ax : Axes, optional

    Returns
    -------
    Axes
        For each algorithm the middle half of the users as a bar, nine in ten as a line, the median
        as a notch and the mean as a marker.

    Raises
    ------
    ResultsError
        If the metric has no scores per user.
    """
    told, label, where = _asked(run, metric, place)
    data = over_users(told, where, label)
    if data.empty:
        raise ResultsError(f"{told.run.name}: {label} has no scores per user; choose another")
    with style():
        axes = make_axes(ax, "distribution", len(data))
        for row in rows_of(data):
            look, y = told.looks[row.algorithm], row.Index
            axes.plot([row.q05, row.q95], [y, y], color=look.colour, lw=1, solid_capstyle="butt")
            axes.barh(y, row.q75 - row.q25, left=row.q25, height=0.46, color=look.colour, lw=0)
            axes.plot([row.median] * 2, [y - 0.23, y + 0.23], color="white", lw=1.4)
            axes.plot(row.mean, y, marker="D", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        axes.set_xlabel("score of a user")
        write_title(axes, label, metrics.parse(label).higher_is_better)
        keep_ticks(axes)
    return axes


def differences(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot every algorithm less the baseline, with its interval over users.

    Parameters
    ----------
    run : Run or Digest
        A digest knows its baseline; a run is compared with the config's or the usual one.
    metric : str, optional
    place : int
        Which table of the run, from 1.
    ax : Axes, optional

    Returns
    -------
    Axes
        Filled where the difference is significant after correction, open where it is not.

    Raises
    ------
    ResultsError
        If users were not compared by this metric.
    """
    told, label, where = _asked(run, metric, place)
    data = to_baseline(told, where, label)
    if data.empty:
        raise ResultsError(
            f"{told.run.name}: {label} was not compared user by user; choose another metric"
        )
    with style():
        axes = make_axes(ax, "differences", len(data))
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        for row in rows_of(data):
            colour, y = told.looks[row.algorithm].colour, row.Index
            axes.plot([row.low, row.high], [y, y], color=colour, lw=1.6, solid_capstyle="butt")
            face = colour if row.significant else "white"
            axes.plot(row.difference, y, marker="o", ms=4.8, color=colour, mfc=face, zorder=3)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        axes.set_xlabel(f"{label} less that of {shortened(told.baseline)}")
        write_title(axes, f"difference in {label}", metrics.parse(label).higher_is_better)
        keep_ticks(axes)
    return axes


def spread(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot the value of every fold and seed.

    Parameters
    ----------
    run : Run or Digest
    metric : str, optional
    place : int
        Which table of the run, from 1.
    ax : Axes, optional

    Returns
    -------
    Axes
        A dot for each cell, a line for their mean.

    Raises
    ------
    ResultsError
        If there is one cell a row only.
    """
    told, label, where = _asked(run, metric, place)
    data = over_cells(where, label)
    if data["algorithm"].duplicated().sum() == 0:
        raise ResultsError(f"{told.run.name}: one fold and one seed; there is no spread to show")
    with style():
        names = [name for name in where.ranked(label) if name in set(data["algorithm"])]
        axes = make_axes(ax, "spread", len(names))
        for y, name in enumerate(names):
            values, look = data.loc[data["algorithm"] == name, "value"], told.looks[name]
            axes.plot([values.mean()] * 2, [y - 0.3, y + 0.3], color=INK, lw=1.2, zorder=2)
            axes.plot(
                values,
                [y] * len(values),
                ls="",
                marker=look.marker,
                color=look.colour,
                mfc=look.face,
                ms=4.2,
                alpha=0.85,
            )
        label_rows(axes, [shortened(name) for name in names])
        axes.set_xlabel("value of a fold and seed")
        write_title(axes, label, metrics.parse(label).higher_is_better)
        keep_ticks(axes)
    return axes


KINDS: dict[str, Callable[..., Axes]] = {
    "tradeoff": tradeoff,
    "ndcg-over-k": ndcg_over_k,
    "distribution": distribution,
    "differences": differences,
    "spread": spread,
}
"""Every kind of plot by the name that ``harness plot --kind`` takes."""


def _asked(run: Run | Digest, metric: str | None, place: int) -> tuple[Digest, str, Place]:
    told = digest(run)
    return told, told.metric(metric), told.place(place)


def _point(axes: Axes, x: float, y: float, look: Look) -> None:
    axes.plot(x, y, ls="", marker=look.marker, color=look.colour, mfc=look.face, zorder=3)


def _line(axes: Axes, xs: Any, ys: Any, look: Look) -> None:
    axes.plot(xs, ys, ls=look.line, marker=look.marker, color=look.colour, mfc=look.face, ms=3.6)
