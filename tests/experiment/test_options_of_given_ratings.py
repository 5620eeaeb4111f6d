"""Every option of a section holds for ratings from Python as for a file, or is refused by name."""

import json

import numpy as np
import pandas as pd
import pytest

import harness
from harness.candidates.base import CandidatesSection
from harness.datasets.catalogue import CATALOGUE
from harness.datasets.section import DatasetSection
from harness.errors import HarnessError
from harness.experiment.plan import Plan
from harness.splits import FilterSection, SplitSection

BASE = {"algorithms": ["BaselineOnly"], "metrics": ["rmse"], "baselines": False}
BASE |= {"name": "given", "statistics": None}
LOADED = {
    "columns": {"user": "item", "item": "user"},
    "decimal": ",",
    "thousands": ",",
    "values": {"much": 4},
    "no_id": ["u0"],
    "time_format": "days",
    "id_spellings": "join",
    "not_rated": [2],
    "scale": [0, 6],
    "duplicates": "last",
    "missing": "drop",
    "unreadable": "drop",
    "out_of_scale": "clip",
    "users": "users.csv",
    "items": "items.csv",
    "at_random": "random.csv",
}
"""Keys of `dataset` that hold for loaded ratings, and a value that changes something."""
FAULTS = {
    "decimal": {"rating": ["3,5", "2"]},
    "thousands": {"rating": ["3,500", "2"]},
    "values": {"rating": ["much", "2"]},
    "id_spellings": {"user": ["caf\u00e9", "cafe\u0301"]},
    "duplicates": {"user": ["u0", "u0"], "item": ["i0", "i0"], "rating": [2.0, 3.0]},
    "missing": {"rating": [np.nan, 2.0]},
    "unreadable": {"rating": ["much", "2"]},
    "out_of_scale": {"rating": [9.0, 2.0]},
}
"""What rows of data must hold for a key to be needed."""
REFUSED = {
    "name": "ml-100k",
    "path": "ratings.csv",
    "format": "csv",
    "separator": ";",
    "header": True,
    "sha256": "0" * 64,
    "member": "ratings.csv",
    "not_items": ["age"],
    "table": "ratings",
    "query": "SELECT 1",
    "skip": 1,
    "comment": "#",
    "encoding": "latin-1",
    "quotes": "none",
    "like": "pandas",
    "synthetic": {"seed": 1},
    "most_megabytes": 100,
    "most_seconds": 100,
}
"""Keys that say where ratings are or how a file is written."""
NEEDED = {"out_of_scale": {"scale": [1, 5]}, "thousands": {"out_of_scale": "keep"},
          "values": {"scale": [0, 6]}}  # fmt: skip


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    users, items = np.nonzero(rng.random((30, 20)) < 0.5)
    columns = {"user": [f"u{n}" for n in users], "item": [f"i{n}" for n in items]}
    ratings, times = rng.integers(1, 6, len(users)).astype(float), rng.integers(0, 9999, len(users))
    return pd.DataFrame(columns | {"rating": ratings, "timestamp": times})


def with_faults(frame, key):
    """Return ratings with two more rows, for which a policy is needed."""
    more = {"user": ["a", "b"], "item": ["i0", "i1"], "rating": [1.0, 2.0], "timestamp": [5, 6]}
    more |= FAULTS.get(key, {})
    return pd.concat([frame.astype({"rating": object}), pd.DataFrame(more)], ignore_index=True)


@pytest.fixture
def folder(tmp_path, monkeypatch, frame):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"user": frame["user"].unique(), "age": 7}).to_csv("users.csv", index=False)
    pd.DataFrame({"item": frame["item"].unique(), "genres": "x"}).to_csv("items.csv", index=False)
    frame.head(9).to_csv("random.csv", index=False)
    return tmp_path


def outcome(config, ratings=None):
    """Return the data of a config, or why there are none."""
    try:
        made, _ = Plan.from_config(BASE | config, ratings=ratings).ratings(0)
    except HarnessError as error:
        return str(error)
    features = (made.user_features, made.item_features)
    at_random = None if made.at_random is None else made.at_random.tolist()
    texts = [None if each is None else each.to_csv() for each in features]
    return made.fingerprint, texts, at_random


