"""For whom it works: groups of users and items, against plain pandas, SciPy and Surprise."""

import numpy as np
import pandas as pd
import pytest
import surprise
from scipy import stats

import harness
from harness.config.experiment import GroupSection
from harness.errors import DataError
from harness.experiment.analyses.groups import divide
from harness.experiment.plan import Plan
from harness.splits.base import assemble

GENRES = ["Action|Comedy", "Comedy", "Drama", "", "Drama|Comedy"]
SPLIT = {"kind": "holdout", "test_size": 0.4, "random_state": 3}


@pytest.fixture(scope="module")
def ratings():
    """200 users, of whom 20 have a single rating, and 60 items of very unequal popularity."""
    rng = np.random.default_rng(4)
    counts = [1] * 20 + [8] * 90 + [25] * 90
    users = np.repeat(np.arange(200), counts)
    shares = 1 / np.arange(1, 61)
    items = [rng.choice(60, n, replace=False, p=shares / shares.sum()) for n in counts]
    values = rng.integers(1, 6, len(users))
    table = pd.DataFrame({"user": users, "item": np.concatenate(items), "rating": values})
    table = table.sample(frac=1, random_state=1)
    ages = pd.DataFrame({"user": range(190), "age": [18 + n % 60 for n in range(190)]})
    genres = pd.DataFrame({"item": range(60), "genre": [GENRES[n % 5] for n in range(60)]})
    return harness.load(table, users=ages.astype(str), items=genres.astype(str))


def make(ratings, **config):
    base = {"split": SPLIT, "algorithms": ["BaselineOnly", "SVD"], "metrics": ["ndcg@5"]}
    return harness.run({**base, **config}, ratings=ratings, results=None)


def folds_of(ratings, split=SPLIT):
    config = {"split": split, "algorithms": ["SVD"], "metrics": ["mae"]}
    return Plan.from_config(config, ratings=ratings).splits(0, 0, 0)


def mean_of(group):
    """Return the scores of SVD in a group, with interval and rest."""
    return next(each for each in group.algorithms if each.algorithm == "SVD")


def group_of(run, title, group, candidates="rated"):
    (found,) = [g for g in run.info.groups if (g.title, g.candidates) == (title, candidates)]
    return found, next(each for each in found.groups if each.group == group)


def bootstrap(*samples, statistic):
    found = stats.bootstrap(
        samples, statistic, n_resamples=10_000, vectorized=False, method="BCa", rng=0, paired=False
    )
    return found.confidence_interval


def near(low, high, of):
    """Return ends that two bootstraps of 10,000 resamples agree on."""
    return pytest.approx((low, high), abs=0.06 * (of[1] - of[0]))


def test_values_intervals_and_gaps_of_user_groups_are_those_of_pandas_and_scipy(ratings):
    split = {"kind": "kfold", "n_splits": 3, "random_state": 0}
    run = make(ratings, split=split, groups=[{"users": "training_ratings", "quantiles": 2}])
    n_train = pd.concat(
        ratings.take(fold.train).to_frame().groupby("user").size()
        .reindex(ratings.take(fold.test).to_frame()["user"].unique(), fill_value=0)
        for fold in folds_of(ratings, split)
    )  # fmt: skip
    n_train = n_train.groupby(level=0).mean().round()
    found = run.info.groups[0]
    assert found.groups[0].group == "0"
    scores = run.users[run.users["algorithm"] == "SVD"].groupby("user")["ndcg@5"].mean()
    for group in found.groups[1:]:
        low, high = map(int, (group.group.split(" to ") * 2)[:2])
        inside = n_train.between(low, high).reindex(scores.index)
        mean = mean_of(group)
        assert group.n_members == inside.sum()
        assert mean.mean == pytest.approx(scores[inside].mean(), abs=1e-12)
        ends = bootstrap(scores[inside], statistic=np.mean)
        assert (mean.low, mean.high) == near(*ends, ends)
        assert mean.rest == pytest.approx(scores[inside].mean() - scores[~inside].mean(), abs=1e-12)
        ends = bootstrap(
            scores[inside], scores[~inside], statistic=lambda a, b: np.mean(a) - np.mean(b)
        )
        assert (mean.rest_low, mean.rest_high) == near(*ends, ends)
    assert found.groups[0].is_small
    assert {each.letters for each in found.groups[0].algorithms} == {""}
    (gap,) = [each for each in found.gaps if each.algorithm == "SVD"]
    assert {gap.greatest, gap.least} == {each.group for each in found.groups[1:]}
    means = {group.group: mean_of(group).mean for group in found.groups}
    assert gap.difference == pytest.approx(means[gap.greatest] - means[gap.least], abs=1e-12)


