"""A metric against the proportion of the training ratings that models saw: learning curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness._util.libraries import pd
from harness.extras.curves.learning import Curve, curve_frame, required_curves
from harness.report.drawing import OUTSIDE, Plot, beside
from harness.schema.sections import written

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LOGARITHMIC = 4
"""From this ratio of the greatest share to the least, the axis is logarithmic."""


class LearningPlot(Plot):
    """A metric by proportion of the training ratings, shown with the table of the largest one."""

    name = "learning"
    is_optional = True
    title = "Learning curves"
    caption = (
        "One test set; each mark is a row whose models saw this proportion of the training "
        "ratings. "
        "Bars: confidence intervals, side by side. Names are in the order of the values at "
        "the largest proportion." + OUTSIDE
    )
    about = " by training share"
    inches = (2.5, 0.8, 0.2)

    @property
    def curve(self) -> Curve:
        """The curve whose largest share has this table."""
        curves = required_curves(self.summary.info)
        largest = {[*curve.tables.values()][-1]: curve for curve in curves}
        if (curve := largest.get(self.table.key)) is None:
            raise self._nothing("the curve is part of the table of its largest fraction")
        return curve

    def _select(self) -> pd.DataFrame:
        """Return a row for each algorithm and share, the best of the largest share first."""
        tables = self.curve.tables
        drawn = curve_frame(self.summary.info, self.label)
        names = pd.Series(
            {"split": self.curve.split, "candidates": self.curve.candidates, "by": self.curve.by}
            | {"dataset": self.curve.dataset}
        )
        drawn = drawn[(drawn[[*names.index]] == names).all(axis=1)]
        rows = [
            (name, row.share, row.value, row.low, row.high)
            for name in self.table.ranked(self.label)
            for row in drawn[drawn["algorithm"] == name].dropna(subset="value").itertuples()
            if row.share in tables
        ]
        return self._frame(rows, "share", "value", "low", "high")

    def _draw(self, axes: Axes) -> None:
        """Draw a line and the intervals of each algorithm, with its name at the end."""
        from matplotlib.ticker import NullLocator

        data, shares = self.data, [*self.curve.tables]
        if shares[-1] / shares[0] >= LOGARITHMIC:
            axes.set_xscale("log")
            room = (shares[-1] / shares[0]) ** 0.12
            axes.set_xlim(shares[0] / room, shares[-1] * room)
        else:
            room = 0.12 * (shares[-1] - shares[0])
            axes.set_xlim(shares[0] - room, shares[-1] + room)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(shares, [written(share) for share in shares])
        axes.set_xlabel(f"proportion of the training {self.curve.of}")
        spans, values = {}, {}
        lines = [*data.groupby("algorithm", sort=False)]
        for number, (name, line) in enumerate(lines):
            style = self.summary.styles[str(name)]
            at: dict[str, Any] = {"transform": beside(axes, number, len(lines))}
            if line["low"].notna().all():
                ends = line["share"], line["low"], line["high"]
                axes.vlines(*ends, style.colour, lw=1, alpha=0.5, **at)
            marks = style.marks | {"ls": "-", "lw": 1.1, "ms": 4, "zorder": 3} | at
            axes.plot(line["share"], line["value"], **marks)
            ends = line[["value", "low", "high"]].stack()  # without missing ends
            spans[str(name)] = (ends.to_numpy().min().item(), ends.to_numpy().max().item())
            values[str(name)] = float(line["value"].to_numpy()[-1])
        self._name_ends(axes, values, spans, 0.05)

    def _facts(self) -> dict[str, object]:
        shares = [*self.curve.tables]
        first = {
            share: self.data[self.data["share"] == share].sort_values(
                "value", ascending=not self.higher, kind="stable"
            )
            for share in (shares[0], shares[-1])
        }
        few, many = (first[share].iloc[0] for share in first)
        return {
            "of": self.curve.of,
            "shares": [written(share) for share in shares],
            "few": (few["algorithm"], self._text(few["value"])),
            "many": (many["algorithm"], self._text(many["value"])),
        }
