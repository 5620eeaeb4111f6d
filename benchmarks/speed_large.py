"""Ratings of MovieLens 25M's shape, made up: load, split, SVD, rated and catalogue NDCG@10.

162,541 users, 59,047 items, 25,000,095 ratings; SVD of 100 factors and 20 epochs; all test users
ranked on what they rated, 10,000 of them over the whole catalogue. Bars: less than 12 GB at the
peak, and per rating and epoch at most 2.5 times the seconds that a million ratings take.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
from speed_sides import arguments

from harness.results.environment import machine

SIZES = {
    "1M": {"n_users": 6_040, "n_items": 3_706, "n_ratings": 1_000_209},
    "25M": {"n_users": 162_541, "n_items": 59_047, "n_ratings": 25_000_095},
}
N_EPOCHS = 20
CATALOGUE_USERS = 10_000
MOST_BYTES = 12e9
MOST_SLOWER = 2.5


def measure(size: str) -> dict[str, float]:
    """Do all steps in this process and return the seconds of each, and the peak of memory."""
    from harness import datasets, evaluation, metrics, splits
    from harness.algorithms import models, surprise
    from harness.algorithms.models import ColumnTrainset
    from harness.candidates import Catalogue, Rated
    from harness.experiment.cell import Scorer
    from harness.splits import Holdout

    told: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        told[stage] = now - clock
        clock = now
        print(f"  {size:>4} {stage:22} {told[stage]:8.2f} s", flush=True)

    ratings = datasets.load({"name": "synthetic", "synthetic": SIZES[size]})
    lap("load")
    (split,) = splits.make(Holdout(test_size=0.2), ratings, seed=0)
    lap("split")
    trainset = ColumnTrainset.from_columns(
        ratings.users[split.train],
        ratings.items[split.train],
        ratings.ratings[split.train],
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        scale=ratings.scale,
    )
    lap("training set")
    # An epoch on few ratings compiles, so that compiling is not counted as fitting.
    few = slice(0, 1000)
    models.fit(
        surprise.SVD(n_epochs=1),
        ColumnTrainset.from_columns(
            ratings.users[few],
            ratings.items[few],
            ratings.ratings[few],
            user_ids=ratings.user_ids,
            item_ids=ratings.item_ids,
            scale=ratings.scale,
        ),
    )
    lap("compile")
    model = surprise.SVD(n_factors=100, n_epochs=N_EPOCHS, random_state=0)
    models.fit(model, trainset)
    lap("fit")
    metric = metrics.parse("ndcg@10")
    options = {"clip": False, "accelerate": True}
    for section in (Rated(), Catalogue()):
        asked = section.select(split, seed=0)
        if isinstance(section, Catalogue):
            some = np.zeros(len(asked.users), dtype=bool)
            some[:: max(1, len(some) // CATALOGUE_USERS)] = True
            some[np.flatnonzero(some)[CATALOGUE_USERS:]] = False
            asked = replace(asked, kept=some)
        scorer = Scorer(model, asked, **options)
        pairs, _ = scorer.pairs()
        lap(f"{section.kind}: estimates")
        ranked = scorer.rank(section, pairs)
        lap(f"{section.kind}: rank")
        scores = evaluation.evaluate([metric], ranked, pairs, asked.kept)
        lap(f"{section.kind}: metric")
        print(f"       {section.kind} {scores[str(metric)].mean}")
    told["peak bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    told["seconds per rating and epoch"] = told["fit"] / trainset.n_ratings / N_EPOCHS
    return told


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--measure":
        told = measure(sys.argv[2])
        print(json.dumps(told))
        return 0
    told = arguments((__doc__ or "").splitlines()[0])
    print(f"\n{(__doc__ or '').splitlines()[0]}\n", flush=True)
    found = {}
    for size in SIZES:
        with subprocess.Popen(
            [sys.executable, __file__, "--measure", size], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                if line.startswith("{") and "peak bytes" in line:
                    found[size] = json.loads(line)
                else:
                    print(line, end="", flush=True)
        assert child.returncode == 0, f"{size}: exit code {child.returncode}"
    per = {size: each["seconds per rating and epoch"] for size, each in found.items()}
    slower = per["25M"] / per["1M"]
    peak = found["25M"]["peak bytes"]
    print(f"\npeak memory at 25M {peak / 1e9:.2f} GB, bar {MOST_BYTES / 1e9:g} GB")
    print(
        f"nanoseconds per rating and epoch {per['1M'] * 1e9:.1f} at 1M, {per['25M'] * 1e9:.1f} at "
        f"25M: {slower:.2f} times, bar {MOST_SLOWER}"
    )
    if told.output:
        figures = {"machine": machine(), "sizes": found}
        told.output.write_text(json.dumps(figures, indent=1) + "\n")
    return int(peak > MOST_BYTES or slower > MOST_SLOWER)


if __name__ == "__main__":
    sys.exit(main())
