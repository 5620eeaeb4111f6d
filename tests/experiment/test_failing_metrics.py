"""A metric that fails after the fits is a blank column that says why, and nothing else is lost."""

import numpy as np
import pandas as pd
import pytest

import harness
from harness import metrics
from harness.metrics.labels import definition
from harness.results.table import fold_frame

OWN = """
import sys

import harness
import numpy as np


@harness.metric("raises")
def raises(lists, k):
    raise RuntimeError("boom")


@harness.metric("wrong shape")
def shape(lists, k):
    return np.zeros(3)


@harness.metric("out of range")
def beyond(lists, k):
    return np.full(lists.n_users, 7.0)


@harness.metric("leaves")
def leaves(lists, k):
    sys.exit(3)


@harness.metric("no memory", needs="pairs")
def greedy(pairs):
    raise MemoryError


@harness.metric("changes its lists", needs="items")
def changes(lists, k):
    lists.items(k)[:] = 0
    lists.lengths[:] = 1
    return np.zeros(lists.n_users)


@harness.metric("refuses equal estimates", needs="pairs")
def differing(pairs):
    of_users = np.split(pairs.estimates, pairs.offsets[1:-1])
    if all(np.ptp(estimates) == 0 for estimates in of_users if len(estimates)):
        raise ValueError("equal")
    return np.ones(pairs.n_users)


@harness.metric("fails on every second cell")
def second(lists, k):
    second.n = getattr(second, "n", 0) + (lists.n_users > 1)
    if lists.n_users > 1 and second.n % 2 == 0:
        raise KeyError("x")
    return np.ones(lists.n_users)


@harness.metric("fails on a toy, as that which compiles loops")
def toy(lists, k):
    if lists.n_users == 1:
        raise ValueError("one user")
    return np.ones(lists.n_users)
"""
LIKE = {
    "dataset": {"synthetic": {"n_users": 30, "n_items": 20, "n_ratings": 300}},
    "split": {"kind": "kfold", "n_splits": 2},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "groups": [{"users": "training_ratings"}, {"items": "popularity"}],
    "analyses": ["default", "ties"],
    "headline": "ndcg@5",
}
SOUND = ["ndcg@5", "item_coverage@5", "rmse"]
FAILS = {
    "own:raises@5": "own.raises failed (RuntimeError: boom, own.py:10); correct the function",
    "own:shape@5": "returned shape (3,) for ",
    "own:beyond@5": "outside of its range",
    "own:leaves@5": "SystemExit: 3",
    "own:greedy": "out of memory",
    "own:changes@5": "read-only",
    "own:second@5": "KeyError: 'x'",
}


@pytest.fixture
def own(write_module):
    write_module("own", OWN)
    metrics.labels.declaration.cache_clear()


def run(labels, **more):
    return harness.run({**LIKE, "metrics": labels, **more}, results=None)


def of_others(run, labels=SOUND):
    """Return what a run has of some metrics, but for what is measured or of a run of its own."""
    info = run.info
    columns = [name for name in run.table if name.startswith(tuple(labels)) or name == "n_users"]
    return [
        run.table[columns].to_json(double_precision=15),
        run.users[labels[:1]].to_json(double_precision=15),
        *(bound.scores for bound in info.bounds),
        *(part for part in info.statistics if part.metric in labels),
        *(part for part in info.groups if part.metric in labels),
        *info.conventions,
        *(tied for tied in info.ties),
    ]


@pytest.mark.long
def test_it_is_a_blank_column_with_a_note_and_the_rest_is_as_without_it(own):
    alone, run_with = run(SOUND), run([*FAILS, *SOUND, "own:toy@5"])
    assert of_others(run_with) == of_others(alone)
    assert (run_with.table["own:toy@5"] == 1).all()
    codes = [note.code for note in run_with.info.notes]
    assert {*codes} - {note.code for note in alone.info.notes} <= {
        "metric-failed",
        "metric-failed-in-groups",
        "groups-without-metrics",
        "all-equal",
        "cells-found",
        "measured",
    }
    for label, reason in FAILS.items():
        assert run_with.table[label].isna().all(), label
        assert run_with.users[label].isna().all(), label
        assert label not in {part.metric for part in run_with.info.statistics}
        assert label not in {part.metric for part in run_with.info.groups}
        (note,) = [
            note
            for note in run_with.info.notes
            if note.code == "metric-failed" and note.values["metric"] == label
        ]
        assert reason in note.values["reason"], note
        assert {*note.values["algorithms"]} == {*run_with.table["algorithm"]}


