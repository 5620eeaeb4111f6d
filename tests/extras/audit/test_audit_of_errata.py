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
        {"as it is": rmse(wrong), "without the problem": rmse(wrong[~marked])}, abs=1e-12
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
    assert finding.effect["rmse"]["without the problem"] is None
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
    assert effect["as it is"] < effect["without the problem"]


def trained(train, algorithm=surprise.BaselineOnly):
    data = surprise.Dataset.load_from_df(train, surprise.Reader())
    return algorithm().fit(data.build_full_trainset())


def inner(trainset, table, roles=("user", "item")):
    """Return a table with Surprise's own positions in place of ids."""
    of_role = {"user": trainset.to_inner_uid, "item": trainset.to_inner_iid}
    return table.assign(**{role: table[role].map(of_role[role]) for role in roles})


@pytest.fixture
def parts(ratings, tmp_path):
    """Return a training and a test set, with ids in another order than their first rows."""
    moved = ratings.assign(user=1 + (ratings["user"] * 7) % 30, item=1 + (ratings["item"] * 9) % 40)
    train, test = halves(moved)
    return train, test, written(train, tmp_path / "train.csv")


@pytest.mark.parametrize("roles", [("user", "item"), ("item",), ("user",)])
def test_inner_ids_in_place_of_ids_are_found_by_the_training_pairs(parts, tmp_path, roles):
    train, test, file = parts
    model = trained(train)
    estimates = [model.predict(*pair).est for pair in test[["user", "item"]].to_numpy()]
    right = test.assign(estimate=estimates)
    wrong = inner(model.trainset, right, roles)
    finding = found(written(wrong, tmp_path / "p.csv"), train=file)["inner-ids"]
    assert (finding.code, finding.level) == ("inner-ids.test", "fault")
    assert finding.values["roles"] == [f"{role}s" for role in roles]
    known = pd.MultiIndex.from_frame(train[["user", "item"]])
    there = pd.MultiIndex.from_frame(wrong[["user", "item"]]).isin(known).sum()
    assert finding.values["seen"] == {"n": there, "n_all": len(test)}
    first = test.iloc[0]
    by_position = finding.values["right_user"], finding.values["right_item"]
    assert by_position == (f"{first['user']:.0f}", f"{first['item']:.0f}")
    assert "inner-ids" not in found(written(right, tmp_path / "right.csv"), train=file)


def test_inner_ids_of_a_training_part_that_is_predicted_itself_are_found(parts, tmp_path):
    train, _, file = parts
    right = train.assign(estimate=np.linspace(1, 5, len(train)))
    wrong = inner(trained(train).trainset, right)
    finding = found(written(wrong, tmp_path / "p.csv"), train=file)["inner-ids"]
    assert finding.code == "inner-ids.training"
    assert "inner-ids" not in found(written(right, tmp_path / "right.csv"), train=file)


def test_lists_of_inner_ids_have_the_score_of_their_ids(parts, tmp_path):
    train, test, file = parts
    model = trained(train)
    rated = set(map(tuple, train[["user", "item"]].to_numpy()))
    pairs = [(user, item) for user in range(1, 31) for item in range(1, 41)]
    lists = pd.DataFrame([pair for pair in pairs if pair not in rated], columns=["user", "item"])
    lists["estimate"] = [model.predict(*pair).est for pair in lists.to_numpy()]
    truth = written(test, tmp_path / "truth.csv")
    wrong = written(inner(model.trainset, lists, ["item"]), tmp_path / "wrong.csv")
    right = written(lists, tmp_path / "right.csv")
    effect = found(wrong, truth=truth, train=file)["inner-ids"].effect["ndcg@10"]
    right = harness.extras.audit.audit(right, truth=truth, train=file)
    assert "inner-ids" not in {each.id for each in right.findings}
    assert f"ndcg@10 {effect['without the problem']:.4f}" in right.summary
    assert effect["as it is"] < effect["without the problem"]


