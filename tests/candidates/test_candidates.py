"""Which users and items each kind of candidates selects."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from harness.candidates.base import CandidatesSection, Catalogue, Rated
from harness.candidates.sampled import Sampled
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import Split, make
from harness.splits.random import Holdout


def split_of(ratings, train, test):
    return Split(ratings, train, test, "own", 0, 1, "fingerprint", ())


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(0)
    pairs = sorted({(int(u), int(i)) for u, i in rng.integers(0, [30, 40], size=(700, 2))})
    rng.shuffle(pairs)
    users, items = zip(*pairs, strict=True)
    ratings = Ratings.from_columns(users, items, rng.integers(1, 6, len(users)), scale=(1, 5))
    return make(Holdout(test_size=0.3, random_state=0), ratings, 0)[0]


def test_every_test_rating_is_selected_once_in_the_order_of_the_test_set(split):
    selected = Rated().select(split, 0)
    rows = split.test[selected.order]
    assert sorted(selected.order.tolist()) == list(range(len(split.test)))
    owners = np.repeat(selected.users, np.diff(selected.offsets))
    for column, found in (("users", owners), ("items", selected.items)):
        assert (getattr(split.ratings, column)[rows] == found).all()
    assert (split.ratings.ratings[rows] == selected.ratings).all()
    for start, stop in zip(selected.offsets[:-1], selected.offsets[1:], strict=True):
        assert (np.diff(selected.order[start:stop]) > 0).all()


@given(st.integers(1, 60), st.integers(0, 5), st.sampled_from([None, "popularity"]))
def test_a_sample_holds_nothing_that_its_user_rated(split, n, seed, by):
    found = Sampled(n=n, by=by).select(split, seed)
    ratings = split.ratings
    in_training = set(ratings.items[split.train].tolist())
    for place, user in enumerate(found.users):
        sampled = found.extra_items[found.extra_offsets[place] : found.extra_offsets[place + 1]]
        free = in_training - set(ratings.items[ratings.users == user].tolist())
        assert len(sampled) == len(set(sampled.tolist())) == min(n, len(free))
        assert set(sampled.tolist()) <= free


def test_a_sample_depends_on_the_seed_alone(split):
    first, again, other = (Sampled(n=5).select(split, seed).extra_items for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_every_free_item_is_sampled_equally_often(split):
    counts = np.zeros(split.ratings.n_items)
    for seed in range(600):
        found = Sampled(n=3).select(split, seed)
        counts[found.extra_items[: found.extra_offsets[1]]] += 1
    drawn = counts[counts > 0]
    # A multinomial count of mean m has variance below m; five deviations are ample.
    assert abs(drawn - drawn.mean()).max() < 5 * np.sqrt(drawn.mean())


@pytest.mark.parametrize(("n_items", "n"), [(6, 2), (12, 2)])  # all are listed, or rejected
def test_a_sample_by_popularity_has_the_chances_of_successive_draws(n_items, n):
    """Each draw takes an item of the rest in proportion to its training ratings."""
    weights = np.arange(1, n_items + 1)
    raters = [(user, item) for item in range(n_items) for user in range(1, weights[item] + 1)]
    rows = [(0, n_items), *raters]  # user 0 rated one item, in the test set
    users, items = zip(*rows, strict=True)
    ratings = Ratings.from_columns(users, items, np.ones(len(rows)), scale=(1, 5))
    split = split_of(ratings, np.arange(1, len(rows)), np.array([0]))
    n_draws, counts = 2000, np.zeros((n_items, n_items))
    for seed in range(n_draws):
        found = Sampled(n=n, by="popularity").select(split, seed).extra_items
        one, other = (int(ratings.item_ids[item]) for item in found)
        counts[min(one, other), max(one, other)] += 1
    total = weights.sum()
    counted, chances = [], []
    for one, other in itertools.combinations(range(n_items), 2):
        p, q = weights[one] / total, weights[other] / total
        chances.append(p * q / (1 - p) + q * p / (1 - q))
        counted.append(counts[one, other])
    assert sum(chances) == pytest.approx(1)
    assert scipy.stats.chisquare(counted, n_draws * np.array(chances)).pvalue > 1e-4


@pytest.mark.parametrize("kind", [Rated, Catalogue, Sampled])
def test_dropping_unknown_users_leaves_one_or_is_refused(split, kind):
    first = split.ratings.users == split.ratings.users[0]
    cold = split_of(split.ratings, np.flatnonzero(~first), np.flatnonzero(first))
    assert kind().select(cold, 0).n_users == 1
    with pytest.raises(SplitError, match=r", fold 1 of 1: no test user has a training"):
        kind(unknown_users="drop").select(cold, 0)


def test_nothing_to_sample_is_an_error():
    users, items = np.divmod(np.arange(6), 2)
    ratings = Ratings.from_columns(users, items, [1, 2, 3, 4, 5, 1], scale=(1, 5))
    with pytest.raises(SplitError, match="nothing to sample"):
        Sampled(n=1).select(split_of(ratings, np.arange(4), np.arange(4, 6)), 0)


def test_items_unseen_in_training_are_marked(split):
    found = Catalogue().select(split, 0)
    trained = np.isin(found.items, split.ratings.items[split.train])
    assert np.array_equal(found.known, trained)


def test_a_short_name_tells_its_kind():
    assert Sampled(n=3, by="popularity").describe() == "sampled 3 by popularity"
    assert (
        "at random, in proportion to their training ratings, from"
        in Sampled(by="popularity").sentence()
    )
    for section in (Sampled(n=3), Sampled(unknown_users="drop"), Rated(), Catalogue()):
        assert CandidatesSection.of_name(section.describe()) is type(section)
