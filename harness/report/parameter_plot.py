"""A metric against a parameter in which the settings of one algorithm differ."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from harness.config.algorithms import AlgorithmConfig
from harness.lazy import pd
from harness.plugins import folded
from harness.report.drawing import SUBTITLE, Plot, value_spans
from harness.report.styles import FAINT, MUTED, known_algorithms
from harness.report.summary import Summary, shortened
from harness.results.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

LOGARITHMIC = 8
"""From this ratio of the greatest value of a parameter to the least, its axis is logarithmic."""
MOST_TICKS = 8
Values = dict[str, object]
"""Of one parameter, by the titles of rows."""


@dataclass(frozen=True)
class Line:
    """Rows of one algorithm that differ in one parameter alone.

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
    """A metric against one parameter: a line for the rows that differ in it alone."""

    name = "parameter"
    title = "Parameters"
    caption = (
        "Each mark is a row of the table; a line joins rows that differ in this parameter alone. "
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
                "no two rows differ in one parameter alone; add some, as {name: KNNBasic, "
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
        axes.vlines(places, data["low"], data["high"], self._colours(), lw=1, alpha=0.55)
        placed = data.assign(place=places)
        for _, line in placed.sort_values("place", kind="stable").groupby("line", sort=True):
            if is_number:  # words have no order
                axes.plot(line["place"], line["value"], "-", color=FAINT, lw=0.8, zorder=1)
            for name, x, y in zip(line["algorithm"], line["place"], line["value"], strict=True):
                axes.plot(x, y, ls="", zorder=3, **self.summary.styles[name].marks)
        ends = [end for span in value_spans(data, "value").values() for end in span]
        ends = [end for end in ends if not math.isnan(end)]
        pad = 0.08 * ((max(ends) - min(ends)) or 1.0)
        axes.set_ylim(min(ends) - pad, max(ends) + pad)
        self._name_lines(axes, placed)

    def _name_lines(self, axes: Axes, placed: pd.DataFrame) -> None:
        """Write the algorithm beside the end of each line, if there are several."""
        from harness.report.drawing import laid_out, spread_positions

        lasts = placed.sort_values("place", kind="stable").groupby("line").last()
        if len(lasts) < 2:
            return
        low, high = axes.get_ylim()
        gap = (high - low) * (SUBTITLE + 1.6) / (self.size[1] * 0.6 * 72)
        heights = spread_positions(lasts["value"].tolist(), gap, low, high)
        for number, at, name in zip(lasts.index, heights, lasts["of"], strict=True):
            rest = self.lines[number].rest.strip("{}").replace('"', "")
            text = shortened(f"{name} {rest}".strip(), 24)
            beside = axes.get_yaxis_transform()
            axes.text(1.03, at, text, transform=beside, size=SUBTITLE, va="center", color=MUTED)
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
