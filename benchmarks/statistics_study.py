"""How often tests reject and intervals hold on synthetic and real scores, and how long that takes.

Run it with ``python benchmarks/statistics_study.py``; it takes some minutes and prints a Markdown
table. The tests of the package check the same at a smaller size. With ``--seeds`` it studies the
tests over seeds on real ratings, in five minutes, and writes ``figures/seeds.json``:

- an algorithm against itself under other seeds of the model, on the same random splits or on one;
- real differences between algorithms, less their mean over all users, splits and seeds: how often
  a test finds what is not there, and so how often its interval misses the mean.

Users and seeds are drawn from those of a run that crosses many seeds.

The synthetic scores look like NDCG: a user's taste makes all algorithms good or bad together, many
scores are 0, none is above 1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import harness
from harness.statistics import (
    adjust,
    bootstrap_interval,
    compare,
    paired_t,
    randomisation,
    wilcoxon,
)
from harness.statistics.variance import corrected, over_users, two_way

SEEDED = ["SVD", "SVDpp", "NMF", "CoClustering"]
HOLDOUT = 0.25
TESTS = {
    "randomisation": lambda differences, seed: randomisation(differences, 9_999, seed),
    "t-test": lambda differences, seed: paired_t(differences),
    "Wilcoxon": lambda differences, seed: wilcoxon(differences),
}


def draw_scores(rng: np.random.Generator, n_users: int, n_algorithms: int) -> np.ndarray:
    """Return scores of algorithms that are equal in law, of mean 0.15."""
    taste = rng.beta(2, 2, (n_users, 1))
    hit = rng.random((n_users, n_algorithms)) < 0.6
    return np.where(hit, taste * rng.random((n_users, n_algorithms)), 0.0)


def spread(share: float, n_draws: int) -> str:
    return f"{100 * share:.1f}% ± {100 * np.sqrt(share * (1 - share) / n_draws):.1f}"


def study_null(n_draws: int, n_users: int) -> Iterator[tuple[str, str, str]]:
    rng = np.random.default_rng(1)
    pairs = [draw_scores(rng, n_users, 2) for _ in range(n_draws)]
    differences = np.column_stack([pair[:, 0] - pair[:, 1] for pair in pairs])
    for name, test in TESTS.items():
        share = float(np.mean(test(differences, 1) <= 0.05))
        yield (
            f"one algorithm under two labels, {n_users:,} users, {name}",
            "5%",
            spread(share, n_draws),
        )


def study_skewed_null(n_draws: int, n_users: int) -> Iterator[tuple[str, str, str]]:
    """Means are equal but differences are skewed: many small losses, few large gains."""
    rng = np.random.default_rng(2)
    differences = rng.exponential(size=(n_users, n_draws)) - 1.0
    for name, test in TESTS.items():
        share = float(np.mean(test(differences, 2) <= 0.05))
        yield (
            f"equal means, skewed differences, {n_users:,} users, {name}",
            "5%",
            spread(share, n_draws),
        )


def study_family(n_draws: int, n_users: int) -> Iterator[tuple[str, str, str]]:
    rng = np.random.default_rng(3)
    first, second = np.triu_indices(10, 1)
    n_any = dict.fromkeys(TESTS, 0)
    n_uncorrected = 0
    for seed in range(n_draws):
        scores = draw_scores(rng, n_users, 10)
        differences = scores[:, first] - scores[:, second]
        for name, test in TESTS.items():
            p_values = test(differences, seed)
            n_any[name] += bool((adjust(p_values, "holm") <= 0.05).any())
            n_uncorrected += name == "randomisation" and bool((p_values <= 0.05).any())
    for name, n_families in n_any.items():
        yield (
            f"any difference among ten equal algorithms, Holm, {name}",
            "at most 5%",
            spread(n_families / n_draws, n_draws),
        )
    yield (
        "the same without a correction, randomisation",
        "",
        spread(n_uncorrected / n_draws, n_draws),
    )


def study_coverage(n_draws: int, n_users: int) -> Iterator[tuple[str, str, str]]:
    rng = np.random.default_rng(4)
    pairs = [draw_scores(rng, n_users, 2) for _ in range(n_draws)]
    means = np.column_stack([pair[:, 0] for pair in pairs])
    differences = np.column_stack([pair[:, 0] - 0.5 * pair[:, 1] for pair in pairs])
    for method in ("bca", "percentile"):
        for what, values, truth in (("mean", means, 0.15), ("difference", differences, 0.075)):
            low, high = bootstrap_interval(values, method=method, seed=4)
            share = float(np.mean((low <= truth) & (truth <= high)))
            yield (
                f"{method} interval holds the {what}, {n_users:,} users",
                "95%",
                spread(share, n_draws),
            )


def time_comparison(n_users: int, n_algorithms: int) -> tuple[str, str, str]:
    scores = draw_scores(np.random.default_rng(5), n_users, n_algorithms)
    names = [f"algorithm {number}" for number in range(n_algorithms)]
    start = time.perf_counter()
    compare(scores, names, baseline=names[0], n_resamples=10_000)
    elapsed = time.perf_counter() - start
    n_pairs = n_algorithms * (n_algorithms - 1) // 2
    what = f"10,000 resamples, {n_users:,} users, {n_algorithms} algorithms, {n_pairs} pairs"
    return what, "seconds", f"{elapsed:.1f} s"


def scores_by_seed(dataset: str, split: int, model: int) -> dict[str, np.ndarray]:
    """Return NDCG@10 of each algorithm, shape (n_users, split, model), for users tested in all."""
    config = {
        "dataset": dataset,
        "split": {"kind": "holdout", "test_size": HOLDOUT},
        "seeds": {"split": split, "model": model},
        "algorithms": [*SEEDED, "KNNBaseline", "BaselineOnly"],
        "metrics": ["ndcg@10"],
        "baselines": False,
        "statistics": None,
    }
    run = harness.run(config, results=None)
    table = run.users.pivot_table(index="user", columns=["algorithm", "seed"], values="ndcg@10")
    table = table.dropna()
    return {
        name: table[name][run.info.seeds].to_numpy().reshape(len(table), split, model)
        for name in run.info.algorithms
    }


def rejects(values: np.ndarray) -> dict[str, bool]:
    """Return what each test says of differences, shape (n_users, n_seeds)."""
    means, by_seed = values.mean(axis=1)[:, None], values.T[:, :, None]
    mean = means.mean(axis=0)
    errors = {
        "users, one seed": over_users(values[:, :1]),
        "users, mean of seeds": over_users(means),
        "two-way": two_way(means, by_seed),
        "nadeau-bengio": corrected(by_seed, HOLDOUT / (1 - HOLDOUT)),
    }
    of = {name: values[:, :1].mean(axis=0) if "one" in name else mean for name in errors}
    return {name: bool(each.p_values(of[name])[0] <= 0.05) for name, each in errors.items()}


def draw_self(scores: dict[str, np.ndarray], rng: np.random.Generator, n: int, n_seeds: int):
    """Return an algorithm less itself under other model seeds, on a split of its own each."""
    table = scores[SEEDED[rng.integers(len(SEEDED))]]
    _, n_splits, n_models = table.shape
    users = rng.integers(len(table), size=n)
    splits = rng.choice(n_splits, n_seeds, replace=False)
    one, other = np.array([rng.choice(n_models, 2, replace=False) for _ in splits]).T
    return table[users[:, None], splits, one] - table[users[:, None], splits, other]


def draw_self_fixed(scores: dict[str, np.ndarray], rng: np.random.Generator, n: int, n_seeds: int):
    """Return an algorithm less itself under other model seeds, all on one split."""
    table = scores[SEEDED[rng.integers(len(SEEDED))]][:, 0]
    seeds = rng.choice(table.shape[1], 2 * n_seeds, replace=False)
    users = rng.integers(len(table), size=(n, 1))
    return table[users, seeds[:n_seeds]] - table[users, seeds[n_seeds:]]


def draw_centred(scores: dict[str, np.ndarray], rng: np.random.Generator, n: int, n_seeds: int):
    """Return a real difference less its mean over everything."""
    pairs = [*combinations(scores, 2)]
    one, other = (scores[name] for name in pairs[rng.integers(len(pairs))])
    n_all, n_splits, n_models = one.shape
    users = rng.integers(n_all, size=(n, 1))
    splits = rng.integers(n_splits, size=n_seeds)
    first, second = rng.integers(n_models, size=(2, n_seeds))
    truth = one.mean() - other.mean()
    return one[users, splits, first] - other[users, splits, second] - truth


def study_seeds(dataset: str, n_draws: int) -> dict[str, object]:
    """Return how often each test rejects, by design, users and seeds."""
    begun = time.perf_counter()
    crossed, fixed = scores_by_seed(dataset, 16, 4), scores_by_seed(dataset, 1, 24)
    designs = {
        "against itself, splits and models": (draw_self, crossed),
        "against itself, models on one split": (draw_self_fixed, fixed),
        "centred differences": (draw_centred, crossed),
    }
    rng, rows = np.random.default_rng(6), []
    print("| what | users | seeds | " + " | ".join(rejects(np.eye(3))) + " |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for what, (draw, scores) in designs.items():
        for n_users in (25, 100, 900):
            for n_seeds in (2, 3, 5, 10):
                found = [rejects(draw(scores, rng, n_users, n_seeds)) for _ in range(n_draws)]
                shares = {test: float(np.mean([each[test] for each in found])) for test in found[0]}
                rows.append({"what": what, "users": n_users, "seeds": n_seeds} | shares)
                shown = " | ".join(spread(share, n_draws) for share in shares.values())
                print(f"| {what} | {n_users} | {n_seeds} | {shown} |", flush=True)
    seconds = round(time.perf_counter() - begun)
    return {"dataset": dataset, "draws": n_draws, "seconds": seconds, "level": 0.05, "rows": rows}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--draws", type=int, default=1_000, help="synthetic experiments of each kind"
    )
    parser.add_argument("--users", type=int, default=200, help="users of each experiment")
    parser.add_argument("--seeds", action="store_true", help="the study of seeds, on real ratings")
    parser.add_argument("--dataset", default="bundled", help="of the study of seeds")
    given = parser.parse_args()
    if given.seeds:
        path = Path(__file__).parent / "figures" / "seeds.json"
        kept = json.loads(path.read_text()) if path.exists() else {}
        kept[given.dataset] = study_seeds(given.dataset, 2 * given.draws)
        path.write_text(json.dumps(kept, indent=1) + "\n")
        return
    print("| what | expected | found |\n|---|---|---|")
    print("| {} | {} | {} |".format(*time_comparison(6_000, 11)))
    print("| {} | {} | {} |".format(*time_comparison(100_000, 11)), flush=True)
    for rows in (
        study_null(given.draws, given.users),
        study_null(given.draws, 20 * given.users),
        study_skewed_null(given.draws, 20 * given.users),
        study_family(given.draws, given.users),
        study_coverage(given.draws, given.users),
    ):
        for row in rows:
            print("| {} | {} | {} |".format(*row), flush=True)


if __name__ == "__main__":
    main()
