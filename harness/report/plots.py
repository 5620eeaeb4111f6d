"""The kinds of plots: each knows its data, how it is drawn, and what it shows in words.

>>> from harness.report import plots
>>> sorted(plots.KINDS)
['differences', 'distribution', 'ndcg-over-k', 'spread', 'tradeoff']
"""

from __future__ import annotations

import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from harness import metrics
from harness.errors import ResultsError, counted
from harness.files import write_output
from harness.report.axes import (
    WIDTH,
    drop_crowded_ticks,
    heading_lines,
    label_rows,
    label_seconds,
    limit_rows,
    name_ends,
    scale_without,
    write_heading,
)
from harness.report.styles import FAINT, INK, plot_style
from harness.report.summary import (
    ResultTable,
    Summary,
    joined,
    plain,
    seconds_text,
    shortened,
    summarise,
)
from harness.results.runs import TIMES, Run, frame_to_csv

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "KINDS",
    "Plot",
    "View",
    "differences",
    "distribution",
    "ndcg_over_k",
    "spread",
    "tradeoff",
]

LONGEST_NAME = 120
"""Characters of a file's name before its ending."""
SHORTEST = 1e-3
"""Seconds; what is faster stands here on a logarithmic axis."""
MOST_BANDS = 6
"""Lines up to which quality over k has bands; more of them would cover each other."""
OUTSIDE = " Arrow: a baseline outside the scale, with its value."


def write_file(path: Path, data: bytes, hint: str = "") -> Path:
    """Write what somebody asked for; a failure says why, and what to do."""
    try:
        write_output(path, data)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror}){hint}") from None
    return path


@dataclass(frozen=True, eq=False)
class View:
    """What one plot shows: a metric in a table, and the data that are drawn."""

    summary: Summary
    table: ResultTable
    label: str
    data: pd.DataFrame

    @property
    def higher(self) -> bool:
        """Whether higher values are better."""
        return metrics.parse(self.label).higher_is_better

    @property
    def csv(self) -> str:
        """The data as a file."""
        return frame_to_csv(self.data, float_format="%.8g")

    def text(self, value: float) -> str:
        """Return a value as the table shows it."""
        return self.table.text(self.label, value)


