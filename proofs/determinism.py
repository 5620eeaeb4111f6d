"""Run one config in every way that should not matter, and compare every number bit for bit.

    python proofs/determinism.py

Numbers of workers, the order of the algorithms, resumed or not, further processes, hash seeds,
threads of the harness and of linear algebra (BLAS), locale and time zone. Compared are the
estimates and ranks of every finished cell, every user's scores and the table.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from common import Proof, Setting

from harness.results import read_run
from harness.results.store import CellStore

ALGORITHMS = (
    *("SVD", "SVDpp", "NMF", "KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
    *("SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"),
    *("ItemMean", "Popularity", "Random"),
)
CONFIG = """\
name: disturbed
dataset: {synthetic: {n_users: 500, n_items: 1200, n_ratings: 25000}}
split: {kind: kfold, n_splits: 2}
candidates: [rated, catalogue]
algorithms: [%s]
metrics: ["ndcg@5,10", "ap@10", novelty@10, rmse, mae]
statistics: {resamples: 500}
"""
PLACE = ["table", "row", "dataset", "split", "candidates", "algorithm", "seed", "fold", "user"]


class Way(NamedTuple):
    """A way to run the config."""

    name: str
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = {}  # noqa: RUF012 - never changed
    algorithms: tuple[str, ...] = ALGORITHMS
    resumed: bool = False


def ways() -> Iterator[Way]:
    """Yield the ways; the first is what the others are compared with."""
    yield Way("one worker")
    yield Way("resumed, two workers", ("--workers", "2"), resumed=True)
    yield Way("the same again")
    for blas in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        yield Way(f"BLAS threads {blas}", variables=dict.fromkeys(names, blas))
    yield Way("two workers", ("--workers", "2"))
    yield Way("algorithms reversed", algorithms=ALGORITHMS[::-1])
    yield Way("hash seed 1", variables={"PYTHONHASHSEED": "1"})
    shuffled = random.Random(7).sample(ALGORITHMS, len(ALGORITHMS))  # noqa: S311
    yield Way("algorithms shuffled, three workers", ("--workers", "3"), {}, tuple(shuffled))
    yield Way("hash seed 2", variables={"PYTHONHASHSEED": "2"})
    for threads in ("1", "2"):
        yield Way(f"harness threads {threads}", variables={"HARNESS_THREADS": threads})
    yield Way("another locale and time zone", variables={"LC_ALL": "C", "TZ": "Asia/Kathmandu"})


class Numbers:
    """Everything that a run computed.

    Parameters
    ----------
    setting : Setting
    """

    def __init__(self, setting: Setting) -> None:
        run = read_run(setting.results / "disturbed")
        store = CellStore(setting.cache / "cells")
        self.cells = {}
        for cell in run.info["cells"]:
            record = store.get(cell["key"])
            assert record is not None, cell
            lists = record.rankings
            self.cells[cell["key"]] = (
                record.pairs.estimates,
                np.concatenate([lists.rank, lists.tie_low, lists.tie_high]),
                lists.top_items,
            )
        self.users = run.users.sort_values(PLACE, ignore_index=True)
        lines = setting.table().decode().splitlines()
        self.table = [lines[0], *sorted(lines[1:])]

    def compare(self, other: Numbers) -> dict[str, float]:
        """Return the largest differences, 0 for equal bits."""
        if self.cells.keys() != other.cells.keys():
            return {"cells": float("inf")}
        estimates = ranks = 0.0
        for key, (values, lists, top) in self.cells.items():
            theirs, their_lists, their_top = other.cells[key]
            estimates = max(estimates, float(np.abs(values - theirs).max(initial=0)))
            ranks += float((lists != their_lists).sum() + (top != their_top).sum())
        pd.testing.assert_frame_equal(self.users[PLACE], other.users[PLACE])
        scores = self.users.drop(columns=PLACE).to_numpy() - other.users.drop(
            columns=PLACE
        ).to_numpy(na_value=np.nan)
        return {
            "estimates": estimates,
            "ranks": ranks,
            "scores": float(np.nanmax(np.abs(scores), initial=0.0)),
            "table": float(self.table != other.table),
        }


def carry_out(way: Way, folder: Path) -> Numbers:
    """Run the config in a way."""
    setting = Setting(folder, CONFIG % ", ".join(way.algorithms))
    if way.resumed:
        setting.run("--set", f"algorithms=[{', '.join(way.algorithms[1::2])}]", **way.variables)
    setting.run(*way.arguments, **way.variables)
    return Numbers(setting)


def main() -> int:
    """Run the proof and print its figures."""
    everything = list(ways())
    proof = Proof(__doc__, full=len(everything) - 1, quick=1)
    with tempfile.TemporaryDirectory() as folder:
        first = carry_out(everything[0], Path(folder) / "first")
        while proof.goes_on:
            way = everything[proof.done + 1]
            found = first.compare(carry_out(way, Path(folder) / str(proof.done)))
            for name, difference in found.items():
                proof.most(f"difference of {name}", difference)
                if difference:
                    proof.fault(f"{way.name}: {name} differ by {difference:.3g}")
            print(f"{way.name}: {'different' if any(found.values()) else 'the same bits'}")
            proof.add("done")
    return proof.close(
        f"{proof.done} ways to run {len(first.cells)} cells of {len(ALGORITHMS)} algorithms, each "
        "against one worker: largest difference of an estimate "
        f"{proof.figures['difference of estimates']:.3g}, of a user's score "
        f"{proof.figures['difference of scores']:.3g}, {proof['difference of ranks']} other ranks, "
        f"{proof['difference of table']} other tables",
    )


if __name__ == "__main__":
    sys.exit(main())
