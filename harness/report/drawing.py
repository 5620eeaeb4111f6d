"""What all plots share: heading, scale, names beside values, and how they become files."""

from __future__ import annotations

import io
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from harness import metrics
from harness._util.files import refuse_link, write_output
from harness._util.libraries import pd, scipy
from harness.comparison.best import NOT_PERSONALISED
from harness.errors import ResultsError
from harness.plugins.registry import folded
from harness.report.styles import INK, MUTED, plot_style
from harness.report.summary import Summary, sentences, short_names, summarise
from harness.results.cells import why_without
from harness.results.runs import Run
from harness.results.table import decimals, frame_to_csv, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform


WIDTH = 3.5  # inches: one column of text
TITLE, SUBTITLE, LABEL, LEGEND = 8.0, 7.0, 7.5, 6.5
"""Sizes of text in points, the same as in `style.mplstyle`."""
MARGIN = 5.0  # points between text and the edge of a figure
MOST_LINES = 4  # lines of a title or subtitle; longer text is cut with an ellipsis
APART, SPREAD = 3.0, 18.0  # points between series at one value, and of all of them at most
LONGEST_NAME = 120  # characters of a file's name before its ending

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
    """The name of the metric: its label, or `family` without the rank."""
    about = ""
    """What the title says beside it."""
    is_optional: ClassVar[bool] = False
    """Whether nobody misses it in a run that has nothing for it."""
    is_of_family: ClassVar[bool] = False
    """Whether it shows a metric at every rank, so that one plot serves all labels that differ only
    by the rank."""
    always: ClassVar[tuple[float, ...]] = ()
    """Values that the scale includes."""
    inches: ClassVar[tuple[float, float, float]] = (1.04, 0.66, 0.19)
    """Height without the heading: the least, without rows, and for each row."""

    def __init__(self, run: Run | Summary, metric: str | None = None, place: int = 1) -> None:
        self.summary = summarise(run)
        self.label, self.table = self.summary.metric(metric), self.summary.table(place)
        self.higher = metrics.parse(self.label).higher_is_better
        self.data = self._select()

    @classmethod
    def each(cls, run: Run | Summary, metric: str | None = None, place: int = 1) -> list[Plot]:
        """Return every plot of this kind: one, unless the metric has several parts."""
        return [cls(run, metric, place)]

    @classmethod
    def heading(cls, summary: Summary) -> str:
        """Return what the page of a run calls it."""
        return cls.title

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

        By default, its metric is the run's headline metric, its table the first;
        the baseline comes from a summary, or from the run's config.
        """
        plot = cls(run, metric, place)
        return shown(plot.size, plot.draw, ax)

    def describe(self) -> str:
        """Return what the plot shows, as its text alternative.

        A kind of another package writes its own; here it is the text of `assets/sentences.txt`.
        """
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
        drop_crowded_ticks(axes)

    def render(self, form: str, **settings: object) -> bytes:
        """Return the plot as an SVG or PNG file, with settings as `plot_style` takes them."""
        return self._rendered(form, "", **settings)

    def _rendered(self, form: str, legend: str, **settings: object) -> bytes:
        """Return the plot as a file, with a legend below it if there is one."""
        width, height = self.size
        lines = _wrapped(legend, width * 72 - 2 * MARGIN, LEGEND, most=99) if legend else []
        room = (len(lines) * LEGEND * 1.25 + MARGIN) / 72 if lines else 0.0

        def draw(axes: Axes) -> None:
            figure = axes.get_figure(root=True)
            assert figure is not None
            if lines:
                bottom = room / (height + room)
                figure.get_layout_engine().set(rect=(0, bottom, 1, 1 - bottom))  # type: ignore[union-attr, call-arg]
                place = MARGIN / 72 / width, MARGIN / 72 / (height + room)
                below = figure.text(*place, "\n".join(lines), size=LEGEND, color=MUTED, va="bottom")
                below.set(linespacing=1.1, in_layout=False)
            self.draw(axes)
            laid_out(axes).set_layout_engine("none")

        return rendered(form, (width, round(height + room, 2)), draw, **settings)

    def path(self, form: str, folder: Path) -> Path:
        """Return where it is in a folder; its name contains the kind, the metric and the table."""
        several = len(self.summary.tables) > 1
        title = f"-{self.table.number}-{self.table.title}" if several else ""
        words = re.findall(r"[\w@.]+", f"{self.name}-{self.label}{self.part}{title}")
        return refuse_link(folder / f"{'-'.join(words)[:LONGEST_NAME]}.{form}")

    def write(self, form: str, folder: Path) -> Path:
        """Write the plot into a folder, with what its marks mean below it."""
        advice = "choose another place with --output"
        drawn = self._rendered(form, self.legend.replace("`", ""))
        return write_output(self.path(form, folder), drawn, advice)

    @property
    def legend(self) -> str:
        """What the marks of this plot mean: the caption, without what this plot does not show."""
        spans = self._spans()
        is_beyond = spans and scale_without(spans, self.higher, self.always)[2]
        return self.caption if is_beyond else self.caption.replace(OUTSIDE, "")

    def _spans(self) -> Spans:
        """Return the ends of what is drawn of each row, for kinds that leave baselines out."""
        return {}

    @abstractmethod
    def _select(self) -> pd.DataFrame:
        """Return what is drawn, best first."""

    @abstractmethod
    def _draw(self, axes: Axes) -> None:
        """Draw the data."""

    def _facts(self) -> dict[str, object]:
        """Return what the text alternative names, for kinds whose `describe` is the usual one."""
        return {}

    def _frame(self, rows: Iterable[tuple[object, ...]], *columns: str) -> pd.DataFrame:
        """Return rows, each of an algorithm, as a frame; a ResultsError where there is none."""
        found = pd.DataFrame([*rows], columns=["algorithm", *columns])
        if found.empty:
            reason = why_without(self.summary.info.cells, self.label)
            reason = reason or "; nothing to plot"
            raise self._nothing(f"no algorithm has a value of {self.label}{reason}")
        return found

    def _value(self, name: str) -> tuple[float, float, float]:
        """Return the value of an algorithm and both ends of its interval."""
        return self.table.records[name][self.label], *self.table.interval(self.label, name)

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
        the scale is at the nearer edge, with value and arrow. With `covered`, names whose line
        lies on the line of the name above all have their value.
        """
        least, greatest, out = scale_without(spans, self.higher)
        pad = margin * ((greatest - least) or 1.0)
        low, high = least - pad, greatest + pad
        axes.set_ylim(low, high)
        dpi = laid_out(axes).dpi
        gap = (high - low) * (SUBTITLE + 1.6) / (axes.get_window_extent().height / dpi * 72)
        placed = spread_positions(list(values.values()), gap, low, high)
        beside, short = (
            axes.get_yaxis_transform(),
            short_names(values, 22 if covered is None else 18),
        )
        for (name, value), at in zip(values.items(), placed, strict=True):
            text = short[name]
            if covered is not None or name in out:
                arrow = " ↓" if value < least else " ↑" if value > greatest else ""
                same = "≈ " if covered and name in covered else ""
                text = f"{same}{text} {self._text(value)}{arrow}"
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
                number, left = f"{value:.{digits}f}".replace("-", "−"), self.higher
                shown = f"← {number}" if left else f"{number} →"
                # Beside what of the row is within the scale.
                x = max(spans[name][1], low - pad) if left else min(spans[name][0], high + pad)
                place: dict[str, Any] = {"textcoords": "offset points", "va": "center"}
                place |= {"ha": "left" if left else "right", "color": MUTED}
                axes.annotate(shown, (x, y), (5 if left else -5, 0), size=SUBTITLE, **place)


