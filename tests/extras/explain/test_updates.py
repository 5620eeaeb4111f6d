"""Models that go on with new ratings, against fits on all of them."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness.algorithms import registry
from harness.errors import AlgorithmError, DataError

RNG = np.random.default_rng(8)
ROWS = [
    (f"u{user}", int(item), float(RNG.integers(1, 6)))
    for user in range(15)
    for item in RNG.permutation(12)[: RNG.integers(4, 10)]
]
NEW = [("u3", 99, 4.0), ("u14", ROWS[-1][1], 1.0), ("w", 3, 2.0), ("w", 99, 5.0), ("u0", 11, 3.0)]
NEW = [row for row in NEW if row[:2] not in {old[:2] for old in ROWS[:-1]}]


def dataset(rows):
    frame = pd.DataFrame(rows, columns=["user", "item", "rating"])
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5)))


def fitted(name, rows, **params):
    return harness.fit(registry.create(name, params, seed=0), dataset(rows))


def together():
    """Return all ratings: those of pairs that are given again are the new ones, in their place."""
    again = {row[:2]: row for row in NEW}
    known = {row[:2] for row in ROWS}
    old = [again.get(row[:2], row) for row in ROWS]
    return [*old, *(row for row in NEW if row[:2] not in known)]


PAIRS = [(user, item) for user in ("u0", "u3", "u14", "w", "?") for item in (*range(12), 99, -1)]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("KNNBasic", {}),
        ("KNNBasic", {"sim_options": {"user_based": False, "name": "cosine"}}),
        ("KNNWithMeans", {}),
        ("KNNWithZScore", {"sim_options": {"name": "pearson"}}),
        ("KNNBaseline", {"sim_options": {"name": "pearson_baseline"}}),
        ("SlopeOne", {}),
        ("BaselineOnly", {}),
        ("ItemMean", {}),
        ("UserMean", {}),
        ("Popularity", {}),
    ],
)
def test_without_a_random_start_it_is_the_fit_on_all(name, params):
    before = fitted(name, ROWS, **params)
    untouched = harness.estimate(before, PAIRS)
    updated = harness.update(before, NEW)
    expected = harness.estimate(fitted(name, together(), **params), PAIRS)
    assert harness.estimate(updated, PAIRS).tolist() == pytest.approx(expected.tolist(), abs=1e-12)
    assert harness.estimate(before, PAIRS).tolist() == untouched.tolist()
    assert type(updated) is type(before)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("SVD", {"n_factors": 4}),
        ("SVDpp", {"n_factors": 4}),
        ("NMF", {"n_factors": 4}),
        ("BaselineOnly", {"bsl_options": {"method": "sgd"}}),
    ],
)
def test_epochs_go_on_from_what_was_learnt(name, params):
    rows = ROWS[:-1]
    one = fitted(name, rows, **params)
    shorter = dict(params)
    if name == "BaselineOnly":
        shorter["bsl_options"] = {"method": "sgd", "n_epochs": 18}
    else:
        shorter["n_epochs"] = one.n_epochs - 2
    other = fitted(name, rows, **shorter)
    same = rows[0]  # a rating that is known, so that the ratings stay the same
    gone_on = harness.update(other, [same], epochs=2)
    for attribute in ("bu", "bi", "pu", "qi", "yj"):
        if hasattr(one, attribute):
            assert (getattr(gone_on, attribute) == getattr(one, attribute)).all()
    gone_on_too = harness.update(other, [same], epochs=np.int64(2))
    assert (gone_on_too.bu == gone_on.bu).all()
    new = harness.update(one, NEW)
    assert new.trainset.n_items == one.trainset.n_items + 1
    assert new.trainset.to_inner_uid("w") == one.trainset.n_users
    assert np.isfinite(harness.estimate(new, PAIRS)).all()
    again = harness.update(one, pd.DataFrame(NEW, columns=["user", "item", "rating"]))
    assert (harness.estimate(again, PAIRS) == harness.estimate(new, PAIRS)).all()
    assert not np.array_equal(harness.estimate(new, PAIRS), harness.estimate(one, PAIRS))


def test_a_model_that_surprise_fitted_goes_on():
    model = surprise.SVD(n_factors=3, random_state=1).fit(dataset(ROWS).build_full_trainset())
    assert harness.update(model, NEW).trainset.knows_user(model.trainset.n_users)
    stopped = harness.fit(surprise.SVD(n_epochs=4, random_state=1), dataset(ROWS), validation=0.2)
    assert not hasattr(harness.update(stopped, NEW), "error_by_epoch")
    twice = harness.update(harness.update(model, NEW[:2]), NEW[2:])
    assert twice.trainset.n_ratings == harness.update(model, NEW).trainset.n_ratings


@pytest.mark.parametrize(
    ("ratings", "error", "message"),
    [
        ([], DataError, "none; give some"),
        ([("u1", 2)], DataError, r"ratings\[0\]: .*; give \(user, item, rating\)"),
        ([("u1", 2, 9.0)], DataError, "9; the scale of the training set is 1 to 5: correct"),
        ([("u1", 2, float("nan"))], DataError, "nan"),
        ([("u1", 2, "four")], DataError, "ratings: "),
        ([("u1", 2, 3.0), ("u1", 2, 4.0)], DataError, "given twice .*; keep one"),
        ([(3, 2, 3.0)], DataError, "user 3; ids of the training set are like 'u0': give ids of"),
        ([("u1", "2", 3.0)], DataError, "item '2'; ids of the training set are like .*: give ids"),
        ([(None, 2, 3.0)], DataError, "without an id; give one"),
        (pd.DataFrame({"user": ["u1"]}), DataError, "no column item, rating among .user.; rename"),
    ],
)
def test_ratings_that_are_none_are_refused(ratings, error, message):
    with pytest.raises(error, match=message):
        harness.update(fitted("SlopeOne", ROWS), ratings)


def test_models_that_cannot_go_on_say_so():
    class Own(surprise.AlgoBase):
        def estimate(self, user, item):
            return 3.0

    with pytest.raises(AlgorithmError, match="not fitted; call"):
        harness.update(surprise.SVD(), NEW)
    with pytest.raises(AlgorithmError, match="Own: your own class cannot continue training; fit"):
        harness.update(Own().fit(dataset(ROWS).build_full_trainset()), NEW)
    with pytest.raises(AlgorithmError, match="no epochs to go on with; leave `epochs` out"):
        harness.update(fitted("SlopeOne", ROWS), NEW, epochs=2)
    with pytest.raises(AlgorithmError, match="epochs is 0; give a whole number from 1"):
        harness.update(fitted("SVD", ROWS), NEW, epochs=0)
