"""Time of fitting against the number of ratings, from 1 to 16 million, made up.

The exponent of a power of the number of ratings is fitted to the times; at most 1.2 is promised
for SVD, SVD++ and BaselineOnly. Surprise stands beside it as far as its time and memory go.
`tools/plot_growth.py` draws what ``--output`` wrote.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from speed_sides import arguments, columns, plain, seconds, silence

from harness import datasets
from harness.algorithms import models, surprise
from harness.results.environment import machine

MILLIONS = (0.25, 1, 4, 16)
FROM = 1  # the bar is on the growth from here
HIGHEST = 1.2
WORK = {
    "SVD": (surprise.SVD, {"random_state": 0}, 4),
    "SVD++": (surprise.SVDpp, {"random_state": 0}, 0.25),
    "NMF": (surprise.NMF, {"random_state": 0}, 1),
    "BaselineOnly": (surprise.BaselineOnly, {"verbose": False}, 4),
}
"""Class, parameters, and the most million ratings that are given to Surprise."""
PROMISED = ("SVD", "SVD++", "BaselineOnly")


def make_up(millions: float) -> datasets.Ratings:
    """Let users grow with the ratings and items with their square root, as MovieLens did."""
    return datasets.load(
        {
            "name": "synthetic",
            "synthetic": {
                "n_users": int(6_500 * millions),
                "n_items": int(4_000 * millions**0.5),
                "n_ratings": int(1_000_000 * millions),
            },
        }
    )


def exponent(points: list[tuple[float, float]]) -> float:
    """Return the slope of log time over log size."""
    size, time = np.log(np.array(points)).T
    return float(np.polyfit(size, time, 1)[0])


def main() -> int:
    told = arguments((__doc__ or "").splitlines()[0])
    print(f"\n{(__doc__ or '').splitlines()[0]}\n")
    print(f"{'':14} {'million':>8} {'harness s':>10} {'Surprise s':>11}")
    found: dict[str, dict[str, list[tuple[float, float]]]] = {
        name: {"harness": [], "surprise": []} for name in WORK
    }
    for millions in MILLIONS:
        ratings = make_up(millions)
        ours = columns(ratings)
        theirs = plain(ratings) if any(millions <= most for *_, most in WORK.values()) else None
        for name, (kind, params, most) in WORK.items():
            if not found[name]["harness"]:  # compile on little
                few = slice(0, 1000)
                models.fit(kind(**params), columns(ratings, few))
            repeats = 3 if millions < 4 else 1
            fast = seconds(lambda k=kind, p=params, o=ours: models.fit(k(**p), o), repeats)
            found[name]["harness"].append((millions, fast))
            beside = ""
            if theirs is not None and millions <= most:
                with silence():
                    slow = seconds(lambda k=kind, p=params, t=theirs: k(**p).fit(t))
                found[name]["surprise"].append((millions, slow))
                beside = f"{slow:11.2f}"
            print(f"{name:14} {millions:8g} {fast:10.3f} {beside}", flush=True)
    print()
    slopes = {
        name: exponent([point for point in sides["harness"] if point[0] >= FROM])
        for name, sides in found.items()
    }
    for name, slope in slopes.items():
        print(f"{name:14} exponent {slope:.2f} {f'bar {HIGHEST}' if name in PROMISED else ''}")
    if told.output:
        figures = {"machine": machine(), "seconds": found, "exponents": slopes}
        told.output.write_text(json.dumps(figures, indent=1) + "\n")
    return int(any(slopes[name] > HIGHEST for name in PROMISED))


if __name__ == "__main__":
    sys.exit(main())
