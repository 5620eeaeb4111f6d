"""Speed against the other side on equal work: both in one run, on the same ratings.

    python benchmarks/speed.py SUBJECT [--copy ml-100k] [--output figures.json] [--repeats N]

Subjects: script, cross_validation, fits, catalogue, peers, libraries, metrics, growth, large and
lists. Each compares the numbers of both sides before it prints their times, libraries beside them;
exit code 1 if a ratio is below its bar.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import harness
from harness import datasets, metrics, rankings
from harness.algorithms import models, surprise
from harness.algorithms.libraries import THREADS
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets import Ratings, cache_folder
from harness.kernels import n_threads
from harness.results.environment import Machine

HERE = Path(__file__).parent
SEEDED = ("SVD", "SVDpp", "NMF", "CoClustering")
NEIGHBORS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
QUIET: dict[str, Any] = {"verbose": False}
PEERS = {
    "models": ("cornac==3.0.*", "lenskit==2025.8.*"),
    "metrics": (
        *("numpy<2", "ranx==0.3.21", "rectools==0.19.0"),
        *("pytrec-eval-terrier==0.5.11", "scikit-learn==1.9.1"),
    ),
}


class Figures:
    """What a benchmark measured, printed as it comes."""

    def __init__(self, title: str, against: str = "Surprise") -> None:
        self.title, self.against = title, against
        self.rows: list[dict[str, Any]] = []
        print(
            f"\n{title}\n\n{'':34} {against + ' s':>12} {'harness s':>10} {'ratio':>7} {'bar':>5}"
        )

    def add(
        self, work: str, theirs: float, ours: float, bar: float | None = None, note: str = ""
    ) -> None:
        """Print and keep one line: seconds on either side, and the least ratio that is promised."""
        ratio = theirs / ours
        missed = bar is not None and ratio < bar
        self.rows.append(
            {"work": work, "theirs": theirs, "ours": ours, "bar": bar, "note": note}
            | {"ratio": round(ratio, 2), "missed": missed}
        )
        shown = "" if bar is None else f"{bar:g}"
        end = f"{' MISSED' if missed else ''}  {note}".rstrip()
        print(f"{work:34} {theirs:12.3f} {ours:10.4f} {ratio:7.1f} {shown:>5}{end}", flush=True)


def columns(ratings: Ratings, rows: Any = slice(None)) -> ColumnTrainset:
    """Build this package's training set of some rows."""
    return ColumnTrainset.from_columns(
        ratings.users[rows],
        ratings.items[rows],
        ratings.ratings[rows],
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        scale=ratings.scale,
    )


def frame(ratings: Ratings, rows: Any = slice(None)) -> pd.DataFrame:
    """Return rows with the ids of the file."""
    return pd.DataFrame(
        {
            "user": ratings.user_ids[ratings.users[rows]],
            "item": ratings.item_ids[ratings.items[rows]],
            "rating": ratings.ratings[rows],
        }
    )


def plain_data(ratings: Ratings, rows: Any = slice(None)) -> Any:
    """Return rows as a `surprise.Dataset`, in the same order."""
    reader = surprise.Reader(rating_scale=ratings.scale)
    return surprise.Dataset.load_from_df(frame(ratings, rows), reader)


def three_quarters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows as Surprise's ``train_test_split(test_size=0.25, random_state=42)`` does."""
    order = np.random.RandomState(42).permutation(n)
    n_test = int(np.ceil(0.25 * n))
    return order[: n - n_test], order[n - n_test :]


def seconds(task: Callable[[], Any], repeats: int = 1) -> float:
    """Return the least time of several repetitions."""
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


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


def divided(copy: str) -> tuple[Ratings, Any, ColumnTrainset, np.ndarray]:
    """Return MovieLens 100K, the training sets of both sides, and the rows of the test set."""
    ratings = datasets.load(ml_100k(copy))
    train, test = three_quarters(len(ratings.users))
    theirs = plain_data(ratings, train).build_full_trainset()
    return ratings, theirs, columns(ratings, train), test