class Plot(ABC):
    """A kind of plot; called with a run, it draws one.

    Attributes
    ----------
    name, title : str
        As commands and the page call it.
    caption : str
        What its marks mean.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    caption: ClassVar[str]

    def __call__(
        self,
        run: Run | Summary,
        metric: str | None = None,
        *,
        place: int = 1,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a plot of this kind.

        Parameters
        ----------
        run : Run or Summary
            A summary has a baseline; for a run it is the config's or the default one.
        metric : str, optional
            A label of the run; by default nDCG at 10 or the nearest one.
        place : int
            Which table of the run, from 1.
        ax : Axes, optional
            Where to draw; a new figure in the report's style when left out.

        Returns
        -------
        Axes

        Raises
        ------
        ResultsError
            If the run has no such metric or table, or nothing to show of this kind.
        """
        view = self.view(run, metric, place)
        with plot_style():
            if ax is None:
                import matplotlib.pyplot as plt

                ax = plt.figure(figsize=self.size(view)).subplots()
            self.draw_view(ax, view)
        return ax

    def draw_view(self, axes: Axes, view: View) -> None:
        """Draw heading, data and ticks into axes."""
        write_heading(axes, *self.heading(view))
        self.draw(axes, view)
        drop_crowded_ticks(axes)

    def view(self, run: Run | Summary, metric: str | None = None, place: int = 1) -> View:
        """Return what a plot of a run shows; parameters and errors as those of a call."""
        summary = summarise(run)
        label, table = summary.metric(metric), summary.table(place)
        return View(summary, table, label, self.data(summary, table, label))

    def size(self, view: View) -> tuple[float, float]:
        """Return width and height in inches: one column wide, as high as the rows need."""
        n_lines = sum(len(lines) for lines in heading_lines(*self.heading(view)))
        return WIDTH, round(self.height(len(view.table.rows)) + 0.12 * n_lines, 2)

    def heading(self, view: View) -> tuple[str, str]:
        """Return title, with the better direction, and subtitle: data, split and candidates."""
        way = "higher is better" if view.higher else "lower is better"
        return f"{self.quantity(view.label)}, {way}", " · ".join(view.table.names)

    def quantity(self, label: str) -> str:
        """Return what is shown of a metric."""
        return label

    def height(self, n_rows: int) -> float:
        """Return the height without the heading, in inches."""
        return 0.66 + 0.19 * max(n_rows, 2)

    def render(self, view: View, form: str, **settings: object) -> bytes:
        """Return a plot as an SVG or PNG file, with settings as `plot_style` takes them."""
        from matplotlib.figure import Figure

        file = io.BytesIO()
        with plot_style(**settings):
            figure = Figure(figsize=self.size(view))
            self.draw_view(figure.subplots(), view)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
            figure.savefig(file, format=form, metadata=metadata)
        return file.getvalue()

    def write(
        self, summary: Summary, label: str | None, place: int, form: str, folder: Path
    ) -> Path:
        """Write a plot into a folder; its name contains the kind, the metric and the table."""
        view = self.view(summary, label, place)
        title = f"-{place}-{view.table.title}" if len(summary.tables) > 1 else ""
        name = "-".join(re.findall(r"[\w@.]+", f"{self.name}-{view.label}{title}"))[:LONGEST_NAME]
        return write_file(folder / f"{name}.{form}", self.render(view, form), "; use --output")

    @abstractmethod
    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return what is drawn, best first.

        Raises
        ------
        ResultsError
            If there is nothing to show.
        """

    @abstractmethod
    def draw(self, axes: Axes, view: View) -> None:
        """Draw the data."""

    @abstractmethod
    def describe(self, view: View) -> str:
        """Return what the plot shows, as its text alternative."""


class _Tradeoff(Plot):
    """Quality against the seconds of fitting and scoring, on a logarithmic axis."""

    name = "tradeoff"
    title = "Quality against time"
    caption = (
        "Bars: intervals over users. Steps join the algorithms that no other is both faster and "
        "better than." + OUTSIDE
    )

    def height(self, n_rows: int) -> float:
        return 2.7 + 0.03 * max(n_rows - 4, 0)

    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return ``algorithm``, ``seconds``, ``value``, ``low``, ``high`` and ``front``.

        ``front`` marks the algorithms that no other is both faster and better than.
        """
        import pandas as pd

        rows = table.rows[table.rows["algorithm"].isin(table.ranked(label))]
        if rows.empty:
            raise ResultsError(
                f"{summary.run.name}: no algorithm has a value of {label}; nothing to plot"
            )
        seconds = (rows[TIMES[0]] + rows[TIMES[1]]).clip(lower=SHORTEST)
        found = pd.DataFrame(
            {"algorithm": rows["algorithm"], "seconds": seconds, "value": rows[label]}
        )
        found[["low", "high"]] = [table.interval(label, name) for name in found["algorithm"]]
        sign = 1 if metrics.parse(label).higher_is_better else -1
        order = found.assign(quality=sign * found["value"])
        order = order.sort_values(["seconds", "quality"], ascending=[True, False], kind="stable")
        best_before = order["quality"].cummax().shift(fill_value=-math.inf)
        found["front"] = order["quality"] > best_before
        return found.reset_index(drop=True)

    def draw(self, axes: Axes, view: View) -> None:
        data, styles = view.data, view.summary.styles
        axes.set_xscale("log")
        low, high, out = scale_without(_spans(data, "value"), view.higher)
        pad = 0.1 * ((high - low) or 1.0)
        axes.set_ylim(low - pad, high + pad)
        colours = [styles[name].colour for name in data["algorithm"]]
        axes.vlines(data["seconds"], data["low"], data["high"], colours, lw=1, alpha=0.55)
        for row in _rows(data):
            axes.plot(row.seconds, row.value, ls="", zorder=3, **styles[row.algorithm].marks)
        front = data[data["front"]].sort_values("seconds")
        axes.step(front["seconds"], front["value"], where="post", color=FAINT, lw=0.7, zorder=1)
        axes.set_xlabel("seconds to fit and score, mean of a cell")
        label_seconds(axes, data["seconds"].tolist())
        names = [
            _with_arrow(view, row, low, high) if row.algorithm in out else shortened(row.algorithm)
            for row in _rows(data)
        ]
        name_ends(axes, data["value"].tolist(), names, [styles[n] for n in data["algorithm"]])

    def describe(self, view: View) -> str:
        front = view.data[view.data["front"]].sort_values("seconds")
        points = [
            f"{plain(row.algorithm)} ({seconds_text(row.seconds)}, {view.text(row.value)})"
            for row in _rows(front)
        ]
        return (
            f"{view.label} against seconds to fit and score of "
            f"{counted(len(view.data), 'algorithm')}. "
            f"No algorithm is both faster and better than {joined(points)}."
        )


