"""The kinds of plots: each knows its data, how it is drawn, and what it shows in words.

>>> from harness.report import plots
>>> sorted(plots.kinds())
['differences', 'distribution', 'groups', 'learning', 'ndcg-over-k', 'parameter', 'spread',
 'tradeoff']
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, get_args

from harness import metrics
from harness._util.libraries import pd
from harness.config.experiment import AlgorithmConfig
from harness.errors import PluginError, ResultsError, joined, suggestion
from harness.plugins import registry as plugins
from harness.plugins.registry import folded
from harness.report.drawing import (
    OUTSIDE,
    SUBTITLE,
    Plot,
    Spans,
    beside,
    label_rows,
    laid_out,
    scale_without,
    spread_positions,
    value_spans,
)
from harness.report.styles import COLOURS, FAINT, INK, MUTED, known_algorithms
from harness.report.summary import Summary, seconds_text, shortened
from harness.results.runs import Run
from harness.results.statistics import FEWEST_OF_GROUP, Answer
from harness.results.table import TIMES, printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes


class DifferencePlot(Plot):
    """Every algorithm less the baseline; filled where significant after correction."""

    name = "differences"
    title = "Differences to the baseline"
    caption = (
        "Paired by user. Line: interval of the difference. Filled: significant after correction. "
        "With a margin: its band is grey, a square is equivalent, a filled circle different, a "
        "hollow circle undecided." + OUTSIDE
    )
    quantity = "difference in {label}"
    always = (0.0,)

    @classmethod
    def heading(cls, summary: Summary) -> str:
        """Return what the page of a run calls it: with the name of its baseline."""
        return f"Differences to {printable(summary.baseline)}"

    def _select(self) -> pd.DataFrame:
        """Return each other algorithm's difference, interval, adjusted p-value and significance."""
        pairs = self.table.differences(self.label, self.summary.baseline, corrected_alone=True)
        if len(self.table.ranked(self.label)) == 1:
            raise self._nothing(f"{self.label} of one algorithm only; add another to the config")
        if not pairs:
            raise self._nothing(
                f"{self.label} was not compared user by user; choose another metric"
            )
        pairs.sort(key=lambda pair: pair.difference, reverse=self.higher)
        columns = ["difference", "low", "high", "p_adjusted", "p_is_bound", "significant"]
        rows = [(pair.first, *(pair[column] for column in columns)) for pair in pairs]
        if self.margin is not None:
            columns.append("answer")
            rows = [(*row, pair.answer) for row, pair in zip(rows, pairs, strict=True)]
        return self._frame(rows, *columns).astype({"low": float, "high": float})

    @property
    def legend(self) -> str:
        """The caption, without the margin where there is none."""
        shown = super().legend
        before, with_margin, after = shown.partition(" With a margin")
        if self.margin is not None or not with_margin:
            return shown
        return before + after.partition("undecided.")[2]

    def _spans(self) -> Spans:
        return value_spans(self.data, "difference")

    @property
    def margin(self) -> float | None:
        """Margin of the test of equivalence; None where the config has none."""
        compared = self.table.comparisons.get(self.label)
        return compared.margin if compared else None

    def _draw(self, axes: Axes) -> None:
        data, y, colours = self.data, self.data.index.to_numpy(), self._colours()
        axes.axvline(0, color=FAINT, lw=0.8, zorder=1)
        if self.margin is not None:
            axes.axvspan(-self.margin, self.margin, color=FAINT, alpha=0.35, lw=0, zorder=0)
        axes.hlines(y, data["low"], data["high"], colours, lw=1.6, zorder=2)
        answers = data["answer"] if self.margin is not None else [None] * len(data)
        columns = data["difference"], y, data["significant"], answers, colours
        for difference, at, significant, answer, colour in zip(*columns, strict=True):
            face = colour if significant else "white"
            marker = "s" if answer == "equivalent" else "o"
            axes.plot(difference, at, marker, ms=4.8, color=colour, mfc=face, zorder=3)
        label_rows(axes, data["algorithm"])
        self._limit_rows(axes, self._spans(), data["difference"], self.always)
        axes.set_xlabel(f"difference to {shortened(self.summary.baseline)}")

    def _facts(self) -> dict[str, object]:
        sure = self.data[self.data["significant"]]
        n_better = int(((sure["difference"] > 0) == self.higher).sum())
        answered = [] if self.margin is None else self.data["answer"].tolist()
        answers = {answer: answered.count(answer) for answer in get_args(Answer)}
        facts = {"n_sure": len(sure), "n_better": n_better, "margin": self.margin}
        return facts | {"answers": answers}


