"""How often tests reject and intervals hold on synthetic scores, and how long that takes.

Run it with ``python benchmarks/statistics_study.py``; it takes some minutes and prints a Markdown
table. The tests of the package check the same at a smaller size.

The synthetic scores look like NDCG: a user's taste makes all algorithms good or bad together, many
scores are 0, none is above 1.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from harness.statistics import (
    adjust,
    bootstrap_interval,
    compare,
    paired_t,
    randomisation,
    wilcoxon,
)

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--draws", type=int, default=1_000, help="synthetic experiments of each kind"
    )
    parser.add_argument("--users", type=int, default=200, help="users of each experiment")
    given = parser.parse_args()
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
