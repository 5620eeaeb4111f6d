"""The plug-ins against their definitions, worked by hand, and together in a run."""

from pathlib import Path

import numpy as np
import shelf
from click.testing import CliRunner

import harness
from harness.algorithms.registry import create
from harness.metrics import Exposure, Rankings

FOLDER = Path(__file__).parents[1]


def test_the_means_are_damped():
    ratings = harness.Ratings.from_columns([1, 2, 2], [1, 1, 2], [5, 4, 3], scale=(1, 5))
    trainset = ratings.to_surprise().build_full_trainset()
    model = harness.fit(create("DampedMean", {"damping": 1.0}, seed=0), trainset)
    # The mean of all ratings is 4; item 1 has 5 and 4, item 2 has 3.
    assert np.isclose(model.predict("1", "1").est, (5 + 4 + 4) / 3)
    assert np.isclose(model.predict("1", "2").est, (3 + 4) / 2)


def test_the_share_of_small_items():
    # One user is shown items 0 and 1, of which item 1 has 1 of at most 2 ratings.
    lists = Rankings([0, 0], [], [], [], [], [2], top_items=[[0, 1]])
    exposure = Exposure([0, 1, 1], [0, 0, 1], [0])
    assert shelf.small_share(lists, 2, exposure=exposure, threshold=0.5).mean == 0.5


def test_the_day_of_the_week():
    times = [0, 3 * 86_400]  # 1 and 4 January 1970, a Thursday and a Sunday
    ratings = harness.Ratings.from_columns([1, 1], [1, 2], [3, 4], timestamps=times, scale=(1, 5))
    ((train, test),) = shelf.Weekday(day=6).divide(ratings, None)
    assert (train.tolist(), test.tolist()) == ([True, False], [False, True])


def test_slips_are_read(tmp_path):
    (tmp_path / "a.slips").write_bytes(shelf.Slips.example)
    assert shelf.Slips().read(tmp_path / "a.slips", None)["rating"] == ("4", "5")


def test_a_run_uses_them_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = harness.run(FOLDER / "config.yaml")
    assert run.table["small_share@10"].notna().all()
    assert set(run.analyses) == {"list-lengths"}
    kinds = {plugin.kind for plugin in run.info.plugins if plugin.package == "harness-shelf"}
    assert len(kinds) == 7  # all but the command
    assert len(Path("rows.log").read_text().splitlines()) == len(run.table)
    assert f"{len(run.table)} rows" in CliRunner().invoke(shelf.row_count, ["runs/config"]).output


def test_recent_items_are_those_rated_last_that_the_user_has_not_rated():
    ratings = harness.Ratings.from_columns(
        [1, 1, 2, 2, 3], [1, 2, 3, 4, 1], [3] * 5, timestamps=[1, 2, 3, 4, 5], scale=(1, 5)
    )
    split = harness.splits.Split(ratings, np.arange(4), np.array([4]), "last", 0, 1, "")
    chosen = shelf.Recent(n=2).select(split, seed=0)
    assert [ratings.item_ids[item] for item in chosen.extra_items] == ["3", "4"]


def test_an_address_is_opened(tmp_path):
    assert harness.load("shelf://desk.csv").to_frame()["rating"].tolist() == [4.0, 5.0]


def test_other_parts_are_used_in_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = {
        "dataset": "loans",
        "candidates": "recent",
        "algorithms": [{"library": "shop", "model": "desk"}, "ItemMean"],
        "metrics": ["ndcg@5"],
        "baselines": False,
        "execution": {"executor": "one-by-one"},
    }
    run = harness.run(config, results="runs")
    assert run.table["ndcg@5"].notna().all()
    assert set(run.table["algorithm"]) == {"shop/desk", "ItemMean"}
    used = {plugin.kind for plugin in run.info.plugins if plugin.package == "harness-shelf"}
    assert used == {"datasets", "candidates", "sources", "executors"}
    plot = shelf.Bars(run)
    assert plot.describe() == "The values of 2 algorithms."
    assert plot.write("svg", tmp_path).exists()
