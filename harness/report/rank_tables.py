"""A comparison over several data sets as text, as a file for a paper, and as a diagram."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.comparison.across import AcrossDataSets
from harness.errors import ResultsError
from harness.report import drawing
from harness.report.drawing import LABEL, SUBTITLE
from harness.report.styles import FAINT, INK, MUTED, algorithm_styles
from harness.report.summary import sentences, shortened
from harness.results.pairs import p_text
from harness.results.table import (
    DEFAULT_DECIMALS,
    escape_latex,
    frame_to_csv,
    latex_table,
    markdown_table,
    rounded,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WIDTH = 5.0  # inches: names on both sides of the ranks
ROW, BAR, SCALE, CRITICAL = 0.17, 0.07, 0.2, 0.22
"""Inches: of a name, of a bar, of the scale, and of the critical difference above it."""
MOST_NUMBERS = 9
"""Numbers that the scale has room for between long names."""


def verdict(across: AcrossDataSets) -> list[str]:
    """Return what the tests say, a sentence each."""
    n, k = across.comparison.ranks.shape
    values = {"n": n, "k": k, "p": lambda p: p_text(p, False)}
    return sentences("across", found=across, compared=across.comparison, **values).split(" ¶ ")


def headline(across: AcrossDataSets) -> str:
    """Return one line: how many data sets, and what was asked of them."""
    better = "higher" if metrics.parse(across.metric).higher_is_better else "lower"
    return (
        f"{len(across.datasets)} data sets · {across.metric}, {better} is better · "
        f"split: {across.split}; candidates: {across.candidates}"
    )


def as_texts(across: AcrossDataSets) -> pd.DataFrame:
    """Return the table with its numbers as texts."""
    table, shown = across.table, across.table[["algorithm"]].copy()
    letters = table["letters"].str.ljust(table["letters"].str.len().max())
    shown["mean rank"] = table["mean_rank"].map("{:.2f} ".format) + letters
    shown["wins"] = table["wins"].map("{:.3g}".format)
    for title in across.datasets:
        shown[title] = [rounded(value, DEFAULT_DECIMALS) for value in table[title]]
    return shown


def probabilities(across: AcrossDataSets) -> pd.DataFrame:
    """Return, for the row of the best mean rank and each other, what the Bayesian test says."""
    best, *rest = across.table["algorithm"]
    pairs = across.comparison.pairs
    columns = {"p_first_better": "better", "p_equivalent": "equivalent", "p_second_better": "worse"}
    shown: pd.DataFrame = (
        pairs[pairs["first"] == best]  # the first of rows with equal mean ranks is first here too
        .set_index("second")
        .loc[rest, list(columns)]
        .rename(columns=columns)
        .map("{:.3f}".format)
    )
    return shown.rename_axis(f"{best} than").reset_index()


def to_markdown(across: AcrossDataSets) -> str:
    """Return table and verdict as Markdown."""
    tables = [as_texts(across), probabilities(across)]
    ranks, probable = (
        "\n".join(markdown_table([*frame], frame.itertuples(index=False), {frame.columns[0]}))
        for frame in tables
    )
    notes = ["\n".join(f"- {note}" for note in across.notes)] if across.notes else []
    return "\n\n".join([headline(across), ranks, *verdict(across), probable, *notes]) + "\n"


def to_csv(across: AcrossDataSets) -> str:
    """Return the table as CSV, its numbers in full."""
    return frame_to_csv(across.table, float_format="%.8g")


def to_latex(across: AcrossDataSets) -> str:
    """Return the table as LaTeX, for the package ``booktabs``; the caption is the verdict."""
    table = as_texts(across).map(escape_latex).rename(columns=escape_latex)
    ranks, marks = across.table["mean_rank"].map("{:.2f}".format), across.table["letters"]
    table["mean rank"] = ranks + r"$^{\mathrm{" + marks + "}}$"
    return latex_table(table, " ".join([f"{headline(across)}.", *verdict(across)[:-1]]), "across")


def to_json(across: AcrossDataSets) -> str:
    """Return all that the comparison holds as JSON."""
    compared = across.comparison
    names = ("metric", "datasets", "split", "candidates")
    described = {name: getattr(across, name) for name in names}
    described["notes"] = [note.to_dict() for note in across.notes]
    settings = ("post_hoc", "rope", "level", "seed", "critical_difference")
    described |= {name: getattr(compared, name) for name in settings}
    tests = compared.friedman._asdict().items()
    described["friedman"] = {name: value if math.isfinite(value) else None for name, value in tests}
    described["algorithms"] = across.table.to_dict(orient="records")
    ranks = pd.DataFrame(compared.ranks, across.datasets, compared.algorithms["algorithm"])
    described["ranks"] = ranks.to_dict()
    described["pairs"] = compared.pairs.to_dict(orient="records")
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


FORMATS = {"markdown": to_markdown, "csv": to_csv, "latex": to_latex, "json": to_json}
"""Texts for files, by their names in ``harness compare --across --format``."""


@checked(ResultsError)
def critical_difference(across: AcrossDataSets, *, ax: Axes | None = None) -> Axes:
    """Draw the mean ranks; a bar joins rows that are not significantly different.

    After Demsar 2006, with the best rank on the left. The critical difference is shown where
    Nemenyi's test compared the rows.
    """
    if ax is not None and not hasattr(ax, "get_figure"):
        raise ResultsError(f"critical_difference: ax is {ax!r:.60}; give an Axes of Matplotlib")
    return drawing.shown(_size(across), partial(_draw, across), ax)


def render(across: AcrossDataSets, form: str) -> bytes:
    """Return the diagram as an SVG or PNG file."""
    return drawing.rendered(form, _size(across), partial(_draw, across))


def groups(across: AcrossDataSets) -> list[tuple[int, int]]:
    """Return first and last row of each longest group without a significant difference."""
    place = across.table["algorithm"].tolist().index
    pairs = across.comparison.pairs
    apart = pairs.loc[pairs["significant"], ["first", "second"]].map(place).to_numpy()
    # A row reaches to the last one before the first that differs, whose rank is worse.
    n = len(across.table)
    limits = [apart.max(axis=1)[apart.min(axis=1) == i].min(initial=n) - 1 for i in range(n)]
    return [(i, int(end)) for i, end in enumerate(limits) if end > max([i, *limits[:i]])]


def ranks_with_number(k: int) -> list[int]:
    """Return the ranks of a scale that have a number: the first, the last, and even steps.

    >>> ranks_with_number(4), ranks_with_number(23)
    ([1, 2, 3, 4], [1, 5, 10, 15, 20, 23])
    """
    step = next((step for step in (1, 2, 5, 10, 20, 50) if k <= MOST_NUMBERS * step), 100)
    between = [rank for rank in range(step, k, step) if min(rank - 1, k - rank) > step / 2]
    return [1, *between, k]


def _size(across: AcrossDataSets) -> tuple[float, float]:
    return WIDTH, round(0.4 - _limits(across)[0] + _limits(across)[1], 2)


def _limits(across: AcrossDataSets) -> tuple[float, float]:
    """Return the inches below and above the axis."""
    below = BAR * (len(groups(across)) + 1) + ROW * ((len(across.table) + 1) // 2)
    return -below, SCALE + CRITICAL * (across.comparison.post_hoc == "nemenyi")


def _draw(across: AcrossDataSets, axes: Axes) -> None:
    compared = across.comparison
    names, ranks = across.table["algorithm"].tolist(), across.table["mean_rank"].tolist()
    k, bars = len(names), groups(across)
    n_left = (k + 1) // 2
    depth = BAR * (len(bars) + 1)
    axes.set(xlim=(1 - 0.02 * k, k + 0.02 * k), ylim=_limits(across))
    axes.axis("off")
    axes.plot([1, k], [0, 0], color=INK, lw=0.8)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.04], color=INK, lw=0.8)
    for rank in ranks_with_number(k):
        axes.text(rank, 0.06, str(rank), ha="center", va="bottom", size=SUBTITLE, color=MUTED)
    if compared.post_hoc == "nemenyi":
        width = compared.critical_difference
        text = f"critical difference {width:.2f}"
        if width <= k - 1:
            axes.plot([1, 1 + width], [0.26] * 2, color=INK, lw=0.8, marker="|", ms=5)
        else:
            text += ", more than the scale"
        axes.text(1, 0.3, text, size=SUBTITLE, color=MUTED)
    for number, (first, last) in enumerate(bars, 1):
        ends = [ranks[first] - 0.008 * k, ranks[last] + 0.008 * k]
        axes.plot(ends, [-BAR * number] * 2, color=INK, lw=2.6, solid_capstyle="butt")
    styles = algorithm_styles(names)
    for i, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        is_left = i < n_left
        y = -depth - ROW * (i if is_left else k - 1 - i)
        edge = axes.get_xlim()[0 if is_left else 1]
        axes.plot([rank, rank, edge], [0, y, y], color=FAINT, lw=0.7, zorder=1)
        axes.plot([rank], [0], ms=4, ls="", clip_on=False, zorder=3, **styles[name].marks)
        text = f"{shortened(name)} {rank:.2f}" if is_left else f"{rank:.2f} {shortened(name)}"
        beside: dict[str, Any] = {
            "xytext": (-3 if is_left else 3, 0),
            "textcoords": "offset points",
        }
        side = "right" if is_left else "left"
        axes.annotate(text, (edge, y), **beside, ha=side, va="center", size=LABEL)
    title = f"Mean rank by {shortened(across.metric, 50)}, {len(across.datasets)} data sets"
    axes.set_title(title, x=0, loc="left", color=INK)
