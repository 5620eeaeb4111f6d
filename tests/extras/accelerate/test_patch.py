"""Patching, unpatching, and what scripts do around it."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise import accuracy
from surprise.accuracy import rmse
from surprise.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_validate

import harness
from harness.extras.accelerate.attempts import AccelerationError, ComparisonError
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.predictions import LazyList
from harness.extras.accelerate.traps import SurpriseWarning


@pytest.fixture
def data(make_rows, make_data):
    return make_data(make_rows(np.random.default_rng(5), "plain"), (1, 5))


def methods():
    """All that the patch could replace."""
    owners = [
        surprise.AlgoBase,
        surprise.Trainset,
        surprise.Dataset,
        surprise.dataset.DatasetAutoFolds,
        surprise.SVD,
        surprise.KNNBasic,
        surprise.model_selection.KFold,
        surprise.model_selection.LeaveOneOut,
        surprise.model_selection.ShuffleSplit,
        surprise.model_selection.validation,
        surprise.model_selection.search,
    ]
    bound = [(owner, name, value) for owner in owners for name, value in vars(owner).items()]
    return {
        (owner.__name__, name): value
        for owner, name, value in bound
        if callable(value) and name != "__builtins__"
    } | {name: getattr(accuracy, name).__code__ for name in ("rmse", "mse", "mae", "fcp")}


def test_unpatching_puts_everything_back_however_often_it_was_patched():
    before = methods()
    harness.patch_surprise()
    harness.patch_surprise(verbose=True)
    assert methods() != before
    harness.unpatch_surprise()
    harness.unpatch_surprise()
    assert methods() == before


def test_a_block_puts_back_the_options_of_before(data):
    harness.patch_surprise(strict=True)
    with harness.patched_surprise():
        pass

    class Own(surprise.AlgoBase):
        def estimate(self, u, i):
            return 3.0

    trainset = data.build_full_trainset()
    with pytest.raises(AccelerationError, match=r"Own.test: cannot be accelerated \(a class"):
        Own().fit(trainset).test(trainset.build_testset())


def test_names_imported_before_are_the_faster_ones(data):
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        predictions = surprise.SVD().fit(trainset).test(trainset.build_testset())
        rmse(predictions, verbose=False)
        calls = harness.patch_report().query("way == 'accelerated'").call
    assert {"SVD.fit", "SVD.test", "accuracy.rmse", "build_testset"} <= {*calls}


def test_functions_of_accuracy_print_what_surprise_prints(data, capsys):
    trainset = data.build_full_trainset()
    predictions = surprise.BaselineOnly(verbose=False).fit(trainset).test(trainset.build_testset())
    for measure in (accuracy.rmse, accuracy.mse, accuracy.mae, accuracy.fcp):
        expected = measure(predictions), capsys.readouterr().out
        with harness.patched_surprise():
            assert (measure(predictions), capsys.readouterr().out) == expected
            with pytest.raises(ValueError, match="Prediction list is empty"):
                measure([])


@pytest.mark.parametrize("name", ["SVD", "KNNBasic", "SlopeOne", "SVDpp"])
def test_what_is_pickled_needs_no_harness(data, tmp_path, name):
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        model = getattr(surprise, name)().fit(trainset)
        predictions = model.test(trainset.build_anti_testset())
        with (tmp_path / "dump").open("wb") as file:  # as surprise.dump does, which leaves it open
            pickle.dump({"predictions": predictions, "algo": model}, file)
    script = f"""
        import sys, surprise
        import pickle
        with open({str(tmp_path / "dump")!r}, "rb") as file:
            dump = pickle.load(file)
        predictions, model = dump["predictions"], dump["algo"]
        assert type(predictions) is list and type(predictions[0]) is surprise.Prediction
        assert type(model.trainset) is surprise.Trainset
        assert model.test([row[:3] for row in predictions]) == predictions
        assert "harness" not in sys.modules
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_have_all_attributes(data, duplicate):
    with harness.patched_surprise():
        model = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
        assert "xr" not in vars(model)
        twin = duplicate(model)
    assert twin.xr == model.xr
    assert (twin.sim == model.sim).all()


