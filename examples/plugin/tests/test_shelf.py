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
