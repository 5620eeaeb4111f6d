"""Relevance judgements of a file as the test set: values against a slow calculation by hand."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from surprise import SVD

import harness
from harness import splits
from harness.datasets import Ratings
from harness.errors import HarnessError, SplitError
from harness.experiment.plan import Plan
from harness.report.methods import to_markdown
from harness.splits.judgements import Judgements
from harness.splits.random import Holdout
from harness.splits.training_share import TrainingShare

BASE = {"dataset": "bundled", "baselines": False, "statistics": None, "name": "judged"}


@pytest.fixture(scope="module")
def ratings():
    return harness.load("bundled")


@pytest.fixture(scope="module")
def judged(ratings):
    """Judgements by user and item of twenty users: rated, unrated and unknown items."""
    rng = np.random.default_rng(4)
    popular = np.argsort(-np.bincount(ratings.items), kind="stable")[:150]
    grades = {}
    for user in rng.choice(ratings.n_users, 20, replace=False):
        for item in rng.choice(popular, 30, replace=False):
            grades[ratings.user_ids[user], ratings.item_ids[item]] = int(rng.integers(0, 4))
        grades[ratings.user_ids[user], "new"] = 3
    grades["stranger", ratings.item_ids[popular[0]]] = 2
    return grades


@pytest.fixture
def folder(tmp_path, judged, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "qrels.txt", judged)
    return tmp_path


def write(path, grades):
    path.write_text("".join(f"{user} 0 {item} {grade}\n" for (user, item), grade in grades.items()))


def rated_by(ratings):
    pairs = zip(ratings.user_ids[ratings.users], ratings.item_ids[ratings.items], strict=True)
    return {*pairs}


def dcg(grades):
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def by_hand(model, rated, grades, user, *, condensed):
    """Return ndcg@10, precision(threshold=2)@10 and unjudged@10 of a user, item after item."""
    rated = {item for other, item in rated if other == user}
    of_user = {item: grade for (other, item), grade in grades.items() if other == user}
    of_user = {item: grade for item, grade in of_user.items() if item not in rated}
    trainset, inner = model.trainset, model.trainset.to_inner_uid(user)
    values = trainset.global_mean + model.bu[inner] + model.bi + model.qi @ model.pu[inner]
    estimates = {trainset.to_raw_iid(item): value for item, value in enumerate(values)}
    estimates = {item: value for item, value in estimates.items() if item not in rated}
    assert max(estimates.values()) < 5  # clipping ties none
    order = sorted(estimates, key=lambda item: -estimates[item])
    if condensed:
        order = [item for item in order if item in of_user]
    shown = [of_user.get(item, 0) for item in order[:10]]
    best = dcg(sorted(of_user.values(), reverse=True)[:10])
    unjudged = sum(item not in of_user for item in order[:10]) / len(order[:10])
    return dcg(shown) / best, sum(grade >= 2 for grade in shown) / 10, unjudged


def test_values_are_those_of_a_plain_calculation_and_of_the_condensed_list(folder, ratings, judged):
    known = {pair: grade for pair, grade in judged.items() if "new" not in pair}
    known = {pair: grade for pair, grade in known.items() if "stranger" not in pair}
    write(folder / "qrels.txt", known)
    labels = ["ndcg@10", "precision(threshold=2)@10", "unjudged@10"]
    config = BASE | {
        "split": {"kind": "judgements", "path": "qrels.txt"},
        "candidates": ["catalogue", "rated"],
        "algorithms": [{"name": "SVD", "params": {"n_factors": 5, "n_epochs": 5}}],
        "metrics": labels,
    }
    run = harness.run(config, results=None)
    model = SVD(**run.info.cells[0].params).fit(ratings.to_surprise().build_full_trainset())
    users, rated = sorted({user for user, _ in known}), rated_by(ratings)
    for candidates in ("catalogue", "rated"):
        frame = run.users[run.users["candidates"] == candidates].set_index("user")
        assert sorted(frame.index) == users
        for user in users[::4]:
            expected = by_hand(model, rated, known, user, condensed=candidates == "rated")
            assert frame.loc[user, labels].tolist() == pytest.approx(expected, abs=1e-12)
    assert (frame["unjudged@10"] == 0).all()
    note = next(note for note in run.info.notes if note.code == "judgements-rated")
    n_rated = sum(pair in rated for pair in known)
    assert (note.values["n"], note.values["n_all"]) == (n_rated, len(known))
    assert n_rated > 0


def test_rows_are_all_ratings_and_the_judged_pairs_that_are_not_rated(folder, ratings, judged):
    (split,) = splits.make(Judgements(path="qrels.txt"), ratings, 0, folder)
    data = split.ratings
    assert split.train.tolist() == list(range(len(ratings)))
    assert (split.name, split.n_folds) == ("judgements qrels.txt", 1)
    found = {
        (data.user_ids[data.users[row]], data.item_ids[data.items[row]]): data.ratings[row]
        for row in split.test
    }
    rated = rated_by(ratings)
    assert found == {pair: grade for pair, grade in judged.items() if pair not in rated}
    for name in ("users", "items", "ratings", "timestamps"):
        assert (getattr(data, name)[split.train] == getattr(ratings, name)).all()
    assert (data.timestamps[split.test] == ratings.timestamps.max()).all()
    codes = [note.code for note in split.notes]
    assert codes == ["judgements", "judgements-rated", "unknown-users", "unknown-items"]
    of_unknown = {note.code: note.values["n"] for note in split.notes[2:]}
    assert of_unknown == {"unknown-users": 1, "unknown-items": 1}
    assert (data.n_users, data.n_items) == (ratings.n_users + 1, ratings.n_items + 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.qrels", "1 0 31 3\n1 0 10 0\n1 0 17 1\n"),
        ("q.csv", "user,item,grade\n1,31,3\n1,10,0\n1,17,1\n"),
        ("q.tsv", "1\t31\t3\n1\t10\t0\n1\t17\t1\n"),
        ("q.json", json.dumps({"1": {"31": 3, "10": 0, "17": 1}})),
    ],
)
def test_every_form_of_qrels_gives_the_same_rows(ratings, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (split,) = splits.make(Judgements(path=name), ratings, 0, tmp_path)
    data = split.ratings
    rated = rated_by(ratings)
    pairs = {("1", "31"): 3, ("1", "10"): 0, ("1", "17"): 1}
    expected = [(item, grade) for (user, item), grade in pairs.items() if (user, item) not in rated]
    rows = split.test
    assert [*zip(data.item_ids[data.items[rows]], data.ratings[rows], strict=True)] == expected


def test_items_without_a_grade_are_relevant(ratings, tmp_path):
    (tmp_path / "q.csv").write_text("user,item\n1,10\n1,17\n")
    (split,) = splits.make(Judgements(path="q.csv"), ratings, 0, tmp_path)
    assert split.ratings.ratings[split.test].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 0 10 2\n1 0 17 -2\n",
            "q.qrels:2: the grade -2; some qrels write grades below 0 for spam",
        ),
        ("1 0 10 2\n1 0 17 1\n1 0 10 0\n", "q.qrels:3: user '1' has item '10' again"),
        ("1 0 10 2\n1 0 10 2\n", "q.qrels:2: user"),
        ("1 0 31 2\n1 0 31x 2\n", ""),
        (
            "a 0 10 2\na 0 17 1\n",
            "q.qrels: none of its users, such as 'a', is in .* whose users look like '1'",
        ),
        ("1 0 b 2\n1 0 c 1\n", "none of its items, such as 'b', is in"),
        ("1 Q0 10 1 2.5 x\n1 Q0 17 2 1.5 x\n", "a line must be query 0 document relevance"),
        ("1 0 10 x\n1 0 17 1\n", "q.qrels:1"),
        ("", "no rows"),
    ],
)
def test_what_is_no_judgement_is_refused_with_its_place(ratings, tmp_path, text, message):
    (tmp_path / "q.qrels").write_text(text)
    section = Judgements(path="q.qrels")
    if not message:  # one unknown item is none of the errors
        assert len(splits.make(section, ratings, 0, tmp_path)[0].test)
        return
    with pytest.raises(HarnessError, match=message):
        splits.make(section, ratings, 0, tmp_path)


def test_a_file_that_is_not_there_or_judges_what_is_rated_alone_is_refused(ratings, tmp_path):
    with pytest.raises(HarnessError, match=r"q\.txt: no such file"):
        splits.make(Judgements(path="q.txt"), ratings, 0, tmp_path)
    (tmp_path / "run.txt").write_text("1 Q0 10 1 2.5 x\n1 Q0 17 2 1.5 x\n")
    with pytest.raises(SplitError, match=r"run\.txt: a run of TREC; give qrels"):
        splits.make(Judgements(path="run.txt"), ratings, 0, tmp_path)
    write(tmp_path / "q.txt", dict.fromkeys(sorted(rated_by(ratings))[:5], 1))
    with pytest.raises(SplitError, match="every judged item was rated by its user in training"):
        splits.make(Judgements(path="q.txt"), ratings, 0, tmp_path)


def test_what_the_file_holds_is_in_the_keys_of_cells(folder, judged):
    config = BASE | {
        "split": {"kind": "judgements", "path": "qrels.txt"},
        "algorithms": ["ItemMean"],
        "metrics": ["ndcg@10"],
    }
    (before,) = Plan.from_config(config).cells
    assert Plan.from_config(config).cells == (before,)
    (folder / "other.txt").write_text((folder / "qrels.txt").read_text())
    moved = config | {"split": {"kind": "judgements", "path": "other.txt"}}
    (same,) = Plan.from_config(moved).cells
    assert same.key == before.key
    pair = next(iter(judged))
    write(folder / "qrels.txt", judged | {pair: judged[pair] + 1})
    (changed,) = Plan.from_config(config).cells
    assert changed.key != before.key


def test_settings_are_chosen_on_ratings_or_on_other_judgements(folder, ratings, judged):
    section = Judgements(path="qrels.txt")
    (outer,) = splits.make(section, ratings, 0, folder)
    (inner,) = splits.validation(outer, Holdout(test_size=0.2), 0, folder)
    assert {*inner.train, *inner.test} == {*range(len(ratings))}
    with pytest.raises(SplitError, match="of pairs that the outer split tests; judge others"):
        splits.validation(outer, section, 0, folder)
    rated = rated_by(ratings)
    item = next(item for item in ratings.item_ids if ("1", item) not in rated | judged.keys())
    write(folder / "more.txt", {("1", item): 2, ("1", "31"): 1})
    (inner,) = splits.validation(outer, Judgements(path="more.txt"), 0, folder)
    assert inner.train.tolist() == list(range(len(ratings)))
    assert inner.name == "judgements more.txt of the training set"
    assert inner.ratings.ratings[inner.test].tolist() == [2.0]
    assert "in-neither-part" not in [note.code for note in inner.notes]


def test_shares_of_training_are_tested_on_the_judgements(folder, ratings):
    (whole,) = splits.make(Judgements(path="qrels.txt"), ratings, 0, folder)
    section = TrainingShare(of=Judgements(path="qrels.txt"), share=0.5)
    (part,) = splits.make(section, ratings, 0, folder)
    assert part.test.tolist() == whole.test.tolist()
    assert len(part.train) == math.ceil(len(ratings) / 2)
    assert part.ratings.fingerprint == whole.ratings.fingerprint


def test_features_are_unknown_for_what_the_ratings_lack(tmp_path):
    data = Ratings.from_columns(["a", "b"], ["x", "y"], [2, 4], scale=(1, 5))
    features = harness._util.libraries.pd.DataFrame({"genres": ["x|y", "y"]}, index=data.item_ids)
    data = replace(data, item_features=features)
    write(tmp_path / "q.qrels", {("a", "y"): 1, ("a", "z"): 1})
    (split,) = splits.make(Judgements(path="q.qrels"), data, 0, tmp_path)
    assert split.ratings.genres.tolist() == [[True, True], [False, True], [False, False]]
    assert split.ratings.timestamps is None


def test_judgements_are_not_saved_as_rows_of_the_data(folder, ratings):
    made = splits.make(Judgements(path="qrels.txt"), ratings, 0, folder)
    with pytest.raises(SplitError, match="judgements are not rows of the data; name their file"):
        splits.save(made, folder / "split.parquet")


def test_a_run_says_that_its_test_part_is_judgements(folder, judged):
    config = BASE | {
        "split": {"kind": "judgements", "path": "qrels.txt"},
        "candidates": ["catalogue", {"kind": "sampled", "n": 30}, "rated"],
        "algorithms": ["BaselineOnly", "Popularity"],
        "metrics": ["ndcg(gain=table(0, 1, 3, 7))@10", "unjudged@10", "rmse"],
        "outputs": {"lists": 5, "estimates": True},
    }
    run = harness.run(config, results="runs")
    assert not [cell for cell in run.info.cells if not hasattr(cell, "scores")]
    assert {"stranger"} <= {*run.users["user"]}
    table = run.table.set_index(["candidates", "algorithm"])["unjudged@10"]
    assert (table["rated"] == 0).all()
    assert 0 < table["sampled 30", "Popularity"] < table["catalogue", "Popularity"] < 1
    (note,) = [note for note in run.info.notes if note.code == "judgements-as-ratings"]
    assert "rmse compares estimates on the scale 0.5 to 5 with grades of judgements, 0 to 3" in str(
        note
    )
    assert "the test set is relevance judgements that are read from qrels.txt" in (
        to_markdown(run.info)
    )


def test_other_processes_rank_the_judged_items_too(folder):
    config = BASE | {
        "split": {"kind": "judgements", "path": "qrels.txt"},
        "candidates": "catalogue",
        "algorithms": ["ItemMean", "Popularity"],
        "metrics": ["ndcg@10", "unjudged@10"],
    }
    one, two = (harness.run(config, results=None, workers=workers) for workers in (1, 2))
    assert len(two.info.finished) == 2
    assert one.users.equals(two.users)


def test_a_gain_that_grades_lack_is_refused_and_one_of_ratings_alone_is_not(folder):
    config = BASE | {
        "split": {"kind": "judgements", "path": "qrels.txt"},
        "algorithms": ["ItemMean"],
        "metrics": ["ndcg(gain=table(0, 1))@10"],
    }
    with pytest.raises(HarnessError, match="gain"):
        harness.run(config, results=None)
