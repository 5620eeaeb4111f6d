"""What intervals and tests cost beside the run that they speak of, and how exact they are.

Run it with ``python dev/benchmarks/statistics_cost.py PART --threads 1``:

- ``run``: two rows and two metrics at several numbers of users, each with and without statistics in
  a process of its own, and the seconds of each stage;
- ``default``: the config of a newcomer, with nothing switched off (three algorithms, baselines,
  groups, notes), at sizes where some test users have no training rating and at the size of
  MovieLens 25M, beside the same without statistics and analyses;
- ``options``: the same beside what a config can add (groups, seeds, folds, many rows, weights, a
  margin), each with and without statistics, groups and analyses;
- ``growth``: by how much each stage of the default run grows from 10,000 to a million users, with
  and without the seconds in which the system provides memory, beside calls of NumPy on arrays of
  the same sizes; the sizes take turns;
- ``lines``: the ten functions in which the default run at 100,000 users spends most time;
- ``compare``: one comparison from moments and from 10,000 resamples, of one metric and two rows and
  of four metrics and fourteen rows, with the peak of memory, and beside the fits of eleven
  algorithms at the size of MovieLens 25M (``figures/sizes.json``);
- ``accuracy``: ends and p-values from moments beside those of 100,000 resamples, of differences of
  the scores of real users in ``results/``;
- ``coverage``: how often intervals of synthetic scores hold the mean, and tests of equal
  algorithms reject, from moments and from 10,000 resamples of the same users;
- ``committed``: all statistics in ``results/`` again; names those that differ in any digit, and
  says by how much: ends in widths of their interval, p-values in standard errors of their
  difference.
"""

from __future__ import annotations

import cProfile
import json
import os
import pstats
import resource
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from shared import HERE, answer, calling, command_line, keep
from timing import threads

import harness
from harness import statistics
from harness.comparison.inference import infer
from harness.experiment.execute.progress import Stage
from harness.results import read_run
from harness.results.statistics import MetricComparison
from harness.statistics import MANY_USERS
from harness.statistics.expansion import Moments

RESULTS = HERE.parents[1] / "results"
SIZES = [(40_000, 10), (300_000, 10), (1_000_000, 1)]
"""Users, and ratings of each."""
DEFAULT_SIZES = [
    (40_000, 2_000, 10), (40_000, 2_000, 40), (100_000, 5_000, 20), (162_541, 59_047, 154),
]  # fmt: skip
"""Users, items, and ratings of a user in the mean, which few have less than two of."""
GROWING = {10_000: 5, 100_000: 2, 1_000_000: 1}
"""Users, and how often they run in each of the turns."""
TURNS = 4
FEW_SECONDS = 0.005
LARGE = {"name": "25M", "users": 162_541, "rows": 11, "metrics": 4}
SHAPES = ((2, 1), (14, 4))
"""Rows and metrics."""
DRAWN, PAIRS = 100_000, 40


def one_run(n_users: int, n_ratings: int, with_statistics: bool) -> dict[str, Any]:
    """Run two rows and two metrics once in this process; the second of two runs is timed."""
    rng, size = np.random.default_rng(0), n_users * n_ratings
    items = np.minimum((rng.pareto(1.2, size) * 20).astype(int), 4_999)
    users = np.repeat(np.arange(n_users), n_ratings)
    ratings = pd.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 6, size)})
    ratings = ratings.drop_duplicates(["user", "item"])
    config: dict[str, Any] = {
        "split": {"kind": "holdout", "test_size": 0.2},
        "algorithms": ["BaselineOnly", "ItemMean"],
        "metrics": ["ndcg@10", "precision@10"],
        "candidates": "rated",
        "baselines": False,
    }
    if not with_statistics:
        config["statistics"] = None
    with tempfile.TemporaryDirectory() as cache:
        os.environ["HARNESS_CACHE"] = cache
        one_run_of(config, ratings.head(2_000))  # imports and compilation
        return one_run_of(config, ratings)


