"""The report page and the list of runs: files that load nothing, made only from results."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from harness import metrics
from harness._util.arguments import checked
from harness._util.files import refuse_link, write_output
from harness.comparison.runs import join
from harness.errors import ResultsError
from harness.notes.note import in_groups
from harness.report.drawing import Plot
from harness.report.methods import command, describe_cells, describe_run, methods, to_yaml
from harness.report.papers import (
    analysis_tables,
    evidence,
    latex,
    parameter_tables,
    sensitivity_tables,
)
from harness.report.plots import kinds
from harness.report.styles import COLOURS, FAINT, INK, MUTED, RULE, symbol
from harness.report.summary import ASSETS, Summary, failures_text, summarise, templates
from harness.results.reading import find_runs, read_run, took
from harness.results.runs import Run
from harness.results.table import (
    AGAINST_BEST,
    TextTable,
    columns_of,
    group_tables,
    printable,
    rounded,
    row_name,
    table_latex,
    to_csv,
)
from harness.results.verdict import verdict_lines
from harness.results.views import to_markdown

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup


MOST_FIGURES = 60
"""Most plots on a page; ``harness plot`` draws the others, so the page stays small."""
MOST_TABLES = 6
"""Tables of a run whose best row the list of runs names; it counts the others."""
SHADES = {INK: "ink", MUTED: "muted", RULE: "rule", FAINT: "faint", "#ffffff": "paper"}
"""What the page calls the colours of a drawing that are not hues."""


LETTERED = re.compile(r"([-−]?\d+\.?\d*) ([a-z]+)")
"""A number with the letters of its comparison."""
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tabs and ends of lines, and embeddings, overrides and isolates."""


