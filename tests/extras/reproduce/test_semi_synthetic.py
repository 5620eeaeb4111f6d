"""The study of exposure weights is plain NumPy, closed forms and a linear program."""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.stats import norm

from harness import datasets
from harness.extras.reproduce import published, semi_synthetic
from harness.extras.reproduce.models import of_models
from harness.extras.reproduce.semi_synthetic import MARGINAL, chances, completed, predictors, study

SOURCE = "schnabel-2016-mae"
PAPER = {each.predictor: each.expected for each in published(SOURCE)}
SHARES, GRADES = np.array(MARGINAL), np.arange(1, 6)
CHANCE = 0.25 ** np.maximum(0, 4 - GRADES)
FITTED = {  # mean absolute error of each grade, times its share in truth
    "ONES": np.array([0, 0, 0, 0, 4]),  # as many ones as fives become five
    "FOURS": np.array([0, 0, 0, 0, 1]),
    "ROTATE": np.array([4, 1, 1, 1, 1]),
    "COARSENED": np.array([2, 1, 0, 0, 1]),
}
REVEALED = {  # the same, where grades are revealed: the wrong fives are ones and fours
    **FITTED,
    "ONES": np.array([0, 0, 0, 0, 4 * CHANCE[0]]),
    "ROTATE": FITTED["ROTATE"] * CHANCE,
    "COARSENED": FITTED["COARSENED"] * CHANCE,
}


@pytest.fixture(scope="module")
def scores():
    return np.random.default_rng(5).normal(size=(300, 400))


def test_the_source_has_twenty_cells_and_fifteen_deviations():
    names = [name for row in PAPER.values() for name in row]
    assert Counter(name.endswith("deviation") for name in names) == {False: 20, True: 15}
    assert sum("(fitted)" in name for name in names) == 8
    assert not any("(fitted)" in name for name in PAPER["SKEWED"])


def test_with_the_marginal_the_eight_fitted_cells_come_out_as_printed():
    assert math.isclose(sum(MARGINAL), 1, abs_tol=1e-12)
    for name, errors in FITTED.items():
        assert round(float(errors @ SHARES), 3) == PAPER[name]["true (fitted)"]
        naive = REVEALED[name] @ SHARES / (CHANCE @ SHARES)
        assert round(float(naive), 3) == PAPER[name]["naive (fitted)"]


def test_no_other_marginal_is_nearer_to_the_eight_cells():
    def nearest(distance):
        rows, limits = [], []
        for name, errors in FITTED.items():
            for sign in (1, -1):
                rows.append(sign * errors)
                limits.append(sign * PAPER[name]["true (fitted)"] + distance)
                end = PAPER[name]["naive (fitted)"] + sign * distance
                rows.append(sign * (REVEALED[name] - end * CHANCE))
                limits.append(0)
        return linprog(np.zeros(5), rows, limits, [np.ones(5)], [1], (0, 1))

    low, high = 0.0, 0.001
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if nearest(middle).status == 0 else (middle, high)
    assert high < 0.0005  # half of the last printed digit
    assert nearest(high).x == pytest.approx(SHARES, abs=6e-6)


def test_ratings_are_made_up_in_the_order_of_the_scores(scores):
    truth = completed(scores, np.random.default_rng(0))
    counts = [(truth == grade).sum() for grade in GRADES]
    assert counts == pytest.approx(SHARES * scores.size, abs=1)
    for grade in GRADES[:-1]:
        assert scores[truth == grade].max() < scores[truth == grade + 1].min()
    tied = completed(np.zeros((300, 400)), np.random.default_rng(0))
    assert abs(tied[:150].mean() - tied[150:].mean()) < 0.02  # ties are drawn, not in order


def test_a_sample_is_estimated_as_the_formulas_say(scores):
    rng = np.random.default_rng(3)
    truth = completed(scores[:20, :30], rng)
    chance = chances(truth)
    assert chance.sum() == pytest.approx(0.05 * truth.size, rel=1e-12)
    sample = semi_synthetic.revealed(chance, rng)
    for estimates in predictors(truth, rng).values():
        of_pairs = [
            (abs(estimates[user, item] - truth[user, item]), 1 / chance[user, item])
            for user, item in zip(*sample, strict=True)
        ]
        weighted = sum(error * weight for error, weight in of_pairs)
        ips, snips, naive = semi_synthetic.estimates_of_error(estimates, truth, chance, sample)
        assert ips == pytest.approx(weighted / 600, rel=1e-12)
        assert snips.value == pytest.approx(weighted / sum(w for _, w in of_pairs), rel=1e-12)
        assert naive == pytest.approx(sum(e for e, _ in of_pairs) / len(of_pairs), rel=1e-12)


