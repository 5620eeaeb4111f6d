"""Measure one cell of every algorithm at growing sizes, for `cluster_simulation.py`.

    python benchmarks/cluster_cell_times.py [--millions 0.25 0.5 1 2]

Times are seconds of one processor, which other work on the machine does not stretch. Ratings are
made up with the growth of MovieLens: users in proportion to ratings, items to their square root.
Writes `cluster_cell_times.json` beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path

os.environ["HARNESS_THREADS"] = "1"

from harness.experiment.cell import compute
from harness.experiment.dask import pack
from harness.experiment.plan import Plan

ALGORITHMS = [
    "NormalPredictor", "BaselineOnly", "KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline",
    "SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering",
]  # fmt: skip
USERS_PER_MILLION, ITEMS_AT_A_MILLION = 6_500, 11_800
HERE = Path(__file__).parent / "cluster_cell_times.json"


def shape(millions: float) -> dict[str, int]:
    """Return users, items and ratings of a size."""
    return {
        "n_users": int(USERS_PER_MILLION * millions),
        "n_items": int(ITEMS_AT_A_MILLION * millions**0.5),
        "n_ratings": int(millions * 1_000_000),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--millions", type=float, nargs="+", default=[0.25, 0.5, 1.0, 2.0])
    options = parser.parse_args()
    rows, parcels = [], {}
    for millions in options.millions:
        config = {
            "dataset": {"synthetic": shape(millions)},
            "algorithms": ALGORITHMS,
            "metrics": ["ndcg@10"],
            "baselines": False,
        }
        plan = Plan.from_config(config)
        parcels[str(millions)] = len(pack(plan)[0])
        for cell in plan.cells:
            if millions == options.millions[0]:  # compile first
                compute(cell, plan, lambda stage, done, total: None)
            begun = time.process_time()
            record = compute(cell, plan, lambda stage, done, total: None)
            row = {
                "algorithm": cell.title,
                "millions": millions,
                "seconds": round(time.process_time() - begun, 4),
                "bytes": len(record.to_bytes(cell.key)),
            }
            rows.append(row)
            print(row, flush=True)
    told = {"processor": platform.machine(), "parcels": parcels, "cells": rows}
    HERE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
