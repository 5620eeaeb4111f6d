"""The semi-synthetic study of Schnabel et al. 2016: estimates of errors against a known truth.

Every rating of some users and items is made up, so that the error of a predictor is known. Some
ratings are revealed, high ones with a greater chance, and the error is estimated from these as it
is (naive), by inverse propensity scoring (IPS), and self-normalised (SNIPS), as
`harness.metrics.weights` does (doi:10.48550/arXiv.1602.05352, section 6.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np

from harness.extras.reproduce.values import Band
from harness.metrics.arrays import Floats, Ints
from harness.metrics.weights import Weighted, weighted_error

MARGINAL = (0.52648, 0.24109, 0.14457, 0.06231, 0.02555)
"""Proportions of the ratings 1 to 5 among all pairs, which the paper does not print.

With them eight values of its table 1 are as printed: true and naive of all predictors but
SKEWED, which are ratios of sums of proportions (ONES 4 p5, FOURS p5, ROTATE 1 + 3 p1, COARSENED
2 p1 + p2 + p5). Among all such proportions these have the least greatest distance from the print.
"""
ALPHA, REVEALED, N_SAMPLES, N_STUDIES = 0.25, 0.05, 50, 10
DIGITS = 3
"""Decimals of the paper."""

Study = Mapping[str, Mapping[str, float]]
"""By predictor: the true MAE, and of each estimate the mean and the deviation over the samples."""


def completed(scores: Floats, rng: np.random.Generator) -> Floats:
    """Return a rating for each score: the lowest part of all pairs is 1, the next 2, and so on."""
    order = np.lexsort((rng.random(scores.size), scores.ravel()))
    ends = np.rint(np.cumsum(MARGINAL) * scores.size).astype(int)
    ratings = np.full(scores.size, 5.0)
    for grade, (start, stop) in enumerate(zip([0, *ends[:3]], ends[:4], strict=True), 1):
        ratings[order[start:stop]] = grade
    return ratings.reshape(scores.shape)


def predictors(truth: Floats, rng: np.random.Generator) -> dict[str, Floats]:
    """Return the estimates of the five predictors of the paper."""
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


def chances(truth: Floats) -> Floats:
    """Return the propensity of each pair: 4 and 5 alike, each grade below a quarter of the next."""
    chance = ALPHA ** np.maximum(0, 4 - truth)
    return np.asarray(chance * (REVEALED * truth.size / chance.sum()))


def revealed(chance: Floats, rng: np.random.Generator) -> tuple[Ints, ...]:
    """Return the rows and columns of the pairs of one sample."""
    return np.nonzero(rng.random(chance.shape) < chance)


def estimates_of_error(
    estimates: Floats, truth: Floats, chance: Floats, sample: tuple[Ints, ...]
) -> tuple[float, Weighted, float]:
    """Return the MAE of one sample by IPS, by SNIPS, and as revealed."""
    there, p = truth[sample], chance[sample]
    errors = np.abs(estimates[sample] - there)
    snips = weighted_error(estimates[sample], there, p, "mae")
    return float((errors / p).sum() / truth.size), snips, float(errors.mean())


def study(scores: Floats, seed: int) -> Study:
    """Return what one study of 50 samples says of each predictor."""
    rng = np.random.default_rng(seed)
    truth = completed(scores, rng)
    chance = chances(truth)
    predicted = predictors(truth, rng)
    samples = [revealed(chance, rng) for _ in range(N_SAMPLES)]
    found = {}
    for name, estimates in predicted.items():
        values = {"true": float(np.abs(estimates - truth).mean())}
        rows = [estimates_of_error(estimates, truth, chance, sample) for sample in samples]
        by_estimate = zip(*((ips, snips.value, naive) for ips, snips, naive in rows), strict=True)
        for estimate, column in zip(("IPS", "SNIPS", "naive"), by_estimate, strict=True):
            values |= {estimate: fmean(column), f"{estimate} deviation": stdev(column)}
        found[name] = values
    return found


def bands(studies: list[Study], predictor: str, printed: Mapping[str, float]) -> dict[str, Band]:
    """Return the band of one more study for each printed value, and how far the mean is from it.

    Its ends are rounded as the paper rounds. A name may say more in brackets, such as "true
    (fitted)".
    """
    found = {}
    for name, value in printed.items():
        values = [each[predictor][name.split(" (")[0]] for each in studies]
        about = (
            f"{len(values)} studies of {N_SAMPLES} samples gave {min(values):.4f} to "
            f"{max(values):.4f}, on average {fmean(values) - value:+.4f} from the printed value"
        )
        found[name] = replace(Band.of_one_more(values, DIGITS), about=about)
    return found
