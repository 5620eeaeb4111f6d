"""``harness audit`` of runs: faults are found, and clean runs of every kind are clean."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

import harness
from harness import splits
from harness.extras.audit import audit
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.splits.base import SplitSection
from harness.splits.random import Holdout

# Users arrive one after another: a moment leaves some of them without a training rating.
SPLITS = {
    "holdout": {"test_size": 0.3},
    "kfold": {"n_splits": 2},
    "repeated-kfold": {"n_splits": 2, "n_repeats": 1},
    "item-holdout": {"items": 0.3, "given": 2},
    "item-fraction": {"fraction": 0.3},
    "leave-n-out": {"n": 3, "choose": "latest", "too_few": "train"},
    "user-fraction": {"fraction": 0.3},
    "user-holdout": {"users": 0.4, "given": 3},
    "global-time": {"quantile": 0.7},
    "rolling": {"origins": 2},
    "predefined": {"train": "train.csv", "test": "test.csv"},
    "file": {"path": "split.parquet"},
    "training-share": {"of": {"kind": "holdout", "test_size": 0.3}, "share": 0.7},
    "judgements": {"path": "judged.csv"},
}
CANDIDATES = [
    options | {"kind": kind}
    for kind, options in (("rated", {}), ("catalogue", {}), ("sampled", {"n": 20}))
]
CANDIDATES = [
    each | {"unknown_users": policy} for each in CANDIDATES for policy in ("keep", "drop")
]
CONFIG = {
    "algorithms": [{"name": "KNNBasic", "params": {"min_k": 2}}, "EASE", "BaselineOnly"],
    "metrics": ["ndcg@5", "rmse"],
    "outputs": {"estimates": True},
    "statistics": None,
    "baselines": False,
}


def rows_in_time(wait=300, n_users=60, n_items=40, n=20):
    """Return ratings in which users arrive over time, most of them early."""
    rng = np.random.default_rng(3)
    tables = []
    for user in range(n_users):
        items = rng.choice(n_items, n, replace=False)
        start = wait * max(0, user - 2 * n_users // 3)
        times = start + rng.integers(0, 10_000, n)
        level = 3 + np.sin(user + items) + rng.normal(0, 0.7, n)
        ratings = np.clip(np.round(level), 1, 5)
        tables.append(pd.DataFrame({"user": user, "item": items, "rating": ratings, "time": times}))
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rows = rows_in_time()
    rows.to_csv(folder / "r.csv", index=False)
    test = np.random.default_rng(0).random(len(rows)) < 0.3
    rows[test].to_csv(folder / "test.csv", index=False)
    rows[~test].to_csv(folder / "train.csv", index=False)
    judged = rows[test].assign(item=(rows["item"] + 1) % 40)  # some of them rated, too
    judged.drop_duplicates(["user", "item"]).to_csv(folder / "judged.csv", index=False)
    ratings = harness.load({"path": str(folder / "r.csv"), "scale": [1, 5]})
    splits.save(splits.make(Holdout(), ratings, 1), folder / "split.parquet")
    return folder


def run(folder, **keys):
    """Run a config that stands in a folder with the data, and return the run."""
    config = {"name": "clean", "dataset": {"path": "r.csv", "scale": [1, 5]}, **CONFIG, **keys}
    path = folder / "clean.yaml"
    path.write_text(yaml.safe_dump(config))
    return harness.run(path, results=None)


def test_every_split_kind_has_a_clean_run():
    kinds = {*SplitSection.kind_names()}
    assert kinds - {"own-training", "movielens-folds"} == {*SPLITS}


OFTEN = ("holdout", "kfold", "leave-n-out", "global-time")
"""The kinds that most people use; the others are tried with the long tests."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[] if kind in OFTEN else pytest.mark.long) for kind in SPLITS],
)
def test_no_false_alarm_on_a_clean_run_of_any_split_candidates_and_policy(data, kind):
    found = audit(run(data, split={"kind": kind, **SPLITS[kind]}, candidates=CANDIDATES))
    assert [each.what for each in found.findings if each.level == "fault"] == []
    assert {*found.checked} >= {"test-in-training", "bad-estimates", "unequal-candidates"}
    in_time = kind in ("global-time", "rolling", "judgements")
    assert ("future" in {each.id for each in found.findings}) == (not in_time)
    for each in found.findings:
        if each.id == "sampled":
            assert each.values["candidates"].startswith("sampled")
        if each.id == "dropped-users":
            assert kind in ("global-time", "rolling")
            assert each.values["share"] > 0


