"""Weights for unequal exposure against a known truth: the study of Schnabel et al. 2016, redone.

Run it with ``python dev/benchmarks/exposure_study.py [--copy FOLDER]``, where the folder has the
file ``u.data`` of MovieLens 100K; it takes two minutes, prints tables and writes
``figures/exposure.json``. All ratings of 943 users and 1,682 items are made up by a factor model,
so the truth is known. 5% are revealed, high ratings with a greater chance, 50 times. Five
predictors are measured on what is revealed: as it is (naive), by inverse propensity scoring (IPS),
and self-normalised (SNIPS), as `harness.metrics.exposure_weights` does.

The paper (doi:10.48550/arXiv.1602.05352, table 1) does not print the marginal of the ratings.
`MARGINAL` was fitted to eight of its cells, so the table of MAE tests four degrees of freedom;
independent are the row SKEWED and all deviations.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
import surprise
from shared import HERE, command_line, keep

import harness
from harness.metrics.exposure_weights import weighted_error, weighted_ndcg

MARGINAL = (0.5264, 0.2417, 0.1440, 0.0625, 0.0255)
"""Shares of the ratings 1 to 5 among all pairs."""
ALPHA, REVEALED, N_SAMPLES, K = 0.25, 0.05, 50, 10
PAPER = {
    "ONES": (0.102, 0.102, 0.102, 0.011),
    "FOURS": (0.026, 0.026, 0.026, 0.173),
    "ROTATE": (2.579, 2.581, 2.579, 1.168),
    "SKEWED": (1.306, 1.304, 1.304, 0.912),
    "COARSENED": (1.320, 1.314, 1.318, 0.387),
}
"""MAE: true, IPS, SNIPS, naive."""
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
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(scores.size), scores.ravel()))
    ends = np.rint(np.cumsum(MARGINAL) * scores.size).astype(int)
    ratings = np.full(scores.size, 5.0)
    for grade, (start, stop) in enumerate(zip([0, *ends[:3]], ends[:4], strict=True), 1):
        ratings[order[start:stop]] = grade
    return ratings.reshape(scores.shape)


def predictors(truth: np.ndarray) -> dict[str, np.ndarray]:
    """Return the five predictors of the paper."""
    rng = np.random.default_rng(1)
    n_fives = int((truth == 5).sum())
    predicted = {}
    for name, grade in (("ONES", 1), ("FOURS", 4)):
        flat = truth.copy().ravel()
        places = np.flatnonzero(flat == grade)
        flat[rng.choice(places, min(n_fives, len(places)), replace=False)] = 5
        predicted[name] = flat.reshape(truth.shape)
    predicted["ROTATE"] = np.where(truth >= 2, truth - 1, 5.0)
    predicted["SKEWED"] = np.clip(rng.normal(truth, (6 - truth) / 2), 0, 6)
    predicted["COARSENED"] = np.where(truth <= 3, 3.0, 4.0)
    return predicted


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
    chance = ALPHA ** np.maximum(0, 4 - truth)
    chance *= REVEALED * truth.size / chance.sum()
    users = np.indices(truth.shape)[0]
    every = users.ravel(), truth.ravel()
    predicted = predictors(truth)
    ranks = {name: ranks_of(estimates) for name, estimates in predicted.items()}
    rng = np.random.default_rng(3)
    samples = [np.nonzero(rng.random(truth.shape) < chance) for _ in range(N_SAMPLES)]
    rows, sizes = [], []
    for name, estimates in predicted.items():
        errors = np.abs(estimates - truth)
        true_ndcg = weighted_ndcg(*every, ranks[name].ravel(), np.ones(truth.size), K,
                                  gain="linear").value  # fmt: skip
        figures: list[tuple[float, ...]] = []
        for shown in samples:
            p, there = chance[shown], errors[shown]
            error = weighted_error(estimates[shown], truth[shown], p, "mae")
            lists = shown[0], truth[shown], ranks[name][shown]
            ndcg = weighted_ndcg(*lists, p, K, gain="linear", n_pairs=truth.size)
            is_covered = abs(error.value - errors.mean()) <= 1.96 * error.error
            naive, ips = there.mean(), (there / p).sum() / truth.size
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