def script(given: argparse.Namespace) -> Figures:
    """Nine algorithms over the whole catalogue of MovieLens 100K: a plain script against one run.

    The script fits each algorithm, asks ``predict`` for every training item and test user, and
    computes NDCG@10 with linear gain and averaged ties user by user.
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
    figures = Figures((script.__doc__ or "").splitlines()[0], "plain")
    with tempfile.TemporaryDirectory() as folder:
        first = {"HARNESS_CACHE": f"{folder}/first", "NUMBA_CACHE_DIR": f"{folder}/numba"}
        code = "import json, sys, harness; harness.run(json.loads(sys.argv[1]), results=None)"
        command = [sys.executable, "-c", code, json.dumps(config)]
        cold = seconds(lambda: subprocess.run(command, env=os.environ | first, check=True))
    one_run = partial(harness.run, config, results=None, fresh=True)
    found = one_run().table.set_index("algorithm")[label]
    warm = seconds(one_run, given.repeats or 3)
    ratings, trainset, _, test = divided(given.copy)
    expected: dict[str, float] = {}
    with silence():
        slow = seconds(lambda: expected.update(plain_script(names, ratings, trainset, test)))
    for name in names:
        assert round(found[name], 6) == round(expected[name], 6), (name, found, expected)
    figures.add("nine algorithms, warm", slow, warm, 60, "NDCG equal to 6 digits")
    figures.add("nine algorithms, first process", slow, cold, 15, "compiling included")
    return figures


def plain_script(
    names: tuple[str, ...], ratings: Ratings, trainset: Any, test: np.ndarray
) -> dict[str, float]:
    """Do what the published script does, with Surprise and NumPy alone."""
    items = [trainset.to_raw_iid(inner) for inner in trainset.all_items()]
    position = {item: column for column, item in enumerate(items)}
    rated = {
        user: [
            (position[i], r) for i, r in zip(rows.item, rows.rating, strict=True) if i in position
        ]
        for user, rows in frame(ratings, test).groupby("user", sort=False)
    }
    scores = {}
    for name in names:
        model = getattr(surprise, name)(**params(name)).fit(trainset)
        total = 0.0
        for user, relevant in rated.items():
            estimates = np.array([model.predict(user, item).est for item in items])
            relevance = np.zeros(len(items))
            for column, rating in relevant:
                relevance[column] = rating
            total += plain_ndcg(estimates, relevance)
        scores[name] = total / len(rated)
    return scores


def plain_ndcg(estimates: np.ndarray, relevance: np.ndarray, k: int = 10) -> float:
    """Return NDCG@k with linear gain, each item of a tie counting as the tie's mean."""
    discount = np.zeros(len(relevance))
    discount[:k] = 1 / np.log2(np.arange(2, k + 2))
    ideal = np.sort(relevance)[::-1] @ discount
    if ideal == 0:
        return 0.0
    _, group, sizes = np.unique(-estimates, return_inverse=True, return_counts=True)
    means = np.bincount(group, relevance) / sizes
    ends = np.cumsum(sizes)
    shares = np.append(0, np.cumsum(discount))
    return float(means @ (shares[ends] - shares[ends - sizes]) / ideal)


def cross_validation(given: argparse.Namespace) -> Figures:
    """RMSE and MAE of ten algorithms by 5-fold cross-validation of MovieLens 100K."""
    names = (*SEEDED, *NEIGHBORS[:2], NEIGHBORS[3], "SlopeOne", "BaselineOnly", "NormalPredictor")
    config = {
        "dataset": ml_100k(given.copy),
        "split": {"kind": "kfold", "n_splits": 5, "random_state": 0},
        "candidates": "rated",
        "algorithms": [{"name": name, "params": params(name)} for name in names],
        "metrics": ["rmse", "mae"],
        "seed": 0,
    }
    figures = Figures(cross_validation.__doc__ or "")
    one_run = partial(harness.run, config, results=None, fresh=True)
    found = one_run().table.set_index("algorithm")
    fast = seconds(one_run, given.repeats or 3)
    data = plain_data(datasets.load(ml_100k(given.copy)))
    folds = surprise.model_selection.KFold(n_splits=5, random_state=0)

    def plain() -> None:
        for name in names:
            model = getattr(surprise, name)(**params(name))
            scores = surprise.model_selection.cross_validate(model, data, ["rmse", "mae"], folds)
            if name != "NormalPredictor":  # which no seed reaches in Surprise
                expected = scores["test_rmse"].mean(), scores["test_mae"].mean()
                both = found.rmse[name], found.mae[name]
                np.testing.assert_allclose(both, expected, rtol=1e-9, err_msg=name)

    with silence():
        slow = seconds(plain)
    figures.add("ten algorithms, five folds", slow, fast, 25, "RMSE and MAE equal to 1e-9")
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
    for measure in ("msd", "cosine", "pearson", "pearson_baseline"):
        for side, user_based in (("users", True), ("items", False)):
            options = {"sim_options": {"name": measure, "user_based": user_based}}
            work.append((f"{measure}, {side}", surprise.KNNBasic, options | QUIET, 5))
    _, theirs, ours, _ = divided(given.copy)
    figures = Figures(fits.__doc__ or "")
    for name, kind, options, bar in work:
        models.fit(kind(**options), ours)  # compile, or load what was compiled
        slow = seconds(partial(lambda k, p: k(**p).fit(theirs), kind, options), 3)
        fast = seconds(
            partial(lambda k, p: models.fit(k(**p), ours), kind, options), given.repeats or 10
        )
        figures.add(name, slow, fast, bar)
    return figures