def test_truth_estimates_and_deviations_are_those_of_closed_forms(scores):
    found = study(scores, 7)

    def of_noise(grade):  # E |clip(N(y, (6 - y) / 2), 0, 6) - y|
        sd = (6 - grade) / 2
        inner = quad(lambda z: abs(z - grade) * norm.pdf(z, grade, sd), 0, 6, points=[grade])[0]
        return inner + grade * norm.cdf(0, grade, sd) + (6 - grade) * norm.sf(6, grade, sd)

    noise = np.array([of_noise(grade) for grade in GRADES])
    assert float(noise @ SHARES) == pytest.approx(PAPER["SKEWED"]["true"], abs=0.002)
    truths = {**FITTED, "SKEWED": noise}
    naives = {**REVEALED, "SKEWED": noise * CHANCE}
    truth = completed(scores, np.random.default_rng(7))
    chance = chances(truth)
    for name, values in found.items():
        assert values["true"] == pytest.approx(truths[name] @ SHARES, rel=0.015)
        naive = naives[name] @ SHARES / (CHANCE @ SHARES)
        at_most = 4 * values["naive deviation"] / math.sqrt(50)
        assert values["naive"] == pytest.approx(naive, abs=at_most + 0.01 * naive)
        for estimate in ("IPS", "SNIPS"):
            error = values[f"{estimate} deviation"] / math.sqrt(50)
            assert values[estimate] == pytest.approx(values["true"], abs=4 * error)
    rotate = np.abs(np.where(truth >= 2, truth - 1, 5.0) - truth)
    for estimate, errors in (("IPS", rotate), ("SNIPS", rotate - rotate.mean())):
        expected = math.sqrt(((1 - chance) / chance * errors**2).sum()) / truth.size
        assert found["ROTATE"][f"{estimate} deviation"] == pytest.approx(expected, rel=0.35)


def test_a_band_is_of_one_more_study_and_as_long_as_the_printed_digits():
    studies = [{"ONES": {"true": 0.1022, "IPS": value}} for value in (0.1015, 0.1042, 0.1031)]
    found = semi_synthetic.bands(studies, "ONES", {"true (fitted)": 0.102, "IPS": 0.102})
    assert (found["true (fitted)"].low, found["true (fitted)"].high) == (0.102, 0.102)
    values = np.array([0.1015, 0.1042, 0.1031])
    half = 9.924843 * values.std(ddof=1) * math.sqrt(4 / 3)  # the quantile of two degrees
    assert found["IPS"].low == round(values.mean() - half, 3)
    assert found["IPS"].high == round(values.mean() + half, 3)
    assert "3 studies of 50 samples gave 0.1015 to 0.1042" in found["IPS"].about
    assert found["IPS"].about.endswith("on average +0.0009 from the printed value")


def test_every_cell_is_computed_from_the_scores_of_the_model(monkeypatch):
    rows = [(f"u{n % 30}", f"i{n % 23}", float(1 + n % 5)) for n in range(600)]
    ratings = datasets.Ratings.from_columns(*map(list, zip(*rows, strict=True)), scale=(1, 5))
    plain = {name: dict.fromkeys(["true", "naive", *row], 1.0) for name, row in PAPER.items()}
    seen = []
    monkeypatch.setattr(semi_synthetic, "study", lambda scores, seed: seen.append(scores) or plain)
    run = of_models(ratings)
    for quantity in published(SOURCE):
        assert run(quantity).keys() == quantity.expected.keys()
    assert len(seen) == semi_synthetic.N_STUDIES  # once for all predictors
    assert seen[0].shape == (30, 23)


def test_the_committed_figures_are_of_this_marginal():
    root = Path(__file__).parents[3]
    rows = json.loads((root / "dev/benchmarks/figures/exposure.json").read_text())["rows"]
    for row in rows:
        if row["predictor"] in FITTED:
            expected = FITTED[row["predictor"]] @ SHARES
            assert row["true"] == pytest.approx(expected, abs=2e-5)