def runs(n_threads: int) -> list[dict[str, Any]]:
    """Run at each size with and without statistics, and print what they add."""
    rows = []
    for n_users, n_ratings in SIZES:
        for with_statistics in (False, True):
            command = calling("statistics_cost", "one_run", n_users, n_ratings, with_statistics)
            row = {"users": n_users, "statistics": with_statistics} | answer(command, n_threads)
            rows.append(row)
            stages = {name: s for name, s in row["stages"].items() if s >= 0.05 * row["cpu"]}
            shown = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages.items())
            print(
                f"{n_users:,} users, {n_ratings} ratings each, statistics "
                f"{'on' if with_statistics else 'off'}: {row['wall']:.2f} s wall, "
                f"{row['cpu']:.2f} CPU ({shown})",
                flush=True,
            )
        without, full = rows[-2:]
        print(f"  with ÷ without: {full['cpu'] / without['cpu']:.2f} of CPU seconds", flush=True)
    return rows


def option_config(option: str, n_users: int, folder: Path) -> dict[str, Any]:
    """Return the config of a newcomer with one more key; files that it needs are in the folder."""
    size = {"n_users": n_users, "n_items": 2_000, "n_ratings": n_users * 10}
    config: dict[str, Any] = {
        "dataset": {"synthetic": size},
        "algorithms": ["BaselineOnly", "ItemMean", "SVD"],
        "metrics": ["ndcg@10", "precision@10"],
    }
    if option == "column":
        ratings, rng = harness.load(config["dataset"]), np.random.default_rng(0)
        frame = ratings.to_frame()
        frame.to_parquet(folder / "ratings.parquet")
        users = pd.DataFrame({"user": frame["user"].unique()})
        users["region"] = rng.choice(list("ABCDEFGH"), len(users))
        users["age"] = rng.integers(10, 90, len(users))
        users.to_csv(folder / "users.csv", index=False)
        users_file = {"path": str(folder / "users.csv")}
        config["dataset"] = {"path": str(folder / "ratings.parquet"), "users": users_file}
    options = [{"bsl_options": {"method": "als", "reg_u": n}} for n in (1, 2, 4, 8)]
    factors = [{"n_factors": n} for n in (5, 10, 20, 40)]
    rows = [
        *("UserMean", "NormalPredictor", "SlopeOne"),
        *({"name": "BaselineOnly", "label": f"B{n}", "params": options[n]} for n in range(4)),
        *({"name": "SVD", "label": f"S{n}", "params": factors[n]} for n in range(4)),
    ]
    added: dict[str, dict[str, Any]] = {
        "default": {},
        "column": {"groups": [{"users": "region"}, {"users": "age"}]},
        "quantiles": {"groups": [{"users": "training_ratings", "quantiles": 4}]},
        "popularity": {"groups": [{"items": "popularity"}]},
        "seeds": {"seeds": {"split": 5}},
        "folds": {"split": {"kind": "kfold", "n_splits": 5}},
        "rows": {"algorithms": [*config["algorithms"], *rows]},
        "undefined": {"metrics": ["ndcg@10", "recall(threshold=5)@10", "rr"]},
        "weights": {"metrics": ["ndcg@10", "ndcg(weights=popularity)@10"]},
        "margin": {"statistics": {"margin": 0.01}},
        "resamples": {"statistics": {"resamples": 1_000}},
        "t": {"statistics": {"test": "t"}},
    }
    return config | added[option]


OPTIONS = (
    *("default", "column", "quantiles", "popularity", "seeds", "folds", "rows", "undefined"),
    *("weights", "margin", "resamples", "t"),
)


