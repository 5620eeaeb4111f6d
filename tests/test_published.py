"""Published numbers come out of the committed configs. MovieLens 100K comes over the network."""

from pathlib import Path

import pytest

import harness

CONFIGS = Path(__file__).parents[1] / "configs"

# "NDCG Score: Fine-Tuning Recommendation System Evaluation", 2025, explicit table, NDCG@10.
FULL_CATALOGUE = {
    "KNNBasic": 0.0004,
    "KNNWithMeans": 0.0016,
    "KNNWithZScore": 0.0014,
    "KNNBaseline": 0.0010,
    "SlopeOne": 0.0015,
}
# README of scikit-surprise, ml-100k, 5-fold cross-validation: RMSE, MAE.
SURPRISE_README = {
    "SVD": (0.934, 0.737),
    "SVD++": (0.919, 0.721),
    "NMF": (0.963, 0.758),
    "SlopeOne": (0.946, 0.743),
    "KNNBasic": (0.98, 0.774),
    "KNNWithMeans": (0.951, 0.749),
    "KNNBaseline": (0.931, 0.733),
    "CoClustering": (0.963, 0.753),
    "BaselineOnly": (0.944, 0.748),
    "NormalPredictor": (1.518, 1.219),
}
# Surprise SVD deep dive notebook of Microsoft's Recommenders.
MICROSOFT = {
    "rmse": 0.948771,
    "mae": 0.747003,
    "r2": 0.288045,
    "ndcg(gain=binary, ties=first)@10": 0.110465,
    "ap(denominator=achievable, ties=first)@10": 0.051501,
    "precision(ties=first)@10": 0.100425,
    "recall(ties=first)@10": 0.035267,
}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))


def table(name, ratings, **options):
    done = harness.run(CONFIGS / f"{name}.yaml", ratings=ratings, results=None, **options)
    assert not done.failed
    return done.table.set_index("algorithm")


@pytest.mark.network
def test_the_full_catalogue_table_to_its_four_digits(ml_100k):
    rows = table("singh-2025", ml_100k, overrides=["seed=0"])
    found = rows["ndcg(gain=linear, undefined=0)@10"].round(4)
    assert {name: found[name] for name in FULL_CATALOGUE} == FULL_CATALOGUE


@pytest.mark.network
def test_the_readme_of_surprise_to_the_last_printed_digit(ml_100k):
    rows = table("surprise-readme", ml_100k)
    for name, (rmse, mae) in SURPRISE_README.items():
        # The source prints three digits; one in the last of them is its own rounding.
        assert rows.loc[name, "rmse"] == pytest.approx(rmse, abs=0.001), name
        assert rows.loc[name, "mae"] == pytest.approx(mae, abs=0.001), name


@pytest.mark.network
def test_the_notebook_of_microsoft_to_six_digits(ml_100k):
    row = table("microsoft-svd", ml_100k).loc["SVD"]
    assert {label: round(row[label], 6) for label in MICROSOFT} == MICROSOFT
    assert row["n_users"] == 942
