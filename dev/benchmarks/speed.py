"""Speed against the other side on equal work: both in one run, on the same ratings.

    python dev/benchmarks/speed.py SUBJECT [--copy ml-100k] [--output figures.json] [--seconds N]

Subjects: script, cross_validation, fits, catalogue, peers, libraries, growth, large and lists. Each
compares the numbers of the sides before it prints their times, and measures by the rule of
`timing.py`; exit code 1 if a ratio is below its bar.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plain
from joblib.externals.loky import get_reusable_executor
from shared import LENSKIT, LENSKIT_PYTHON, answer, calling, command_line, keep, python_with
from timing import environment, is_parallel, measure, measure_in_turn, threads

import harness
from harness import datasets, metrics, rankings, splits
from harness._util.kernels import n_threads
from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets import Ratings, cache_folder
from harness.models import estimates as models
from harness.splits.random import Holdout

SEEDED = ("SVD", "SVDpp", "NMF", "CoClustering")
NEIGHBORS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
QUIET: dict[str, Any] = {"verbose": False}
PEERS = ("cornac==3.0.*", LENSKIT)


class Figures:
    """What a benchmark measured, printed as it comes: for each work, a line for each side."""

    def __init__(self, title: str | None, seconds: float) -> None:
        self.title, self.seconds = (title or "").splitlines()[0], seconds
        self.rows: list[dict[str, Any]] = []
        print(f"\n{self.title}\n\n{'':44} {'threads':>7} {'wall s':>9} {'CPU s':>9}  spread")

    def measure(
        self, tasks: Mapping[str, Callable[[], object]], serial: tuple[str, ...] = ("Surprise",)
    ) -> list[dict[str, Any]]:
        """Measure each side with one thread, and with all if one of them then uses more."""
        sides = []
        for n in dict.fromkeys((1, n_threads())):
            part = {name: tasks[name] for name in tasks if n == 1 or not name.startswith(serial)}
            with threads(n), silence():
                found = measure_in_turn(part, self.seconds)
            if n == 1 or any(map(is_parallel, found.values())):
                sides += [{"side": name, "threads": n} | each for name, each in found.items()]
        return sides

    def add(
        self, work: str, sides: list[dict[str, Any]], bar: float | None = None, note: str = ""
    ) -> None:
        """Print and keep a row. The bar is the least ratio of the first side to the harness."""
        one = {each["side"]: each["wall"] for each in sides if each["threads"] == 1}
        missed = bar is not None and next(iter(one.values())) / one["harness"] < bar
        self.rows.append({"work": work, "sides": sides, "bar": bar, "note": note, "missed": missed})
        print(f"{work}: {note}{' MISSED' * missed}")
        for each in sides:
            runs = f"{each['spread']:.1%} of {each['runs']}" if each["runs"] > 1 else "one run"
            times = f"{each['wall']:9.4g} {each['cpu']:9.4g}"
            print(f"    {each['side']:40} {each['threads']:7} {times}  {runs}", flush=True)


def frame(ratings: Ratings) -> pd.DataFrame:
    """Return rows with the ids of the file, without their times."""
    return ratings.to_frame()[["user", "item", "rating"]]


def plain_data(ratings: Ratings) -> Any:
    """Return a `surprise.Dataset` with the same rows in the same order."""
    reader = surprise.Reader(rating_scale=ratings.scale)
    return surprise.Dataset.load_from_df(frame(ratings), reader)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep Surprise's prints out of the table."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


def ml_100k(copy: str) -> dict[str, str] | str:
    """Return the section of a config that names MovieLens 100K."""
    return {"name": "ml-100k", "path": str(Path(copy).resolve())} if copy else "ml-100k"


def params(name: str) -> dict[str, int]:
    return {"random_state": 0} if name in SEEDED else {}


class Divided:
    """MovieLens 100K with 75% in training: both sides' training sets, test users and relevance.

    Items have one order on both sides. ``users`` are codes, ``inner`` are Surprise's numbers.
    """

    def __init__(self, copy: str) -> None:
        self.ratings = datasets.load(ml_100k(copy))
        holdout = Holdout(test_size=0.25, random_state=42)  # as Surprise's `train_test_split`
        (split,) = splits.make(holdout, self.ratings, 0)
        self.train, self.test = split.train, split.test
        self.theirs = plain_data(self.ratings.take(self.train)).build_full_trainset()
        self.ours = ColumnTrainset.of_ratings(self.ratings, self.train)
        self.users = np.unique(self.ratings.users[self.test])
        names = self.ours.raw_users(self.users)
        self.inner = np.array([self.theirs.to_inner_uid(name) for name in names])
        self.relevance = self.dense(self.test, self.ratings.ratings[self.test])
        items = [self.theirs.to_raw_iid(item) for item in self.theirs.all_items()]
        assert list(self.ours.raw_items(self.ours.item_codes)) == items

    def dense(self, rows: np.ndarray, values: Any) -> np.ndarray:
        """Return values of rows as a matrix of test users and training items, else 0."""
        matrix = np.zeros((self.ratings.n_users, self.ratings.n_items))
        matrix[self.ratings.users[rows], self.ratings.items[rows]] = values
        return matrix[np.ix_(self.users, self.ours.item_codes)]


def script(given: argparse.Namespace) -> Figures:
    """Nine algorithms over the whole catalogue of MovieLens 100K: scripts against one run.

    A script fits each algorithm, estimates every training item for each test user, and computes
    NDCG@10 with linear gain and averaged ties: with ``predict``, or with arrays and the settings
    of Surprise that are fastest.
    """
    names = ("SVD", "SVDpp", "NMF", *NEIGHBORS, "SlopeOne", "CoClustering")
    label = "ndcg(gain=linear, undefined=0)@10"
    config = {
        "dataset": ml_100k(given.copy),
        "split": {"kind": "holdout", "test_size": 0.25, "random_state": 42},
        "candidates": {"kind": "catalogue", "training_items": "keep", "unknown_items": "drop"},
        "algorithms": [{"name": name, "params": params(name)} for name in names],
        "metrics": [label],
        "seed": 0,
    }
    figures = Figures(script.__doc__, given.seconds)
    data = Divided(given.copy)
    found: dict[str, dict[str, float]] = {}

    def plainly(side: str, estimate: Callable[..., np.ndarray], **fastest: object) -> None:
        found[side] = {}
        for name in names:
            options = params(name) | (fastest if name == "SVDpp" else {})
            model = getattr(surprise, name)(**options).fit(data.theirs)
            found[side][name] = plain.ndcg(estimate(model, data.inner), data.relevance)

    def one_run() -> None:
        table = harness.run(config, results=None, fresh=True).table
        found["harness"] = dict(zip(table["algorithm"], table[label], strict=True))

    def first_process() -> None:
        with tempfile.TemporaryDirectory() as folder:
            empty = {"HARNESS_CACHE": f"{folder}/first", "NUMBA_CACHE_DIR": f"{folder}/numba"}
            code = "import json, sys, harness; harness.run(json.loads(sys.argv[1]), results=None)"
            command = [sys.executable, "-c", code, json.dumps(config)]
            subprocess.run(command, env=environment(n_threads()) | empty, check=True)

    one_run()  # compile, or load what was compiled
    numpy = partial(plainly, "NumPy", plain.with_numpy, cache_ratings=True)
    surprises = partial(plainly, "Surprise", plain.with_predict)
    tasks = {"Surprise": surprises, "NumPy": numpy, "harness": one_run}
    sides = figures.measure(tasks, serial=("Surprise", "NumPy"))
    for side, name in itertools.product(("Surprise", "NumPy"), names):
        assert round(found["harness"][name], 6) == round(found[side][name], 6), (side, name, found)
    figures.add("nine algorithms, warm", sides, 60, "NDCG equal to 6 digits")
    scripts = [each for each in sides if each["side"] != "harness"]
    cold = figures.measure({"harness": first_process})
    figures.add("nine algorithms, first process", scripts + cold, 15, "compiling included")
    return figures


def cross_validation(given: argparse.Namespace) -> Figures:
    """RMSE and MAE of ten algorithms by 5-fold cross-validation of MovieLens 100K.

    With all threads, Surprise has as many processes (``n_jobs``).
    """
    names = (*SEEDED, *NEIGHBORS[:2], NEIGHBORS[3], "SlopeOne", "BaselineOnly", "NormalPredictor")
    config = {
        "dataset": ml_100k(given.copy),
        "split": {"kind": "kfold", "n_splits": 5, "random_state": 0},
        "candidates": "rated",
        "algorithms": [{"name": name, "params": params(name)} for name in names],
        "metrics": ["rmse", "mae"],
        "seed": 0,
    }
    figures = Figures(cross_validation.__doc__, given.seconds)
    one_run = partial(harness.run, config, results=None, fresh=True)
    found = one_run().table.set_index("algorithm")
    data = plain_data(datasets.load(ml_100k(given.copy)))
    folds = surprise.model_selection.KFold(n_splits=5, random_state=0)

    def validate() -> None:
        for name in names:
            quiet = QUIET if name.startswith(("KNN", "Baseline")) else {}  # processes print too
            model = getattr(surprise, name)(**params(name), **quiet)
            scores = surprise.model_selection.cross_validate(
                model, data, ["rmse", "mae"], folds, n_jobs=n_threads()
            )
            if name != "NormalPredictor":  # which no seed reaches in Surprise
                expected = scores["test_rmse"].mean(), scores["test_mae"].mean()
                both = found.rmse[name], found.mae[name]
                np.testing.assert_allclose(both, expected, rtol=1e-9, err_msg=name)
        if n_threads() > 1:  # the CPU seconds of a process count when it ends
            get_reusable_executor().shutdown()

    sides = figures.measure({"Surprise": validate, "harness": one_run}, serial=())
    figures.add("ten algorithms, five folds", sides, 25, "RMSE and MAE equal to 1e-9")
    return figures


def fits(given: argparse.Namespace) -> Figures:
    """Fitting on 75% of MovieLens 100K: Surprise's own ``fit`` against the accelerated one."""
    seeded = {"random_state": 0}
    work: list[tuple[str, Any, dict[str, Any], float | None]] = [
        ("SVD", surprise.SVD, seeded, 5),
        ("NMF", surprise.NMF, seeded, 5),
        ("SVD++", surprise.SVDpp, seeded, 100),
        ("SlopeOne", surprise.SlopeOne, {}, 10),
        ("CoClustering", surprise.CoClustering, seeded, 10),
        ("BaselineOnly", surprise.BaselineOnly, QUIET, None),
    ]
    for similarity in ("msd", "cosine", "pearson", "pearson_baseline"):
        for side, user_based in (("users", True), ("items", False)):
            options = {"sim_options": {"name": similarity, "user_based": user_based}}
            work.append((f"{similarity}, {side}", surprise.KNNBasic, options | QUIET, 5))
    data = Divided(given.copy)
    pairs = list(frame(data.ratings.take(data.test[:500])).itertuples(index=False))
    figures = Figures(fits.__doc__, given.seconds)

    def row(name: str, kind: Any, options: dict[str, Any], bar: float | None) -> None:
        fitted: dict[str, Any] = {}

        def fit_theirs(side: str = "Surprise", **fastest: object) -> None:
            fitted[side] = kind(**options, **fastest).fit(data.theirs)

        def fit_ours() -> None:
            fitted["harness"] = kind(**options)
            models.fit(fitted["harness"], data.ours)

        fit_ours()  # compile, or load what was compiled
        tasks: dict[str, Callable[[], object]] = {"Surprise": fit_theirs}
        if kind is surprise.SVDpp:
            side = "Surprise, cache_ratings"
            tasks[side] = partial(fit_theirs, side, cache_ratings=True)
        sides = figures.measure(tasks | {"harness": fit_ours})
        ours, *theirs = ([model.predict(*pair).est for pair in pairs] for model in fitted.values())
        figures.add(name, sides, bar, difference(np.array(theirs), np.array(ours)))

    for each in work:
        row(*each)
    return figures


