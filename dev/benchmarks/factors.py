"""Matrix factorisation: nanoseconds per rating, factor and epoch, beside other libraries.

    python dev/benchmarks/factors.py [--venvs FOLDER] [--output dev/benchmarks/figures/factors.json]

A million simulated ratings of MovieLens 1M's shape, 100 factors, a tenth held out. Each library is
in an environment and a process of its own, with one thread and with all. The seconds of an epoch
are the difference of fits of 2 and 6 epochs, so that preparation is left out. Then: what the
machine's memory and arithmetic allow to the loop of SVD, at three numbers of items.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from shared import LENSKIT, LENSKIT_PYTHON, answer, calling, command_line, keep, python_with
from speed import SIZES
from timing import measure

from harness import datasets
from harness._util.kernels import ROWS_AHEAD, in_lines, kernel, n_threads, read_ahead
from harness.algorithms import surprise
from harness.algorithms.compiled import svd
from harness.algorithms.trainset import ColumnTrainset
from harness.algorithms.trainset import GroupedLists as Lists
from harness.datasets import cache_folder
from harness.models import estimates as models

N_FACTORS, EPOCHS = 100, (2, 6)
KINDS = {
    "harness, SVD": "SGD in Surprise's order, float64",
    "Surprise, SVD": "SGD in Surprise's order, float64",
    "Cornac": "SGD in the order of the data, float32; with threads, in no order",
    "LIBMF": "SGD in blocks, in no order, float32, without biases",
    "LensKit FunkSVD": "SGD, one factor after the other, float64",
    "cmfrec": "ALS by conjugate gradients, float32",
    "LensKit ALS": "ALS by Cholesky, float32",
    "implicit": "ALS of counts by conjugate gradients, float32",
}
PEERS = {
    "Cornac": ("cornac==3.0.1", "pandas"),
    "LIBMF": (
        *("numpy", "pandas", "threadpoolctl"),
        *("--no-cache-dir", "--no-binary=libmf", "libmf==0.9.2"),
    ),
    "LensKit FunkSVD": (LENSKIT,),
    "cmfrec": ("cmfrec", "pandas", "threadpoolctl"),
    "LensKit ALS": (LENSKIT,),
    "implicit": ("implicit==0.7.3", "pandas"),
}
FAST = "-O3 -march=native -DUSEAVX -DUSEOMP -fopenmp"
FLAGS = {"CFLAGS": FAST, "CXXFLAGS": FAST, "LDFLAGS": "-fopenmp"}
"""With which LIBMF is compiled: its package leaves them out."""
N_ROWS = 2_000_000
ROUNDS, TRIES, HANGS = 5, 4, 180


def parts() -> tuple[ColumnTrainset, np.ndarray, np.ndarray]:
    """Return the training set of the harness, and rows of training and test set for the peers."""
    ratings = datasets.load({"name": "synthetic", "synthetic": SIZES["1M"]})
    held_out = np.random.default_rng(0).random(len(ratings.users)) < 0.1
    train = ColumnTrainset.of_ratings(ratings, np.flatnonzero(~held_out))
    offsets, items, values = train.by_user
    users = np.repeat(np.arange(train.n_users), np.diff(offsets))
    inner = train.inner_users[ratings.users[held_out]], train.inner_items[ratings.items[held_out]]
    test = np.column_stack([*inner, ratings.ratings[held_out]])
    known = (inner[0] >= 0) & (inner[1] >= 0)
    return train, np.column_stack([users, items, values]), test[known]


def ours(side: str, train: ColumnTrainset, test: np.ndarray, limit: float) -> dict[str, Any]:
    """Return the measured fits of the harness, or of Surprise on the same training set."""
    users, items = test[:, :2].astype(int).T
    codes = train.user_codes[users], train.item_codes[items]
    found = {}
    for epochs in EPOCHS:
        model = surprise.SVD(n_factors=N_FACTORS, n_epochs=epochs, random_state=0)
        accelerated = partial(models.fit, model, train)
        fit = accelerated if side.startswith("harness") else partial(model.fit, train)
        measured = measure(fit, limit)
        estimates, _ = models.estimate(model, *codes)
        rmse = float(np.sqrt(np.mean((estimates - test[:, 2]) ** 2)))
        found[str(epochs)] = measured | {"rmse": rmse}
    return found


def patiently(command: list[str], n: int) -> dict[str, Any]:
    """Return the answer of a process; start another where one hangs: LIBMF's threads may."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return answer(command, n, HANGS)
        print(f"no answer within {HANGS} s: once more", flush=True)
    return answer(command, n, HANGS)


def row(work: str, threads: int, found: dict[str, Any], n_ratings: int) -> dict[str, Any]:
    """Return nanoseconds per rating, factor and epoch, and the quality of each number of epochs."""
    few, many = points = [found[str(epochs)] for epochs in EPOCHS]
    steps = n_ratings * N_FACTORS * (EPOCHS[1] - EPOCHS[0])
    each = {f"{clock} ns": 1e9 * (many[clock] - few[clock]) / steps for clock in ("wall", "cpu")}
    quality = [
        [epochs, point["wall"], point["rmse"]] for epochs, point in zip(EPOCHS, points, strict=True)
    ]
    repeated = all(point["runs"] > 1 for point in points)
    spread = max(point["spread"] for point in points) if repeated else None
    note = {"work": work, "kind": KINDS[work], "threads": threads}
    return note | each | {"spread": spread, "epochs, s, rmse": quality}


