"""On paper: tuning on MovieLens 25M with 10, 100 and 1,000 workers.

    python benchmarks/cluster_simulation.py [--times cluster_cell_times.json]
    python benchmarks/cluster_simulation.py --check    # against a real cluster of two workers

11 algorithms, 50 trials each, 5 folds: 2,750 trials and 55 final cells. Cell times are those that
`cluster_cell_times.py` measured on one processor, carried on to 20 million training ratings by the
power of the size that fits them. Each worker has one thread. What is simulated:

- the scheduler's network carries every byte: the data once to each worker, each finished cell
  through the scheduler to the driver, one after the other;
- the driver checks, stores and judges each finished cell before the next one (measured);
- the scheduler and the driver spend some milliseconds on each cell (measured);
- a worker that joins first starts a child and reads the data;
- settings are tried together where none waits for another's value (`random`, `grid`), or one for
  each algorithm and fold at a time (`tpe`), which is a barrier after every round.

Prints the makespan, what moved, and which of workers, network and driver was busy most. With
`--check` a smaller search is both simulated and run, on a scheduler and two workers started here.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
MILLIONS = 25.000095
TRAIN_SHARE = 0.8
"""Of a cell's ratings; a trial is fitted on this share of this share."""
SPREAD = 3.0
"""A setting costs from a third to three times what the default costs."""

NETWORK = 1.25e9  # bytes a second: ten gigabit
START = 6.0  # seconds from a worker's first errand to its child being ready
READ = 110e6  # bytes of a parcel that a child decodes in a second
DISPATCH = 0.01  # seconds of scheduler and driver for each cell
KEEP = 200e6  # bytes of a finished cell that the driver checks, stores and judges in a second
TRIAL_BYTES = 1_000  # a trial sends back its score, not its lists


@dataclass(frozen=True)
class Job:
    """One cell: which round it belongs to, its seconds, and the bytes that it leaves."""

    round: int
    seconds: float
    n_bytes: float
    final: bool = False


@dataclass
class Told:
    """What came out of a simulation, in seconds and bytes."""

    makespan: float
    busy: dict[str, float]
    moved: float

    @property
    def bottleneck(self) -> str:
        """What was busy for the largest share of the time."""
        return max(self.busy, key=lambda name: self.busy[name])


def extrapolated(times: list[dict[str, Any]], millions: float) -> dict[str, tuple[float, float]]:
    """Return seconds at a size and the power of growth, by algorithm.

    Between measured sizes the seconds are interpolated; beyond the last they grow by the power
    that fits all of them, at least in proportion.
    """
    found = {}
    for name in dict.fromkeys(row["algorithm"] for row in times):
        rows = [row for row in times if row["algorithm"] == name]
        sizes, seconds = (np.log([row[key] for row in rows]) for key in ("millions", "seconds"))
        power = max(1.0, float(np.polyfit(sizes, seconds, 1)[0]))
        beyond = max(0.0, np.log(millions) - sizes[-1]) * power
        inside = np.interp(np.log(millions), sizes, seconds)
        found[name] = (float(np.exp(inside + beyond)), power)
    return found


def jobs_of(
    told: dict[str, Any], millions: float, n_trials: int, n_folds: int, spread: float
) -> list[Job]:
    """Return all trials and final cells of a search on so many ratings."""
    rng = np.random.default_rng(0)
    cells = told["cells"]
    record = cells[-1]["bytes"] / cells[-1]["millions"] * millions
    sized = {False: millions * TRAIN_SHARE, True: millions}
    rounds = [(trial, False) for trial in range(n_trials)] + [(n_trials, True)]
    return [
        Job(number, seconds * spread ** rng.uniform(-1, 1), record if final else TRIAL_BYTES, final)
        for number, final in rounds
        for seconds, _ in extrapolated(cells, sized[final]).values()
        for _ in range(n_folds)
    ]


def simulate(jobs: Iterable[Job], n_workers: int, parcel: float, *, rounds: bool) -> Told:
    """Play a run cell by cell: free workers take cells in order, results queue for the driver."""
    free = [(0.0, worker) for worker in range(n_workers)]
    heapq.heapify(free)
    ready = [False] * n_workers
    network = driver = scheduler = 0.0
    busy = {"workers": 0.0, "network": 0.0, "driver": 0.0}
    moved = 0.0
    ends: list[float] = []
    barrier = 0.0
    last_round = 0
    arrivals: list[tuple[float, float]] = []

    def land(until: float) -> None:
        """Let finished cells travel and be stored, in the order in which they ended."""
        nonlocal network, driver, moved
        while arrivals and arrivals[0][0] <= until:
            ended, n_bytes = heapq.heappop(arrivals)
            # In at the scheduler and out again.
            travel, keep = 2 * n_bytes / NETWORK, n_bytes / KEEP + DISPATCH
            network = max(network, ended) + travel
            driver = max(driver, network) + keep
            busy["network"] += travel
            busy["driver"] += keep
            moved += 2 * n_bytes
            ends.append(driver)

    for job in jobs:
        if job.round != last_round and (rounds or job.final):  # all before has to be judged
            land(float("inf"))
            barrier = max(ends)
        last_round = job.round
        at, worker = heapq.heappop(free)
        begin = max(at, barrier, scheduler)
        scheduler = max(scheduler, min(begin, at)) + DISPATCH
        land(begin)
        if not ready[worker]:
            ready[worker] = True
            network = max(network, begin) + parcel / NETWORK
            busy["network"] += parcel / NETWORK
            moved += parcel
            begin = network + START + parcel / READ
        end = begin + job.seconds
        busy["workers"] += job.seconds / n_workers
        heapq.heappush(arrivals, (end, job.n_bytes))
        heapq.heappush(free, (end, worker))
    land(float("inf"))
    return Told(max(ends), busy, moved)


