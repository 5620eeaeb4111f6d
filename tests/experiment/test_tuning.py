"""A search tries what its budget promises, says what it tried, and fails honestly."""

import itertools
import json

import numpy as np
import pytest
from surprise import KNNBasic

import harness
from harness.cli.progress import Lines
from harness.config.experiment import Tuning
from harness.experiment.dry_run import dry_run
from harness.experiment.tuning import settings_of
from harness.report.methods import methods
from harness.sections import Range
from harness.splits import GlobalTime, Holdout, LeaveNOut, UserFraction, UserHoldout

CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "algorithms": [{"name": "KNNBasic", "search": {"k": [2, 5], "min_k": [1, 2]}}],
    "metrics": ["ndcg@5"],
    "tuning": {"method": "grid", "trials": 4, "metric": "ndcg@5"},
    "statistics": None,
}


class Refusing(KNNBasic):
    """Refuse every fit with a `k` of its list."""

    REFUSED = (3, 5, 40)

    def fit(self, trainset):
        if self.k in self.REFUSED:
            raise ValueError(f"no fit with {self.k}")
        return super().fit(trainset)


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))


def tried(done):
    """Return the parameters of the trials, without the setting of the config."""
    trials = done.trials[done.trials["trial"] > 0]
    return [json.loads(params) for params in trials["params"]]


def asked(space, **budget):
    """Return every setting of a search, at most a thousand."""
    settings = list(itertools.islice(settings_of(Tuning(**budget), space, 0, "KNNBasic"), 1000))
    assert len({repr(setting) for setting in settings}) == len(settings)
    return settings


def test_a_grid_of_four_settings_with_four_trials_tries_all_four():
    done = harness.run(CONFIG, results=None)
    assert tried(done) == [{"k": k, "min_k": m} for k in (2, 5) for m in (1, 2)]
    cell = done.info["cells"][0]
    assert cell["n_trials"] == 4
    assert not any("grid" in note for note in done.info["notes"])
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert "Trials of each search: 4 of KNNBasic." in text


def test_a_grid_that_is_cut_says_so_before_and_after_the_run():
    config = CONFIG | {"tuning": CONFIG["tuning"] | {"trials": 3}}
    note = "KNNBasic: the grid has 4 settings, of which 3, drawn at random, are tried; raise "
    assert any(each.startswith(note) for each in dry_run(config).notes)
    done = harness.run(config, results=None)
    assert any(each.startswith(note) for each in done.info["notes"])
    assert len(tried(done)) == done.info["cells"][0]["n_trials"] == 3


def test_more_trials_of_a_cut_grid_keep_those_that_were_drawn():
    space = {"k": list(range(20))}
    few, more = (asked(space, method="grid", trials=n)[:n] for n in (5, 10))
    assert more[:5] == few


@pytest.mark.parametrize(
    ("space", "size"),
    [
        ({"k": [1, 2, 3]}, 3),
        ({"k": [1, 1, True, 1.0]}, 3),
        ({"k": [1, 2], "sim_options.user_based": [True, False]}, 4),
        ({"k": Range(low=1, high=9), "min_k": Range(low=1, high=4, log=True)}, 36),
        ({"k": [1, 2], "lr": Range(low=0.1, high=0.2)}, 1000),
        ({}, 0),
    ],
)
def test_random_search_repeats_nothing_and_ends_with_the_space(space, size):
    assert len(asked(space, trials=1000)) == size


def test_settings_that_are_drawn_seldom_are_reached_too(monkeypatch):
    monkeypatch.setattr("harness.experiment.tuning.MOST_REPEATED", 3)
    assert len(asked({"k": Range(low=1, high=200, log=True)}, trials=1000)) == 200


def test_the_number_of_trials_is_that_of_the_settings_tried():
    rows = [
        {"name": "KNNBasic", "search": {"k": [2, 5]}},
        {"name": "SlopeOne", "search": "recommended"},
    ]
    done = harness.run(CONFIG | {"algorithms": rows, "tuning": {"trials": 20}}, results=None)
    table = done.table.set_index("algorithm")
    assert table.loc["KNNBasic", "n_trials"] == 2
    assert table.loc["SlopeOne", "n_trials"] == 0
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert "Trials of each search: 2 of KNNBasic." in text
    assert "SlopeOne has nothing to tune." in text


def row_of(search, **more):
    return {"name": f"{__name__}:Refusing", "label": "own", "search": search, **more}


