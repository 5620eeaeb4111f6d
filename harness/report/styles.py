"""The same colour, marker and line for an algorithm in every plot, table and run.

A report is made from results alone, so what it knows of algorithms is in `algorithms.json`, not in
their registry, which would import Surprise; ``dev/tools/build_reference.py`` writes that file.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, TypeAdapter

from harness.quantities import SearchSpace
from harness.sections import folded

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
"""Text, lesser text, axes and grid lines, as `style.mplstyle` has them."""


@dataclass(frozen=True)
class AlgorithmStyle:
    """How one algorithm is drawn: a key of `COLOURS`, marker and line as Matplotlib names them."""

    hue: str
    marker: str
    line: str = "-"
    filled: bool = True

    @property
    def colour(self) -> str:
        """The colour on a light page, as ``#rrggbb``."""
        return COLOURS[self.hue][0]

    @property
    def marks(self) -> dict[str, Any]:
        """Marker and colours, as Matplotlib takes them."""
        face = self.colour if self.filled else "white"
        return {"marker": self.marker, "color": self.colour, "mfc": face}


class KnownAlgorithm(BaseModel):
    """The entry of one algorithm, as `harness.algorithms.base.Algorithm` describes it."""

    kind: str
    citation: str
    package: str
    unknown_user: str
    style: tuple[str, str, str, bool] | None
    space: SearchSpace


@cache
def known_algorithms() -> dict[str, KnownAlgorithm]:
    """Return what the registry knows of each algorithm, by its folded name."""
    entries = TypeAdapter(dict[str, KnownAlgorithm]).validate_json(ALGORITHMS_FILE.read_bytes())
    return {folded(name): entry for name, entry in entries.items()}


_LINES = (("P", "-", True), ("*", "--", True), ("H", "-.", False), ("d", ":", False))
_OTHERS = [
    AlgorithmStyle(hue, *line)
    for line in _LINES
    for hue in ("pink", "blue", "red", "green", "orange", "sky")
]


def algorithm_styles(names: Iterable[str]) -> dict[str, AlgorithmStyle]:
    """Return how each algorithm is drawn.

    Algorithms of Surprise and the baselines have fixed styles. Any other label gets one of 24 by
    its hash, the same in every run; a later one of two labels with one style gets the next.
    """
    found: dict[str, AlgorithmStyle] = {}
    for name in names:
        known = known_algorithms().get(folded(name))
        start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % len(_OTHERS)
        turn = [*_OTHERS[start:], *_OTHERS[:start]]
        free = (each for each in turn if each not in found.values())
        fixed = known and known.style
        found[name] = AlgorithmStyle(*fixed) if fixed else next(free, turn[0])
    return found


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
