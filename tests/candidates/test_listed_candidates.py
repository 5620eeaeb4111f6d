"""Candidates from a file or a function: equal to lists ranked by hand, told apart by content."""

import numpy as np
import pandas as pd
import pytest
import surprise

import harness
from harness import splits
from harness.errors import HarnessError
from harness.splits.random import Holdout

DATA = {"synthetic": {"n_users": 30, "n_items": 40, "n_ratings": 500}}
SPLIT = {"kind": "holdout", "random_state": 1}


@pytest.fixture(scope="module")
def parts():
    """Return training and test ratings, and for each test user some items."""
    ratings = harness.load(DATA)
    (split,) = splits.make(Holdout(random_state=1), ratings, 0)
    frame = ratings.to_frame()
    train, test = frame.iloc[split.train], frame.iloc[split.test]
    rng = np.random.default_rng(4)
    rows = []
    for user, items in test.groupby("user")["item"]:
        listed = {*items.tolist()[1:], *rng.choice(ratings.item_ids, 12).tolist()}
        rows += [(user, item) for item in sorted(listed)]
    return ratings, train, test, pd.DataFrame(rows, columns=["user", "item"])


def config(path, **options):
    return {
        "dataset": DATA,
        "split": SPLIT,
        "candidates": {"kind": "file", "path": str(path), **options},
        "algorithms": ["BaselineOnly", "SVD"],
        "metrics": ["ndcg@5"],
        "baselines": False,
    }


@pytest.mark.parametrize("missing", ["count", "drop"])
def test_each_list_holds_the_items_of_the_file(parts, tmp_path, missing):
    ratings, train, test, listed = parts
    shuffled = listed.sample(frac=1, random_state=1)
    other = pd.DataFrame({"user": ["nobody"], "item": [listed["item"][0]]})
    pd.concat([shuffled, other]).to_csv(tmp_path / "c.csv", index=False)
    run = harness.run(config(tmp_path / "c.csv", missing_items=missing), results=None)
    reader = surprise.Reader(rating_scale=ratings.scale)
    data = surprise.Dataset.load_from_df(train[["user", "item", "rating"]], reader)
    model = harness.fit(surprise.BaselineOnly(verbose=False), data)
    scores = run.users[run.users["algorithm"] == "BaselineOnly"].set_index("user")["ndcg@5"]
    discounts = 1 / np.log2(np.arange(2, 7))
    compared = 0
    for user, rows in test.groupby("user"):
        grades = dict(zip(rows["item"], rows["rating"], strict=True))
        items = listed["item"][listed["user"] == user].tolist()
        estimates = harness.estimate(model, [(user, item) for item in items])
        if len(np.unique(estimates)) < len(items):
            continue  # ties are ranked by their mean
        order = np.argsort(-estimates)[:5]
        gains = [2 ** grades.get(items[place], 0.0) - 1 for place in order]
        counted = [g for item, g in grades.items() if missing == "count" or item in items]
        ideal = sorted((2**grade - 1 for grade in counted), reverse=True)[:5]
        if not ideal:
            continue  # drop leaves no test item
        expected = np.dot(gains, discounts[: len(gains)]) / np.dot(ideal, discounts[: len(ideal)])
        assert scores[user] == pytest.approx(expected, abs=1e-12)
        compared += 1
    assert compared > 5


def test_what_the_file_holds_is_in_the_keys_and_not_its_place(parts, tmp_path):
    listed = parts[3]
    (tmp_path / "other").mkdir()
    for name in ("c.csv", "other/c.csv"):
        listed.to_csv(tmp_path / name, index=False)
    listed.iloc[:-1].to_csv(tmp_path / "shorter.csv", index=False)
    one, moved, shorter = (
        harness.run(config(tmp_path / name), results=None)
        for name in ("c.csv", "other/c.csv", "shorter.csv")
    )
    keys = [{cell.key for cell in run.info.cells} for run in (one, moved, shorter)]
    assert keys[0] == keys[1]
    assert not keys[0] & keys[2]
    assert [*one.info.tables] == [*moved.info.tables] != [*shorter.info.tables]
    assert "c.csv lists for a user" in one.info.experiment.candidates[0].sentence()