def test_models_and_training_sets_go_on_working_after_unpatching(data):
    harness.patch_surprise()
    trainset = data.build_full_trainset()
    model = surprise.KNNWithMeans(verbose=False).fit(trainset)
    assert "ur" not in vars(trainset)
    expected = model.test(trainset.build_testset())
    harness.unpatch_surprise()
    assert model.test(trainset.build_testset()) == expected
    assert {"ur", "ir"} <= vars(trainset).keys()


def test_a_fit_after_a_fit_leaves_nothing_of_the_first(data, make_rows, make_data):
    other = make_data(make_rows(np.random.default_rng(8), "plain"), (1, 5)).build_full_trainset()
    model = surprise.KNNBasic(verbose=False)
    with harness.patched_surprise():
        first = data.build_full_trainset()
        model.fit(first)
        assert model.xr is first.ur
        model.fit(other)
        assert model.xr is other.ur
        assert model.sim.shape == (other.n_users, other.n_users)


def test_changes_of_a_training_set_count(make_rows, make_data):
    rows = make_rows(np.random.default_rng(6), "plain")
    seen = []
    for is_patched in (False, True):
        trainset = make_data(rows, (1, 5)).build_full_trainset()
        if is_patched:
            harness.patch_surprise()
            trainset = make_data(rows, (1, 5)).build_full_trainset()
        model = surprise.SVD(random_state=0)
        model.fit(trainset)
        item, rating = trainset.ur[0][0]
        trainset.ur[0][0] = item, rating - 0.5
        seen.append(model.fit(trainset).pu)
        seen.append(surprise.SlopeOne().fit(trainset).test(trainset.build_testset()))
    require_same(seen[2:], seen[:2], "changed training set")


def test_changes_of_a_model_count(data):
    seen = []
    for is_patched in (False, True):
        if is_patched:
            harness.patch_surprise()
        trainset = data.build_full_trainset()
        model = surprise.KNNBasic(verbose=False).fit(trainset)
        model.sim[:, 0] = 0.0
        model.k = 2
        svd = surprise.SVD(random_state=0).fit(trainset)
        svd.bu[:] = 1.0
        svd.qi = svd.qi.astype(np.float32)
        pairs = trainset.build_testset()
        seen.append((model.test(pairs), model.predict(*pairs[0]), svd.test(pairs)))
    require_same(seen[1], seen[0], "changed model")


def test_a_list_of_ratings_changed_in_place_is_read_again(data):
    np.random.seed(0)
    expected = cross_validate(surprise.SVD(random_state=0), data, cv=KFold(2, random_state=0))
    with harness.patched_surprise():
        cross_validate(surprise.SVD(random_state=0), data, cv=KFold(2, random_state=0))
        data.raw_ratings.reverse()
        reversed_ = cross_validate(surprise.SVD(random_state=0), data, cv=KFold(2, random_state=0))
        data.raw_ratings.reverse()
        again = cross_validate(surprise.SVD(random_state=0), data, cv=KFold(2, random_state=0))
    assert (again["test_rmse"] == expected["test_rmse"]).all()
    assert (reversed_["test_rmse"] != expected["test_rmse"]).any()


@pytest.mark.parametrize("n_jobs", [1, -1])
def test_searches_find_the_same_settings(data, n_jobs):
    grid = {"n_factors": [2, 5], "n_epochs": [1, 3], "random_state": [0]}

    def search():
        found = []
        for make in (
            lambda: GridSearchCV(
                surprise.SVD, grid, ["rmse", "mae"], KFold(2, random_state=0), n_jobs=n_jobs
            ),
            lambda: RandomizedSearchCV(
                surprise.SVD, grid, n_iter=2, cv=KFold(2, random_state=0), random_state=0
            ),
        ):
            np.random.seed(2)  # which the random search draws from, whatever its `random_state`
            searched = make()
            searched.fit(data)
            results = {k: v for k, v in searched.cv_results.items() if not k.endswith("_time")}
            found.append((searched.best_params, searched.best_score, results))
        return found

    expected = search()
    with harness.patched_surprise():
        require_same(search(), expected, "search")


