"""Compute the same rows in two orders, each in a new process, and print seconds and memory.

Seconds and memory of a row must not depend on what was computed before it::

    python benchmarks/order_of_rows.py --dataset ml-100k SVD KNNBasic SlopeOne NMF
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CELLS = """
import json, os, sys
import harness
done = harness.run(json.loads(sys.argv[1]), results=None)
keys = ("algorithm", "fit_seconds", "score_seconds", "metric_seconds", "peak_mb")
print(json.dumps([{key: cell[key] for key in keys} for cell in done.info["cells"]]))
"""
COLUMNS = ("fit_seconds", "score_seconds", "metric_seconds", "peak_mb")


def measured(dataset: str, algorithms: list[str]) -> dict[str, dict[str, float]]:
    """Return the cells of a run in a new process with an empty store, by algorithm."""
    config = {
        "dataset": dataset,
        "algorithms": algorithms,
        "metrics": ["ndcg@10", "rmse"],
        "statistics": None,
    }
    with tempfile.TemporaryDirectory() as cache:
        if "HARNESS_CACHE" in os.environ:  # data that are there are not downloaded again
            Path(cache, "datasets").symlink_to(Path(os.environ["HARNESS_CACHE"], "datasets"))
        done = subprocess.run(
            [sys.executable, "-c", CELLS, json.dumps(config)],
            env=os.environ | {"HARNESS_CACHE": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return {cell["algorithm"]: cell for cell in json.loads(done.stdout)}


def main() -> None:
    """Print one line for each algorithm: each column in the given and in the reverse order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithms", nargs="*", default=["SVD", "KNNBasic", "SlopeOne", "NMF"])
    parser.add_argument("--dataset", default="bundled")
    chosen = parser.parse_args()
    forward = measured(chosen.dataset, chosen.algorithms)
    backward = measured(chosen.dataset, chosen.algorithms[::-1])
    print("algorithm".ljust(16) + "".join(f"{column:>26}" for column in COLUMNS))
    for name in chosen.algorithms:
        pairs = (f"{forward[name][each]:.3f}  {backward[name][each]:.3f}" for each in COLUMNS)
        print(name.ljust(16) + "".join(f"{pair:>26}" for pair in pairs))


if __name__ == "__main__":
    main()
