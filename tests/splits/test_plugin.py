"""A kind of split of one's own is named, checked, drawn and told like the others."""

import sys
from typing import Literal

import numpy as np
import pytest

import harness
from harness.config.load import load
from harness.errors import ConfigError, SplitError
from harness.splits.base import FilterSection, make
from harness.splits.filters import filter as filter_ratings
from harness.splits.own import Split

MODULE = '''
import numpy as np
import harness

class EveryNth(harness.Split):
    """Every n-th rating is the test set."""

    n: int = 3

    def divide(self, ratings, rng):
        for first in range(2):
            test = np.arange(len(ratings)) % self.n == first
            yield ~test, test

class Drawn(harness.Split):
    """A tenth, drawn at random, is the test set."""

    def divide(self, ratings, rng):
        order = rng.permutation(len(ratings))
        yield order[len(order) // 10 :], order[: len(order) // 10]

class Mute(Drawn):
    pass
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return the name of a module of one's own beside a config."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


def config(kind, **keys):
    return {
        "dataset": {"synthetic": {"n_users": 20, "n_items": 20, "n_ratings": 200}},
        "split": {"kind": kind, **keys},
        "algorithms": ["BaselineOnly"],
        "metrics": ["rmse"],
    }


def test_its_folds_its_name_and_its_sentence(module):
    experiment, _ = load(config(f"{module}:EveryNth", n=4))
    (section,) = experiment.split
    assert section.describe() == f"{module}:EveryNth, n 4"
    assert section.sentence() == "Every n-th rating is the test set (n 4)."
    folds = make(section, harness.load("bundled"), seed=0)
    assert [fold.test[:3].tolist() for fold in folds] == [[0, 4, 8], [1, 5, 9]]
    rows = np.sort(np.concatenate([folds[0].train, folds[0].test]))
    assert np.array_equal(rows, np.arange(100_004))


def test_the_same_seed_gives_the_same_draw(module):
    experiment, _ = load(config(f"{module}:Drawn"))
    ratings = harness.load("bundled")
    prints = [make(experiment.split[0], ratings, seed)[0].fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]
    stated, _ = load(config(f"{module}:Drawn", random_state=3))
    prints = [make(stated.split[0], ratings, seed)[0].fingerprint for seed in (0, 1)]
    assert prints[0] == prints[1]


def test_its_keys_are_checked_with_lines(module, tmp_path):
    text = f"""
dataset: bundled
algorithms: [SVD]
metrics: [rmse]
split:
  kind: {module}:EveryNth
  m: 4
"""
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"a\.yaml:7: split\.m: unknown key"):
        load(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text(text.replace("m: 4", "n: four"))
    with pytest.raises(ConfigError, match=r"a\.yaml:7: split\.n: found 'four'; it must be a whole"):
        load(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text(text.replace("EveryNth", "EveryNht"))
    with pytest.raises(ConfigError, match=r"a\.yaml:5: split.*: .*did you mean 'EveryNth'"):
        load(tmp_path / "a.yaml")


def test_a_run_and_a_tuned_run_use_it(module):
    more = {"tuning": {"trials": 1, "validation": {"kind": f"{module}:Drawn"}}}
    more["algorithms"] = [{"name": "ItemMean", "search": {"damping": [1.0, 2.0]}}]
    run = harness.run(config(f"{module}:EveryNth") | more, results=None)
    assert len(run.info.splits) == 2
    assert run.table["rmse"].notna().all()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([], "yields nothing"),
        ([None], "found NoneType; yield two arrays of rows"),
        ([([True], [False])], r"a mask of shape \(1,\); give one of \(4,\)"),
        ([([0, 1, 2], [2, 3])], "1 rating in both sets"),
        ([([0, 1, 9], [2, 3])], "rows up to 9; there are 4, from 0"),
        ([([0, 0, 1], [2, 3])], "a row is there twice"),
        ([([0.5, 1], [2, 3])], "give masks or row numbers"),
        ([([0, 1, 2, 3], [])], "no test rating is left"),
    ],
)
def test_parts_that_are_none_are_refused_in_words(parts, said):
    class Odd(Split):
        """Odd parts."""

        def divide(self, ratings, rng):
            for pair in parts:
                yield pair and tuple(np.array(part, int if not part else None) for part in pair)

    ratings = harness.Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    with pytest.raises(SplitError, match=f"odd.*{said}|{said}"):
        make(Odd(), ratings, seed=0)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda ratings: 1 / 0, "ZeroDivisionError: division by zero, test_plugin.py"),
        (lambda ratings: sys.exit(3), "SystemExit: 3, test_plugin.py"),
        (lambda ratings: ratings.ratings.fill(1), "read-only"),
        (lambda ratings: ratings.users.sort(), "read-only"),
    ],
)
def test_one_that_fails_or_changes_the_ratings_is_an_error_with_its_place(fault, said):
    class Bad(Split):
        """Bad."""

        def divide(self, ratings, rng):
            yield np.arange(4) < 3, np.arange(4) == 3
            fault(ratings)

    class Wrong(FilterSection):
        """Wrong."""

        kind: Literal["wrong"] = "wrong"
        name = "wrong"

        def keep(self, ratings, state):
            fault(ratings)

    ratings = harness.Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    with pytest.raises(SplitError, match=f"bad: `divide` failed .*{said}"):
        make(Bad(), ratings, seed=0)
    with pytest.raises(SplitError, match=f"filters: wrong: it failed .*{said}"):
        filter_ratings([Wrong()], ratings, 0)
    assert ratings.ratings.tolist() == [1, 2, 3, 4]


def test_a_filter_is_no_split_and_a_split_no_filter():
    with pytest.raises(ConfigError, match="'k-core' is not a kind of split; use one of file"):
        load(config("k-core", n=2))
