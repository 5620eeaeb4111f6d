"""A plot as files and as a part of the page: drawing, text alternative, data."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from harness.errors import ResultsError
from harness.files import write_output
from harness.report import series
from harness.report.appearance import COLOURS, FAINT, INK, MUTED, RULE, style
from harness.report.canvas import figure_size
from harness.report.digest import Digest
from harness.report.plots import KINDS, heading
from harness.report.sentences import describe_plot
from harness.results.frames import to_csv

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Figure", "data_behind", "draw", "render", "write_plot"]

LONGEST_NAME = 120
"""Characters of a file's name before its ending."""
OUTSIDE = " Arrow: a baseline outside the scale, with its value."
CAPTIONS = {
    "tradeoff": "Bars: intervals over users. Steps join the algorithms that no other is both "
    "faster and better than." + OUTSIDE,
    "ndcg-over-k": "Names are in the order of the values at the last k. Bands (up to six "
    "algorithms): intervals over users. ≈: the line lies on that of the name above." + OUTSIDE,
    "distribution": "Bar: the middle half of the users. Line: from the 5% to the 95% quantile. "
    "Notch: median. Diamond: mean.",
    "differences": "Paired by user. Line: interval of the difference. Filled: significant after "
    "correction." + OUTSIDE,
    "spread": "Each mark is one fold and seed, the line their mean." + OUTSIDE,
}
"""What the marks of each kind mean."""


@dataclass(frozen=True)
class Figure:
    """A plot on the page.

    Parameters
    ----------
    name : str
        Unique on the page; part of every id inside.
    kind : str
        A key of `plots.KINDS`.
    label : str
        The metric.
    place : int
        Number of the table, from 1.
    svg : str
        The drawing, to stand inside HTML.
    caption, alternative : str
        What the marks mean, and what they show, in words.
    csv : str
        What was drawn.
    """

    name: str
    kind: str
    label: str
    place: int
    svg: str
    caption: str
    alternative: str
    csv: str


def draw(told: Digest, kind: str, label: str, place: int, number: int) -> Figure:
    """Draw a plot for the page.

    Parameters
    ----------
    told : Digest
    kind : str
        A key of `plots.KINDS`.
    label : str
    place : int
        Number of the table, from 1.
    number : int
        Of the figure on the page.

    Raises
    ------
    ResultsError
        If the run has nothing to show of this kind.
    """
    data = data_behind(told, kind, label, place)
    name = f"plot{number}"
    drawn = render(told, kind, label, place, "svg", svg_fonttype="none").decode()
    return Figure(
        name,
        kind,
        label,
        place,
        _for_page(drawn, name),
        CAPTIONS[kind],
        describe_plot(told, kind, label, place, data),
        to_csv(data, float_format="%.8g"),
    )


def render(
    told: Digest, kind: str, label: str | None, place: int, form: str, **settings: object
) -> bytes:
    """Return a plot as the bytes of a file.

    Parameters
    ----------
    told : Digest
    kind : str
        A key of `plots.KINDS`.
    label : str or None
    place : int
        Number of the table, from 1.
    form : {"svg", "png"}
    **settings
        Of Matplotlib, as `style` takes them.

    Raises
    ------
    ResultsError
        If the run has nothing to show of this kind.
    """
    from matplotlib.figure import Figure as Canvas

    where = told.place(place)
    n_lines = heading(kind, told.metric(label), where).n_lines
    file = io.BytesIO()
    with style(**settings):
        canvas = Canvas(figsize=figure_size(kind, len(where.rows), n_lines))
        KINDS[kind](told, label, place=place, ax=canvas.subplots())
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")
        metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
        canvas.savefig(file, format=form, metadata=metadata)
    return file.getvalue()


def data_behind(told: Digest, kind: str, label: str | None, place: int) -> pd.DataFrame:
    """Return what a plot draws.

    Parameters
    ----------
    told : Digest
    kind : str
        A key of `plots.KINDS`.
    label : str or None
    place : int
        Number of the table, from 1.
    """
    chosen, where = told.metric(label), told.place(place)
    if kind == "tradeoff":
        return series.over_time(where, chosen)
    if kind == "spread":
        return series.over_cells(where, chosen)
    of_digest = {
        "ndcg-over-k": series.over_k,
        "distribution": series.over_users,
        "differences": series.to_baseline,
    }
    return of_digest[kind](told, where, chosen)


def _for_page(svg: str, name: str) -> str:
    """Return a drawing without parts that the page already has, in the page's colours."""
    root = ElementTree.fromstring(svg)  # noqa: S314 - Matplotlib wrote it a moment ago
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _follow_page(value, name)
            for key, value in element.attrib.items()
            if tag != "g" or key != "id"
        }
        if tag != "text":
            element.text = None
        element.tail = None
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-says",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _follow_page(value: str, name: str) -> str:
    """Return an attribute with the page's colours and font, and ids that no other drawing has."""
    # Marks and clips are known by ids: p or m and eleven digits of a hash.
    value = re.sub(r"^(#?)(?=[a-z]+[0-9a-f]{10}$)", rf"\g<1>{name}-", value)
    value = value.replace("url(#", f"url(#{name}-")
    value = re.sub(r"(\d\.\d{2})\d+", r"\g<1>", value)
    value = re.sub(r"font-family:[^;]*;?", "", value)
    for colour, variable in _VARIABLES.items():
        value = value.replace(colour, f"var(--{variable})")
    return " ".join(value.split())


_VARIABLES = {light: hue for hue, (light, _) in COLOURS.items()} | {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    FAINT: "faint",
    "#ffffff": "paper",
}
"""Colours of a drawing, and what the page calls them."""


def write_plot(
    told: Digest, kind: str, label: str | None, place: int, form: str, folder: Path
) -> Path:
    """Write a plot into a folder; its name contains the kind, the metric and the table.

    Parameters
    ----------
    told : Digest
    kind : str
        A key of `plots.KINDS`.
    label : str or None
        None for the run's primary metric.
    place : int
        Number of the table, from 1.
    form : {"svg", "png"}
    folder : Path
        Made when it is missing.

    Raises
    ------
    ResultsError
        If the run has nothing to show of this kind, or the folder cannot be written.
    """
    chosen = told.metric(label)
    title = f"-{place}-{told.place(place).title}" if len(told.places) > 1 else ""
    words = re.findall(r"[\w@.]+", f"{kind}-{chosen}{title}")
    name = "-".join(words)[:LONGEST_NAME]
    path = folder / f"{name}.{form}"
    drawn = render(told, kind, chosen, place, form)
    try:
        write_output(path, drawn)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror}); use --output") from None
    return path