def test_table_and_commands_say_which_metric_failed_and_why(own, tmp_path, call):
    done = harness.run(
        {**LIKE, "name": "one", "metrics": ["own:raises@5", "ndcg@5"], "groups": []},
        results=tmp_path / "runs",
    )
    reason = FAILS["own:raises@5"]
    assert done.table["error"].str.startswith(f"folds 1, 2: own:raises@5: {reason}").all()
    assert (done.table["n_failed"] == 0).all()
    assert (fold_frame(done.info)["error"] == f"own:raises@5: {reason}").all()
    assert reason in (done.folder / "table.csv").read_text()
    code, shown, _ = call("table", "one", "--results", "runs")
    assert code == 0
    assert "✗" not in shown
    assert "note: own:raises@5 failed and is left blank for " in shown
    code, latex, _ = call("table", "one", "--format", "latex")
    assert code == 0
    assert "; without own:raises@5, which failed." in latex
    for words in (["best", "one"], ["plot", "one", "--kind", "tradeoff"]):
        code, _, said = call(*words, "--metric", "own:raises@5")
        assert code == 2
        assert reason in " ".join(said.split())


@pytest.mark.long
def test_one_of_this_package_too(monkeypatch):
    def fails(*evidence):
        raise ZeroDivisionError("no")

    alone = run(SOUND)
    for name in ("rmse", "hit", "novelty"):
        monkeypatch.setattr(definition(name), "compute", fails)
    run_with = run(["hit@5", "novelty@5", *SOUND])
    assert run_with.table[["hit@5", "novelty@5", "rmse"]].isna().all(axis=None)
    assert of_others(run_with, SOUND[:2])[1:] == of_others(alone, SOUND[:2])[1:]
    assert "ZeroDivisionError: no" in " ".join(map(str, run_with.info.notes))


def test_rows_for_which_it_does_not_fail_have_its_values(own):
    done = run(["own:differing", "ndcg@5"], algorithms=["UserMean", "ItemMean"], baselines=False)
    rows = done.table.set_index("algorithm")
    assert rows["own:differing"].isna().tolist() == [True, False]
    assert rows["ndcg@5"].notna().all()
    assert done.users.groupby("algorithm")["own:differing"].count()["UserMean"] == 0
    codes = {note.code for note in done.info.notes}
    assert "metric-failed" in codes
    assert codes.isdisjoint({"not-compared", "none-compared", "users-undefined"})


@pytest.mark.long
def test_a_failed_one_is_written_read_and_compared(own, tmp_path):
    labels = ["own:raises@5", "ndcg@5"]
    done = harness.run({**LIKE, "name": "one", "metrics": labels}, results=tmp_path)
    again = harness.read_run(done.folder)
    pd.testing.assert_frame_equal(again.table, done.table)
    assert again.info.finished[0].metric_errors == done.info.finished[0].metric_errors != {}
    other = harness.run({**LIKE, "name": "two", "metrics": labels}, results=tmp_path)
    assert "ndcg@5" in again.compare(other).table
    assert np.isnan(done.table["own:raises@5"]).all()


def test_the_command_says_what_is_missing_and_ends_with_1(own, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(
        "dataset: {synthetic: {n_users: 30, n_items: 20, n_ratings: 300}}\n"
        "algorithms: [ItemMean]\n"
        'metrics: ["own:raises@5", "ndcg@5"]\n'
    )
    code, out, _ = cli("run", "c.yaml")
    assert code == 1
    assert f"\nmissing: values of own:raises@5: {FAILS['own:raises@5']}\n" in out
    assert (tmp_path / "runs" / "c" / "table.csv").is_file()


def test_a_search_by_one_that_fails_is_a_failed_row(own):
    searched = {"name": "ItemMean", "label": "tuned", "search": {"damping": [1.0, 10.0]}}
    done = run(
        ["ndcg@5"],
        algorithms=["BaselineOnly", searched],
        groups=[],
        tuning={"metric": "own:raises@5"},
    )
    rows = done.table.set_index("algorithm")
    assert "own.raises failed" in rows.loc["tuned", "error"]
    assert rows.drop("tuned")["ndcg@5"].notna().all()
