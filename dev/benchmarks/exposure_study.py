"""Weights for unequal exposure against a known truth: the study of Schnabel et al. 2016, redone.

Run it with ``python dev/benchmarks/exposure_study.py [--copy FOLDER]``, where the folder has the
file ``u.data`` of MovieLens 100K; it takes two minutes, prints tables and writes
``figures/exposure.json``. All ratings of 943 users and 1,682 items are made up by a factor model,
so the truth is known. 5% are revealed, high ratings with a greater chance, 50 times. Five
predictors are measured on what is revealed: as it is (naive), by inverse propensity scoring (IPS),
and self-normalised (SNIPS), as `harness.metrics.weights` does.

The calculation is `harness.extras.reproduce.semi_synthetic`, whose source ``schnabel-2016-mae`` of
``harness reproduce`` compares ten such studies with the MAE of the paper's table 1. Here is one of
them, with NDCG@10, intervals and a trap beside it.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import surprise
from shared import HERE, command_line, keep

import harness
from harness.extras.reproduce import published
from harness.extras.reproduce.semi_synthetic import (
    N_SAMPLES,
    chances,
    completed,
    estimates_of_error,
    predictors,
    revealed,
)
from harness.metrics.weights import weighted_ndcg

K = 10
NAMES = "true (fitted)", "IPS", "SNIPS", "naive (fitted)"
PAPER = {
    each.predictor: [each.expected.get(name, each.expected.get(name.split()[0])) for name in NAMES]
    for each in published("schnabel-2016-mae")
}
NEAR = 0.005


def made_up(copy: str) -> np.ndarray:
    """Return a rating from 1 to 5 of each user for each item, by a factor model of real ones."""
    if copy:
        path = Path(copy) / "u.data"
        frame = pd.read_csv(path, sep="\t", names=["user", "item", "rating"], usecols=[0, 1, 2])
    else:
        frame = harness.load("ml-100k").to_frame()[["user", "item", "rating"]]
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    trainset = data.build_full_trainset()
    model = surprise.SVD(n_factors=20, reg_all=0.05, n_epochs=60, random_state=0).fit(trainset)
    scores = model.bu[:, None] + model.bi + model.pu @ model.qi.T
    return completed(scores, np.random.default_rng(0))


def ranks_of(estimates: np.ndarray) -> np.ndarray:
    """Return the rank of each item for each user, ties drawn."""
    noise = np.random.default_rng(2).random(estimates.shape)
    order = np.lexsort((noise, -estimates), axis=1)
    ranks = np.empty(order.shape, int)
    np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1)[None, :], axis=1)
    return ranks


def weighted_gains(users: np.ndarray, ratings: np.ndarray, ranks: np.ndarray, chance: np.ndarray):
    """Return the trap: ordinary NDCG of the judged items alone, their gains weighted."""
    gains = ratings / chance
    discounts = 1 / np.log2(1 + np.arange(1, K + 1))
    scores = []
    for user in np.unique(users):
        rows = users == user
        ordered = gains[rows][np.argsort(ranks[rows])][:K]
        ideal = np.sort(gains[rows])[::-1][:K]
        scores.append((ordered @ discounts[: len(ordered)]) / (ideal @ discounts[: len(ideal)]))
    return float(np.mean(scores))


def study(copy: str) -> dict[str, object]:
    """Return the true and the estimated values of each predictor."""
    begun = time.perf_counter()
    truth = made_up(copy)
    chance = chances(truth)
    users = np.indices(truth.shape)[0]
    every = users.ravel(), truth.ravel()
    predicted = predictors(truth, np.random.default_rng(1))
    ranks = {name: ranks_of(estimates) for name, estimates in predicted.items()}
    rng = np.random.default_rng(3)
    samples = [revealed(chance, rng) for _ in range(N_SAMPLES)]
    rows, sizes = [], []
    for name, estimates in predicted.items():
        errors = np.abs(estimates - truth)
        true_ndcg = weighted_ndcg(*every, ranks[name].ravel(), np.ones(truth.size), K,
                                  gain="linear").value  # fmt: skip
        figures: list[tuple[float, ...]] = []
        for shown in samples:
            p = chance[shown]
            ips, error, naive = estimates_of_error(estimates, truth, chance, shown)
            lists = shown[0], truth[shown], ranks[name][shown]
            ndcg = weighted_ndcg(*lists, p, K, gain="linear", n_pairs=truth.size)
            is_covered = abs(error.value - errors.mean()) <= 1.96 * error.error
            figures.append((ips, error.value, naive, is_covered, ndcg.value))
            sizes.append((error.n, error.effective))
        trap = weighted_gains(*lists, p)
        means, deviations = np.mean(figures, axis=0), np.std(figures, axis=0, ddof=1)
        row = {"predictor": name, "true": float(errors.mean())}
        row |= dict(zip(("ips", "snips", "naive", "covered", "ndcg"), means.tolist(), strict=True))
        row["deviations"] = deviations[[0, 1, 2, 4]].tolist()
        rows.append(row | {"true_ndcg": true_ndcg, "trap": trap})
        mae = [row["true"], *means[:3]]
        cells = " | ".join(f"{value:.3f} ({paper:.3f})" for value, paper in
                           zip(mae, PAPER[name], strict=True))  # fmt: skip
        print(f"| {name} | {cells} | {100 * means[3]:.0f}% | {true_ndcg:.3f} | {means[4]:.3f} "
              f"± {deviations[4]:.3f} | {trap:.3f} |", flush=True)  # fmt: skip
    gaps = [abs(row[key] - value) for row in rows
            for key, value in zip(("true", "ips", "snips", "naive"), PAPER[row["predictor"]],
                                  strict=True)]  # fmt: skip
    n, effective = np.mean(sizes, axis=0)
    n_near = sum(gap <= NEAR + 5e-4 for gap in gaps)  # the paper has three decimals
    print(f"\n{n_near} of {len(gaps)} cells of the paper's MAE within {NEAR}; largest difference "
          f"{max(gaps):.4f}; {n:,.0f} ratings revealed, worth {effective:,.0f}")  # fmt: skip
    seconds = round(time.perf_counter() - begun)
    return {"samples": N_SAMPLES, "seconds": seconds, "largest_difference": max(gaps), "n": n,
            "effective": effective, "rows": rows}  # fmt: skip


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--copy", default="", help="a folder with MovieLens 100K")
    parser.set_defaults(output=HERE / "figures/exposure.json")
    options = parser.parse_args()
    print(
        "| | MAE true (paper) | IPS | SNIPS | naive | covered | NDCG@10 true | estimated | trap |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    keep(options.output, study(options.copy))


if __name__ == "__main__":
    main()