@pytest.mark.long
def test_workers_rank_the_same_and_paths_start_beside_the_config(parts, tmp_path, monkeypatch):
    parts[3].to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "a.yaml").write_text(
        "dataset: {synthetic: {n_users: 30, n_items: 40, n_ratings: 500}}\n"
        "split: {kind: holdout, random_state: 1}\n"
        "candidates: {kind: file, path: c.csv}\n"
        "algorithms: [BaselineOnly, SVD]\nmetrics: [ndcg@5]\nbaselines: false\n"
    )
    monkeypatch.chdir("/")
    one = harness.run(tmp_path / "a.yaml", results=tmp_path / "runs", fresh=True)
    two = harness.run(tmp_path / "a.yaml", results=tmp_path / "runs", workers=2, fresh=True)
    assert one.table["ndcg@5"].tolist() == two.table["ndcg@5"].tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: pd.concat([frame, frame.head(1)]), r":350: user '1' has item .* again"),
        (lambda frame: frame[["user"]], "item"),
        (None, r"c.csv: no such file"),
    ],
)
def test_files_that_cannot_be_read_are_refused(parts, tmp_path, change, message):
    if change is not None:
        change(parts[3].head(348)).to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(HarnessError, match=message):
        harness.run(config(tmp_path / "c.csv"), results=None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame[frame["user"] != "1"], "no candidates for 1 of 28 test users ('1')"),
        (lambda frame: frame.replace({"item": frame["item"][0]}, "x"), "1 item that synthetic"),
    ],
)
def test_files_that_do_not_fit_the_split_fail_each_row_with_the_reason(
    parts, tmp_path, change, message
):
    change(parts[3]).to_csv(tmp_path / "c.csv", index=False)
    run = harness.run(config(tmp_path / "c.csv"), results=None)
    assert len(run.info.failed) == 2
    assert all(message in cell.error for cell in run.info.failed)


MODULE = '''
import random

import numpy as np
import pandas as pd

def popular(train, users):
    """The ten items with most ratings."""
    return dict.fromkeys(users, train["item"].value_counts().sort_index().nlargest(10).index)


def listed(train, users):
    return pd.read_csv({file!r}, dtype=str)


def drawn(train, users, rng):
    items = sorted(set(train["item"]))
    return {{user: rng.choice(items, 9, replace=False) for user in users}}


def drawn_globally(train, users):
    items = sorted(set(train["item"]))
    return {{user: [random.choice(items), np.random.choice(items)] for user in users}}


def unsteady(train, users):
    rng = np.random.default_rng()
    return {{user: rng.permutation(train["item"].unique())[:9] for user in users}}


def nothing(train, users):
    return None


def wrong(train, users):
    return {{user: 7 for user in users}}


def missing(train, users):
    return pd.DataFrame({{"user": users, "item": [None, *["1"] * (len(users) - 1)]}})


number = 3
'''


@pytest.fixture
def of_function(parts, tmp_path, monkeypatch):
    """Return a config whose candidates are of a function of a new module."""
    name = f"shop_{tmp_path.name.replace('-', '_')}"
    parts[3].to_csv(tmp_path / "c.csv", index=False)
    text = MODULE.format(file=str(tmp_path / "c.csv"))
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)

    def config_of(function, **options):
        whole = config("c.csv")
        candidates = {"kind": "function", "function": f"{name}:{function}", **options}
        return whole | {"candidates": candidates}

    return config_of


@pytest.mark.parametrize("missing", ["count", "drop"])
def test_a_function_ranks_what_a_file_of_its_items_ranks(parts, of_function, tmp_path, missing):
    one = harness.run(of_function("listed", missing_items=missing), results=None)
    two = harness.run(config(tmp_path / "c.csv", missing_items=missing), results=None)
    np.testing.assert_array_equal(one.users["ndcg@5"], two.users["ndcg@5"])
    assert "that the function" in one.info.experiment.candidates[0].sentence()
    assert one.table["candidates"][0].startswith("function shop_")