def ndcg_of_items(ranked, judged, members, k=5):
    """NDCG@k by its formula: ranks of the whole list, gains and ideal of the members alone."""
    gains = {item: 2**rating - 1 for item, rating in judged.items() if item in members}
    if not gains:
        return np.nan
    discount = 1 / np.log2(np.arange(2, k + 2))
    found = sum(gains.get(item, 0) * d for item, d in zip(ranked, discount, strict=False))
    best = sum(g * d for g, d in zip(sorted(gains.values(), reverse=True), discount, strict=False))
    return found / best


@pytest.mark.parametrize("candidates", ["rated", "catalogue"])
def test_item_groups_are_what_a_plain_loop_over_surprises_predictions_gives(ratings, candidates):
    groups = [{"items": "popularity"}, {"items": "genre"}]
    run = make(ratings, candidates=candidates, groups=groups, metrics=["ndcg(undefined=0)@5"])
    (split,) = folds_of(ratings)
    train, test = (ratings.take(rows) for rows in (split.train, split.test))
    (cell,) = [each for each in run.info.cells if each.algorithm == "SVD"]
    model = surprise.SVD(random_state=cell.params["random_state"])
    model.fit(train.to_surprise().build_full_trainset())
    sizes = train.to_frame().groupby("item").size().sort_values(ascending=False, kind="stable")
    before = sizes.cumsum() - sizes
    head = set(sizes.index[before < sizes.sum() / 3])
    comedy = {str(n) for n in range(60) if "Comedy" in GENRES[n % 5]}
    seen = train.to_frame().groupby("user")["item"].agg(set).to_dict()
    scores = {"head": {}, "Comedy": {}}
    rest = {"head": {}, "Comedy": {}}
    for user, own in test.to_frame().groupby("user"):
        judged = dict(zip(own["item"], own["rating"], strict=True))
        listed = judged if candidates == "rated" else set(sizes.index) - seen.get(user, set())
        ranked = sorted(listed, key=lambda item: -model.predict(user, item).est)
        for name, members in (("head", head), ("Comedy", comedy)):
            scores[name][user] = ndcg_of_items(ranked, judged, members)
            rest[name][user] = ndcg_of_items(ranked, judged, {*judged} - members)
    for title, name in (("items: popularity", "head"), ("items: genre", "Comedy")):
        _, group = group_of(run, title, name, candidates)
        mean = mean_of(group)
        values = pd.Series(scores[name])
        assert (group.n_users, group.n_left_out) == (values.count(), values.isna().sum())
        assert mean.mean == pytest.approx(values.mean(), abs=1e-9)
        paired = (values - pd.Series(rest[name])).dropna()
        assert mean.rest == pytest.approx(paired.mean(), abs=1e-9)
        ends = bootstrap(paired, statistic=np.mean)
        assert (mean.rest_low, mean.rest_high) == near(*ends, ends)


@pytest.mark.parametrize("candidates", ["rated", "catalogue", {"kind": "sampled", "n": 10}])
def test_a_group_of_all_items_has_the_values_of_the_table(ratings, candidates):
    everything = pd.DataFrame({"item": ratings.item_ids, "all": "x"})
    own = harness.load(ratings, items=everything)
    labels = ["ndcg@5", "ap(threshold=4)@5", "precision(threshold=4, ties=worst)@3", "rmse"]
    run = make(own, candidates=candidates, groups=[{"items": "all"}], metrics=labels)
    shown = [each for each in run.info.groups if each.side == "items"]
    assert [each.metric for each in shown] == labels[:3]
    for found in shown:
        table = run.table.set_index("algorithm")[found.metric]
        assert {each.algorithm: each.mean for each in found.groups[0].algorithms} == pytest.approx(
            table.to_dict(), abs=1e-12
        )
        bound = run.bounds.set_index("bound").loc["random order, expected", found.metric]
        assert found.groups[0].random == pytest.approx(bound, nan_ok=True)