def difference(expected: np.ndarray, found: np.ndarray) -> str:
    """Return the largest difference of estimates; stop if they are not equal to 1e-9."""
    largest = np.abs(expected - found).max()
    assert largest < 1e-9, f"estimates differ by {largest}"
    return f"largest difference {largest:.0e}"


def catalogue(given: argparse.Namespace) -> Figures:
    """Scoring every training item for every test user of MovieLens 100K, 75% in training."""
    data = Divided(given.copy)
    figures = Figures(catalogue.__doc__, given.seconds)

    def row(name: str) -> None:
        model, accelerated = (getattr(surprise, name)(**params(name)) for _ in range(2))
        with silence():
            models.fit(model, data.theirs)
            models.fit(accelerated, data.ours)
        found: dict[str, Any] = {}

        def script(side: str, estimate: Callable[..., np.ndarray]) -> None:
            found[side] = estimate(model, data.inner)

        def score() -> None:
            found["harness"] = [block for *_, block in models.catalogue(accelerated, data.users)]

        score()  # compile, or load what was compiled
        predict = partial(script, "Surprise", plain.with_predict)
        numpy = partial(script, "NumPy", plain.with_numpy)
        sides = figures.measure({"Surprise": predict, "NumPy": numpy, "harness": score})
        ours = np.concatenate(found["harness"])
        note = difference(np.array([found["Surprise"], found["NumPy"]]), ours)
        figures.add(name, sides, 60 if name in NEIGHBORS else 100, note)

    for name in ("SVD", "SVDpp", "NMF", "BaselineOnly", "SlopeOne", "CoClustering", *NEIGHBORS):
        row(name)
    return figures