LOGARITHMIC = 8
"""From this ratio of the greatest value of a parameter to the least, its axis is logarithmic."""
MOST_TICKS = 8
Values = dict[str, object]
"""Values of one parameter, by the titles of rows."""


@dataclass(frozen=True)
class Line:
    """Rows of one algorithm that differ in only one parameter.

    Parameters
    ----------
    algorithm : str
        Its name.
    parameter : str
        Such as ``n_factors`` or ``sim_options.name``.
    values : dict
        The value of each row, by its title.
    rest : str
        The other parameters that the rows state, where several lines of the algorithm differ in it.
    """

    algorithm: str
    parameter: str
    values: Values
    rest: str


def lines_of(rows: Iterable[AlgorithmConfig]) -> list[Line]:
    """Return the lines of a config: two rows or more each, by parameter in the order of the rows.

    Examples
    --------
    >>> rows = [AlgorithmConfig(name="SVD", label=f"SVD {n}", params={"n_factors": n})
    ...         for n in (5, 50)]
    >>> [(line.parameter, line.values) for line in lines_of([*rows, AlgorithmConfig(name="NMF")])]
    [('n_factors', {'SVD 5': 5, 'SVD 50': 50})]
    """
    by_name: dict[str, list[AlgorithmConfig]] = {}
    for row in rows:
        if row.search is None:
            by_name.setdefault(folded(row.name), []).append(row)
    lines = []
    for name, settings in by_name.items():
        known = known_algorithms().get(name)
        stated = {row.title: _flat(row.params) for row in settings}
        names = dict.fromkeys(key for params in stated.values() for key in params)
        defaults = known.defaults if known else {}
        complete = {
            title: {key: defaults[key] for key in names if key in defaults} | params
            for title, params in stated.items()
        }
        for parameter in names:
            lines += _along(settings[0].name, parameter, complete)
    return lines


def _along(algorithm: str, parameter: str, rows: Mapping[str, Values]) -> list[Line]:
    """Return the lines of an algorithm along one parameter."""
    by_rest: dict[str, Values] = {}
    for title, params in rows.items():
        if parameter in params and not isinstance(params[parameter], list | dict):
            rest = {key: value for key, value in params.items() if key != parameter}
            key = json.dumps(rest, sort_keys=True, default=str)
            by_rest.setdefault(key, {})[title] = params[parameter]
    several = len(by_rest) > 1
    return [
        Line(algorithm, parameter, values, key if several else "")
        for key, values in by_rest.items()
        if len({str(value) for value in values.values()}) > 1
    ]


def _flat(params: Mapping[str, Any]) -> Values:
    """Return parameters with options inside others as ``sim_options.name``."""
    flat: Values = {}
    for key, value in params.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{inner}": option for inner, option in _flat(value).items()}
        else:
            flat[key] = value
    return flat