def test_known_and_unknown_users_are_apart_without_being_asked_for(ratings):
    run = make(ratings, candidates=["rated", {"kind": "catalogue", "unknown_users": "drop"}])
    (found,) = run.info.groups
    assert (found.title, found.candidates) == ("users: known", "rated")
    (split,) = folds_of(ratings)
    known, tested = ({*ratings.users[rows]} for rows in (split.train, split.test))
    sizes = {each.group: each.n_members for each in found.groups}
    assert sizes == {"known": len(tested & known), "unknown": len(tested - known)}
    notes = " ".join(map(str, run.info.notes))
    assert f"{len(tested - known)} of {len(tested)} test users are unknown to the model" in notes
    # Under another seed some of the unknown users are known.
    seeds = make(ratings, split={"kind": "holdout", "test_size": 0.9}, seed=[0, 1])
    assert "of 200 test users are unknown to the model" in " ".join(map(str, seeds.info.notes))


def test_metrics_that_groups_cannot_have_are_named(ratings):
    run = make(ratings, metrics=["rmse"], groups=[{"items": "popularity"}])
    assert not run.info.groups
    assert "groups by items: popularity: without rmse: " in " ".join(map(str, run.info.notes))


COLUMN = ["5", "5", "7", None, "9"]


def small(column=COLUMN, side="items"):
    """Five items with 6, 3, 2, 1 and 0 training ratings, and users with as many the other way."""
    pairs = [(user, item) for item, n in enumerate((6, 3, 2, 1)) for user in range(n)]
    pairs += [(user, 4) for user in range(6)]
    own, other = zip(*pairs, strict=True)
    table = pd.DataFrame({"user": own, "item": other, "rating": 3.0})
    features = pd.DataFrame({"id": [str(n) for n in range(len(column))], "own": column})
    ratings = harness.load(table, **{side: features})
    rows = np.arange(len(ratings))
    return assemble("made", ratings, [(rows[:12], rows[12:])])


@pytest.mark.parametrize(
    ("section", "column", "expected"),
    [
        # Thirds of 12 ratings end at 4 and 8: the first item alone, the next one and its third.
        ({"items": "popularity"}, COLUMN,
         {"head": "0", "middle": "1", "tail": "23", "unknown": "4"}),
        ({"users": "known"}, COLUMN, {"known": "012345", "unknown": ""}),
        # Users have 4, 3, 2, 1, 1 and 1 training ratings.
        ({"users": "training_ratings", "quantiles": 2}, COLUMN, {"1": "345", "2 to 4": "012"}),
        ({"items": "own"}, COLUMN, {"5": "01", "7": "2", "9": "4", "unknown": "3"}),
        ({"items": "own", "quantiles": 2}, COLUMN, {"5": "01", "7 to 9": "24", "unknown": "3"}),
        ({"items": "own"}, ["a| |b", "b", "a | unknown", " ", "10"],
         {"10": "4", "a": "02", "b": "01", "unknown": "23"}),
    ],
)  # fmt: skip
def test_who_belongs_to_which_group(section, column, expected):
    found = divide(GroupSection(**section), small(column))
    members = ["".join(map(str, np.flatnonzero(mask))) for mask in found.masks[0]]
    assert dict(zip(found.names, members, strict=True)) == expected


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"items": "onw"}, r"items: onw: frame has no column 'onw' of items; did you mean 'own'\?"),
        ({"users": "age"}, "no file of users; use one of known, training_ratings; or give `users:"),
        ({"items": "own", "quantiles": 3}, "'x' is not a number; leave `quantiles` out"),
    ],
)
def test_a_column_that_cannot_be_used_is_refused(section, message):
    with pytest.raises(DataError, match=message):
        divide(GroupSection(**section), small(["1", "2", "x", "3", "4"]))


def test_bad_groups_stop_a_run_before_the_first_fit(tmp_path, cli):
    path = tmp_path / "bad.yaml"
    path.write_text(
        "dataset: bundled\nalgorithms: [SVD]\nmetrics: [ndcg@5]\ngroups: [{users: x}]\n"
    )
    for name in ("check", "run"):
        code, out, err = cli(name, path)
        assert code == 2
        assert "groups: users: x: " in out + err
    path.write_text(path.read_text().replace("users: x", "users: known, quantiles: 3"))
    message = "bad.yaml:4: groups[0]: quantiles: known has its own groups"
    assert message in cli("run", path)[2]