def catalogue(given: argparse.Namespace) -> Figures:
    """Scoring every training item for every test user of MovieLens 100K, 75% in training."""
    ratings, theirs, ours, test = divided(given.copy)
    users = np.unique(ratings.users[test])
    user_names, item_names = ours.raw_users(users), ours.raw_items(ours.item_codes)
    expected = np.empty((len(users), len(item_names)))
    found = np.empty_like(expected)
    figures = Figures(catalogue.__doc__ or "")
    for name in ("SVD", "SVDpp", "NMF", "BaselineOnly", "SlopeOne", "CoClustering", *NEIGHBORS):
        model, accelerated = (getattr(surprise, name)(**params(name)) for _ in range(2))
        with silence():
            models.fit(model, theirs)
            models.fit(accelerated, ours)

        def predict(model: Any = model) -> None:
            for row, user in enumerate(user_names):
                expected[row] = [model.predict(user, item).est for item in item_names]

        def score(model: Any = accelerated) -> None:
            for start, stop, estimates in models.catalogue(model, users):
                found[start:stop] = estimates

        score()  # compile, or load what was compiled
        slow, fast = seconds(predict), seconds(score, given.repeats or 5)
        largest = np.abs(expected - found).max()
        assert largest < 1e-9, f"{name}: estimates differ by {largest}"
        bar = 60 if name in NEIGHBORS else 100
        figures.add(name, slow, fast, bar, f"largest difference {largest:.0e}")
    return figures


def peer(given: argparse.Namespace, group: str, *arguments: object) -> dict[str, list[float]]:
    """Run a group of peers in a virtual environment of their own; it is made unless named."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(given.venv or scratch)
        if not (python := folder / "bin" / "python").exists():
            print(f"installing {', '.join(PEERS[group])} ...", flush=True)
            venv.create(folder, with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "-q", *PEERS[group]], check=True)
        command = [python, HERE / "peers.py", *map(str, arguments)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(answer.stdout))


def peers(given: argparse.Namespace) -> Figures:
    """Train, rank the catalogue and compute NDCG@10: against Cornac 3.0 and LensKit 2025.8.

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
    ratings, _, ours, test = divided(given.copy)
    train, _ = three_quarters(len(ratings.users))
    users = np.unique(ratings.users[test])
    relevance = np.zeros((ratings.n_users, ratings.n_items))
    relevance[ratings.users[test], ratings.items[test]] = 1
    relevance = relevance[users][:, ours.item_codes]
    seen = np.zeros((ratings.n_users, ratings.n_items), dtype=bool)
    seen[ratings.users[train], ratings.items[train]] = True
    seen = seen[users][:, ours.item_codes]
    metric = metrics.parse("ndcg(gain=binary)@10")

    def evaluate(kind: Callable[[], Any]) -> float:
        model = kind()
        models.fit(model, ours)
        estimates = np.concatenate([block for *_, block in models.catalogue(model, users)])
        estimates[seen] = -1e9
        lists = rankings.from_matrix(relevance, estimates)
        return float(metrics.score([metric], lists)[metric].mean)

    figures = Figures((peers.__doc__ or "").splitlines()[0], "peer")
    with tempfile.TemporaryDirectory() as scratch:
        files = [Path(scratch, f"{name}.csv") for name in ("train", "test")]
        for file, rows in zip(files, (train, test), strict=True):
            frame(ratings, rows).to_csv(file, index=False)
        for library in ("cornac", "lenskit"):
            for name, (theirs, mean) in peer(given, "models", library, *files).items():
                score = evaluate(kinds[name])
                fast = seconds(partial(evaluate, kinds[name]), given.repeats or 5)
                note = f"NDCG@10 {mean:.4f} and {score:.4f}"
                figures.add(f"{library}, {name}", theirs, fast, 1, note)
    return figures