class ParameterPlot(Plot):
    """A metric against one parameter: a line for the rows that differ only in it."""

    name = "parameter"
    is_optional = True
    title = "Parameters"
    caption = (
        "Each mark is a row of the table; a line joins rows that differ only in this parameter. "
        "Bars: confidence intervals. To choose a value, search on validation ratings (`search:`): "
        "the best of these is chosen on the test ratings."
    )
    inches = (2.4, 2.2, 0.03)

    def __init__(
        self,
        run: Run | Summary,
        metric: str | None = None,
        place: int = 1,
        parameter: str | None = None,
    ) -> None:
        self.parameter = parameter
        super().__init__(run, metric, place)

    @classmethod
    def each(cls, run: Run | Summary, metric: str | None = None, place: int = 1) -> list[Plot]:
        """Return a plot for each parameter."""
        first = cls(run, metric, place)
        names = dict.fromkeys(line.parameter for line in first.lines)
        return [cls(first.summary, first.label, place, name) for name in names]

    @property
    def part(self) -> str:
        """The parameter."""
        return f"-{self.parameter}"

    def _select(self) -> pd.DataFrame:
        """Return a row for each setting: its line, its value of the parameter, and the metric's."""
        ranked = self.table.ranked(self.label)
        self.lines: list[Line] = []
        for line in lines_of(self.summary.info.experiment.algorithms):
            values = {title: value for title, value in line.values.items() if title in ranked}
            if len(values) > 1:
                self.lines.append(Line(line.algorithm, line.parameter, values, line.rest))
        if not self.lines:
            raise self._nothing(
                "no two rows differ in only one parameter; add some, such as {name: KNNBasic, "
                "label: k 5, params: {k: 5}} and another with k: 20"
            )
        self.parameter = self.parameter or self.lines[0].parameter
        self.about = f" by {self.parameter}"
        rows = [
            (title, number, line.algorithm, value, *self._value(title))
            for number, line in enumerate(self.lines)
            if line.parameter == self.parameter
            for title, value in line.values.items()
        ]
        return self._frame(rows, "line", "of", self.parameter, "value", "low", "high")

    def _draw(self, axes: Axes) -> None:
        from matplotlib.ticker import NullLocator

        data, values = self.data, list(self.data[str(self.parameter)])
        is_number = all(isinstance(value, Real) and not isinstance(value, bool) for value in values)
        if is_number:
            places = [float(value) for value in values]
        else:
            words = list(dict.fromkeys(map(str, values)))
            places = [float(words.index(str(value))) for value in values]
        least, greatest = min(places), max(places)
        if is_number and least > 0 and greatest / least >= LOGARITHMIC:
            axes.set_xscale("log")
            room = (greatest / least) ** 0.06
            axes.set_xlim(least / room, greatest * room)
        else:
            room = (greatest - least) * 0.06
            axes.set_xlim(least - room, greatest + room)
        axes.xaxis.set_minor_locator(NullLocator())
        if not is_number:
            axes.set_xticks(range(len(words)), [shortened(word, 14) for word in words])
        elif len(ticks := sorted(set(places))) <= MOST_TICKS:
            axes.set_xticks(ticks, [f"{tick:.10g}" for tick in ticks])
        else:
            axes.xaxis.set_major_formatter("{x:.10g}")
        axes.set_xlabel(str(self.parameter))
        placed = data.assign(place=places)
        lines = [*placed.sort_values("place", kind="stable").groupby("line", sort=True)]
        for number, (_, line) in enumerate(lines):
            at: dict[str, Any] = {"transform": beside(axes, number, len(lines))}
            if is_number:  # words have no order
                axes.plot(line["place"], line["value"], "-", color=FAINT, lw=0.8, zorder=1, **at)
            columns = (line[name] for name in ("algorithm", "place", "value", "low", "high"))
            for name, x, y, low, high in zip(*columns, strict=True):
                style = self.summary.styles[name]
                axes.vlines(x, low, high, style.colour, lw=1, alpha=0.55, **at)
                axes.plot(x, y, ls="", zorder=3, **style.marks, **at)
        ends = [end for span in value_spans(data, "value").values() for end in span]
        ends = [end for end in ends if not math.isnan(end)]
        pad = 0.08 * ((max(ends) - min(ends)) or 1.0)
        axes.set_ylim(min(ends) - pad, max(ends) + pad)
        self._name_lines(axes, placed)

    def _name_lines(self, axes: Axes, placed: pd.DataFrame) -> None:
        """Write the algorithm beside the end of each line, if there are several."""
        lasts = placed.sort_values("place", kind="stable").groupby("line").last()
        if len(lasts) < 2:
            return
        low, high = axes.get_ylim()
        gap = (high - low) * (SUBTITLE + 1.6) / (self.size[1] * 0.6 * 72)
        heights = spread_positions(lasts["value"].tolist(), gap, low, high)
        for number, at, name in zip(lasts.index, heights, lasts["of"], strict=True):
            rest = self.lines[number].rest.strip("{}").replace('"', "")
            text = shortened(f"{name} {rest}".strip(), 24)
            margin = axes.get_yaxis_transform()
            axes.text(1.03, at, text, transform=margin, size=SUBTITLE, va="center", color=MUTED)
        axes.set_ylim(low, high)
        laid_out(axes)

    def _facts(self) -> dict[str, object]:
        order = self.data.sort_values("value", ascending=not self.higher, kind="stable")
        best = order.iloc[0]
        return {
            "best": best["algorithm"],
            "setting": best[str(self.parameter)],
            "value": self._text(best["value"]),
        }


