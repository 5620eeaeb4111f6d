"""CPU seconds of the first run on a machine and of the next, and which kernels are compiled.

Each run is a process of its own: all eleven algorithms of Surprise and three baselines on the
bundled ratings. The first finds no compiled code, the second finds what the first has kept; neither
finds results.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

CONFIG = """
dataset: bundled
split: {kind: holdout, test_size: 0.25}
algorithms: [SVD, SVDpp, NMF, BaselineOnly, KNNBasic, KNNWithMeans, KNNWithZScore, KNNBaseline,
             SlopeOne, CoClustering, NormalPredictor, Random, Popularity, ItemMean]
metrics: ["ndcg@5,10", rmse, mae]
"""
FIRST, SECOND = 8.0, 4.0
"""The most CPU seconds that the first process may compile, and that the second may take in all."""


def main() -> int:
    if sys.argv[1:]:
        return listen(*sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        config, listing = Path(scratch, "first.yaml"), Path(scratch, "compiled.json")
        config.write_text(CONFIG)
        first = run(scratch, config, listing)
        compiled = json.loads(listing.read_text())
        second = run(scratch, config, listing)
        left = json.loads(listing.read_text())
    compiling = sum(seconds for _, seconds in compiled)
    signatures = Counter(name for name, _ in compiled)
    totals: Counter[str] = Counter()
    print(f"first process   {first:6.2f} CPU s, compiling {compiling:.2f} (at most {FIRST})")
    print(f"second process  {second:6.2f} CPU s (at most {SECOND}), {len(left)} compiled again")
    print(f"{len(compiled)} compiled signatures of {len(signatures)} functions:")
    for name, seconds in compiled:
        totals[name] += seconds
    for name, seconds in totals.most_common(10):
        print(f"  {seconds:6.2f} s  {signatures[name]} x {name}")
    return int(compiling > FIRST or second > SECOND or bool(left))


def run(scratch: str, config: Path, listing: Path) -> float:
    """Run a config in a process of its own, without kept results; return its CPU seconds."""
    folders = {"HARNESS_CACHE": str(Path(scratch, "cache")), "NUMBA_CACHE_DIR": f"{scratch}/numba"}
    command = [sys.executable, __file__, str(config), str(listing)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, **folders))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def listen(config: str, listing: str) -> int:
    """Run a config and write down each compilation: the function, and its own CPU seconds."""
    from numba.core import event

    from harness.cli import main as cli

    compiled: list[tuple[str, float]] = []
    under_way: list[list[float]] = []  # start, and what others took inside

    class Listener(event.Listener):
        # Compilation holds a lock: what starts before another ends is compiled for its sake.
        def on_start(self, event: Any) -> None:
            under_way.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inside = under_way.pop()
            took = time.thread_time() - start
            if under_way:
                under_way[-1][1] += took
            function = event.data["dispatcher"].py_func
            compiled.append((f"{function.__module__}.{function.__name__}", took - inside))

    event.register("numba:compile", Listener())
    status = 0
    try:
        cli(["run", config, "--fresh", "--results", str(Path(listing).with_name("results"))])
    except SystemExit as ended:
        status = int(ended.code or 0)
    Path(listing).write_text(json.dumps(compiled))
    return status


if __name__ == "__main__":
    sys.exit(main())