def test_a_row_whose_trials_all_fail_fails_with_the_reason():
    plain = {"name": f"{__name__}:Refusing", "label": "plain", "params": {"k": 5}}
    rows = [row_of({"k": [3]}, params={"k": 5}), plain, "ItemMean"]
    done = harness.run(CONFIG | {"algorithms": rows}, results=None)
    errors = done.table.set_index("algorithm")["error"]
    assert errors["own"].startswith("no setting can be chosen: 2 of 2 trials failed: ValueError")
    assert "no fit with 5" in errors["own"]
    assert errors["plain"].startswith("ValueError")
    assert errors["ItemMean"] == ""


def test_a_failed_search_leaves_a_row_with_the_same_parameters_alone(monkeypatch):
    tuning = {"metric": "recall(threshold=99)@3"}  # defined for nobody
    rows = [{"name": "ItemMean", "label": "tuned", "search": {}}, "ItemMean"]
    done = harness.run(CONFIG | {"algorithms": rows, "tuning": tuning}, results=None)
    errors = done.table.set_index("algorithm")["error"]
    assert "1 of 1 trials failed: no user of the validation part has a score" in errors["tuned"]
    assert errors["ItemMean"] == ""


def test_trials_that_fail_beside_others_are_noted():
    rows = [row_of({"k": [3, 5, 7]}, params={"k": 6})]
    done = harness.run(CONFIG | {"algorithms": rows}, results=None)
    (note,) = (note for note in done.info["notes"] if "trials failed" in note)
    assert note.startswith("own: 2 of 4 trials failed: ValueError: no fit with 3")
    assert done.info["cells"][0]["params"]["k"] in (6, 7)


def test_a_search_whose_every_trial_fails_at_once_ends_long_before_its_seconds():
    rows = [row_of({"min_k": {"low": 1, "high": 10**6}}, params={"k": 3})]
    tuning = {"seconds": 1e6, "metric": "ndcg@5"}
    done = harness.run(CONFIG | {"algorithms": rows, "tuning": tuning}, results=None)
    assert done.failed[0]["error"].startswith("no setting can be chosen: 21 of 21 trials failed")


def test_failed_trials_use_up_a_budget_of_seconds():
    rows = [row_of({"min_k": {"low": 1, "high": 10**6}})]
    tuning = {"seconds": 0.02, "metric": "ndcg@5"}
    done = harness.run(CONFIG | {"algorithms": rows, "tuning": tuning}, results=None)
    assert (done.trials["seconds"] > 0).all()
    assert done.trials["seconds"].iloc[:-1].sum() < 0.02
    assert "trials failed" in done.failed[0]["error"]


@pytest.mark.parametrize(
    ("split", "validation"),
    [
        (Holdout(), Holdout(test_size=0.2)),
        (LeaveNOut(), Holdout(test_size=0.2)),
        (GlobalTime(quantile=0.9), GlobalTime(quantile=0.8)),
        (GlobalTime(date="1998-01-01"), GlobalTime(quantile=0.8)),
        (LeaveNOut(n=2, choose="latest"), LeaveNOut(n=2, choose="latest", too_few="train")),
        (
            UserFraction(fraction=0.1, choose="latest"),
            UserFraction(fraction=0.1, choose="latest", too_few="train"),
        ),
        (
            UserHoldout(choose="latest"),
            UserFraction(fraction=0.2, choose="latest", too_few="train"),
        ),
        (GlobalTime(validation=Holdout(test_size=0.3)), Holdout(test_size=0.3)),
    ],
)
def test_the_validation_part_follows_the_split(split, validation):
    assert Tuning().validation_of(split) == validation
    chosen = Tuning(validation={"kind": "holdout", "test_size": 0.4})
    assert chosen.validation_of(split) == (split.validation or chosen.validation)


def test_no_setting_is_fitted_on_ratings_later_than_its_validation_part():
    times = np.arange(600)
    users, items = times % 30, times // 30
    ratings = harness.Ratings.from_columns(
        users, items, 1 + times % 5, timestamps=times, scale=(1, 5)
    )
    config = {key: CONFIG[key] for key in ("algorithms", "metrics", "tuning", "statistics")}
    done = harness.run(config | {"split": "global-time"}, ratings=ratings, results=None)
    assert done.info["config"]["split"][0]["validation"]["kind"] == "global-time"
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert GlobalTime(quantile=0.8).sentence("validation part") in text


def test_a_search_that_seconds_alone_end_shows_no_total(tmp_path, capsys):
    tuning = {"seconds": 0.5, "metric": "ndcg@5"}
    watch = Lines()
    done = harness.run(CONFIG | {"tuning": tuning}, results=None, watch=watch)
    shown = [line.split()[0] for line in capsys.readouterr().err.splitlines() if "✓" in line]
    n_tried, n_cells = len(done.trials), len(done.info["cells"])
    assert shown[:n_tried] == [f"[{number + 1}]" for number in range(n_tried)]
    assert shown[-1] == f"[{n_tried + n_cells}/{n_tried + n_cells}]"