SHORTEST = 1e-3
"""Seconds; what is faster stands here on a logarithmic axis."""
MOST_BANDS = 6
"""Lines up to which quality over k has bands; more of them would cover each other."""
GROUP_MARKS = "os^DvP"
"""Marks of groups, up to as many; with more, the two ends have names."""


STEPS = " The line of steps joins the algorithms for which no other is both faster and better."
ALIKE = 0.02
"""Part of the axis of seconds: rows that are nearer than this are drawn side by side."""


class TradeoffPlot(Plot):
    """Quality against the seconds of fitting and scoring, on a logarithmic axis."""

    name = "tradeoff"
    title = "Quality against time"
    caption = f"Bars: confidence intervals.{STEPS}{OUTSIDE}"
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
        places, styles = self._beside(), self.summary.styles
        columns = (data[column] for column in ("algorithm", "seconds", "value", "low", "high"))
        for name, x, value, low, high in zip(*columns, strict=True):
            to = beside(axes, *places[name])
            axes.vlines(x, low, high, styles[name].colour, lw=1, alpha=0.55, transform=to)
            axes.plot(x, value, ls="", zorder=3, transform=to, **styles[name].marks)
        front = data[data["front"]].sort_values("seconds")
        axes.step(front["seconds"], front["value"], where="post", color=FAINT, lw=0.7, zorder=1)
        low, high = seconds.min() / 1.6, seconds.max() * 1.6
        steps = (1,) if high / low > 1500 else (1, 3) if high / low > 8 else (1, 2, 3, 5, 7)
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(subs=steps))
        axes.xaxis.set_major_formatter("{x:.10g}")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("mean seconds to fit and score")
        self._name_ends(axes, values, self._spans(), 0.1)

    @property
    def legend(self) -> str:
        """The caption, without the line of steps where there is none."""
        return super().legend if self.data["front"].sum() > 1 else super().legend.replace(STEPS, "")

    def _spans(self) -> Spans:
        return value_spans(self.data, "value")

    def _beside(self) -> dict[str, tuple[int, int]]:
        """Return the place of each row among rows of nearly the same seconds, and their number."""
        order = self.data.sort_values(["seconds", "value"], kind="stable")
        logs = dict(zip(order["algorithm"], map(math.log, order["seconds"]), strict=True))
        nearest = ALIKE * (max(logs.values()) - min(logs.values()) + 2 * math.log(1.6))
        groups: list[list[str]] = []
        before = -math.inf
        for name, log in logs.items():
            if log - before > nearest:
                groups.append([])
            groups[-1].append(name)
            before = log
        return {name: (i, len(group)) for group in groups for i, name in enumerate(group)}

    def _facts(self) -> dict[str, object]:
        front = self.data[self.data["front"]].sort_values("seconds")
        columns = (front[column] for column in ("algorithm", "seconds", "value"))
        points = zip(*columns, strict=True)
        return {
            "front": [(printable(n), seconds_text(s), self._text(value)) for n, s, value in points]
        }


COVERED = " ≈: the line is covered by the line of the name above."


