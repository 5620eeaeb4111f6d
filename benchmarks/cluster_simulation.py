"""On paper: tuning on MovieLens 25M with 10, 100 and 1,000 workers.

    python benchmarks/cluster_simulation.py [--times cluster_cell_times.json]

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

Prints the makespan, what moved, and which of workers, network and driver was busy most.
"""

from __future__ import annotations

import argparse
import heapq
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
MILLIONS = 25.000095
TRAIN_SHARE = 0.8 * 0.8  # of a fold's training part, what a trial is fitted on
N_TRIALS, N_FOLDS = 50, 5

NETWORK = 1.25e9  # bytes a second: ten gigabit
START = 6.0  # seconds from a worker's first errand to its child being ready
READ = 110e6  # bytes of a parcel that a child decodes in a second
DISPATCH = 0.01  # seconds of scheduler and driver for each cell
KEEP = 200e6  # bytes of a finished cell that the driver checks, stores and judges in a second


@dataclass(frozen=True)
class Job:
    """One cell: which round it belongs to, its seconds, and the bytes that it leaves."""

    round: int
    seconds: float
    n_bytes: float


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


def extrapolated(times: list[dict[str, float]], millions: float) -> dict[str, tuple[float, float]]:
    """Return seconds at a size and the power of growth, by algorithm."""
    found = {}
    for name in dict.fromkeys(row["algorithm"] for row in times):
        rows = [row for row in times if row["algorithm"] == name]
        sizes, seconds = (np.log([row[key] for row in rows]) for key in ("millions", "seconds"))
        power, level = np.polyfit(sizes, seconds, 1)
        power = max(1.0, float(power))
        last = rows[-1]
        found[name] = (last["seconds"] * (millions / last["millions"]) ** power, power)
        del level
    return found


def jobs_of(told: dict, rng: np.random.Generator) -> list[Job]:
    """Return all trials, each setting costing from a third to three times the default's."""
    cells = told["cells"]
    at_size = extrapolated(cells, MILLIONS * TRAIN_SHARE / 0.8)
    record = cells[-1]["bytes"] / cells[-1]["millions"] * MILLIONS
    jobs = [
        Job(trial, seconds * 3 ** rng.uniform(-1, 1), record * 0.8)
        for trial in range(N_TRIALS)
        for seconds, _ in at_size.values()
        for _ in range(N_FOLDS)
    ]
    at_full = extrapolated(cells, MILLIONS)
    final = [
        Job(N_TRIALS, seconds * 3 ** rng.uniform(-1, 1), record)
        for seconds, _ in at_full.values()
        for _ in range(N_FOLDS)
    ]
    return jobs + final


def simulate(jobs: list[Job], n_workers: int, parcel: float, *, rounds: bool) -> Told:
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
        arrivals.sort()
        while arrivals and arrivals[0][0] <= until:
            ended, n_bytes = arrivals.pop(0)
            # In at the scheduler and out again.
            travel, keep = 2 * n_bytes / NETWORK, n_bytes / KEEP + DISPATCH
            network = max(network, ended) + travel
            driver = max(driver, network) + keep
            busy["network"] += travel
            busy["driver"] += keep
            moved += 2 * n_bytes
            ends.append(driver)

    for job in jobs:
        waits = job.round != last_round and (rounds or job.round == N_TRIALS)
        if waits:  # everything before has to be judged
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
        arrivals.append((end, job.n_bytes))
        heapq.heappush(free, (end, worker))
    land(float("inf"))
    return Told(max(ends), busy, moved)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=Path, default=HERE / "cluster_cell_times.json")
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1_000])
    options = parser.parse_args()
    told = json.loads(options.times.read_text(encoding="utf-8"))
    millions, size = max((float(key), value) for key, value in told["parcels"].items())
    parcel = size / millions * MILLIONS
    jobs = jobs_of(told, np.random.default_rng(0))
    print("seconds of one cell with defaults, fitted to a whole training part, and its growth:")
    for name, (seconds, power) in extrapolated(told["cells"], MILLIONS).items():
        print(f"  {name:16} {seconds:10,.1f} s   n^{power:.2f}")
    work = sum(job.seconds for job in jobs)
    print(
        f"\n{len(jobs):,} cells, {work / 3600:,.0f} hours of one processor; "
        f"data {parcel / 1e6:,.0f} MB, a finished cell {jobs[-1].n_bytes / 1e6:,.0f} MB\n"
    )
    print(f"{'search':7} {'workers':>7} {'makespan':>10} {'ideal':>9} {'efficiency':>10} "
          f"{'moved':>9}  busy: workers, network, driver   bottleneck")  # fmt: skip
    for search in ("random", "tpe"):
        for n_workers in options.workers:
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


if __name__ == "__main__":
    main()