class _NdcgOverK(Plot):
    """A metric over its cut-off rank, for every label of its family.

    The intervals of two algorithms may overlap where their
    difference, user by user, is significant.
    """

    name = "ndcg-over-k"
    title = "Quality over k"
    caption = (
        "Names are in the order of the values at the last k. Bands (up to six algorithms): "
        "intervals over users. ≈: the line lies on that of the name above." + OUTSIDE
    )

    def quantity(self, label: str) -> str:
        return label.rpartition("@")[0] + "@k"

    def height(self, n_rows: int) -> float:
        return max(2.5, 0.8 + 0.2 * n_rows)

    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return ``algorithm``, ``k``, ``value``, ``low``, ``high`` for every rank."""
        import pandas as pd

        wanted = metrics.parse(label)
        parsed = [metrics.parse(each) for each in summary.info.metrics]
        family = sorted(
            (metric.k, str(metric))
            for metric in parsed
            if metric.k is not None and (metric.name, metric.chosen) == (wanted.name, wanted.chosen)
        )
        if len(family) < 2:
            raise ResultsError(
                f"{summary.run.name}: {label} at one rank only; add another to the config, "
                "as ndcg@5,10,20"
            )
        rows = [
            (name, k, float(table.records[name][each]), *table.interval(each, name))
            for name in table.ranked(label)
            for k, each in family
        ]
        if not rows:
            raise ResultsError(f"{summary.run.name}: no algorithm has a value of {label}")
        return pd.DataFrame(rows, columns=["algorithm", "k", "value", "low", "high"])

    def draw(self, axes: Axes, view: View) -> None:
        data, styles = view.data, view.summary.styles
        ks = sorted(data["k"].unique())
        last = data[data["k"] == ks[-1]].sort_values("value", ascending=not view.higher)
        names = last["algorithm"].tolist()
        rows_of = {name: data[data["algorithm"] == name] for name in names}
        axes.set_xscale("log")
        spans = {}
        for name, rows in rows_of.items():
            drawn = rows[["value"]]
            if len(names) <= MOST_BANDS and rows["low"].notna().all():
                colour = styles[name].colour
                axes.fill_between(
                    rows["k"], rows["low"], rows["high"], color=colour, alpha=0.1, lw=0
                )
                drawn = rows[["low", "value", "high"]]
            spans[name] = (float(drawn.to_numpy().min()), float(drawn.to_numpy().max()))
        low, high, out = scale_without(spans, view.higher)
        for name, rows in rows_of.items():
            line: dict[str, Any] = {"ls": styles[name].line, "ms": 3.6, "clip_on": name in out}
            axes.plot(rows["k"], rows["value"], **line, **styles[name].marks)
        pad = 0.04 * ((high - low) or 1.0)
        axes.set_ylim(low - pad, high + pad)
        axes.set_xlim(ks[0] / (ks[-1] / ks[0]) ** 0.04, ks[-1])
        axes.set_xticks(ks, [str(k) for k in ks], minor=False)
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("k")
        covered = _covered(data, names, (high - low) / 200)
        texts = [
            ("≈ " if row.algorithm in covered else "") + _with_arrow(view, row, low, high)
            for row in _rows(last)
        ]
        name_ends(axes, last["value"].tolist(), texts, [styles[name] for name in names])

    def describe(self, view: View) -> str:
        ks = sorted(view.data["k"].unique())
        name = view.table.ranked(view.label)[0]
        rows = view.data[view.data["algorithm"] == name].sort_values("k")
        first, last = (view.text(rows["value"].iloc[i]) for i in (0, -1))
        return (
            f"{view.label.partition('@')[0]} at ranks {joined([str(k) for k in ks])}. "
            f"{plain(name)}, best by {view.label}, goes from {first} at {ks[0]} to {last} at "
            f"{ks[-1]}."
        )


class _Distribution(Plot):
    """How a metric is distributed over users, whose scores in several cells are averaged first."""

    name = "distribution"
    title = "Users"
    caption = (
        "Bar: the middle half of the users. Line: from the 5% to the 95% quantile. Notch: median. "
        "Diamond: mean."
    )

    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return ``algorithm``, ``n_users``, ``mean`` and quantiles of the users' scores."""
        import pandas as pd

        if label not in table.users or not table.users[label].notna().any():
            raise ResultsError(
                f"{summary.run.name}: {label} has no scores per user; choose another"
            )
        scores = table.users.pivot_table(
            index="user", columns="algorithm", values=label, sort=False, observed=True
        ).dropna(axis="columns", how="all")
        scores = scores[[name for name in table.ranked(label) if name in scores]]
        if scores.empty:
            raise ResultsError(f"{summary.run.name}: no algorithm has a value of {label}")
        columns = {"n_users": scores.count(), "mean": scores.mean()}
        shares = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
        columns |= {name: scores.quantile(share) for name, share in shares.items()}
        return pd.DataFrame(columns).rename_axis("algorithm").reset_index()

    def draw(self, axes: Axes, view: View) -> None:
        data, y = view.data, view.data.index
        colours = [view.summary.styles[name].colour for name in data["algorithm"]]
        axes.hlines(y, data["q05"], data["q95"], colours, lw=1)
        width = data["q75"] - data["q25"]
        axes.barh(y, width, left=data["q25"], height=0.46, color=colours, lw=0)
        axes.vlines(data["median"], y - 0.23, y + 0.23, "white", lw=1.4, zorder=2)
        axes.plot(data["mean"], y, "D", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        axes.set_xlabel("score of a user")

    def describe(self, view: View) -> str:
        row = view.data.iloc[0]
        return (
            f"{view.label} of {row['n_users']:,} users. For {plain(row['algorithm'])}, the best on "
            f"average, the middle half of the users lies between {view.text(row['q25'])} and "
            f"{view.text(row['q75'])}, the median at {view.text(row['median'])}."
        )


class _Differences(Plot):
    """Every algorithm less the baseline; filled where significant after correction."""

    name = "differences"
    title = "Differences to the baseline"
    caption = (
        "Paired by user. Line: interval of the difference. Filled: significant after correction."
        + OUTSIDE
    )

    def quantity(self, label: str) -> str:
        return f"difference in {label}"

    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return each other algorithm's difference, interval, adjusted p-value and significance."""
        import pandas as pd

        pairs = table.differences(label, summary.baseline, corrected_alone=True)
        if not pairs:
            raise ResultsError(
                f"{summary.run.name}: {label} was not compared user by user; choose another metric"
            )
        sign = 1 if metrics.parse(label).higher_is_better else -1
        pairs.sort(key=lambda pair: -sign * pair.difference)
        columns = ["difference", "low", "high", "p_adjusted", "p_is_bound", "significant"]
        rows = [(pair.first, *(getattr(pair, column) for column in columns)) for pair in pairs]
        return pd.DataFrame(rows, columns=["algorithm", *columns]).astype(
            {"low": float, "high": float}
        )

    def draw(self, axes: Axes, view: View) -> None:
        data, y = view.data, view.data.index
        colours = [view.summary.styles[name].colour for name in data["algorithm"]]
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        axes.hlines(y, data["low"], data["high"], colours, lw=1.6, zorder=2)
        for row, colour in zip(_rows(data), colours, strict=True):
            face = colour if row.significant else "white"
            axes.plot(row.difference, row.Index, "o", ms=4.8, color=colour, mfc=face, zorder=3)
        label_rows(axes, [shortened(name) for name in data["algorithm"]])
        spans = _spans(data, "difference")
        limit_rows(axes, spans, data["difference"].tolist(), view.higher, [0.0])
        axes.set_xlabel(f"difference to {shortened(view.summary.baseline)}")

    def describe(self, view: View) -> str:
        sure = view.data[view.data["significant"]]
        n_better = int(((sure["difference"] > 0) == view.higher).sum())
        return (
            f"{view.label} less that of {plain(view.summary.baseline)}. Of "
            f"{counted(len(view.data), 'algorithm')}, {n_better} significantly better, "
            f"{len(sure) - n_better} significantly worse, {len(view.data) - len(sure)} not "
            "significantly different."
        )


class _Spread(Plot):
    """The value of every fold and seed."""

    name = "spread"
    title = "Folds and seeds"
    caption = "Each mark is one fold and seed, the line their mean." + OUTSIDE

    def data(self, summary: Summary, table: ResultTable, label: str) -> pd.DataFrame:
        """Return ``algorithm``, ``seed``, ``fold`` and ``value`` of every finished cell."""
        import pandas as pd

        names = table.ranked(label)
        rows = [
            (cell.algorithm, cell.seed, cell.fold, cell.scores[label].mean)
            for cell in table.cells
            if cell.algorithm in names
        ]
        found = pd.DataFrame(rows, columns=["algorithm", "seed", "fold", "value"])
        found = found.dropna(subset=["value"]).reset_index(drop=True)
        if not found["algorithm"].duplicated().any():
            raise ResultsError(
                f"{summary.run.name}: one fold and one seed; there is no spread to show"
            )
        return found

    def draw(self, axes: Axes, view: View) -> None:
        values_of = dict(list(view.data.groupby("algorithm")["value"]))
        names = [name for name in view.table.ranked(view.label) if name in values_of]
        for y, name in enumerate(names):
            values, marks = values_of[name], view.summary.styles[name].marks
            axes.vlines(values.mean(), y - 0.3, y + 0.3, INK, lw=1.2)
            axes.plot(values, [y] * len(values), ls="", ms=4.2, alpha=0.85, **marks)
        label_rows(axes, [shortened(name) for name in names])
        spans = {name: (values_of[name].min(), values_of[name].max()) for name in names}
        limit_rows(axes, spans, [values_of[name].mean() for name in names], view.higher)
        axes.set_xlabel("value of a fold and seed")

    def describe(self, view: View) -> str:
        by_name = view.data.groupby("algorithm", sort=False)["value"]
        width = by_name.max() - by_name.min()
        return (
            f"{view.label} of {counted(len(view.data), 'cell')}. Between a row's folds and seeds "
            f"the values differ by {view.text(width.min())} to {view.text(width.max())}."
        )


tradeoff, ndcg_over_k = _Tradeoff(), _NdcgOverK()
distribution, differences, spread = _Distribution(), _Differences(), _Spread()
KINDS: dict[str, Plot] = {
    each.name: each for each in (tradeoff, ndcg_over_k, distribution, differences, spread)
}
"""Every kind of plot by the name that ``harness plot --kind`` takes."""


def _rows(data: pd.DataFrame) -> Iterator[Any]:
    """Return the rows as named tuples, ``Index`` first."""
    return iter(data.itertuples())


def _spans(data: pd.DataFrame, column: str) -> dict[str, tuple[float, float]]:
    """Return, by algorithm, the ends of its value and interval."""
    ends = data[["low", column, "high"]]
    both = zip(ends.min(axis=1), ends.max(axis=1), strict=True)
    return dict(zip(data["algorithm"], both, strict=True))


def _with_arrow(view: View, row: Any, low: float, high: float) -> str:
    """Return a name with its value, marked if it is outside the scale."""
    arrow = " ↓" if row.value < low else " ↑" if row.value > high else ""
    return f"{shortened(row.algorithm, 18)} {view.text(row.value)}{arrow}"


def _covered(data: pd.DataFrame, names: Sequence[str], width: float) -> set[str]:
    """Return the names whose line lies on that of the name before at every rank."""
    values = data.set_index(["algorithm", "k"])["value"]
    return {
        name
        for before, name in pairwise(names)
        if (values[before] - values[name]).abs().max() <= width
    }
