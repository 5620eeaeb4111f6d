"""A search tries what its budget promises, says what it tried, and fails honestly."""

import contextlib
import io
import itertools
import json
import sys

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise import KNNBasic
from surprise.model_selection import GridSearchCV, KFold

import harness
from harness import metrics, splits
from harness.config.experiment import AlgorithmConfig, Tuning
from harness.console.progress import Lines
from harness.errors import AlgorithmError, ResultsError
from harness.experiment import cell as trial_records
from harness.experiment.dry_run import dry_run
from harness.experiment.execute.pool import Pool
from harness.experiment.tuning import settings_of
from harness.rankings import evaluation
from harness.report.methods import methods
from harness.report.papers import parameter_tables
from harness.report.summary import summarise
from harness.results.runs import Run
from harness.results.store import MaintainedStore
from harness.results.table import display_table
from harness.schema.sections import Range
from harness.splits.by_time import GlobalTime, Rolling
from harness.splits.by_user import LeaveNOut, UserFraction, UserHoldout
from harness.splits.random import Holdout

GRID = {"method": "grid", "trials": 4, "metric": "ndcg@5"}
CONFIG = {
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "algorithms": [{"name": "KNNBasic", "search": {"k": [2, 5], "min_k": [1, 2]}}],
    "metrics": ["ndcg@5", "rmse"],
    "tuning": GRID,
    "statistics": None,
}


class Refusing(KNNBasic):
    """Refuse every fit with a `k` of its list."""

    REFUSED = (3, 5, 40)

    def fit(self, trainset):
        if self.k in self.REFUSED:
            raise ValueError(f"no fit with {self.k}")
        return super().fit(trainset)


def run(**changes):
    return harness.run(CONFIG | changes, results=None)


def refusing(search, **more):
    return {"name": f"{__name__}:Refusing", "label": "own", "search": search, **more}


def tried(done):
    """Return the parameters of the trials, without the setting of the config."""
    trials = done.trials[done.trials["trial"] > 0]
    return [json.loads(params) for params in trials["params"]]


def settings(space, **budget):
    """Return every setting of a search, at most a thousand."""
    found = list(itertools.islice(settings_of(Tuning(**budget), space, 0, "KNNBasic"), 1000))
    assert len({repr(setting) for setting in found}) == len(found)
    return found


def test_a_budget_without_anything_to_search_is_noted():
    noted = [run(algorithms=["ItemMean"]), run()]
    assert ["tuning-unused" in {note.code for note in each.notes} for each in noted] == [
        True,
        False,
    ]


def test_a_grid_of_four_settings_with_four_trials_tries_all_four():
    done = run()
    assert tried(done) == [{"k": k, "min_k": m} for k in (2, 5) for m in (1, 2)]
    assert done.info["cells"][0]["n_trials"] == 4
    assert not any(note.code == "grid-cut" for note in done.info["notes"])


def test_a_grid_that_is_cut_says_so_before_and_after_the_run():
    tuning = GRID | {"trials": 3}
    note = "KNNBasic: the grid has 4 settings, of which 3 are tried, sampled at random; raise "
    assert any(str(each).startswith(note) for each in dry_run(CONFIG | {"tuning": tuning}).notes)
    done = run(tuning=tuning)
    assert any(str(each).startswith(note) for each in done.info["notes"])
    assert len(tried(done)) == done.info["cells"][0]["n_trials"] == 3


def test_more_trials_of_a_cut_grid_keep_those_that_were_drawn():
    few, more = (settings({"k": list(range(20))}, method="grid", trials=n)[:n] for n in (5, 10))
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
    assert len(settings(space, trials=1000)) == size


def test_settings_that_are_drawn_seldom_are_reached_too(monkeypatch):
    monkeypatch.setattr("harness.experiment.tuning.MOST_REPEATED", 3)
    assert len(settings({"k": Range(low=1, high=200, log=True)}, trials=1000)) == 200


