"""Small calls are left to Surprise, and what is accelerated is loaded when a call is worth it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import surprise
from surprise.model_selection import GridSearchCV, KFold, cross_validate

import harness
from harness.algorithms import registry
from harness.extras.accelerate import entrances, fits, one_by_one, patching, replacements, worth
from harness.extras.accelerate.attempts import AccelerationError
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.traps import TRUNCATING, SurpriseWarning

HEAVY = "numba", "pandas", "pyarrow", "pydantic", "scipy.stats", "harness.algorithms.registry"


@pytest.fixture(autouse=True)
def unloaded():
    """As in a process that begins."""
    worth.known.is_loaded = False
    yield
    worth.known.is_loaded = True  # what was made meanwhile is put back


@pytest.fixture
def data(make_rows, make_data):
    return make_data(make_rows(np.random.default_rng(5), "plain"), (1, 5))


def ways():
    return {*harness.patch_report().way}


def test_a_small_script_loads_nothing_that_is_large():
    script = f"""
        import sys, surprise
        before = set(sys.modules)
        import harness
        harness.patch_surprise()
        from surprise.model_selection import cross_validate
        reader = surprise.Reader(rating_scale=(1, 5))
        data = surprise.Dataset.load_from_file(sys.argv[1], reader)
        cross_validate(surprise.SVD(), data, cv=2)
        trainset = data.build_full_trainset()
        for kind in (surprise.KNNBaseline, surprise.SVDpp, surprise.SlopeOne):
            model = kind().fit(trainset)
            surprise.accuracy.rmse(model.test(trainset.build_anti_testset()))
            model.predict(1, 1)
        harness.unpatch_surprise()
        print(*{{*{HEAVY}}} & ({{*sys.modules}} - before))
        """
    rows = "".join(f"{row} {row % 7} {1 + row % 5}\n" for row in range(40))
    script = script.replace("sys.argv[1]", "file.name").replace(
        "import sys, surprise", "import sys, surprise, tempfile; file = made()"
    )
    made = f"""
        def made():
            import tempfile
            file = tempfile.NamedTemporaryFile("w")
            file.write({rows!r}); file.flush()
            return file
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(made) + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == ""


def test_small_calls_are_those_of_surprise(data):
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        model = surprise.SVD(random_state=0).fit(trainset)
        surprise.accuracy.fcp(model.test(trainset.build_testset()), verbose=False)
        cross_validate(surprise.KNNBasic(verbose=False), data, cv=KFold(2))
        assert ways() == {"surprise"}
        assert {*harness.patch_report().reason} == {worth.SMALL}
        assert "ur" in vars(trainset)


@pytest.mark.parametrize("option", ["strict", "compare"])
def test_options_that_ask_for_it_accelerate_all_calls(data, option):
    with harness.patched_surprise(**{option: True}):
        surprise.SVD().fit(data.build_full_trainset())
        assert ways() == {"accelerated"}


def test_what_is_refused_is_told_under_strict_however_small(data):
    class Own(surprise.AlgoBase):
        def estimate(self, u, i):
            return 3.0

    with harness.patched_surprise(strict=True), pytest.raises(AccelerationError):
        Own().fit(data.build_full_trainset()).test([(1, 1, 3.0)])


def test_the_first_call_that_is_worth_it_loads_all(data, monkeypatch):
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        small = surprise.SVD(random_state=0).fit(trainset)
        monkeypatch.setattr(worth, "LOADING", 1e-9)
        large = surprise.SVD(random_state=0).fit(trainset)
        assert harness.patch_report().query("call == 'SVD.fit'").way.tolist() == [
            "accelerated",
            "surprise",
        ]
        require_same(large, small, "SVD")
        pairs = trainset.build_anti_testset()
        require_same(list(small.test(pairs)), list(large.test(pairs)), "SVD.test")
    require_same(small.test(pairs), large.test(list(pairs)), "SVD.test, not patched")


def test_patience_ends_where_calls_would_have_saved_more(data, monkeypatch):
    monkeypatch.setattr(worth, "PATIENCE", 1e-9)
    with harness.patched_surprise():
        trainset = data.build_full_trainset()
        surprise.SVD().fit(trainset)
        assert "accelerated" in ways()


def test_a_loop_over_folds_counts_all_of_them(data, monkeypatch):
    trainset = data.build_full_trainset()
    model = surprise.SVD()
    saved = worth.saved_by_fit(model, trainset)
    monkeypatch.setattr(worth, "LOADING", 2.5 * saved)
    with harness.patched_surprise():
        model.fit(trainset)
        assert ways() == {"surprise"}
        for _ in KFold(5).split(data):
            model.fit(trainset)
        assert "accelerated" in ways()
    assert worth._around.folds_left == 1


def scores_of(table):
    return {name: values for name, values in table.items() if not name.endswith("time")}


@pytest.mark.parametrize("share", [0.1, 0.9, 2.1, 5.0])
def test_cross_validation_and_searches_count_all_their_fits(data, monkeypatch, share):
    def run():
        folds = KFold(4, random_state=0)
        table = scores_of(cross_validate(surprise.SVD(random_state=0), data, cv=folds))
        search = GridSearchCV(surprise.SVD, {"n_epochs": [3, 4], "random_state": [0]}, cv=folds)
        search.fit(data)
        return table, search.best_score, search.best_params

    expected = run()
    saved = worth.saved_by_fit(surprise.SVD(), data.build_full_trainset())
    monkeypatch.setattr(worth, "LOADING", share * saved)
    with harness.patched_surprise():
        require_same(run(), expected, "scores")
        assert ("accelerated" in ways()) == (share < 4)


