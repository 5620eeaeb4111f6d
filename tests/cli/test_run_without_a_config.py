"""``harness run`` without a config: options name the data, and a config is written."""

import random

import pandas as pd
import pytest

import harness
from harness.config.yaml import read
from harness.results.reading import read_run

OPTIONS = ("--algorithms", "svd++,ItemMean", "--metrics", "ndcg@3,rmse")


@pytest.fixture
def ratings(tmp_path):
    draw = random.Random(7)
    rows = [
        f"{user},{item},{draw.randint(1, 5)}"
        for user in range(20)
        for item in draw.sample(range(30), 12)
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(["userId,movieId,rating", *rows]) + "\n")
    return path


def test_the_config_that_is_written_gives_the_same_cells(call, ratings, tmp_path):
    out = call.done("run", "--dataset", "ratings.csv", *OPTIONS)
    assert "its config: runs/ratings.yaml; edit it" in out.replace("\\", "/")
    first = read_run(tmp_path / "runs" / "ratings")
    assert [row["algorithm"] for row in first.info.rows][:2] == ["SVDpp", "ItemMean"]
    code, _, err = call("run", "runs/ratings.yaml")
    assert code == 0
    assert "4 of 4 cells found, nothing is fitted" in err
    again = read_run(tmp_path / "runs" / "ratings")
    assert {cell.key for cell in again.info.cells} == {cell.key for cell in first.info.cells}
    assert again.table[["ndcg@3", "rmse"]].equals(first.table[["ndcg@3", "rmse"]])


def test_a_config_or_a_run_that_is_there_stays(call, ratings, tmp_path):
    call.done("run", "-q", "--dataset", "ratings.csv", *OPTIONS)
    place = tmp_path / "runs" / "ratings.yaml"
    place.write_text(text := place.read_text().replace("test_size: 0.2", "test_size: 0.5"))
    assert "written to runs" in call.done("run", "-q", "--dataset", "ratings.csv", *OPTIONS)
    assert place.read_text() == text
    assert read(tmp_path / "runs" / "ratings-2.yaml").data["split"]["test_size"] == 0.2
    call.done("run", "-q", "--dataset", "ratings.csv", *OPTIONS)  # the same: no third one
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert names - {".lock"} == {"ratings", "ratings.yaml", "ratings-2", "ratings-2.yaml"}
    (tmp_path / "runs" / "ratings-2.yaml").unlink()
    call.done("run", "-q", "--dataset", "ratings.csv", *OPTIONS)
    assert (tmp_path / "runs" / "ratings-3.yaml").exists()


def test_keys_that_are_set_are_in_the_config(call, ratings, tmp_path):
    call.done(
        *("run", "-q", "--dataset", "ratings.csv", *OPTIONS, "--split", "kfold", "--seed", "5"),
        *("--set", "split.n_splits=2", "--set", "name=mine", "--candidates", "catalogue"),
        *("--results", "out", "--set", "baselines=false"),
    )
    data = read(tmp_path / "out" / "mine.yaml").data
    assert data["dataset"]["path"] == "../ratings.csv"
    assert (data["split"], data["seed"]) == ({"kind": "kfold", "n_splits": 2}, 5)
    assert (data["candidates"], data["baselines"]) == ("catalogue", False)
    assert [row["algorithm"] for row in read_run(tmp_path / "out" / "mine").info.rows] == [
        "SVDpp",
        "ItemMean",
    ]


@pytest.mark.parametrize("named", ["mine:hits@3,rmse", "rmse,mine:hits@3", "rmse,mine:hits@3,5"])
def test_a_metric_of_ones_own_stands_anywhere_among_the_metrics(call, ratings, tmp_path, named):
    (tmp_path / "mine.py").write_text(
        "import harness\n\n\n@harness.metric('the first k items', needs='items')\n"
        "def hits(lists, k):\n    return lists.mean(lists.items(k) >= 0, k)\n"
    )
    call.done(
        "run", "-q", "--dataset", "ratings.csv", "--algorithms", "ItemMean", "--metrics", named
    )
    table = read_run(tmp_path / "runs" / "ratings").table
    assert table["mine:hits@3"].tolist() == [1.0] * len(table)


