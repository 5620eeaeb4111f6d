"""The kinds of plots: each knows its data, how it is drawn, and what it shows in words.

>>> from harness.report import plots
>>> sorted(plots.KINDS)
['differences', 'distribution', 'groups', 'ndcg-over-k', 'spread', 'tradeoff']
"""

from __future__ import annotations

import io
import math
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from harness import metrics
from harness.errors import ResultsError
from harness.files import write_output
from harness.report.styles import COLOURS, FAINT, INK, MUTED, plot_style
from harness.report.summary import Summary, plain, seconds_text, sentences, shortened, summarise
from harness.results.best import NOT_PERSONALISED
from harness.results.runs import TIMES, Run, decimals, frame_to_csv
from harness.sections import folded

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 3.5
"""Inches: one column of text."""
TITLE, SUBTITLE, LABEL = 8.0, 7.0, 7.5
"""Sizes of text in points, as `style.mplstyle` has them."""
MARGIN = 5.0
"""Points between text and the edge of a figure."""
MOST_LINES = 4
"""Lines of a title or subtitle; longer text is cut with an ellipsis."""
LONGEST_NAME = 120
"""Characters of a file's name before its ending."""
SHORTEST = 1e-3
"""Seconds; what is faster stands here on a logarithmic axis."""
MOST_BANDS = 6
"""Lines up to which quality over k has bands; more of them would cover each other."""
GROUP_MARKS = "os^DvP"
"""Of groups, up to as many; of more, the two ends have names."""
OUTSIDE = " Arrow: a baseline outside the scale, with its value."

Spans = Mapping[str, tuple[float, float]]
"""By algorithm, both ends of what is drawn of it."""


