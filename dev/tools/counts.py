"""Count what a small piece of work does, and say what grew; no count depends on the machine.

python dev/tools/counts.py          count, and keep the counts in dev/benchmarks/figures/counts.json
python dev/tools/counts.py --check  exit 1 if something grew since they were kept
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[1] / "benchmarks" / "figures" / "counts.json"
ROOM = {
    "bytes of cells": 1.02,
    "bytes of the run's folder": 1.02,
}
"""How much may be added where seconds and dates are written; elsewhere nothing."""
CONFIG = """
name: counts
dataset: {synthetic: {n_users: 80, n_items: 60, n_ratings: 2000}}
split: {kind: kfold, n_splits: 2}
candidates: [rated, catalogue]
seeds: {model: 2}
algorithms:
  - SVD
  - SVDpp
  - NMF
  - SlopeOne
  - CoClustering
  - BaselineOnly
  - NormalPredictor
  - KNNBasic
  - KNNWithMeans
  - KNNWithZScore
  - KNNBaseline
  - {name: SVD, label: tuned, search: {n_factors: {low: 5, high: 50}}}
  - {name: KNNBaseline, label: tuned KNN, search: {k: {low: 5, high: 50}}}
tuning: {method: random, trials: 4, metric: ndcg@10}
metrics: ["ndcg@5,10", rmse]
"""
Counts = dict[str, Any]
"""Numbers, or what is counted by its name: a number for each."""


def count() -> Counts:
    """Count in processes of their own, which find neither results nor compiled code."""
    found: Counts = {}
    with tempfile.TemporaryDirectory() as scratch:
        own = {"HARNESS_CACHE": f"{scratch}/cache", "NUMBA_CACHE_DIR": f"{scratch}/numba"}
        Path(scratch, "counts.yaml").write_text(CONFIG)
        found |= json.loads(output(__file__, "--run", scratch, **own, HARNESS_THREADS="1"))
        for title, part in {"cells": "cache/cells/??/*", "the run's folder": "runs/*/*"}.items():
            sizes = [path.stat().st_size for path in Path(scratch).glob(part) if path.is_file()]
            found |= {f"files of {title}": len(sizes), f"bytes of {title}": sum(sizes)}
    return found


def output(*command: str, **environment: str) -> str:
    """Return the last line that Python prints."""
    how: dict[str, Any] = {"env": os.environ | environment, "stdout": subprocess.PIPE, "text": True}
    done = subprocess.run([sys.executable, *command], check=True, **how)
    return str(done.stdout.splitlines()[-1])


def run(scratch: str) -> Counts:
    """Carry out the small run in this process, and count."""
    import gc

    import harness
    from harness import metrics
    from harness._util.kernels import Kernel
    from harness.experiment.execute.progress import CellFinished
    from harness.models import estimates as models

    numbers = dict.fromkeys(
        ("cells", "fits", "pairs estimated", "users scored", "metrics scored", "disk waits"), 0
    )

    def counted(module: Any, name: str, title: str, of: Any = lambda *given: 1) -> None:
        real = getattr(module, name)

        def call(*given: Any, **options: Any) -> Any:
            numbers[title] += of(*given)
            return real(*given, **options)

        setattr(module, name, call)

    counted(models, "fit", "fits")
    counted(models, "estimate", "pairs estimated", lambda model, users, items: len(users))
    counted(models, "catalogue", "users scored", lambda model, users: len(users))
    counted(metrics, "score", "metrics scored", lambda wanted, *lists: len(wanted))
    counted(os, "fsync", "disk waits")

    def watch(event: object) -> None:
        numbers["cells"] += isinstance(event, CellFinished) and not event.found

    harness.run(Path(scratch, "counts.yaml"), results=Path(scratch, "runs"), watch=watch)
    kernels = [each for each in gc.get_objects() if isinstance(each, Kernel)]
    signatures = {
        f"{each.py_func.__module__}.{each.py_func.__name__}": len(each.dispatcher.signatures)
        for each in kernels
        if "dispatcher" in vars(each)
    }
    return numbers | {"compiled signatures": {k: n for k, n in sorted(signatures.items()) if n}}


def growth(before: Counts, after: Counts) -> list[str]:
    """Return a line for each count that is greater than before."""
    lines = []
    for title, now in after.items():
        then = before.get(title, {} if isinstance(now, dict) else 0)
        if not isinstance(now, dict):
            if now > then * ROOM.get(title, 1.0):
                lines.append(f"{title}: {then:,} before, {now:,} now")
        elif sum(now.values()) > sum(then.values()):
            more = ", ".join(name for name, n in now.items() if n > then.get(name, 0))
            totals = f"{sum(then.values())} before, {sum(now.values())} now"
            lines.append(f"{title}: {totals}; more of {more}")
    return lines


def main() -> int:
    """Count, then compare or keep."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="keep nothing; 1 if something grew")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(run(given.run)))
        return 0
    found = count()
    before = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    grown = growth(before, found)
    print("\n".join(grown or ["nothing grew"]))
    if given.check:
        if grown:
            print("if that is meant, keep the counts with `python dev/tools/counts.py`")
        return int(bool(grown))
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
