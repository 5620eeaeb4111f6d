"""Text and tables as LaTeX writes them."""

from __future__ import annotations

import re
import unicodedata

from harness.lazy import pd
from harness.results.display import TextTable, plain

_LATEX = (
    {c: f"\\{c}" for c in "{}$&#_%"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}"}
    | {c: f"{{{c}}}" for c in "[]*"}  # at the beginning of a row they are arguments of its end
    | {"±": r"$\pm$", "×": r"$\times$", "−": "$-$", "≤": r"$\le$", "≥": r"$\ge$", "·": r"$\cdot$"}
    | {"…": r"\dots{}", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"}
)
"""How LaTeX writes what is special in it, or not in its usual fonts."""
_LIGATURES = re.compile(r"(?<=[-`',!?])(?=[-`',])")
"""Between two characters that LaTeX would join, as ``--`` into a dash."""


def escape_latex(text: object) -> str:
    """Return text escaped for LaTeX; characters without a usual font become code points."""
    return "{}".join(
        "".join(_LATEX.get(c, c if _is_usual(c) else f"{{[}}U+{ord(c):04X}{{]}}") for c in part)
        for part in _LIGATURES.split(unicodedata.normalize("NFC", plain(text)))
    )


def _is_usual(character: str) -> bool:
    """Return whether LaTeX's usual fonts have a character."""
    return character.isascii() or "À" <= character <= "ž"


def identifier(name: str) -> str:
    """Return a name as letters, digits and dashes."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


def latex_table(frame: pd.DataFrame, caption: str, label: str, n_words: int = 1) -> str:
    """Return a table of LaTeX from escaped cells, the first columns aligned to the left."""
    text: str = frame.style.hide(axis="index").to_latex(
        caption=escape_latex(caption),
        label=f"tab:{label}",
        column_format="l" * n_words + "r" * (len(frame.columns) - n_words),
        position_float="centering",
        hrules=True,
    )
    return text


def table_latex(table: TextTable) -> str:
    """Return a table of texts for a paper; it needs the package ``booktabs``."""
    frame = table.frame.map(escape_latex).rename(columns=escape_latex)
    caption, label = f"{table.title}. {table.caption}", identifier(table.title)
    return latex_table(frame, caption, label, table.n_words)
