"""What the harness adds to a thousand cells: beside fits and scores, and in what follows them.

    python dev/benchmarks/many_cells.py SUBJECT... [--repeats 3] [--output figures.json]

*tuning*: 1,006 trials and cells on ratings of the shape of MovieLens 100K, then the same run with
all of them stored. *statistics*: intervals and tests of up to 100 rows of 10,000 users. *report*:
the page of a tuned run and of a run of 1,000 plain cells. *dask*: 1,000 cells that sleep, on 1, 2
and 4 workers, against the sum of their seconds divided by the workers; and the cells of *tuning* on
the same workers. Exit code 1 if a figure is above the column *at most*; with ``--output`` the
figures of other subjects stay in the file.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from shared import answer, calling, command_line, keep

import harness
from harness import statistics
from harness._util.kernels import n_threads
from harness.experiment.execute.progress import CellFinished, Event, RunPlanned
from harness.results.store import MaintainedStore

ML_100K = {"n_users": 943, "n_items": 1682, "n_ratings": 100_000}
RATE = {"low": 0.002, "high": 0.02}
SPACES: dict[str, dict[str, Any]] = {
    "SVD": {"n_factors": [50, 100, 150], "n_epochs": [20, 40], "lr_all": RATE},
    "SVDpp": {"n_factors": [20, 40], "n_epochs": [10, 20], "lr_all": RATE},
    "NMF": {"n_factors": [10, 15, 20], "n_epochs": [25, 50], "reg_pu": {"low": 0.02, "high": 0.2}},
    "KNNBaseline": {"k": {"low": 20, "high": 80}, "sim_options.shrinkage": {"low": 0, "high": 200}},
}
Rows = Iterator[dict[str, Any]]


def row(work: str, measure: str, values: list[float], most: float | None = None) -> dict[str, Any]:
    """Return a figure: the median of repeated values, their least and greatest, and a limit."""
    ends = {"median": median(values), "least": min(values), "greatest": max(values)}
    return {"work": work, "measure": measure} | ends | {"repeats": len(values), "at most": most}


def config(algorithms: list[Any], **more: Any) -> dict[str, Any]:
    """Return an experiment on ratings of the shape of MovieLens 100K."""
    split = {"kind": "holdout", "test_size": 0.25}
    basis = {"dataset": {"synthetic": ML_100K}, "split": split, "metrics": ["ndcg@10", "rmse"]}
    return basis | {"algorithms": algorithms} | more


def tuned(trials: int) -> dict[str, Any]:
    """Return a config that searches four algorithms, with so many trials for each."""
    searched = [{"name": name, "search": space} for name, space in SPACES.items()]
    # The setting of the config is a trial too.
    return config(searched, tuning={"method": "random", "trials": trials - 1, "metric": "ndcg@10"})


def timed(config: dict[str, Any], **how: Any) -> tuple[harness.Run, float, float]:
    """Return a run, its seconds, and those of them in fits and scores."""
    begun = time.perf_counter()
    run = harness.run(config, **how)
    whole = time.perf_counter() - begun
    work = sum(cell.fit_seconds + cell.score_seconds for cell in run.info.finished)
    return run, whole, work + float(run.trials["seconds"].sum() if run.trials is not None else 0)


def tuning(given: argparse.Namespace) -> Rows:
    searched, found, again = tuned(given.cells // len(SPACES)), [], []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        timed(tuned(3), results=None, fresh=True)  # compile, or load what was compiled
        store = MaintainedStore.default()
        for number in range(256):  # the folders of a store that other runs have used
            store.path(f"{number:02x}").parent.mkdir(exist_ok=True)
        for _ in range(given.repeats):
            store.prune(0)
            found.append(timed(searched, results=folder))
            again.append(timed(searched, results=folder)[1])
    n_cells = len(found[0][0].trials) + len(found[0][0].info.cells)
    name = f"tuning, {n_cells:,} cells"
    yield row(name, "fits and scores, s", [work for _, _, work in found])
    yield row(name, "whole run, s", [whole for _, whole, _ in found])
    shares = [100 * (whole - work) / work for _, whole, work in found]
    yield row(name, "overhead, % of fits and scores", shares, 5)
    added = [1000 * (whole - work) / n_cells for _, whole, work in found]
    yield row(name, "overhead of a cell, ms", added)
    yield row(f"{name}, all stored", "whole run, s", again, 10)


def compare(n_rows: int) -> dict[str, float]:
    """Return the seconds of the comparison of rows of 10,000 users."""
    rng = np.random.default_rng(0)
    users = rng.random((10_000, 1))
    scores = users + rng.normal(0, 0.2, (10_000, n_rows)) + np.linspace(0, 0.05, n_rows)
    names = [str(number) for number in range(n_rows)]
    statistics.compare(scores[:50, :3], names[:3])  # compile, or load what was compiled
    begun = time.perf_counter()
    statistics.compare(scores, names)
    return {"seconds": time.perf_counter() - begun}


def statistics_(given: argparse.Namespace) -> Rows:
    for n_rows in (10, 30, 100):
        command = calling("many_cells", "compare", n_rows)
        found = [answer(command, n_threads()) for _ in range(given.repeats)]
        name = f"statistics, {n_rows} rows, {n_rows * (n_rows - 1) // 2:,} pairs, 10,000 users"
        yield row(name, "seconds", [each["seconds"] for each in found], 10)
        yield row(name, "peak GB", [each["peak GB"] for each in found], 1)


def report(given: argparse.Namespace) -> Rows:
    plain = [
        {"name": "BaselineOnly", "label": f"row {i}", "params": {"bsl_options": {"reg_u": i + 1}}}
        for i in range(20)
    ]
    folds = {"split": {"kind": "kfold", "n_splits": 5}, "seeds": {"split": given.cells // 100}}
    many = config(plain, **folds, baselines=False)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        for each in (tuned(given.cells // len(SPACES)), many):
            run = harness.run(each, results=folder)
            n_trials = 0 if run.trials is None else len(run.trials)
            name = f"page of {n_trials:,} trials and {len(run.info.cells):,} cells"
            page = Path(folder, "page.html")
            command = ["harness", "report", str(run.folder), "--output", str(page), "--force"]
            took = []
            for _ in range(given.repeats):
                begun = time.perf_counter()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                took.append(time.perf_counter() - begun)
            yield row(name, "seconds", took, 10)
            yield row(name, "MB", [page.stat().st_size / 1e6], 2)


def dask(given: argparse.Namespace) -> Rows:
    paced = {"name": "cluster_algorithms:Paced"}
    small = {"n_users": 60, "n_items": 50, "n_ratings": 900}
    asleep = config(
        [
            paced | {"label": str(i), "params": {"seconds": 0.1 + i * 1e-9}}
            for i in range(given.cells // 2)
        ],
        dataset={"synthetic": small},
        split={"kind": "kfold", "n_splits": 2},
        statistics=None,
        baselines=False,
    )
    for n_workers in (1, 2, 4):
        with workers(n_workers) as execution:
            n_cells, ideal, cells, whole = on_workers(asleep | execution)
            name = f"Dask, {n_cells:,} cells of 0.1 s, workers: {n_workers}"
            yield row(name, "ideal, s", [ideal])
            yield row(name, "cells, times the ideal", [cells / ideal], 1.2)
            yield row(name, "whole run, times the ideal", [whole / ideal])
            on_workers(tuned(3) | execution)  # compile, or load what was compiled
            n_cells, ideal, _, whole = on_workers(tuned(given.cells // len(SPACES)) | execution)
            name = f"Dask, tuning, {n_cells:,} cells, workers: {n_workers}"
            yield row(name, "fits and scores, s", [ideal * n_workers])
            yield row(name, "whole run, s", [whole])


@contextlib.contextmanager
def workers(n: int) -> Iterator[dict[str, Any]]:
    """Start a scheduler and workers with one thread and one cache; yield a config's part."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "dask"))
    from cluster_processes import Cluster, wait_until

    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = f"{folder}/driver"
        cluster = Cluster(Path(folder, "cluster"))
        try:
            address = cluster.start_scheduler()
            for _ in range(n):
                cluster.start_worker(HARNESS_CACHE=f"{folder}/workers")
            wait_until(lambda: cluster.n_joined() == n, "the workers")
            yield {"execution": {"executor": "dask", "scheduler": address, "workers": n}}
        finally:
            cluster.stop()


