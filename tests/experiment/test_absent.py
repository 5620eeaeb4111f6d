"""What cannot be loaded, reached or divided leaves the rest of a run as it would be without it."""

from pathlib import Path

import pytest

import harness
from harness.datasets.download import DownloadError
from harness.errors import ConfigError, HarnessError
from harness.report import build_page
from harness.report.papers import latex
from harness.results import read_run

GOOD = {"synthetic": {"n_users": 40, "n_items": 30, "n_ratings": 600}}
OTHER = {"synthetic": {"n_users": 30, "n_items": 30, "n_ratings": 400}}
CONFIG = {
    "name": "some",
    "dataset": [GOOD, OTHER],
    "split": ["holdout"],
    "candidates": ["rated", "catalogue"],
    "algorithms": ["ItemMean", "Random"],
    "metrics": ["ndcg@5", "rmse"],
    "baselines": False,
}
MISSING = {"path": "nowhere.csv", "scale": [1, 5]}
EMPTY = {"path": "empty.csv", "scale": [1, 5]}
BY_TIME = {"kind": "global-time"}  # of ratings without timestamps


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    Path("empty.csv").write_text("user,item,rating\n")
    Path("undated.csv").write_text(
        "user,item,rating\n"
        + "".join(f"{u},{i},{(u * i) % 5 + 1}\n" for u in range(20) for i in range(9))
    )


@pytest.mark.long
@pytest.mark.parametrize("bad", [MISSING, EMPTY, "ml-100k"], ids=["missing", "empty", "offline"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_data_set_that_cannot_be_had_is_failed_rows(bad, place, monkeypatch):
    if bad == "ml-100k":
        real = harness.datasets.load

        def load(section, *given, **more):
            if getattr(section, "name", None) == "ml-100k" or "100k" in section.describe():
                raise DownloadError("ml-100k: cannot be reached; check the network")
            return real(section, *given, **more)

        monkeypatch.setattr("harness.experiment.plan.datasets.load", load)
    data = [GOOD, OTHER]
    data.insert(place, bad)
    done = harness.run(CONFIG | {"dataset": data}, results="runs")
    failed = done.table[done.table["n_failed"] > 0]
    assert len(failed) == 4
    assert failed["dataset"].nunique() == 1
    assert all(failed["error"].str.len() > 10)
    assert list(done.table["dataset"].unique()).index(failed["dataset"].iloc[0]) == place
    good = done.table[done.table["n_failed"] == 0]
    expected = harness.run(CONFIG, results=None).table
    assert good["ndcg@5"].tolist() == expected["ndcg@5"].tolist()
    assert good["row"].tolist() == expected["row"].tolist()
    read = read_run(done.folder)
    assert len(read.failed) == 4
    assert failed["error"].iloc[0].partition(";")[0] in build_page([read])
    assert latex(read)
    for name in good["dataset"].unique():
        best = harness.best(read, dataset=name, candidates="rated")
        assert best.config["dataset"] == read.info.section("dataset", name).stated()


@pytest.mark.long
def test_a_split_that_one_data_set_does_not_allow_leaves_the_others():
    undated = {"path": "undated.csv", "scale": [1, 5]}
    changes = {"dataset": [undated, GOOD], "split": [BY_TIME, "holdout"], "seed": [0, 1]}
    done = harness.run(CONFIG | changes, results="runs")
    failed = done.table[done.table["n_failed"] > 0]
    assert {*failed["dataset"]} == {"undated"}
    assert failed["split"].nunique() == 1
    assert {*failed["n_failed"]} == {2}
    assert (done.table["n_failed"] == 0).sum() == 12
    assert len(done.info.tables) == 8
    assert len(done.info.failed) == 8


def test_where_nothing_is_left_the_error_is_that_of_the_first():
    with pytest.raises(ConfigError, match=r"nowhere\.csv"):
        harness.run(CONFIG | {"dataset": [MISSING, EMPTY]}, results=None)
    with pytest.raises(HarnessError, match="empty"):
        harness.run(CONFIG | {"dataset": EMPTY}, results=None)


def test_the_command_exits_with_1_and_says_what_is_missing(cli):
    Path("some.yaml").write_text(
        "dataset:\n- {path: nowhere.csv, scale: [1, 5]}\n- bundled\n"
        "algorithms: [ItemMean]\nmetrics: [rmse]\nbaselines: false\n"
    )
    code, out, err = cli("run", "-q", "some.yaml")
    assert code == 1
    assert "ml-latest-small" in out
    text = " ".join(out.split())
    assert "missing: 1 cell of nowhere.csv, holdout 20%, rated (ItemMean): " in text
    assert "written to runs/some" in out
    code, out, err = cli("check", "some.yaml")
    assert code == 2
    assert "nowhere.csv" in err
