"""The results table for papers and notebooks; screen and Markdown are in `harness.results`."""

from __future__ import annotations

import unicodedata
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from harness.report.sentences import plain
from harness.report.summary import ResultTable, Summary, summarise
from harness.results.environment import listed, measured
from harness.results.run import Run
from harness.results.table import row_name
from harness.results.values import rounded

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

__all__ = ["escape_latex", "latex", "style"]

_LATEX = (
    {c: f"\\{c}" for c in "{}$&#_%"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
    | {"±": r"$\pm$", "×": r"$\times$", "−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$"}
    | {"…": r"\dots{}", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"}
)
"""How LaTeX writes what is special in it, or not in its usual fonts."""
SECONDS = {"fit_seconds": "fit s", "score_seconds": "score s"}


def latex(run: Run | Summary, *, place: int | None = None) -> str:
    r"""Return the results table as LaTeX.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``.

    Parameters
    ----------
    run : Run or Summary
    place : int, optional
        Which table of the run, from 1; all of them below each other when left out.

    Returns
    -------
    str
        A ``table`` environment for each: best values in bold, letters raised; two algorithms
        share a letter if they are not significantly different, and only then.
    """
    summary = summarise(run)
    tables = summary.tables if place is None else [summary.table(place)]
    return "\n".join(_latex_table(summary, each, number) for number, each in enumerate(tables, 1))


def style(run: Run | Summary, *, place: int = 1) -> Styler:
    """Return the results table for a notebook, with numbers kept as numbers.

    Parameters
    ----------
    run : Run or Summary
    place : int
        Which table of the run, from 1.

    Returns
    -------
    pandas Styler
        Rounded by uncertainty, best values in bold, intervals and letters on hover, names escaped.
    """
    import pandas as pd

    summary = summarise(run)
    table = summary.table(place)
    columns = ["algorithm", *summary.info.metrics, *SECONDS]
    frame = table.rows[columns].rename(columns=SECONDS).set_index("algorithm")
    digits = table.decimals | dict.fromkeys(SECONDS.values(), 2)
    hints = {}
    styler = frame.style.format_index(escape="html").format_index(escape="html", axis="columns")
    styler = styler.format({name: partial(rounded, places=digits[name]) for name in frame.columns})
    for label in summary.info.metrics:
        best = table.best(label)
        bold = ["font-weight: bold" if name in best else "" for name in frame.index]
        styler = styler.apply(lambda _, bold=bold: bold, subset=[label])
        hints[label] = [
            f"{low} to {high}, {table.letters(label, name)}" if low else ""
            for name in table.records
            for low, high in [table.interval_text(label, name)]
        ]
    styler = styler.set_tooltips(pd.DataFrame(hints, frame.index), css_class="interval")
    styler = styler.set_uuid(f"{_identifier(summary.run.name)}-{place}")
    return styler.set_caption(escape(plain(table.title)))


def escape_latex(text: object) -> str:
    r"""Return text escaped for LaTeX; characters without a usual font become code points."""
    return "".join(
        _LATEX.get(c, c if c.isascii() or "À" <= c <= "ž" else f"[U+{ord(c):04X}]")
        for c in unicodedata.normalize("NFC", plain(text))
    )


def _latex_table(summary: Summary, table: ResultTable, number: int) -> str:
    """Return one table with its caption."""
    import pandas as pd

    rows = table.records
    columns = {"algorithm": [escape_latex(row_name(row)) for row in rows.values()]}
    for label in summary.info.metrics:
        if table.rows[label].notna().any():
            best = table.best(label)
            columns[escape_latex(label)] = [
                _latex_number(table, label, name, bold=name in best) for name in rows
            ]
    for name, title in SECONDS.items():
        columns[title] = [rounded(value, 2) or "--" for value in table.rows[name]]
    several = "folds and seeds averaged" if summary.several else "one split"
    letters = "; algorithms that share a letter are not significantly different"
    letters = letters if table.comparisons else ""
    conditions = measured(summary.info.cells)
    mixed = f" Seconds were measured {listed(conditions)}." if len(conditions) > 1 else ""
    data, split, candidates = table.names
    caption = f"{data}, {split}, candidates: {candidates}; {several}{letters}.{mixed}"
    styler = pd.DataFrame(columns).style.hide(axis="index")
    text: str = styler.to_latex(
        caption=escape_latex(caption),
        label=f"tab:{_identifier(summary.run.name)}-{number}",
        column_format="l" + "r" * (len(columns) - 1),
        position_float="centering",
        hrules=True,
    )
    return text


def _latex_number(table: ResultTable, label: str, name: str, *, bold: bool) -> str:
    text = table.text(label, table.records[name][label])
    if not text:
        return "--"
    text = rf"\textbf{{{text}}}" if bold else text
    letters = table.letters(label, name)
    return f"{text}$^{{\\mathrm{{{letters}}}}}$" if letters else text


def _identifier(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)
