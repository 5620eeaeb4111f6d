"""The plot of every row less the baseline, with the margin of equivalence where there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from harness.lazy import pd
from harness.report.drawing import OUTSIDE, Plot, label_rows, value_spans
from harness.report.styles import FAINT
from harness.report.summary import shortened
from harness.results.statistics import Answer

if TYPE_CHECKING:
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
    def margin(self) -> float | None:
        """Of the test of equivalence; None where the config has none."""
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
        self._limit_rows(axes, value_spans(data, "difference"), data["difference"], [0.0])
        axes.set_xlabel(f"difference to {shortened(self.summary.baseline)}")

    def _facts(self) -> dict[str, object]:
        sure = self.data[self.data["significant"]]
        n_better = int(((sure["difference"] > 0) == self.higher).sum())
        answered = [] if self.margin is None else self.data["answer"].tolist()
        answers = {answer: answered.count(answer) for answer in get_args(Answer)}
        facts = {"n_sure": len(sure), "n_better": n_better, "margin": self.margin}
        return facts | {"answers": answers}
