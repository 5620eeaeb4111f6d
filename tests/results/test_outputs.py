"""Lists and estimates that a run keeps: against Surprise, and scored again to the same values."""

import errno
from collections import defaultdict

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import surprise

import harness
from harness import datasets, splits
from harness.errors import ResultsError
from harness.experiment.plan import Plan
from harness.metrics.labels import describe
from harness.results.runs import Run
from harness.splits.random import Holdout

DATA = {"synthetic": {"n_users": 40, "n_items": 200, "n_ratings": 900}}
CELL = ["candidates", "algorithm", "seed", "fold"]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def done(results=None, **keys):
    config = {
        "name": "kept",
        "dataset": DATA,
        "split": {"kind": "holdout", "test_size": 0.3, "random_state": 3},
        "algorithms": ["KNNBasic", "BaselineOnly"],
        "baselines": False,
        "metrics": ["ndcg@5", "rmse"],
        "outputs": {"lists": 7, "estimates": True},
        "statistics": None,
    }
    return harness.run(config | keys, results=results)


@pytest.fixture(scope="module")
def asked():
    """The test set, and Surprise's estimates for it and for all that is not in training."""
    ratings = datasets.load(DATA)
    split = splits.make(Holdout(test_size=0.3, random_state=3), ratings, 0)[0]
    trainset = ratings.take(split.train).to_surprise().build_full_trainset()
    test = ratings.take(split.test).to_surprise().build_full_trainset().build_testset()
    found = {}
    for model in (surprise.KNNBasic(verbose=False), surprise.BaselineOnly(verbose=False)):
        model.fit(trainset)
        name = type(model).__name__
        found[name] = model.test(test), model.test(trainset.build_anti_testset())
    return found


@pytest.mark.parametrize("least", [None, 3.5])
def test_lists_and_estimates_are_those_of_surprise(asked, least):
    candidates = {"kind": "catalogue", "least_estimate": least}
    label = "precision(threshold=4, denominator=list, empty=0, undefined=0)@5"
    run = done(candidates=candidates, metrics=[label])
    for name, (tested, anti) in asked.items():
        mine = run.estimates[run.estimates["algorithm"] == name]
        ranked = {(row.user, row.item): row for row in mine.itertuples()}
        assert len(ranked) == len(tested)
        lists = defaultdict(list)  # as get_top_n of Surprise's FAQ, with a least estimate
        for user, item, _, estimate, _ in anti:
            if least is None or estimate >= least:
                lists[user].append((item, estimate))
        shares = []
        for user, rows in run.lists[run.lists["algorithm"] == name].groupby("user"):
            expected = sorted((estimate for _, estimate in lists[user]), reverse=True)[:7]
            assert rows["estimate"].tolist() == expected
            assert rows["rank"].tolist() == list(range(1, len(expected) + 1))
            assert set(zip(rows["item"], rows["estimate"], strict=True)) <= set(lists[user])
        for user, item, rating, estimate, _ in tested:
            row = ranked[user, item]
            assert (row.estimate, row.rating) == (estimate, rating)
            above = sum(other > estimate for _, other in lists[user])
            equal = sum(other == estimate for _, other in lists[user])
            assert row.n_ranked == len(lists[user])
            known = (item, estimate) in lists[user]
            assert (row.tie_low, row.tie_high) == ((above + 1, above + equal) if known else (0, 0))
            assert row.tie_low <= row.rank <= row.tie_high
        for user, rows in mine.groupby("user"):  # the FAQ's precision, ties averaged
            shown = min(5, len(lists[user]))
            inside = (5 - rows["tie_low"] + 1) / (rows["tie_high"] - rows["tie_low"] + 1)
            hits = inside.clip(0, 1)[(rows["rank"] > 0) & (rows["rating"] >= 4)].sum()
            shares.append(hits / shown if shown else 0.0)
        value = run.table.set_index("algorithm").iloc[:, 3][name]
        assert value == pytest.approx(np.mean(shares), abs=1e-12)


def every_label():
    """Yield a label of each metric that needs no training ratings, under several rules."""
    for each in describe():
        if each.needs in ("rankings", "pairs"):
            k = "" if each.cut == "none" else "@4"
            yield f"{each.name}{k}"
            if any(parameter.name == "ties" for parameter in each.parameters):
                yield f"{each.name}(ties=first){k}"


@pytest.mark.long
def test_a_run_is_scored_again_to_the_last_digit(cli, tmp_path):
    run = done(
        tmp_path / "runs",
        candidates=[
            "rated",
            "catalogue",
            {"kind": "catalogue", "unknown_items": "drop", "unknown_users": "drop"},
            {"kind": "catalogue", "training_items": "keep", "least_estimate": 3.7},
            {"kind": "sampled", "n": 9},
        ],
        split=[{"kind": "kfold", "n_splits": 3}, "global-time"],
        algorithms=["KNNBasic", "Random", "Popularity", "ItemMean"],
        metrics=[*every_label(), "ndcg", "ndcg(gain=linear, offset=1, negative=zero, empty=nan)@3"],
    )
    out = cli.done("evaluate", "runs/kept/run.json", "--per-user", "u.csv")
    assert f"{40 * len(run.info.metrics):,} values compared with the table of the run: equal" in out
    again, users = pd.read_csv("u.csv", dtype=str), run.users
    parts = [users[key] for key in ("algorithm", "split", "candidates")]
    users["file"] = parts[0] + " · " + parts[1] + " · " + parts[2]
    keys = ["file", "seed", "fold", "user"]
    texts = dict.fromkeys(keys, str)
    ours, theirs = (each.astype(texts).sort_values(keys) for each in (users, again))
    assert ours[keys].to_numpy().tolist() == theirs[keys].to_numpy().tolist()
    for label in run.info.metrics:
        np.testing.assert_array_equal(ours[label].to_numpy(), theirs[label].astype(float))
    alone = ["runs/kept/estimates.parquet", "--metrics", "ndcg@4,rmse", "--per-user", "v.csv"]
    assert "compared" not in cli.done("evaluate", *alone)
    scores = again[[*keys, "ndcg@4", "rmse"]]
    pd.testing.assert_frame_equal(pd.read_csv("v.csv", dtype=str), scores)
    err = cli.refused("evaluate", "kept", "--metrics", "precision(threshold=0)@3")
    assert "a gain to a relevance of 0, as that of the unrated items of sampled 9" in err
    err = cli.refused("evaluate", "kept", "--metrics", "ndcg(ties=random)@3")
    assert "draws the order of ties, also of the unrated items of sampled 9" in err
    n_cells = len(run.info.cells)
    for name in ("lists.parquet", "estimates.parquet"):
        assert pq.ParquetFile(f"runs/kept/{name}").num_row_groups == n_cells


