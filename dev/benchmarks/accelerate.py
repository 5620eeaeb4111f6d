"""Scripts of Surprise with and without ``harness.patch_surprise()``: the same calls, both timed.

    python dev/benchmarks/accelerate.py SUBJECT [--data bundled ml-1m] [--algorithms SVD ...]
                                            [--folds 2 5] [--output figures.json]

Subjects: ``folds`` is `cross_validate` of each algorithm, ``search`` is `GridSearchCV` with 8
settings of SVD, ``top_n`` is ten items for each user by the anti-test set, all in wall seconds of
the whole call, on one thread. ``memory`` is the peak of neighbours of users at Jester's size and of
an anti-test set at MovieLens 1M's, each side in a process of its own with at most ``--gigabytes``.
``scripts`` are those of `surprise_scripts.py`, each in a process of its own from start to end, at
three sizes of made-up ratings: processor and wall seconds, medians of runs that take turns, and of
a first run that finds no compiled code. A script takes turns for ``--seconds``, and at least
``--repeats`` times; ``of surprise`` is the median over turns of the ratio of processor seconds,
``spread`` half of its 95% interval. That of a short script is wider than what the patch costs. So
``instructions`` counts what the processor executes in the same scripts, at the two smaller sizes,
which does not depend on what else the machine does (needs valgrind). Exits with 1 if a patched
script takes more than 1.05 times the instructions of Surprise, or surely that much more time.
The data are the bundled ratings, and made-up ones of MovieLens 1M's size. Seconds are of one call
of Surprise, and the median of three under the patch after one that compiles; the two ratios are of
wall and of processor seconds; each line says how
many of the numbers that both return are equal to the last bit. Exits with 1 below a bar.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import surprise
from shared import HERE, answer, calling, command_line, keep
from surprise.model_selection import GridSearchCV, KFold, cross_validate
from surprise_scripts import SCRIPTS
from timing import environment, half_width, threads

import harness

SIZES = {"ml-1m": (6040, 3706, 1_000_209), "jester": (59_132, 140, 1_761_439)}
ALGORITHMS = (
    *("BaselineOnly", "NormalPredictor", "CoClustering", "SlopeOne", "NMF", "SVD", "SVDpp"),
    *("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline"),
)
BARS = {"SVDpp": 60, "SlopeOne": 20, "SVD": 5, "search": 8, "top_n": 20} | dict.fromkeys(
    (name for name in ALGORITHMS if name.startswith("KNN")), 10
)
SUBJECTS = ("folds", "search", "top_n", "memory", "scripts", "instructions")
SETTINGS = {"n_factors": [50, 100], "lr_all": [0.002, 0.005], "reg_all": [0.02, 0.1]}
OF_SCRIPTS = {1_000: (100, 200), 20_000: (400, 800), 100_000: (943, 1682)}
"""Users and items, by the number of ratings."""
MOST_TIMES = 1.05
Row = dict[str, Any]


def data_of(name: str) -> surprise.Dataset:
    """Return a data set of Surprise."""
    if name == "bundled":
        return harness.load("bundled").to_surprise()
    n_users, n_items, n_ratings = SIZES[name]
    section = {"n_users": n_users, "n_items": n_items, "n_ratings": n_ratings}
    return harness.load({"synthetic": section}).to_surprise()


def model_of(name: str) -> surprise.AlgoBase:
    """Return a model that prints nothing, with the defaults and a seed."""
    kind = getattr(surprise, name)
    if name in ("SVD", "SVDpp", "NMF", "CoClustering"):
        return kind(random_state=0)
    return kind() if name in ("SlopeOne", "NormalPredictor") else kind(verbose=False)


def folds(given: argparse.Namespace, data_name: str) -> list[Row]:
    """Return seconds of `cross_validate`."""
    data = data_of(data_name)
    rows = []
    for name in given.algorithms:
        for n_folds in given.folds:

            def call(name: str = name, n_folds: int = n_folds) -> Any:
                np.random.seed(0)
                iterator = KFold(n_folds, random_state=0)
                table = cross_validate(model_of(name), data, ["rmse", "mae"], iterator)
                return [*table["test_rmse"], *table["test_mae"]]

            title = f"{name}, {n_folds} folds"
            rows.append(compare(call, title, data_name, BARS.get(name), given.repeats))
    return rows


def search(given: argparse.Namespace, data_name: str) -> list[Row]:
    """Return seconds of a grid search with eight settings."""
    data = data_of(data_name)

    def call() -> Any:
        grid = GridSearchCV(
            surprise.SVD, SETTINGS | {"random_state": [0]}, cv=KFold(3, random_state=0)
        )
        grid.fit(data)
        return [*grid.cv_results["mean_test_rmse"], *grid.cv_results["mean_test_mae"]]

    return [
        compare(call, "GridSearchCV, 8 settings of SVD", data_name, BARS["search"], given.repeats)
    ]


def top_n(given: argparse.Namespace, data_name: str) -> list[Row]:
    """Return seconds of ten items for each user, as Surprise's FAQ finds them, and of the parts.

    The script's own loop is the same on both sides. What is left of a call when all else takes no
    time bounds how many times faster a patch can make it.
    """
    data = data_of(data_name)
    rows = []
    for name in given.algorithms:

        def predictions(name: str = name) -> Any:
            trainset = data.build_full_trainset()
            model = model_of(name).fit(trainset)
            return model.test(trainset.build_anti_testset())

        def call(predictions: Callable[[], Any] = predictions) -> Any:
            return best_of(predictions())

        def sample(predictions: Callable[[], Any] = predictions) -> Any:
            return [prediction.est for prediction in predictions()[::10_007]]

        titles = f"top 10 by {name}", f"fit, build_anti_testset and test, {name}"
        whole = compare(call, titles[0], data_name, BARS["top_n"], given.repeats)
        part = compare(sample, titles[1], data_name, BARS["top_n"], given.repeats)
        with harness.patched_surprise():
            ready = [*predictions()]
        loop, processor_loop = median_seconds(lambda ready=ready: best_of(ready), given.repeats)
        whole |= {"loop": loop, "processor loop": processor_loop, "limit": whole["surprise"] / loop}
        print(
            f"the loop of the script over {len(ready):,} predictions: {loop:.3g} s, so at most "
            f"{whole['limit']:.3g} times",
            flush=True,
        )
        rows += [whole, part]
    return rows


def median_seconds(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return wall and processor seconds of a call, the median of each."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter(), time.process_time()
        call()
        seconds.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    wall, processor = (statistics.median(column) for column in zip(*seconds, strict=True))
    return wall, processor


def best_of(predictions: Any, n: int = 10) -> list[float]:
    """Return the estimates of the n best items of each user."""
    estimates = defaultdict(list)
    for uid, iid, _, estimate, _ in predictions:
        estimates[uid].append((iid, estimate))
    best = []
    for pairs in estimates.values():
        pairs.sort(key=lambda pair: pair[1], reverse=True)
        best += [estimate for _, estimate in pairs[:n]]
    return best


def compare(
    call: Callable[[], Any], title: str, data_name: str, bar: float | None, repeats: int
) -> Row:
    """Time both sides of a call and compare what they return."""
    with harness.patched_surprise():
        ours = call()  # compiles
        here, processor_here = median_seconds(call, repeats)
        report = harness.patch_report()
    begin = time.perf_counter(), time.process_time()
    theirs = call()
    there, processor_there = time.perf_counter() - begin[0], time.process_time() - begin[1]
    difference = np.abs(np.array(ours, float) - np.array(theirs, float))
    slow = sorted({f"{row.call}: {row.reason}" for row in report.itertuples() if row.reason})
    row = {
        "data": data_name,
        "work": title,
        "surprise": there,
        "harness": here,
        "times": there / here,
        "processor times": processor_there / processor_here,
        "bar": bar,
        "numbers": len(difference),
        "equal": int((difference == 0).sum()),
        "largest difference": float(difference.max()),
        "as before": slow,
    }
    is_short = bar is not None and row["times"] < bar
    print(
        f"| {data_name} | {title} | {there:.3g} | {here:.3g} | {row['times']:.3g} "
        f"| {row['processor times']:.3g} "
        f"| {'below ' if is_short else ''}{bar or ''} | {row['equal']} of {row['numbers']} equal, "
        f"at most {row['largest difference']:.1e} apart |{' '.join(slow)}",
        flush=True,
    )
    return row


def merged(output: Path | None, subject: str, rows: list[Row]) -> list[Row]:
    """Return the rows of a file of figures, with those that this run has measured anew."""

    def key(row: Row) -> tuple[Any, ...]:
        return row.get("data"), row["work"], row.get("way")

    before = []
    if output is not None and output.exists():
        before = json.loads(output.read_text("utf-8")).get(subject, {"rows": []})["rows"]
    return [*({key(row): row for row in [*before, *rows]}).values()]


def memory(given: argparse.Namespace, _: str) -> list[Row]:
    """Return peaks of memory of both sides, each in a process of its own."""
    rows = []
    for work in ("neighbours", "anti_testset"):
        for way in ("plain", "patched"):
            found = answer(calling("accelerate", "peak", work, way, given.gigabytes), 1)
            rows.append({"work": work, "way": way, **found})
            print(rows[-1], flush=True)
    return rows


def peak(work: str, way: str, gigabytes: float) -> Row:
    """Do some work in this process, with a limit of address space; return what became of it."""
    data = data_of("jester" if work == "neighbours" else "ml-1m")
    trainset_of = data.build_full_trainset
    if way == "patched":
        harness.patch_surprise()
    limit = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    begin = time.perf_counter()
    before = peak_bytes()
    try:
        trainset = trainset_of()
        if work == "neighbours":
            model = surprise.KNNBasic(verbose=False).fit(trainset)
            n = len(model.test(trainset.build_testset()[::20]))
        else:
            model = surprise.SVD(random_state=0, n_epochs=1).fit(trainset)
            n = sum(1 for _ in model.test(trainset.build_anti_testset()))
        outcome = f"{n:,} predictions"
    except MemoryError as error:
        outcome = f"MemoryError: {error}"
    seconds = time.perf_counter() - begin
    return {"outcome": outcome, "seconds": seconds, "bytes": peak_bytes() - before}


def peak_bytes() -> int:
    """Return the most memory that this process has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def scripts(given: argparse.Namespace, _: str) -> list[Row]:
    """Return seconds of whole scripts."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        emptied = {"NUMBA_CACHE_DIR": f"{scratch}/numba", "HARNESS_CACHE": f"{scratch}/cache"}
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{scratch}/bytecode"}
        for n in given.sizes:
            file = write_ratings(n, scratch)
            for name in given.scripts:
                command = [sys.executable, "surprise_scripts.py", name, str(file)]
                first = run_script([*command, "patched"], kept | emptied)
                run_script([*command, "patched"], kept)  # loops are kept from now on
                pairs: list[Any] = []
                begin = time.perf_counter()
                while len(pairs) < given.repeats or time.perf_counter() - begin < given.seconds:
                    sides = [command, [*command, "patched"]]
                    order = (0, 1) if len(pairs) % 2 else (1, 0)  # neither side is always second
                    runs = {side: run_script(sides[side], kept) for side in order}
                    pairs.append((runs[0], runs[1]))
                rows.append(row_of_script(n, name, first, pairs))
    return rows


def instructions(given: argparse.Namespace, _: str) -> list[Row]:
    """Return how many instructions whole scripts take, in a second run: the count hardly varies."""
    rows = []
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    how: dict[str, Any] = {"check": True, "cwd": HERE, "text": True, "capture_output": True}
    with tempfile.TemporaryDirectory() as scratch:
        kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{scratch}/bytecode"}
        how["env"] = environment(1) | kept | {"PYTHONHASHSEED": "0"}
        for n in sorted(given.sizes)[:2]:
            file = write_ratings(n, scratch)
            for name in given.scripts:
                command = [sys.executable, "surprise_scripts.py", name, str(file)]
                row: Row = {"data": f"{n:,} ratings", "work": name.replace("_", " ")}
                for side, more in (("surprise", []), ("harness", ["patched"])):
                    # Bytecode and loops are kept by the first run: loops for the tool's processor.
                    for _ in range(2):
                        done = subprocess.run([*tool, *command, *more], **how)
                    row[side] = int(done.stderr.split()[-1].replace(",", ""))
                row["of surprise"] = row["harness"] / row["surprise"]
                print(*(f"{key} {shown(value)}" for key, value in row.items()), flush=True)
                rows.append(row)
    return rows


def write_ratings(n: int, folder: str) -> Path:
    """Write a file of so many made-up ratings."""
    n_users, n_items = OF_SCRIPTS[n]
    data = harness.load({"synthetic": {"n_users": n_users, "n_items": n_items, "n_ratings": n}})
    columns = data.user_ids[data.users], data.item_ids[data.items], data.ratings.tolist()
    lines = ("\t".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))
    file = Path(folder, f"{n}.tsv")
    file.write_text("".join(lines), "utf-8")
    return file


def run_script(command: list[str], places: Mapping[str, str]) -> tuple[float, float, str]:
    """Return processor and wall seconds of a process on one thread, and what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "cwd": HERE, "text": True}
    done = subprocess.run(command, check=True, env=environment(1) | places, **how)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return processor, wall, done.stdout