@kernel
def touch(rows: Any, matrix: Any) -> None:
    """Read and write rows of a matrix, read ahead as SVD does, and change their signs."""
    for place in range(len(rows)):
        read_ahead(matrix, rows, place + ROWS_AHEAD, place + ROWS_AHEAD + 1)
        vector = matrix[rows[place]]
        for f in range(len(vector)):
            vector[f] = -vector[f]


@kernel
def chase(following: Any, n: int) -> int:
    """Read places that each name the next one."""
    place = 0
    for _ in range(n):
        place = following[place]
    return place


def limits(size: str) -> dict[str, Any]:
    """Return nanoseconds per rating of SVD's loop, of its memory alone, and of its arithmetic."""
    shape = SIZES[size]
    part = {"n_users": shape["n_users"] * N_ROWS // shape["n_ratings"], "n_ratings": N_ROWS}
    part = {"n_items": shape["n_items"]} | part if size != "1M" else shape
    ratings = datasets.load({"name": "synthetic", "synthetic": part})
    train = ColumnTrainset.of_ratings(ratings)
    offsets, items, values = train.by_user
    rng = np.random.default_rng(0)
    small = in_lines(rng.normal(0, 0.1, (train.n_users, N_FACTORS)))
    vectors = in_lines(rng.normal(0, 0.1, (train.n_items, N_FACTORS)))
    biases = np.zeros(train.n_users), np.zeros(train.n_items)
    steps = np.full(4, 0.005), np.full(4, 0.02)
    n_places = vectors.nbytes // 64
    order, following = rng.permutation(n_places), np.zeros(n_places * 8, np.int64)
    following[order * 8] = np.roll(order, -1) * 8
    cached = np.arange(len(items), dtype=items.dtype) % 8  # never one twice in a row
    tasks = {
        "SVD": lambda: svd.descend(True, train.by_user, 3.5, *steps, *biases, small, vectors),
        "memory alone": lambda: touch(items, vectors),
        "arithmetic alone": lambda: svd.descend(
            True, Lists(offsets, cached, values), 3.5, *steps, *biases, small, in_lines(vectors[:8])
        ),
        "latency": lambda: chase(following, len(items)),
    }
    found = {}
    for name, task in tasks.items():
        task()
        took = measure(task, 2.0)
        found[name] = 1e9 * took["cpu"] / len(items)
    gigabytes = 2 * vectors.shape[1] * 8 / found["memory alone"]
    return {"size": size, "items, MB": vectors.nbytes / 1e6} | found | {"GB/s": gigabytes}


def limits_of_sizes() -> list[dict[str, Any]]:
    """Return the limits at each size: medians of rounds, as others use the third cache too."""
    found = []
    rounds = [[limits(size) for size in SIZES] for _ in range(ROUNDS)]
    for of_size in zip(*rounds, strict=True):
        medians = {key: median(each[key] for each in of_size) for key in of_size[0]}
        found.append(medians)
        print(json.dumps(medians), flush=True)
    return found


def peak() -> float:
    """Return the billions of operations per second of a product of matrices on one thread."""
    from threadpoolctl import threadpool_limits

    matrix = np.ones((1500, 1500))
    with threadpool_limits(1):
        return 2 * 1500**3 / measure(lambda: matrix @ matrix, 2.0)["cpu"] / 1e9


def main() -> int:
    parser = command_line(__doc__, seconds=4.0)
    text = "only what memory allows; --output names a file whose other figures stay"
    parser.add_argument("--limits", action="store_true", help=text)
    parser.add_argument("--venvs", type=Path, default=cache_folder() / "peers")
    given = parser.parse_args()
    os.environ |= FLAGS
    begun = time.perf_counter()
    machine = {"limits": limits_of_sizes(), "peak Gflop/s": peak()}
    if given.limits:
        before = json.loads(given.output.read_text("utf-8")) if given.output else {}
        keep(given.output, before | machine)
        return 0
    train, rows, test = parts()
    models.warm_up("SVD", {})
    done: list[dict[str, Any]] = []
    missing: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "parts.npz")
        np.savez(file, train=rows, test=test)
        for work, n in itertools.product(KINDS, dict.fromkeys((1, n_threads()))):
            try:
                if work in PEERS and work not in missing:
                    base = LENSKIT_PYTHON if LENSKIT in PEERS[work] else sys.executable
                    folder = given.venvs / work.replace(" ", "-")
                    python = python_with(folder, PEERS[work], base=base)
                    options = work, file, N_FACTORS, EPOCHS, given.seconds
                    found = patiently(calling("peers", "factors", *options, python=python), n)
                elif work not in PEERS and n == 1:
                    found = ours(work, train, test, given.seconds)
                else:
                    continue
            except (subprocess.SubprocessError, OSError) as error:
                missing[work] = str(error).splitlines()[-1]
                continue
            done.append(row(work, n, found, len(rows)))
            print(json.dumps(done[-1]), flush=True)
    figures = {"rows": done, "missing": missing} | machine
    print(missing, f"{time.perf_counter() - begun:.0f} s")
    keep(given.output, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
