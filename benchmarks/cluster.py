"""What a cluster and Spark cost.

    python benchmarks/cluster.py overhead [--cells 200] [--workers 2] [--seconds 1]
    python benchmarks/cluster.py spark [--rows 20000000 --users 200000 --largest 1000000]

*overhead* starts a scheduler and workers on this machine; the cells sleep, so other work disturbs
little, and the ideal is the sum of their seconds divided by the workers. *spark* makes the rows
inside Spark, one user with `--largest` of them, and watches the memory of its Python workers.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from harness.experiment import run
from harness.experiment.events import CellFinished, Event, RunPlanned

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dask"))


def overhead(given: argparse.Namespace) -> None:
    from cluster_processes import Cluster, config_on, wait_until

    algorithms = [
        {
            "name": "cluster_algorithms:Paced",
            "label": f"paced {number}",
            "params": {"seconds": given.seconds + number * 1e-9},
        }
        for number in range(given.cells // 2)
    ]
    events: list[tuple[float, Event]] = []
    with tempfile.TemporaryDirectory(prefix="harness-overhead-") as temporary:
        folder = Path(temporary)
        os.environ["HARNESS_CACHE"] = str(folder / "driver")
        (folder / "cluster").mkdir()
        cluster = Cluster(folder / "cluster")
        try:
            address = cluster.start_scheduler()
            for _ in range(given.workers):
                cluster.start_worker()
            wait_until(lambda: cluster.n_joined() == given.workers, "the workers")
            begun = time.perf_counter()
            done = run(
                config_on(address, algorithms=algorithms),
                results=None,
                workers=given.workers,
                watch=lambda event: events.append((time.perf_counter(), event)),
            )
            whole = time.perf_counter() - begun
        finally:
            cluster.stop()
    planned = next(at for at, event in events if isinstance(event, RunPlanned))
    ends = [(at, event) for at, event in events if isinstance(event, CellFinished)]
    ideal = sum(event.seconds for _, event in ends) / given.workers
    cells = max(at for at, _ in ends) - planned
    print(
        f"{len(ends)} cells ({len(done.failed)} failed) on {given.workers} workers: ideal "
        f"{ideal:.1f} s, cells {cells:.1f} s = {cells / ideal:.3f} times, whole run "
        f"{whole:.1f} s = {whole / ideal:.3f} times"
    )


def watch_python_workers(stop: threading.Event, peak: list[int]) -> None:
    """Note the largest Python worker among this process's descendants."""
    while not stop.wait(0.05):
        for child in psutil.Process().children(recursive=True):
            try:
                if "python" in child.name():
                    peak[0] = max(peak[0], child.memory_info().rss)
            except psutil.Error:
                continue


def spark(given: argparse.Namespace) -> None:
    from pyspark.sql import functions as f

    import harness.spark
    from harness.algorithms.spark_session import local_session

    session = local_session("benchmark", {"spark.driver.memory": "2g"})
    rows = session.range(given.rows, numPartitions=16)
    user = f.when(rows.id < given.largest, 0).otherwise(1 + rows.id % given.users)
    df = rows.select(
        user.alias("user"),
        rows.id.alias("item"),
        (f.xxhash64("id") % 1000 / 100.0).alias("estimate"),
        f.pmod(f.xxhash64("id", f.lit(1)), f.lit(6)).cast("double").alias("rating"),
    )
    stop, peak = threading.Event(), [0]
    watcher = threading.Thread(target=watch_python_workers, args=(stop, peak))
    watcher.start()
    begun = time.perf_counter()
    found = harness.spark.mean(df, ["ndcg@10", "ndcg(ties=first)@10", "rmse"])
    seconds = time.perf_counter() - begun
    stop.set()
    watcher.join()
    print(
        f"{given.rows:,} rows, {found['rmse'].n_users:,} users, the largest with "
        f"{given.largest:,}: {seconds:.1f} s, {given.rows / seconds:,.0f} rows/s, "
        f"largest Python worker {peak[0] / 1e6:,.0f} MB, ndcg@10 {found['ndcg@10'].mean:.6f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("subject", choices=("overhead", "spark"))
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--largest", type=int, default=1_000_000)
    given = parser.parse_args()
    {"overhead": overhead, "spark": spark}[given.subject](given)


if __name__ == "__main__":
    main()