def without_statistics(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config that asks for the same scores and for the least beside them."""
    kept = {key: value for key, value in config.items() if key != "groups"}
    return kept | {"statistics": None, "analyses": ["bounds"]}


def one_run_of(config: dict[str, Any], ratings: pd.DataFrame | None = None) -> dict[str, Any]:
    """Run a config once in this process; return seconds, and processor seconds of each stage.

    Those of the system, which are for the greatest part for new memory, come by themselves too.
    """
    stages: dict[str, float] = {}
    system: dict[str, float] = {}
    last = ["loading", time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_stime]

    def watch(event: object) -> None:
        name = event.stage if isinstance(event, Stage) else last[0]
        now = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_stime
        for seconds, before, after in zip((stages, system), last[1:], now, strict=True):
            seconds[last[0]] = seconds.get(last[0], 0.0) + after - before
        last[:] = [name, *now]

    begun, processor = time.perf_counter(), time.process_time()
    run = harness.run(config, ratings=ratings, results=None, watch=watch)
    watch(None)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - processor
    n_unknown = max(cell.n_unknown_users for cell in run.info.cells)
    return {"wall": seconds, "cpu": cpu, "unknown": n_unknown, "stages": stages, "system": system}


def default_config(n_users: int, n_items: int, n_ratings: int) -> dict[str, Any]:
    """Return what a newcomer writes, with so many ratings of a user in the mean."""
    size = {"n_users": n_users, "n_items": n_items, "n_ratings": n_users * n_ratings}
    return {
        "dataset": {"synthetic": size},
        "algorithms": ["BaselineOnly", "ItemMean", "SVD"],
        "metrics": ["ndcg@10", "precision@10"],
    }


def one_default_run(
    n_users: int, n_items: int, n_ratings: int, with_statistics: bool
) -> dict[str, Any]:
    """Run what a newcomer writes once in this process, after a small run that compiles."""

    def config(n_users: int, n_items: int) -> dict[str, Any]:
        written = default_config(n_users, n_items, n_ratings)
        return written if with_statistics else without_statistics(written)

    with tempfile.TemporaryDirectory() as cache:
        os.environ["HARNESS_CACHE"] = cache
        one_run_of(config(500, 2_000))  # imports and compilation
        return one_run_of(config(n_users, n_items))


def one_optional_run(option: str, n_users: int, with_statistics: bool) -> dict[str, Any]:
    """Run the config with one more key once in this process, after a small run that compiles."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = str(Path(folder) / "cache")
        for size in (500, n_users):
            config = option_config(option, size, Path(folder))
            row = one_run_of(config if with_statistics else without_statistics(config))
        return row


def default_runs(n_threads: int) -> list[dict[str, Any]]:
    """Run the config of a newcomer with and without statistics, and print the ratios."""
    rows = []
    for size in DEFAULT_SIZES:
        pair = []
        for with_statistics in (False, True):
            command = calling("statistics_cost", "one_default_run", *size, with_statistics)
            pair.append(answer(command, n_threads))
        without, full = pair
        row = dict(zip(("users", "items", "ratings"), size, strict=True))
        rows.append(row | {"without": without, "full": full})
        print(
            f"{size[0]:,} users with {size[2]} ratings each, {full['unknown']:,} of the test users "
            f"unknown: {without['cpu']:.1f} CPU s without statistics, {full['cpu']:.1f} with; "
            f"ratio {full['cpu'] / without['cpu']:.2f}",
            flush=True,
        )
    return rows


def optional_runs(n_threads: int, n_users: int = 40_000) -> list[dict[str, Any]]:
    """Run what a config can add with and without statistics, and print the ratios."""
    rows = []
    for option in OPTIONS:
        without, full = (
            answer(calling("statistics_cost", "one_optional_run", option, n_users, how), n_threads)
            for how in (False, True)
        )
        rows.append({"option": option, "users": n_users, "without": without, "full": full})
        print(
            f"{option}: {without['cpu']:.1f} CPU s without statistics, {full['cpu']:.1f} with; "
            f"ratio {full['cpu'] / without['cpu']:.2f}",
            flush=True,
        )
    return rows


def growth(n_threads: int) -> list[dict[str, Any]]:
    """Print by how much each stage grows while the users become a hundred times as many."""
    stages = answer(calling("statistics_cost", "growing_runs"), n_threads)["stages"]
    for way, of_sizes in stages.items():
        for n_users, seconds in of_sizes.items():
            shown = ", ".join(f"{name} {s:.2f}" for name, s in seconds.items() if s > FEW_SECONDS)
            print(f"{int(n_users):,} users, CPU s, {way}: {shown}")
        few, *_, many = of_sizes.values()
        grown = (f"{name} {many[name] / few[name]:.0f}" for name in few if few[name] > FEW_SECONDS)
        print(f"  times as long for {max(GROWING) // min(GROWING)} times the users:", *grown)
    calls = [
        answer(calling("statistics_cost", "calls_of_numpy", n_users * 10), n_threads)["calls"]
        for n_users in GROWING
    ]
    for call, few in calls[0].items():
        many = calls[-1][call]
        print(f"NumPy, {call}: {few:.2g} to {many:.2g} CPU s, {many / few:.0f} times as long")
    return [{"stages": stages, "calls": dict(zip(map(str, GROWING), calls, strict=True))}]


def growing_runs() -> dict[str, Any]:
    """Run the default config at each size in turns; return medians of the stages' seconds."""
    found: dict[int, list[dict[str, Any]]] = {n_users: [] for n_users in GROWING}
    with tempfile.TemporaryDirectory() as folder:
        sizes = [n for _ in range(TURNS) for n, n_runs in GROWING.items() for _ in range(n_runs)]
        for number, n_users in enumerate([500, *sizes]):  # the first imports and compiles
            os.environ["HARNESS_CACHE"] = str(Path(folder) / str(number))  # nothing is reused
            run = one_run_of(default_config(n_users, 2_000, 10))
            if number:
                found[n_users].append(run)
    whole = {str(n): _medians([run["stages"] for run in runs]) for n, runs in found.items()}
    without = {
        str(n): _medians(
            [{name: s - run["system"][name] for name, s in run["stages"].items()} for run in runs]
        )
        for n, runs in found.items()
    }
    return {"stages": {"all": whole, "without the system's": without}}


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.median([run.get(name, 0.0) for run in runs])) for name in runs[0]}