def peers(given: argparse.Namespace) -> Figures:
    """Train, rank the catalogue and compute NDCG@10: against Cornac 3.0 and LensKit 2026.4.

    All have the same split of MovieLens 100K and models as like as the libraries have them;
    training items are left out of the lists.
    """
    kinds: dict[str, Callable[[], Any]] = {
        "BaselineOnly": partial(surprise.BaselineOnly, **QUIET),
        "SVD": partial(surprise.SVD, n_factors=100, n_epochs=20, random_state=0),
        "NMF": partial(surprise.NMF, n_factors=15, n_epochs=50, random_state=0),
    }
    for name, user_based in (("user neighbours", True), ("item neighbours", False)):
        options = {"name": "cosine", "user_based": user_based}
        kinds[name] = partial(surprise.KNNWithMeans, sim_options=options, **QUIET)
    data = Divided(given.copy)
    relevance = data.dense(data.test, 1.0)
    seen = data.dense(data.train, 1.0) > 0
    metric = metrics.parse("ndcg(gain=binary)@10")
    score = dict.fromkeys(kinds, 0.0)

    def evaluate(name: str) -> None:
        model = kinds[name]()
        models.fit(model, data.ours)
        estimates = np.concatenate([block for *_, block in models.catalogue(model, data.users)])
        estimates[seen] = -1e9
        lists = rankings.from_matrix(relevance, estimates)
        score[name] = float(metrics.score([metric], lists)[metric].mean)

    figures = Figures(peers.__doc__, given.seconds)
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch, f"{name}.csv") for name in ("train", "test")]
        for file, rows in zip(files, (data.train, data.test), strict=True):
            frame(data.ratings.take(rows)).to_csv(file, index=False)
        folder = Path(given.venv) if given.venv else Path(scratch, "venv")
        python = python_with(folder, PEERS, base=LENSKIT_PYTHON)
        found = {
            (library, n): answer(calling("peers", "models", library, *files, python=python), n)
            for library in ("Cornac", "LensKit")
            for n in dict.fromkeys((1, n_threads()))
        }
    for name in kinds:
        evaluate(name)  # compile, or load what was compiled
        ours = figures.measure({"harness": partial(evaluate, name)})
        theirs, note = [], f"NDCG@10 {score[name]:.4f}"
        for (library, n), answers in found.items():
            if name in answers and (n == 1 or is_parallel(answers[name])):
                mean = answers[name].pop("mean")
                note += f"; {library} {mean:.4f}" * (n == 1)
                theirs.append({"side": library, "threads": n} | answers[name])
        figures.add(name, theirs + ours, 1, note)
    return figures