class NdcgOverKPlot(Plot):
    """A metric over its cut-off rank, for every label of its family.

    The intervals of two algorithms may overlap where their
    difference, user by user, is significant.
    """

    name = "ndcg-over-k"
    title = "Quality over k"
    caption = (
        "Names are in the order of the values at the last k. Bands (up to six algorithms): "
        f"confidence intervals.{COVERED}{OUTSIDE}"
    )
    quantity = "{family}@k"
    is_of_family = True
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
            added = "add one that has, such as ndcg@5,10,20"
            do = f"choose {joined(drawn, 'or')}" if drawn else added
            raise self._nothing(f"{self.label} has no cut-off rank; {do}")
        if len(family) < 2:
            raise self._nothing(
                f"{self.label} at one rank only; add another to the config, such as ndcg@5,10,20"
            )
        rows = (
            (name, k, float(self.table.records[name][each]), *self.table.interval(each, name))
            for name in self.table.ranked(self.label)
            for k, each in family
        )
        return self._frame(rows, "k", "value", "low", "high")

    def _draw(self, axes: Axes) -> None:
        ks, lines = sorted(self.data["k"].unique()), self._lines()
        values = {name: float(line["value"].loc[ks[-1]]) for name, line in lines.items()}
        spans = self._spans()
        for name, line in lines.items():
            if self._has_band(line):
                band = line.index, line["low"], line["high"]
                axes.fill_between(*band, color=self.summary.styles[name].colour, alpha=0.1, lw=0)
        out = scale_without(spans, self.higher)[2]
        for name, line in lines.items():
            style = self.summary.styles[name]
            marks = style.marks | {"ls": style.line, "ms": 3.6, "clip_on": name in out}
            axes.plot(line["value"], **marks)
        axes.set_xscale("log")
        axes.set_xlim(ks[0] / (ks[-1] / ks[0]) ** 0.04, ks[-1])
        axes.set_xticks(ks, [str(k) for k in ks], minor=False)
        axes.xaxis.set_minor_formatter("")
        axes.set_xlabel("k")
        self._name_ends(axes, values, spans, 0.04, self._covered())

    @property
    def legend(self) -> str:
        """The caption, without the sign of a covered line where there is none."""
        return super().legend if self._covered() else super().legend.replace(COVERED, "")

    def _lines(self) -> dict[str, pd.DataFrame]:
        """Return the values of each row at every rank, in the order of the values at the last."""
        by_name = self.data.set_index("k").groupby("algorithm")
        last = self.data[self.data["k"] == self.data["k"].max()]
        ordered = last.sort_values("value", ascending=not self.higher)
        return {name: by_name.get_group(name) for name in ordered["algorithm"]}

    def _has_band(self, line: pd.DataFrame) -> bool:
        return self.data["algorithm"].nunique() <= MOST_BANDS and bool(line["low"].notna().all())

    def _spans(self) -> Spans:
        shown = {
            name: line[["low", "value", "high"] if self._has_band(line) else ["value"]].to_numpy()
            for name, line in self._lines().items()
        }
        return {name: (float(drawn.min()), float(drawn.max())) for name, drawn in shown.items()}

    def _covered(self) -> set[str]:
        """Return the rows whose line is covered by the line of the row above."""
        low, high, _ = scale_without(self._spans(), self.higher)
        return {
            name
            for (_, above), (name, line) in pairwise(self._lines().items())
            if (above["value"] - line["value"]).abs().max() <= (high - low) / 200
        }

    def _facts(self) -> dict[str, object]:
        best = self.table.best(self.label)[0]
        line = self.data[self.data["algorithm"] == best].sort_values("k")
        first, *_, last = [self._text(value) for value in line["value"]]
        return {"best": best, "ks": line["k"].tolist(), "first": first, "last": last}


class DistributionPlot(Plot):
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
        mean: dict[str, Any] = {
            "ms": 3.2,
            "mfc": "white",
            "mec": INK,
            "mew": 0.8,
            "zorder": 4,
            "clip_on": False,
        }
        axes.plot(data["mean"], y, "D", **mean)
        label_rows(axes, data["algorithm"])
        # Bars end the scale where they end: the marks at 0 and 1 need room.
        ends = data[["q05", "q95", "mean"]].to_numpy()
        pad = 0.04 * ((ends.max() - ends.min()) or 1.0)
        axes.set_xlim(ends.min() - pad, ends.max() + pad)
        axes.set_xlabel("score of a user")

    def _facts(self) -> dict[str, object]:
        leads = self.data["algorithm"].isin(self.table.best(self.label))
        row = self.data[leads].iloc[0] if leads.any() else self.data.iloc[0]
        quartiles = {name: self._text(row[name]) for name in ("q25", "median", "q75")}
        return {"best": row["algorithm"], "n_users": row["n_users"], **quartiles}