def calls_of_numpy(n: int) -> dict[str, Any]:
    """Return the median processor seconds of calls of NumPy that any run of n ratings needs."""
    order, values = np.random.default_rng(0).permutation(n), np.ones(n)
    calls: dict[str, Callable[[], object]] = {
        "RandomState.permutation of the ratings": lambda: np.random.RandomState(0).permutation(n),
        "one column of the ratings in another order": lambda: values[order],
        "new memory for the factors of the users": lambda: np.ones(n * 10),
    }
    found: dict[str, list[float]] = {call: [] for call in calls}
    for _ in range(7):
        for call, task in calls.items():
            begun = time.process_time()
            task()
            found[call].append(time.process_time() - begun)
    return {"calls": {call: float(np.median(seconds)) for call, seconds in found.items()}}


def lines(n_users: int = 100_000) -> list[dict[str, Any]]:
    """Print the ten functions in which the default run spends most time of its own."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HARNESS_CACHE"] = folder
        one_run_of(option_config("default", 500, Path(folder)))
        config = option_config("default", n_users, Path(folder))
        profile.enable()
        one_run_of(config | {"execution": {"workers": 1}})
        profile.disable()
    stats = pstats.Stats(profile)
    own = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:25]  # type: ignore[attr-defined]
    rows = []
    for (path, number, name), (_, calls, seconds, total, _) in own:
        where = f"{Path(path).name}:{number} {name}" if number else name
        rows.append({"where": where, "calls": calls, "own": seconds, "with callees": total})
        print(f"{seconds:.2f} s in {calls:,} calls ({total:.2f} with what it calls): {where}")
    return rows


def table_of(n_users: int, n_rows: int, seed: int = 0) -> np.ndarray:
    """Return scores such as NDCG has them, with a row's column contiguous in memory."""
    rng = np.random.default_rng(seed)
    scores = np.where(rng.random((n_rows, n_users)) < 0.4, 0.0, rng.beta(1, 3, (n_rows, n_users)))
    return np.asarray(scores.T)


def one_comparison(
    n_users: int, n_rows: int, n_metrics: int, n_resamples: int | None
) -> dict[str, float]:
    """Compare rows by each metric once, after a small comparison that compiles."""
    names = [str(row) for row in range(n_rows)]
    statistics.compare(table_of(MANY_USERS, 2), ["a", "b"])
    statistics.compare(table_of(MANY_USERS, 2), ["a", "b"], n_resamples=100)
    tables = [table_of(n_users, n_rows, seed) for seed in range(n_metrics)]
    begun, processor = time.perf_counter(), time.process_time()
    draws = statistics.Draws()
    for table in tables if n_users < MANY_USERS else ():
        draws.expect(table)
    for table in tables:
        statistics.compare(table, names, n_resamples=n_resamples, draws=draws)
    seconds, cpu = time.perf_counter() - begun, time.process_time() - processor
    tracemalloc.start()
    statistics.compare(tables[0], names, n_resamples=n_resamples and 1_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"wall": seconds, "cpu": cpu, "mb": peak / 1e6}


