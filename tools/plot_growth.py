"""Draw the time of fitting against the number of ratings, from `benchmarks/figures/growth.json`.

python tools/plot_growth.py [docs/images/growth.png]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes

from harness.report.styles import COLOURS, MUTED, algorithm_styles, plot_style

TOP = Path(__file__).parents[1]
NAME_GAP = 1.5
"""The least ratio between the heights of two names, so that they do not overlap."""


def draw(axes: Axes, seconds: dict[str, dict[str, list[list[float]]]]) -> None:
    """Draw a full line for each algorithm here and a dashed one for Surprise's own."""
    drawn = algorithm_styles(seconds)
    for name, style in drawn.items():
        for side, line in (("harness", "-"), ("surprise", "--")):
            if seconds[name][side]:
                sizes, times = np.array(seconds[name][side]).T
                colour = COLOURS[style.hue][0]
                axes.loglog(sizes, times, line, color=colour, marker=style.marker)
                if len(sizes) == 1:
                    text = f"{name} in Surprise"
                    axes.text(sizes[0] * 1.1, times[0], text, color=colour, va="center")
    below = np.inf
    for name in sorted(drawn, key=lambda name: -seconds[name]["harness"][-1][1]):
        size, time = seconds[name]["harness"][-1]
        below = min(time, below / NAME_GAP)
        axes.text(size * 1.15, below, name, color=COLOURS[drawn[name].hue][0], va="center")
    axes.plot([], [], "-", color=MUTED, label="harness")
    axes.plot([], [], "--", color=MUTED, label="Surprise, as far as its time and memory go")
    axes.legend(loc="lower right", frameon=False)
    axes.set(xlabel="million ratings", ylabel="seconds to fit")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_formatter(lambda value, _: "")
    axes.set_xticks([size for size, _ in seconds["SVD"]["harness"]])
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * 1.7)  # room for the names


def main() -> int:
    """Write the picture."""
    mpl.use("Agg")
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else TOP / "docs" / "images" / "growth.png"
    told = json.loads((TOP / "benchmarks" / "figures" / "growth.json").read_text(encoding="utf-8"))
    with plot_style():
        figure, axes = pyplot.subplots(figsize=(6.5, 4), layout="constrained")
        draw(axes, told["seconds"])
        figure.savefig(place, dpi=160)
    return 0


if __name__ == "__main__":
    sys.exit(main())