def play(told: dict[str, Any], workers: list[int]) -> None:
    """Print what the whole search on 25 million ratings would take."""
    parcel = parcel_of(told, MILLIONS)
    jobs = jobs_of(told, MILLIONS, n_trials=50, n_folds=5, spread=SPREAD)
    print("seconds of one cell with defaults, fitted to a whole training part, and its growth:")
    for name, (seconds, power) in extrapolated(told["cells"], MILLIONS).items():
        print(f"  {name:16} {seconds:10,.1f} s   n^{power:.2f}")
    work = sum(job.seconds for job in jobs)
    print(
        f"\n{len(jobs):,} cells, {work / 3600:,.0f} hours of one processor; data "
        f"{parcel / 1e6:,.0f} MB, a finished cell {jobs[-1].n_bytes / 1e6:,.0f} MB, "
        f"a trial {TRIAL_BYTES / 1e3:.0f} kB\n"
    )
    print(f"{'search':7} {'workers':>7} {'makespan':>10} {'ideal':>9} {'efficiency':>10} "
          f"{'moved':>9}  busy: workers, network, driver   bottleneck")  # fmt: skip
    for search in ("random", "tpe"):
        for n_workers in workers:
            done = simulate(jobs, n_workers, parcel, rounds=search == "tpe")
            shares = {name: seconds / done.makespan for name, seconds in done.busy.items()}
            ideal = max(work / n_workers, max(job.seconds for job in jobs))
            idle = max(shares.values()) < 0.5
            print(
                f"{search:7} {n_workers:7,} {done.makespan / 3600:8.2f} h {ideal / 3600:7.2f} h "
                f"{work / n_workers / done.makespan:10.0%} {done.moved / 1e9:6,.0f} GB  "
                + ", ".join(f"{share:4.0%}" for share in shares.values())
                + f"                 {'waiting for the slowest cell' if idle else done.bottleneck}"
            )


def parcel_of(told: dict[str, Any], millions: float) -> float:
    """Return the bytes of a parcel of so many million ratings."""
    at, size = max((float(key), value) for key, value in told["parcels"].items())
    return float(size / at * millions)


def check(told: dict[str, Any], millions: float, n_folds: int, n_workers: int) -> None:
    """Simulate a search with one trial each, carry it out on a cluster, and compare."""
    sys.path.insert(0, str(HERE.parent / "tests" / "dask"))
    from cluster_cell_times import ALGORITHMS, shape
    from cluster_processes import Cluster, config_on, wait_until

    from harness.experiment import run
    from harness.experiment.events import CellFinished, Event, RunPlanned

    heard: list[tuple[float, Event]] = []
    with tempfile.TemporaryDirectory(prefix="harness-check-") as temporary:
        folder = Path(temporary)
        os.environ["HARNESS_CACHE"] = str(folder / "driver")
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster")
        try:
            address = cluster.start_scheduler()
            for _ in range(n_workers):
                cluster.start_worker()
            wait_until(lambda: cluster.n_joined() == n_workers, "the workers")
            config = config_on(
                address,
                dataset={"synthetic": shape(millions)},
                split={"kind": "kfold", "n_splits": n_folds},
                algorithms=[{"name": name, "search": {}} for name in ALGORITHMS],
                metrics=["ndcg@10"],
                execution={"workers": n_workers},
            )
            done = run(
                config,
                results=None,
                watch=lambda event: heard.append((time.perf_counter(), event)),
            )
        finally:
            cluster.stop()
    begun = next(at for at, event in heard if isinstance(event, RunPlanned))
    ends = [(at, e.seconds) for at, e in heard if isinstance(e, CellFinished)]
    measured = max(at for at, _ in ends) - begun
    expected = jobs_of(told, millions, n_trials=1, n_folds=n_folds, spread=1.0)
    n_trials = len(expected) // 2
    observed = [
        Job(job.round, seconds, job.n_bytes, job.final)
        for job, (_, seconds) in zip(expected, ends, strict=True)
    ]
    parcel = parcel_of(told, millions)
    paper, paced = (
        simulate(jobs, n_workers, parcel, rounds=False).makespan for jobs in (expected, observed)
    )
    sums = [sum(job.seconds for job in jobs) for jobs in (expected, observed)]
    print(
        f"{n_trials} trials and {len(ends) - n_trials} cells on {millions:g} million ratings "
        f"({len(done.failed)} failed), {n_workers} workers: measured {measured:.1f} s\n"
        f"  simulated from measured single cells {paper:.1f} s = {paper / measured:.2f} times "
        f"(cells {sums[0]:.1f} s)\n"
        f"  simulated from the cells of this run {paced:.1f} s = {paced / measured:.2f} times "
        f"(cells {sums[1]:.1f} s)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=Path, default=HERE / "cluster_cell_times.json")
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--check", action="store_true", help="compare with a real cluster")
    parser.add_argument("--millions", type=float, default=1.0, help="ratings of the check")
    parser.add_argument("--folds", type=int, default=5, help="of the check")
    options = parser.parse_args()
    told = json.loads(options.times.read_text(encoding="utf-8"))
    if options.check:
        check(told, options.millions, options.folds, n_workers=2)
    else:
        play(told, options.workers)


if __name__ == "__main__":
    main()
