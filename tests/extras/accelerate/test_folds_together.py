"""Folds of `cross_validate` that are fitted several at a time, and what a script sees of them."""

from __future__ import annotations

import numpy as np
import pytest
import surprise
from surprise.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_validate,
)

import harness
from harness._util.kernels import in_lines, kernel
from harness.extras.accelerate import descent, joined_folds, products, together
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.comparison import require_same

TOGETHER = "SVD.fit, several at a time"
SEEDS = {"global": None, "seed": 0, "generator": np.random.RandomState}
LEARNT = "bu", "bi", "pu", "qi"


@pytest.fixture
def data(make_rows, make_data):
    return make_data(make_rows(np.random.default_rng(8), "plain"), (1, 5))


def next_draws(model):
    """Where the generators stand."""
    generators = [np.random, model.random_state]
    return [generator.random_sample() for generator in generators if hasattr(generator, "rand")]


def crossed(data, make_model, make_iterator, **options):
    """What a script sees of a cross-validation, without seconds; an exception is a result too."""
    np.random.seed(2)
    model = make_model()
    try:
        results = cross_validate(model, data, ["RMSE", "mae"], make_iterator(model), **options)
    except Exception as error:
        return type(error).__name__, str(error), next_draws(model)
    numbers = {name: results[name] for name in results if not name.endswith("_time")}
    times = [len(results[name]) for name in ("fit_time", "test_time")]
    learnt = {name: getattr(model, name) for name in LEARNT}
    return numbers, times, learnt, model.trainset.global_mean, next_draws(model)


def check_same(data, make_model, make_iterator, **options):
    """Compare both sides of a cross-validation, and return how many loops had several fits."""
    expected = crossed(data, make_model, make_iterator, **options)
    with harness.patched_surprise():
        outcome = crossed(data, make_model, make_iterator, **options)
        report = harness.patch_report()
    require_same(outcome, expected, "cross_validate")
    return dict(zip(report["call"], report["calls"], strict=True)).get(TOGETHER, 0)


def make_svd(seed="seed", **settings):
    random_state = SEEDS[seed](3) if seed == "generator" else SEEDS[seed]
    return surprise.SVD(**{"n_factors": 7, "n_epochs": 3, "random_state": random_state} | settings)


ITERATORS = {
    "two": lambda model: 2,
    "default": lambda model: None,
    "nine": lambda model: KFold(9, random_state=1),
    "in order": lambda model: KFold(3, shuffle=False),
    "repeated": lambda model: RepeatedKFold(3, 2, random_state=1),
    # Folds and fits draw from one generator, in turns.
    "same generator": lambda model: ShuffleSplit(4, 0.3, random_state=model.random_state),
    "left out": lambda model: LeaveOneOut(3, random_state=model.random_state),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ITERATORS)
def test_results_draws_and_the_model_are_those_of_one_fold_after_the_other(data, seed, name):
    n_loops = check_same(data, lambda: make_svd(seed), ITERATORS[name], return_train_measures=True)
    assert n_loops == {"default": 2, "nine": 3, "repeated": 2}.get(name, 1)


