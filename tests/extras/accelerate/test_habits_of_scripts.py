"""What scripts do around Surprise: read its dictionaries, replace its functions, open files."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise.model_selection import KFold, ShuffleSplit, cross_validate, train_test_split

import harness
from harness.extras.accelerate.attempts import AccelerationError, ComparisonError
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.traps import SurpriseWarning
from harness.extras.accelerate.worth import MODELS

KINDS = [kind for kind in MODELS if kind is not surprise.NormalPredictor]  # which draws anew


@pytest.fixture
def data(make_data):
    rng = np.random.default_rng(5)
    pairs = [divmod(int(code), 25) for code in rng.permutation(20 * 25)[:300]]
    return make_data([(*pair, float(rng.integers(1, 6))) for pair in pairs], (1, 5))


def model_of(kind):
    """Return a model that fits the same at each time, and prints nothing."""
    has_seed = kind in (surprise.SVD, surprise.SVDpp, surprise.NMF, surprise.CoClustering)
    return (
        kind(random_state=0) if has_seed else kind(verbose=False) if "KNN" in str(kind) else kind()
    )


def ways():
    """Return the way of each call that was counted."""
    return {tuple(row) for row in harness.patch_report()[["call", "way"]].itertuples(index=False)}


def test_a_script_finds_its_folder_and_shows_its_errors_as_without_the_patch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nprint(os.path.dirname(__file__), sys.argv)\n"
        "class Own: pass\nimport pickle; pickle.dumps(Own())\n"
        "def typed(x: int): pass\nprint(typed.__annotations__, __name__, __doc__)\n"
        "def stop():\n    raise ValueError('of the script')\nstop()\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, *options, "script.py", "a"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
        )
        for options in ((), ("-m", "harness.accelerate"))
    ]
    assert str(tmp_path) in runs[0].stdout
    plain, patched = [(run.returncode, run.stdout, run.stderr) for run in runs]
    assert patched == plain


def test_a_script_that_cannot_be_parsed_is_shown_as_without_the_patch(tmp_path):
    (tmp_path / "script.py").write_text("x = (\n")
    runs = [
        subprocess.run(
            [sys.executable, *options, tmp_path / "script.py"],
            capture_output=True,
            text=True,
            timeout=600,
        )
        for options in ((), ("-m", "harness.accelerate"))
    ]
    assert runs[1].stderr == runs[0].stderr
    assert runs[1].returncode == runs[0].returncode == 1


@pytest.mark.parametrize("test_size", [1.0, 0.999, 5])
def test_a_split_without_training_ratings_is_surprises(data, test_size):
    data.raw_ratings = data.raw_ratings[:5]

    def parts():
        trainset, testset = train_test_split(data, test_size=test_size, random_state=0)
        split = next(iter(ShuffleSplit(2, test_size=test_size, random_state=0).split(data)))
        return trainset.n_ratings, testset, split[0].n_ratings, split[1]

    def outcome():
        try:
            return parts()
        except ValueError as error:
            return str(error)

    expected = outcome()
    with harness.patched_surprise():
        assert outcome() == expected


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
def test_tests_and_predictions_are_as_fast_after_a_dictionary_was_read(data, kind):
    trainset = data.build_full_trainset()
    pairs = [*trainset.build_testset()[:7], ("nobody", "nothing", 3.0)]
    model = model_of(kind).fit(trainset)
    expected = model.test(pairs), [model.predict(*pair) for pair in pairs]
    with harness.patched_surprise(strict=True):
        trainset = data.build_full_trainset()
        assert trainset.ur[0]
        model = model_of(kind).fit(trainset)
        require_same((model.test(pairs), [model.predict(*pair) for pair in pairs]), expected, "")
        assert (f"{kind.__name__}.test", "accelerated") in ways()
        if kind in (surprise.SVDpp, surprise.SlopeOne) or "KNN" in kind.__name__:
            assert (f"{kind.__name__}.predict", "accelerated") in ways()


@pytest.mark.parametrize("kind", KINDS)
def test_a_rating_changed_after_the_fit_counts_where_surprise_reads_it(data, kind):
    def estimates():
        trainset = data.build_full_trainset()
        pairs = trainset.build_testset()[:7]
        model = model_of(kind).fit(trainset)
        assert trainset.ur[0]
        before = model.test(pairs)
        user, item = trainset.to_inner_uid(pairs[0][0]), trainset.to_inner_iid(pairs[0][1])
        trainset.ur[user] = trainset.ur[user][:-1]
        trainset.ir[item][-1] = trainset.ir[item][-1][0], 1.5
        return before, model.test(pairs), [model.predict(*pair) for pair in pairs]

    expected = estimates()
    with harness.patched_surprise():
        require_same(estimates(), expected, "estimates")


def test_few_pairs_of_a_loaded_model_are_surprises(data):
    trainset = data.build_full_trainset()
    model = pickle.loads(pickle.dumps(surprise.SVD(random_state=0).fit(trainset)))
    pairs = trainset.build_testset()
    expected = model.test(pairs[:1]), model.test(pairs)
    with harness.patched_surprise():
        require_same((model.test(pairs[:1]), model.test(pairs)), expected, "test")
        counts = harness.patch_report().query("call == 'SVD.test'").set_index("way")["calls"]
        assert counts.to_dict() == {"surprise": 1, "accelerated": 1}


def constant(self, *arguments):
    return 1.5


def predict_constant(self, uid, iid, r_ui=None, clip=True, verbose=False):
    return surprise.Prediction(uid, iid, r_ui, 1.5, {})


def all_alike(n_x, yr, min_support):
    return np.ones((n_x, n_x))


REPLACED = [
    (surprise.similarities, "msd", all_alike),
    (surprise.AlgoBase, "compute_similarities", lambda self: np.ones((self.n_x, self.n_x))),
    (surprise.KNNBasic, "estimate", constant),
    (surprise.AlgoBase, "default_prediction", constant),
    (surprise.AlgoBase, "predict", predict_constant),
    (surprise.accuracy, "rmse", lambda predictions, verbose=True: 7.0),
]


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize(
    ("owner", "name", "function"), REPLACED, ids=[name for _, name, _ in REPLACED]
)
def test_a_function_that_a_script_replaced_for_everybody_is_called(
    data, monkeypatch, owner, name, function, is_before
):
    def results():
        trainset = data.build_full_trainset()
        model = surprise.KNNBasic(verbose=False).fit(trainset)
        pairs = [*trainset.build_testset()[:5], ("nobody", "nothing", 3.0)]
        folds = KFold(2, random_state=0)
        scores = cross_validate(surprise.KNNBasic(verbose=False), data, ["rmse"], folds)
        estimates = [prediction.est for prediction in model.test(pairs)]
        return estimates, [model.predict(*pair).est for pair in pairs], scores["test_rmse"]

    own = results()
    with monkeypatch.context() as context:
        context.setattr(owner, name, function)
        expected = results()
    assert repr(expected) != repr(own)
    with monkeypatch.context() as context:
        if is_before:
            context.setattr(owner, name, function)
        with harness.patched_surprise():
            if not is_before:
                context.setattr(owner, name, function)
            require_same(results(), expected, name)
            if not is_before:
                context.undo()
    with harness.patched_surprise():
        require_same(results(), own, name)


def test_strict_names_the_function_that_was_replaced(data, monkeypatch):
    monkeypatch.setattr(surprise.similarities, "msd", all_alike)
    with (
        harness.patched_surprise(strict=True),
        pytest.raises(AccelerationError, match=r"\(similarities\.msd is not Surprise's own\)"),
    ):
        surprise.KNNBasic(verbose=False).fit(data.build_full_trainset())


@pytest.mark.parametrize("kind", [surprise.SlopeOne, surprise.CoClustering, surprise.SVD])
@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_a_rating_that_is_no_number_has_one_warning_and_surprises_answer(kind, wrong):
    frame = pd.DataFrame({"u": [*"aabbc"], "i": [*"xyxzy"], "r": [3.0, wrong, 4.0, 1.0, 2.0]})

    def outcome():
        trainset = surprise.Dataset.load_from_df(frame, surprise.Reader()).build_full_trainset()
        try:
            return model_of(kind).fit(trainset).predict("a", "z").est
        except (ValueError, OverflowError) as error:
            return type(error), str(error)

    with np.errstate(all="ignore"):
        expected = outcome()
        with harness.patched_surprise(), pytest.warns(SurpriseWarning) as warned:
            require_same(outcome(), expected, kind.__name__)
    assert len(warned) == 1
    assert str(warned[0].message).startswith("ratings: 1 of 5 are ")


def test_deviations_have_the_signs_of_surprises_zeros():
    frame = pd.DataFrame({"u": [*"aabbb"], "i": [*"xyxyz"], "r": [3.0, 3.0, 4.0, 4.0, 1.0]})
    data = surprise.Dataset.load_from_df(frame, surprise.Reader())
    expected = surprise.SlopeOne().fit(data.build_full_trainset()).dev
    with harness.patched_surprise():
        dev = surprise.SlopeOne().fit(data.build_full_trainset()).dev
    require_same(dev, expected, "dev")
    assert np.signbit(dev[1, 0])
    assert not np.signbit(dev[0, 1])


def test_compare_tells_zeros_of_two_signs_apart():
    for here, there in ((0.0, -0.0), (np.array([0.0]), np.array([-0.0]))):
        with pytest.raises(ComparisonError, match="where Surprise has"):
            require_same(here, there, "value")
        require_same(there, there, "value")


@pytest.mark.parametrize(
    "look",
    [
        lambda trainset: None,
        lambda trainset: trainset.build_testset(),
        lambda trainset: list(trainset.all_ratings()),
        lambda trainset: list(trainset.build_anti_testset(fill=2.0)),
        lambda trainset: list(trainset.build_anti_testset()),
        lambda trainset: trainset.global_mean,
    ],
)
@pytest.mark.parametrize("split", [False, True])
def test_ratings_that_are_changed_before_a_fit_count_in_the_mean_unless_it_was_read(
    data, look, split
):
    def fitted():
        trainset = data.build_full_trainset()
        if split:
            trainset, _ = train_test_split(data, random_state=0)
        look(trainset)
        trainset.ur[0][0] = (trainset.ur[0][0][0], 1.0)
        model = surprise.SVD(n_factors=3, n_epochs=2, random_state=0).fit(trainset)
        return trainset.global_mean, model.pu, model.bi

    expected = fitted()
    with harness.patched_surprise():
        require_same(fitted(), expected, "a changed training set")