def test_a_data_set_by_name_and_columns_by_option(call, ratings, tmp_path):
    few = ("--algorithms", "ItemMean", "--metrics", "rmse")
    size = ("--set", "dataset={synthetic: {n_users: 20, n_items: 20, n_ratings: 200}}")
    call.done("run", "-q", "--dataset", "synthetic", *few, *size)
    assert (tmp_path / "runs" / "synthetic" / "run.json").exists()
    odd = tmp_path / "odd.csv"
    odd.write_text(ratings.read_text().replace("userId,movieId", "who,what"))
    err = call.refused("run", "--dataset", "odd.csv", *few)
    assert err.endswith("name them, such as `--data-columns user=who,item=what`\n")
    call.done(
        *("run", "-q", "--dataset", "odd.csv", *few),
        *("--data-columns", "user=who,item=what"),
    )
    columns = read(tmp_path / "runs" / "odd.yaml").data["dataset"]["columns"]
    assert columns == {"user": "who", "item": "what", "rating": "rating"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("my.yaml", "--dataset", "ratings.csv"), "--dataset: is for a run without a config"),
        (("my.yaml", "--data-columns", "user=a"), "leave out my.yaml"),
        (("my.yaml", "--algorithms", "SVD,NMF"), "change it: --set 'algorithms=[SVD, NMF]'"),
        (("my.yaml", "--algos", "SVD"), "or with a config `--set algorithms=[SVD]`"),
        (("--algorithms", "SVD", "NMF"), "without spaces: --algorithms SVD,NMF"),
        (("--metrics", "rmse", "mae"), "without spaces: --metrics rmse,mae"),
        (("--dataset", "rating.csv"), "did you mean 'ratings.csv'?"),
        (("--dataset", "ml-100"), "did you mean 'ml-100k'?"),
        (("--algorithms", "KNN"), "did you mean one of KNNBasic, KNNWithMeans"),
        (("--algorithms", "SVD", "--metrics", "ndgc@3"), "did you mean 'ndcg'?"),
        (("--algorithms", ","), "algorithms"),
        (("ratings.csv",), "run algorithms on it with `harness run --dataset ratings.csv`"),
    ],
)
def test_what_cannot_be_run_is_said_and_nothing_is_written(call, ratings, tmp_path, words, message):
    code, _, err = call("run", *words)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (tmp_path / "runs").exists()


def test_rows_that_need_a_decision_are_decided_in_the_call(call, ratings, tmp_path):
    ratings.write_text(ratings.read_text() + ratings.read_text().splitlines()[-1] + "\n")
    few = ("--dataset", "ratings.csv", "--algorithms", "ItemMean", "--metrics", "rmse")
    assert "--set dataset.duplicates=first" in call.refused("run", *few)
    call.done("run", "-q", *few, "--set", "dataset.duplicates=first")
    assert read(tmp_path / "runs" / "ratings.yaml").data["dataset"]["duplicates"] == "first"


def test_run_alone_says_what_can_be_run(call, ratings, tmp_path):
    (tmp_path / "mine.yaml").touch()
    code, out, err = call("run")
    assert (code, out) == (2, "")
    for line in (
        "  harness run mine.yaml",
        "  harness run quickstart",
        "  harness run --dataset ratings.csv --algorithms SVD,KNNBasic --metrics ndcg@10,rmse",
        "Configs here: mine.yaml",
        "Files here that may be ratings: ratings.csv",
    ):
        assert line in err.splitlines()
    assert "more: harness list configs" in err


@pytest.mark.parametrize("split", [None, "holdout", "kfold", "global-time"])
def test_the_shell_and_python_split_alike(call, ratings, tmp_path, split):
    frame = pd.read_csv(ratings).assign(timestamp=range(240))
    frame.to_csv(ratings, index=False)
    word = () if split is None else ("--split", split)
    labels = ("--algorithms", "ItemMean", "--metrics", "ndcg@3,rmse")
    call.done("run", "-q", "--dataset", "ratings.csv", *labels, *word)
    config = {"dataset": str(ratings), "algorithms": ["ItemMean"], "metrics": ["ndcg@3", "rmse"]}
    run = harness.run(config | ({} if split is None else {"split": split}), results=None)
    shown = read_run(tmp_path / "runs" / "ratings").table
    assert shown[["ndcg@3", "rmse"]].equals(run.table[["ndcg@3", "rmse"]])