def libraries(given: argparse.Namespace) -> dict[str, Any]:
    """Run models of several libraries with one thread and with all: NDCG@10 and seconds a fold.

    Each run has a cache of its own, so that nothing is taken from an earlier one; the libraries'
    environments and the data are those of the usual cache.
    """
    own = cache_folder()
    rows = []
    for n in dict.fromkeys((1, n_threads())):
        with tempfile.TemporaryDirectory() as scratch:
            for part in ("libraries", "datasets"):
                (own / part).mkdir(parents=True, exist_ok=True)
                Path(scratch, part).symlink_to(own / part)
            command = [sys.executable, "-m", "harness", "run", "other-libraries", "-q"]
            command += ["--results", scratch, "--set", "statistics=null"]
            command += ["--set", f"dataset={json.dumps(ml_100k(given.copy))}"]
            limits = environment(n) | {"HARNESS_CACHE": scratch}
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=limits)
            rows += quality_and_seconds(harness.read_run(Path(scratch, "other-libraries")), n)
    return {"rows": rows, "missed": False}


def quality_and_seconds(run: harness.Run, n: int) -> list[dict[str, Any]]:
    """Print and return a row for each algorithm; seconds are those of the catalogue."""
    table, rows = run.table.set_index("algorithm"), []
    rated, every = (table[table["candidates"] == kind] for kind in ("rated", "catalogue"))
    for name in every.index:
        quality = {"rated": rated["ndcg@10"][name], "catalogue": every["ndcg@10"][name]}
        times = {key: every[f"{key}_seconds"][name] for key in ("fit", "score")}
        rows.append({"work": name, "threads": n} | quality | times)
        print(*rows[-1].values(), flush=True)
    return rows