class SpreadPlot(Plot):
    """The value of every fold and seed."""

    name = "spread"
    title = "Folds and seeds"
    caption = "Each mark is one fold and seed, the line their mean." + OUTSIDE

    def _select(self) -> pd.DataFrame:
        """Return the value of every computed cell, in the order of the cells."""
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
        values = self._values()
        for y, (name, own) in enumerate(values.items()):
            axes.vlines(own.mean(), y - 0.3, y + 0.3, INK, lw=1.2)
            marks = self.summary.styles[name].marks
            axes.plot(own, [y] * len(own), ls="", ms=4.2, alpha=0.85, **marks)
        label_rows(axes, values)
        self._limit_rows(axes, self._spans(), [own.mean() for own in values.values()])
        axes.set_xlabel("value of a fold and seed")

    def _values(self) -> dict[str, pd.Series[float]]:
        by_name = dict(list(self.data.groupby("algorithm")["value"]))
        return {n: by_name[n] for n in self.table.ranked(self.label) if n in by_name}

    def _spans(self) -> Spans:
        return {name: (own.min(), own.max()) for name, own in self._values().items()}

    def _facts(self) -> dict[str, object]:
        by_name = self.data.groupby("algorithm", sort=False)["value"]
        width = by_name.max() - by_name.min()
        return {"least": self._text(width.min()), "greatest": self._text(width.max())}


HOLLOW = f" Hollow: fewer than {FEWEST_OF_GROUP} users."


class GroupsPlot(Plot):
    """The value of each algorithm in each group of users or items."""

    name = "groups"
    is_optional = True
    title = "For whom"
    caption = (
        f"One mark for each group, joined from the least to the greatest value.{HOLLOW}{OUTSIDE}"
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
    def legend(self) -> str:
        """The caption, without the hollow marks where there is none."""
        return super().legend if self.data["small"].any() else super().legend.replace(HOLLOW, "")

    def _spans(self) -> Spans:
        by_name = self.data.groupby("algorithm", sort=False)["value"]
        return {str(name): (own.min(), own.max()) for name, own in by_name}

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
        spans = self._spans()
        for y, (name, (low, high)) in enumerate(spans.items()):
            own = self.data[self.data["algorithm"] == name]
            axes.hlines(y, low, high, FAINT, lw=0.8, zorder=1)
            for group, value, small in zip(own["group"], own["value"], own["small"], strict=True):
                is_end = value in (low, high)
                colour = hues[group] if few else INK if is_end else FAINT
                marker = marks.get(group, "o" if is_end else "|")
                face = "white" if small else colour
                axes.plot(value, y, ls="", ms=4.6, marker=marker, color=colour, mfc=face)
                if is_end and not few:
                    side = 1 if value == high else -1
                    end: dict[str, Any] = {"textcoords": "offset points", "va": "center"}
                    end |= {"ha": "left" if side > 0 else "right", "color": MUTED}
                    text = shortened(group, 12)
                    axes.annotate(text, (value, y), (4 * side, 0), size=SUBTITLE, **end)
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


@cache
def kinds() -> dict[str, type[Plot]]:
    """Return every kind of plot that can be used, by the name that ``harness plot --kind`` takes.

    Raises
    ------
    PluginError
        If a plug-in of another package is not a subclass of `Plot`.
    """
    usable = {}
    for plugin, reason in plugins.declared("plots"):
        if reason or plugins.problem(plugin):
            continue
        kind = plugin.load()
        if not (isinstance(kind, type) and issubclass(kind, Plot)):
            raise PluginError(
                f"plots: {plugin.name!r} of {plugin.origin}: it is not a subclass of "
                "harness.report.drawing.Plot; correct the entry point"
            )
        usable[plugin.name] = kind
    return usable


def show(run: Run, kind: str, metric: str | None, place: int) -> Axes:
    """Draw a plot of a run in a new figure.

    Raises
    ------
    ResultsError
        If there is no such kind, or the run has nothing to show of it.
    """
    if kind not in kinds():
        raise ResultsError(f"{run.info.name}: no plot {kind!r}; {suggestion(kind, kinds())}")
    return kinds()[kind].show(run, metric, place=place)


tradeoff, ndcg_over_k, distribution = TradeoffPlot.show, NdcgOverKPlot.show, DistributionPlot.show
differences, groups, spread = DifferencePlot.show, GroupsPlot.show, SpreadPlot.show
parameter = ParameterPlot.show


def learning(run: Run, metric: str | None = None, *, place: int = 1) -> Axes:
    """Draw the learning curves of a run."""
    return kinds()["learning"].show(run, metric, place=place)
