"""What a cluster costs: 200 cells of about one second each on two workers, against the ideal.

    python benchmarks/cluster_overhead.py [--cells 200] [--workers 2] [--seconds 1]

Starts a scheduler and workers on this machine. The cells sleep, so other work on the machine
disturbs little. The ideal is the sum of the cells' own seconds, divided by the workers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dask"))

from cluster_processes import Cluster, config_on, wait_until

from harness.experiment import run
from harness.experiment.events import CellFinished, Event, RunPlanned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    algorithms = [
        {
            "name": "cluster_algorithms:Paced",
            "label": f"paced {number}",
            "params": {"seconds": options.seconds + number * 1e-9},
        }
        for number in range(options.cells // 2)
    ]
    with tempfile.TemporaryDirectory(prefix="harness-overhead-") as temporary:
        folder = Path(temporary)
        os.environ["HARNESS_CACHE"] = str(folder / "driver")
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster")
        heard: list[tuple[float, Event]] = []
        try:
            address = cluster.start_scheduler()
            for _ in range(options.workers):
                cluster.start_worker()
            wait_until(lambda: cluster.n_joined() == options.workers, "the workers")
            begun = time.perf_counter()
            done = run(
                config_on(address, algorithms=algorithms),
                results=None,
                workers=options.workers,
                watch=lambda event: heard.append((time.perf_counter(), event)),
            )
            whole = time.perf_counter() - begun
        finally:
            cluster.stop()
    planned = next(at for at, event in heard if isinstance(event, RunPlanned))
    ends = [(at, event) for at, event in heard if isinstance(event, CellFinished)]
    ideal = sum(event.seconds for _, event in ends) / options.workers
    cells = max(at for at, _ in ends) - planned
    print(
        f"{len(ends)} cells ({len(done.failed)} failed) on {options.workers} workers: ideal "
        f"{ideal:.1f} s, cells {cells:.1f} s = {cells / ideal:.3f} times, whole run "
        f"{whole:.1f} s = {whole / ideal:.3f} times"
    )


if __name__ == "__main__":
    main()
