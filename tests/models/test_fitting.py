"""Fits that stop early: the errors by epoch are those of shorter fits, and the best is taken."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness._util import seeds
from harness.errors import AlgorithmError

RNG = np.random.default_rng(2)
ROWS = pd.DataFrame(
    [
        (f"u{user}", f"i{item}", float(np.clip(np.rint(3 + (user % 3) - (item % 4) + noise), 1, 5)))
        for user in range(30)
        for item, noise in zip(RNG.permutation(25)[:12], RNG.normal(size=12), strict=True)
    ],
    columns=["user", "item", "rating"],
)


def trainset_of(rows):
    data = surprise.Dataset.load_from_df(rows, surprise.Reader(rating_scale=(1, 5)))
    return data.build_full_trainset()


MODELS = [
    lambda n: surprise.SVD(n_factors=4, n_epochs=n, lr_all=0.05, random_state=3),
    lambda n: surprise.SVDpp(n_factors=4, n_epochs=n, lr_all=0.05, random_state=3),
    lambda n: surprise.NMF(n_factors=4, n_epochs=n, random_state=3),
    lambda n: surprise.BaselineOnly({"method": "sgd", "n_epochs": n, "learning_rate": 0.1}),
]


@pytest.mark.parametrize("model_of", MODELS)
def test_errors_by_epoch_are_those_of_shorter_fits_and_the_least_is_taken(model_of):
    trainset = trainset_of(ROWS)
    model = harness.fit(model_of(30), trainset, validation=0.25, patience=3)
    errors = model.error_by_epoch
    best = int(errors["epoch"][errors["rmse"].idxmin()])
    assert getattr(model, "n_epochs", model.bsl_options.get("n_epochs")) == best
    assert len(errors) == min(best + 3, 30)
    seed = 0 if isinstance(model, surprise.BaselineOnly) else 3
    ordered = [(trainset.to_raw_uid(u), trainset.to_raw_iid(i), r) for u in trainset.all_users()
               for i, r in trainset.ur[u]]  # fmt: skip
    order = seeds.generator(seed, "validation").permutation(len(ordered))
    n = round(0.25 * len(ordered))
    part = pd.DataFrame([ordered[k] for k in sorted(order[n:])], columns=ROWS.columns)
    held_out = [ordered[k] for k in order[:n]]
    for epochs in (1, best):
        shorter = harness.fit(model_of(epochs), trainset_of(part))
        error = surprise.accuracy.rmse(shorter.test(held_out), verbose=False)
        assert errors["rmse"][epochs - 1] == pytest.approx(error, rel=1e-12)
    whole = harness.fit(model_of(best), trainset)
    pairs = [row[:2] for row in held_out]
    assert (harness.estimate(model, pairs) == harness.estimate(whole, pairs)).all()


def test_what_has_no_epochs_says_so():
    for model in (surprise.SlopeOne(), surprise.BaselineOnly(), surprise.KNNBasic(verbose=False)):
        with pytest.raises(AlgorithmError, match="no epochs to stop; leave `validation` out"):
            harness.fit(model, trainset_of(ROWS), validation=0.1)

    class Own(surprise.SVD):
        def fit(self, trainset):
            return super().fit(trainset)

    with pytest.raises(AlgorithmError, match="cannot be stopped; leave `validation` out"):
        harness.fit(Own(), trainset_of(ROWS), validation=0.1)


def test_no_epochs_to_try_is_an_error():
    with pytest.raises(AlgorithmError, match="n_epochs is 0; give the most epochs to try, from 1"):
        harness.fit(surprise.SVD(n_epochs=0), trainset_of(ROWS), validation=0.1)


def test_errors_of_an_earlier_fit_do_not_stay():
    model = harness.fit(MODELS[0](3), trainset_of(ROWS), validation=0.2)
    assert not hasattr(harness.fit(model, trainset_of(ROWS)), "error_by_epoch")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation": 0.0}, "give a share between 0 and 1, such as 0.1"),
        ({"validation": 1.5}, "give a share between 0 and 1, such as 0.1"),
        ({"validation": 0.1, "patience": 0}, "patience is 0; give a whole number from 1"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(AlgorithmError, match=message):
        harness.fit(surprise.SVD(), trainset_of(ROWS), **options)
