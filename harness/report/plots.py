"""Plots as functions that return an Axes, each algorithm with its own colour everywhere.

>>> from harness.report import plots
>>> sorted(plots.KINDS)
['differences', 'distribution', 'ndcg-over-k', 'spread', 'tradeoff']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import metrics
from harness.errors import ResultsError
from harness.report.appearance import FAINT, INK, Look, shortened, style
from harness.report.canvas import (
    Heading,
    keep_ticks,
    label_rows,
    label_seconds,
    limit_rows,
    make_axes,
    scale_without,
    write_heading,
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
from harness.results.rounding import DEFAULT_DECIMALS, decimals, rounded
from harness.results.run import Run

if TYPE_CHECKING:
    import pandas as pd
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
MOST_BANDS = 6
"""Lines up to which quality over k has bands; more of them would cover each other."""


def tradeoff(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot quality against the time that it takes.

    Parameters
    ----------
    run : Run or Digest
    metric : str, optional
        A label of the run; by default nDCG at 10 or the nearest one.
    place : int
        Which table of the run, from 1.
    ax : Axes, optional
        Where to draw; a new figure in the report's style when left out.

    Returns
    -------
    Axes
        Seconds of fitting and scoring on a logarithmic axis; bars are intervals over users, the
        grey steps join the algorithms that no other is both faster and better than.

    Raises
    ------
    ResultsError
        If no algorithm has a value.
    """
    told, label, where = _asked(run, metric, place)
    data = over_time(where, label)
    if data.empty:
        raise ResultsError(f"{told.run.name}: no algorithm has a value of {label}; nothing to plot")
    with style():
        head = heading("tradeoff", label, where)
        axes = make_axes(ax, "tradeoff", len(data), head)
        axes.set_xscale("log")
        spans = {row.algorithm: _ends(row.low, row.value, row.high) for row in rows_of(data)}
        low, high, out = scale_without(spans, _higher(label))
        pad = 0.1 * ((high - low) or 1.0)
        axes.set_ylim(low - pad, high + pad)
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
        write_heading(axes, head)
        label_seconds(axes, data["seconds"].tolist())
        keep_ticks(axes)
        names = [
            _with_arrow(
                f"{shortened(row.algorithm)} {_shown(row.value, where, label)}",
                row.value,
                low,
                high,
            )
            if row.algorithm in out
            else shortened(row.algorithm)
            for row in rows_of(data)
        ]
        # The name of a point outside the scale stands at the nearer edge.
        ys = data["value"].clip(low - pad, high + pad).tolist()
        bars = list(zip(data["low"], data["high"], strict=True))
        place_names(axes, data["seconds"].tolist(), ys, names, NAME_SIZE, bars, steps)
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
        user by user, is significant.

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
        last = data[data["k"] == ks[-1]].sort_values("value", ascending=not _higher(label))
        names = last["algorithm"].tolist()
        head = heading("ndcg-over-k", label, where)
        axes = make_axes(ax, "ndcg-over-k", len(names), head)
        axes.set_xscale("log")
        spans = {}
        for name in names:
            rows, look = data[data["algorithm"] == name], told.looks[name]
            drawn = [*rows["value"]]
            if len(names) <= MOST_BANDS and rows["low"].notna().all():
                axes.fill_between(
                    rows["k"], rows["low"], rows["high"], color=look.colour, alpha=0.1, lw=0
                )
                drawn += [*rows["low"], *rows["high"]]
            spans[name] = (min(drawn), max(drawn))
        low, high, out = scale_without(spans, _higher(label))
        for name in names:
            rows = data[data["algorithm"] == name]
            _line(axes, rows["k"], rows["value"], told.looks[name], clip=name in out)
        pad = 0.04 * ((high - low) or 1.0)
        axes.set_ylim(low - pad, high + pad)
        axes.set_xlim(ks[0] / (ks[-1] / ks[0]) ** 0.04, ks[-1])
        axes.set_xticks(ks, [str(k) for k in ks], minor=False)
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("k")
        write_heading(axes, head)
        ends = last["value"].tolist()
        covered = _covered(data, names, (high - low) / 200)
        texts = [
            ("≈ " if name in covered else "")
            + _with_arrow(f"{shortened(name, 18)} {_shown(end, where, label)}", end, low, high)
            for name, end in zip(names, ends, strict=True)
        ]
        name_ends(axes, ends, texts, [told.looks[name].colour for name in names], NAME_SIZE)
        keep_ticks(axes)
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
        head = heading("distribution", label, where)
        axes = make_axes(ax, "distribution", len(data), head)
        for row in rows_of(data):
            look, y = told.looks[row.algorithm], row.Index
            axes.plot([row.q05, row.q95], [y, y], color=look.colour, lw=1, solid_capstyle="butt")
            axes.barh(y, row.q75 - row.q25, left=row.q25, height=0.46, color=look.colour, lw=0)
            axes.plot([row.median] * 2, [y - 0.23, y + 0.23], color="white", lw=1.4)
            axes.plot(row.mean, y, marker="D", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        axes.set_xlabel("score of a user")
        write_heading(axes, head)
        keep_ticks(axes)
    return axes


def differences(
    run: Run | Digest, metric: str | None = None, *, place: int = 1, ax: Axes | None = None
) -> Axes:
    """Plot every algorithm less the baseline, with its interval over users.

    Parameters
    ----------
    run : Run or Digest
        A digest has a baseline; for a run it is the config's or the default one.
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
        head = heading("differences", label, where)
        axes = make_axes(ax, "differences", len(data), head)
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        for row in rows_of(data):
            colour, y = told.looks[row.algorithm].colour, row.Index
            axes.plot([row.low, row.high], [y, y], color=colour, lw=1.6, solid_capstyle="butt")
            face = colour if row.significant else "white"
            axes.plot(row.difference, y, marker="o", ms=4.8, color=colour, mfc=face, zorder=3)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        spans = {row.algorithm: _ends(row.low, row.difference, row.high) for row in rows_of(data)}
        _limit(
            axes,
            spans,
            dict(zip(data["algorithm"], data["difference"], strict=True)),
            _higher(label),
            [0.0],
        )
        axes.set_xlabel(f"difference to {shortened(told.baseline)}")
        write_heading(axes, head)
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
        head = heading("spread", label, where)
        axes = make_axes(ax, "spread", len(names), head)
        of_rows = data.groupby("algorithm", sort=False)["value"].agg(["min", "mean", "max"])
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
        spans = {n: (of_rows["min"][n], of_rows["max"][n]) for n in names}
        _limit(axes, spans, {n: of_rows["mean"][n] for n in names}, _higher(label))
        axes.set_xlabel("value of a fold and seed")
        write_heading(axes, head)
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


def heading(kind: str, label: str, where: Place) -> Heading:
    """Return title and subtitle of a plot."""
    shown = {
        "ndcg-over-k": label.rpartition("@")[0] + "@k",
        "differences": f"difference in {label}",
    }.get(kind, label)
    way = "higher is better" if _higher(label) else "lower is better"
    return Heading(f"{shown}, {way}", where.about)


def _higher(label: str) -> bool:
    better = metrics.parse(label).higher_is_better
    return bool(better and better > 0)


def _limit(
    axes: Axes,
    spans: dict[str, tuple[float, float]],
    values: dict[str, float],
    higher: bool,
    always: Sequence[float] = (),
) -> None:
    """Leave rows out of the scale that would compress the others, and write their values."""
    limits = scale_without(spans, higher, always)
    digits = decimals([(limits[1] - limits[0]) / 20])
    rows = [(n, values[n], f"{values[n]:.{digits}f}".replace("-", "−")) for n in spans]
    limit_rows(axes, limits, rows)


def _shown(value: float, where: Place, label: str) -> str:
    return rounded(value, where.decimals.get(label, DEFAULT_DECIMALS))


def _with_arrow(text: str, value: float, low: float, high: float) -> str:
    """Mark a name whose value lies outside the scale."""
    return text + (" ↓" if value < low else " ↑" if value > high else "")


def _covered(data: pd.DataFrame, names: Sequence[str], width: float) -> set[str]:
    """Return the names whose line lies on that of the name before at every rank."""
    values = data.set_index(["algorithm", "k"])["value"]
    return {
        name
        for before, name in pairwise(names)
        if (values[before] - values[name]).abs().max() <= width
    }


def _ends(low: float, value: float, high: float) -> tuple[float, float]:
    return float(np.nanmin([low, value])), float(np.nanmax([value, high]))


def _point(axes: Axes, x: float, y: float, look: Look) -> None:
    axes.plot(x, y, ls="", marker=look.marker, color=look.colour, mfc=look.face, zorder=3)


def _line(axes: Axes, xs: Any, ys: Any, look: Look, *, clip: bool) -> None:
    axes.plot(
        xs,
        ys,
        ls=look.line,
        marker=look.marker,
        color=look.colour,
        mfc=look.face,
        ms=3.6,
        clip_on=clip,
    )
