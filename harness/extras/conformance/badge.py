"""A badge of an implementation: its convention in a few words, as an SVG picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

WORDS = ("gain", "discount", "ideal", "ties")
LETTER = 6.6
"""Average width of a letter, in pixels."""


def badge(found: Mapping[str, Any]) -> str:
    """Return the picture: gain, discount, ideal and ties, or that a value is not explained."""
    words = [found["answers"][each][0] for each in WORDS if found["answers"].get(each)]
    right = ", ".join(words) if found["is_explained"] else "not explained"
    widths = [round(LETTER * len(text)) + 12 for text in ("NDCG", right)]
    colour = "#2e7d32" if found["is_explained"] else "#b71c1c"
    total = sum(widths)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" '
        f'aria-label="NDCG: {escape(right)}"><rect width="{total}" height="20" fill="#444"/>'
        f'<rect x="{widths[0]}" width="{widths[1]}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11">'
        '<text x="6" y="14">NDCG</text>'
        f'<text x="{widths[0] + 6}" y="14">{escape(right)}</text></g></svg>\n'
    )