@pytest.mark.parametrize("n_leaked", [0, 3, 30, 120])
@pytest.mark.parametrize("name", ["BaselineOnly", "NormalPredictor", "SVD", "KNNBasic", "SlopeOne"])
def test_clean_and_leaky_files_of_ids_that_could_be_positions_are_no_inner_ids(
    ratings, tmp_path, name, n_leaked
):
    train, test = halves(ratings)  # ids from 0 on: each is a position too
    np.random.seed(0)
    model = trained(train, getattr(surprise, name))
    rows = pd.concat([test, train.iloc[:n_leaked]])
    estimates = [model.predict(*pair).est for pair in rows[["user", "item"]].to_numpy()]
    predictions = written(rows.assign(estimate=estimates), tmp_path / "p.csv")
    checks_of = found(predictions, train=written(train, tmp_path / "train.csv"))
    assert not {"inner-ids", "cut-ids", "cut-estimates"} & {*checks_of}
    assert ("test-in-training" in checks_of) == (n_leaked > 0)


def test_ids_cut_to_a_width_are_found(parts, tmp_path):
    train, test, _ = parts
    long = [table.assign(item=table["item"] * 1_000_003) for table in (train, test)]
    file = written(long[0], tmp_path / "long.csv")
    right = long[1].assign(estimate=np.linspace(1, 5, len(test)))
    wrong = right.assign(item=right["item"].astype(str).str[:7])
    known = {str(item) for item in long[0]["item"]}
    cut = ~wrong["item"].isin(known)  # 40000120 becomes 4000012, which is another item
    assert 0 < cut.sum() < (right["item"] >= 10_000_000).sum()
    finding = found(written(wrong, tmp_path / "p.csv"), train=file)["cut-ids"]
    assert finding.code == "cut-ids.beginnings"
    rows = wrong.drop_duplicates(["user", "item"])
    assert finding.values["cut"] == {"n": int(cut[rows.index].sum()), "n_all": len(rows)}
    assert str(finding.values["id"]).startswith(str(finding.values["first"]))
    others = rows[~cut[rows.index]]
    assert finding.effect["rmse"] == pytest.approx(
        {"as it is": rmse(rows), "without the problem": rmse(others)}, abs=1e-12
    )
    assert "cut-ids" not in found(written(right, tmp_path / "right.csv"), train=file)
    # Items that are new and short, beside as long ones as in training, are no cut ones.
    few = pd.concat([right, right.iloc[:9].assign(item=[*range(1, 10)])])
    assert "cut-ids" not in found(written(few, tmp_path / "few.csv"), train=file)
    shorter = right.assign(item=1_000_000 + right["item"] % 997)
    assert "cut-ids" not in found(written(shorter, tmp_path / "shorter.csv"), train=file)


def test_ids_written_as_powers_of_ten_are_found_without_training_pairs(parts, tmp_path):
    _, test, _ = parts
    rows = test.assign(estimate=np.linspace(1, 5, len(test)))
    wrong = rows.assign(item=[f"{123_400_000_000 + item * 10**7:.5E}" for item in rows["item"]])
    finding = found(written(wrong, tmp_path / "p.csv"))["cut-ids"]
    assert finding.code == "cut-ids.powers"
    assert finding.values["cut"]["n"] == finding.values["cut"]["n_all"]
    assert "cut-ids" not in found(written(rows.assign(item="1e5"), tmp_path / "name.csv"))


@pytest.mark.parametrize(("digits", "is_found"), [(0, False), (1, True), (2, True), (6, False)])
def test_estimates_of_few_decimals_are_found_where_their_ties_move_the_score(
    ratings, tmp_path, digits, is_found
):
    jitter = np.random.default_rng(2).normal(0, 0.6, len(ratings))
    exact = (ratings["rating"] + jitter).clip(1, 5)
    cut = np.floor(exact * 10**digits) / 10**digits
    checks_of = found(written(ratings.assign(estimate=cut), tmp_path / "p.csv"))
    assert ("cut-estimates" in checks_of) == is_found  # whole ones are ratings, not cut estimates
    if is_found:
        finding = checks_of["cut-estimates"]
        assert (finding.level, finding.values["digits"]) == ("caution", digits)
        assert finding.values["n_values"] == cut.nunique()
        orders = finding.effect["ndcg@10"]
        assert orders == {rule: checks_of["ties"].effect["ndcg@10"][rule] for rule in orders}
    alone = ratings.assign(estimate=ratings.groupby("user").cumcount().rsub(30) / 10)
    assert "cut-estimates" not in found(written(alone, tmp_path / "alone.csv"))
