"""What metrics on Spark cost.

    python benchmarks/cluster.py spark [--rows 20000000 --users 200000 --largest 1000000]

The rows are made inside Spark, one user with `--largest` of them; the memory of its Python workers
is watched.
"""

from __future__ import annotations

import argparse
import threading
import time

import psutil


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
    parser.add_argument("subject", choices=("spark",))
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--users", type=int, default=20_000)
    parser.add_argument("--largest", type=int, default=1_000_000)
    given = parser.parse_args()
    spark(given)


if __name__ == "__main__":
    main()