def on_workers(config: dict[str, Any]) -> tuple[int, float, float, float]:
    """Return how many cells ran on a cluster, and the seconds: ideal, of the cells, of the run."""
    events: list[tuple[float, Event]] = []
    begun = time.perf_counter()
    harness.run(
        config,
        results=None,
        fresh=True,
        watch=lambda event: events.append((time.perf_counter(), event)),
    )
    whole = time.perf_counter() - begun
    planned = next(at for at, event in events if isinstance(event, RunPlanned))
    ends = [(at, event) for at, event in events if isinstance(event, CellFinished)]
    if failed := [event for _, event in ends if event.error]:
        sys.exit(f"{len(failed)} cells failed: {failed[0].error}")
    ideal = sum(event.seconds for _, event in ends) / config["execution"]["workers"]
    return len(ends), ideal, max(at for at, _ in ends) - planned, whole


SUBJECTS: dict[str, Callable[[argparse.Namespace], Rows]] = {
    each.__name__.rstrip("_"): each for each in (tuning, statistics_, report, dask)
}


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("subjects", nargs="+", choices=SUBJECTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cells", type=int, default=1000, help="fewer, to try it")
    given = parser.parse_args()
    missed = False
    for subject in given.subjects:
        rows = []
        for each in SUBJECTS[subject](given):
            rows.append(each)
            above = each["at most"] is not None and each["median"] > each["at most"]
            missed |= above
            spread = f"{each['least']:.4g} to {each['greatest']:.4g}"
            figures = f"{each['measure']:30} {each['median']:9.4g} ({spread})"
            print(f"{each['work']:50} {figures}{'  MISSED' * above}", flush=True)
        keep(given.output, {"rows": rows}, subject)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
