"""Seconds of processes that start: import, help, and runs with and without compiled loops.

    python dev/benchmarks/first_process.py [--output first_process.json] [--seconds N]

A first run finds no compiled code, the next one what a first has kept; both compute all cells.
`timing.py` is the rule of measurement; exit code 1 if a limit is exceeded.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from shared import HERE, command_line, keep
from timing import environment, measure

from harness._util.kernels import n_threads

STARTS = {
    "`python -c pass`": (["-c", "pass"], 0.0),
    "`import harness`": (["-c", "import harness"], 0.05),
    "`import surprise`": (["-c", "import surprise"], 0.0),
    "`import surprise`, and `harness.patch_surprise()`": (
        ["-c", "import surprise, harness; harness.patch_surprise()"],
        0.0,
    ),
    "`harness --help`": (["-m", "harness", "--help"], 0.2),
}
"""Arguments of Python, and the most wall seconds; 0 for no limit."""
ALONE = "{dataset: bundled, candidates: rated, algorithms: [%s], metrics: ['ndcg@10']}"
RUNS = {"quickstart": 4.5, "SVD": 3.0, "KNNBasic": 3.0}
"""A config or an algorithm alone, and the most CPU seconds that its first run may compile."""


def main() -> int:
    given = command_line(__doc__, seconds=20.0).parse_args()
    rows, functions, missed = [], list[dict[str, Any]](), False
    with tempfile.TemporaryDirectory() as scratch:
        # Python keeps the bytecode of modules, whatever the environment of the benchmark says; one
        # run of everything comes before those that are timed.
        os.environ["PYTHONPYCACHEPREFIX"] = f"{scratch}/bytecode"
        os.environ["PYTHONDONTWRITEBYTECODE"] = ""
        for work, (arguments, most) in STARTS.items():
            start(arguments, {})
            found = measure(partial(start, arguments, {}), given.seconds / 4)
            rows.append(show(work, found, None, f"{most:g} wall" if most else ""))
            missed |= 0 < most < found["wall"]
        run("quickstart", scratch, emptied=True)
        for name, most in RUNS.items():
            work, config = f"`harness run {name}`", name
            if name != "quickstart":
                work, config = f"{name} alone", f"{scratch}/{name}.yaml"
                Path(config).write_text(ALONE % name)
            for which, limit in (("first", most), ("next", 0.0)):
                task = partial(run, config, scratch, emptied=which == "first")
                found = measure(task, given.seconds)
                compiled = json.loads(Path(scratch, "compiled.json").read_text())["compiled"]
                rows.append(show(f"{work}, {which} run", found, compiled, f"{limit:g} compiling"))
                missed |= rows[-1]["compiling"] > limit
                functions = functions or by_function(compiled)  # of quickstart
    keep(given.output, {"threads": n_threads(), "rows": rows, "compiled": functions})
    return int(missed)


def show(
    work: str, found: dict[str, float], compiled: list[tuple[str, float]] | None, most: str
) -> dict[str, Any]:
    """Print and return a row: medians, spread, and what Numba compiled in the last run."""
    signatures = Counter(name for name, _ in compiled or ())
    row: dict[str, Any] = {"work": work} | found
    row["compiling"] = "" if compiled is None else sum(seconds for _, seconds in compiled)
    row |= {"functions": len(signatures) or "", "signatures": signatures.total() or ""}
    print(
        *(
            f"{name} {value:.3g}" if name != "work" else value
            for name, value in row.items()
            if value != ""
        )
    )
    for name, seconds in sorted(compiled or (), key=lambda each: -each[1])[:8]:
        print(f"    {seconds:6.2f} s  {signatures[name]} x {name}", flush=True)
    return row | {"at most": most}


def by_function(compiled: list[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return the CPU seconds of each function, without what it calls, and its signatures."""
    seconds: dict[str, list[float]] = {}
    for name, took in compiled:
        seconds.setdefault(name, []).append(took)
    rows = [
        {"function": name, "seconds": sum(each), "signatures": len(each)}
        for name, each in seconds.items()
    ]
    return sorted(rows, key=lambda row: -row["seconds"])


def start(arguments: list[str], folders: dict[str, str]) -> None:
    """Run Python in a process of its own."""
    command, places = [sys.executable, *arguments], environment(n_threads()) | folders
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=places)


def run(config: str, scratch: str, *, emptied: bool) -> None:
    """Run a config without kept results, and with or without what an earlier run compiled."""
    if emptied:
        shutil.rmtree(f"{scratch}/numba", ignore_errors=True)
    cache = {"HARNESS_CACHE": f"{scratch}/cache", "NUMBA_CACHE_DIR": f"{scratch}/numba"}
    start([str(HERE / "compilations.py"), config, scratch], cache)


if __name__ == "__main__":
    sys.exit(main())