def test_the_number_of_trials_is_that_of_the_settings_tried():
    rows = [
        {"name": "KNNBasic", "search": {"k": [2, 5]}},
        {"name": "SlopeOne", "search": "recommended"},
    ]
    done = run(algorithms=rows, tuning={"trials": 20})
    counted = done.table.set_index("algorithm")["n_trials"]
    assert counted[["KNNBasic", "SlopeOne"]].tolist() == [2, 0]
    shown = display_table(done.info).frame.set_index("algorithm")["trials"]
    assert shown[["KNNBasic", "SlopeOne", "Random"]].tolist() == ["2", "0", ""]
    (note,) = (str(note) for note in done.info.notes if note.code == "trials-differ")
    assert note.endswith("which is always tried: KNNBasic 2, SlopeOne 0")
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert "Trials of each search: 2 of KNNBasic." in text
    assert "SlopeOne has nothing to tune." in text


@pytest.mark.parametrize("method", ["random", "tpe"])
def test_a_search_is_the_same_every_time(method):
    rows = [{"name": "SVD", "search": {"n_factors": {"low": 2, "high": 20}}}]
    tuning = {"method": method, "trials": 6, "metric": "ndcg@5"}
    config = CONFIG | {"algorithms": rows, "tuning": tuning}
    one, other = (harness.run(config, results=None, fresh=True) for _ in range(2))
    assert one.info["cells"][0]["params"] == other.info["cells"][0]["params"]
    assert tried(one) == tried(other)


def test_tuning_finds_at_least_the_written_setting_and_tests_it_once(tmp_path):
    search = {"k": [2, 5, 10, 20], "sim_options.user_based": [True, False]}
    rows = [
        {"name": "KNNBasic", "label": "tuned", "params": {"k": 1}, "search": search},
        {"name": "KNNBasic", "label": "as written", "params": {"k": 1}},
    ]
    tuning = GRID | {"trials": 9, "metric": "rmse"}
    done = harness.run(CONFIG | {"algorithms": rows, "tuning": tuning}, results=tmp_path)
    trials, table = done.trials, done.table.set_index("algorithm")
    assert len(trials) == 9
    assert (tmp_path / "run" / "trials.parquet").exists()
    best = json.loads(trials.sort_values("value", kind="stable")["params"].iloc[0])
    cell = next(cell for cell in done.info["cells"] if cell["algorithm"] == "tuned")
    assert cell["params"] == json.loads(table.loc["tuned", "tuned"]) == best
    assert cell["n_trials"] == table.loc["tuned", "n_trials"] == 8
    assert table.loc["tuned", "search_seconds"] == pytest.approx(trials["seconds"].sum())
    assert table.loc["tuned", "rmse"] < table.loc["as written", "rmse"]


SPACE = {
    "SVD": {"n_epochs": [2, 4], "lr_all": [0.002, 0.02]},
    "KNNBasic": {"k": [3, 9], "sim_options": {"name": ["msd", "cosine"], "user_based": [False]}},
}


@pytest.mark.parametrize("name", SPACE)
def test_a_search_with_folds_is_that_of_grid_search_cv(name):
    """Surprise searches the training ratings in the order of the data, and refits on all."""
    params = {"random_state": 0} if name == "SVD" else {}
    ratings = harness.load(CONFIG["dataset"])
    data = ratings.to_surprise()
    split = Holdout(test_size=0.2, random_state=3)
    (parts,) = splits.make(split, ratings, 0)
    rows = data.raw_ratings
    data.raw_ratings = [rows[row] for row in np.sort(parts.train)]
    fixed = {key: [value] for key, value in params.items()}
    theirs = GridSearchCV(
        getattr(surprise, name), SPACE[name] | fixed, ["rmse"], cv=KFold(3, random_state=1)
    )
    with contextlib.redirect_stdout(io.StringIO()):
        theirs.fit(data)
        chosen = getattr(surprise, name)(**theirs.best_params["rmse"])
        data.raw_ratings = [rows[row] for row in parts.train]
        chosen.fit(data.build_full_trainset())
        test = [(*rows[row][:2], rows[row][2]) for row in parts.test]
        error = surprise.accuracy.rmse(chosen.test(test), verbose=False)
    done = run(
        split={"kind": "holdout", "test_size": 0.2, "random_state": 3},
        algorithms=[{"name": name, "params": params, "search": SPACE[name], "as_surprise": False}],
        metrics=["rmse"],
        tuning={
            "method": "grid",
            "trials": 4,
            "metric": "rmse",
            "try_default": False,
            "validation": {"kind": "kfold", "n_splits": 3, "random_state": 1},
        },
        baselines=False,
    )
    assert done.trials["trial"].tolist() == [1, 2, 3, 4]
    by_setting = dict(zip(map(canonical, tried(done)), done.trials["value"], strict=True))
    expected = zip(theirs.cv_results["params"], theirs.cv_results["mean_test_rmse"], strict=True)
    for setting, value in expected:
        assert by_setting.pop(canonical(setting)) == pytest.approx(value, rel=1e-12)
    assert by_setting == {}
    (cell,) = done.info.cells
    assert canonical(cell.params) == canonical(theirs.best_params["rmse"])
    assert cell.n_trials == 4
    assert done.table["rmse"].tolist() == [pytest.approx(error, rel=1e-12)]
    best = harness.best(done)
    assert canonical(best.config["algorithms"][0]["params"]) == canonical(cell.params)
    assert any("above the mean of all in validation rmse" in line for line in best.evidence)
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert "split at random into 3 folds (random_state 1), each the validation set" in text