def test_warnings_are_those_of_accelerated_calls(data, make_data):
    rows = [(1, 1, 4.5), (1, 2, 2.0), (2, 1, 3.0), (2, 2, 0.5)]
    with harness.patched_surprise():
        trainset = make_data(rows, (0.5, 5)).build_full_trainset()
        with pytest.warns(SurpriseWarning, match="SlopeOne: Surprise reads ratings as whole"):
            surprise.SlopeOne().fit(trainset)
        with pytest.warns(SurpriseWarning, match="SVD: the fit diverged"):
            model = surprise.SVD(lr_all=1e9).fit(trainset)
        with pytest.warns(SurpriseWarning, match=r"user '1' \(str\) is unknown to the model"):
            model.test([("1", 1, 3.0)])
        with pytest.warns(SurpriseWarning, match="1 of 4 are outside the scale 1 to 5"):
            make_data(rows, (1, 5))
        assert ways() == {"surprise"}


def test_no_fit_of_svdpp_depends_on_what_was_loaded_before(data):
    trainset = data.build_full_trainset()
    model = surprise.SVDpp()
    columns = trainset.ur
    n_steps = sum(len(rows) ** 2 for rows in columns.values()) * model.n_factors * model.n_epochs
    each = worth.saved_by_fit(model, trainset) / n_steps
    assert each * fits.FEW_STEPS == pytest.approx(worth.LOADING)


def test_each_method_that_is_replaced_has_an_accelerated_one():
    places = {(owner, name) for owner, name, _ in patching._methods()}
    assert not places & {*patching._OF_WHAT_WAITS}
    assert places | {*patching._OF_WHAT_WAITS} == {*replacements.METHODS}
    assert {*worth.SLOW_TO_PREDICT} == {*one_by_one.ESTIMATES}
    assert {*worth.MODELS} == {*fits.FITS}
    truncating = {kind for kind in worth.MODELS if registry.entry_of(kind).truncates}
    assert truncating == {*TRUNCATING}


def classes():
    return [{**vars(kind)} for kind in (surprise.AlgoBase, surprise.Trainset, *worth.MODELS)]


def test_reading_an_attribute_takes_no_longer_until_a_call_is_accelerated(data):
    before = classes()
    with harness.patched_surprise():
        model = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
        assert not hasattr(surprise.AlgoBase, "__getattr__")
        assert not hasattr(surprise.Trainset, "__getattr__")
        assert "predict" not in vars(surprise.KNNBasic)
        worth.known.saved = worth.PATIENCE
        again = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
        assert "accelerated" in ways()
        assert hasattr(surprise.AlgoBase, "__getattr__")
        assert hasattr(surprise.Trainset, "__getattr__")
        assert again.predict(1, 1) == model.predict(1, 1)
    assert classes() == before
    np.testing.assert_array_equal(again.sim, model.sim)


def test_a_method_that_a_script_puts_there_before_the_first_accelerated_call_stays(data):
    def predict(self, *arguments, **options):
        return "of the script"

    with harness.patched_surprise(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(surprise.KNNBasic, "predict", predict, raising=False)
        worth.known.saved = worth.PATIENCE
        model = surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())
        assert "accelerated" in ways()
        assert model.predict(1, 1) == "of the script"


@pytest.mark.parametrize("thing", [object(), None, 3, "text"])
def test_odd_objects_come_to_the_errors_of_surprise(data, thing):
    trainset = data.build_full_trainset()
    calls = [
        lambda: surprise.SVD().fit(thing),
        lambda: surprise.SVD().fit(trainset).test(thing),
        lambda: list(KFold(2).split(thing)),
        lambda: surprise.Dataset.load_from_file(thing, surprise.Reader()),
    ]

    def outcomes():
        found = []
        for call in calls:
            try:
                found.append(call())
            except Exception as error:
                found.append((type(error).__name__, str(error)))
        return found

    expected = outcomes()
    with harness.patched_surprise():
        assert outcomes() == expected


def test_scorers_and_runners_pass_on_what_they_stand_for(data):
    with harness.patched_surprise():
        assert isinstance(surprise.model_selection.validation.fit_and_score, entrances.FoldScorer)
        table = cross_validate(surprise.BaselineOnly(verbose=False), data, cv=KFold(2), n_jobs=2)
        assert len(table["test_rmse"]) == 2


def test_what_an_object_holds_is_found_without_its_properties():
    class Counted:
        reads = 0

        def __init__(self):
            self.__dict__ |= {"own": 2, "n_ratings": 3}

        @property
        def n_ratings(self):
            Counted.reads += 1
            raise RuntimeError

        def __getattr__(self, name):
            Counted.reads += 1
            raise RuntimeError

    found = [worth.held(Counted(), name) for name in ("own", "n_ratings", "missing")]
    assert (found, Counted.reads) == ([2, 3, None], 0)
    assert worth.held(object(), "own") is None
