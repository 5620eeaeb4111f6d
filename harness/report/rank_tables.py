"""A comparison over several data sets as text, as a file for a paper, and as a diagram."""

from __future__ import annotations

import io
import json
import math
from typing import TYPE_CHECKING

from harness import metrics
from harness.report.plots import LABEL, SUBTITLE
from harness.report.styles import FAINT, INK, MUTED, algorithm_styles, plot_style
from harness.report.summary import p_text, sentences, shortened
from harness.report.tables import escape_latex
from harness.results.across import AcrossDataSets
from harness.results.runs import DEFAULT_DECIMALS, frame_to_csv, markdown_table, rounded

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WIDTH = 5.0
"""Inches: names on both sides of the ranks."""
ROW, BAR, SCALE, CRITICAL = 0.17, 0.07, 0.2, 0.22
"""Inches: of a name, of a bar, of the scale, and of the critical difference above it."""


def verdict(found: AcrossDataSets) -> list[str]:
    """Return what the tests say, a sentence each."""
    compared = found.comparison
    n, k = compared.ranks.shape
    texts = sentences(
        "across", found=found, compared=compared, n=n, k=k, p=lambda value: p_text(value, False)
    )
    return texts.split(" ¶ ")


def headline(found: AcrossDataSets) -> str:
    """Return one line: how many data sets, and what was asked of them."""
    better = "higher" if metrics.parse(found.metric).higher_is_better else "lower"
    return (
        f"{len(found.datasets)} data sets · {found.metric}, {better} is better · "
        f"split: {found.split}; candidates: {found.candidates}"
    )


def as_texts(found: AcrossDataSets) -> pd.DataFrame:
    """Return the table with its numbers as texts."""
    table = found.table
    width = table["letters"].str.len().max()
    ranks = [
        f"{rank:.2f} {marks:<{width}}"
        for rank, marks in zip(table["mean_rank"], table["letters"], strict=True)
    ]
    shown = table[["algorithm"]].assign(**{"mean rank": ranks})
    shown["wins"] = [f"{wins:.3g}" for wins in table["wins"]]
    for title in found.datasets:
        shown[title] = [rounded(value, DEFAULT_DECIMALS) for value in table[title]]
    return shown


def probabilities(found: AcrossDataSets) -> pd.DataFrame:
    """Return, for the row of the best mean rank and each other, what the Bayesian test says."""
    best, *others = found.table["algorithm"]
    pairs = found.comparison.pairs
    columns = {"p_first_better": "better", "p_equivalent": "equivalent", "p_second_better": "worse"}
    shown: pd.DataFrame = (
        pairs[pairs["first"] == best]  # the first of rows with equal mean ranks is first here too
        .set_index("second")
        .loc[others, list(columns)]
        .rename(columns=columns)
        .map("{:.3f}".format)
    )
    return shown.rename_axis(f"{best} than").reset_index()


def to_markdown(found: AcrossDataSets) -> str:
    """Return table and verdict as Markdown."""
    tables = [as_texts(found), probabilities(found)]
    first, second = (markdown_table(each, {each.columns[0]}) for each in tables)
    *tests, bayes = verdict(found)
    lines = [headline(found), "", *first, ""]
    lines += [line for text in tests for line in (text, "")]
    lines += [bayes, "", *second, *([""] if found.notes else [])]
    return "\n".join([*lines, *(f"- {note}" for note in found.notes)]) + "\n"


def to_csv(found: AcrossDataSets) -> str:
    """Return the table as CSV, its numbers in full."""
    return frame_to_csv(found.table, float_format="%.8g")


def to_latex(found: AcrossDataSets) -> str:
    """Return the table as LaTeX, for the package ``booktabs``; the caption is the verdict."""
    table = as_texts(found).map(escape_latex).rename(columns=escape_latex)
    table["mean rank"] = [
        f"{rank:.2f}$^{{\\mathrm{{{marks}}}}}$"
        for rank, marks in zip(found.table["mean_rank"], found.table["letters"], strict=True)
    ]
    text: str = table.style.hide(axis="index").to_latex(
        caption=escape_latex(" ".join([f"{headline(found)}.", *verdict(found)[:-1]])),
        label="tab:across",
        column_format="l" + "r" * (len(table.columns) - 1),
        position_float="centering",
        hrules=True,
    )
    return text