def canonical(params):
    return json.dumps(params, sort_keys=True)


def test_the_setting_of_the_config_takes_part_unless_it_is_not_to():
    own = run(tuning=GRID | {"try_default": False})
    usual = run()
    assert own.trials["trial"].tolist() == [1, 2, 3, 4]
    assert usual.trials["trial"].tolist() == [0, 1, 2, 3, 4]
    assert own.trials["value"].tolist() == usual.trials["value"].tolist()[1:]
    cut = run(tuning=GRID | {"trials": 2, "try_default": False})
    assert len(cut.trials) == 2
    assert {cell.n_trials for cell in cut.info.cells if cell.n_trials is not None} == {2}


def test_a_trial_that_fails_on_one_fold_has_no_value(monkeypatch):
    times = []

    def fails_once(self, trainset):
        times.append(self.k)
        if len(times) == 2:
            raise ValueError("no fit of the second fold")
        return KNNBasic.fit(self, trainset)

    monkeypatch.setattr(Refusing, "fit", fails_once)
    done = run(
        algorithms=[refusing({"k": [2, 6]})],
        tuning=GRID | {"try_default": False, "validation": {"kind": "kfold", "n_splits": 2}},
        baselines=False,
    )
    assert done.trials["value"].isna().tolist() == [True, False]
    assert "no fit of the second fold" in done.trials["error"][0]
    assert json.loads(done.trials["params"][1])["k"] == done.info.cells[0].params["k"]


def test_keys_that_were_added_do_not_change_the_identity_of_a_row():
    before = Tuning().identity()
    assert "try_default" not in before
    assert Tuning(try_default=False).identity() == before | {"try_default": False}
    assert Holdout().identity().keys() == {
        "kind", "test_size", "train_size", "random_state", "shuffle", "like", "validation",
    }  # fmt: skip


def test_a_row_whose_trials_all_fail_fails_with_the_reason():
    plain = {"name": f"{__name__}:Refusing", "label": "plain", "params": {"k": 5}}
    errors = run(
        algorithms=[refusing({"k": [3]}, params={"k": 5}), plain, "ItemMean"]
    ).table.set_index("algorithm")["error"]
    assert errors["own"].startswith("no setting can be chosen: 2 of 2 trials failed: ValueError")
    assert "no fit with 5" in errors["own"]
    assert errors["plain"].startswith("ValueError")
    assert errors["ItemMean"] == ""


def test_a_search_by_a_metric_that_nobody_has_leaves_a_row_with_the_same_parameters_alone():
    tuning = {"metric": "recall(threshold=99)@3"}
    rows = [{"name": "ItemMean", "label": "tuned", "search": {}}, "ItemMean"]
    for done in (run(algorithms=rows, tuning=tuning) for _ in range(2)):  # read back, too
        errors = done.table.set_index("algorithm")["error"]
        assert "1 of 1 trials failed: no user of the validation set has a" in errors["tuned"]
        assert errors["ItemMean"] == ""
        assert done.trials["value"].isna().all()
        assert set(done.trials["error"]) == {""}


def test_trials_that_fail_beside_others_are_noted():
    done = run(algorithms=[refusing({"k": [3, 5, 7]}, params={"k": 6})])
    (note,) = (str(note) for note in done.info["notes"] if note.code == "trials-failed")
    assert note.startswith("own: 2 of 4 trials failed: ValueError: no fit with 3")
    assert done.info["cells"][0]["params"]["k"] in (6, 7)