class Plot(ABC):
    """One plot: a metric of a run in one of its tables.

    Raises ResultsError if the run has no such metric or table, or nothing to show of this kind.
    """

    name: ClassVar[str]
    """As commands call the kind."""
    title: ClassVar[str]
    """As the page calls it."""
    caption: ClassVar[str]
    """What its marks mean."""
    quantity: ClassVar[str] = "{label}"
    """What is shown of the metric: its label, or `family` without the rank."""
    about = ""
    """What the title says beside it."""
    inches: ClassVar[tuple[float, float, float]] = (1.04, 0.66, 0.19)
    """Height without the heading: the least, that of no rows, and of each row."""

    def __init__(self, run: Run | Summary, metric: str | None = None, place: int = 1) -> None:
        self.summary = summarise(run)
        self.label, self.table = self.summary.metric(metric), self.summary.table(place)
        self.higher = metrics.parse(self.label).higher_is_better
        self.data = self._select()

    @classmethod
    def each(cls, run: Run | Summary, metric: str | None = None, place: int = 1) -> list[Plot]:
        """Return every plot of this kind: one, unless the metric has several parts."""
        return [cls(run, metric, place)]

    @property
    def part(self) -> str:
        """What the name of the file says beside metric and table."""
        return ""

    @classmethod
    def show(
        cls,
        run: Run | Summary,
        metric: str | None = None,
        *,
        place: int = 1,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a plot of this kind into `ax`, or a new figure in the report's style.

        By default, its metric is nDCG at 10 or the nearest one, and its table the first; the
        baseline is that of a summary, or of the run's config.
        """
        plot = cls(run, metric, place)
        with plot_style():
            if ax is None:
                import matplotlib.pyplot as plt

                ax = plt.figure(figsize=plot.size).subplots()
            plot.draw(ax)
        return ax

    def describe(self) -> str:
        """Return what the plot shows, as its text alternative."""
        return sentences(self.name.replace("-", "_"), plot=self, **self._facts())

    @property
    def csv(self) -> str:
        """The data as a file."""
        return frame_to_csv(self.data, float_format="%.8g")

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches: one column wide, as high as the rows need."""
        n_lines = sum(map(len, self._heading(WIDTH * 72 - 2 * MARGIN)))
        least, none, row = self.inches
        return WIDTH, round(max(least, none + row * len(self.table.rows)) + 0.12 * n_lines, 2)

    def draw(self, axes: Axes) -> None:
        """Draw heading, data and ticks into axes."""
        self._write_heading(axes)
        self._draw(axes)
        _drop_crowded_ticks(axes)

    def render(self, form: str, **settings: object) -> bytes:
        """Return the plot as an SVG or PNG file, with settings as `plot_style` takes them."""
        from matplotlib.figure import Figure

        file = io.BytesIO()
        with plot_style(**settings):
            figure = Figure(figsize=self.size)
            self.draw(figure.subplots())
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else {})
        return file.getvalue()

    def write(self, form: str, folder: Path) -> Path:
        """Write the plot into a folder; its name contains the kind, the metric and the table."""
        several = len(self.summary.tables) > 1
        title = f"-{self.table.number}-{self.table.title}" if several else ""
        name = "-".join(re.findall(r"[\w@.]+", f"{self.name}-{self.label}{self.part}{title}"))[
            :LONGEST_NAME
        ]
        return write_file(folder / f"{name}.{form}", self.render(form), "; use --output")

    @abstractmethod
    def _select(self) -> pd.DataFrame:
        """Return what is drawn, best first."""

    @abstractmethod
    def _draw(self, axes: Axes) -> None:
        """Draw the data."""

    @abstractmethod
    def _facts(self) -> dict[str, object]:
        """Return what the text alternative names."""

    def _text(self, value: float) -> str:
        return self.table.text(self.label, value)

    def _colours(self) -> list[str]:
        return [self.summary.styles[name].colour for name in self.data["algorithm"]]

    def _nothing(self, reason: str) -> ResultsError:
        return ResultsError(f"{self.summary.run.name}: {reason}")

    def _heading(self, width: float) -> tuple[list[str], list[str]]:
        """Return the lines of title and subtitle that fit a width in points."""
        shown = self.quantity.format(label=self.label, family=self.label.rpartition("@")[0])
        shown += self.about
        way = "higher is better" if self.higher else "lower is better"
        about = " · ".join(self.table.names)
        return _wrapped(f"{shown}, {way}", width, TITLE, "bold"), _wrapped(about, width, SUBTITLE)

    def _write_heading(self, axes: Axes) -> None:
        """Write title and subtitle above the plot, from the left edge of a figure with one plot."""
        from matplotlib.transforms import blended_transform_factory

        figure = axes.get_figure(root=True)
        assert figure is not None
        across, x, width = axes.transAxes, 0.0, axes.get_window_extent().width / figure.dpi * 72
        if len(figure.axes) == 1:
            across, x = figure.transFigure, MARGIN / 72 / figure.get_figwidth()
            width = figure.get_figwidth() * 72 - 2 * MARGIN
        upper, lower = self._heading(width)
        # Empty lines of the title hold the place of the subtitle, so that the layout makes room.
        title = axes.set_title("\n".join(upper + [" "] * len(lower)), loc="left", color=INK)
        place = blended_transform_factory(across, title.get_transform())
        title.set(x=x, transform=place)
        about = figure.text(x, 1.0, "\n".join(lower), size=SUBTITLE, color=MUTED, transform=place)
        about.set_in_layout(False)

    def _name_ends(
        self,
        axes: Axes,
        values: Mapping[str, float],
        spans: Spans,
        margin: float,
        covered: Container[str] | None = None,
    ) -> None:
        """Scale the y axis, and name algorithms beside it, each as near to its value as possible.

        A thin line joins the marker beside each name to its value. A name whose value is outside
        the scale stands at the nearer edge, with value and arrow. With `covered`, those whose line
        lies on that of the name above, all have their value.
        """
        least, greatest, out = scale_without(spans, self.higher)
        pad = margin * ((greatest - least) or 1.0)
        low, high = least - pad, greatest + pad
        axes.set_ylim(low, high)
        dpi = _laid_out(axes).dpi
        gap = (high - low) * (SUBTITLE + 1.6) / (axes.get_window_extent().height / dpi * 72)
        placed = spread_positions(list(values.values()), gap, low, high)
        beside = axes.get_yaxis_transform()
        for (name, value), at in zip(values.items(), placed, strict=True):
            text = shortened(name)
            if covered is not None or name in out:
                arrow = " ↓" if value < least else " ↑" if value > greatest else ""
                same = "≈ " if covered and name in covered else ""
                text = f"{same}{shortened(name, 18)} {self._text(value)}{arrow}"
            axes.text(1.12, at, text, transform=beside, size=SUBTITLE, va="center", color=MUTED)
            axes.plot(
                [1.01, 1.04, 1.085],
                [min(max(value, low), high), at, at],
                transform=beside,
                ls="-" if low <= value <= high else "",
                markevery=[-1],
                ms=3.6,
                lw=0.6,
                clip_on=False,
                **self.summary.styles[name].marks,
            )
        axes.set_ylim(low, high)

    def _limit_rows(
        self, axes: Axes, spans: Spans, values: Iterable[float], always: Sequence[float] = ()
    ) -> None:
        """Scale the x axis; a row outside gets its value and an arrow."""
        low, high, out = scale_without(spans, self.higher, always)
        digits = decimals([(high - low) / 20])
        pad = 0.05 * ((high - low) or abs(high) or 1.0)
        axes.set_xlim(low - pad, high + pad)
        for y, (name, value) in enumerate(zip(spans, values, strict=True)):
            if name in out:
                number, left = f"{value:.{digits}f}".replace("-", "−"), value < low
                axes.text(
                    0.01 if left else 0.99,
                    y,
                    f"← {number}" if left else f"{number} →",
                    transform=axes.get_yaxis_transform(),
                    ha="left" if left else "right",
                    va="center",
                    size=SUBTITLE,
                    color=MUTED,
                )


