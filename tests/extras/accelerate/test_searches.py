"""Settings of a search that are fitted several at a time, and what a script sees of them."""

from __future__ import annotations

import numpy as np
import pytest
import surprise
from surprise.model_selection import GridSearchCV, KFold, RandomizedSearchCV

import harness
from harness.extras.accelerate import descent, lanes, together
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.comparison import require_same

TOGETHER = "SVD.fit, several at a time"
SEEDS = {"global": lambda: None, "seed": lambda: 0, "generator": lambda: np.random.RandomState(3)}


@pytest.fixture
def data(make_rows, make_data):
    return make_data(make_rows(np.random.default_rng(8), "plain"), (1, 5))


def searched(data, grid, **options):
    """What a script sees of a search, without seconds; an exception is a result too."""
    np.random.seed(2)
    search = GridSearchCV(surprise.SVD, grid, cv=KFold(2, random_state=0), **options)
    try:
        search.fit(data)
    except Exception as error:
        return type(error).__name__, str(error), np.random.random()
    results = {k: v for k, v in search.cv_results.items() if not k.endswith("_time")}
    results.pop("param_random_state", None), results.pop("params")
    return search.best_index, search.best_score, results, np.random.random()


def check_same(data, make_grid, **options):
    """Compare both sides of a search, and return the calls of the faster one."""
    expected = searched(data, make_grid(), **options)
    with harness.patched_surprise():
        require_same(searched(data, make_grid(), **options), expected, "search")
        report = harness.patch_report()
    return dict(zip(report["call"], report["calls"], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("held", [together.HELD_BYTES, 0])
def test_results_and_draws_are_those_of_one_fit_after_the_other(data, seed, held, monkeypatch):
    monkeypatch.setattr(together, "HELD_BYTES", held)
    grid = {"n_factors": [3, 20, 5], "lr_all": [0.005, 0.1], "biased": [True, False]}
    counts = check_same(data, lambda: grid | {"n_epochs": [2], "random_state": [SEEDS[seed]()]})
    assert counts["SVD.fit"] == 24
    # The vectors of the first job alone are more than nothing, and wait for no other.
    assert counts.get(TOGETHER, 0) == (0 if held == 0 and seed != "seed" else 8)


@pytest.mark.parametrize(
    "settings",
    [
        {"lr_all": [0.005, 50.0, 1e200]},  # diverges, at once and later
        {"n_epochs": [0, 1]},
        {"n_factors": [1, 30]},  # too unlike to share a loop
        {"n_factors": [0, 2]},
        {"init_std_dev": [0.1, -1.0]},  # NumPy refuses it
        {"init_mean": [0, 0.5]},
        {"verbose": [True, False]},
        {"lr_bu": [0.1, None], "reg_qi": [0.5, None]},
    ],
    ids=lambda settings: next(iter(settings)),
)
@pytest.mark.parametrize("seed", [0, None])
@pytest.mark.filterwarnings("ignore::harness.extras.accelerate.traps.SurpriseWarning")
def test_unlike_and_odd_settings_give_what_surprise_gives(data, settings, seed, capsys):
    grid = {"n_factors": [4], "n_epochs": [3], "random_state": [seed]}
    with np.errstate(all="ignore"):
        expected = searched(data, grid | settings)
        printed = capsys.readouterr().out
        with harness.patched_surprise():
            require_same(searched(data, grid | settings), expected, "search")
    assert capsys.readouterr().out == printed


@pytest.mark.long
def test_random_searches_and_measures_on_training_sets_are_the_same(data):
    space = {"n_factors": range(2, 9), "lr_all": [0.002, 0.01], "n_epochs": [1, 2]}

    def search():
        np.random.seed(4)
        random_search = RandomizedSearchCV(
            surprise.SVD, space, n_iter=9, cv=3, return_train_measures=True, refit=True
        )
        random_search.fit(data)
        return {k: v for k, v in random_search.cv_results.items() if not k.endswith("_time")}

    expected = search()
    with harness.patched_surprise():
        require_same(search(), expected, "random search")


def test_no_model_keeps_what_was_learnt_for_an_earlier_fit(data):
    trainset = data.build_full_trainset()
    jobs = [(model, trainset, None, ["rmse"], False) for model in (surprise.SVD(), surprise.SVD())]
    with harness.patched_surprise():
        scorer = surprise.model_selection.search.fit_and_score
        with pytest.raises(TypeError):  # no test set
            together.run_jobs(((scorer, job, {}) for job in jobs), type(scorer))
        fits = [job[0].fit(trainset).pu for job in jobs]
    assert (fits[0] != fits[1]).any()


def test_lanes_are_the_fits_of_one_model_also_where_nothing_is_compiled(data, monkeypatch):
    trainset = data.build_full_trainset()
    with harness.patched_surprise():
        columns = columns_of(trainset)
    models = [surprise.SVD(n, n_epochs=3, lr_all=0.05, random_state=n) for n in (6, 1, 4)]
    vectors = [descent.first_vectors(model, columns) for model in models]
    expected = [descent.fit_svd(model, columns, lambda epoch: None) for model in models]
    require_same(lanes.fit_together(models, columns, vectors), expected, "compiled")
    monkeypatch.setattr(lanes, "descend_lanes", lanes.descend_lanes.py_func)
    require_same(lanes.fit_together(models, columns, vectors), expected, "not compiled")