def in_processes(
    given: argparse.Namespace, rows: list[dict[str, Any]], task: str, argument: Any, n: int
) -> None:
    """Print and keep medians over processes, and the processes' CPU seconds, spread and number."""
    found: list[dict[str, float]] = []
    command = calling("speed", task, argument)
    rule = measure(lambda: found.append(answer(command, n)), given.seconds)
    row = {key: float(np.median([each[key] for each in found])) for key in found[0]}
    row |= {"CPU, s": rule["cpu"], "spread": rule["spread"], "runs": rule["runs"]}
    rows.append({"threads": n} | row)
    print(argument, *(f"{key}: {value:.4g}" for key, value in rows[-1].items()), flush=True)


def growth(given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of fitting from 0.25 to 16 million made-up ratings, and the exponent from 1 million.

    Users grow with the ratings and items with their square root, as in MovieLens. One thread on
    both sides: these fits use no more. Surprise stands beside it as far as its time and memory go.
    At most 1.2 is promised for all but NMF.
    """
    work: dict[str, tuple[Any, dict[str, Any], float]] = {
        "SVD": (surprise.SVD, {"random_state": 0}, 4),
        "SVD++": (surprise.SVDpp, {"random_state": 0, "cache_ratings": True}, 0.25),
        "NMF": (surprise.NMF, {"random_state": 0}, 1),
        "BaselineOnly": (surprise.BaselineOnly, QUIET, 4),
    }
    rows, exponents = [], {}
    for millions in (0.25, 1, 4, 16):
        shape = {
            "n_users": int(6_500 * millions),
            "n_items": int(4_000 * millions**0.5),
            "n_ratings": int(1_000_000 * millions),
        }
        ratings = datasets.load({"name": "synthetic", "synthetic": shape})
        ours = ColumnTrainset.of_ratings(ratings)
        theirs = plain_data(ratings).build_full_trainset() if millions <= 4 else None
        for name, (kind, options, most) in work.items():
            few = ColumnTrainset.of_ratings(ratings, slice(0, 1000))
            models.fit(kind(**options), few)  # compile on little
            tasks: dict[str, Callable[[], object]] = {
                "harness": lambda k=kind, p=options, data=ours: models.fit(k(**p), data)
            }
            if millions <= most:
                tasks["Surprise"] = lambda k=kind, p=options, data=theirs: k(**p).fit(data)
            for side, task in tasks.items():
                with threads(1), silence():
                    found = measure(task, given.seconds)
                rows.append({"fit": name, "side": side, "millions": millions} | found)
                print(*rows[-1].values(), flush=True)
    for name in work:
        points = [
            (row["millions"], row["wall"])
            for row in rows
            if (row["fit"], row["side"]) == (name, "harness") and row["millions"] >= 1
        ]
        exponents[name] = float(np.polyfit(*np.log(np.array(points)).T, 1)[0])
        print(f"{name:14} exponent {exponents[name]:.2f}")
    missed = any(value > 1.2 for name, value in exponents.items() if name != "NMF")
    return {"rows": rows, "exponents": exponents, "missed": missed}


SIZES = {
    "1M": {"n_users": 6_040, "n_items": 3_706, "n_ratings": 1_000_209},
    "10M": {"n_users": 69_878, "n_items": 10_677, "n_ratings": 10_000_054},
    "25M": {"n_users": 162_541, "n_items": 59_047, "n_ratings": 25_000_095},
}
N_EPOCHS = 20


def large(given: argparse.Namespace) -> dict[str, Any]:
    """Run SVD on made-up ratings of the shapes of MovieLens 1M and 25M: NDCG@10 of rated items.

    At 1M of the catalogue too, which `lists` orders at 25M. At most 12 GB, and per rating and
    epoch at most 2.5 times the seconds of a million ratings.
    """
    rows: list[dict[str, Any]] = []
    for size, n in itertools.product(("1M", "25M"), dict.fromkeys((1, n_threads()))):
        in_processes(given, rows, "measure_run", size, n)
        rows[-1] = {"data": size} | rows[-1]
    slower = rows[-1][PER_RATING] / rows[len(rows) // 2 - 1][PER_RATING]  # all threads, both
    print(f"{slower:.2f} times the seconds per rating and epoch")
    return {"rows": rows, "missed": slower > 2.5 or rows[-1]["peak GB"] > 12}


PER_RATING = "nanoseconds per rating and epoch"


def measure_run(size: str) -> dict[str, float]:
    """Return the seconds of each stage of a run."""
    config: dict[str, Any] = {
        "dataset": {"synthetic": SIZES["1M"]},
        "split": {"kind": "holdout", "test_size": 0.2},
        "candidates": ["rated", "catalogue"] if size == "1M" else "rated",
        "algorithms": [{"name": "SVD", "params": {"n_factors": 100, "n_epochs": 1}}],
        "metrics": ["ndcg@10"],
        "baselines": False,
        "statistics": None,
    }
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        harness.run(config, results=None)  # compile, or load what was compiled
        config["dataset"] = {"synthetic": SIZES[size]}
        config["algorithms"][0]["params"]["n_epochs"] = N_EPOCHS
        begun = time.perf_counter()
        done = harness.run(config, results=None)
        whole = time.perf_counter() - begun
    found: dict[str, float] = {"whole run, s": whole}
    for cell in done.info.finished:
        for stage in ("fit", "score", "metric"):
            found[f"{cell.candidates}: {stage}, s"] = getattr(cell, f"{stage}_seconds")
    n_train = done.info.splits[0].n_train
    fit = min(cell.fit_seconds for cell in done.info.finished)
    return found | {PER_RATING: 1e9 * fit / n_train / N_EPOCHS}


LISTED = (
    *(("1M", name) for name in ("SVD", "BaselineOnly", "KNNBaseline")),
    *(("10M", "SVD"), ("10M", "BaselineOnly"), ("25M", "SVD")),
)
"""Neighbours alone take long for more: ten minutes for 10M on two idle cores."""
ITEM_NEIGHBOURS = {"sim_options": {"name": "pearson_baseline", "user_based": False}}


def lists(given: argparse.Namespace) -> dict[str, Any]:
    """Ten items for each user, at the shapes of MovieLens 1M, 10M and 25M, made up.

    Each row is a new process that reads, fits and writes a CSV file as ``harness recommend`` does;
    beside it Surprise and NumPy, where the matrix of what users rated fits into memory. Lists come
    in blocks of users: they must add less than half a gigabyte to the peak. At 25M with all
    threads alone.
    """
    rows: list[dict[str, Any]] = []
    for size, name in LISTED:
        with_numpy = size == "1M" and not name.startswith("KNN")
        for side in ("NumPy", "harness") if with_numpy else ("harness",):
            for n in dict.fromkeys((n_threads(),) if size == "25M" else (1, n_threads())):
                in_processes(given, rows, "measure_lists", [size, name, side], n)
                rows[-1] = {"data": size, "algorithm": name, "side": side} | rows[-1]
        sums = [each["sum"] for each in rows if (each["data"], each["algorithm"]) == (size, name)]
        np.testing.assert_allclose(sums, sums[0], rtol=1e-9, err_msg=f"{size} {name}: estimates")
    for row in rows:
        del row["sum"]
    missed = any(row["lists, GB"] > 0.5 for row in rows if row["side"] == "harness")
    return {"rows": rows, "missed": missed}


def measure_lists(what: tuple[str, str, str]) -> dict[str, float]:
    """Return the seconds of each stage, what lists add to the peak, and the sum of estimates."""
    size, name, side = what
    options = params(name) | (ITEM_NEIGHBOURS if name.startswith("KNN") else {})
    config: dict[str, Any] = {
        "dataset": {"synthetic": SIZES[size]},
        "algorithms": [{"name": name, "params": options}],
        "metrics": ["ndcg@10"],
        "baselines": False,
    }
    moments: dict[str, float] = {}

    def note(stage: str, done: int = 0, total: int = 0) -> None:
        moments.setdefault(stage, time.perf_counter())

    models.warm_up(name, options)
    if side == "harness":
        model = harness.fit_row(config, progress=note)
        blocks = harness.recommend_in_blocks(model, n=10)
    else:
        note("loading")
        train = plain_data(datasets.load(config["dataset"])).build_full_trainset()
        note("fitting")
        with silence():
            model = getattr(surprise, name)(**options).fit(train)
        blocks = plain.lists(model)
    fitted, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    total = 0.0
    with tempfile.TemporaryFile("w") as file:
        for block in blocks:
            block.to_csv(file, index=False, header=False)
            total += block["estimate"].sum()
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "load, s": moments["fitting"] - moments["loading"],
        "fit, s": fitted - moments["fitting"],
        "lists, s": time.perf_counter() - fitted,
        "lists, GB": added * 1024 / 1e9,
        "sum": total,
    }


SUBJECTS: dict[str, Callable[[argparse.Namespace], Figures | dict[str, Any]]] = {
    each.__name__: each
    for each in (
        *(script, cross_validation, fits, catalogue, peers, libraries, growth, large, lists),
    )
}


def main() -> int:
    parser = command_line(__doc__, seconds=3.0)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--copy", default="", help="a copy of ml-100k in place of a download")
    parser.add_argument("--venv", default="", help="of the peers; one is made unless this has them")
    given = parser.parse_args()
    found = SUBJECTS[given.subject](given)
    if isinstance(found, Figures):
        missed = any(row.pop("missed") for row in found.rows)
        found = {"title": found.title, "rows": found.rows}
    else:
        missed = found.pop("missed")
    keep(given.output, found)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
