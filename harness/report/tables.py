"""The results table for papers and notebooks; screen and Markdown are in `harness.results`."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from harness.report.digest import Digest, Place, digest
from harness.report.styles import plain
from harness.results.provenance import listed, measured
from harness.results.rounding import rounded
from harness.results.run import Run
from harness.results.table import row_name

if TYPE_CHECKING:
    import pandas as pd
    from pandas.io.formats.style import Styler

__all__ = ["escape_latex", "latex", "style"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": r"$-$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "·": r"$\cdot$",
    "…": r"\dots{}",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
}
SECONDS = (("fit_seconds", "fit s"), ("score_seconds", "score s"))


def latex(run: Run | Digest, *, place: int | None = None) -> str:
    r"""Return the results table as LaTeX.

    It needs the packages ``booktabs`` and, for letters beyond ASCII, ``fontenc`` with ``T1``.

    Parameters
    ----------
    run : Run or Digest
    place : int, optional
        Which table of the run, from 1; all of them below each other when left out.

    Returns
    -------
    str
        A ``table`` environment for each: best values in bold, letters raised; two algorithms
        share a letter if they are not significantly different, and only then.
    """
    told = digest(run)
    places = told.places if place is None else [told.place(place)]
    return "\n".join(_latex_table(told, each, number) for number, each in enumerate(places, 1))


def style(run: Run | Digest, *, place: int = 1) -> Styler:
    """Return the results table for a notebook, with numbers kept as numbers.

    Parameters
    ----------
    run : Run or Digest
    place : int
        Which table of the run, from 1.

    Returns
    -------
    pandas Styler
        Rounded by uncertainty, best values in bold, intervals and letters on hover, names escaped.
    """
    told = digest(run)
    where = told.place(place)
    columns = ["algorithm", *told.labels, *(column for column, _ in SECONDS)]
    frame = where.rows[columns].rename(columns=dict(SECONDS)).set_index("algorithm")
    styler = frame.style.format_index(escape="html").format_index(escape="html", axis="columns")
    styler = styler.format("{:.2f}", subset=[name for _, name in SECONDS], na_rep="")
    for label in told.labels:
        styler = styler.format(_rounding(where.decimals[label]), subset=[label])
        styler = styler.apply(_bold(set(where.best(label))), subset=[label])
    hints = frame.astype(object)
    for column in frame.columns:
        hints[column] = [_hint(told, where, column, str(name)) for name in frame.index]
    styler = styler.set_tooltips(hints, css_class="interval")
    return styler.set_uuid(f"{_identifier(told.run.name)}-{place}").set_caption(
        escape(plain(where.title))
    )


def _rounding(digits: int) -> Callable[[Any], str]:
    return lambda value: rounded(value, digits)


def _bold(names: set[str]) -> Callable[[pd.Series[Any]], list[str]]:
    return lambda column: ["font-weight: bold" if name in names else "" for name in column.index]


def _hint(told: Digest, place: Place, column: str, algorithm: str) -> str:
    """Return interval and letters of a cell, shown on hover."""
    evidence = place.evidence.get(column)
    standing = evidence.standing(algorithm) if evidence else None
    if standing is None:
        return ""
    digits = place.decimals[column]
    return (
        f"{rounded(standing.low, digits)} to {rounded(standing.high, digits)}, {standing.letters}"
    )


def escape_latex(text: object) -> str:
    r"""Return text escaped for LaTeX; characters without a usual font become code points.

    Examples
    --------
    >>> print(escape_latex("50% of a_b & <c>"))
    50\% of a\_b \& \textless{}c\textgreater{}
    >>> print(escape_latex("é 🙂"))
    é [U+1F642]
    """
    return "".join(_escape_character(c) for c in unicodedata.normalize("NFC", plain(text)))


def _latex_table(told: Digest, place: Place, number: int) -> str:
    """Return one table with its caption."""
    labels = [label for label in told.labels if place.rows[label].notna().any()]
    best = {label: place.best(label) for label in labels}
    titles = ["algorithm", *(escape_latex(label) for label in labels), *(t for _, t in SECONDS)]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escape_latex(_caption(told, place))}}}",
        rf"  \label{{tab:{_identifier(told.run.name)}-{number}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}",
        r"    \toprule",
        f"    {' & '.join(titles)} \\\\",
        r"    \midrule",
    ]
    for row in place.rows.to_dict(orient="records"):
        name = str(row["algorithm"])
        cells = [escape_latex(row_name(row))]
        cells += [
            _latex_number(told, place, label, row, bold=name in best[label]) for label in labels
        ]
        cells += [_seconds(row[column]) for column, _ in SECONDS]
        lines.append(f"    {' & '.join(cells)} \\\\")
    lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _latex_number(
    told: Digest, place: Place, label: str, row: dict[Any, Any], *, bold: bool
) -> str:
    text = rounded(row[label], place.decimals[label])
    if not text:
        return "--"
    if bold:
        text = rf"\textbf{{{text}}}"
    evidence = place.evidence.get(label)
    standing = evidence.standing(str(row["algorithm"])) if evidence else None
    return f"{text}$^{{\\mathrm{{{standing.letters}}}}}$" if standing else text


def _caption(told: Digest, place: Place) -> str:
    data, split, candidates = place.names
    several = "folds and seeds averaged" if told.several else "one split"
    letters = (
        "; algorithms that share a letter are not significantly different"
        if any(place.evidence.values())
        else ""
    )
    conditions = measured(told.info.cells)
    mixed = f" Seconds were measured {listed(conditions)}." if len(conditions) > 1 else ""
    return f"{data}, {split}, candidates: {candidates}; {several}{letters}.{mixed}"


def _seconds(value: float) -> str:
    return "--" if math.isnan(value) else f"{value:.2f}"


def _identifier(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


def _escape_character(character: str) -> str:
    if character in _LATEX:
        return _LATEX[character]
    if character.isascii() or "À" <= character <= "ž":
        return character
    return f"[U+{ord(character):04X}]"
