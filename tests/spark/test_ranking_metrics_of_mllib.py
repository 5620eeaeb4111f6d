"""MLlib's own RankingMetrics and the harness agree on the same recommendations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness import metrics, rankings

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*deprecated.*:FutureWarning"),
]

K = (1, 3, 10, 15)


def draw(seed: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return lists and labels: some short or empty, some users without a label."""
    rng = np.random.default_rng(seed)
    predicted, relevant = [], []
    for user in range(200):
        length = 0 if user % 11 == 0 else int(rng.integers(1, 16))
        n_labels = 0 if user % 7 == 0 else int(rng.integers(1, 30))
        predicted.append(rng.choice(60, length, replace=False).tolist())
        relevant.append(rng.choice(60, n_labels, replace=False).tolist())
    return predicted, relevant


@pytest.mark.parametrize("seed", [0, 1])
def test_every_metric_of_mllib_is_a_label_here(spark: Any, seed: int) -> None:
    from pyspark.mllib.evaluation import RankingMetrics

    predicted, relevant = draw(seed)
    pairs = list(zip(predicted, relevant, strict=True))
    theirs = RankingMetrics(spark.sparkContext.parallelize(pairs, 3))
    lists = rankings.from_lists(predicted, relevant)

    def ours(label: str) -> float:
        metric = metrics.parse(label)
        return metrics.score([metric], lists)[metric].mean

    for k in K:
        expected = {
            f"ndcg(gain=binary, undefined=0)@{k}": theirs.ndcgAt(k),
            f"precision(undefined=0)@{k}": theirs.precisionAt(k),
            f"recall(undefined=0)@{k}": theirs.recallAt(k),
            f"ap(denominator=achievable, undefined=0)@{k}": theirs.meanAveragePrecisionAt(k),
        }
        for label, value in expected.items():
            assert ours(label) == pytest.approx(value, abs=1e-12), label
    assert ours("ap(undefined=0)") == pytest.approx(theirs.meanAveragePrecision, abs=1e-12)
