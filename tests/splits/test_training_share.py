"""Shares of a training set: nested, of one test set, in the order of the whole."""

import numpy as np
import pytest
from pydantic import ValidationError

from harness import splits
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.random import Holdout, KFold
from harness.splits.training_share import TrainingShare

SHARES = (0.05, 0.3, 0.7)


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(3)
    pairs = rng.permutation(40 * 25)[:600]
    return Ratings.from_columns(
        pairs // 25, pairs % 25, rng.integers(1, 6, 600).astype(float),
        timestamps=rng.integers(0, 50, 600), scale=(1, 5),
    )  # fmt: skip


@pytest.mark.parametrize("by", ["rating", "user", "time"])
def test_shares_are_nested_parts_of_the_whole_with_one_test_part(ratings, by):
    of = KFold(n_splits=3)
    wholes = splits.make(of, ratings, 5)
    parts = [splits.make(TrainingShare(of=of, share=n, by=by), ratings, 5) for n in SHARES]
    for fold, whole in enumerate(wholes):
        smaller = np.zeros(0, np.int64)
        for share, made in zip(SHARES, parts, strict=True):
            split = made[fold]
            assert (split.test == whole.test).all()
            place = {row: number for number, row in enumerate(whole.train.tolist())}
            order = [place[row] for row in split.train.tolist()]
            assert order == sorted(order)  # the order of the whole
            assert set(smaller) < set(split.train)
            smaller = split.train
            if by == "user":
                users = np.unique(ratings.users[whole.train])
                stays = np.unique(ratings.users[split.train])
                assert len(stays) == np.ceil(share * len(users))
                rows = whole.train[np.isin(ratings.users[whole.train], stays)]
                assert (split.train == rows).all()  # all ratings of these users
            else:
                assert len(split.train) == np.ceil(share * len(whole.train) - 1e-6)
            if by == "time":
                gone = np.setdiff1d(whole.train, split.train)
                assert ratings.timestamps[split.train].min() >= ratings.timestamps[gone].max()
            (note,) = [note for note in split.notes if note.code == "training-share"]
            assert note.values["whole"] == whole.fingerprint
            assert (note.values["n"], note.values["n_all"]) == (len(split.train), len(whole.train))


def test_draws_differ_between_folds_and_seeds(ratings):
    section = TrainingShare(of=Holdout(random_state=1), share=0.3)
    one, other = (splits.make(section, ratings, seed)[0].train for seed in (1, 2))
    assert set(one.tolist()) != set(other.tolist())


def test_it_is_named_and_told(ratings):
    section = TrainingShare(of=Holdout(), share=0.1, by="time")
    (split,) = splits.make(section, ratings, 0)
    assert split.name == section.describe() == "holdout 20%, training latest 10%"
    assert "Models see 10% of the training ratings, by time the latest" in section.sentence()
    assert "validation set" in section.sentence("validation set")


def test_without_times_the_latest_are_not_known():
    ratings = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    with pytest.raises(SplitError, match="no timestamps; use `by: rating` or `user`"):
        splits.make(TrainingShare(of=Holdout(test_size=1), share=0.5, by="time"), ratings, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "greater than 0"),
        ({"share": 1.0}, "less than 1"),
        ({"of": {"kind": "training-share", "of": "kfold", "share": 0.5}}, "name the split"),
        ({"of": {"kind": "kfold", "validation": "holdout"}}, "write it beside `of`"),
        ({"by": "item"}, "'rating', 'user' or 'time'"),
    ],
)
def test_what_is_no_share_is_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        TrainingShare.model_validate({"of": "holdout", "share": 0.5} | options)