def test_processes_of_joblib_are_patched_too(data):
    class_ = surprise.SVD
    with harness.patched_surprise(strict=True):
        table = cross_validate(class_(random_state=0), data, cv=KFold(2, random_state=0), n_jobs=2)
    expected = cross_validate(class_(random_state=0), data, cv=KFold(2, random_state=0))
    assert (table["test_rmse"] == expected["test_rmse"]).all()


def test_threads_share_a_training_set(data):
    expected = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
    failures = []
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        model = surprise.KNNBasic(verbose=False).fit(trainset)

        def work():
            try:
                assert model.xr is trainset.ur
                assert (model.sim == expected.sim).all()
                model.test(trainset.build_testset())
                surprise.SVD().fit(trainset)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_subclass_keeps_what_it_overrides(data):
    class Shifted(surprise.SVD):
        def estimate(self, u, i):
            return super().estimate(u, i) - 0.25

    class Logged(surprise.KNNBasic):
        def fit(self, trainset):
            super().fit(trainset)
            self.is_fitted = True
            return self

    seen = []
    for is_patched in (False, True):
        if is_patched:
            harness.patch_surprise()
        trainset = data.build_full_trainset()
        pairs = trainset.build_testset()
        shifted, logged = Shifted(random_state=0), Logged(verbose=False)
        seen.append((shifted.fit(trainset).test(pairs), logged.fit(trainset).test(pairs)))
        seen.append(logged.is_fitted)
    require_same(seen[2:], seen[:2], "subclasses")
    reasons = harness.patch_report().set_index("call").reason
    assert reasons["Shifted.test"].startswith("a subclass that overrides how it estimates")
    assert reasons["Logged.fit"] == ""


@pytest.mark.parametrize("is_compared", [False, True])
def test_algorithms_of_ones_own_compute_baselines_and_similarities(data, capsys, is_compared):
    class Own(surprise.AlgoBase):
        def __init__(self):
            super().__init__(sim_options={"name": "pearson_baseline"}, bsl_options={"n_epochs": 2})
            self.verbose = True

        def fit(self, trainset):
            super().fit(trainset)
            self.biases = self.compute_baselines()
            self.sim = self.compute_similarities()
            return self

    seen = []
    for is_patched in (False, True):
        if is_patched:
            harness.patch_surprise(strict=True, compare=is_compared)
        model = Own().fit(data.build_full_trainset())
        seen.append((model.biases, model.sim, capsys.readouterr().out))
    require_same(seen[1], seen[0], "own algorithm")
    seconds = harness.patch_report().set_index("call")["seconds of surprise"]
    compared = seconds[["Own.compute_baselines", "Own.compute_similarities"]]
    assert compared.notna().all() == is_compared


def test_compare_finds_a_wrong_bit(data, monkeypatch):
    from harness.extras.accelerate import fits

    right = fits.FITS[surprise.SVD]

    def wrong(model, entry, columns):
        learnt, pending = right(model, entry, columns)
        learnt["bu"][0] = np.nextafter(learnt["bu"][0], 9.0)
        return learnt, pending

    monkeypatch.setitem(fits.FITS, surprise.SVD, wrong)
    with (
        harness.patched_surprise(compare=True),
        pytest.raises(ComparisonError, match=r"SVD.fit.bu"),
    ):
        surprise.SVD().fit(data.build_full_trainset())


def test_compare_runs_a_whole_script(data):
    np.random.seed(1)
    expected = cross_validate(surprise.SVDpp(n_epochs=1), data, cv=2)["test_rmse"]
    with harness.patched_surprise(compare=True):
        np.random.seed(1)
        assert (
            cross_validate(surprise.SVDpp(n_epochs=1), data, cv=2)["test_rmse"] == expected
        ).all()
        trainset = data.build_full_trainset()
        for name in ("KNNBaseline", "SlopeOne", "NMF", "NormalPredictor", "CoClustering"):
            model = getattr(surprise, name)().fit(trainset)
            model.predict("no one", "none")
            accuracy.rmse(model.test(trainset.build_anti_testset()), verbose=False)
    report = harness.patch_report()
    assert (report.query("call == 'SVDpp.fit'")["seconds of surprise"] > 0).all()


