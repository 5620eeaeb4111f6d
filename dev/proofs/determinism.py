"""Run one config in every way that should not matter, and compare every number bit for bit.

    python dev/proofs/determinism.py

Numbers of workers, the order of the algorithms, resumed or not, further processes, hash seeds,
threads of the harness and of linear algebra (BLAS), locale and time zone. Compared are the
estimates and ranks of every finished cell, every user's scores and the table.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import pandas as pd
from common import Proof, Setting

from harness.results import read_run
from harness.results.store import CellStore

ALGORITHMS = (
    *("SVD", "SVDpp", "NMF", "KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
    *("SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"),
    *("ItemMean", "Popularity", "Random"),
)
SHUFFLED = tuple(random.Random(7).sample(ALGORITHMS, len(ALGORITHMS)))  # noqa: S311
CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 500, n_items: 1200, n_ratings: 25000}}
split: {kind: kfold, n_splits: 2}
candidates: [rated, catalogue]
algorithms: [%s]
metrics: ["ndcg@5,10", "ap@10", novelty@10, rmse, mae]
statistics: {resamples: 500}
"""
KEYS = ["table", "row", "dataset", "split", "candidates", "algorithm", "seed", "fold", "user"]


def blas(threads: str) -> dict[str, str]:
    """Return the variables that set the threads of linear algebra."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, threads)


WAYS: dict[str, tuple[int, dict[str, str], tuple[str, ...]]] = {
    "resumed, two workers": (2, {}, ALGORITHMS),
    "the same again": (1, {}, ALGORITHMS),
    "BLAS threads 1": (1, blas("1"), ALGORITHMS),
    "BLAS threads 2": (1, blas("2"), ALGORITHMS),
    "two workers": (2, {}, ALGORITHMS),
    "algorithms reversed": (1, {}, ALGORITHMS[::-1]),
    "hash seed 1": (1, {"PYTHONHASHSEED": "1"}, ALGORITHMS),
    "algorithms shuffled, three workers": (3, {}, SHUFFLED),
    "hash seed 2": (1, {"PYTHONHASHSEED": "2"}, ALGORITHMS),
    "harness threads 1": (1, {"HARNESS_THREADS": "1"}, ALGORITHMS),
    "harness threads 2": (1, {"HARNESS_THREADS": "2"}, ALGORITHMS),
    "another locale and time zone": (1, {"LC_ALL": "C", "TZ": "Asia/Kathmandu"}, ALGORITHMS),
}
"""Workers, variables and algorithms of each run."""


def numbers(folder: Path, name: str) -> tuple[dict[str, list[bytes]], pd.DataFrame, list[str]]:
    """Run the config in a way; return the bytes of every cell, every user's scores, the table."""
    workers, variables, algorithms = WAYS.get(name, (1, {}, ALGORITHMS))
    setting = Setting(folder, CONFIG % ", ".join(algorithms))
    if name.startswith("resumed"):
        setting.run("--set", f"algorithms=[{', '.join(algorithms[1::2])}]", **variables)
    setting.run("--workers", str(workers), **variables)
    run, store = read_run(setting.results / "disturbed"), CellStore(setting.cache / "cells")
    cells = {}
    for cell in run.info.cells:
        record = store.get(cell.key)
        assert record is not None, cell
        lists = record.rankings
        parts = (record.pairs.estimates, lists.rank, lists.tie_low, lists.tie_high, lists.top_items)
        cells[cell.key] = [part.tobytes() for part in parts]
    lines = setting.table().splitlines()
    users = run.users.sort_values(KEYS, ignore_index=True)
    return cells, users[sorted(users.columns)], [lines[0], *sorted(lines[1:])]


def main() -> int:
    """Run the proof and print its figures."""
    proof = Proof(__doc__, full=len(WAYS), quick=1)
    with tempfile.TemporaryDirectory() as folder:
        first = numbers(Path(folder, "first"), "one worker")
        for name in list(WAYS)[: proof.count]:
            if not proof.goes_on:
                break
            cells, users, table = numbers(Path(folder, name), name)
            for what, same in (
                ("estimates or ranks", cells == first[0]),
                ("users' scores", users.equals(first[1])),
                ("the table", table == first[2]),
            ):
                if not same:
                    proof.fault(f"{name}: {what} differ")
            proof.add("done")
    return proof.close(
        f"{proof['done']} ways to run {len(first[0])} cells of {len(ALGORITHMS)} algorithms, each "
        "against one worker: the same bits in every estimate, rank and user's score, and in the "
        "table",
    )


if __name__ == "__main__":
    sys.exit(main())
