"""Metrics and item neighbours beside other libraries on equal work, and metrics at every size.

    python dev/benchmarks/evaluation.py PART [--venv FOLDER] [--output figures.json] [--seconds N]

Parts: *libraries* computes each library's NDCG from the same columns, *neighbours* the 100 most
similar of each item, *sizes* the NDCG of up to 100 million rows in a process with a limit, *spark*
the same on Spark (needs the extra ``spark``). `--output` keeps what other parts have written. Exit
code 1 if numbers differ, or a library is faster.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from shared import HERE, calling, command_line, keep, python_with
from speed import SIZES, Figures
from timing import environment, is_parallel, measure

from harness import datasets, metrics, rankings
from harness._util.kernels import group_rows, n_threads
from harness.algorithms import top_n
from harness.datasets import cache_folder
from harness.models import estimates as catalogues

PEERS = (
    *("ranx==0.3.21", "rectools==0.19.0", "pytrec-eval-terrier==0.5.11", "scikit-learn==1.9.1"),
    *("rs-metrics==0.6.0", "replay-rec==0.22.0", "recometrics==0.1.6.post13", "similaripy==0.7.0"),
    *("sparse-dot-topn==1.2.0", "implicit==0.7.3"),
)
CUTS = "1,3,5,10,20,50"
LABELS = {
    "loop in Python": "ndcg(ties=first)",
    "scikit-learn": "ndcg(gain=linear)",
    "pytrec-eval": "ndcg(gain=linear, ties=first)",
    "ranx": "ndcg(ties=first)",
    "RecTools": "ndcg(gain=binary(4), ideal=full, ties=first)",
    "rs-metrics": "ndcg(gain=binary(4), ties=first)",
    "RePlay": "ndcg(gain=binary(4), ties=first)",
    "recometrics": "ndcg(gain=linear, ties=first)",
}
"""What each library computes."""
GIGABYTES, SECONDS, K = 8.0, 30.0, 100
Found = dict[str, Any]


def ask(command: list[str], n: int, seconds: float = 600.0, gigabytes: float = 99.0) -> Found:
    """Run a command that answers in JSON; add the peak of memory, or say why there is no answer."""
    peak, begun, error, ended = 0.0, time.perf_counter(), "", 0
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        where: Found = {"stdout": out, "stderr": err, "env": environment(n), "cwd": HERE}
        child = subprocess.Popen(command, **where, start_new_session=True)
        watched = psutil.Process(child.pid)
        while not ended:
            with contextlib.suppress(psutil.Error):  # one of them has just ended
                tree = [watched, *watched.children(recursive=True)]
                peak = max(peak, sum(each.memory_info().rss for each in tree) / 1e9)
            late = time.perf_counter() - begun > seconds
            if late or peak > gigabytes:
                error = f"more than {seconds:g} s" if late else f"more than {gigabytes:g} GB"
                os.killpg(child.pid, signal.SIGKILL)
            time.sleep(0.1)
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
        child.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        if error or child.returncode:
            lines = err.read().strip().splitlines() or [f"exit code {child.returncode}"]
            return {"error": error or lines[-1][:90]}
        peak = max(peak, usage.ru_maxrss * 1024 / 1e9)
        return dict(json.loads(out.read().splitlines()[-1])) | {"peak GB": peak}


def theirs(given: argparse.Namespace, name: str, *rest: object, **limits: Any) -> Found:
    """Do the work of a library in its environment; one that cannot be installed fails alone."""
    folder = Path(given.venv or cache_folder() / "evaluation-libraries")
    python = python_with(folder, *(("numpy<2", each) for each in PEERS), check=False)
    return ask(calling("peers", "evaluation", name, *rest, python=python), **limits)


def ours(task: str, *arguments: object, **limits: Any) -> Found:
    """Call a function of this module in a new process."""
    return ask(calling("evaluation", task, *arguments), **limits)


def made_up_columns(n_rows: int, rows_per_user: int) -> dict[str, np.ndarray]:
    """Draw users, items, estimates with many ties, and ratings, in no order; no pair twice."""
    rng = np.random.default_rng(0)
    n_users = max(1, n_rows // rows_per_user)
    users = rng.integers(0, n_users, n_rows, dtype=np.int32)
    items = np.empty(n_rows, dtype=np.int32)
    items[group_rows(users, n_users)[1]] = np.arange(n_rows) % 60_000
    estimates = np.clip(np.round(rng.normal(3.5, 0.8, n_rows), 2), 1, 5)
    ratings = rng.integers(1, 6, n_rows).astype(np.float64)
    return {"users": users, "items": items, "estimates": estimates, "ratings": ratings}


def made_up_factors(n_users: int = 2_000, n_items: int = 5_000) -> dict[str, np.ndarray]:
    """Draw factors of users and of items, one after the other, and 60 test ratings of each user."""
    rng = np.random.default_rng(0)
    items = np.sort(rng.permuted(np.tile(np.arange(n_items), (n_users, 1)), axis=1)[:, :60])
    items[-1, -1] = n_items - 1
    return {
        "users": np.repeat(np.arange(n_users), 60),
        "items": items.ravel(),
        "estimates": rng.normal(size=(n_users + n_items, 50)),
        "ratings": rng.integers(1, 6, 60 * n_users).astype(np.float64),
    }


def score_columns(labels: str, data: Mapping[str, np.ndarray], kind: str = "estimates") -> Any:
    """Go from columns, or factors, to one value for each user and rank; return the means."""
    estimates, wanted = data[kind], metrics.parse_many(labels)
    if estimates.ndim == 1:
        lists = rankings.from_pairs(data["users"], estimates, data["ratings"])
    else:
        offsets = np.append(0, np.cumsum(np.bincount(data["users"])))
        users, items = np.split(estimates, [len(offsets) - 1])
        parts, size = [], catalogues.BLOCK_BYTES // (8 * len(items))  # as a run has them
        for a in range(0, len(users), size):
            edges = offsets[a : a + size + 1]
            own = slice(edges[0], edges[-1])
            judged = edges - edges[0], data["items"][own], data["ratings"][own]
            parts.append(rankings.rank_block(users[a : a + size] @ items.T, *judged))
        lists = metrics.Rankings.concatenate(parts)
    return [score.mean for score in metrics.score(wanted, lists).values()]


def score_file(path: str, limit: float, labels: str) -> Found:
    with np.load(path) as file:
        data = dict(file)
    few = slice(None if data["estimates"].ndim > 1 else 1000)
    score_columns(labels, {key: column[few] for key, column in data.items()})
    found = measure(partial(score_columns, labels, data), limit)
    kinds = data.keys() & {"estimates", "untied"} if limit else set()
    return found | {"values": {kind: score_columns(labels, data, kind) for kind in kinds}}


def compare_items(path: str, limit: float) -> Found:
    from scipy.sparse import csr_array

    with np.load(path) as file:
        pairs = file["users"], file["items"]
    matrix, model = csr_array((np.ones(len(pairs[0])), pairs)), top_n.BinaryItemKNN(k=K)
    model.learn(csr_array(np.eye(3)))  # compile, or load what was compiled
    found = measure(lambda: model.learn(matrix), limit, least=3)
    return found | {"values": {"total": float(model.weights.sum())}}


def compare(
    given: argparse.Namespace, figures: Figures, work: str, name: str, file: Path, *own: str
) -> None:
    """Measure a library and the harness with one thread and with all, and keep a row."""
    sides, notes = [], [f"`{LABELS[name]}`"] if name in LABELS else []
    for n in dict.fromkeys((1, n_threads())):
        library = theirs(given, name, file, given.seconds, n=n)
        harness = ours(own[0], file, given.seconds, *own[1:], n=n)
        found = {"library": library, "without conversion": library.get("alone"), "harness": harness}
        for side, each in found.items():
            if each and "wall" in each and (n == 1 or is_parallel(each)):
                sides.append({"side": side, "threads": n} | {key: each[key] for key in RULE})
        if "error" in library:
            notes.append(library["error"])
            break
        close = {
            kind: np.allclose(library["values"][kind], value, rtol=ROUNDED.get(name, 1e-9), atol=0)
            for kind, value in harness["values"].items()
        }
        if not close.get("untied", all(close.values())):
            sys.exit(f"{work}: {library['values']}, and here {harness['values']}")
        notes += ["other order of ties"] * (n == 1 and not all(close.values()))
    if "total" in harness["values"] and not notes:
        sums = (each["values"]["total"] for each in (library, harness))
        notes = [f"sums of similarities {' and '.join(map('{:.6f}'.format, sums))}"]
    sides.sort(key=lambda each: each["threads"])
    figures.add(work, sides, None if len(sides) < 2 else 1, ", ".join(notes))


def libraries(given: argparse.Namespace) -> Figures:
    """Compute NDCG at six ranks of each user as each library defines it, from the same columns."""
    figures = Figures(libraries.__doc__, given.seconds)
    untied = np.random.default_rng(1).permutation(240_000).astype(np.float64)
    with tempfile.TemporaryDirectory() as scratch:
        file, factors = Path(scratch, "columns.npz"), Path(scratch, "factors.npz")
        np.savez(file, **made_up_columns(240_000, 40), untied=untied)
        np.savez(factors, **made_up_factors())
        for name, label in LABELS.items():
            what, size = (file, "240,000 rows")
            if name == "recometrics":
                what, size = factors, "10,000,000 products of factors"
            own = "score_file", f"{label}@{CUTS}"
            compare(given, figures, f"{name}, {size}", name, what, *own)
    return figures


def neighbours(given: argparse.Namespace) -> Figures:
    """Find the 100 items most similar to each, by the cosine of who rated both."""
    figures = Figures(neighbours.__doc__, given.seconds)
    for size in ("1M", "10M"):
        ratings = datasets.load({"name": "synthetic", "synthetic": SIZES[size]})
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "pairs.npz")
            np.savez(file, users=ratings.users, items=ratings.items, k=K)
            for name in ("similaripy", "sparse-dot-topn", "implicit"):
                compare(given, figures, f"{name}, {size}", name, file, "compare_items")
    return figures


def sizes(given: argparse.Namespace) -> list[Found]:
    """Compute NDCG at six ranks of 1, 10 and 100 million rows, once in a process with limits."""
    rows: list[Found] = []
    sides = ["harness", *(name for name in LABELS if name != "recometrics")]
    limits: Found = {"n": n_threads(), "seconds": SECONDS, "gigabytes": GIGABYTES}
    for millions in (1, 10, 100):
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "columns.npz")
            np.savez(file, **made_up_columns(millions * 10**6, 154))
            for side in tuple(sides):
                if side == "harness":
                    found = ours("score_file", file, 0, f"ndcg@{CUTS}", **limits)
                else:
                    found = theirs(given, side, file, 0, **limits)
                note(rows, side, millions, found)
                if "error" in found:
                    sides.remove(side)
    return rows


def spark(given: argparse.Namespace) -> list[Found]:
    """Do the same on Spark, with rows that are made inside it, one user with a million of them."""
    rows: list[Found] = []
    for millions in (10, 100):
        found = ours("score_on_spark", millions, n=n_threads(), seconds=300.0)
        note(rows, "harness on Spark", millions, found)
    return rows


def score_on_spark(millions: int) -> Found:
    from pyspark.sql import functions as f

    import harness.extras.spark.frames
    from harness.extras.spark.session import local_session

    session = local_session("benchmark", {"spark.driver.memory": "2g"})
    rows = session.range(millions * 10**6, numPartitions=16)
    user = f.when(rows.id < 10**6, 0).otherwise(1 + rows.id % (millions * 6_494))
    frame = rows.select(
        user.alias("user"),
        (f.xxhash64("id") % 1000 / 100.0).alias("estimate"),
        f.pmod(f.xxhash64("id", f.lit(1)), f.lit(6)).cast("double").alias("rating"),
    )
    begun = time.perf_counter()
    harness.extras.spark.frames.mean(frame, f"ndcg@{CUTS}")
    return {"wall": time.perf_counter() - begun}


def note(rows: list[Found], side: str, millions: int, found: Found) -> None:
    kept = {key: found[key] for key in ("wall", "cpu", "peak GB", "error") if key in found}
    rows.append({"side": side, "millions": millions} | kept)
    print(rows[-1], flush=True)


RULE = ("wall", "cpu", "spread", "runs")
ROUNDED = {"similaripy": 1e-6}
"""The tolerance of what has single precision; that of the others is 1e-9."""
PARTS: dict[str, Callable[[argparse.Namespace], Figures | list[Found]]] = {
    each.__name__: each for each in (libraries, neighbours, sizes, spark)
}


def main() -> int:
    parser = command_line(__doc__, seconds=5.0)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--venv", default="", help="of the libraries; made unless it exists")
    given = parser.parse_args()
    found = PARTS[given.part](given)
    rows = found.rows if isinstance(found, Figures) else found
    missed = any(row.pop("missed", False) for row in rows)
    keep(given.output, {"rows": rows}, given.part)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
