"""All algorithms of Surprise at the shapes of MovieLens 1M to 32M: seconds, memory and growth.

    python dev/benchmarks/sizes.py [--sizes 1M,10M] [--algorithms SVD,SlopeOne] [--limit 600]
    python dev/benchmarks/sizes.py --sizes 100M --algorithms "BaselineOnly,SVD,KNNBasic of items"

Each row is a process of its own, with one thread, on simulated ratings, 80% of them for training:
fit, NDCG@10 of all users on rated items, and on the catalogue of the most users of 100, 1,000,
10,000 and all that the limit leaves time for. Surprise does the first two on the sizes of
``--plain``. A row is kept as soon as it is measured, and not measured again; ``--again`` does.
The shape of the Netflix Prize, 100M, is measured when it is named.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product, repeat
from typing import Any

import numpy as np
import psutil
from shared import HERE, command_line
from speed import SIZES
from timing import environment, processor_seconds

from harness import datasets, metrics, rankings, splits
from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset, Offsets
from harness.candidates.base import CandidatesSection, Catalogue, Rated
from harness.errors import HarnessError
from harness.experiment.cell import Scorer, compile_scoring, refuse_what_cannot_fit
from harness.experiment.memory import PeakMemory
from harness.metrics import Pairs
from harness.models import estimates as models
from harness.rankings import evaluation
from harness.results.environment import Machine
from harness.splits import Split
from harness.splits.random import Holdout

SHAPES = SIZES | {"32M": {"n_users": 200_948, "n_items": 84_432, "n_ratings": 32_000_204}}
NETFLIX = {"100M": {"n_users": 480_189, "n_items": 17_770, "n_ratings": 100_480_507}}
NEIGHBORS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
STEPS: dict[str, Callable[[Offsets, Offsets], int]] = {
    **dict.fromkeys(("NormalPredictor", "BaselineOnly"), lambda users, items: 10 * users.sum()),
    **dict.fromkeys(("SVD", "SVDpp", "CoClustering"), lambda users, items: 20 * users.sum()),
    "NMF": lambda users, items: 50 * users.sum(),
    "SlopeOne": lambda users, items: (users**2).sum(),
    **dict.fromkeys(NEIGHBORS, lambda users, items: (items**2).sum()),
    "KNNBasic of items": lambda users, items: (users**2).sum(),
}
"""Innermost steps of a fit, of how many training ratings each user and each item has: a rating in
an epoch, or a pair of ratings of one user (SlopeOne, neighbours of items) or of one item."""
OF_ITEMS = {"sim_options": {"user_based": False}}
SIDES = ("harness", "Surprise")
SHOWN = ("fit", "rated", "catalogue", "catalogue_users", "peak", "estimated")
NDCG = (metrics.parse("ndcg@10"),)


def child(size: str, name: str, side: str, limit: int) -> None:
    """Measure one row and print what is known after each stage; SIGALRM ends it at the limit."""
    found: dict[str, Any] = {}

    def note(**facts: Any) -> None:
        found.update(facts)
        print(json.dumps(found), flush=True)

    ratings = datasets.load({"name": "synthetic", "synthetic": (SHAPES | NETFLIX)[size]})
    (split,) = splits.make(Holdout(), ratings, 0)
    count_steps = STEPS[name]
    name, of_items, _ = name.partition(" of items")
    params: dict[str, Any] = OF_ITEMS if of_items else {}
    if registry.takes_seed(name) and name != "NormalPredictor":
        params = {"random_state": 0}
    if side == "Surprise":
        plain(split, getattr(surprise, name)(**params), limit, note)
        return
    model = registry.create(name, params, 0)
    compile_scoring(NDCG, 0, catalogue=True)
    models.warm_up(name, params)

    def score(section: CandidatesSection, part: Split) -> float:
        selected = section.select(part, 0)
        scorer = Scorer(model, selected, clip=True, accelerate=True)
        pairs, _ = scorer.pairs()
        lists = scorer.rank(section, pairs, depth=0, ids=(ratings.user_ids, ratings.item_ids))
        return evaluation.evaluate(NDCG, lists, pairs)["ndcg@10"].mean

    signal.alarm(limit)
    before, start, processor = resident(), time.perf_counter(), processor_seconds()
    trainset = ColumnTrainset.of_ratings(ratings, split.train)
    sizes = trainset.n_users, trainset.n_items, trainset.n_ratings
    note(estimated=registry.memory(name, params, *sizes) / 1e9)
    refuse_what_cannot_fit(name, params, trainset)
    with PeakMemory() as memory:
        held = resident() - before
        # As Surprise does, which cuts fractional ratings for CoClustering and SlopeOne.
        models.fit(model, trainset, as_surprise=True)
        fitted = time.perf_counter()
        counts = (np.diff(each.offsets) for each in (trainset.by_user, trainset.by_item))
        note(fit=fitted - start, steps=float(count_steps(*counts)))
        value = score(Rated(), split)
        taken = time.perf_counter() - start
        cores = (processor_seconds() - processor) / taken
        note(rated=taken - (fitted - start), ndcg_rated=value, cores=cores)
    highest = held / 1e9 + memory.megabytes / 1e3
    note(peak=highest)
    tested = np.random.default_rng(0).permutation(np.unique(ratings.users[split.test]))
    for n in (*(each for each in (100, 1_000, 10_000) if each < len(tested)), len(tested)):
        left = limit - (time.perf_counter() - start)
        if found.get("catalogue", 0.0) * n > 0.9 * left * found.get("catalogue_users", n):
            break
        of_them = split.test[np.isin(ratings.users[split.test], tested[:n])]
        with PeakMemory() as memory:
            held, begun = resident() - before, time.perf_counter()
            value = score(Catalogue(), replace(split, test=of_them))
            taken = time.perf_counter() - begun
        highest = max(highest, held / 1e9 + memory.megabytes / 1e3)
        note(catalogue=taken, catalogue_users=n, ndcg_catalogue=value, peak=highest)


def resident() -> int:
    """Return the bytes of this process in memory."""
    return int(psutil.Process().memory_info().rss)


def plain(split: Split, model: Any, limit: int, note: Callable[..., None]) -> None:
    """Fit and estimate the test ratings as a user of Surprise does."""
    most = int(Machine.here().memory_gb * 0.9e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))  # a MemoryError before the machine's end

    def rows(places: Offsets) -> Iterator[tuple[int, int, float, None]]:
        columns = split.ratings.users, split.ratings.items, split.ratings.ratings
        yield from zip(*(each[places].tolist() for each in columns), repeat(None))

    data = surprise.Dataset(surprise.Reader(rating_scale=split.ratings.scale))
    train = data.construct_trainset([*rows(split.train)])
    test = [row[:3] for row in rows(split.test)]
    signal.alarm(limit)
    start = time.perf_counter()
    model.fit(train)
    fitted = time.perf_counter()
    note(fit=fitted - start)
    estimates = np.array([each.est for each in model.test(test)])
    selected = Rated().select(split, 0)
    pairs = Pairs(selected.offsets, estimates[selected.order], selected.ratings)
    value = metrics.score(NDCG, rankings.from_grouped(pairs))[NDCG[0]].mean
    note(rated=time.perf_counter() - fitted, ndcg_rated=value)


def measured(size: str, name: str, side: str, limit: int) -> dict[str, Any]:
    """Return a row: what a new process measured until it ended, and why it ended early."""
    command = [sys.executable, __file__, "--child", size, name, side, str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(1))
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    found = json.loads(lines[-1]) if lines else {}
    if done.returncode == -signal.SIGALRM:
        if "catalogue" not in found:  # else a larger sample took longer than was to be expected
            found["error"] = f"not within {limit:,} s"
    elif done.returncode == -signal.SIGKILL or "MemoryError" in done.stderr:
        found["error"] = "out of memory"
    elif done.returncode:
        found["error"] = done.stderr.strip().splitlines()[-1][:200]
    return {"data": size, "algorithm": name, "side": side, "limit": limit} | found


def main() -> int:
    parser = command_line(__doc__)
    shapes = SHAPES | NETFLIX
    parser.add_argument("--sizes", default=",".join(SHAPES), help="of " + ", ".join(shapes))
    usual = ",".join(name for name in STEPS if "of items" not in name)
    parser.add_argument("--algorithms", default=usual, help="names, with commas")
    parser.add_argument("--plain", default="1M", help="sizes at which Surprise runs too")
    parser.add_argument("--limit", type=int, default=600, help="seconds of a row, without loading")
    parser.add_argument("--again", action="store_true", help="measure rows that are kept")
    parser.set_defaults(output=HERE / "figures/sizes.json")
    given = parser.parse_args()
    chosen = [*product(given.sizes.split(","), given.algorithms.split(","))]
    names = [*shapes, *STEPS]
    if unknown := {name for pair in chosen for name in pair} - {*names}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; use {', '.join(names)}")
    machine = Machine.here().model_dump()
    kept = json.loads(given.output.read_text())["rows"] if given.output.exists() else []
    rows = {
        (row["data"], row["algorithm"], row["side"]): row
        for row in kept  # rows of an algorithm are comparable on one machine alone
        if row["machine"] == machine or row["algorithm"] not in {name for _, name in chosen}
    }
    for size, name in chosen:
        for side in SIDES[: 1 + (size in given.plain.split(","))]:
            if given.again or (size, name, side) not in rows:
                row = measured(size, name, side, given.limit) | {"machine": machine}
                rows[size, name, side] = row
                shown = (f"{key} {row[key]:.3g}" for key in SHOWN if key in row)
                print(size, name, side, *shown, row.get("error", ""), flush=True)
                ordered = [rows[key] for key in product(shapes, STEPS, SIDES) if key in rows]
                written = {"threads": 1, "rows": ordered}
                given.output.write_text(json.dumps(written, indent=1) + "\n")
        ours, theirs = (rows.get((size, name, side), {}).get("ndcg_rated") for side in SIDES)
        if ours and theirs and name != "NormalPredictor" and abs(ours - theirs) > 1e-9:
            sys.exit(f"{size} {name}: NDCG@10 is {ours} here and {theirs} in Surprise")
    return int(any("rated" not in rows[size, name, "harness"] for size, name in chosen))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        try:
            child(*sys.argv[2:5], int(sys.argv[5]))
        except HarnessError as error:
            sys.exit(f"{error}")
    else:
        sys.exit(main())