def to_json(found: AcrossDataSets) -> str:
    """Return all that the comparison holds as JSON."""
    compared = found.comparison
    names = ("metric", "datasets", "split", "candidates", "notes")
    described = {name: getattr(found, name) for name in names}
    settings = ("post_hoc", "rope", "level", "seed", "critical_difference")
    described |= {name: getattr(compared, name) for name in settings}
    tests = compared.friedman._asdict().items()
    described["friedman"] = {name: each if math.isfinite(each) else None for name, each in tests}
    described["algorithms"] = found.table.to_dict(orient="records")
    by_name = zip(compared.algorithms["algorithm"], compared.ranks.T.tolist(), strict=True)
    described["ranks"] = {
        name: dict(zip(found.datasets, ranks, strict=True)) for name, ranks in by_name
    }
    described["pairs"] = compared.pairs.to_dict(orient="records")
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


FORMATS = {"markdown": to_markdown, "csv": to_csv, "latex": to_latex, "json": to_json}
"""Texts for files, as ``harness compare --across --format`` calls them."""


def critical_difference(found: AcrossDataSets, *, ax: Axes | None = None) -> Axes:
    """Draw the mean ranks; a bar joins rows that are not significantly different.

    After Demsar 2006, with the best rank on the left. The critical difference is shown where
    Nemenyi's test compared the rows.
    """
    with plot_style():
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=_size(found)).subplots()
        _draw(found, ax)
    return ax


def render(found: AcrossDataSets, form: str) -> bytes:
    """Return the diagram as an SVG or PNG file."""
    from matplotlib.figure import Figure

    file = io.BytesIO()
    with plot_style():
        figure = Figure(figsize=_size(found))
        _draw(found, figure.subplots())
        figure.savefig(file, format=form, metadata={"Date": None} if form == "svg" else {})
    return file.getvalue()


def groups(found: AcrossDataSets) -> list[tuple[int, int]]:
    """Return first and last row of each longest group without a significant difference."""
    names = found.table["algorithm"].tolist()
    pairs = found.comparison.pairs
    apart = {
        frozenset(pair)
        for pair in pairs.loc[pairs["significant"], ["first", "second"]].itertuples(index=False)
    }
    ends: list[tuple[int, int]] = []
    for start in range(len(names)):
        end = start
        while end + 1 < len(names) and frozenset((names[start], names[end + 1])) not in apart:
            end += 1
        if end > start and (not ends or end > ends[-1][1]):
            ends.append((start, end))
    return ends


def _size(found: AcrossDataSets) -> tuple[float, float]:
    return WIDTH, round(0.4 - _limits(found)[0] + _limits(found)[1], 2)


def _limits(found: AcrossDataSets) -> tuple[float, float]:
    """Return the inches below and above the axis."""
    below = BAR * (len(groups(found)) + 1) + ROW * ((len(found.table) + 1) // 2)
    return -below, SCALE + CRITICAL * (found.comparison.post_hoc == "nemenyi")


def _draw(found: AcrossDataSets, axes: Axes) -> None:
    compared = found.comparison
    names, ranks = found.table["algorithm"].tolist(), found.table["mean_rank"].tolist()
    k, bars = len(names), groups(found)
    n_left = (k + 1) // 2
    depth = BAR * (len(bars) + 1)
    axes.set(xlim=(1 - 0.02 * k, k + 0.02 * k), ylim=_limits(found))
    axes.axis("off")
    axes.plot([1, k], [0, 0], color=INK, lw=0.8)
    for rank in range(1, k + 1):
        axes.plot([rank, rank], [0, 0.04], color=INK, lw=0.8)
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
        left = i < n_left
        y = -depth - ROW * (i if left else k - 1 - i)
        edge = axes.get_xlim()[0 if left else 1]
        axes.plot([rank, rank, edge], [0, y, y], color=FAINT, lw=0.7, zorder=1)
        axes.plot([rank], [0], ms=4, ls="", clip_on=False, zorder=3, **styles[name].marks)
        axes.annotate(
            f"{shortened(name)} {rank:.2f}" if left else f"{rank:.2f} {shortened(name)}",
            (edge, y),
            xytext=(-3 if left else 3, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            size=LABEL,
        )
    title = f"Mean rank by {shortened(found.metric, 50)}, {len(found.datasets)} data sets"
    axes.set_title(title, x=0, loc="left", color=INK)