def comparisons(n_threads: int) -> list[dict[str, Any]]:
    """Time comparisons from moments and from resamples, and print their ratios."""
    cases = [
        *((n, *shape, None) for n in (5_000, 40_000, 300_000, 1_000_000) for shape in SHAPES),
        *((40_000, *shape, 10_000) for shape in SHAPES),
        (300_000, *SHAPES[0], 10_000),
        (LARGE["users"], LARGE["rows"], LARGE["metrics"], None),
    ]
    rows: list[dict[str, Any]] = []
    for n_users, n_rows, n_metrics, n_resamples in cases:
        command = calling(
            "statistics_cost", "one_comparison", n_users, n_rows, n_metrics, n_resamples
        )
        row = {"users": n_users, "rows": n_rows, "metrics": n_metrics, "resamples": n_resamples}
        rows.append(row | answer(command, n_threads))
        how = "moments" if n_resamples is None and n_users >= MANY_USERS else "resamples"
        print(
            f"{n_users:,} users, {n_rows} rows, {n_metrics} metrics, from {how}: "
            f"{rows[-1]['wall']:.3f} s wall, {rows[-1]['cpu']:.3f} CPU, "
            f"{rows[-1]['mb']:.0f} MB above the scores",
            flush=True,
        )
    sizes = json.loads((HERE / "figures/sizes.json").read_text("utf-8"))["rows"]
    fits = [
        row["fit"] + row["rated"]
        for row in sizes
        if (row["data"], row["side"]) == (LARGE["name"], "harness") and "rated" in row
    ]
    share = rows[-1]["wall"] / sum(fits)
    print(f"of {len(fits)} rows that fit and rank in {sum(fits):.0f} s at 25M: {share:.2%}")
    return rows


def real_scores() -> Iterator[tuple[str, np.ndarray]]:
    """Yield differences of real users' scores, many of them: those of all folds and seeds."""
    for folder in sorted(RESULTS.iterdir()):
        if not (folder / "users.parquet").exists():
            continue
        run = read_run(folder)
        for _, users in run.users.groupby("table"):
            for label in (metric.metric for metric in run.info.statistics):
                scores = users.pivot_table(
                    index=["seed", "fold", "user"], columns="algorithm", values=label
                )
                scores = scores.dropna()
                if len(scores) < 1_000:
                    continue
                for one, other in combinations(scores.columns, 2):
                    name = f"{folder.name}, {label}: {one} − {other}"
                    yield name, (scores[one] - scores[other]).to_numpy()


def accuracy() -> dict[str, Any]:
    """Compare moments with resamples on real differences of as many users as moments are for."""
    rng = np.random.default_rng(1)
    pool = [(name, values) for name, values in real_scores() if values.any()]
    names, columns = [], []
    for place in rng.permutation(len(pool))[:PAIRS]:
        name, values = pool[place]
        users = rng.choice(values, MANY_USERS, replace=len(values) < MANY_USERS)
        # Most pairs differ so much that p is 0; where users trade sides at random, it is not.
        traded = users * rng.choice([-1.0, 1.0], MANY_USERS)
        names += [name, f"{name}, traded"]
        columns += [users, traded]
    moments = Moments.of_columns(np.array(columns))
    places = np.flatnonzero(moments.has_interval & moments.has_test)
    print(f"{len(columns) - len(places)} of {len(columns)} columns have too few effective users")
    table, names = np.column_stack(columns)[:, places], [names[place] for place in places]
    low, high = statistics.bootstrap_interval(table)
    drawn_low, drawn_high = statistics.bootstrap_interval(table, n_resamples=DRAWN)
    p, drawn_p = (statistics.randomisation(table, n) for n in (None, DRAWN))
    ends = np.maximum(np.abs(low - drawn_low), np.abs(high - drawn_high)) / (drawn_high - drawn_low)
    noises = np.abs(p - drawn_p) / (np.sqrt(p * (1 - p) / DRAWN) + 1 / DRAWN)
    for name, *values in zip(names, ends, p, drawn_p, strict=True):
        print("{}: ends {:.2%} of the width, p {:.3g} and {:.3g}".format(name, *values))
    print(
        f"{len(names)} columns of {MANY_USERS:,} users, {DRAWN:,} resamples: ends differ by "
        f"{np.median(ends):.2%} of the width in the median and {ends.max():.2%} at most; p-values "
        f"by {np.median(noises):.2f} and {noises.max():.2f} standard errors"
    )
    rows = zip(names, ends.tolist(), p.tolist(), drawn_p.tolist(), strict=True)
    return {"users": MANY_USERS, "resamples": DRAWN, "rows": [*rows]}