def test_a_search_whose_every_trial_fails_at_once_ends_long_before_its_seconds():
    rows = [refusing({"min_k": {"low": 1, "high": 10**6}}, params={"k": 3})]
    done = run(algorithms=rows, tuning={"seconds": 1e6, "metric": "ndcg@5"})
    assert done.failed[0]["error"].startswith("no setting can be chosen: 21 of 21 trials failed")


def test_failed_trials_use_up_a_budget_of_seconds():
    rows = [refusing({"min_k": {"low": 1, "high": 10**6}})]
    done = run(algorithms=rows, tuning={"seconds": 0.02, "metric": "ndcg@5"})
    assert (done.trials["seconds"] > 0).all()
    assert done.trials["seconds"].iloc[:-1].sum() < 0.02
    assert "trials failed" in done.failed[0]["error"]


FRACTION = {"choose": "latest", "too_few": "train"}


@pytest.mark.parametrize(
    ("split", "validation"),
    [
        (Holdout(), Holdout(test_size=0.2)),
        (LeaveNOut(), Holdout(test_size=0.2)),
        (GlobalTime(quantile=0.9), GlobalTime(quantile=0.8)),
        (GlobalTime(date="1998-01-01"), GlobalTime(quantile=0.8)),
        (Rolling(window=0.2), GlobalTime(quantile=0.8)),
        (LeaveNOut(n=2, choose="latest"), LeaveNOut(n=2, **FRACTION)),
        (UserFraction(fraction=0.1, choose="latest"), UserFraction(fraction=0.1, **FRACTION)),
        (UserHoldout(choose="latest"), UserFraction(fraction=0.2, **FRACTION)),
        (GlobalTime(validation=Holdout(test_size=0.3)), Holdout(test_size=0.3)),
    ],
)
def test_the_validation_part_follows_the_split(split, validation):
    assert Tuning().validation_of(split) == validation
    chosen = Tuning(validation={"kind": "holdout", "test_size": 0.4})
    assert chosen.validation_of(split) == (split.validation or chosen.validation)


def test_a_search_under_a_split_in_time_is_validated_on_the_latest_training_ratings():
    done = run(split="global-time")
    assert done.info["config"]["split"][0]["validation"]["kind"] == "global-time"
    text = dict(methods(done.info).paragraphs)["Tuning"]
    assert GlobalTime(quantile=0.8).sentence("validation set") in text


@pytest.mark.parametrize(
    ("tuning", "most"),
    [
        ({"method": "random", "trials": 50}, "5"),  # the defaults, and all four settings
        ({"method": "grid", "trials": 3}, "4"),
        ({"method": "random", "seconds": 1}, "no limit"),
    ],
)
def test_a_check_counts_no_more_trials_than_there_are_settings(tuning, most):
    shown = dry_run(CONFIG | {"tuning": {"metric": "ndcg@5"} | tuning}).rows
    assert shown[0][2] == most


@pytest.mark.long
def test_a_search_that_seconds_alone_end_shows_no_total(capsys):
    config = CONFIG | {"tuning": {"seconds": 0.5, "metric": "ndcg@5"}}
    done = harness.run(config, results=None, watch=Lines())
    # the first word is the time: no terminal shows a clock here
    shown = [line.split()[1] for line in capsys.readouterr().err.splitlines() if "✓" in line]
    n_tried, n_cells = len(done.trials), len(done.info["cells"])
    assert shown[:n_tried] == [f"[{number + 1}]" for number in range(n_tried)]
    assert shown[-1] == f"[{n_tried + n_cells}/{n_tried + n_cells}]"


@pytest.mark.parametrize(
    ("tuning", "n_trials", "batches"),
    [
        ({"trials": 5}, 5, [12, 2]),
        ({"method": "grid", "trials": 50}, 6, [14, 2]),  # it ends with its last setting
        ({"seconds": 1e-9}, 0, [2, 2]),  # looked at after each trial
    ],
)
def test_trials_that_do_not_wait_for_a_value_are_handed_out_together(
    monkeypatch, tuning, n_trials, batches
):
    compute, sizes = Pool.compute, []

    def counted(pool, cells, **how):
        sizes.append(len(cells))
        return compute(pool, cells, **how)

    monkeypatch.setattr(Pool, "compute", counted)
    rows = [{"name": "KNNBasic", "search": {"k": [1, 2, 3, 4, 5, 6]}}]
    split = {"kind": "kfold", "n_splits": 2}
    done = run(split=split, algorithms=rows, tuning=tuning, baselines=False)
    assert [cell.n_trials for cell in done.info["cells"]] == [n_trials] * 2
    assert sizes == batches


