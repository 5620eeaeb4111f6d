"""A plot as a file, and as a part of the page: drawing, text alternative, data."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.errors import ResultsError
from harness.files import write_output
from harness.report.digest import Digest
from harness.report.plots import KINDS, Plot, View
from harness.report.styles import COLOURS, FAINT, INK, MUTED, RULE, plot_style
from harness.results.table import frame_to_csv

__all__ = ["Figure", "draw", "render", "write_plot"]

LONGEST_NAME = 120
"""Characters of a file's name before its ending."""


@dataclass(frozen=True)
class Figure:
    """A plot on the page.

    Parameters
    ----------
    name : str
        Unique on the page; part of every id inside.
    label : str
        The metric.
    place : int
        Number of the table, from 1.
    svg : str
        The drawing, to stand inside HTML.
    alternative : str
        What it shows, in words.
    csv : str
        What was drawn.
    """

    name: str
    label: str
    place: int
    svg: str
    alternative: str
    csv: str


def draw(summary: Digest, kind: str, label: str, place: int, number: int) -> Figure:
    """Draw a plot for the page.

    Parameters
    ----------
    summary : Digest
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
    plot, name = KINDS[kind], f"plot{number}"
    view = plot.view(summary, label, place)
    svg = _for_page(_render(plot, view, "svg", svg_fonttype="none").decode(), name)
    csv = frame_to_csv(view.data, float_format="%.8g")
    return Figure(name, label, place, svg, plot.describe(view), csv)


def render(
    summary: Digest, kind: str, label: str | None, place: int, form: str, **settings: object
) -> bytes:
    """Return a plot as the bytes of a file.

    Parameters
    ----------
    summary : Digest
    kind : str
        A key of `plots.KINDS`.
    label : str or None
        None for the run's primary metric.
    place : int
        Number of the table, from 1.
    form : {"svg", "png"}
    **settings
        Of Matplotlib, as `plot_style` takes them.

    Raises
    ------
    ResultsError
        If the run has nothing to show of this kind.
    """
    return _render(KINDS[kind], KINDS[kind].view(summary, label, place), form, **settings)


def write_plot(
    summary: Digest, kind: str, label: str | None, place: int, form: str, folder: Path
) -> Path:
    """Write a plot into a folder; its name contains the kind, the metric and the table.

    The parameters are those of `render`; the folder is made when it is missing.

    Raises
    ------
    ResultsError
        If the run has nothing to show of this kind, or the folder cannot be written.
    """
    chosen = summary.metric(label)
    title = f"-{place}-{summary.place(place).title}" if len(summary.places) > 1 else ""
    words = re.findall(r"[\w@.]+", f"{kind}-{chosen}{title}")
    path = folder / f"{'-'.join(words)[:LONGEST_NAME]}.{form}"
    drawn = render(summary, kind, chosen, place, form)
    try:
        write_output(path, drawn)
    except OSError as error:
        raise ResultsError(f"{path}: cannot be written ({error.strerror}); use --output") from None
    return path


def _render(plot: Plot, view: View, form: str, **settings: object) -> bytes:
    from matplotlib.figure import Figure as Canvas

    file = io.BytesIO()
    with plot_style(**settings):
        canvas = Canvas(figsize=plot.size(view))
        plot.draw_view(canvas.subplots(), view)
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")
        metadata: dict[str, Any] = {"Date": None} if form == "svg" else {}
        canvas.savefig(file, format=form, metadata=metadata)
    return file.getvalue()


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
