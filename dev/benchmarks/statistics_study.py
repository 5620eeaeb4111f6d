"""How often tests over users, and over users and seeds, reject on real ratings.

Run it with ``python dev/benchmarks/statistics_study.py``; it takes 13 minutes, prints a table
and writes ``figures/seeds.json``:

- an algorithm against itself under other seeds of the model, on the same random splits or on one;
- real differences between algorithms, less their mean over all users, splits and seeds: how often
  a test finds what is not there, and so how often its interval misses the mean.

Users and seeds are drawn from those of a run that crosses many seeds. What the tests over users and
the intervals do on synthetic scores is in ``tests/statistics``.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
from shared import HERE, command_line, keep

import harness
from harness.statistics.variance import corrected, over_users, two_way

SEEDED = ["SVD", "SVDpp", "NMF", "CoClustering"]
HOLDOUT = 0.25


def spread(share: float, n_draws: int) -> str:
    return f"{100 * share:.1f}% ± {100 * np.sqrt(share * (1 - share) / n_draws):.1f}"


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


def study_seeds(dataset: str, n_draws: int) -> dict[str, Any]:
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
    parser = command_line(__doc__)
    parser.add_argument("--draws", type=int, default=2_000, help="of each design")
    parser.add_argument("--dataset", default="bundled")
    parser.set_defaults(output=HERE / "figures/seeds.json")
    given = parser.parse_args()
    keep(given.output, study_seeds(given.dataset, given.draws), given.dataset)


if __name__ == "__main__":
    main()