def test_a_trial_keeps_numbers_and_the_final_cell_lists_and_another_metric_its_own_trials():
    for metric, n_small in (("ndcg@5", 5), ("rmse", 10)):
        run(tuning=GRID | {"metric": metric}, baselines=False)
        sizes = sorted(entry.n_bytes for entry in MaintainedStore.default().entries())
        assert len([size for size in sizes if size < 2_000]) == n_small
        assert len(sizes) - n_small in (1, 2)


@pytest.mark.parametrize("metric", ["ndcg@5", "rmse", "recall(threshold=5)@3"])
def test_the_score_of_a_trial_is_the_one_of_its_lists(monkeypatch, metric):
    whole, judged = [], trial_records.judged

    def noted(record, *of):
        whole.append(record)
        return judged(record, *of)

    monkeypatch.setattr(trial_records, "judged", noted)
    done = run(tuning=GRID | {"metric": metric})
    wanted = (metrics.parse(metric),)
    expected = [
        evaluation.evaluate(wanted, each.rankings, each.pairs)[metric].mean for each in whole
    ]
    assert len(expected) == 5
    assert done.trials["value"].tolist() == expected


@pytest.mark.parametrize(
    ("search", "params", "end"),
    [
        ({"damping": {"low": 10.0, "high": 1e4, "log": True}}, {"damping": 50.0}, "low"),
        ({"damping": {"low": 10.0, "high": 1e4, "log": True}}, {"damping": 0.0}, "low"),
        ({"damping": {"low": 0.0, "high": 1e4}}, {"damping": 50.0}, ""),  # none is legal below it
        ({"damping": {"low": 10.0, "high": 1e4}}, {}, ""),  # the written setting has no value
        ({"damping": [1.0, 2.0]}, {"damping": 50.0}, ""),
    ],
)
def test_a_best_setting_in_the_outer_tenth_of_a_range_is_noted(search, params, end):
    rng = np.random.default_rng(0)
    rows = [(u, i, 3 + (i % 2) + rng.normal(0, 0.2)) for u in range(20) for i in range(20)]
    ratings = pd.DataFrame(rows, columns=["user", "item", "rating"])  # the plain mean is best
    row = {"name": "ItemMean", "label": "mean", "search": search, "params": params}
    config = CONFIG | {"algorithms": [row], "split": {"kind": "kfold", "n_splits": 2}}
    del config["dataset"]  # the ratings stand in its place
    tuning = {"method": "grid", "trials": 4, "metric": "rmse"}
    done = harness.run(config | {"tuning": tuning}, ratings=ratings, results=None)
    start = "mean: the best settings lie in the outer tenth of a range: damping at the"
    expected = f"{start} {end} end (2 of 2 searches); a wider range may hold better ones"
    assert [str(note) for note in done.info.notes if note.code == "near-ends"] == (
        [expected] if end else []
    )


@pytest.mark.parametrize(
    ("values", "params", "end"),
    [
        ([50.0, 100.0, 1000.0], {}, "low"),
        ([1000.0, 100.0, 50.0], {}, "low"),  # falling
        ([50.0, 100.0, 1000.0], {"damping": 5.0}, "low"),  # the written setting is beyond the list
        ([0.0, 100.0, 1000.0], {}, ""),  # no value is legal below it
        ([50.0, 1000.0, 100.0], {}, ""),  # without an order
        ([50.0, 100.0], {}, ""),  # of two values each is an end
    ],
)
def test_a_best_setting_at_the_end_of_an_ordered_list_is_noted(values, params, end):
    rng = np.random.default_rng(0)
    rows = [(u, i, 3 + (i % 2) + rng.normal(0, 0.2)) for u in range(20) for i in range(20)]
    ratings = pd.DataFrame(rows, columns=["user", "item", "rating"])  # the plain mean is best
    row = {"name": "ItemMean", "label": "mean", "search": {"damping": values}, "params": params}
    config = CONFIG | {"algorithms": [row], "split": {"kind": "kfold", "n_splits": 2}}
    del config["dataset"]  # the ratings stand in its place
    tuning = {"method": "grid", "trials": 4, "metric": "rmse"} | (
        {} if params else {"try_default": False}
    )
    done = harness.run(config | {"tuning": tuning}, ratings=ratings, results=None)
    start = "mean: the best settings are the first or last value of a list: damping at the"
    expected = f"{start} {end} end (2 of 2 searches); values beyond it may be better"
    assert [str(note) for note in done.info.notes if note.code == "list-ends"] == (
        [expected] if end else []
    )


