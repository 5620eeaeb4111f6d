"""Users without training ratings: what each algorithm answers, and what may stand in its place."""

import numpy as np
import pandas as pd
import pytest

import harness
from harness.algorithms import registry
from harness.algorithms.trainset import ColumnTrainset
from harness.config.load import load
from harness.errors import ConfigError
from harness.experiment.plan import Plan
from harness.models import estimates as models
from harness.report.methods import methods

CONFIG = {
    "dataset": {"synthetic": {"n_users": 80, "n_items": 40, "n_ratings": 1500}},
    "split": {"kind": "global-time", "quantile": 0.7},
    "algorithms": ["SVD", "EASE", "ItemMean"],
    "metrics": ["ndcg@5", "rmse"],
    "statistics": None,
}
ANSWERS = {
    "the mean of all ratings": lambda model, item: model.trainset.global_mean,
    "the mean of all ratings plus the item's bias": lambda model, item: np.clip(
        model.trainset.global_mean + model.bi[item], 1, 5
    ),
    "0 for every item": lambda model, item: 0.0,
    "its estimate for every user": lambda model, item: (
        model.predict("1", model.trainset.to_raw_iid(item)).est
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, each in registry.algorithms().items()
        if each.kind != "library" and "random" not in each.unknown_user
    ],
)
def test_an_algorithm_answers_as_its_entry_says(name):
    rng = np.random.default_rng(3)
    users, items = np.divmod(np.sort(rng.choice(20 * 12, 120, replace=False)), 12)
    ids = [str(n) for n in range(21)], [str(n) for n in range(12)]
    columns = ColumnTrainset.from_columns(
        users, items, rng.integers(1, 6, 120), user_ids=ids[0], item_ids=ids[1], scale=(1, 5)
    )
    model = registry.create(name, {}, 0)
    models.fit(model, columns)
    answer = ANSWERS[registry.entry(name).unknown_user.partition(",")[0]]
    found, _ = models.estimate(model, np.full(columns.n_items, 20), columns.item_codes)
    expected = [answer(model, item) for item in range(columns.n_items)]
    np.testing.assert_allclose(found, expected, 1e-12)


@pytest.fixture(scope="module")
def parts():
    """The training and the test ratings of the split, and which of the latter have no user."""
    split = Plan.from_config(CONFIG).splits(0, 0, 0)[0]
    data = split.ratings
    frame = pd.DataFrame({"user": data.users, "item": data.items, "rating": data.ratings})
    train, test = frame.iloc[split.train], frame.iloc[split.test]
    unknown = ~test["user"].isin(train["user"])
    assert 0 < unknown.sum() < len(test)
    return train, test, unknown, data


@pytest.mark.sample(3)
@pytest.mark.parametrize("fallback", ["mean", "item-mean", "popularity"])
@pytest.mark.parametrize("candidates", ["rated", "catalogue", {"kind": "sampled", "n": 10}])
def test_the_baseline_answers_for_unknown_users_alone(parts, fallback, candidates):
    _, test, unknown, data = parts
    baseline = {"mean": "UserMean", "item-mean": "ItemMean", "popularity": "Popularity"}[fallback]
    config = CONFIG | {"candidates": candidates, "algorithms": ["SVD", "EASE", baseline]}
    runs = [harness.run(config | {"fallback": f}, results=None) for f in ("default", fallback)]
    strangers = set(data.user_ids[test["user"][unknown].unique()])
    plain, replaced = (
        run.users.pivot_table(index="user", columns="algorithm", values="ndcg@5") for run in runs
    )
    is_stranger = plain.index.isin(strangers)
    assert is_stranger.sum() == runs[0].info.cells[0].n_unknown_users
    for name in ("SVD", "EASE"):
        pd.testing.assert_series_equal(plain[name][~is_stranger], replaced[name][~is_stranger])
        pd.testing.assert_series_equal(
            replaced[name][is_stranger], plain[baseline][is_stranger], check_names=False
        )
    assert harness.best(runs[1]).config["fallback"] == fallback
    note = f"come from {baseline} (`fallback: {fallback}`), whatever the algorithm"
    assert any(note in str(each) for each in runs[1].info.notes)
    text = dict(methods(runs[1].info).paragraphs)["Algorithms"]
    assert text.count("the estimate of every algorithm is") == 1


def test_estimates_are_those_of_a_plain_computation(parts):
    train, test, unknown, data = parts
    means = train.groupby("item")["rating"].mean()
    expected = {
        "mean": pd.Series(train["rating"].mean(), test.index),
        "item-mean": test["item"].map(means).fillna(train["rating"].mean()),
        "popularity": 0.5 + 4.5 * test["item"].map(train["item"].value_counts()).fillna(0)
        / train["item"].value_counts().max(),
    }  # fmt: skip
    for fallback, estimates in expected.items():
        config = CONFIG | {"fallback": fallback, "algorithms": ["SVD"], "metrics": ["mae"]}
        users = harness.run(config | {"baselines": False}, results=None).users
        found = users.set_index("user")["mae"]
        errors = (estimates - test["rating"])[unknown].abs()
        by_user = errors.groupby(data.user_ids[test["user"][unknown]].astype(str)).mean()
        np.testing.assert_allclose(found[by_user.index], by_user, 1e-12)


def test_answers_are_stated_in_the_record_and_the_methods():
    info = harness.run(CONFIG, results=None).info
    expected = "without `biased` only the mean; EASE: 0 for every item (`fallback` exchanges"
    assert any(expected in str(note) for note in info.notes)
    text = dict(methods(info).paragraphs)["Algorithms"]
    assert "0 for every item (EASE)" in text
    alike = harness.run(CONFIG | {"algorithms": ["ItemMean"]}, results=None).info
    assert not any(note.code == "unknown-users-answered" for note in alike.notes)
    known = harness.run(CONFIG | {"split": "holdout"}, results=None).info
    assert "without training ratings" not in dict(methods(known).paragraphs)["Algorithms"]


def test_another_word_is_refused_and_the_default_leaves_the_keys_of_cells():
    with pytest.raises(ConfigError, match="fallback: found 'median'"):
        load(CONFIG | {"fallback": "median"})
    plain, written = (Plan.from_config(c) for c in (CONFIG, CONFIG | {"fallback": "default"}))
    other = Plan.from_config(CONFIG | {"fallback": "mean"})
    assert [c.key for c in plain.cells] == [c.key for c in written.cells]
    assert not {c.key for c in plain.cells} & {c.key for c in other.cells}