def test_every_key_of_a_data_set_is_tried():
    assert LOADED.keys() | REFUSED.keys() == DatasetSection.model_fields.keys()


@pytest.mark.parametrize("key", LOADED)
def test_an_option_of_a_data_set_has_the_effect_that_it_has_for_a_file(folder, frame, key):
    data = with_faults(frame, key) if key in FAULTS else frame
    data.to_csv("ratings.csv", index=False, sep="\t")
    needed = NEEDED.get(key, {})
    option = needed | {key: LOADED[key]}
    of_file = outcome({"dataset": {"path": "ratings.csv", **option}})
    assert not isinstance(of_file, str)
    assert outcome({"dataset": option}, data) == of_file
    assert outcome({"dataset": [option]}, data) == of_file
    without = outcome({"dataset": {"path": "ratings.csv", **needed}})
    assert without != of_file
    if isinstance(without, str):  # the rows are refused, and so they are from Python
        assert isinstance(outcome({"dataset": needed} if needed else {}, data), str)


@pytest.mark.parametrize(
    "key", sorted(LOADED.keys() - {"decimal", "thousands", "id_spellings", "missing", "unreadable"})
)
def test_an_option_holds_for_ratings_and_for_a_dataset_of_surprise(folder, frame, key):
    if key == "out_of_scale":
        option = {"scale": [2, 4], "out_of_scale": "clip"}
    else:
        option = {key: LOADED[key]}
    expected = outcome({"dataset": {"scale": [1, 5], **option}}, frame)
    ratings = harness.Ratings.from_frame(frame, scale=(1, 5))
    if key != "time_format":
        assert outcome({"dataset": option}, ratings) == expected
    else:
        assert outcome({"dataset": option}, ratings).startswith("dataset.time_format: Ratings hold")
    found = outcome({"dataset": option}, ratings.to_surprise())
    if key in ("columns", "time_format"):
        assert found.startswith(f"dataset.{key}: a surprise.Dataset")
    else:
        assert found == expected


def test_features_of_ratings_stay_with_their_ids(frame, folder):
    items = pd.DataFrame({"item": frame["item"].unique()[::-1]})
    known = harness.load(frame, items=items.assign(genres=items["item"]))
    option = {"dataset": {"scale": [3, 5], "out_of_scale": "drop"}}
    made, _ = Plan.from_config(BASE | option, ratings=known).ratings(0)
    assert made.item_features["genres"].tolist() == made.item_ids.tolist()


@pytest.mark.parametrize("key", REFUSED)
def test_a_key_of_files_is_refused_by_its_name(folder, frame, key):
    for dataset, where in (({key: REFUSED[key]}, ""), ([{key: REFUSED[key]}], "[0]")):
        message = outcome({"dataset": dataset}, frame)
        assert f"dataset{where}.{key}: found " in message
        assert "leave one out" in message
    assert outcome({"dataset": {key: DatasetSection.model_fields[key].default}}, frame) == outcome(
        {}, frame
    )


def test_a_name_alone_is_replaced_and_several_data_sets_are_refused(frame):
    assert outcome({"dataset": "ml-100k"}, frame) == outcome({}, frame)
    assert "dataset: found 2 data sets; " in outcome({"dataset": ["ml-100k", "bundled"]}, frame)


def test_a_typing_error_among_options_is_said(frame):
    assert "did you mean 'scale'" in outcome({"dataset": {"scal": [1, 5]}}, frame)
    assert "dataset.scale" in outcome({"dataset": {"scale": [5, 1]}}, frame)


@pytest.mark.parametrize("key", sorted((LOADED | REFUSED).keys() - {"name", "synthetic", "path"}))
def test_an_option_of_a_named_set_has_an_effect_or_is_refused(folder, key):
    (named,) = (each.name for each in CATALOGUE.values() if each.bundled)
    value = (LOADED | REFUSED)[key]
    config = {"dataset": {"name": named, key: value}}
    if key in (
        "scale",
        "out_of_scale",
        "duplicates",
        "missing",
        "unreadable",
        "users",
        "items",
        "at_random",
        "not_rated",
    ):
        section = Plan.from_config(BASE | config).experiment.dataset[0]
        if key in section.policies:
            kept = section.policies[key]
            assert kept == (tuple(value) if key == "scale" else value)
        return
    assert f"dataset.{key}: " in outcome(config)


