"""The same colour, marker and line for an algorithm in every plot, table and run.

A report is made only from results, so what it knows of algorithms is in `algorithms.json`, not in
their registry, which would import Surprise; ``dev/tools/build_reference.py`` writes that file.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, TypeAdapter

from harness.plugins.registry import folded
from harness.schema.sections import SearchSpace

ALGORITHMS_FILE = Path(__file__).with_name("assets") / "algorithms.json"
STYLE_FILE = Path(__file__).with_name("style.mplstyle")

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
"""Text, lesser text, axes and grid lines, the same as in `style.mplstyle`."""


@dataclass(frozen=True)
class AlgorithmStyle:
    """How one algorithm is drawn: a key of `COLOURS`, marker and line as Matplotlib names them."""

    hue: str
    marker: str
    line: str = "-"
    filled: bool = True

    @property
    def colour(self) -> str:
        """The colour on a light page, such as ``#rrggbb``."""
        return COLOURS[self.hue][0]

    @property
    def marks(self) -> dict[str, Any]:
        """Marker and colours, as Matplotlib takes them."""
        face = self.colour if self.filled else "white"
        return {"marker": self.marker, "color": self.colour, "mfc": face}


class KnownAlgorithm(BaseModel):
    """The entry of one algorithm; see `harness.algorithms.base.Algorithm`."""

    kind: str
    citation: str
    package: str
    unknown_user: str
    style: tuple[str, str, str, bool] | None
    defaults: dict[str, Any] = {}
    """The parameters that have a number, a word or a switch by default."""
    space: SearchSpace


@cache
def known_algorithms() -> dict[str, KnownAlgorithm]:
    """Return what the registry knows of each algorithm, by its folded name."""
    entries = TypeAdapter(dict[str, KnownAlgorithm]).validate_json(ALGORITHMS_FILE.read_bytes())
    return {folded(name): entry for name, entry in entries.items()}


HUES = ("pink", "blue", "red", "green", "orange", "sky")
MARKERS = ("P", "*", "d", "H", "X", "D", "^", "s", "v", "o", "<", ">")
LINES = ("-", "--", "-.", ":")
"""Lines for your own labels."""


def algorithm_styles(names: Iterable[str]) -> dict[str, AlgorithmStyle]:
    """Return how each algorithm is drawn.

    Algorithms of Surprise and the baselines have fixed styles. Any other label, as of one setting
    among several, gets a colour and a marker that few others have, if possible none: its hash says
    which of these, so that they are the same in every run where they are free. As there are six
    colours, a seventh label shares one, with another marker and another line.
    """
    names = list(names)
    known = {name: known_algorithms().get(folded(name)) for name in names}
    styles = {
        name: AlgorithmStyle(*entry.style) for name, entry in known.items() if entry and entry.style
    }
    for name in names:
        if name not in styles:
            styles[name] = _free_style(name, styles.values())
    return {name: styles[name] for name in names}


def _free_style(name: str, used: Collection[AlgorithmStyle]) -> AlgorithmStyle:
    """Return a style for a label: the least used colour, then a marker, then a line."""
    start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    hues, markers = Counter(s.hue for s in used), Counter(s.marker for s in used)
    pairs = Counter((s.hue, s.marker) for s in used)
    hue = min(_turned(HUES, start), key=lambda hue: hues[hue])
    marker = min(
        _turned(MARKERS, start // len(HUES)),
        key=lambda marker: (pairs[hue, marker], markers[marker]),
    )
    lines = Counter(s.line for s in used if s.hue == hue)
    line = min(LINES, key=lambda line: lines[line])
    return AlgorithmStyle(hue, marker, line, filled=pairs[hue, marker] % 2 == 0)


def _turned(choices: tuple[str, ...], start: int) -> tuple[str, ...]:
    start %= len(choices)
    return choices[start:] + choices[:start]


@contextmanager
def plot_style(**settings: object) -> Iterator[None]:
    """Use the report's plot style; settings are Matplotlib's with ``_`` for the first ``.``."""
    import matplotlib as mpl
    import matplotlib.style

    own = {key.replace("_", ".", 1): value for key, value in settings.items()}
    with mpl.style.context([STYLE_FILE, own]), warnings.catch_warnings():
        # A name may hold what no font here can show, as an emoji: a box stands in its place.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
        interactive = mpl.is_interactive()
    # A notebook turns this on when it opens its first figure; that outlasts the block.
    if interactive:
        mpl.interactive(True)


@cache
def symbol(style: AlgorithmStyle) -> str:
    """Return a marker as an SVG path in a box of 2 by 2 about the origin."""
    from matplotlib.markers import MarkerStyle

    marker = MarkerStyle(style.marker)
    path = marker.get_path().transformed(marker.get_transform())
    scale = np.array([0.7, -0.7]) / np.abs(np.asarray(path.vertices)).max()
    letters, parts = {1: "M", 2: "L", 3: "Q", 4: "C"}, []
    for points, code in path.iter_segments(curves=True, simplify=False):
        # Two decimals at most, and no zero with a sign.
        pairs = (np.reshape(points, (-1, 2)) * scale).round(2) + 0.0
        shown = " ".join(f"{x:g},{y:g}" for x, y in pairs)
        parts.append(letters[int(code)] + shown if int(code) in letters else "Z")
    return "".join(parts)