def test_a_function_sees_the_training_part_alone_and_may_draw(parts, of_function):
    _, train, test, _ = parts
    counts = train["item"].value_counts().sort_index()
    top = counts.nlargest(10).index
    run = harness.run(of_function("popular"), results=None)
    lists = run.info.experiment.candidates[0]
    (split,) = splits.make(Holdout(random_state=1), parts[0], 0)
    selected = lists.select(split, 0)
    rated = test.groupby("user")["item"].agg(set)
    for place, user in enumerate(parts[0].user_ids[selected.users]):
        extra = selected.extra_items[slice(*selected.extra_offsets[place : place + 2])]
        assert {*parts[0].item_ids[extra]} == {*top} - rated[user]
    for function in ("drawn", "drawn_globally"):
        runs = [harness.run(of_function(function) | {"seed": s}, results=None) for s in (1, 1, 2)]
        keys = [[cell.key for cell in each.info.cells] for each in runs]
        assert keys[0] == keys[1] != keys[2]


def test_keys_hold_what_a_function_chose_and_tables_its_code(of_function, tmp_path):
    first = harness.run(of_function("popular"), results=tmp_path / "runs")
    assert not first.info.failed
    same = of_function("popular") | {"algorithms": ["SVD"]}
    again = harness.run(same, results=tmp_path / "runs")
    assert {cell.key for cell in again.info.cells} < {cell.key for cell in first.info.cells}
    other = harness.run(of_function("listed"), results=None)
    assert not {cell.key for cell in other.info.cells} & {cell.key for cell in first.info.cells}
    assert [*other.info.tables] != [*first.info.tables]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_function_that_lists_something_else_in_each_call_is_refused(of_function, workers):
    folds = {"split": {"kind": "kfold", "n_splits": 2}}
    run = harness.run(of_function("unsteady") | folds, results=None, workers=workers)
    assert len(run.info.failed) >= 2  # both rows of a fold
    assert all("lists other items in another call" in cell.error for cell in run.info.failed)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("nothing", "found NoneType; return a mapping of users to items"),
        ("wrong", r"failed \(TypeError: .* not iterable, .*py:\d+\); correct the function"),
        ("missing", r"1 item that synthetic.* does not have \('(None|nan)'\); leave them out"),
        ("absent", "has no 'absent'"),
        ("number", "is not a function; name one with `train` and `users`"),
        ("a b", "name a function of a module, such as mine:nearby"),
    ],
)
def test_functions_that_cannot_be_used_say_why(of_function, function, message):
    with pytest.raises(HarnessError, match=message):
        harness.run(of_function(function), results=None)


def test_a_run_that_somebody_sends_needs_trust_to_call_its_function(of_function, tmp_path):
    run = harness.run(of_function("popular"), results=tmp_path / "runs")
    assert harness.read_run(run.folder).table.equals(run.table)
    with pytest.raises(HarnessError, match=r"it names code, .*:popular"):
        harness.run(run.folder, results=None)


def test_unrated_items_of_a_file_are_not_in_kept_estimates(parts, tmp_path, cli):
    parts[3].to_csv(tmp_path / "c.csv", index=False)
    kept = config(tmp_path / "c.csv") | {"name": "kept", "outputs": {"estimates": True}}
    run = harness.run(kept, results=tmp_path / "runs")
    err = cli.refused("evaluate", run.folder, "--metrics", "precision(threshold=0)@3")
    assert "a gain to a relevance of 0, as that of the unrated items of file c.csv" in err
    assert "values compared" in cli.done("evaluate", run.folder)


def test_lists_may_stand_below_their_items(parts, tmp_path):
    listed = parts[3]
    listed.to_csv(tmp_path / "c.csv", index=False)
    lines = []
    for item, users in listed.groupby("item")["user"]:
        lines += [f"{item}:", *(f"{user},3" for user in users)]
    (tmp_path / "c.txt").write_text("\n".join([*lines, ""]))
    rows = [harness.run(config(tmp_path / name), results=None).table for name in ("c.csv", "c.txt")]
    assert rows[0]["ndcg@5"].tolist() == rows[1]["ndcg@5"].tolist()