def test_outputs_are_replaced_with_the_run_and_leave_other_cells_valid(tmp_path):
    plain = done(tmp_path, outputs={})
    assert sorted(each.name for each in plain.folder.glob("*.parquet")) == ["users.parquet"]
    plan = Plan.from_config({"dataset": DATA, "algorithms": ["SVD"], "metrics": ["ndcg@5"]})
    inputs = plan.inputs(plan.cells[0])
    assert "outputs" not in inputs
    assert inputs["candidates"] == {"kind": "rated", "unknown_users": "keep"}
    kept = done(tmp_path)
    assert not any(cell.found for cell in kept.info.cells)
    again = done(tmp_path)
    assert all(cell.found for cell in again.info.cells)
    assert kept.info.files["lists.parquet"] == again.info.files["lists.parquet"]
    pd.testing.assert_frame_equal(done().estimates, harness.read_run(again.folder).estimates)
    last = done(tmp_path, outputs={})
    assert all(cell.found for cell in last.info.cells)
    assert not (last.folder / "lists.parquet").exists()
    with pytest.raises(ResultsError, match=r"has no lists.parquet; add `outputs: \{lists: 10\}`"):
        _ = last.lists


def test_lists_of_another_program_are_cut_at_the_least_estimate(cli, tmp_path):
    every = done(candidates="catalogue", outputs={"lists": 999}).lists
    mine = every[every["algorithm"] == "KNNBasic"]
    mine[["user", "item", "estimate"]].to_csv("mine.csv", index=False)
    mine[["user", "item", "rank"]].to_csv("ranks.csv", index=False)
    least = {"kind": "catalogue", "least_estimate": 3.5}
    done(tmp_path / "runs", candidates=least, metrics=["ndcg(ties=best)@5", "user_coverage@5"])
    out = cli.done("evaluate", "mine.csv", "--against", "kept", "--format", "csv")
    rows = {line.split(",")[0]: line.split(",")[4:6] for line in out.splitlines()[1:]}
    assert rows["mine"] == rows["KNNBasic"] != rows["BaselineOnly"]
    err = cli.refused("evaluate", "ranks.csv", "--against", "kept")
    why = "ranks.csv: not shown under catalogue, estimated 3.5 or more, because it has ranks"
    assert why in err


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (
            None,
            ["--metrics", "novelty@5"],
            "novelty@5: it depends on items and their training ratings",
        ),
        (None, ["--truth", "t.csv"], "--truth, --training: a run has its own; leave them out"),
        ({"tie_high": 99}, [], "ranks, ties and lengths of lists contradict each other"),
        ("scores", [], "KNNBasic: rmse is 1."),
        ("apart", [], "the rows of a cell are apart; sort them by row"),
        ("lists", [], "lists.parquet: has the lists of a run, without ratings; name the run's"),
        (
            "no metrics",
            [],
            "give --metrics LABELS, for example --metrics ndcg@10, or ",
        ),
    ],
)
def test_what_cannot_be_scored_again_says_why(tmp_path, cli, change, arguments, message):
    run = done(tmp_path)
    path, where = run.folder / "estimates.parquet", [str(run.folder)]
    if change is not None:
        frame = run.estimates.assign(**change if isinstance(change, dict) else {})
        if change == "apart":
            frame = pd.concat([frame[5:], frame[:5]])
        path = path.with_name("other.parquet")
        frame.to_parquet(path, row_group_size=50)
        where = [str(path), "--metrics", "ndcg@5,rmse"]
    if change == "lists":
        where[0] = str(run.folder / "lists.parquet")
    elif change == "no metrics":
        where = where[:1]
    elif change == "scores":
        run.info.rows[0].scores["rmse"] = 0.5
        where = [str(Run(run.info, run.users, run.folder).write(tmp_path / "other").folder)]
    err = cli.refused("evaluate", *where, *arguments)
    assert message in err


def test_a_file_that_cannot_be_ended_is_named(monkeypatch):
    """As where the disk is full when a file gets its footer."""
    end = pq.ParquetWriter.close

    def full(writer):
        end(writer)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "close", full)
    with pytest.raises(ResultsError, match=r"parquet: cannot be written \(no space .*TMPDIR"):
        done(outputs={"estimates": True})


def test_a_run_without_a_finished_cell_has_nothing_to_evaluate(tmp_path, cli):
    run = done(tmp_path / "runs", algorithms=[{"name": "SVD", "params": {"lr_all": 1e6}}])
    assert len(run.info.failed) == 1
    err = cli.refused("evaluate", "kept", "--per-user", "users.csv")
    assert "estimates.parquet: no cell finished; run the config again" in err