def test_compare_finds_a_wrong_row_of_a_frame(monkeypatch):
    from harness.extras.accelerate import splits

    right = splits.rows_of_frame
    monkeypatch.setattr(splits, "rows_of_frame", lambda frame: right(frame)[::-1])
    frame = pd.DataFrame({"user": ["a", "b"], "item": ["x", "y"], "rating": [1.0, 2.0]})
    with (
        harness.patched_surprise(compare=True),
        pytest.raises(ComparisonError, match=r"load_from_df\[0\]\[0\]: found 'b'"),
    ):
        surprise.Dataset.load_from_df(frame, surprise.Reader())


def test_compare_prints_what_a_fit_prints_once(data, capsys):
    with harness.patched_surprise(compare=True):
        surprise.BaselineOnly().fit(data.build_full_trainset())
    assert capsys.readouterr().out == "Estimating biases using als...\n"


@pytest.mark.parametrize(
    ("users", "dtype"),
    [
        (["1", "2", "1"], "str"),
        (["1", None, "1"], "str"),
        (["1", "2", "1"], "string"),
        (["1", "2", "1"], "category"),
        ([5, 6, 5], "category"),
        ([5, 6, 5], "int64"),
        ([5, "6", 5], object),
    ],
)
def test_columns_of_a_frame_are_read_as_surprise_reads_them(users, dtype):
    frame = pd.DataFrame({"user": users, "item": ["x", "y", "y"], "rating": [1, 2, 3]})
    frame = frame.astype({"user": dtype})
    loaded = []
    for strict in (False, True):
        if strict:
            harness.patch_surprise(strict=True)
        reader = surprise.Reader(rating_scale=(1, 3))
        loaded.append(surprise.Dataset.load_from_df(frame, reader).raw_ratings)
    require_same(loaded[1], loaded[0], "load_from_df")


def test_a_frame_of_another_type_of_column_is_left_to_surprise():
    frame = pd.DataFrame({"user": [5, 6], "item": ["x", "y"], "rating": [1.0, 2.0]})
    frame = frame.astype({"user": "Int64"})
    with harness.patched_surprise():
        surprise.Dataset.load_from_df(frame, surprise.Reader())
    assert harness.patch_report().reason.tolist() == ["a frame with a column of the type Int64"]


def test_the_report_is_printed_in_80_columns_and_counts_each_test_once(data):
    class Mean(surprise.AlgoBase):
        def estimate(self, u, i):
            return 3.0

    with harness.patched_surprise():
        cross_validate(Mean(), data, ["rmse"], cv=2)
        surprise.KNNWithZScore(verbose=False).fit(data.build_full_trainset())
    report = harness.patch_report()
    assert report.set_index("call").calls["Mean.test"] == 2
    lines = str(report).splitlines()
    assert lines[0].split() == ["call", "way", "calls", "seconds"]
    assert max(map(len, lines)) <= 80
    row = next(place for place, line in enumerate(lines) if line.startswith("Mean.test "))
    assert lines[row].split()[1:3] == ["surprise", "2"]
    assert lines[row + 1] == "  a class that Surprise does not have"

    with harness.patched_surprise(compare=True):
        surprise.BaselineOnly(verbose=False).fit(data.build_full_trainset())
    report = harness.patch_report()
    lines = str(report).splitlines()
    assert lines[0].endswith("surprise, s")
    seconds = report.set_index("call")["seconds of surprise"]["BaselineOnly.fit"]
    assert float(lines[1].split()[-1]) == pytest.approx(seconds, abs=1e-4)
    harness.patch_surprise()
    harness.unpatch_surprise()
    report = harness.patch_report()
    assert report.empty
    assert str(report) == "no calls since Surprise was patched"


def test_another_version_is_left_alone(monkeypatch):
    monkeypatch.setattr(surprise, "__version__", "1.2.0")
    before = methods()
    with pytest.warns(UserWarning, match=r"version 1\.2\.0, and the patch is checked with 1\.1\.5"):
        harness.patch_surprise()
    assert methods() == before
    with pytest.raises(AccelerationError, match=r"version 1\.2\.0"):
        harness.patch_surprise(strict=True)