def libraries(given: argparse.Namespace) -> dict[str, Any]:
    """Run models of several libraries with one thread and with all: NDCG@10 and seconds a fold.

    Each run has a cache of its own, so that nothing is taken from an earlier one; the libraries'
    environments and the data are those of the usual cache.
    """
    every, own = n_threads(), cache_folder()
    found = {}
    for threads in dict.fromkeys((1, every)):
        with tempfile.TemporaryDirectory() as scratch:
            for part in ("libraries", "datasets"):
                (own / part).mkdir(parents=True, exist_ok=True)
                Path(scratch, part).symlink_to(own / part)
            limits = dict.fromkeys((*THREADS, "HARNESS_THREADS"), str(threads))
            command = [sys.executable, "-m", "harness", "run", "other-libraries", "-q"]
            command += ["--results", scratch, "--set", "statistics=null"]
            command += ["--set", f"dataset={json.dumps(ml_100k(given.copy))}"]
            environment = os.environ | limits | {"HARNESS_CACHE": scratch}
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            found[threads] = harness.read_run(Path(scratch, "other-libraries"))
        print(found[threads].table[["candidates", "algorithm", *QUALITY_AND_SECONDS]].to_string())
    return {"rows": quality_and_seconds(found), "missed": False}


QUALITY_AND_SECONDS = ["ndcg@10", "fit_seconds", "score_seconds"]


def quality_and_seconds(runs: Mapping[int, harness.Run]) -> list[dict[str, Any]]:
    """Return a row for each algorithm and number of threads; seconds are those of the catalogue."""
    rows = []
    for threads, run in runs.items():
        tables = run.table.set_index(["candidates", "algorithm"])[QUALITY_AND_SECONDS]
        for name, catalogue in tables.loc["catalogue"].iterrows():
            quality = {
                "rated": tables.loc["rated", "ndcg@10"][name],
                "catalogue": catalogue.iloc[0],
            }
            times = {"fit": catalogue["fit_seconds"], "score": catalogue["score_seconds"]}
            rows.append({"work": name, "threads": threads} | quality | times)
    return rows


CUTS = "1,3,5,10,20,50"
SAME = {
    "plain Python loop": "ndcg(ties=first)@10",
    "scikit-learn": "ndcg(gain=linear)@10",
    "rectools": "ndcg(gain=binary(4), ideal=full, ties=first)@10",
    "pytrec-eval": "ndcg(gain=linear, ties=first)@10",
    "ranx": "ndcg(ties=first)@10",
}
"""What each peer computes, to compare the numbers before the times."""
OTHER_TIES = ("pytrec-eval", "ranx")  # by document id; by an unstable sort from 16 items on