def coverage(n_draws: int = 500) -> dict[str, Any]:
    """Return how often intervals hold the true mean and tests reject equal algorithms."""
    rng, shape = np.random.default_rng(2), (MANY_USERS, n_draws)
    one, other = (np.where(rng.random(shape) < 0.4, 0.0, rng.beta(1, 3, shape)) for _ in range(2))
    shares: dict[str, Any] = {"users": MANY_USERS, "draws": n_draws}
    for how, n_resamples in (("moments", None), ("resamples", 10_000)):
        low, high = statistics.bootstrap_interval(one, n_resamples=n_resamples)
        held = float(np.mean((low <= 0.15) & (high >= 0.15)))
        rejected = float(np.mean(statistics.randomisation(one - other, n_resamples) <= 0.05))
        shares[how] = {"held": held, "rejected": rejected}
        print(f"{how}: {held:.1%} of 95% intervals hold the mean, {rejected:.1%} rejected at 5%")
    return shares


def committed() -> dict[str, Any]:
    """Compute the statistics of all committed runs again; say how those that differ do."""
    different = []
    for folder in sorted(RESULTS.iterdir()):
        if not (folder / "users.parquet").exists():
            continue
        run = read_run(folder)
        info, experiment = run.info, run.info.experiment
        found, _ = infer(
            run.users, info.metrics, info.cells, experiment.statistics, experiment.seed[0],
            experiment.draws, info.splits,
        )  # fmt: skip
        same = found == info.statistics
        different += [] if same else [folder.name]
        change = "the same digits" if same else change_of(info.statistics, found)
        print(f"{folder.name}: {len(found)} metrics, {change}", flush=True)
    return {"different": different}


def change_of(before: list[MetricComparison], after: list[MetricComparison]) -> str:
    """Return how far apart the same comparisons from other draws are."""
    ends, noises, decisions = [0.0], [0.0], []
    for one, other in zip(before, after, strict=True):
        for old, new in zip(
            [*one.algorithms, *one.pairs], [*other.algorithms, *other.pairs], strict=True
        ):
            moved = max(abs(old.low - new.low), abs(old.high - new.high))
            ends.append(moved / (old.high - old.low) if moved else 0.0)
        for old, new in zip(one.pairs, other.pairs, strict=True):
            p = (old.p + new.p) / 2
            if not (old.p_is_bound or new.p_is_bound):
                noises.append(abs(old.p - new.p) / (np.sqrt(2 * p * (1 - p) / 1e4) + 1e-4))
            if old.significant != new.significant:
                ps = f"{old.p_adjusted:.3g} and {new.p_adjusted:.3g}"
                decisions.append(f"{one.metric}, {old.first} and {old.second}: {ps}")
    return (
        f"{len(ends) - 1} intervals, whose ends differ by {np.median(ends):.2%} of their width in "
        f"the median and {max(ends):.2%} at most; p-values by {max(noises):.1f} standard errors at "
        f"most; decided otherwise, with adjusted p: {'; '.join(decisions) or 'none'}"
    )


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument(
        "part",
        choices=(
            *("run", "default", "options", "growth", "lines"),
            *("compare", "accuracy", "coverage", "committed"),
        ),
    )
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.part}, {given.threads} threads")
    with threads(given.threads):
        parts: dict[str, Callable[[], Any]] = {
            "run": lambda: {"rows": runs(given.threads)},
            "default": lambda: {"rows": default_runs(given.threads)},
            "options": lambda: {"rows": optional_runs(given.threads)},
            "growth": lambda: {"rows": growth(given.threads)},
            "lines": lambda: {"rows": lines()},
            "compare": lambda: {"rows": comparisons(given.threads)},
            "accuracy": accuracy,
            "coverage": coverage,
            "committed": committed,
        }
        figures = parts[given.part]()
    keep(given.output, {"threads": given.threads} | figures, given.part)


if __name__ == "__main__":
    main()