def shown(size: tuple[float, float], draw: Callable[[Axes], None], ax: Axes | None) -> Axes:
    """Draw into `ax`, or into a new figure in the report's style."""
    with plot_style():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=size).subplots()
        draw(ax)
    return ax


def rendered(
    form: str, size: tuple[float, float], draw: Callable[[Axes], None], **settings: object
) -> bytes:
    """Return a drawing as an SVG or PNG file, with settings as `plot_style` takes them."""
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with plot_style(**settings):
        figure = Figure(figsize=size)
        draw(figure.subplots())
        figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else {})
    return file.getvalue()


def value_spans(data: pd.DataFrame, column: str) -> Spans:
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
    personal = list(spans) if len(personal) < 2 else personal

    def limits(names: Iterable[str]) -> tuple[float, float]:
        ends = [end for name in names for end in spans[name] if np.isfinite(end)]
        return min([*ends, *always]), max([*ends, *always])

    low, high = limits(personal)
    reach = (high - low) / 2
    out = [
        name
        for name, (start, stop) in spans.items()
        if name not in personal and (start < low - reach if higher else stop > high + reach)
    ]
    return *limits(name for name in spans if name not in out), out


def beside(axes: Axes, number: int, n: int) -> Transform:
    """Return a transformation that draws the marks of one of `n` series beside the others.

    It moves by points, whatever the scale: series at the same values do not cover each other.
    """
    from matplotlib.transforms import ScaledTranslation

    if n < 2:
        return axes.transData
    figure = axes.get_figure(root=True)
    assert figure is not None
    step = min(APART, SPREAD / max(n, 1)) / 72
    shift = ScaledTranslation((number - (n - 1) / 2) * step, 0, figure.dpi_scale_trans)
    return axes.transData + shift