@pytest.mark.parametrize("seed", ["seed", "global", "generator"])
@pytest.mark.parametrize(
    "settings",
    [
        *({"n_factors": n} for n in (0, 1, 4, 100)),
        {"n_epochs": 0},
        {"n_epochs": 1},
        {"biased": False},
        {"lr_all": 50.0},  # diverges
        {"lr_all": 1e200},
        {"init_std_dev": -1.0},  # NumPy refuses it
        {"init_mean": 0.5, "reg_qi": 0.5, "lr_bu": 0.1},
        {"verbose": True},
        {"n_factors": 2.5},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::harness.extras.accelerate.traps.SurpriseWarning")
def test_odd_settings_give_what_surprise_gives(data, settings, seed, capsys):
    with np.errstate(all="ignore"):
        expected = crossed(data, lambda: make_svd(seed, **settings), ITERATORS["nine"])
        printed = capsys.readouterr().out
        with harness.patched_surprise():
            outcome = crossed(data, lambda: make_svd(seed, **settings), ITERATORS["nine"])
    require_same(outcome, expected, "cross_validate")
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(("n_folds", "n_loops"), [(1, 0), (2, 5), (3, 3), (10, 3)])
def test_few_folds_are_held_where_they_are_large(data, n_folds, n_loops, monkeypatch):
    of_fold = len(data.raw_ratings) * 9 // 10 * together.RATING_BYTES
    monkeypatch.setattr(together, "HELD_BYTES", of_fold * (n_folds - 0.5))
    assert check_same(data, make_svd, lambda model: KFold(10, random_state=1)) == n_loops


def test_folds_of_one_setting_of_a_search_share_a_loop(data):
    def search():
        grid = GridSearchCV(
            surprise.SVD, {"n_epochs": [2, 3], "random_state": [0]}, cv=KFold(3, random_state=0)
        )
        grid.fit(data)
        return {k: v for k, v in grid.cv_results.items() if not k.endswith("_time")}

    expected = search()
    with harness.patched_surprise():
        require_same(search(), expected, "search")
        report = harness.patch_report()
    assert dict(zip(report["call"], report["calls"], strict=True))[TOGETHER] == 2


class Growing:
    """An iterator of one's own that adds ratings to its one training set between folds."""

    n_splits = 3

    def split(self, data):
        trainset = data.construct_trainset(data.raw_ratings[:80])
        for _ in range(self.n_splits):
            yield trainset, data.construct_testset(data.raw_ratings[80:])
            for ratings in trainset.ur.values():
                ratings[0] = ratings[0][0], 1.0


class Changing:
    """An iterator of one's own around Surprise's, which changes each training set and the model."""

    n_splits = 3

    def __init__(self, model):
        self.model = model

    def split(self, data):
        for trainset, testset in KFold(self.n_splits, random_state=0).split(data):
            trainset.ur[0][0] = trainset.ur[0][0][0], 1.0
            self.model.lr_pu += 0.01
            yield trainset, testset


@pytest.mark.parametrize("make_iterator", [lambda model: Growing(), Changing])
def test_folds_that_an_iterator_of_ones_own_changes_are_fitted_in_turn(data, make_iterator):
    assert check_same(data, make_svd, make_iterator) == 0


def test_a_replaced_test_is_called_after_each_fit(data, monkeypatch):
    original = surprise.AlgoBase.test

    def test(self, testset, verbose=False):
        np.random.random()  # as a script of one's own may
        return original(self, testset, verbose)

    monkeypatch.setattr(surprise.AlgoBase, "test", test)
    assert check_same(data, lambda: make_svd("global"), lambda model: 3) == 0


def test_joined_folds_are_the_fits_of_each_also_where_nothing_is_compiled(data, monkeypatch):
    with harness.patched_surprise():
        folds = [columns_of(train) for train, _ in KFold(3, random_state=0).split(data)]
    model = make_svd(n_factors=6)
    vectors = [descent.first_vectors(model, columns) for columns in folds]
    expected = [descent.fit_svd(model, columns, lambda epoch: None) for columns in folds]
    require_same(joined_folds.fit_joined(model, folds, vectors), expected, "compiled")
    monkeypatch.setattr(descent, "descend", descent.descend.py_func)
    require_same(joined_folds.fit_joined(model, folds, vectors), expected, "not compiled")


@kernel
def multiply_rows(pu, qi, users, items, first, stop, n_factors, sums):
    products.dot_products(pu, qi, users, items, first, stop, n_factors, sums)


def test_products_are_added_up_in_order_with_every_kind_of_number():
    rng = np.random.default_rng(4)
    odd = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308, -1e308]
    for n_factors in range(20):
        pu, qi = (rng.normal(size=(n, n_factors)) * 10.0 ** rng.integers(-8, 9) for n in (5, 6))
        for side in (pu, qi):
            side[rng.random(side.shape) < 0.1] = rng.choice(odd)
        users, items = (rng.integers(0, n, 30).astype(np.int32) for n in (5, 6))
        lines = in_lines(pu), in_lines(qi)
        for n_pairs in range(1, products.PAIRS + 1):
            first = int(rng.integers(0, 30 - n_pairs + 1))
            sums = np.full(products.PAIRS, 7.0)
            multiply_rows(*lines, users, items, first, first + n_pairs, n_factors, sums)
            with np.errstate(all="ignore"):
                for pair, row in enumerate(range(first, first + n_pairs)):
                    total = np.float64(0.0)
                    for f in range(n_factors):
                        total += qi[items[row], f] * pu[users[row], f]
                    np.testing.assert_array_equal(sums[pair], total)
