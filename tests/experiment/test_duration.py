"""How long a run takes, as a probe tells it: how work grows, what is counted, what is not told."""

import numpy as np
import pytest

from harness.algorithms import registry
from harness.algorithms.base import Counts
from harness.experiment import duration
from harness.experiment.dry_run import dry_run
from harness.experiment.plan import Plan

SYNTHETIC = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
CONFIG = {
    "dataset": SYNTHETIC,
    "algorithms": ["SVD", "ItemMean"],
    "metrics": ["ndcg@5"],
    "baselines": False,
}


def counts(users=100, items=80, of_each=10, pairs=3, lists=0):
    """Each user has so many ratings, in equal numbers of all items, and so many estimates."""
    of_items = np.full(items, users * of_each / items)
    return Counts(
        np.full(users, of_each),
        of_items,
        np.full(users, pairs),
        np.full(items, users * pairs / items),
        lists,
    )


@pytest.mark.parametrize("name", sorted(registry.algorithms()))
def test_the_work_of_every_algorithm_is_finite_and_grows(name):
    small = registry.work(name, {}, counts())
    for larger in (counts(users=200), counts(users=200, items=160, of_each=20, pairs=6)):
        work = registry.work(name, {}, larger)
        assert np.isfinite(work).all()
        assert work.fit > small.fit > 0
        assert work.scores > small.scores > 0
    lists = [registry.work(name, {}, counts(lists=n)).scores for n in (0, 100, 200)]
    assert sorted({*lists}) == lists


@pytest.mark.parametrize(
    ("name", "params", "larger", "ratio"),
    [
        ("BaselineOnly", {}, counts(users=200), 2),  # ratings
        ("CoClustering", {}, counts(of_each=20), 2),
        ("KNNBasic", {}, counts(users=200), 4),  # ratings of each item, squared
        ("KNNBasic", {"sim_options": {"user_based": False}}, counts(users=200), 1.7),
        ("SlopeOne", {}, counts(of_each=20), 3),  # ratings of each user, squared
        ("BinaryItemKNN", {}, counts(items=160), 4),  # items, squared
        ("EASE", {}, counts(items=80_000, users=80_000), 8),
    ],
)
def test_work_grows_with_what_a_fit_goes_through(name, params, larger, ratio):
    one = counts(users=40_000, items=40_000) if name == "EASE" else counts()  # items, cubed
    found = registry.work(name, params, larger).fit / registry.work(name, params, one).fit
    assert found == pytest.approx(ratio, rel=0.4)


def test_work_is_of_the_epochs_and_factors_of_a_setting():
    def fit(name, **params):
        return registry.work(name, params, counts(users=10_000)).fit

    assert fit("SVDpp", n_epochs=40) == pytest.approx(2 * fit("SVDpp", n_epochs=20), rel=0.1)
    assert fit("SVD", n_factors=200) > 1.8 * fit("SVD", n_factors=100)
    biases = {"bsl_options": {"method": "als", "n_epochs": 30}}
    assert fit("BaselineOnly", **biases) == 3 * fit("BaselineOnly")


def test_the_epochs_of_your_own_class_count(tmp_path, monkeypatch):
    text = (
        "import surprise\nclass Own(surprise.AlgoBase):\n"
        "    def __init__(self, n_epochs=5):\n        super().__init__()\n"
        "    def estimate(self, u, i):\n        return 3.0\n"
    )
    (tmp_path / "of_epochs.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    given, default = (
        registry.work("of_epochs:Own", params, counts()).fit for params in ({"n_epochs": 10}, {})
    )
    assert given == 2 * default