class _Tradeoff(Plot):
    """Quality against the seconds of fitting and scoring, on a logarithmic axis."""

    name = "tradeoff"
    title = "Quality against time"
    caption = (
        "Bars: intervals over users. Steps join the algorithms that no other is both faster and "
        "better than." + OUTSIDE
    )
    inches = (2.7, 2.58, 0.03)

    def _select(self) -> pd.DataFrame:
        """Return a row for each algorithm; ``front`` if no other is both faster and better."""
        import pandas as pd

        rows = self.table.rows[self.table.rows["algorithm"].isin(self.table.ranked(self.label))]
        rows = rows[rows[TIMES[0]].notna()]  # nobody measured those of another program
        if rows.empty:
            raise self._nothing(f"no algorithm has a value of {self.label}; nothing to plot")
        seconds = (rows[TIMES[0]] + rows[TIMES[1]]).clip(lower=SHORTEST)
        names = rows["algorithm"]
        found = pd.DataFrame({"algorithm": names, "seconds": seconds, "value": rows[self.label]})
        found[["low", "high"]] = [self.table.interval(self.label, name) for name in names]
        order = found.assign(quality=found["value"] if self.higher else -found["value"])
        order = order.sort_values(["seconds", "quality"], ascending=[True, False], kind="stable")
        best_before = order["quality"].cummax().shift(fill_value=-math.inf)
        found["front"] = order["quality"] > best_before
        return found.reset_index(drop=True)

    def _draw(self, axes: Axes) -> None:
        from matplotlib.ticker import LogLocator, NullLocator

        data, seconds = self.data, self.data["seconds"]
        values = dict(zip(data["algorithm"], data["value"], strict=True))
        axes.set_xscale("log")
        axes.vlines(seconds, data["low"], data["high"], self._colours(), lw=1, alpha=0.55)
        for (name, value), x in zip(values.items(), seconds, strict=True):
            axes.plot(x, value, ls="", zorder=3, **self.summary.styles[name].marks)
        front = data[data["front"]].sort_values("seconds")
        axes.step(front["seconds"], front["value"], where="post", color=FAINT, lw=0.7, zorder=1)
        low, high = seconds.min() / 1.6, seconds.max() * 1.6
        steps = (1,) if high / low > 1500 else (1, 3) if high / low > 8 else (1, 2, 3, 5, 7)
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(subs=steps))
        axes.xaxis.set_major_formatter("{x:.10g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("seconds to fit and score, mean of a cell")
        self._name_ends(axes, values, _spans(data, "value"), 0.1)

    def _facts(self) -> dict[str, object]:
        front = self.data[self.data["front"]].sort_values("seconds")
        columns = (front[column] for column in ("algorithm", "seconds", "value"))
        points = zip(*columns, strict=True)
        return {"front": [(plain(n), seconds_text(s), self._text(value)) for n, s, value in points]}


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
    quantity = "{family}@k"
    inches = (2.5, 0.8, 0.2)

    def _select(self) -> pd.DataFrame:
        """Return value and interval of each algorithm at every rank."""
        import pandas as pd

        wanted = metrics.parse(self.label)
        parsed = [metrics.parse(each) for each in self.summary.info.metrics]
        family = sorted(
            (metric.k, str(metric))
            for metric in parsed
            if metric.k is not None and (metric.name, metric.chosen) == (wanted.name, wanted.chosen)
        )
        if len(family) < 2:
            raise self._nothing(
                f"{self.label} at one rank only; add another to the config, as ndcg@5,10,20"
            )
        rows = [
            (name, k, float(self.table.records[name][each]), *self.table.interval(each, name))
            for name in self.table.ranked(self.label)
            for k, each in family
        ]
        if not rows:
            raise self._nothing(f"no algorithm has a value of {self.label}")
        return pd.DataFrame(rows, columns=["algorithm", "k", "value", "low", "high"])

    def _draw(self, axes: Axes) -> None:
        ks, by_name = sorted(self.data["k"].unique()), self.data.set_index("k").groupby("algorithm")
        last = self.data[self.data["k"] == ks[-1]].set_index("algorithm")["value"]
        values = last.sort_values(ascending=not self.higher).to_dict()
        lines = {name: by_name.get_group(name) for name in values}
        spans = {}
        for name, line in lines.items():
            drawn = line[["value"]]
            if len(lines) <= MOST_BANDS and line["low"].notna().all():
                colour, drawn = self.summary.styles[name].colour, line[["low", "value", "high"]]
                band = line.index, line["low"], line["high"]
                axes.fill_between(*band, color=colour, alpha=0.1, lw=0)
            spans[name] = (float(drawn.to_numpy().min()), float(drawn.to_numpy().max()))
        low, high, out = scale_without(spans, self.higher)
        for name, line in lines.items():
            style = self.summary.styles[name]
            marks = style.marks | {"ls": style.line, "ms": 3.6, "clip_on": name in out}
            axes.plot(line["value"], **marks)
        covered = {
            name
            for (_, above), (name, line) in pairwise(lines.items())
            if (above["value"] - line["value"]).abs().max() <= (high - low) / 200
        }
        axes.set_xscale("log")
        axes.set_xlim(ks[0] / (ks[-1] / ks[0]) ** 0.04, ks[-1])
        axes.set_xticks(ks, [str(k) for k in ks], minor=False)
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("k")
        self._name_ends(axes, values, spans, 0.04, covered)

    def _facts(self) -> dict[str, object]:
        best = self.table.ranked(self.label)[0]
        line = self.data[self.data["algorithm"] == best].sort_values("k")
        first, *_, last = [self._text(value) for value in line["value"]]
        return {"best": best, "ks": line["k"].tolist(), "first": first, "last": last}


class _Distribution(Plot):
    """How a metric is distributed over users, whose scores in several cells are averaged first."""

    name = "distribution"
    title = "Users"
    caption = (
        "Bar: the middle half of the users. Line: from the 5% to the 95% quantile. Notch: median. "
        "Diamond: mean."
    )

    def _select(self) -> pd.DataFrame:
        """Return mean and quantiles of the users' scores, a row for each algorithm."""
        import pandas as pd

        users, label = self.table.users, self.label
        if label not in users or not users[label].notna().any():
            raise self._nothing(f"{label} has no scores per user; choose another")
        scores = users.pivot_table(
            index="user", columns="algorithm", values=label, sort=False, observed=True
        ).dropna(axis="columns", how="all")
        scores = scores[[name for name in self.table.ranked(label) if name in scores]]
        if scores.empty:
            raise self._nothing(f"no algorithm has a value of {label}")
        shares = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
        columns = {"n_users": scores.count(), "mean": scores.mean()}
        columns |= {name: scores.quantile(share) for name, share in shares.items()}
        return pd.DataFrame(columns).rename_axis("algorithm").reset_index()

    def _draw(self, axes: Axes) -> None:
        data, y, colours = self.data, self.data.index, self._colours()
        axes.hlines(y, data["q05"], data["q95"], colours, lw=1)
        width = data["q75"] - data["q25"]
        axes.barh(y, width, left=data["q25"], height=0.46, color=colours, lw=0)
        axes.vlines(data["median"], y - 0.23, y + 0.23, "white", lw=1.4, zorder=2)
        axes.plot(data["mean"], y, "D", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
        _label_rows(axes, data["algorithm"])
        axes.set_xlabel("score of a user")

    def _facts(self) -> dict[str, object]:
        row = self.data.iloc[0]
        quartiles = {name: self._text(row[name]) for name in ("q25", "median", "q75")}
        return {"best": row["algorithm"], "n_users": row["n_users"], **quartiles}


class _Differences(Plot):
    """Every algorithm less the baseline; filled where significant after correction."""

    name = "differences"
    title = "Differences to the baseline"
    caption = (
        "Paired by user. Line: interval of the difference. Filled: significant after correction."
        + OUTSIDE
    )
    quantity = "difference in {label}"

    def _select(self) -> pd.DataFrame:
        """Return each other algorithm's difference, interval, adjusted p-value and significance."""
        import pandas as pd

        pairs = self.table.differences(self.label, self.summary.baseline, corrected_alone=True)
        if not pairs:
            raise self._nothing(
                f"{self.label} was not compared user by user; choose another metric"
            )
        pairs.sort(key=lambda pair: pair.difference, reverse=self.higher)
        columns = ["difference", "low", "high", "p_adjusted", "p_is_bound", "significant"]
        rows = [(pair.first, *(getattr(pair, column) for column in columns)) for pair in pairs]
        found = pd.DataFrame(rows, columns=["algorithm", *columns])
        return found.astype({"low": float, "high": float})

    def _draw(self, axes: Axes) -> None:
        data, y, colours = self.data, self.data.index, self._colours()
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        axes.hlines(y, data["low"], data["high"], colours, lw=1.6, zorder=2)
        columns = data["difference"], y, data["significant"], colours
        for difference, at, significant, colour in zip(*columns, strict=True):
            face = colour if significant else "white"
            axes.plot(difference, at, "o", ms=4.8, color=colour, mfc=face, zorder=3)
        _label_rows(axes, data["algorithm"])
        self._limit_rows(axes, _spans(data, "difference"), data["difference"], [0.0])
        axes.set_xlabel(f"difference to {shortened(self.summary.baseline)}")

    def _facts(self) -> dict[str, object]:
        sure = self.data[self.data["significant"]]
        n_better = int(((sure["difference"] > 0) == self.higher).sum())
        return {"n_sure": len(sure), "n_better": n_better}


class _Spread(Plot):
    """The value of every fold and seed."""

    name = "spread"
    title = "Folds and seeds"
    caption = "Each mark is one fold and seed, the line their mean." + OUTSIDE

    def _select(self) -> pd.DataFrame:
        """Return the value of every finished cell, in the order of the cells."""
        import pandas as pd

        names = self.table.ranked(self.label)
        rows = [
            (cell.algorithm, cell.seed, cell.fold, cell.scores[self.label].mean)
            for cell in self.table.cells
            if cell.algorithm in names
        ]
        found = pd.DataFrame(rows, columns=["algorithm", "seed", "fold", "value"])
        found = found.dropna(subset=["value"]).reset_index(drop=True)
        if not found["algorithm"].duplicated().any():
            raise self._nothing("one fold and one seed; there is no spread to show")
        return found

    def _draw(self, axes: Axes) -> None:
        by_name = dict(list(self.data.groupby("algorithm")["value"]))
        values = {n: by_name[n] for n in self.table.ranked(self.label) if n in by_name}
        for y, (name, own) in enumerate(values.items()):
            axes.vlines(own.mean(), y - 0.3, y + 0.3, INK, lw=1.2)
            marks = self.summary.styles[name].marks
            axes.plot(own, [y] * len(own), ls="", ms=4.2, alpha=0.85, **marks)
        _label_rows(axes, values)
        spans = {name: (own.min(), own.max()) for name, own in values.items()}
        self._limit_rows(axes, spans, [own.mean() for own in values.values()])
        axes.set_xlabel("value of a fold and seed")

    def _facts(self) -> dict[str, object]:
        by_name = self.data.groupby("algorithm", sort=False)["value"]
        width = by_name.max() - by_name.min()
        return {"least": self._text(width.min()), "greatest": self._text(width.max())}


class _Groups(Plot):
    """The value of each algorithm in each group of users or items."""

    name = "groups"
    title = "For whom"
    caption = (
        "One mark for each group, joined from the least to the greatest value. Hollow: fewer than "
        "30 users." + OUTSIDE
    )
    inches = (1.5, 1.1, 0.19)

    def __init__(
        self,
        run: Run | Summary,
        metric: str | None = None,
        place: int = 1,
        by: str | None = None,
    ) -> None:
        self.by = by
        super().__init__(run, metric, place)

    @classmethod
    def each(cls, run: Run | Summary, metric: str | None = None, place: int = 1) -> list[Plot]:
        """Return a plot for each division into groups."""
        first = cls(run, metric, place)
        return [cls(first.summary, first.label, place, entry.title) for entry in first.entries]

    @property
    def part(self) -> str:
        """The groups that are shown."""
        return f"-{self.by}"

    def _select(self) -> pd.DataFrame:
        """Return the value of each algorithm, and of a random order, in each group."""
        import pandas as pd

        self.entries = [
            each
            for each in self.summary.info.groups
            if (each.table, each.metric) == (self.table.key, self.label)
        ]
        entry = next((each for each in self.entries if self.by in (None, each.title)), None)
        if entry is None:
            raise self._nothing(f"{self.label} has no groups; add `groups` to the config")
        self.by, self.about = entry.title, f" by {entry.title}"
        rows = [
            (mean.algorithm, group.group, mean.mean, group.is_small)
            for group in entry.groups
            for mean in group.algorithms
            if mean.mean is not None
        ]
        found = pd.DataFrame(rows, columns=["algorithm", "group", "value", "small"])
        order = {name: i for i, name in enumerate(self.table.ranked(self.label))}
        found = found[found["algorithm"].isin(order)]
        if found.empty:
            raise self._nothing(f"no group has a value of {self.label}")
        return found.sort_values("algorithm", key=lambda own: own.map(order), kind="stable")

    def _draw(self, axes: Axes) -> None:
        groups = list(dict.fromkeys(self.data["group"]))
        few = len(groups) <= len(GROUP_MARKS)
        hues = dict(zip(groups, (light for light, _ in COLOURS.values()), strict=False))
        marks = dict(zip(groups, GROUP_MARKS, strict=False)) if few else {}
        spans: dict[str, tuple[float, float]] = {}
        for y, name in enumerate(dict.fromkeys(self.data["algorithm"])):
            own = self.data[self.data["algorithm"] == name]
            low, high = spans[name] = own["value"].min(), own["value"].max()
            axes.hlines(y, low, high, FAINT, lw=0.8, zorder=1)
            for group, value, small in zip(own["group"], own["value"], own["small"], strict=True):
                is_end = value in (low, high)
                colour = hues[group] if few else INK if is_end else FAINT
                marker = marks.get(group, "o" if is_end else "|")
                face = "white" if small else colour
                axes.plot(value, y, ls="", ms=4.6, marker=marker, color=colour, mfc=face)
                if is_end and not few:
                    side = 1 if value == high else -1
                    axes.annotate(
                        shortened(group, 12),
                        (value, y),
                        (4 * side, 0),
                        textcoords="offset points",
                        ha="left" if side > 0 else "right",
                        va="center",
                        size=SUBTITLE,
                        color=MUTED,
                    )
        _label_rows(axes, spans)
        self._limit_rows(axes, spans, [end[not self.higher] for end in spans.values()])
        axes.set_xlabel("value in a group")
        if not few:  # room for the names of the ends
            low, high = axes.get_xlim()
            axes.set_xticks([tick for tick in axes.get_xticks() if low <= tick <= high])
            axes.set_xlim(low - 0.35 * (high - low), high + 0.3 * (high - low))
            return
        n_lines = (len(groups) + 1) // 2
        axes.set_ylim(len(spans) - 0.2 + 0.9 * n_lines, -0.55)
        for group in groups:
            axes.plot([], [], ls="", marker=marks[group], color=hues[group], ms=4.6,
                      label=shortened(group, 14))  # fmt: skip
        axes.legend(loc="lower center", ncols=2, fontsize=SUBTITLE, borderpad=0, labelspacing=0.3,
                    handletextpad=0, columnspacing=0.8, frameon=False)  # fmt: skip

    def _facts(self) -> dict[str, object]:
        name = self.data["algorithm"].iloc[0]
        own = self.data[self.data["algorithm"] == name].sort_values("value")
        ends = [(row.group, self._text(row.value)) for row in own.iloc[[0, -1]].itertuples()]
        return {"best": name, "least": ends[0], "greatest": ends[1]}


_KINDS = (_Tradeoff, _NdcgOverK, _Distribution, _Differences, _Groups, _Spread)
KINDS: dict[str, type[Plot]] = {kind.name: kind for kind in _KINDS}
"""Every kind of plot by the name that ``harness plot --kind`` takes."""
tradeoff, ndcg_over_k, distribution = _Tradeoff.show, _NdcgOverK.show, _Distribution.show
differences, groups, spread = _Differences.show, _Groups.show, _Spread.show


def write_file(path: Path, data: bytes, hint: str = "") -> Path:
    """Write a file that the user named; a failure says why, and what to do."""
    try:
        write_output(path, data)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror}){hint}") from None
    return path