@pytest.mark.parametrize("metric", ["rmse", "ndcg@5"])
def test_a_budget_curve_is_the_best_of_the_first_trials(tmp_path, metric):
    better = {"rmse": min, "ndcg@5": max}[metric]
    rows = [
        refusing({"k": [3, 4, 6, 7]}),  # whose first and second trials may fail
        {"name": "SVD", "search": {"n_factors": {"low": 2, "high": 40}, "n_epochs": [1, 9]}},
    ]
    config = {"algorithms": rows, "split": {"kind": "kfold", "n_splits": 2}}
    tuning = {"trials": 6, "metric": metric}
    harness.run(CONFIG | config | {"name": "curve", "tuning": tuning}, results=tmp_path)
    done = harness.read_run(tmp_path / "curve")
    curve = done.budget()
    assert len(curve) == 2 * 7
    for _, point in curve.iterrows():
        own = done.trials[done.trials["row"] == point["row"]]
        found = [
            better(tried)
            for _, of_fold in own.groupby("fold")
            if (tried := of_fold[of_fold["trial"] <= point["trials"]]["value"].dropna().tolist())
        ]
        assert point["value"] == pytest.approx(np.mean(found) if found else np.nan, nan_ok=True)


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.0, 0.5)])
def test_the_importance_of_parameters_is_what_the_error_depends_on(weights):
    unit = {"low": 0.0, "high": 1.0}
    search = {"damping": unit, "options.b": unit, "options.kind": ["x", "y"]}
    row = {"name": "ItemMean", "search": {"damping": unit}}
    done = run(algorithms=[row], tuning={"trials": 1, "metric": "rmse"})
    assert done.importance()["importance"].isna().all()  # of one trial
    done.info.spaces["ItemMean"] = AlgorithmConfig(name="ItemMean", search=search).search
    rng, trials = np.random.default_rng(1), []
    for number, (a, b) in enumerate(rng.random((200, 2)), start=1):
        setting = {"damping": a, "options": {"b": b, "kind": "xy"[number % 2]}}
        level = 10.0 * (number % 4)  # of the fold
        written = {"params": json.dumps(setting), "value": level + weights @ np.array([a, b])}
        trials.append({"trial": number, "fold": number % 4, "seconds": 0.0, "error": ""} | written)
    where = done.trials.iloc[:1].drop(columns=list(trials[0]))
    known = Run(done.info, trials=where.merge(pd.DataFrame(trials), how="cross"))
    found = known.importance().set_index("parameter")
    assert found["n_trials"].tolist() == [200, 200, 200]
    grid = np.linspace(0, 1, 401)
    errors = weights[0] * grid[:, None] + weights[1] * grid
    good = errors <= np.quantile(errors, 0.25)
    parts = good.mean(axis=1).var(), good.mean(axis=0).var()  # of the variance of being good
    shares = found["importance"]
    expected = [*(np.array(parts) / sum(parts)), 0.0]
    assert shares[list(search)].tolist() == pytest.approx(expected, abs=0.06)
    assert shares.sum() == pytest.approx(1)
    (table,) = parameter_tables(summarise(known))
    assert table.rows[0] == ["ItemMean", shares.index[0], f"{shares.iloc[0]:.2f}", "200"]


def test_importance_that_cannot_be_computed_is_refused(monkeypatch):
    untuned = run(algorithms=["KNNBasic"])
    for ask in (untuned.importance, untuned.budget):
        with pytest.raises(ResultsError, match="nothing was tuned; give a row of the config a sea"):
            ask()
    row = {"name": "ItemMean", "search": "recommended"}
    done = run(algorithms=[row], tuning={"trials": 2, "metric": "rmse"})
    done.info.spaces.clear()  # as in records of older versions
    with pytest.raises(
        ResultsError, match="run: has no search space of ItemMean; run the config again"
    ):
        done.importance()
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(AlgorithmError, match="importance of parameters needs Optuna; pip install"):
        done.importance()