def test_the_record_of_a_run_has_the_options_and_repeats_it(folder, frame):
    config = BASE | {"dataset": {"scale": [2, 4], "out_of_scale": "clip"}, "metrics": ["mae"]}
    done = harness.run(config, ratings=frame, results="runs")
    recorded = json.loads((done.folder / "run.json").read_text())["config"]["dataset"]
    assert recorded == [
        {"path": "given from Python: frame", "scale": [2.0, 4.0], "out_of_scale": "clip"}
    ]
    again = harness.run("runs/given", ratings=frame, results=None)
    assert again.table["mae"].tolist() == done.table["mae"].tolist()
    model = harness.fit_row(harness.read_run(done.folder), ratings=frame)
    assert model.trainset.rating_scale == (2.0, 4.0)
    with pytest.raises(HarnessError, match="given from Python; give them again"):
        harness.run("runs/given", results=None)


VALUES = {
    "n": 2,
    "start": 100,
    "end": 9000,
    "random_state": 3,
    "by": "sum",
    "at_least": 2.0,
    "test_size": 0.3,
    "train_size": 0.5,
    "shuffle": False,
    "like": "surprise",
    "n_splits": 3,
    "n_repeats": 2,
    "fraction": 0.3,
    "folds": ["u1"],
    "choose": "latest",
    "min_train": 2,
    "too_few": "train",
    "within_users": True,
    "users": 0.4,
    "items": 0.4,
    "equal_times": "row",
    "last": "10 seconds",
    "given": 0.5,
    "quantile": 0.6,
    "date": 5000,
    "origins": 2,
    "window": 0.5,
    "horizon": "10 seconds",
    "test": "test.csv",
    "train": "train.csv",
    "file": "folds.csv",
    "column": "part",
    "path": "saved.json",
    "validation": "holdout",
    "unknown_users": "drop",
    "least_estimate": 3.0,
    "unknown_items": "drop",
    "training_items": "keep",
    "list_ties": "training",
    "missing_items": "drop",
    "function": "sections:listed",
    "share": 0.5,
    "of": "kfold",
    "in_training": "drop",
}
"""A value of each key of filters, splits and candidates."""
FAMILIES = {"filters": FilterSection, "split": SplitSection, "candidates": CandidatesSection}
KEYS = [
    (part, kind.model_fields["kind"].default, key)
    for part, family in FAMILIES.items()
    for _, kind in family.usable_kinds()
    for key in kind.model_fields
    if key != "kind"
]


def divided(config, ratings=None):
    """Return the split and the candidates of a config, or why there are none."""
    try:
        plan = Plan.from_config(BASE | config, ratings=ratings)
        cells = plan.cells
        selected = [plan.selected(cell) for cell in cells]
        inner = [cell.key for cell in map(plan.keyed, cells)]
    except HarnessError as error:
        return str(error)
    return inner, [(each.users.tolist(), each.judged.tolist()) for each in selected]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("part", "kind", "key"), KEYS)
def test_a_key_of_filters_split_and_candidates_has_the_same_effect(folder, frame, part, kind, key):
    fields = next(each for name, each in FAMILIES[part].usable_kinds() if name == kind).model_fields
    required = {name: VALUES[name] for name, field in fields.items() if field.is_required()}
    section = {"kind": kind, **required, key: VALUES[key]}
    config = {part: [section] if part == "filters" else section}
    frame.to_csv("ratings.csv", index=False)
    of_file = divided(config | {"dataset": {"path": "ratings.csv", "scale": [1, 5]}})
    of_ratings = divided(config | {"dataset": {"scale": [1, 5]}}, frame)
    if isinstance(of_file, str):  # of a file that is not there, of data of another kind
        of_file, of_ratings = (text.replace("frame", "ratings") for text in (of_file, of_ratings))
    assert of_ratings == of_file
