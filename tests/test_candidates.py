"""Who is asked about which items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import candidates
from harness.config.candidates import Catalogue, Rated, Sampled
from harness.config.splitting import Holdout
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits import Split, make


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(0)
    pairs = sorted({(int(u), int(i)) for u, i in rng.integers(0, [30, 40], size=(700, 2))})
    rng.shuffle(pairs)
    users, items = zip(*pairs, strict=True)
    ratings = Ratings.from_columns(users, items, rng.integers(1, 6, len(users)), scale=(1, 5))
    return make(Holdout(test_size=0.3, random_state=0), ratings, 0)[0]


def test_every_test_rating_is_asked_for_once_in_its_place(split):
    asked = candidates.choose(Rated(), split, 0)
    rows = split.test[asked.order]
    owners = np.repeat(asked.users, np.diff(asked.offsets))
    assert sorted(asked.order.tolist()) == list(range(len(split.test)))
    assert (split.ratings.users[rows] == owners).all()
    assert (split.ratings.items[rows] == asked.items).all()
    assert (split.ratings.ratings[rows] == asked.ratings).all()


def test_items_keep_the_order_of_the_test_set_within_a_user(split):
    asked = candidates.choose(Rated(), split, 0)
    for start, stop in zip(asked.offsets[:-1], asked.offsets[1:], strict=True):
        assert (np.diff(asked.order[start:stop]) > 0).all()


@given(st.integers(1, 60), st.integers(0, 5))
def test_a_sample_holds_nothing_that_its_user_rated(split, n, seed):
    asked = candidates.choose(Sampled(n=n), split, seed)
    ratings = split.ratings
    in_training = set(ratings.items[split.train].tolist())
    for place, user in enumerate(asked.users):
        sampled = asked.extra_items[asked.extra_offsets[place] : asked.extra_offsets[place + 1]]
        rated = set(ratings.items[ratings.users == user].tolist())
        free = in_training - rated
        assert len(sampled) == len(set(sampled.tolist())) == min(n, len(free))
        assert set(sampled.tolist()) <= free


def test_a_sample_depends_on_the_seed_alone(split):
    first, again, other = (candidates.choose(Sampled(n=5), split, s) for s in (1, 1, 2))
    assert np.array_equal(first.extra_items, again.extra_items)
    assert not np.array_equal(first.extra_items, other.extra_items)


def test_every_free_item_is_sampled_equally_often(split):
    counts = np.zeros(split.ratings.n_items)
    for seed in range(600):
        asked = candidates.choose(Sampled(n=3), split, seed)
        counts[asked.extra_items[: asked.extra_offsets[1]]] += 1
    drawn = counts[counts > 0]
    # A multinomial count of mean m has variance below m; five deviations are ample.
    assert abs(drawn - drawn.mean()).max() < 5 * np.sqrt(drawn.mean())


def _without_known_users(split):
    first = split.ratings.users == split.ratings.users[0]
    return Split(
        split.ratings, np.flatnonzero(~first), np.flatnonzero(first), "own", 0, 1, "fingerprint", ()
    )


@pytest.mark.parametrize("section", [Rated, Catalogue, Sampled])
def test_dropping_unknown_users_leaves_somebody_or_says_so(split, section):
    cold = _without_known_users(split)
    assert candidates.choose(section(), cold, 0).kept.any()
    with pytest.raises(SplitError, match="no test user has a training rating"):
        candidates.choose(section(unknown_users="drop"), cold, 0)


def test_nothing_to_sample_is_an_error():
    users, items = np.divmod(np.arange(6), 2)
    ratings = Ratings.from_columns(users, items, [1, 2, 3, 4, 5, 1], scale=(1, 5))
    full = Split(ratings, np.arange(4), np.arange(4, 6), "own", 0, 1, "fingerprint", ())
    with pytest.raises(SplitError, match="nothing to sample"):
        candidates.choose(Sampled(n=1), full, 0)


def test_items_unseen_in_training_are_marked(split):
    asked = candidates.choose(Catalogue(), split, 0)
    trained = np.isin(asked.items, split.ratings.items[split.train])
    assert np.array_equal(asked.known, trained)