@pytest.fixture
def told(monkeypatch, tmp_path):
    """Return the duration of a config where each stage of a probed cell takes a second."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    clock = np.zeros(2)

    def now():
        nonlocal clock
        clock = clock + 1.0
        return clock

    monkeypatch.setattr(duration, "_now", now)

    def tell(**keys):
        found = dry_run({**CONFIG, **keys}, probe=True)
        assert found.faults == []
        return found.duration

    return tell


KFOLD = {"kind": "kfold", "n_splits": 4}
SEARCHED = {"name": "SVD", "search": {"lr_all": [0.001 * n for n in range(1, 60)]}}


@pytest.mark.parametrize(
    ("keys", "fits"),
    [
        ({}, 2),
        ({"split": KFOLD}, 8),
        ({"seed": [0, 1, 2]}, 6),
        ({"candidates": ["rated", "catalogue"], "split": KFOLD}, 16),
        ({"seeds": {"model": 3}}, 4),  # without random numbers, one cell is that of all
        ({"seed": [0, 1, 2], "split": {"kind": "holdout", "random_state": 1}}, 4),
        ({"split": [{"kind": "holdout"}, KFOLD]}, 10),
    ],
    ids=str,
)
def test_every_cell_that_a_run_computes_is_counted(told, keys, fits):
    found = told(**keys)
    assert found.parts["fits"] == pytest.approx(fits, rel=0.15)  # folds differ by a rating
    assert found.parts["trials"] == 0
    assert found.unknown == []
    assert found.seconds == pytest.approx(sum(found.parts.values()))


def test_every_trial_is_counted(told):
    def trials(n, **keys):
        keys = {"algorithms": [SEARCHED]} | keys
        return told(tuning={"trials": n}, **keys).parts["trials"]

    few = trials(9)
    assert trials(19) == pytest.approx(2 * few)  # with the setting of the config
    assert trials(9, split=KFOLD) == pytest.approx(4 * few, rel=0.1)
    longer = {"name": "SVD", "search": {"n_epochs": [400]}}
    assert trials(9, algorithms=[longer]) > 0


def test_workers_share_cells_and_one_cell_is_not_shared(told):
    alone, shared = (told(split=KFOLD, execution={"workers": n}).parts["fits"] for n in (1, 2))
    assert shared == pytest.approx(alone / min(2, duration.n_threads()))
    limited = told(execution={"time_limit": 0.5})
    assert limited.parts["fits"] <= 1.0


def test_without_statistics_nothing_is_compared(told):
    assert told().parts["comparison"] > 0
    assert told(statistics=None).parts["comparison"] == 0


def test_a_larger_sample_follows_while_it_is_short_and_nothing_is_stored(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(duration, "SMALLEST", 100)
    found = dry_run({**CONFIG, "candidates": ["rated", "catalogue"]}, probe=True).duration
    assert found.probe.startswith("12 fits on up to 480 ratings, in ")
    assert all(seconds > 0 for seconds in found.cells)
    assert [*tmp_path.rglob("*")] == []
    monkeypatch.setattr(duration, "BUDGET", 0.0)
    found = dry_run(CONFIG, probe=True).duration
    assert found.probe.startswith("2 fits on up to 1")


@pytest.mark.parametrize(
    ("keys", "n_all", "why"),
    [
        ({}, 2, ["not all data are read here"]),
        ({"execution": {"executor": "dask", "scheduler": "tcp://a:1"}}, 1, ["computed by dask"]),
        ({"algorithms": ["implicit-als"]}, 1, ["implicit-als is of another library, which is not"]),
        (
            {"algorithms": [SEARCHED], "tuning": {"seconds": 5}},
            1,
            ["the search of SVD ends by seconds"],
        ),
        ({"algorithms": [SEARCHED]}, 1, []),
    ],
    ids=str,
)
def test_what_cannot_be_told_is_said(keys, n_all, why):
    plan = Plan.from_config({**CONFIG, **keys})
    plan.ratings(0)
    found = [*duration.not_told(plan, n_all)]
    assert len(found) == len(why)
    assert all(part in text for part, text in zip(why, found, strict=True))


def test_an_algorithm_that_fails_on_a_sample_is_named(tmp_path, monkeypatch):
    text = (
        "import surprise\nclass Fails(surprise.AlgoBase):\n"
        "    def fit(self, trainset):\n        raise KeyError('x')\n"
        "    def estimate(self, u, i):\n        return 3.0\n"
    )
    (tmp_path / "that_fails.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    found = dry_run({**CONFIG, "algorithms": ["that_fails:Fails", "SVD"]}, probe=True)
    assert (found.faults, found.duration.seconds) == ([], None)
    (time,) = (text for subject, text in found.facts if subject == "time")
    assert time == "cannot be told: that_fails:Fails failed on a sample ('x')"
    assert found.duration.cells[0] is None
    assert found.duration.cells[1] > 0


def test_a_fit_that_takes_long_on_any_sample_is_not_probed():
    params = {"n_epochs": 9_000, "n_factors": 5_000}
    endless = {"name": "SVD", "params": params}
    found = dry_run({**CONFIG, "algorithms": [endless, "ItemMean"]}, probe=True)
    (time,) = (text for subject, text in found.facts if subject == "time")
    assert time == "cannot be told: SVD takes long on the smallest sample, too"
    assert found.duration.cells[0] is None
    assert found.duration.cells[1] > 0