def test_a_test_part_that_is_the_training_part_is_a_fault(data):
    found = audit(run(data, split="own-training", algorithms=["BaselineOnly"]))
    (fault,) = (each for each in found.findings if each.level == "fault")
    assert fault.code == "test-in-training.run"
    assert fault.values["seen"] == {"n": 1200, "n_all": 1200}
    assert "own training data" in fault.where


def test_estimates_of_users_who_are_not_evaluated_do_not_count(tmp_path):
    """In time, most test ratings are of users whom training does not know."""
    rows_in_time(wait=9_000).to_csv(tmp_path / "r.csv", index=False)
    config = {"split": {"kind": "global-time", "quantile": 0.6}}
    codes = {}
    for policy in ("keep", "drop"):
        made = run(tmp_path, candidates={"kind": "catalogue", "unknown_users": policy}, **config)
        estimates = made.estimates[made.estimates["algorithm"] == "KNNBasic"]
        default = estimates["estimate"].value_counts(normalize=True).iloc[0]
        assert (default > 0.5) == (policy == "keep")
        found = audit(made)
        codes[policy] = {each.code for each in found.findings if each.level == "fault"}
        assert "bad-estimates" in found.checked
        for each in found.findings:
            if each.id == "bad-estimates":
                assert (
                    "ndcg@5" not in each.effect
                )  # lists of test ratings are not those of the table
    assert codes["keep"] & {"bad-estimates.constant", "bad-estimates.impossible"}
    assert codes["drop"] == set()


def test_impossible_estimates_of_users_who_are_left_out_are_no_fault_of_an_older_run(tmp_path):
    rows_in_time(wait=9_000).to_csv(tmp_path / "r.csv", index=False)
    config = {"split": {"kind": "global-time", "quantile": 0.6}, "outputs": {"estimates": False}}
    made = run(tmp_path, candidates={"kind": "rated", "unknown_users": "drop"}, **config)
    (size,) = {split.n_test for split in made.info.splits}
    for cell in made.info.finished:
        assert cell.n_test < size
        cell.n_impossible += size - cell.n_test
        cell.n_test = size
    assert [each.what for each in audit(made).findings if each.level == "fault"] == []
    for cell in made.info.finished:
        cell.n_test, cell.n_impossible = size - 1, size // 2
    assert "bad-estimates" in {each.id for each in audit(made).findings}


def test_notes_without_codes_are_not_searched_by_their_words(data):
    made = run(data, split="holdout")
    record = json.loads(made.info.model_dump_json())
    for place in (record, *record["datasets"], *record["splits"]):
        place["notes"] = [note["text"] for note in place["notes"]]
    found = audit(Run(RunInfo.checked(record), made.users))
    assert "future" not in {each.id for each in found.findings}
    assert "before they had codes" in found.not_checked["future"]
    for note in made.info.notes:  # the words of a note with a code decide nothing
        object.__setattr__(note, "text", "reworded")
    assert "future" in {each.id for each in audit(made).findings}


def test_training_items_that_stay_among_the_candidates_are_named(data):
    candidates = ["catalogue", {"kind": "catalogue", "training_items": "keep"}]
    made = run(data, candidates=candidates, algorithms=["BaselineOnly"])
    (finding,) = (each for each in audit(made).findings if each.id == "training-items")
    (label,) = finding.effect
    values = made.table.set_index("candidates")[label]
    assert finding.effect[label] == pytest.approx(values.to_dict())


@pytest.mark.parametrize("searched", [False, True])
def test_a_best_row_that_the_test_part_chose_among_settings_is_found(searched):
    rows = [
        {"name": "ItemMean", "params": {"damping": damping}, "label": f"damping {damping}"}
        for damping in (0.0, 5.0, 50.0)
    ]
    if searched:
        rows = [{"name": "ItemMean", "search": {"damping": [0.0, 5.0, 50.0]}}]
    made = harness.run(
        CONFIG
        | {
            "dataset": {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1100}},
            "algorithms": [*rows, "Random"],
            "outputs": {},
        },
        results=None,
    )
    found = audit(made)
    findings = [finding for finding in found.findings if finding.id == "chosen-on-test"]
    assert "chosen-on-test" in found.checked
    assert bool(findings) != searched
    if not searched:
        values = made.table["ndcg@5"][:3]
        effect = findings[0].effect["ndcg@5"]
        assert effect["best setting"] == pytest.approx(values.max())
        assert effect["mean of all"] == pytest.approx(values.mean())
        assert "one of 3 settings of ItemMean" in findings[0].what