def label_rows(axes: Axes, names: Iterable[str]) -> None:
    """Label one row for each algorithm, the first on top."""
    labels = short_names(names).values()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.grid(visible=False, axis="y")


def spread_positions(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Move positions as little as possible until they are `gap` apart, or what room there is."""
    n = len(wanted)
    if not n:
        return []
    gap = min(gap, (high - low) / max(n - 1, 1))
    order = np.argsort(wanted, kind="stable")
    # Without the gaps before them, positions only must not decrease: least squares finds those.
    offsets = gap * np.arange(n)
    starts = scipy.optimize.isotonic_regression(np.asarray(wanted)[order] - offsets).x
    placed = np.empty(n)
    placed[order] = np.clip(starts, low, high - offsets[-1]) + offsets
    return placed.tolist()


def drop_crowded_ticks(axes: Axes) -> None:
    """Lay the plot out, wrap the label of the x axis, and keep ticks that do not overlap.

    The space decides the ticks, and tick labels need space: without
    a limit the two can alternate until a label crosses the edge.
    """
    figure = laid_out(axes)
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        kept = [
            (tick, text.get_text(), text.get_window_extent())
            for tick, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            if low <= tick <= high
        ]
        gap = figure.dpi / 72 * 4
        while axis is axes.xaxis and any(a[2].x1 + gap > b[2].x0 for a, b in pairwise(kept)):
            # The reference of a plot of differences keeps its tick.
            zero = next((place for place, (tick, *_) in enumerate(kept) if tick == 0), 0)
            kept = kept[zero % 2 :: 2]
        axis.set_ticks([tick for tick, *_ in kept], labels=[text for _, text, _ in kept])
    width = axes.get_window_extent().width / figure.dpi * 72
    axes.set_xlabel("\n".join(_wrapped(axes.get_xlabel(), width, LABEL)))


def laid_out(axes: Axes) -> Figure:
    """Return the figure after its layout has given the axes their place."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def _wrapped(
    text: str, width: float, size: float, weight: str = "normal", most: int = MOST_LINES
) -> list[str]:
    """Break text into lines no wider than a width in points, long words too."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font, text = FontProperties(family="DejaVu Sans", size=size, weight=weight), printable(text)
    measure = text_to_path.get_text_width_height_descent
    lines = [""]
    for longest in range(len(text), 0, -1):
        lines = textwrap.wrap(text, longest, max_lines=most, placeholder="…")
        if max(measure(line, font, False)[0] for line in lines) <= width:
            break
    return lines
