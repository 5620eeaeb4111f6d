"""Synthetic ratings: of the given size, the same on every machine, with something to learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import datasets
from harness._util.seeds import generator
from harness.datasets.section import SyntheticSection
from harness.datasets.synthetic import ACTIVITY, make_up


@st.composite
def sections(draw):
    n_users, n_items = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    least = max(n_users, n_items)
    n_ratings = draw(st.integers(least, max(least, n_users * n_items // 2)))
    return SyntheticSection(
        n_users=n_users,
        n_items=n_items,
        n_ratings=n_ratings,
        exponent=draw(st.floats(0, 4)),
        scale=draw(st.sampled_from([(0.5, 5.0), (1.0, 5.0), (-10.0, 10.0)])),
        step=draw(st.sampled_from([0.5, None])),
        seed=draw(st.integers(0, 5)),
    )


@settings(max_examples=min(200, 6 * settings().max_examples))  # all in a search
@given(sections())
def test_what_the_config_says_is_made_and_passes_the_checks_of_other_data(section):
    made = make_up(section)
    found = (made.n_users, made.n_items, len(made))
    assert found == (section.n_users, section.n_items, section.n_ratings)
    assert np.bincount(made.users).min() >= 1
    assert np.bincount(made.items).min() >= 1
    if section.step:
        steps = (made.ratings - section.scale[0]) / section.step
        np.testing.assert_array_equal(steps, np.round(steps))
    checked = datasets.Ratings.from_frame(made.to_frame(), scale=section.scale)  # no pair twice
    assert checked.fingerprint == made.fingerprint


SECTION = SyntheticSection(n_users=2_000, n_items=1_000, n_ratings=100_000)


def test_it_is_the_same_for_any_number_of_threads(monkeypatch):
    prints = set()
    for n_threads in ("1", "2", "7"):
        monkeypatch.setenv("HARNESS_THREADS", n_threads)
        prints.add(make_up(SECTION).fingerprint)
    assert len(prints) == 1


def shared_out(section, weight):
    """Return how many ratings each user gives, looking at every user in every round."""
    most = max(1, section.n_items * 3 // 4, math.ceil(section.n_ratings / section.n_users))
    counts = np.ones(section.n_users, dtype=np.int64)
    while (remaining := section.n_ratings - int(counts.sum())) > 0:
        share = np.where(counts < most, weight, 0.0)
        more = np.floor(remaining * share / share.sum()).astype(np.int64)
        if not more.any():
            few = min(remaining, int((counts < most).sum()))
            more[np.argsort(-share, kind="stable")[:few]] = 1
        counts = np.minimum(counts + more, most)
    return counts


@pytest.mark.parametrize("n_ratings", [20_000, 30_000, 100_000, 900_000, 1_400_000])
def test_ratings_are_shared_out_as_if_every_round_looked_at_every_user(n_ratings):
    section = SECTION.model_copy(update={"n_users": 20_000, "n_items": 100, "n_ratings": n_ratings})
    draws = generator(section.seed, "synthetic").standard_normal(section.n_users)
    found = np.bincount(make_up(section).users)
    np.testing.assert_array_equal(found, shared_out(section, np.exp(ACTIVITY * draws)))


def test_another_seed_gives_other_ratings_and_times_run_forward_for_each_user():
    made = make_up(SECTION)
    assert make_up(SECTION.model_copy(update={"seed": 1})).fingerprint != made.fingerprint
    assert made.timestamps is not None
    same_user = np.diff(made.users) == 0
    assert (np.diff(made.timestamps)[same_user] > 0).all()


def counts(exponent):
    made = make_up(SECTION.model_copy(update={"exponent": exponent}))
    rank = made.item_ids.astype(int) - 1
    return np.bincount(rank[made.items])


def test_popularity_falls_with_the_rank_as_the_exponent_says():
    """The counts of ranks 100 to 900, where no user has rated all, fall as rank ** -exponent."""
    tenths = counts(1.0).reshape(10, 100).sum(axis=1)
    assert (np.diff(tenths) < 0).all()
    assert tenths[0] > tenths[1:].sum() / 2
    ranks = np.arange(100, 900)
    slope = np.polyfit(np.log(ranks), np.log(counts(0.8)[ranks - 1] - 1.0 + 1e-9), 1)[0]
    assert slope == pytest.approx(-0.8, abs=0.1)
    assert counts(0.0).std() < 2 * np.sqrt(100)


def test_users_differ_in_what_they_rate_and_how_much():
    made = make_up(SECTION)
    activity = np.bincount(made.users)
    assert np.percentile(activity, 95) > 5 * np.median(activity)


def test_there_is_something_to_learn():
    """Biases explain a good part of the variance, and all of it is not explained by them."""
    made = make_up(SECTION.model_copy(update={"step": None}))
    centred = made.ratings - made.ratings.mean()
    by_user = np.bincount(made.users, centred) / np.bincount(made.users)
    rest = centred - by_user[made.users]
    by_item = np.bincount(made.items, rest) / np.bincount(made.items)
    rest -= by_item[made.items]
    assert 0.4 < rest.var() / centred.var() < 0.8


@pytest.mark.long
def test_as_many_as_in_movielens_25m_are_made():
    made = make_up(SyntheticSection(n_users=162_541, n_items=59_047, n_ratings=25_000_095))
    assert (made.n_users, made.n_items, len(made)) == (162_541, 59_047, 25_000_095)
