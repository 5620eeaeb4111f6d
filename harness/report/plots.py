"""The kinds of plots: each knows its data, how it is drawn, and what it shows in words.

>>> from harness.report import plots
>>> sorted(plots.KINDS)
['differences', 'distribution', 'groups', 'learning', 'ndcg-over-k', 'parameter', 'spread',
 'tradeoff']
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import joined
from harness.lazy import pd
from harness.report.difference_plot import DifferencePlot
from harness.report.drawing import OUTSIDE, SUBTITLE, Plot, label_rows, scale_without, value_spans
from harness.report.learning_plot import LearningPlot
from harness.report.parameter_plot import ParameterPlot
from harness.report.styles import COLOURS, FAINT, INK, MUTED
from harness.report.summary import Summary, seconds_text, shortened
from harness.results.columns import TIMES
from harness.results.display import plain
from harness.results.runs import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORTEST = 1e-3
"""Seconds; what is faster stands here on a logarithmic axis."""
MOST_BANDS = 6
"""Lines up to which quality over k has bands; more of them would cover each other."""
GROUP_MARKS = "os^DvP"
"""Of groups, up to as many; of more, the two ends have names."""


class _Tradeoff(Plot):
    """Quality against the seconds of fitting and scoring, on a logarithmic axis."""

    name = "tradeoff"
    title = "Quality against time"
    caption = (
        "Bars: confidence intervals. The line of steps joins the algorithms for which no other is "
        "both faster and better." + OUTSIDE
    )
    inches = (2.7, 2.58, 0.03)

    def _select(self) -> pd.DataFrame:
        """Return a row for each algorithm; ``front`` if no other is both faster and better."""
        ranked = self.table.ranked(self.label)
        rows = (
            (name, max(row[TIMES[0]] + row[TIMES[1]], SHORTEST), *self._value(name))
            for name, row in self.table.records.items()
            if name in ranked and not math.isnan(row[TIMES[0]])  # that of another program
        )
        found = self._frame(rows, "seconds", "value", "low", "high")
        order = found.assign(quality=found["value"] if self.higher else -found["value"])
        order = order.sort_values(["seconds", "quality"], ascending=[True, False], kind="stable")
        best_before = order["quality"].cummax().shift(fill_value=-math.inf)
        return found.assign(front=order["quality"] > best_before)

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
        self._name_ends(axes, values, value_spans(data, "value"), 0.1)

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
        "confidence intervals. ≈: the line lies on that of the name above." + OUTSIDE
    )
    quantity = "{family}@k"
    inches = (2.5, 0.8, 0.2)

    def _select(self) -> pd.DataFrame:
        """Return value and interval of each algorithm at every rank."""
        wanted = metrics.parse(self.label)
        parsed = [metrics.parse(each) for each in self.summary.info.metrics]
        cut = sorted((m.k, str(m), (m.name, m.chosen)) for m in parsed if m.k is not None)
        family = [(k, each) for k, each, of in cut if of == (wanted.name, wanted.chosen)]
        if wanted.k is None:
            several = Counter(of for *_, of in cut)
            drawn = [each for _, each, of in cut if several[of] > 1]
            do = f"choose {joined(drawn, 'or')}" if drawn else "add one that has, as ndcg@5,10,20"
            raise self._nothing(f"{self.label} has no cut-off rank; {do}")
        if len(family) < 2:
            raise self._nothing(
                f"{self.label} at one rank only; add another to the config, as ndcg@5,10,20"
            )
        rows = (
            (name, k, float(self.table.records[name][each]), *self.table.interval(each, name))
            for name in self.table.ranked(self.label)
            for k, each in family
        )
        return self._frame(rows, "k", "value", "low", "high")

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
        best = self.table.best(self.label)[0]
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
        users, label = self.table.users, self.label
        if label not in users or not users[label].notna().any():
            raise self._nothing(f"{label} has no scores per user; choose another")
        scores = users.pivot_table(
            index="user", columns="algorithm", values=label, sort=False, observed=True
        ).dropna(axis="columns", how="all")
        scores = scores[[name for name in self.table.ranked(label) if name in scores]]
        shares = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
        columns = {"n_users": scores.count(), "mean": scores.mean()}
        columns |= {name: scores.quantile(share) for name, share in shares.items()}
        found = pd.DataFrame(columns)
        return self._frame(found.itertuples(), *columns)

    def _draw(self, axes: Axes) -> None:
        data, y, colours = self.data, self.data.index.to_numpy(), self._colours()
        axes.hlines(y, data["q05"], data["q95"], colours, lw=1)
        width = data["q75"] - data["q25"]
        axes.barh(y, width, left=data["q25"], height=0.46, color=colours, lw=0)
        axes.vlines(data["median"], y - 0.23, y + 0.23, "white", lw=1.4, zorder=2)
        axes.plot(data["mean"], y, "D", ms=3.2, mfc="white", mec=INK, mew=0.8, zorder=4)
        label_rows(axes, data["algorithm"])
        axes.set_xlabel("score of a user")

    def _facts(self) -> dict[str, object]:
        leads = self.data["algorithm"].isin(self.table.best(self.label))
        row = self.data[leads].iloc[0] if leads.any() else self.data.iloc[0]
        quartiles = {name: self._text(row[name]) for name in ("q25", "median", "q75")}
        return {"best": row["algorithm"], "n_users": row["n_users"], **quartiles}


class _Spread(Plot):
    """The value of every fold and seed."""

    name = "spread"
    title = "Folds and seeds"
    caption = "Each mark is one fold and seed, the line their mean." + OUTSIDE

    def _select(self) -> pd.DataFrame:
        """Return the value of every finished cell, in the order of the cells."""
        names = self.table.ranked(self.label)
        rows = (
            (cell.algorithm, cell.seed, cell.fold, cell.scores[self.label].mean)
            for cell in self.table.cells
            if cell.algorithm in names and cell.scores[self.label].mean is not None
        )
        found = self._frame(rows, "seed", "fold", "value")
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
        label_rows(axes, values)
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
        self, run: Run | Summary, metric: str | None = None, place: int = 1, by: str | None = None
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
        """Return the value of each algorithm in each group."""
        every, key = self.summary.info.groups, (self.table.key, self.label)
        self.entries = [each for each in every if (each.table, each.metric) == key]
        entry = next((each for each in self.entries if self.by in (None, each.title)), None)
        if entry is None:
            raise self._nothing(f"{self.label} has no groups; add `groups` to the config")
        self.by, self.about = entry.title, f" by {entry.title}"
        names = self.table.ranked(self.label)
        rows = [
            (mean.algorithm, group.group, mean.mean, group.is_small)
            for group in entry.groups
            for mean in group.algorithms
            if mean.mean is not None and mean.algorithm in names
        ]
        rows.sort(key=lambda row: names.index(row[0]))
        return self._frame(rows, "group", "value", "small")

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
                    beside: dict[str, Any] = {"textcoords": "offset points", "va": "center"}
                    beside |= {"ha": "left" if side > 0 else "right", "color": MUTED}
                    text = shortened(group, 12)
                    axes.annotate(text, (value, y), (4 * side, 0), size=SUBTITLE, **beside)
        label_rows(axes, spans)
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
        leads = self.data["algorithm"].isin(self.table.best(self.label))
        name = (self.data[leads] if leads.any() else self.data)["algorithm"].iloc[0]
        own = self.data[self.data["algorithm"] == name].sort_values("value")
        ends = [(row.group, self._text(row.value)) for row in own.iloc[[0, -1]].itertuples()]
        return {"best": name, "least": ends[0], "greatest": ends[1]}


_KINDS = (
    _Tradeoff, _NdcgOverK, ParameterPlot, LearningPlot, _Distribution, DifferencePlot, _Groups,
    _Spread,
)  # fmt: skip
KINDS: dict[str, type[Plot]] = {kind.name: kind for kind in _KINDS}
"""Every kind of plot by the name that ``harness plot --kind`` takes."""
tradeoff, ndcg_over_k, distribution = _Tradeoff.show, _NdcgOverK.show, _Distribution.show
differences, groups, spread = DifferencePlot.show, _Groups.show, _Spread.show
parameter, learning = ParameterPlot.show, LearningPlot.show
