"""Each mechanism of the page of errata, made on purpose, and the check that finds it."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.extras.audit import audit


@pytest.fixture
def ratings():
    """Return 24 ratings, in whole stars, of each of 30 users, who like items alike."""
    draws = np.random.default_rng(1)
    rows = [(user, item) for user in range(30) for item in draws.permutation(40)[:24]]
    table = pd.DataFrame(rows, columns=["user", "item"])
    liked = 3 + 1.5 * np.sin(table["item"]) + draws.normal(0, 0.7, len(table))
    return table.assign(rating=liked.round().clip(1, 5))


def written(table, path):
    table.to_csv(path, index=False)
    return path


def found(*arguments, **options):
    return {finding.id: finding for finding in audit(*arguments, **options).findings}


def rmse(table):
    return float(np.sqrt(((table["estimate"] - table["rating"]) ** 2).mean()))


def halves(table):
    test = np.arange(len(table)) % 4 == 0
    return table[~test], table[test]


def test_rows_that_are_all_one_random_predictor_are_indistinct():
    labels = ("SVD", "KNNBasic", "SlopeOne")
    rows = [
        {"name": "NormalPredictor", "label": label, "params": {"random_state": seed}}
        for seed, label in enumerate(labels)
    ]
    config = {
        "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1500}},
        "algorithms": rows,
        "metrics": ["ndcg@5"],
        "baselines": False,
    }
    run = harness.run(config, results=None)
    codes = {finding.code for finding in audit(run).findings}
    assert "indistinct.letters" in codes


def test_ids_that_are_text_are_unknown(ratings, tmp_path):
    train, test = halves(ratings)
    data = surprise.Dataset.load_from_df(train, surprise.Reader())
    model = surprise.SVD(random_state=0).fit(data.build_full_trainset())
    pairs = test[["user", "item"]].astype(str).itertuples(index=False)
    estimates = [model.predict(user, item).est for user, item in pairs]
    assert estimates == pytest.approx([train["rating"].mean()] * len(test), abs=1e-12)
    assert "unknown-ids" in found(written(test.assign(estimate=estimates), tmp_path / "p.csv"))


def test_a_scale_of_one_to_five_cuts_estimates_of_other_ratings(ratings, tmp_path):
    jokes = ratings.assign(rating=(ratings["rating"] - 3) * 5)
    train, test = halves(jokes)

    def estimates(scale):
        data = surprise.Dataset.load_from_df(train, surprise.Reader(rating_scale=scale))
        model = surprise.SVD(n_factors=10, random_state=42).fit(data.build_full_trainset())
        return [model.predict(*pair).est for pair in test[["user", "item"]].to_numpy()]

    wrong = test.assign(estimate=estimates((1, 5)))
    right = test.assign(estimate=estimates((-10, 10)))
    assert rmse(wrong) > rmse(right)
    metric = "ndcg(negative=zero)@10"
    assert "clipped" in found(written(wrong, tmp_path / "wrong.csv"), metric=metric)
    assert "clipped" not in found(written(right, tmp_path / "right.csv"), metric=metric)


def test_a_mark_counted_as_an_estimate_is_found_with_its_effect(ratings, tmp_path):
    jitter = np.random.default_rng(2).normal(0, 0.6, len(ratings))
    right = ratings.assign(estimate=ratings["rating"] + jitter)
    marked = right["item"].eq(39)
    wrong = right.assign(estimate=right["estimate"].mask(marked, -1.0))
    assert 1 < marked.sum() < len(right) / 2
    wrong.loc[~marked, "estimate"] = wrong.loc[~marked, "estimate"].clip(1, 5)
    finding = found(written(wrong, tmp_path / "p.csv"))["marked-estimates"]
    assert finding.level == "fault"
    assert finding.effect["rmse"] == pytest.approx(
        {"as it is": rmse(wrong), "without the fault": rmse(wrong[~marked])}, abs=1e-12
    )
    assert f"{marked.sum()} of {len(wrong)}" in finding.what
    # Estimates beyond the ratings that differ are of a model that is not clipped.
    assert "marked-estimates" not in found(written(right, tmp_path / "right.csv"))
    # One pair, or a number among the ratings, is no mark.
    alone = right.assign(estimate=right["estimate"].clip(1, 5))
    alone.loc[0, "estimate"] = -1.0
    assert "marked-estimates" not in found(written(alone, tmp_path / "one.csv"))


def test_a_mark_above_the_ratings_is_found_too(ratings, tmp_path):
    wrong = ratings.assign(estimate=ratings["rating"] - np.arange(len(ratings)) / 2000)
    wrong.loc[[3, 8, 11], "estimate"] = 99.0
    assert "marked-estimates" in found(written(wrong, tmp_path / "p.csv"))


def test_the_mean_of_the_user_for_every_item_leaves_all_to_ties(ratings, tmp_path):
    prices = ratings.set_index(np.arange(len(ratings)))
    one, other = prices[prices["item"] == 1]["rating"], prices[prices["item"] == 2]["rating"]
    assert (one - other).isna().all()  # no label in common
    fallback = ratings.groupby("user")["rating"].transform("mean")
    assert "ties" in found(written(ratings.assign(estimate=fallback), tmp_path / "p.csv"))


def test_the_ratings_of_an_anti_test_set_are_filled_in(ratings, tmp_path):
    data = surprise.Dataset.load_from_df(ratings, surprise.Reader()).build_full_trainset()
    model = surprise.BaselineOnly(verbose=False).fit(data)
    predictions = model.test(data.build_anti_testset())
    rows = pd.DataFrame(
        [(each.uid, each.iid, each.est, each.r_ui) for each in predictions],
        columns=["user", "item", "estimate", "rating"],
    )
    finding = found(written(rows, tmp_path / "p.csv"))["filled-ratings"]
    expected = surprise.accuracy.rmse(predictions, verbose=False)
    assert finding.effect["rmse"]["as it is"] == pytest.approx(expected, abs=1e-12)
    assert finding.effect["rmse"]["without the fault"] is None
    # Equal ratings that somebody may give are not.
    given = rows.assign(rating=3.5)
    assert "filled-ratings" not in found(written(given, tmp_path / "given.csv"))


def test_pairs_of_another_fold_stand_in_training(ratings, tmp_path):
    train, test = halves(ratings)
    shown = pd.concat([test.iloc[:4], train.iloc[:9]]).assign(estimate=np.arange(13) / 4)
    shown = written(shown, tmp_path / "p.csv")
    finding = found(shown, train=written(train, tmp_path / "t.csv"))["test-in-training"]
    assert finding.what.startswith("9 of 13")


def test_training_items_left_in_lists_take_first_places(ratings, tmp_path):
    train, test = halves(ratings)
    ranked = pd.concat([train, test]).sort_values("rating", ascending=False, kind="stable")
    ranked = ranked.assign(rank=ranked.groupby("user").cumcount() + 1)
    lists = written(ranked[["user", "item", "rank"]], tmp_path / "lists.csv")
    files = {
        "truth": written(test, tmp_path / "test.csv"),
        "train": written(train[["user", "item"]], tmp_path / "train.csv"),
    }
    effect = found(lists, **files)["training-items"].effect["ndcg@10"]
    assert effect["as it is"] < effect["without the fault"]