@checked(ResultsError)
def write_page(
    runs: Sequence[Run],
    path: Path,
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> Path:
    """Write the page of one run, or of several, `joined` if that was done already.

    With `anyway`, runs that cannot be compared are joined too, and a warning says why not.
    """
    page = build_page(runs, baseline=baseline, anyway=anyway, joined=joined)
    return write_output(path, page, "choose another place with --output")


@checked(ResultsError)
def build_page(
    runs: Sequence[Run],
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> str:
    """Return the page as HTML; see `write_page`."""
    summary = summarise(joined or join(runs, anyway=anyway), baseline=baseline)
    figures, left_out = _figures(summary)
    comparisons = (each for table in summary.tables for each in table.comparisons.values())
    parsed = {label: metrics.parse(label) for label in summary.info.metrics}
    titles = {kind: plot.heading(summary) for kind, plot in kinds().items()}
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    return page_of(
        "page.html",
        summary=summary,
        info=summary.info,
        columns=columns_of(summary.run.table),
        runs=runs,
        parsed=parsed,
        ks=sorted({metric.k for metric in parsed.values() if metric.k}),
        method=next((each.method for each in comparisons), ""),
        titles=titles,
        figures=figures,
        left_out=left_out,
        more_tables=_more_tables(summary),
        failures=_failures(summary),
        script=_markup(script),
        # The page allows the script with this hash and no other.
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


@checked(ResultsError)
def write_index(results: Path) -> Path:
    """Write ``index.html`` into a results folder: its runs, the latest first.

    A run that cannot be read is listed with the reason.
    """
    rows: list[tuple[str, Path, Summary | None, str]] = []
    for folder in find_runs(results):
        try:
            summary = summarise(read_run(folder))
            rows.append((summary.info.started, folder, summary, ""))
        except ResultsError as error:
            rows.append(("", folder, None, str(error)))
    rows.sort(key=lambda row: row[0], reverse=True)
    page = page_of("index.html", rows=rows, most_tables=MOST_TABLES)
    return write_output(refuse_link(results / "index.html"), page)


def linked(text: str) -> Markup:
    """Return text as HTML, escaped, with DOIs as links and text in backticks as code."""
    from markupsafe import Markup, escape

    shown = Markup("")
    for part in re.split(r"(doi:10\.\d{4,9}/[^\s;,)]*[^\s;,).]|`[^`]+`)", text):
        if part.startswith("doi:10."):
            shown += Markup('<a href="https://doi.org/{}">{}</a>').format(part[4:], part)
        elif part.startswith("`") and part.endswith("`") and len(part) > 2:
            shown += Markup("<code>{}</code>").format(part[1:-1])
        else:
            shown += escape(part)
    return shown


def _figures(summary: Summary) -> tuple[dict[str, list[tuple[str, Plot]]], bool]:
    """Return, by kind, every plot that has something to show, and whether some are left out."""
    labels = [summary.primary, *(each for each in summary.info.metrics if each != summary.primary)]
    n_all = len(summary.tables) * len(labels) * len(kinds())
    labels = labels if n_all <= MOST_FIGURES else labels[:1]
    tables = range(1, len(summary.tables) + 1)
    wanted = [*product(tables, labels, kinds())][:MOST_FIGURES]
    drawn: dict[str, list[tuple[str, Plot]]] = {kind: [] for kind in kinds()}
    families, n_drawn = set(), count(1)
    for number, label, kind in wanted:
        family = number, *label.partition("@")[:2]
        if kinds()[kind].is_of_family:
            if (kind, family) in families or "@" not in label:
                continue
            families.add((kind, family))
        with suppress(ResultsError):  # nothing of this kind to show, as the spread of a single fold
            plots = kinds()[kind].each(summary, label, number)
            drawn[kind] += [(f"plot{next(n_drawn)}", plot) for plot in plots]
    return {kind: each for kind, each in drawn.items() if each}, len(wanted) < n_all


def _svg(plot: Plot, name: str) -> Markup:
    """Return a plot in the page's colours."""
    # The salt makes the ids of marks and clips differ between drawings.
    return inline_svg(plot.render("svg", svg_fonttype="none", svg_hashsalt=name), name)


def inline_svg(drawn: bytes, name: str) -> Markup:
    """Return a drawing in the page's colours, without parts that the page already has."""
    root = ElementTree.fromstring(drawn)  # noqa: S314 - Matplotlib wrote it a moment ago
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        element.tag = tag = element.tag.rpartition("}")[2]
        element.attrib = {
            key.rpartition("}")[2]: _attribute(value)
            for key, value in element.attrib.items()
            if tag != "g" or key != "id"
        }
        element.text = element.text if tag == "text" else None
        element.tail = None
    box = root.attrib["viewBox"]
    root.attrib = {"viewBox": box, "role": "img", "aria-labelledby": f"{name}-says"}
    return _markup(ElementTree.tostring(root, encoding="unicode"))


def _attribute(value: str) -> str:
    """Return an attribute with the page's colours and font, and numbers of two decimals."""
    value = re.sub(r"(\d\.\d{2})\d+", r"\g<1>", value)
    value = re.sub(r"font-family:[^;]*;?", "", value)
    named = {light: hue for hue, (light, _) in COLOURS.items()} | SHADES
    for colour, variable in named.items():
        value = value.replace(colour, f"var(--{variable})")
    return " ".join(value.split())


def _more_tables(summary: Summary) -> list[TextTable]:
    """Return the tables of evidence, parameters, ties and conventions that show something.

    The table of parameters is there without numbers too, because it says why there are none.
    """
    judged = (table for table in sensitivity_tables(summary) if table.columns)
    compared = (table for table in evidence(summary) if table.columns)
    return [*compared, *parameter_tables(summary), *judged]


def numbers_and_letters(table: TextTable) -> list[list[tuple[str, str, bool]]]:
    """Return the cells of a table: text, its letters apart, and whether its column has letters.

    >>> numbers_and_letters(TextTable("", "", columns=["", "a"], rows=[["SVD", "0.5 ab"]]))
    [[('SVD', '', False), ('0.5', 'ab', True)]]
    """
    found = [[LETTERED.fullmatch(text.rstrip()) for text in row] for row in table.rows]
    with_letters = [any(column) for column in zip(*found, strict=True)]
    return [
        [
            (match[1], match[2], True) if match else (text, "", has_letters)
            for text, match, has_letters in zip(texts, matches, with_letters, strict=True)
        ]
        for texts, matches in zip(table.rows, found, strict=True)
    ]


def _failures(summary: Summary) -> list[tuple[str, str, str]]:
    """Return algorithm, reason and cells of what failed, the same reason once."""
    titles = {table.key: table.title for table in summary.tables}
    found: dict[tuple[str, str], list[str]] = {}
    for cell in summary.info.failed:
        where = f"{titles[cell.table]}, seed {cell.seed}"
        where += f", fold {cell.fold + 1}" if cell.n_folds > 1 else ""
        found.setdefault((printable(cell.algorithm), printable(cell.error)), []).append(
            printable(where)
        )
    return [(*of_cell, "; ".join(cells)) for of_cell, cells in found.items()]


@cache
def page_template(name: str) -> Template:
    """Return the template of a page, with what the pages call."""
    made = templates().overlay()
    made.filters |= {"linked": linked, "rounded": rounded, "symbol": symbol}
    called: tuple[Any, ...]
    called = (command, describe_cells, describe_run, failures_text, latex, methods, row_name, took)
    called += (analysis_tables, group_tables, numbers_and_letters)
    called += (table_latex, to_csv, to_markdown, to_yaml, in_groups, verdict_lines)
    values = {"style": _style_sheet(), "svg": _svg, "against_best": AGAINST_BEST}
    return made.get_template(name, globals=values | {each.__name__: each for each in called})


def page_of(name: str, **values: object) -> str:
    """Return a page; control characters and those that turn the direction of text are visible.

    In a name they would hide or reorder the text beside it.
    """
    page = page_template(name).render(**values)
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), page)


def _style_sheet() -> Markup:
    """Return the style sheet of all pages, with the colours of the plots in it."""
    style = (ASSETS / "page.css").read_text(encoding="utf-8")
    for scheme, name in enumerate(("light", "dark")):
        hues = "".join(f"--{hue}: {both[scheme]}; " for hue, both in COLOURS.items())
        style = style.replace(f"/* {name} hues */", hues)
    return _markup(style)


def _markup(text: str) -> Markup:
    """Return what is markup already: a file of this package, or what Matplotlib drew."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704
