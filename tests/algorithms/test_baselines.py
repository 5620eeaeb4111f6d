import numpy as np
import pandas as pd
import pytest

from harness.algorithms import baselines, surprise
from harness.models import estimates as models

ROWS = [(0, 0, 5.0), (1, 0, 3.0), (2, 0, 1.0), (0, 1, 4.5), (1, 1, 2.5), (2, 2, 0.5)]
KINDS = [baselines.Random, baselines.Popularity, baselines.ItemMean, baselines.UserMean]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_blocks_equal_single_predictions_and_surprise_can_validate_them(twins, kind):
    both, model = twins(ROWS), kind()
    assert models.fit(model, both.columns()) == "accelerated"
    assert models.scoring_path(model) == "accelerated"
    both.check(model, model, rtol=0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers([0, 0, 1], [20, 15, 6], (300, 3)))
    data = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))
    found = surprise.model_selection.cross_validate(kind(), data, cv=3)
    assert (found["test_rmse"] < 4).all()


def test_random_draws_do_not_depend_on_what_else_is_asked(twins):
    both = twins(ROWS)
    model = baselines.Random(random_state=3)
    models.fit(model, both.columns())
    forward, _ = models.estimate(model, [0, 1, 2, 4], [0, 1, 4, 3])
    backward, _ = models.estimate(model, [4, 2, 1, 0, 0], [3, 4, 1, 0, 1])
    assert forward.tolist() == backward[3::-1].tolist()


def test_random_draws_follow_the_seed_and_the_raw_ids(twins):
    both = twins(ROWS)
    draws = {}
    for seed in (0, 1):
        for rows in (ROWS, ROWS[::-1]):
            model = baselines.Random(random_state=seed).fit(twins(rows).plain())
            draws[seed, rows[0]] = model.predict("u1", "i1").est
    assert draws[0, ROWS[0]] == draws[0, ROWS[-1]]
    assert draws[0, ROWS[0]] != draws[1, ROWS[0]]
    assert both.scale[0] <= draws[0, ROWS[0]] <= both.scale[1]


def test_random_draws_are_uniform_over_the_scale(twins):
    rows = [(user, user, 3.0) for user in range(300)]
    model = baselines.Random()
    models.fit(model, twins(rows, scale=(1.0, 5.0)).columns())
    draws = np.sort(next(models.catalogue(model, range(300), clip=False))[2].ravel())
    expected = np.linspace(1, 5, len(draws))
    assert np.abs(draws - expected).max() < 4 * 1.95 / np.sqrt(len(draws))  # Kolmogorov-Smirnov


MEAN = sum(rating for _, _, rating in ROWS) / len(ROWS)


@pytest.mark.parametrize(
    ("model", "pairs", "expected", "impossible"),
    [
        (baselines.Popularity(), [(0, 0), (0, 1), (0, 2), (0, 4)], [5.0, 3.5, 2.0, 0.5], False),
        (baselines.ItemMean(), [(0, 0), (9, 1)], [3.0, 3.5], False),
        (baselines.ItemMean(damping=1), [(0, 2)], [pytest.approx((0.5 + MEAN) / 2)], False),
        (baselines.ItemMean(damping=2), [(0, 4)], [pytest.approx(MEAN)], True),
        (
            baselines.UserMean(),
            [(0, 2), (2, 0), (2, 4), (4, 0)],
            [4.75, 0.75, 0.75, pytest.approx(MEAN)],
            False,
        ),
    ],
    ids=["popularity", "item mean", "damped mean", "unknown item", "user mean"],
)
def test_scores_are_counts_or_means(twins, model, pairs, expected, impossible):
    both = twins([*ROWS, (7, 2, 0.5)])
    both.rows = ROWS  # with more codes that are not known
    models.fit(model, both.columns())
    found = models.estimate(model, *zip(*pairs, strict=True))
    assert found[0].tolist() == expected
    assert (found[1] == impossible).all()
