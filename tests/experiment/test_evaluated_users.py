"""Which users a number covers: the same for rankings and errors, under every policy and split."""

import numpy as np
import pandas as pd
import pytest
from surprise import BaselineOnly, Dataset, Reader, accuracy

import harness
from harness.results.reading import read_run

METRICS = ["rmse", "mae", "fcp", "ndcg@10", "item_coverage@10"]
SPLITS = {
    "time": {"kind": "global-time", "date": 600},
    "rolling": {"kind": "rolling", "origins": 3},
    "holdout": {"kind": "holdout", "test_size": 0.3, "random_state": 0},
    "folds": {"kind": "kfold", "n_splits": 3, "random_state": 0},
}
CANDIDATES = {
    "rated": {"kind": "rated"},
    "catalogue": {"kind": "catalogue"},
    "sampled": {"kind": "sampled", "n": 5},
}


@pytest.fixture(scope="module")
def frame():
    """Return ratings of users who come one after the other, some with a single rating."""
    rng = np.random.default_rng(5)
    users = np.sort(np.concatenate([rng.integers(0, 30, 380), np.arange(30, 45)]))
    frame = pd.DataFrame({"user": users, "item": rng.integers(0, 40, len(users))})
    frame = frame.drop_duplicates(ignore_index=True)
    frame["rating"] = rng.integers(1, 6, len(frame)).astype(float)
    frame["timestamp"] = 20 * frame["user"] + rng.integers(0, 400, len(frame))
    return frame.astype({"user": str, "item": str}).sort_values("timestamp", ignore_index=True)


def run_of(frame, split, candidates, **more):
    config = {
        "split": split if isinstance(split, dict) else SPLITS[split],
        "candidates": candidates,
        "algorithms": ["BaselineOnly"],
        "metrics": METRICS,
        "baselines": False,
        "statistics": None,
        **more,
    }
    return harness.run(config, ratings=frame, results=None)


def folds_of(frame, split):
    """Yield the training and the test set of each fold as frames."""
    from harness.config.experiment import Experiment
    from harness.splits import make

    config = {"name": "a", "dataset": "bundled", "split": SPLITS[split]}
    config |= {"algorithms": ["BaselineOnly"], "metrics": ["rmse"]}
    section = Experiment.model_validate(config).split[0]
    for fold in make(section, harness.load(frame), seed=0):
        yield frame.iloc[fold.train], frame.iloc[fold.test]


def plain_predictions(train, test):
    """Estimate ratings with Surprise alone."""
    reader = Reader(rating_scale=(1, 5))
    data = Dataset.load_from_df(train[["user", "item", "rating"]], reader)
    model = BaselineOnly(verbose=False).fit(data.build_full_trainset())
    return model.test([*test[["user", "item", "rating"]].itertuples(index=False, name=None)])


@pytest.mark.sample(2)
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("kind", CANDIDATES)
@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_errors_and_rankings_are_of_the_users_whom_the_policy_keeps(frame, split, kind, policy):
    done = run_of(frame, split, CANDIDATES[kind] | {"unknown_users": policy})
    expected = {"rmse": [], "mae": [], "fcp": []}
    evaluated = set()
    for train, test in folds_of(frame, split):
        if policy == "drop":
            test = test[test["user"].isin(train["user"])]
        evaluated |= {*test["user"]}
        predictions = plain_predictions(train, test)
        for name, values in expected.items():
            values.append(getattr(accuracy, name)(predictions, verbose=False))
    (row,) = done.table.to_dict("records")
    for name, values in expected.items():
        assert row[name] == pytest.approx(np.mean(values), rel=1e-12)
    assert row["n_users"] == len(evaluated)
    assert {*done.users["user"]} == evaluated
    for cell in done.info.finished:
        of_cell = done.users[done.users["fold"] == cell.fold]
        assert cell.n_users == len(of_cell)
        assert of_cell[["rmse", "ndcg@10"]].notna().all().all()


def test_the_policy_is_the_same_for_the_metric_that_decides_a_search(frame):
    later = {"kind": "global-time", "date": 600, "validation": {"kind": "global-time", "date": 300}}
    done = run_of(
        frame,
        later,
        {"kind": "rated", "unknown_users": "drop"},
        algorithms=[{"name": "BaselineOnly", "search": {"bsl_options.reg_i": [10]}}],
        tuning={"method": "grid", "trials": 1, "metric": "rmse"},
    )
    train, test = frame[frame.timestamp < 300], frame[frame.timestamp.between(300, 599)]
    known = test[test["user"].isin(train["user"])]
    assert 0 < len(known) < len(test)
    expected = accuracy.rmse(plain_predictions(train, known), verbose=False)
    assert done.trials["value"][0] == pytest.approx(expected, rel=1e-12)


def test_a_note_says_how_many_users_are_dropped_and_from_what(frame):
    ((train, test),) = folds_of(frame, "time")
    n_unknown = len({*test["user"]} - {*train["user"]})
    n_users = test["user"].nunique()
    for candidates in CANDIDATES.values():
        dropped = run_of(frame, "time", candidates | {"unknown_users": "drop"}).info
        assert (
            "users without a training rating are left out of every metric, of lists and of errors: "
            f"{n_unknown} of {n_users} test users"
        ) in map(str, dropped.notes)
        assert dropped.finished[0].n_dropped_users == n_unknown
        assert dropped.finished[0].n_unknown_users == 0
        kept = run_of(frame, "time", candidates).info
        assert kept.finished[0].n_unknown_users == n_unknown
        assert kept.finished[0].n_dropped_users == 0
        assert not any(note.code.startswith("users-dropped") for note in kept.notes)


def test_users_of_several_folds_are_counted_once_and_those_without_a_score_are_said(frame):
    label = "recall(threshold=5)@10"
    done = run_of(frame, "folds", "rated", metrics=["ndcg@10", label])
    (row,) = done.table.to_dict("records")
    assert row["n_users"] == done.users["user"].nunique() == frame["user"].nunique()
    assert row["n_users"] > max(cell.n_users for cell in done.info.finished)
    with_score = done.users.dropna(subset=[label])["user"].nunique()
    assert with_score < row["n_users"]
    expected = (
        f"{label}: mean over {with_score} of {row['n_users']} users, undefined for the others"
    )
    assert expected in map(str, done.info.notes)
    assert row[label] == pytest.approx(done.users.groupby("user")[label].mean().mean(), rel=1e-12)


def test_a_run_of_an_earlier_version_shows_the_users_of_its_comparison(frame, tmp_path):
    config = {"split": SPLITS["folds"], "algorithms": ["BaselineOnly"], "metrics": ["ndcg@10"]}
    done = harness.run(config, ratings=frame, results=tmp_path)
    earlier = read_run(done.folder)
    for row in earlier.info.rows:
        row.n_users = None
    assert earlier.table["n_users"].tolist() == done.table["n_users"].tolist()
    earlier.info.statistics.clear()
    del earlier.__dict__["table"]
    assert earlier.table["n_users"].isna().all()
