"""The order of the rows of the data changes no metric of which items are shown."""

import numpy as np
import pandas as pd
import pytest

from harness import Ratings
from harness.experiment.run import run

METRICS = [
    "item_coverage@5",
    "gini@5",
    "entropy@5",
    "popularity@5",
    "novelty@5",
    "diversity@5",
    "serendipity(threshold=4)@5",
]


@pytest.fixture(scope="module")
def rows():
    """Ratings of few values, so that most items of a list are tied."""
    rng = np.random.default_rng(0)
    places = rng.permutation(30 * 40)[:500]
    return pd.DataFrame(
        {
            "user": [f"u{place // 40}" for place in places],
            "item": [f"i{place % 40}" for place in places],
            "rating": rng.integers(3, 6, len(places)).astype(float),
            "timestamp": rng.permutation(len(places)),
        }
    )


def scores(rows, candidates, text):
    ratings = Ratings.from_columns(
        rows["user"] if text else rows["user"].str[1:].astype(int),
        rows["item"] if text else rows["item"].str[1:].astype(int),
        rows["rating"],
        timestamps=rows["timestamp"],
        scale=(1, 5),
    )
    done = run(
        {
            "algorithms": ["ItemMean", "Popularity"],
            "baselines": False,
            "split": "global-time",
            "candidates": candidates,
            "metrics": METRICS,
            "statistics": None,
        },
        ratings=ratings,
        results=None,
    )
    return done.table.set_index("algorithm")[METRICS], done.users.set_index(["algorithm", "user"])


@pytest.mark.parametrize("candidates", ["catalogue", "rated"])
@pytest.mark.parametrize("text", [True, False])
def test_rows_in_another_order_show_the_same_items(rows, candidates, text):
    table, users = scores(rows, candidates, text)
    shuffled, of_users = scores(rows.sample(frac=1.0, random_state=1), candidates, text)
    pd.testing.assert_frame_equal(shuffled, table, rtol=0, atol=1e-12)
    columns = [label for label in METRICS if label in users and users[label].notna().any()]
    assert columns
    pd.testing.assert_frame_equal(
        of_users.sort_index()[columns], users.sort_index()[columns], rtol=0, atol=1e-12
    )