def made_up_columns(n_rows: int, rows_per_user: int = 40) -> tuple[np.ndarray, ...]:
    """Draw users, items, estimates with many ties, and ratings, in no order; no pair twice."""
    rng = np.random.default_rng(0)
    users = rng.integers(0, max(1, n_rows // rows_per_user), n_rows)
    items = np.empty(n_rows, dtype=np.int64)
    items[np.argsort(users, kind="stable")] = np.arange(n_rows) % 60_000
    estimates = np.clip(np.round(rng.normal(3.5, 0.8, n_rows), 2), 1, 5)
    return users, items, estimates, rng.integers(1, 6, n_rows).astype(np.float64)


def score_columns(
    users: np.ndarray, _: np.ndarray, estimates: np.ndarray, ratings: np.ndarray, ties: str = ""
) -> None:
    """Go from columns to one value per user and rank."""
    lists = rankings.from_pairs(users, estimates, ratings)
    metrics.score(metrics.parse_many(f"ndcg(ties={ties or 'average'})@{CUTS}"), lists)


def metrics_(given: argparse.Namespace) -> Figures:
    """NDCG at six ranks per user, from columns in no order: against five peers, and at 25M rows."""
    figures = Figures(metrics_.__doc__ or "", "peer")
    data = made_up_columns(240_000)
    score_columns(*(column[:1000] for column in data))
    repeats = given.repeats or 15
    ours = seconds(partial(score_columns, *data), repeats)
    first = seconds(partial(score_columns, *data, "first"), repeats)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "columns.npz")
        np.savez(file, **dict(zip(("users", "items", "estimates", "ratings"), data, strict=True)))
        found = peer(given, "metrics", "metrics", file)
    lists = rankings.from_pairs(data[0], data[2], data[3])
    for name, (theirs, mean) in sorted(found.items(), key=lambda each: -each[1][0]):
        same = metrics.parse(SAME[name])
        here = metrics.score([same], lists)[same].mean
        if name not in OTHER_TIES and abs(here - mean) > 1e-9:
            sys.exit(f"{name}: {mean} for {same}, which is {here} here")
        note = f"NDCG@10 {mean:.4f} and {here:.4f}"
        figures.add(f"{name}, 240,000 rows", theirs, ours, 5, note)
    figures.add("ties=average", 1.5 * first, ours, 1, "beside 1.5 times ties=first")
    sizes = (250_000, 2_500_000, 25_000_000)
    grown = [in_a_process("score_many", size) for size in sizes]
    times = [each["seconds"] for each in grown]
    note = ", ".join(f"{n:,} rows {each:.3f} s" for n, each in zip(sizes, times, strict=True))
    steepness = math.log(times[-1] / times[0], sizes[-1] / sizes[0])
    figures.add("exponent of the growth", 1.1, steepness, 1, note)
    figures.add("seconds, 25,000,000 rows", 6.0, times[-1], 1)
    figures.add("gigabytes, 25,000,000 rows", 4.0, grown[-1]["peak GB"], 1)
    return figures


def score_many(n_rows: int) -> dict[str, float]:
    """Return the seconds for so many rows."""
    data = made_up_columns(n_rows, rows_per_user=154)
    score_columns(*(column[: 10**5] for column in data))
    return {"seconds": seconds(partial(score_columns, *data), 5)}


def in_a_process(task: str, argument: object) -> dict[str, float]:
    """Return what a function of this module measures in a new process, and the peak of memory."""
    code = (
        "import json, resource, sys, speed; found = getattr(speed, sys.argv[1])"
        "(json.loads(sys.argv[2])); peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "print(json.dumps(found | {'peak GB': peak * 1024 / 1e9}))"
    )
    command = [sys.executable, "-c", code, task, json.dumps(argument)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=HERE)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def growth(given: argparse.Namespace) -> dict[str, Any]:
    """Seconds of fitting from 0.25 to 16 million made-up ratings, and the exponent from 1 million.

    Users grow with the ratings and items with their square root, as in MovieLens. Surprise stands
    beside it as far as its time and memory go. At most 1.2 is promised for all but NMF.
    """
    work: dict[str, tuple[Any, dict[str, Any], float]] = {
        "SVD": (surprise.SVD, {"random_state": 0}, 4),
        "SVD++": (surprise.SVDpp, {"random_state": 0}, 0.25),
        "NMF": (surprise.NMF, {"random_state": 0}, 1),
        "BaselineOnly": (surprise.BaselineOnly, QUIET, 4),
    }
    found: dict[str, dict[str, list[tuple[float, float]]]] = {
        name: {"harness": [], "surprise": []} for name in work
    }
    print(f"\n{'':14} {'million':>8} {'harness s':>10} {'Surprise s':>11}")
    for millions in (0.25, 1, 4, 16):
        shape = {
            "n_users": int(6_500 * millions),
            "n_items": int(4_000 * millions**0.5),
            "n_ratings": int(1_000_000 * millions),
        }
        ratings = datasets.load({"name": "synthetic", "synthetic": shape})
        ours = columns(ratings)
        theirs = plain_data(ratings).build_full_trainset() if millions <= 4 else None
        for name, (kind, options, most) in work.items():
            models.fit(kind(**options), columns(ratings, slice(0, 1000)))  # compile on little
            fit = partial(lambda k, p, data: models.fit(k(**p), data), kind, options, ours)
            found[name]["harness"].append((millions, seconds(fit, 3 if millions < 4 else 1)))
            if theirs is not None and millions <= most:
                with silence():
                    slow = seconds(
                        partial(lambda k, p, data: k(**p).fit(data), kind, options, theirs)
                    )
                found[name]["surprise"].append((millions, slow))
            line = [f"{sides[-1][1]:10.3f}" for sides in found[name].values() if sides]
            print(f"{name:14} {millions:8g} {' '.join(line)}", flush=True)
    exponents = {}
    for name, sides in found.items():
        size, times = np.log(np.array(sides["harness"][1:])).T
        exponents[name] = float(np.polyfit(size, times, 1)[0])
        print(f"{name:14} exponent {exponents[name]:.2f}")
    missed = any(value > 1.2 for name, value in exponents.items() if name != "NMF")
    return {"seconds": found, "exponents": exponents, "missed": missed}


SIZES = {
    "1M": {"n_users": 6_040, "n_items": 3_706, "n_ratings": 1_000_209},
    "25M": {"n_users": 162_541, "n_items": 59_047, "n_ratings": 25_000_095},
}
N_EPOCHS = 20


def large(given: argparse.Namespace) -> dict[str, Any]:
    """Run on ratings of MovieLens 25M's shape, made up: SVD, rated and catalogue NDCG@10.

    At most 12 GB, and per rating and epoch at most 2.5 times the seconds of a million ratings.
    """
    found = {size: in_a_process("measure_run", size) for size in SIZES}
    for size, each in found.items():
        print(size, *(f"{name} {value:.4g}" for name, value in each.items()), sep="\n  ")
    slower = found["25M"][PER_RATING] / found["1M"][PER_RATING]
    print(f"{slower:.2f} times the seconds per rating and epoch")
    return {"sizes": found, "missed": slower > 2.5 or found["25M"]["peak GB"] > 12}


PER_RATING = "nanoseconds per rating and epoch"


def measure_run(size: str) -> dict[str, float]:
    """Return the seconds of each stage of a run."""
    config: dict[str, Any] = {
        "dataset": {"synthetic": SIZES["1M"]},
        "split": {"kind": "holdout", "test_size": 0.2},
        "candidates": ["rated", "catalogue"],
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


LISTS = SIZES | {"10M": {"n_users": 69_878, "n_items": 10_677, "n_ratings": 10_000_054}}
LISTED = (
    *(("1M", name) for name in ("SVD", "BaselineOnly", "KNNBaseline")),
    *((size, name) for size in ("10M", "25M") for name in ("SVD", "BaselineOnly")),
)
"""Neighbours alone take long for more: ten minutes for 10M on two idle cores."""
ITEM_NEIGHBOURS = {"sim_options": {"name": "pearson_baseline", "user_based": False}}


def lists(given: argparse.Namespace) -> dict[str, Any]:
    """Ten items for each user, at the shapes of MovieLens 1M, 10M and 25M, made up.

    Each row is a new process that reads, fits and writes a CSV file as ``harness recommend`` does.
    Lists come in blocks of users: they must add less than half a gigabyte to the peak.
    """
    rows = []
    for size, name in LISTED:
        found = in_a_process("measure_lists", [size, name])
        rows.append({"data": size, "algorithm": name} | found)
        print(size, name, *(f"{key}: {value:.2f}" for key, value in found.items()), flush=True)
    return {"rows": rows, "missed": any(row["lists, GB"] > 0.5 for row in rows)}


def measure_lists(what: tuple[str, str]) -> dict[str, float]:
    """Return the seconds of each stage, and what the lists add to the peak of memory."""
    size, name = what
    params = ITEM_NEIGHBOURS if name.startswith("KNN") else {}
    config: dict[str, Any] = {
        "dataset": {"synthetic": LISTS[size]},
        "algorithms": [{"name": name, "params": params}],
        "metrics": ["ndcg@10"],
        "baselines": False,
    }
    models.warm_up(name, params)
    moments = {}

    def note(stage: str, done: int, total: int) -> None:
        moments.setdefault(stage, time.perf_counter())

    model = harness.fit_row(config, progress=note)
    fitted, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryFile("w") as file:
        for block in harness.recommend_in_blocks(model, n=10):
            block.to_csv(file, index=False, header=False)
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "load, s": moments["fitting"] - moments["loading"],
        "fit, s": fitted - moments["fitting"],
        "lists, s": time.perf_counter() - fitted,
        "processor, s": time.process_time(),
        "lists, GB": added * 1024 / 1e9,
    }


SUBJECTS: dict[str, Callable[[argparse.Namespace], Figures | dict[str, Any]]] = {
    each.__name__.rstrip("_"): each
    for each in (
        *(script, cross_validation, fits, catalogue, peers, libraries),
        *(metrics_, growth, large, lists),
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--copy", default="", help="a copy of ml-100k in place of a download")
    parser.add_argument("--venv", default="", help="of the peers; one is made unless this has them")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--repeats", type=int, help="how often the harness's side is repeated")
    given = parser.parse_args()
    found = SUBJECTS[given.subject](given)
    if isinstance(found, Figures):
        missed = any(row.pop("missed") for row in found.rows)
        found = {"title": found.title, "against": found.against, "rows": found.rows}
    else:
        missed = found.pop("missed")
    if given.output:
        given.output.write_text(
            json.dumps({"machine": Machine.here().model_dump()} | found, indent=1) + "\n"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
