"""The same colour, marker and line for an algorithm in every plot, table and run."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

__all__ = [
    "COLOURS",
    "FAINT",
    "INK",
    "MUTED",
    "RULE",
    "Look",
    "looks",
    "plain",
    "shortened",
    "style",
]

STYLE = Path(__file__).with_name("style.mplstyle")

COLOURS = {
    "blue": ("#00609e", "#3d9bd9"),
    "orange": ("#c08208", "#f0ad1f"),
    "green": ("#008f6b", "#2fc79b"),
    "red": ("#b23a0c", "#ec7340"),
    "pink": ("#c46fa0", "#ee9fcd"),
    "sky": ("#3f9ad6", "#a5d8fa"),
    "grey": ("#5a5f68", "#8d939d"),
}
"""Hues after Okabe and Ito (2008), by name: for a light and for a dark page. Each has a contrast
of three to one or more with its page; marker and line distinguish algorithms of one colour."""

INK, MUTED, FAINT, RULE = "#1b1e23", "#4a4f57", "#8a9099", "#d9dce1"
"""Text, lesser text, axes and grid lines, as `style.mplstyle` has them."""


@dataclass(frozen=True)
class Look:
    """How one algorithm is drawn.

    Parameters
    ----------
    hue : str
        A key of `COLOURS`.
    marker, line : str
        As Matplotlib names them.
    filled : bool
        Whether the marker is filled.
    """

    hue: str
    marker: str
    line: str = "-"
    filled: bool = True

    @property
    def colour(self) -> str:
        """The colour on a light page, as ``#rrggbb``."""
        return COLOURS[self.hue][0]

    @property
    def face(self) -> str:
        """What fills the marker."""
        return self.colour if self.filled else "white"


_KNOWN = {
    "svd": Look("blue", "o"),
    "svdpp": Look("blue", "s", "--", filled=False),
    "nmf": Look("green", "s"),
    "coclustering": Look("green", "D", "--", filled=False),
    "knnbasic": Look("orange", "^"),
    "knnwithmeans": Look("orange", "v", "--", filled=False),
    "knnwithzscore": Look("red", "<", "--", filled=False),
    "knnbaseline": Look("red", ">"),
    "slopeone": Look("pink", "D"),
    "baselineonly": Look("sky", "p"),
    "normalpredictor": Look("grey", "h", ":", filled=False),
    "itemmean": Look("grey", "o", "-."),
    "popularity": Look("grey", "s", ":"),
    "random": Look("grey", "X", ":", filled=False),
}
_OTHERS = [
    Look(hue, marker, line, filled=filled)
    for marker, line, filled in (
        ("P", "-", True),
        ("*", "--", True),
        ("H", "-.", False),
        ("d", ":", False),
    )
    for hue in ("pink", "blue", "red", "green", "orange", "sky")
]


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Return how each algorithm is drawn.

    Algorithms of Surprise and the baselines have fixed styles. Any other label gets one of 24 by
    its hash, so that it is the same in every run; if two labels in one plot get the same style, the
    later one gets the next.

    Examples
    --------
    >>> both = looks(["SVD++", "mine"])
    >>> both["SVD++"] == looks(["SVDpp"])["SVDpp"], both["mine"] == looks(["mine", "SVD"])["mine"]
    (True, True)
    """
    found: dict[str, Look] = {}
    taken: set[Look] = set()
    for name in names:
        look = _KNOWN.get(_folded(name))
        if look is None:
            start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
            turn = [_OTHERS[(start + step) % len(_OTHERS)] for step in range(len(_OTHERS))]
            look = next((each for each in turn if each not in taken), turn[0])
            taken.add(look)
        found[name] = look
    return found


@contextmanager
def style(**settings: object) -> Iterator[None]:
    """Use the report's plot style inside a ``with`` block.

    Parameters
    ----------
    **settings
        Settings of Matplotlib with ``_`` for ``.``, as ``svg_fonttype="none"``.
    """
    import matplotlib as mpl
    import matplotlib.style

    own = {key.replace("_", ".", 1): value for key, value in settings.items()}
    with (
        mpl.style.context([STYLE, own]),
        warnings.catch_warnings(),
    ):
        # A name may hold what no font here can show, as an emoji: a box stands in its place.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
        interactive = mpl.is_interactive()
    # A notebook turns this on when it opens its first figure; that outlasts the block.
    if interactive:
        mpl.interactive(True)


def plain(text: object) -> str:
    r"""Return text on one line, without characters that cannot be printed.

    Examples
    --------
    >>> plain("a\nb\x00c")
    'a bc'
    """
    return " ".join("".join(c for c in str(text) if c.isprintable() or c.isspace()).split())


def shortened(name: str, width: int = 22) -> str:
    """Return a name that fits beside a plot, its middle cut if it is too long.

    Examples
    --------
    >>> shortened("KNNWithZScore"), shortened("a very long label of an own algorithm", 20)
    ('KNNWithZScore', 'a very lon…algorithm')
    """
    text = plain(name)
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[-end:]}"


def _folded(name: str) -> str:
    return "".join(c for c in name.casefold().replace("+", "p") if c.isalnum())


@cache
def symbol(look: Look) -> str:
    """Return a marker as an SVG path in a box of 2 by 2 about the origin.

    Examples
    --------
    >>> symbol(Look("blue", "s"))
    'M-.7,.7L.7,.7L.7,-.7L-.7,-.7Z'
    """
    from matplotlib.markers import MarkerStyle

    marker = MarkerStyle(look.marker)
    path = marker.get_path().transformed(marker.get_transform())
    size = float(np.abs(np.asarray(path.vertices)).max())
    letters = {1: "M", 2: "L", 3: "Q", 4: "C", 79: "Z"}
    parts = []
    for points, code in path.iter_segments(curves=True, simplify=False):
        letter = letters[int(code)]
        pairs = [] if letter == "Z" else zip(points[::2], points[1::2], strict=True)
        shown = (f"{_short(0.7 * x / size)},{_short(-0.7 * y / size)}" for x, y in pairs)
        parts.append(letter + " ".join(shown))
    return "".join(parts)


def _short(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return {"-0": "0", "": "0"}.get(text, text.replace("0.", ".", 1))
