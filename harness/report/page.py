"""The report page and the list of runs: files that load nothing, made from results alone."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from harness import metrics
from harness.errors import ResultsError
from harness.report.conventions import sensitivity_tables
from harness.report.methods import command, describe_cells, describe_run, methods, to_yaml
from harness.report.plots import KINDS, Plot, View, write_file
from harness.report.sentences import headline, plain
from harness.report.styles import COLOURS, FAINT, INK, MUTED, RULE, symbol
from harness.report.summary import ResultTable, Summary, summarise
from harness.report.tables import latex
from harness.results.compare import join
from harness.results.environment import took
from harness.results.run import Run, find_runs, read_run
from harness.results.table import TIMES, row_name, to_csv, to_markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

__all__ = ["build_index", "build_page", "linked", "write_index", "write_page"]

ASSETS = Path(__file__).with_name("assets")
MOST_FIGURES = 60
"""Most plots on a page; ``harness plot`` draws the others, so the page stays small."""
COLUMNS = {
    "n_trials": ("trials", ".0f", "descending"),
    "search_seconds": ("search s", ".1f", "ascending"),
    TIMES[0]: ("fit s", ".2f", "ascending"),
    TIMES[1]: ("score s", ".2f", "ascending"),
    "peak_mb": ("peak MB", ".0f", "ascending"),
    "n_users": ("users", ".0f", "descending"),
}
"""What stands beside the metrics: title, decimals and the order that a first click gives."""
SEARCHED = ("n_trials", "search_seconds")
"""Of these, what only a run with a search has."""


def write_page(
    runs: Sequence[Run],
    path: Path,
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> Path:
    """Write the page of one run, or of several.

    Parameters
    ----------
    runs : sequence of Run
    path : Path
        The file; its folder is made when it is missing.
    baseline : str, optional
        The algorithm that the others are compared with.
    anyway : bool
        Join even runs that cannot be compared; a warning then says why not.
    joined : Run, optional
        The runs as one, where `join` has made it already.

    Raises
    ------
    ResultsError
        If there is nothing to show, or the file cannot be written.
    """
    page = build_page(runs, baseline=baseline, anyway=anyway, joined=joined)
    return write_file(path, page.encode(), "; use --output FILE")


def build_page(
    runs: Sequence[Run],
    *,
    baseline: str | None = None,
    anyway: bool = False,
    joined: Run | None = None,
) -> str:
    """Return the page as HTML; see `write_page`."""
    summary = summarise(joined or join(runs, anyway=anyway), baseline=baseline)
    info = summary.info
    figures, left_out = _figures(summary)
    columns = [name for name in COLUMNS if name not in SEARCHED or name in summary.run.table]
    comparisons = (each for table in summary.tables for each in table.comparisons.values())
    ranks = {label: label.rpartition("@")[2] if "@" in label else "" for label in summary.labels}
    script = (ASSETS / "page.js").read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary,
            info=info,
            headlines=headline(summary),
            facts=_facts(summary, runs),
            rows={table.key: _rows(summary, table, columns) for table in summary.tables},
            ranks=ranks,
            ks=sorted({int(rank) for rank in ranks.values() if rank}),
            higher={label: metrics.parse(label).higher_is_better for label in summary.labels},
            columns=[COLUMNS[name] for name in columns],
            method=next((each.method for each in comparisons), ""),
            csv=to_csv(info),
            markdown=to_markdown(info),
            latex={table.key: latex(summary, place=table.number) for table in summary.tables},
            kinds=KINDS,
            titles={kind: plot.title for kind, plot in KINDS.items()}
            | {"differences": f"Differences to {plain(summary.baseline)}"},
            figures=figures,
            left_out=left_out,
            more_tables=sensitivity_tables(summary),
            failures=_failures(summary),
            accounts=[(run.name, methods(run.info)) for run in runs],
            origins=[
                {
                    "name": run.name,
                    "about": describe_run(run.info),
                    "cells": describe_cells(run.info),
                    "yaml": to_yaml(run.info),
                    "command": command(run.info),
                }
                for run in runs
            ],
            style=_style_sheet(),
            script=_markup(script),
            # The page allows the script with this hash and no other.
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        )
    )


def write_index(results: Path) -> Path:
    """Write ``index.html`` into a results folder.

    Raises
    ------
    ResultsError
        If the folder cannot be written.
    """
    return write_file(results / "index.html", build_index(results).encode())


def build_index(results: Path) -> str:
    """Return the page that lists the runs of a folder, the latest first.

    A run that cannot be read is listed with the reason.

    Parameters
    ----------
    results : Path
        Folder whose folders are runs.
    """
    rows = [_run_of_index(folder) for folder in find_runs(results)]
    rows.sort(key=lambda row: row["started"], reverse=True)
    return _environment().get_template("index.html").render(rows=rows, style=_style_sheet())


def linked(text: str) -> Markup:
    """Return text as HTML, escaped, with DOIs as links and text in backticks as code.

    Examples
    --------
    >>> print(linked("<b> `k: 1` (doi:10.1145/2827872)"))
    &lt;b&gt; <code>k: 1</code> (<a href="https://doi.org/10.1145/2827872">doi:10.1145/2827872</a>)
    """
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


@dataclass(frozen=True, eq=False)
class _Figure:
    """A plot on the page; its name is unique there, and part of every id inside."""

    plot: Plot
    view: View
    name: str

    @property
    def svg(self) -> Markup:
        """The drawing in the page's colours, without parts that the page already has."""
        drawn = self.plot.render(self.view, "svg", svg_fonttype="none")
        root = ElementTree.fromstring(drawn)  # noqa: S314 - Matplotlib wrote it a moment ago
        for parent in list(root.iter()):
            for child in list(parent):
                if child.tag.rpartition("}")[2] in ("metadata", "style"):
                    parent.remove(child)
        for element in root.iter():
            element.tag = tag = element.tag.rpartition("}")[2]
            element.attrib = {
                key.rpartition("}")[2]: self._attribute(value)
                for key, value in element.attrib.items()
                if tag != "g" or key != "id"
            }
            element.text = element.text if tag == "text" else None
            element.tail = None
        root.attrib = {
            "viewBox": root.attrib["viewBox"],
            "role": "img",
            "aria-labelledby": f"{self.name}-says",
        }
        return _markup(ElementTree.tostring(root, encoding="unicode"))

    def _attribute(self, value: str) -> str:
        """Return an attribute with the page's colours and font, and ids of this drawing alone."""
        # Marks and clips are known by ids: p or m and eleven digits of a hash.
        value = re.sub(r"^(#?)(?=[a-z]+[0-9a-f]{10}$)", rf"\g<1>{self.name}-", value)
        value = value.replace("url(#", f"url(#{self.name}-")
        value = re.sub(r"(\d\.\d{2})\d+", r"\g<1>", value)
        value = re.sub(r"font-family:[^;]*;?", "", value)
        for colour, variable in _VARIABLES.items():
            value = value.replace(colour, f"var(--{variable})")
        return " ".join(value.split())

    @property
    def alternative(self) -> str:
        """What it shows, in words."""
        return self.plot.describe(self.view)


