"""A run writes down what its lists score under other definitions, which their cells give again."""

from functools import partial

import numpy as np
import pytest

import harness
from harness import metrics
from harness._util.files import digest_of
from harness.errors import MetricError, ResultsError
from harness.experiment.analyses.conventions import under_conventions
from harness.experiment.analyses.ties import Ties
from harness.experiment.plan import Plan
from harness.metrics import conventions
from harness.report.page import build_page
from harness.results import Run, read_run
from harness.results.store import CellStore

CONFIG = {
    "name": "small",
    "dataset": {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}},
    "split": {"kind": "kfold", "n_splits": 2},
    "candidates": ["rated", "catalogue"],
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["rmse", "ndcg@5"],
    "statistics": {"resamples": 100},
    "baselines": False,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        harness.run(CONFIG, results=folder / "results")
    return folder


@pytest.fixture
def run(made):
    return read_run(made / "results" / "small")


@pytest.fixture
def store(made):
    return CellStore(made / "cache" / "cells")


def test_every_table_has_every_convention_at_the_rank_of_the_run(run):
    entries = run.info.conventions
    assert [each["candidates"] for each in entries] == ["rated", "catalogue"]
    for entry in entries:
        assert (entry["metric"], entry["k"]) == ("ndcg", 5)
        names = [name for name, each in conventions().items() if "ndcg" in each.roles]
        assert [row["convention"] for row in entry["rows"]] == names


def test_a_convention_is_the_mean_over_users_of_what_its_own_label_gives_each(run, store):
    for entry in run.info.conventions:
        for row in entry["rows"]:
            metric = metrics.parse(row["label"])
            for identity, value in row["scores"].items():
                cells = [cell for cell in run.info.cells if cell["row"] == identity]
                assert [cell["candidates"] for cell in cells] == [entry["candidates"]] * 2
                scores = {}
                for record in (store.get(cell["key"]) for cell in cells):
                    of_users = metrics.score([metric], record.rankings)[metric].per_user
                    for user, score in zip(record.users, of_users, strict=True):
                        scores.setdefault(user, []).append(score)
                means = [np.nanmean(own) for own in scores.values() if not np.isnan(own).all()]
                assert value == pytest.approx(np.mean(means), abs=1e-15)


def test_averaged_ties_are_the_number_of_the_table_and_lie_between_worst_and_best(run):
    for entry in run.info.ties:
        assert entry["metric"] == "ndcg@5"
        table = run.table[run.table["candidates"] == entry["candidates"]].set_index("algorithm")
        for row in entry["rows"]:
            scores = row["scores"]
            value = table.loc[row["algorithm"], "ndcg@5"]
            assert scores["average"] == pytest.approx(value, abs=1e-12)
            for rule in ("average", "first", "last"):
                assert scores["worst"] <= scores[rule] <= scores["best"]
            assert 0 <= row["tied"] <= 1


def plan_of(labels):
    return Plan.from_config(CONFIG | {"metrics": labels})


def test_the_primary_metric_gives_the_rank_and_the_rules_for_ties():
    unranked = Ties(plan_of(["rmse"]))
    unranked.start_table([])
    assert str(unranked.rules["first"]) == "ndcg(ties=first)@10"
    ranked = Ties(plan_of(["ndcg(gain=linear, ties=first)@3", "rmse"]))
    ranked.start_table([])
    rules = {
        rule: f"ndcg(gain=linear, ties={rule})@3" for rule in ("first", "last", "best", "worst")
    }
    rules = {"average": "ndcg(gain=linear)@3"} | rules
    assert {rule: str(metric) for rule, metric in ranked.rules.items()} == rules


def test_ratings_below_zero_have_no_ties_of_a_metric_that_nobody_asked_for(tmp_path):
    data = {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300, "scale": [-3, 3]}}
    run = harness.run(CONFIG | {"dataset": data, "metrics": ["rmse"]}, results=tmp_path)
    assert None in {row.tied for each in run.info.ties for row in each.rows}
    assert build_page([read_run(run.folder)])


def test_what_was_written_answers_for_cells_that_are_gone(run, store, tmp_path):
    here = under_conventions(run, store, k=5)
    gone = under_conventions(run, CellStore(tmp_path), k=5)
    assert here.equals(gone)


@pytest.mark.parametrize("options", [{"k": 3}, {"k": 5, "role": "ap"}, {"k": 5, "threshold": 4.0}])
def test_another_question_needs_the_cells(run, store, tmp_path, options):
    assert len(under_conventions(run, store, **options))
    with pytest.raises(ResultsError, match="is not in the cache; run the config again"):
        under_conventions(run, CellStore(tmp_path), **options)


def test_a_metric_that_no_library_has_is_named(run, store):
    with pytest.raises(MetricError, match="rmse: no convention defines it; use one of ap"):
        under_conventions(run, store, role="rmse")


def test_trials_that_are_there_twice_or_without_parameters_are_refused(tmp_path):
    searched = {"name": "ItemMean", "search": {"damping": [1.0, 10.0]}}
    tuned = CONFIG | {"algorithms": [searched], "tuning": {"metric": "rmse"}}
    done = harness.run(tuned | {"candidates": "rated"}, results=tmp_path)
    path = done.folder / "trials.parquet"
    faults = [{"params": each} for each in ("damping", None, "[1]", '{"a":' * 500)]
    for fault in [*faults, {"trial": 1}]:
        done.trials.assign(**fault).to_parquet(path, index=False)
        files = done.info.files | {path.name: digest_of(path)}
        changed = Run(done.info.model_copy(update={"files": files}), folder=done.folder)
        for use in (changed.importance, changed.budget, partial(harness.best, changed)):
            with pytest.raises(ResultsError, match=r"trials\.parquet: a trial twice, or without"):
                use()
