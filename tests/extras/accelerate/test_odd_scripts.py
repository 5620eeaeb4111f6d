"""Scripts that change Surprise, its training sets and its models have the outcomes of Surprise."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise import accuracy
from surprise.model_selection import KFold, cross_validate
from surprise.prediction_algorithms import algo_base

import harness
from harness.extras.accelerate.comparison import require_same
from harness.extras.accelerate.worth import MODELS

PROOFS = Path(__file__).parents[3] / "dev" / "proofs"
RANDOM = [surprise.NormalPredictor]


@pytest.fixture(scope="module")
def scripts():
    """The random scripts of ``dev/proofs``."""
    sys.path.insert(0, str(PROOFS))
    try:
        spec = importlib.util.spec_from_file_location("scripts", PROOFS / "scripts.py")
        module = sys.modules["scripts"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(PROOFS))
        for name in ("scripts", "common"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_scripts_have_the_same_outcomes(scripts, first):
    was = scripts.Surprise()
    for seed in range(first, first + 10):
        assert scripts.compare(seed, was)[1] == ""


@pytest.mark.long
def test_many_random_scripts_have_the_same_outcomes(scripts):
    was = scripts.Surprise()
    found = [scripts.compare(seed, was) for seed in range(100, 500)]
    assert [difference for _, difference in found if difference] == []
    assert sum(equal for equal, _ in found) > 4000


def make_data():
    rng = np.random.default_rng(3)
    codes = rng.permutation(20 * 15)[:150].tolist()
    rows = [(f"u{c // 15}", f"i{c % 15}", 1.0 + (c * 7) % 5) for c in codes]
    return surprise.Dataset.load_from_df(pd.DataFrame(rows), surprise.Reader())


def model_of(kind):
    seeded = (surprise.SVD, surprise.SVDpp, surprise.NMF, surprise.CoClustering)
    return kind(random_state=0) if kind in seeded else kind()


def outcome(kind, edit):
    """The estimates of a model whose training set was edited, or the error."""
    trainset = make_data().build_full_trainset()
    pairs = trainset.build_testset()[:9]
    np.random.seed(0)
    try:
        edit(trainset)
        model = model_of(kind).fit(trainset)
        return model.test(pairs), [model.predict(*pair) for pair in pairs]
    except Exception as error:
        return type(error), str(error)


class Cut(surprise.Trainset):
    def all_ratings(self):
        return ((u, i, min(r, 3.0)) for u, i, r in super().all_ratings())


EDITS = {
    "subclass": lambda t: setattr(t, "__class__", Cut),
    "no ratings": lambda t: t.ur.update({1: []}),
    "one side": lambda t: t.ir[0].pop(),
    "whole dictionary": lambda t: setattr(t, "ur", {u: [(0, 2.0)] for u in range(t.n_users)}),
    "n_users": lambda t: setattr(t, "n_users", t.n_users + 9),
    "n_items": lambda t: setattr(t, "n_items", t.n_items + 1),
    "n_ratings": lambda t: setattr(t, "n_ratings", 2 * t.n_ratings),
    "scale": lambda t: setattr(t, "rating_scale", (np.float32(2), 3)),
    "mean": lambda t: setattr(t, "_global_mean", 2.5),
    "own method": lambda t: setattr(t, "knows_user", lambda user: False),
    "infinite": lambda t: t.ur.update({0: [(i, np.inf) for i, _ in t.ur[0]]}),
    "names": lambda t: t._raw2inner_id_users.update({"u0": 3}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_training_set_counts_as_in_surprise(edit, capsys):
    expected = [outcome(kind, edit) for kind in MODELS]
    with harness.patched_surprise():
        require_same([outcome(kind, edit) for kind in MODELS], expected, "outcomes")


def replaced(function):
    """Return what makes a replacement from the method as it was."""
    return lambda plain: lambda self, *rest, **options: function(plain, self, *rest, **options)


validation = surprise.model_selection.validation
REPLACED = [
    (
        surprise.Trainset,
        "all_ratings",
        replaced(lambda plain, self: ((u, i, min(r, 3.0)) for u, i, r in plain(self))),
    ),
    (surprise.Trainset, "global_mean", lambda plain: property(lambda self: np.float64(2.0))),
    (surprise.Trainset, "to_inner_uid", replaced(lambda plain, self, raw: 0)),
    (surprise.Dataset, "construct_trainset", replaced(lambda plain, self, r: plain(self, r[3:]))),
    (surprise.dataset, "Trainset", lambda plain: Cut),
    (algo_base, "PredictionImpossible", lambda plain: type("Impossible", (plain,), {})),
    (
        surprise.SVD,
        "predict",
        replaced(lambda plain, self, uid, iid, *rest, **options: plain(self, uid, "i0", 1.0)),
    ),
    (validation, "fit_and_score", replaced(lambda *arguments: ({"rmse": 1.0}, {}, 0, 0))),
]


@pytest.mark.parametrize("is_before", [True, False])
@pytest.mark.parametrize(("owner", "name", "make"), REPLACED, ids=[row[1] for row in REPLACED])
def test_what_a_script_replaced_is_called_and_stays(owner, name, make, is_before, monkeypatch):
    def results():
        data = make_data()
        trainset = data.build_full_trainset()
        model = surprise.SVD(n_factors=3, random_state=0).fit(trainset)
        pairs = [*trainset.build_testset()[:5], ("nobody", "i1", 3.0)]
        scores = cross_validate(
            surprise.SVD(random_state=0), data, ["rmse"], KFold(2, random_state=0)
        )
        return model.test(pairs), model.predict(*pairs[-1]), scores["test_rmse"]

    own = results()
    plain = getattr(owner, name)
    with monkeypatch.context() as context:
        mine = make(plain)
        context.setattr(owner, name, mine)
        expected = results()
    with monkeypatch.context() as context:
        if is_before:
            context.setattr(owner, name, mine)
        harness.patch_surprise()
        if not is_before:
            context.setattr(owner, name, make(getattr(owner, name)))
        mine = vars(owner)[name]
        require_same(results(), expected, name)
        harness.unpatch_surprise()
        assert vars(owner)[name] is mine
        require_same(results(), expected, name)
    require_same(results(), own, name)
    with harness.patched_surprise(strict=True):
        require_same(results(), own, name)


def test_a_replaced_measure_keeps_its_own_code(monkeypatch):
    with monkeypatch.context() as context:
        harness.patch_surprise()
        context.setattr(accuracy, "rmse", lambda predictions, verbose=True: 7.0)
        harness.unpatch_surprise()
        assert accuracy.rmse([]) == 7.0
    with pytest.raises(ValueError, match="empty"):
        accuracy.rmse([])


def test_changed_defaults_count(monkeypatch):
    data = make_data()
    pairs = data.build_full_trainset().build_testset()

    def estimates():
        trainset = data.build_full_trainset()
        trainset.rating_scale = (2, 3)
        return [
            surprise.SVD(random_state=0).fit(trainset).test(pairs),
            surprise.KNNBasic(verbose=False).fit(trainset).test(pairs),
        ]

    monkeypatch.setattr(algo_base.AlgoBase.predict, "__defaults__", (None, False, False))
    expected = estimates()
    with harness.patched_surprise():
        require_same(estimates(), expected, "estimates")


def test_a_failed_fit_leaves_what_the_model_had():
    def attributes():
        trainset = make_data().build_full_trainset()
        model = surprise.KNNBasic(sim_options={"name": "msd"}, verbose=False).fit(trainset)
        model.sim_options["name"] = "none"
        with pytest.raises(NameError):
            model.fit(trainset)
        return model.sim

    expected = attributes()
    with harness.patched_surprise():
        require_same(attributes(), expected, "sim")


def test_ratings_changed_between_fit_and_test_count_in_a_mean_that_nobody_has_read():
    def estimates():
        trainset = make_data().build_full_trainset()
        model = surprise.KNNBasic(verbose=False).fit(trainset)
        trainset.ur[0] = [(item, 1.0) for item, _ in trainset.ur[0]]
        return model.test([("nobody", "nothing", 1.0)])

    expected = estimates()
    with harness.patched_surprise():
        require_same(estimates(), expected, "estimates")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
@pytest.mark.parametrize(("options", "ends"), [((), True), (("--quiet",), False)])
def test_a_terminal_gets_a_line_on_what_was_accelerated(tmp_path, options, ends):
    import pty

    (tmp_path / "script.py").write_text("import surprise\n")
    here, there = pty.openpty()
    command = [sys.executable, "-m", "harness.accelerate", *options, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=there, timeout=600)
    os.close(there)
    try:
        shown = os.read(here, 1000).decode()
    except OSError:  # nothing was written
        shown = ""
    os.close(here)
    assert done.returncode == 0
    line = (
        "harness: no call of Surprise was accelerated: the script calls nothing that the patch "
        "replaces"
    )
    assert shown.strip() == (line if ends else "")


SMALL = """import pandas
import surprise
from surprise.model_selection import cross_validate
frame = pandas.DataFrame([(n % 7, n % 5, 3.0) for n in range(35)])
data = surprise.Dataset.load_from_df(frame, surprise.Reader())
"""


@pytest.mark.parametrize(
    ("calls", "options", "code", "said"),
    [
        ("", (), 0, "accelerated: the script calls nothing that the patch replaces\n"),
        (
            "import sys; sys.exit(0)",
            ("--strict",),
            1,
            "patch replaces; --strict makes the exit code 1\n",
        ),
        ("import sys; sys.exit(4)", ("--strict",), 4, ""),
        ("", ("--quiet",), 0, ""),
        ("", ("--quiet", "--strict"), 1, "--strict makes the exit code 1\n"),
        (
            SMALL + "surprise.SVD().fit(data.build_full_trainset())",
            (),
            0,
            "construct_trainset): too small to be worth loading compiled code\n",
        ),
        (SMALL + "surprise.SVD().fit(data.build_full_trainset())", ("--strict",), 0, ""),
        (SMALL + "cross_validate(surprise.SVD(), data, n_jobs=2)", ("--strict",), 0, ""),
    ],
)
def test_a_script_that_was_not_accelerated_is_told_so_and_why(tmp_path, calls, options, code, said):
    (tmp_path / "script.py").write_text(calls)
    command = [sys.executable, "-m", "harness.accelerate", *options, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert said or not done.stderr


def test_the_report_ends_with_a_line_on_what_was_accelerated():
    class Own(surprise.AlgoBase):
        def estimate(self, u, i):
            return 3.0

    with harness.patched_surprise():
        trainset = make_data().build_full_trainset()
        surprise.SVD().fit(trainset)
        Own().fit(trainset).test([("u1", "i1", 3.0)])
    line = " ".join(str(harness.patch_report()).splitlines()[-2:])
    assert line.count("accelerated ") == 1
    assert line.endswith("; Surprise's own code answered 1 call (Own.test)")
