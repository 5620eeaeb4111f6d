"""Measure two commits side by side, and say what became slower.

    python dev/benchmarks/compare_commits.py BASE [HEAD] [--repeats 7] [--starts | --first]

Each commit is checked out into a folder of its own and does the same work through the public
interface: one run of all algorithms of Surprise on rated items and on the catalogue, and metrics
of 240,000 rows. Processes of the two commits alternate, so that other work on the machine disturbs
both. A ratio is HEAD over BASE, with the smallest and the largest ratio of neighbouring processes;
a line is marked where all of them are above 1.1 and 5 ms are added. One thread each, unless
``--threads`` says so. ``--starts`` measures what a user waits for before much is computed, each in
a process of its own, and counts the modules of this package that it imports: in CPU seconds, which
other work on the machine changes less. ``--first`` runs quickstart without compiled loops, and
again with those that the first run kept: what a first run compiles. ``--output`` keeps the figures
with the machine; exit code 1 if something became slower.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from shared import HERE, command_line, keep

TOP = Path(__file__).parents[2]
NOISE = 5e-3
"""Seconds of difference up to which a line is never marked."""
WORK = """
import json, resource, sys, time
begun = time.process_time()
import numpy as np
import harness
from harness import metrics, rankings
imported = time.process_time() - begun
names = ["SVD", "SVDpp", "NMF", "KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline",
         "SlopeOne", "CoClustering", "BaselineOnly", "NormalPredictor"]
shape = {"n_users": 943, "n_items": 1682, "n_ratings": 100_000}
config = {"dataset": {"synthetic": shape}, "algorithms": names,
          "candidates": ["rated", "catalogue"], "split": {"kind": "holdout", "test_size": 0.25},
          "metrics": ["ndcg@10", "rmse", "auc"]}
found = {"import, CPU s": imported}
start = time.perf_counter()
done = harness.run(config, results=None, fresh=True)
found["run: all of it, s"] = time.perf_counter() - start
for cell in done.info["cells"]:
    for stage in ("fit", "score", "metric"):
        key = [f"{stage}: {cell['algorithm']}", cell["candidates"]][: 1 + (stage != "fit")]
        found[", ".join([*key, "s"])] = cell[f"{stage}_seconds"]
rng = np.random.default_rng(0)
n = 240_000
users, estimates = rng.integers(0, 6000, n), np.round(rng.normal(3.5, 0.8, n), 2)
ratings = rng.integers(1, 6, n).astype(float)
lists = rankings.from_pairs(users, estimates, ratings)
for label in ("ndcg@10", "ap(threshold=4)@10", "auc(threshold=4)"):
    metric = [metrics.parse(label)]
    times = []
    for _ in range(9):
        start = time.perf_counter()
        metrics.score(metric, lists)
        times.append(time.perf_counter() - start)
    found[f"metric: {label} of ready lists, s"] = min(times)
times = []
for _ in range(5):
    start = time.perf_counter()
    metrics.score(metric, rankings.from_pairs(users, estimates, ratings))
    times.append(time.perf_counter() - start)