def row_of_script(n: int, name: str, first: Any, pairs: list[Any]) -> Row:
    """Print and return medians of both sides."""
    row: Row = {"data": f"{n:,} ratings", "work": name.replace("_", " ")}
    for side, runs in zip(("surprise", "harness"), zip(*pairs, strict=True), strict=True):
        processor, wall = (statistics.median(run[place] for run in runs) for place in (0, 1))
        row |= {side: wall, f"processor {side}": processor}
    row |= {"first": first[1], "processor first": first[0]}
    ratios = [patched[0] / plain[0] for plain, patched in pairs]
    is_equal = {run[2] for pair in pairs for run in pair} == {first[2]}
    row |= {"of surprise": statistics.median(ratios), "spread": half_width(ratios)}
    row |= {"equal": is_equal, "runs": len(pairs)}
    print(*(f"{key} {shown(value)}" for key, value in row.items()), flush=True)
    return row


def shown(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--data", nargs="+", default=["bundled"], choices=["bundled", "ml-1m"])
    parser.add_argument("--algorithms", nargs="+", default=[*ALGORITHMS], choices=ALGORITHMS)
    parser.add_argument("--folds", nargs="+", type=int, default=[2, 5])
    parser.add_argument("--scripts", nargs="+", default=[*SCRIPTS], choices=SCRIPTS)
    parser.add_argument("--repeats", type=int, default=3, help="of the faster side")
    parser.add_argument(
        "--seconds", type=float, default=40.0, help="at least, of each of `scripts`"
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=[*OF_SCRIPTS], choices=OF_SCRIPTS)
    parser.add_argument("--gigabytes", type=float, default=16.0, help="limit of `memory`")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["HARNESS_THREADS"] = "1"
    with threads(1):
        sets = given.data if given.subject not in ("scripts", "instructions") else [""]
        rows = [row for name in sets for row in globals()[given.subject](given, name)]
    keep(given.output, {"rows": merged(given.output, given.subject, rows)}, given.subject)
    short = [row["work"] for row in rows if row.get("bar") and row["times"] < row["bar"]]
    slow = [
        f"{row['work']}, {row['data']}"
        for row in rows
        if row.get("of surprise", 0.0) * (1 - row.get("spread", 0.0)) > MOST_TIMES
    ]
    if short or slow:
        print(json.dumps({"below the bar": short, "slower than Surprise": slow}))
        sys.exit(1)


if __name__ == "__main__":
    main()