_VARIABLES = {light: hue for hue, (light, _) in COLOURS.items()} | {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    FAINT: "faint",
    "#ffffff": "paper",
}
"""Colours of a drawing, and what the page calls them."""


def _figures(summary: Summary) -> tuple[dict[str, list[_Figure]], bool]:
    """Return, by kind, every plot that has something to show, and whether some are left out."""
    labels = [summary.primary, *(each for each in summary.labels if each != summary.primary)]
    n_all = len(summary.tables) * len(labels) * len(KINDS)
    labels = labels if n_all <= MOST_FIGURES else labels[:1]
    wanted = [
        (table.number, label, kind)
        for table in summary.tables
        for label in labels
        for kind in KINDS
    ][:MOST_FIGURES]
    drawn: dict[str, list[_Figure]] = {kind: [] for kind in KINDS}
    families: set[tuple[int, str]] = set()
    for number, label, kind in wanted:
        if kind == "ndcg-over-k":
            family = (number, label.partition("@")[0])
            if family in families or "@" not in label:
                continue
            families.add(family)
        try:
            view = KINDS[kind].view(summary, label, number)
        except ResultsError:
            continue  # nothing of this kind to show, as the spread of a single fold
        name = f"plot{sum(map(len, drawn.values())) + 1}"
        drawn[kind].append(_Figure(KINDS[kind], view, name))
    return {kind: each for kind, each in drawn.items() if each}, len(wanted) < n_all