def test_verbose_says_which_way_a_call_took(data, capsys):
    class Own(surprise.AlgoBase):
        def estimate(self, u, i):
            return 3.0

    with harness.patched_surprise(verbose=True):
        trainset = data.build_full_trainset()
        surprise.SVD().fit(trainset)
        Own().fit(trainset).test(trainset.build_testset())
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("harness: SVD.fit: accelerated, ") for line in lines)
    assert any(
        line.startswith("harness: Own.test: surprise (a class that Surprise does not have), ")
        for line in lines
    )


def test_an_anti_testset_is_a_list_to_whoever_reads_it(data):
    trainset = data.build_full_trainset()
    expected = trainset.build_anti_testset()
    with harness.patched_surprise():
        pairs = data.build_full_trainset().build_anti_testset()
        assert isinstance(pairs, LazyList)
        assert pairs.unread
        assert (len(pairs), pairs[-1], pairs[2:5]) == (len(expected), expected[-1], expected[2:5])
        assert pairs == expected
        assert pairs[::3] == expected[::3]
        assert expected[3] in pairs
        assert pickle.loads(pickle.dumps(pairs)) == expected
        assert pairs + [1] == [*expected, 1]  # noqa: RUF005 - the operator
        assert [1] + pairs == [1, *expected]  # noqa: RUF005
        with pytest.raises(IndexError):
            pairs[len(expected)]
        pairs.append(("a", "b", 1.0))
        del pairs[0]
        assert pairs == [*expected[1:], ("a", "b", 1.0)]
        model = surprise.SVD(random_state=0).fit(trainset)
        assert type(model.test(pairs)) is list


@pytest.mark.parametrize("name", ["SVD", "SVDpp", "NMF"])
def test_few_pairs_and_whole_catalogues_have_the_same_estimates(data, name):
    trainset = data.build_full_trainset()
    every = trainset.build_testset() + trainset.build_anti_testset()
    every.sort(key=lambda pair: str(pair[0]))  # user after user
    sets = [every, every[::7], every[::-1], [("no one", "none", 1.0), *every, every[0]]]
    kind = getattr(surprise, name)

    def estimates():
        model = kind(n_factors=37, n_epochs=2, random_state=0).fit(trainset)
        return [model.test(pairs) for pairs in sets]

    expected = estimates()
    with harness.patched_surprise(strict=True):
        require_same(estimates(), expected, "estimates")


def is_prediction(thing):
    return isinstance(thing, surprise.Prediction)


def test_a_loop_over_predictions_finds_none_made_ahead(data):
    trainset = data.build_full_trainset()
    with harness.patched_surprise():
        model = surprise.SVD(n_factors=2, n_epochs=1, random_state=0).fit(trainset)
        others = [thing for thing in gc.get_objects() if is_prediction(thing)]  # none may end
        predictions = iter(model.test(trainset.build_anti_testset()))
        first = next(predictions)
        alive = [thing for thing in gc.get_objects() if is_prediction(thing)]
        known = {*map(id, others)}
        assert [thing for thing in alive if id(thing) not in known] == [first]
        first.details["mark"] = 1
        assert next(predictions).details == {"was_impossible": False}


def test_ids_that_are_tuples_stay_tuples_in_an_anti_testset(make_data):
    rows = [(("a", 1), ("x", 1), 3.0), (("b", 2), ("y", 2), 4.0)]
    trainset = make_data(rows, (1, 5)).build_full_trainset()
    expected = trainset.build_anti_testset()
    with harness.patched_surprise(strict=True):
        pairs = make_data(rows, (1, 5)).build_full_trainset().build_anti_testset()
        require_same(pairs, expected, "pairs")


