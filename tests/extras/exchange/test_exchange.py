"""Folds for another program and back: ``split --export`` and ``evaluate --against``."""

import json
import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
import surprise
from surprise import Dataset, Reader

import harness
from harness.console.commands import main

CONFIG = """\
dataset: {synthetic: {n_users: 40, n_items: 60, n_ratings: 700}}
split: {kind: kfold, n_splits: 2}
candidates: [rated, {kind: catalogue, unknown_items: drop}]
algorithms: [{name: SVD, params: {random_state: 3, n_epochs: 5}}, ItemMean]
metrics: ["ndcg(ties=first)@5", hit@3, novelty@5, user_coverage@5, rmse]
statistics: {resamples: 200}
"""
FILES = ("1.csv", "2.csv")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder with a run, its cache and its exported folds."""
    folder = tmp_path_factory.mktemp("original")
    (folder / "own.yaml").write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        for command in ("run own.yaml -q", "split own.yaml --export folds"):
            with redirect_stdout(StringIO()) as out, pytest.raises(SystemExit) as left:
                main(command.split())
            assert left.value.code == 0
    last = out.getvalue().splitlines()[-1]
    assert last == "folds/split.json: fingerprints and files of 2 folds"
    return folder


@pytest.fixture
def exported(call, tmp_path, original):
    """A copy of that folder, in which commands are called."""
    shutil.copytree(original, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_facts_stand_beside_the_files_of_their_fold(call, tmp_path):
    splits = "seed: [0, 1]\nsplit: [holdout, {kind: holdout, test_size: 0.5}]\n"
    kept = [line for line in CONFIG.splitlines(keepends=True) if not line.startswith("split")]
    (tmp_path / "two.yaml").write_text("".join(kept) + splits)
    written = json.loads(call.done("split", "two.yaml", "--export", "folds", "--json"))["files"]
    assert {*map(Path, written)} == {
        path.relative_to(tmp_path) for path in (tmp_path / "folds").rglob("*.*")
    }
    for each in json.loads((tmp_path / "folds/split.json").read_text()):
        train = pd.read_csv(tmp_path / "folds" / each["files"]["train"])
        assert each["n_train"] == len(train)


def estimates_outside(folder, everything=True):
    """Write what plain Surprise, which reads the exported files alone, says of each fold."""
    index = json.loads((folder / "folds/split.json").read_text())
    for number, fold in enumerate(index, 1):
        paths = {name: folder / "folds" / path for name, path in fold["files"].items()}
        reader = Reader(line_format="user item rating", sep=",", skip_lines=1,
                        rating_scale=fold["scale"])  # fmt: skip
        trainset = Dataset.load_from_file(paths["train"], reader).build_full_trainset()
        model = surprise.SVD(random_state=3, n_epochs=5).fit(trainset)
        test = pd.read_csv(paths["test"], dtype=str)[["user", "item"]]
        pairs = dict.fromkeys(test.itertuples(index=False, name=None))
        if everything:
            seen = {(trainset.to_raw_uid(u), trainset.to_raw_iid(i))
                    for u, i, _ in trainset.all_ratings()}  # fmt: skip
            items = [trainset.to_raw_iid(i) for i in trainset.all_items()]
            users = dict.fromkeys(test["user"])
            pairs |= dict.fromkeys((u, i) for u in users for i in items if (u, i) not in seen)
        rows = [(*pair, float(model.predict(*pair).est)) for pair in pairs]
        frame = pd.DataFrame(rows, columns=["user", "item", "estimate"])
        frame.to_csv(folder / f"{number}.csv", index=False)


def test_a_model_trained_outside_has_the_row_of_the_run_to_the_last_digit(call, exported):
    estimates_outside(exported)
    out = call.done("evaluate", *FILES, "--against", "own", "--name", "outside",
                    "--format", "csv", "--per-user", "users.csv")  # fmt: skip
    rows = pd.read_csv(StringIO(out)).set_index(["candidates", "algorithm"])
    for candidates in ("rated", "catalogue, known items"):
        own, outside = (rows.loc[candidates, name] for name in ("SVD", "outside"))
        scores = [each for each in rows if "@" in each or each.startswith("rmse")]
        pd.testing.assert_series_equal(own[scores], outside[scores], check_names=False)
        assert own["ndcg(ties=first)@5_letters"] in outside["ndcg(ties=first)@5_letters"]
        assert pd.isna(outside["fit_seconds"])
    run = harness.read_run("runs/own").users.query("algorithm == 'SVD'")
    users = pd.read_csv("users.csv", dtype={"user": str})
    place = ["candidates", "fold", "user"]
    own, outside = (each.set_index(place).filter(like="@").sort_index() for each in (run, users))
    pd.testing.assert_frame_equal(own, outside, check_exact=True)


def test_seconds_and_memory_of_the_other_program_stand_in_its_row(call, exported):
    estimates_outside(exported)
    given = ("evaluate", *FILES, "--against", "own", "--format", "csv", "--name", "outside")
    costs = [{"fit_seconds": 2, "score_seconds": 0.5, "peak_mb": 90}, {"fit_seconds": 4}]
    (exported / "c.json").write_text(json.dumps(costs))
    rows = pd.read_csv(StringIO(call.done(*given, "--costs", "c.json")))
    for _, row in rows[rows["algorithm"] == "outside"].iterrows():
        assert (row["fit_seconds"], row["peak_mb"]) == (3.0, 90)
    for content, message in (
        ("[{}]", "c.json: costs of 1 fold, and there are 2; give a list"),
        ("{", "c.json: not JSON; give a JSON file"),
        ('[{"seconds": 1}, {}]', "c.json: [0]: unknown key 'seconds'; "),
        ('[{}, {"peak_mb": -1}]', "c.json: [1].peak_mb: found -1; write a number, 0 or more"),
        ('[{}, {"peak_mb": NaN}]', "c.json: [1].peak_mb: found nan; write a number"),
        ("[{}, 3]", "c.json: [1]: no object; write one with fit_seconds, score_seconds or"),
    ):
        (exported / "c.json").write_text(content)
        assert message in call.refused(*given, "--costs", "c.json")


@pytest.mark.long
def test_the_row_is_kept_in_a_run_that_other_commands_read(call, exported):
    estimates_outside(exported)
    given = ("evaluate", *FILES, "--against", "own", "--format", "csv")
    out = call.done(*given, "--name", "outside", "-o", "kept/all")
    table, _, said = out.partition("\nwritten to ")
    assert said == "kept/all\n"
    assert call.done("table", "kept/all", "--format", "csv").strip() == table.strip()
    kept = harness.read_run("kept/all")
    assert kept.table.set_index("algorithm").loc["outside", "fit_seconds"].isna().all()
    assert "null" in (exported / "kept/all/run.json").read_text()
    call.done("report", "kept/all")
    assert "outside" in (exported / "kept/all/report.html").read_text()
    assert "Results of other programs" in call("methods", "kept/all")[1]
    best = ("best", "kept/all", "--candidates", "rated", "--algorithm", "outside")
    for arguments, message in (
        ((*given, "-o", "runs/own"), "runs/own: has another run; choose a new folder"),
        (
            (*given, "-o", "own.yaml/x"),
            "own.yaml/x: cannot be written (not a directory); choose another",
        ),
        ((*given, "-o", "kept/a b"), "'a b' cannot be the name of a run"),
        (best, "not an algorithm of"),
    ):
        assert message in call.refused(*arguments)


def test_estimates_of_the_test_ratings_alone_are_no_lists_of_the_catalogue(call, exported):
    estimates_outside(exported, everything=False)
    out = call.done("evaluate", *FILES, "--against", "own")
    assert [line.split()[:2] for line in out.splitlines()].count(["1", "rated"]) == 1
    assert "1.csv: not shown under catalogue, known items, because all of its rows are test" in out


def test_code_that_the_config_of_a_run_names_is_not_run(call, exported):
    estimates_outside(exported)
    (exported / "theirs.py").write_text("open('ran', 'w')\n")
    record = exported / "runs/own/run.json"
    info = json.loads(record.read_text())
    del info["sha256"]
    info["config"]["algorithms"][0]["name"] = "theirs:Model"
    info["config"]["statistics"]["baseline"] = "ItemMean"
    record.write_text(json.dumps(info))
    call.done("evaluate", *FILES, "--against", "own")
    assert not (exported / "ran").exists()


def test_lists_by_rank_are_scored_like_their_estimates_and_have_no_errors(call, exported):
    estimates_outside(exported)
    index = json.loads((exported / "folds/split.json").read_text())
    for name, fold in zip(FILES, index, strict=True):
        lists = pd.read_csv(name, dtype={"user": str, "item": str})
        known = pd.read_csv(exported / "folds" / fold["files"]["train"], dtype=str)["item"]
        lists = lists[lists["item"].isin(known)].sort_values("estimate", ascending=False)
        lists["rank"] = lists.groupby("user").cumcount() + 1
        lists[lists["rank"] <= 5].drop(columns="estimate").to_csv(name, index=False)
    out = call.done("evaluate", *FILES, "--against", "own", "--name", "top five",
                    "--format", "csv")  # fmt: skip
    rows = pd.read_csv(StringIO(out)).set_index(["candidates", "algorithm"])
    own, lists = (rows.loc["catalogue, known items", name] for name in ("SVD", "top five"))
    assert lists["hit@3"] == own["hit@3"]
    assert pd.isna(lists["rmse"])
    assert ("rated", "top five") not in rows.index


@pytest.mark.parametrize(
    ("files", "change", "message"),
    [
        (FILES[:1], None, "1 file for 2 folds of own; give one for each fold"),
        (FILES[::-1], None, "2.csv: 350 of .* rows with an item that the user rated in the train"),
        (FILES, "user,item,estimate\nnobody,1,3\n", "1.csv: 1 of 1 row with a user that .* does"),
        (FILES, "user,item\n1,1\n", "1.csv: no column of estimate or rank; add one"),
        ((*FILES, "--metrics", "rmse"), None, "--metrics: the run own decides it; remove it"),
    ],
)
def test_files_that_do_not_fit_are_refused(call, exported, files, change, message):
    estimates_outside(exported)
    if change is not None:
        (exported / "1.csv").write_text(change)
    code, out, err = call("evaluate", *files, "--against", "own")
    assert (code, out) == (2, "")
    assert re.search(message, err), err


def test_a_validation_part_is_exported_and_a_folder_with_files_is_not_touched(call, exported):
    tuned = "split={kind: holdout, validation: {kind: holdout, test_size: 0.5}}"
    call.done("split", "own.yaml", "--export", "one", "--set", tuned)
    (fold,) = json.loads((exported / "one/split.json").read_text())
    parts = {name: pd.read_csv(exported / "one" / path) for name, path in fold["files"].items()}
    assert {name: len(part) for name, part in parts.items()} == {
        "train": 560, "test": 140, "tuning-train": 280, "validation": 280,
    }  # fmt: skip
    inner = pd.concat([parts["tuning-train"], parts["validation"]]).sort_values(["user", "item"])
    outer = parts["train"].sort_values(["user", "item"])
    assert inner.to_numpy().tolist() == outer.to_numpy().tolist()
    code, out, err = call("split", "own.yaml", "--export", "one")
    assert (code, out, err) == (2, "", "one: not empty; choose a new folder\n")