def _rows(summary: Summary, table: ResultTable, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return what the template shows of each algorithm of a table, best first."""
    ranked = table.ranked(summary.primary)
    best = {label: table.best(label) for label in summary.labels}
    return [
        {
            "name": name,
            "shown": row_name(row),
            "style": summary.styles[name],
            "scores": [_score(table, label, name, name in best[label]) for label in best],
            "others": [_other(row, column) for column in columns],
            "error": plain(row["error"]),
        }
        for name, row in sorted(
            table.records.items(),
            key=lambda each: ranked.index(each[0]) if each[0] in ranked else math.inf,
        )
    ]


def _score(table: ResultTable, label: str, name: str, best: bool) -> dict[str, Any]:
    row = table.records[name]
    low, high = (table.text(label, end) for end in table.interval(label, name))
    return {
        "text": table.text(label, row[label]),
        "value": "" if math.isnan(row[label]) else f"{row[label]:.10g}",
        "best": best,
        "letters": table.letters(label, name),
        "low": low,
        "high": high,
        "spread": table.text(label, row.get(f"{label}_sd")),
    }


def _other(row: dict[Any, Any], column: str) -> tuple[str, str]:
    """Return a number beside the metrics: as text, and as a value to sort by."""
    value = row[column]
    if not row["n_cells"] or math.isnan(value) or (not value and column in SEARCHED):
        return "", ""
    return f"{value:{COLUMNS[column][1]}}", f"{value:.10g}"


def _failures(summary: Summary) -> list[tuple[str, str, str]]:
    """Return algorithm, reason and cells of what failed, the same reason once."""
    titles = {table.key: table.title for table in summary.tables}
    found: dict[tuple[str, str], list[str]] = {}
    for cell in summary.info.failed:
        where = f"{titles[cell.table]}, seed {cell.seed}"
        where += f", fold {cell.fold + 1}" if cell.n_folds > 1 else ""
        found.setdefault((cell.algorithm, cell.error), []).append(where)
    return [
        (plain(algorithm), plain(error), plain("; ".join(cells)))
        for (algorithm, error), cells in found.items()
    ]


def _facts(summary: Summary, runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return the few facts under the title."""
    data, split, candidates = (
        ", ".join(dict.fromkeys(plain(table.names[part]) for table in summary.tables))
        for part in range(3)
    )
    seeds = summary.info.seeds
    made = ", ".join(dict.fromkeys(run.info.started[:10] for run in runs))
    return [
        ("Data", data),
        ("Split", split),
        ("Candidates", candidates),
        ("Seed" if len(seeds) == 1 else "Seeds", ", ".join(map(str, seeds))),
        ("Made", f"{made}, in {took(run.info for run in runs)}"),
    ]


def _run_of_index(folder: Path) -> dict[str, Any]:
    """Return what the list of runs says of one."""
    page = folder / "report.html"
    row: dict[str, Any] = {
        "name": plain(folder.name),
        "link": f"{folder.name}/report.html" if page.is_file() else "",
        "path": plain(folder.as_posix()),
        "started": "",
        "error": "",
    }
    try:
        summary = summarise(read_run(folder))
    except ResultsError as error:
        return row | {"error": plain(error)}
    info, table, label = summary.info, summary.tables[0], summary.primary
    best = table.best(label)
    return row | {
        "started": info.started.replace("T", " ")[:16],
        "description": plain(info.description),
        "data": plain(", ".join(each.name for each in info.datasets)),
        "split": plain(", ".join(dict.fromkeys(each.names[1] for each in summary.tables))),
        "n_algorithms": len(summary.algorithms),
        "n_failed": len(summary.run.failed),
        "best": plain(" and ".join(best)),
        "label": label,
        "value": table.text(label, table.records[best[0]][label]) if best else "",
    }


@cache
def _environment() -> Environment:
    """Return the templates, every value in them escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"plain": plain, "linked": linked, "symbol": symbol}
    return made


@cache
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