def _spans(data: pd.DataFrame, column: str) -> Spans:
    """Return, by algorithm, the ends of its value and interval."""
    ends = data[["low", column, "high"]]
    both = zip(ends.min(axis=1), ends.max(axis=1), strict=True)
    return dict(zip(data["algorithm"], both, strict=True))


def scale_without(
    spans: Spans, higher: bool, always: Sequence[float] = ()
) -> tuple[float, float, list[str]]:
    """Return limits in which baselines do not compress the others, and the names left out.

    A baseline is left out if it is worse than all others by more than half of their range. The
    limits include the values `always`.
    """
    personal = [name for name in spans if folded(name) not in NOT_PERSONALISED]
    if len(personal) < 2:
        personal = list(spans)
    ends = [*_finite(spans[name] for name in personal), *always]
    low, high = min(ends), max(ends)
    reach = (high - low) / 2
    out = [
        name
        for name, (start, stop) in spans.items()
        if name not in personal and (start < low - reach if higher else stop > high + reach)
    ]
    kept = _finite(spans[name] for name in spans if name not in out)
    return min([low, *kept]), max([high, *kept]), out


def _finite(spans: Iterable[tuple[float, float]]) -> list[float]:
    return [end for ends in spans for end in ends if np.isfinite(end)]


def _label_rows(axes: Axes, names: Iterable[str]) -> None:
    """Label one row for each algorithm, the first on top."""
    labels = [shortened(name) for name in names]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")


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


def _drop_crowded_ticks(axes: Axes) -> None:
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

    font, text = FontProperties(family="DejaVu Sans", size=size, weight=weight), plain(text)
    measure = text_to_path.get_text_width_height_descent
    lines = [""]
    for most in range(len(text), 0, -1):
        lines = textwrap.wrap(text, most, max_lines=MOST_LINES, placeholder="…")
        if max(measure(line, font, False)[0] for line in lines) <= width:
            break
    return lines
