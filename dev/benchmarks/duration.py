"""How close what ``harness check`` says of the time of a run is to the time of the run.

Each of twenty configs of different shapes is checked and run, with an empty cache, by the commands
that a user calls. Beside the seconds of the clock stand processor seconds, which a busy machine
changes little. ``--only NAME`` takes a part of the configs, and keeps the figures of the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from shared import command_line, keep

KNN = ["KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"]
QUICK = ["SVD", "BaselineOnly", "CoClustering", "NormalPredictor", "SlopeOne"]
ALL = [*KNN, *QUICK, "SVDpp", "NMF"]


def synthetic(n_users: int, n_items: int, n_ratings: int) -> dict[str, Any]:
    """Return a data set of a config."""
    return {"synthetic": {"n_users": n_users, "n_items": n_items, "n_ratings": n_ratings}}


SMALL, MIDDLE = synthetic(1_000, 2_000, 100_000), synthetic(3_000, 2_500, 400_000)
LARGE, MANY = synthetic(6_000, 3_700, 1_000_000), synthetic(60_000, 3_000, 900_000)
SAMPLED = {"kind": "sampled", "n": 100}
OF_ITEMS = {"sim_options": {"name": "pearson_baseline", "user_based": False}}
SEARCH = {"search": "recommended"}

CONFIGS: dict[str, dict[str, Any]] = {
    "bundled, all": {"dataset": "bundled", "algorithms": ALL},
    "bundled, catalogue": {
        "dataset": "bundled",
        "algorithms": ["SVD", "EASE", "PureSVD", "BinaryItemKNN", "BinaryUserKNN"],
        "candidates": "catalogue",
    },
    "bundled, five folds": {
        "dataset": "bundled",
        "algorithms": [*KNN, "SVD", "BaselineOnly"],
        "split": {"kind": "kfold", "n_splits": 5},
    },
    "bundled, ten seeds": {
        "dataset": "bundled",
        "algorithms": ["SVD", "NMF", "CoClustering"],
        "seed": [*range(10)],
    },
    "bundled, sampled": {"dataset": "bundled", "algorithms": QUICK, "candidates": SAMPLED},
    "small, search of SVD": {
        "dataset": SMALL,
        "algorithms": [{"name": "SVD", **SEARCH}, "ItemMean"],
        "tuning": {"trials": 30},
    },
    "small, search of neighbours": {
        "dataset": SMALL,
        "algorithms": [{"name": "KNNBaseline", **SEARCH}],
        "tuning": {"trials": 15},
    },
    "small, search of many": {
        "dataset": SMALL,
        "algorithms": [{"name": n, **SEARCH} for n in ("NMF", "CoClustering", "BaselineOnly")],
        "tuning": {"trials": 20},
        "split": {"kind": "kfold", "n_splits": 3},
    },
    "small, two workers": {
        "dataset": SMALL,
        "algorithms": ["SVD", "SVDpp", "NMF", "CoClustering"],
        "seed": [*range(6)],
        "execution": {"workers": 2},
    },
    "small, groups": {
        "dataset": SMALL,
        "algorithms": ["SVD", "BaselineOnly", "ItemMean"],
        "groups": [{"users": "training_ratings"}, {"items": "popularity"}],
        "metrics": ["ndcg@5", "ndcg@10", "rmse"],
    },
    "middle, all": {"dataset": MIDDLE, "algorithms": ALL},
    "middle, neighbours, catalogue": {
        "dataset": MIDDLE,
        "algorithms": ["KNNBasic", {"name": "KNNBaseline", "params": OF_ITEMS}],
        "candidates": "catalogue",
    },
    "middle, top-N, catalogue": {
        "dataset": MIDDLE,
        "algorithms": ["EASE", "PureSVD", "SlopeOne", "BinaryUserKNN"],
        "candidates": "catalogue",
    },
    "middle, SVD of 300 factors": {
        "dataset": MIDDLE,
        "algorithms": [{"name": "SVD", "params": {"n_factors": 300, "n_epochs": 60}}],
        "statistics": None,
    },
    "large, factors": {"dataset": LARGE, "algorithms": ["SVD", "SVDpp", "NMF"]},
    "large, neighbours": {"dataset": LARGE, "algorithms": ["KNNBasic", "KNNWithZScore"]},
    "large, sampled, folds": {
        "dataset": LARGE,
        "algorithms": ["SVD", "BaselineOnly", "SlopeOne"],
        "candidates": SAMPLED,
        "split": {"kind": "kfold", "n_splits": 3},
    },
    "large, top-N, catalogue": {
        "dataset": LARGE,
        "algorithms": ["EASE", "PureSVD", "BinaryItemKNN"],
        "candidates": "catalogue",
        "statistics": None,
    },
    "many users": {"dataset": MANY, "algorithms": ["BaselineOnly", "SVD", "ItemMean"]},
    "several tables": {
        "dataset": [SMALL, "bundled"],
        "algorithms": ["SVD", "BaselineOnly", "UserMean"],
        "candidates": ["rated", "catalogue", SAMPLED],
    },
}


def timed(command: list[str], folder: Path) -> tuple[str, float, float]:
    """Return what a command prints, its seconds and its processor seconds."""
    environment = os.environ | {"HARNESS_CACHE": str(folder / "cache")}
    begun, before = time.perf_counter(), os.times()
    ended = subprocess.run(
        [sys.executable, "-m", "harness", *command],
        cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    after = os.times()
    processor = after[2] - before[2] + after[3] - before[3]
    return ended.stdout, time.perf_counter() - begun, processor


def compared(name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Check a config and run it; return what was said, and what it took."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        written = {"name": "one", "metrics": ["ndcg@10"], **config}
        (folder / "one.json").write_text(json.dumps(written), "utf-8")
        told, _, _ = timed(["check", "one.json", "--json"], folder)
        _, wall, processor = timed(["run", "one.json", "--quiet"], folder)
        info = json.loads((folder / "runs" / "one" / "run.json").read_text("utf-8"))
    result = json.loads(told)["result"][0]
    of_cells = {
        "fits": sum(cell["fit_seconds"] for cell in info["cells"]),
        "scores": sum(cell["score_seconds"] for cell in info["cells"]),
    }
    return {
        "config": name,
        "said": result["seconds"],
        "wall": wall,
        "ratio": result["seconds"] / wall,
        "processor_said": result["time"]["processor_seconds"],
        "processor": processor,
        "processor_ratio": result["time"]["processor_seconds"] / processor,
        "probe": result["time"]["probe_seconds"],
        "probed": result["time"]["probe"],
        "parts": result["time"]["parts"],
        "cells": of_cells,
    }


def main() -> None:
    """Print a line for each config."""
    parser = command_line(__doc__)
    parser.add_argument("--only", default="", help="configs whose names hold this")
    parser.add_argument("--parts", action="store_true", help="print the seconds of each part too")
    given = parser.parse_args()
    rows, kept = [], {}
    if given.output and given.output.exists():
        rows = json.loads(given.output.read_text("utf-8"))["configs"]
        kept = {row["config"]: row for row in rows}
    for name, config in CONFIGS.items():
        if given.only in name:
            kept[name] = row = compared(name, config)
            rows = [kept[each] for each in CONFIGS if each in kept]
            keep(given.output, {"configs": rows})
            print(
                f"{name:<32} said {row['said']:7.1f} s, took {row['wall']:7.1f} "
                f"({row['ratio']:.2f}); processor {row['processor_said']:7.1f}, "
                f"{row['processor']:7.1f} ({row['processor_ratio']:.2f}); probe {row['probe']:.1f}",
                flush=True,
            )
            if given.parts:
                parts = ", ".join(f"{part} {s:.2f}" for part, s in row["parts"].items())
                print(f"    {parts}; of the run's cells: {row['cells']}; {row['probed']}")
    far = [row["config"] for row in rows if not 0.5 <= row["ratio"] <= 2]
    print(f"{len(rows) - len(far)} of {len(rows)} within a factor of 2; others: {far}")


if __name__ == "__main__":
    main()
