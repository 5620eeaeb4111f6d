"""One rating from the YAML to `table.csv`, each station computed by hand.

The stations are those of the list in CONTRIBUTING.md, "The way of one rating".
"""

import csv
import math
import re
import sys
from pathlib import Path

import pytest

import harness
from harness.config.load import load
from harness.experiment.cell import compute
from harness.experiment.evaluate import scored
from harness.experiment.plan import Plan

TOP = Path(__file__).parents[1]
PACKAGE = Path(harness.__file__).parent
# Of user a, the test set has x, rated 3, and y, rated 5.
TRAINING = "a,z,4\nb,x,2\nb,y,4\nb,z,1\nc,x,4\nc,y,1\n"
TEST = "a,x,3\na,y,5\n"
CONFIG = """
dataset: {path: all.csv, scale: [1, 5]}
split: {kind: holdout, test_size: 2, shuffle: false}
algorithms: [ItemMean]
baselines: false
metrics: [ndcg@2, rmse]
"""


@pytest.fixture
def config(tmp_path):
    """Return a config beside its data."""
    (tmp_path / "all.csv").write_text("user,item,rating\n" + TRAINING + TEST)
    (tmp_path / "walk.yaml").write_text(CONFIG)
    return tmp_path / "walk.yaml"


def test_a_rating_goes_from_the_config_to_the_table(config, tmp_path):
    # config/load.py: text becomes an experiment.
    experiment, _ = load(config)
    assert (experiment.dataset[0].path, experiment.dataset[0].scale) == ("all.csv", (1, 5))

    # datasets/loading.py: a line of the file becomes a row of columns.
    plan = Plan.from_config(config)
    ratings, _ = plan.ratings(0)
    row = 6  # the seventh line, a,x,3
    assert ratings.user_ids[ratings.users[row]] == "a"
    assert ratings.item_ids[ratings.items[row]] == "x"
    assert ratings.ratings[row] == 3.0

    # splits/random.py: the row is in the test set, as the last two are.
    (split,) = plan.splits(0, 0, experiment.seed[0])
    assert split.test.tolist() == [6, 7]
    assert split.train.tolist() == [0, 1, 2, 3, 4, 5]

    # experiment/plan.py: one cell, for one algorithm on one fold.
    (cell,) = plan.cells
    assert (cell.title, cell.fold, len(cell.key)) == ("ItemMean", 0, 64)

    # candidates.py: a ranks its own two test items.
    selected = plan.selected(cell)
    assert selected.users.tolist() == [ratings.users[row]]
    assert [ratings.item_ids[item] for item in selected.items] == ["x", "y"]

    # experiment/cell.py: the estimate of x is the mean of 2 and 4, that of y of 4 and 1.
    record = compute(cell, plan, lambda stage, done, total: None)
    assert record.pairs.estimates.tolist() == [3.0, 2.5]
    assert record.pairs.ratings.tolist() == [3.0, 5.0]

    # rankings/grouped.py: so x is first and y second.
    assert record.rankings.rank.tolist() == [1, 2]
    assert record.rankings.relevance.tolist() == [3.0, 5.0]

    # metrics/dcg.py and experiment/evaluate.py: gains 7 and 31, in the best order 31 and 7.
    scores, result = scored(plan, split, plan.name(cell), record, prefers=False)
    ndcg = (7 + 31 / math.log2(3)) / (31 + 7 / math.log2(3))
    rmse = math.sqrt((0.0**2 + 2.5**2) / 2)
    assert scores["ndcg@2"].per_user.tolist() == pytest.approx([ndcg], rel=1e-12)
    assert result.scores["rmse"].mean == pytest.approx(rmse, rel=1e-12)

    # experiment/run.py, results/scores.py and results/display.py: the mean over one user.
    run = harness.run(config, results=tmp_path / "runs")
    assert run.table["ndcg@2"].tolist() == pytest.approx([ndcg], rel=1e-12)
    with (run.folder / "table.csv").open(encoding="utf-8", newline="") as file:
        (written,) = csv.DictReader(file)
    assert written["algorithm"] == "ItemMean"
    assert (written["ndcg@2"], written["rmse"]) == (f"{ndcg:.8f}", f"{rmse:.8f}")
    assert written["n_users"] == "1"


def stations():
    """Return file and functions of each station of the list in CONTRIBUTING.md."""
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (way,) = re.findall(r"<!-- the way of a rating -->\n(.*?)\n\n", text, re.DOTALL)
    lines = re.findall(r"^\d+\. `([\w/.]+)`, (`.*?`):", way, re.MULTILINE)
    return [(file, re.findall(r"`(\w+)`", functions)) for file, functions in lines]


def test_a_run_enters_the_stations_in_their_order(config, tmp_path):
    entered = []

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            file = Path(frame.f_code.co_filename).relative_to(PACKAGE).as_posix()
            entered.append((file, frame.f_code.co_name))

    sys.setprofile(note)
    try:
        harness.run(config, results=tmp_path / "runs")
    finally:
        sys.setprofile(None)
    way = [(file, function) for file, functions in stations() for function in functions]
    assert len(way) >= 16
    first = [entered.index(station) for station in way]
    assert first == sorted(first)