found["metric: from columns, s"] = min(times)
found["process: CPU s"] = time.process_time()
found["process: peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps(found))
"""
RUN = """
harness.run({"dataset": {"synthetic": {"n_users": 200, "n_items": 100, "n_ratings": 5000}},
             "algorithms": ["SVD", "KNNBasic"], "metrics": ["ndcg@10", "rmse"]},
            results=None, fresh=True)
"""
OF_A_FILE = """
harness.run({"dataset": "bundled", "metrics": ["ndcg@10", "rmse"],
             "algorithms": ["SVD", "SVDpp", "NMF", "SlopeOne", "CoClustering", "KNNBasic",
                            "KNNWithMeans", "KNNWithZScore", "KNNBaseline", "BaselineOnly",
                            "NormalPredictor"]},
            results=None)
"""
STARTS = {
    "import harness": "",
    "harness --help": """
from harness.__main__ import main
import contextlib, io
sys.argv = ["harness", "--help"]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main()
""",
    "harness.ndcg of three pairs": "harness.ndcg([(4.5, 5), (3.5, 1), (2.5, 4)], k=2)",
    "run of SVD and KNNBasic": RUN,
    "the same, cells finished": RUN.replace("fresh=True", "fresh=False"),
    "eleven algorithms on a file, cells finished": OF_A_FILE,
}
"""What is done after ``import harness``."""
START = """
import json, sys, time
begun = time.process_time()
import harness
{code}
seconds = time.process_time() - begun
files = [module.__file__ for name, module in sys.modules.items()
         if name.partition(".")[0] == "harness" and getattr(module, "__file__", None)]
lines = sum(len(open(file, encoding="utf-8").readlines()) for file in files)
print()
print(json.dumps([seconds, len(files), lines]))
"""


def check_out(commit: str, folder: Path) -> Path:
    """Put the files of a commit into a folder."""
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", commit, "harness", "configs", "pyproject.toml"],
        cwd=TOP,
        check=True,
        stdout=subprocess.PIPE,
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def measure_starts(folder: Path, threads: int) -> dict[str, float]:
    """Do each of the small pieces of work in a process of its own."""
    found: dict[str, float] = {}
    for title, code in STARTS.items():
        seconds, modules, lines = run_in(folder, threads, START.format(code=code))
        found |= {f"{title}, CPU s": seconds, f"{title}, modules": modules}
        found[f"{title}, lines"] = lines
    return found


def measure_first(folder: Path, threads: int) -> dict[str, float]:
    """Run quickstart without compiled loops, and with those of that run; all cells each time."""
    shutil.rmtree(folder / "numba", ignore_errors=True)
    answers = []
    for _ in ("first", "next"):
        process(folder, threads, [str(HERE / "compilations.py"), "quickstart", str(folder)])
        answers.append(json.loads((folder / "compiled.json").read_text()))
    first, following = answers
    if following["compiled"]:
        raise RuntimeError(f"{folder.name}: these were compiled again: {following['compiled']}")
    return {
        "quickstart, first run, CPU s": first["seconds"],
        "quickstart, next run, CPU s": following["seconds"],
        "first less next, CPU s": first["seconds"] - following["seconds"],
        "compiling alone, CPU s": sum(seconds for _, seconds in first["compiled"]),
        "loops and signatures, number": len(first["compiled"]),
    }


def measure(folder: Path, threads: int) -> dict[str, float]:
    """Do the work in one process."""
    return dict(run_in(folder, threads, WORK))


def run_in(folder: Path, threads: int, code: str) -> Any:
    """Return the JSON that code prints last."""
    return json.loads(process(folder, threads, ["-c", code]).splitlines()[-1])


def process(folder: Path, threads: int, arguments: list[str]) -> bytes:
    """Return what Python prints that knows the files of a folder, and caches of its own."""
    own = {"PYTHONPATH": str(folder), "HARNESS_CACHE": str(folder / "cache")}
    own |= {"NUMBA_CACHE_DIR": str(folder / "numba"), "HARNESS_THREADS": str(threads)}
    own |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), str(threads))
    own["PYTHONDONTWRITEBYTECODE"] = ""  # else each process would compile every module again
    done = subprocess.run(
        [sys.executable, "-P", *arguments],
        env=os.environ | own,
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
    )
    return done.stdout


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("base")
    parser.add_argument("head", nargs="?", default="HEAD")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--starts", dest="take", action="store_const", const=measure_starts)
    other.add_argument("--first", dest="take", action="store_const", const=measure_first)
    parser.set_defaults(take=measure)
    given = parser.parse_args()
    take = given.take
    with tempfile.TemporaryDirectory() as scratch:
        folders = [
            check_out(commit, Path(scratch, name))
            for name, commit in (("base", given.base), ("head", given.head))
        ]
        first = [take(folder, given.threads) for folder in folders]
        runs = []
        for number in range(given.repeats):
            order = (0, 1) if number % 2 else (1, 0)  # what is first may find another machine
            pair = {side: take(folders[side], given.threads) for side in order}
            runs.append([pair[0], pair[1]])
    print(f"\n{'':46} {given.base[:10]:>10} {given.head[:10]:>10}  ratio  from   to")
    rows = {"process: CPU s, first": [first]} | dict.fromkeys(runs[0][0], runs)
    kept: list[dict[str, Any]] = []
    for name, pairs in rows.items():
        key = name.removesuffix(", first")
        if any(key not in side for pair in pairs for side in pair):
            continue
        base, head = (median(pair[side][key] for pair in pairs) for side in (0, 1))
        ratios = sorted(pair[1][key] / max(pair[0][key], 1e-9) for pair in pairs)
        # A single measurement has no spread, and less than some milliseconds is noise.
        counts = name.endswith((", modules", ", lines", ", number"))
        marked = not counts and len(ratios) > 1 and ratios[0] > 1.1 and head - base > NOISE
        spread = {"ratio": median(ratios), "from": ratios[0], "to": ratios[-1], "slower": marked}
        kept.append({"work": name, "base": base, "head": head} | spread)
        print(
            f"{name:46} {base:10.4f} {head:10.4f} {median(ratios):6.2f} {ratios[0]:5.2f}"
            f" {ratios[-1]:5.2f}{'  SLOWER' if marked else ''}"
        )
    about = {key: value for key, value in vars(given).items() if key != "output"}
    about["take"] = take.__name__
    keep(given.output, about | {"rows": kept})
    return int(any(row["slower"] for row in kept))


if __name__ == "__main__":
    sys.exit(main())