def test_fits_with_one_seed_begin_with_the_same_numbers_whatever_their_sizes(make_rows, make_data):
    large = make_data(make_rows(np.random.default_rng(5), "plain"), (1, 5))
    small = make_data([("a", "x", 3.0), ("b", "y", 4.0)], (1, 5))

    def fits():
        np.random.seed(7)
        generator = np.random.RandomState(3)
        cases = [
            *((data, seed, {}) for seed in (0, 1, 0) for data in (small, large, small)),
            *((small, 0, {"n_factors": n}) for n in (3, 101)),
            *((small, 0, {"init_mean": mean}) for mean in (0.5, 0)),
            (small, 0, {"init_std_dev": 0.3}),
            *((small, seed, {}) for seed in (None, generator, None, generator)),
        ]
        models = [
            surprise.SVD(random_state=seed, n_epochs=1, **settings).fit(data.build_full_trainset())
            for data, seed, settings in cases
        ]
        return [[model.pu, model.qi] for model in models]

    expected = fits()
    with harness.patched_surprise():
        require_same(fits(), expected, "first vectors")


def test_predictions_of_an_anti_testset_sort_and_group_as_those_of_a_list(data):
    trainset = data.build_full_trainset()
    expected = surprise.KNNBasic(verbose=False).fit(trainset).test(trainset.build_anti_testset())
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        model = surprise.KNNBasic(verbose=False).fit(trainset)
        predictions = model.test(trainset.build_anti_testset())
        require_same(list(predictions), expected, "predictions")
        predictions.sort(key=lambda prediction: -prediction.est)
    expected.sort(key=lambda prediction: -prediction.est)
    require_same(list(predictions), expected, "sorted predictions")


@pytest.mark.parametrize(
    ("rows", "scale", "message"),
    [
        ([("a", "x", 9.0), ("b", "x", 3.0)], (1, 5), "1 of 2 are outside the scale 1 to 5"),
        ([("a", "x", np.nan), ("b", "x", 3.0)], (1, 5), "1 of 2 are NaN"),
    ],
)
def test_ratings_that_surprise_accepts_silently_are_warned_of(make_data, rows, scale, message):
    with harness.patched_surprise(), pytest.warns(SurpriseWarning, match=message):
        make_data(rows, scale)


def test_ids_of_another_type_are_warned_of(make_data):
    data = make_data([("1", "7", 3.0), ("2", "8", 4.0)], (1, 5))
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        model = surprise.SVD().fit(trainset)
        with pytest.warns(SurpriseWarning, match=r"user 1 \(int\) is unknown.* '1' \(str\)"):
            model.test([(1, "7", 3.0)])
        neighbours = surprise.KNNBaseline(verbose=False).fit(trainset)
        with pytest.warns(SurpriseWarning, match=r"item 7 \(int\) is unknown.* '7' \(str\)"):
            neighbours.predict("1", 7)


def test_a_fit_that_diverged_is_warned_of(data):
    with (
        harness.patched_surprise(),
        np.errstate(all="ignore"),
        pytest.warns(SurpriseWarning, match=r"SVD: the fit diverged .* estimates become 5"),
    ):
        surprise.SVD(lr_all=1000.0, n_epochs=50).fit(data.build_full_trainset())


def test_half_stars_that_are_cut_are_warned_of_once(make_data):
    data = make_data([("a", "x", 3.5), ("b", "x", 4.0)], (1, 5))
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        with pytest.warns(SurpriseWarning, match="SlopeOne: Surprise reads ratings as"):
            surprise.SlopeOne().fit(trainset)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            surprise.SlopeOne().fit(trainset)


def test_the_module_runs_a_script_that_nobody_edits(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom surprise import SVD\nfrom surprise.accuracy import rmse\n"
        "print(sys.argv[1:], __name__, SVD.fit.__module__ != rmse.__module__)\n"
    )
    command = [sys.executable, "-m", "harness.accelerate", "--report", str(script), "-x", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout == "['-x', '1'] __main__ True\n", done.stderr
    missing = subprocess.run([*command[:3], "none.py"], capture_output=True, text=True, timeout=600)
    assert missing.returncode == 2
    assert "none.py: no such file; give a script" in missing.stderr


def test_a_notebook_loads_the_extension():
    before = methods()
    harness.load_ipython_extension(None)
    assert methods() != before
    harness.unload_ipython_extension(None)
    assert methods() == before
