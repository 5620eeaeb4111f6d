"""Learning curves: equal to runs on divisions by hand, and paired by user."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import harness
from harness import splits
from harness.console.commands import main
from harness.datasets import load
from harness.errors import ConfigError, ResultsError
from harness.extras.curves.learning import (
    _on_crossings,
    crossings,
    curve_frame,
    curves_of,
    decided_at,
    gains_of,
)
from harness.report import plots
from harness.results import read_run
from harness.results.table import comparison_of
from harness.splits.random import Holdout
from harness.splits.training_share import TrainingShare

SHARES = [0.2, 0.6, 1.0]
DATA = {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1000}}
CONFIG = {
    "name": "curve",
    "dataset": DATA,
    "split": {"kind": "holdout", "random_state": 1},
    "training_shares": SHARES,
    "algorithms": ["ItemMean", "KNNBasic", {"name": "SVD", "params": {"n_epochs": 3}}],
    "metrics": ["ndcg@5", "rmse"],
    "seed": 4,
}


def call(*arguments):
    """Call the command line; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    return ended.value.code


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return harness.run(CONFIG, results=tmp_path_factory.mktemp("runs"))


@pytest.mark.long
def test_each_share_is_the_run_of_a_division_by_hand(run, tmp_path):
    ratings = load(DATA)
    whole = {key: value for key, value in CONFIG.items() if key != "training_shares"}
    curve = curve_frame(run.info, "rmse").set_index(["algorithm", "share"])["value"]
    for share in SHARES:
        section = Holdout(random_state=1)
        if share < 1:
            section = TrainingShare(of=section, share=share)
        (split,) = splits.make(section, ratings, 4)
        for part in ("train", "test"):
            rows = getattr(split, part)
            codes = {"user": ratings.users, "item": ratings.items}
            ids = {"user": ratings.user_ids, "item": ratings.item_ids}
            columns = {name: np.asarray(ids[name])[codes[name][rows]] for name in codes}
            frame = pd.DataFrame(columns | {"rating": ratings.ratings[rows]})
            frame.to_csv(tmp_path / f"{part}.csv", index=False)
        files = {part: str(tmp_path / f"{part}.csv") for part in ("train", "test")}
        by_hand = harness.run(
            whole
            | {
                "dataset": {"path": str(tmp_path / "all.csv"), "scale": list(ratings.scale)},
                "split": {"kind": "predefined"} | files,
            }
            | _all(tmp_path, ratings),
            results=None,
        )
        for name, value in by_hand.table.set_index("algorithm")["rmse"].items():
            if name not in ("Random", "Popularity"):
                assert math.isclose(curve[name, share], value, rel_tol=1e-12), (name, share)


def _all(folder, ratings):
    """Write all ratings in their order; return the part of a config that reads them."""
    columns = {
        "user": np.asarray(ratings.user_ids)[ratings.users],
        "item": np.asarray(ratings.item_ids)[ratings.items],
        "rating": ratings.ratings,
    }
    pd.DataFrame(columns).to_csv(folder / "all.csv", index=False)
    return {}


@pytest.mark.long
def test_the_whole_share_is_the_run_without_shares(run):
    whole = {key: value for key, value in CONFIG.items() if key != "training_shares"}
    alone = harness.run(whole, results=None)
    assert {cell.key for cell in alone.info.cells} < {cell.key for cell in run.info.cells}
    assert {*alone.info.tables} < {*run.info.tables}


def test_gains_are_differences_of_the_same_users(run):
    frame = gains_of(run.info, run.users).set_index("algorithm")
    (curve,) = curves_of(run.info.splits, run.info.tables)
    assert [*curve.tables] == SHARES
    assert "Random" not in frame.index
    for name, row in frame.iterrows():
        of_table = {
            share: run.users[
                (run.users["table"] == curve.tables[share]) & (run.users["algorithm"] == name)
            ].set_index("user")["ndcg@5"]
            for share in (0.6, 1.0)
        }
        difference = (of_table[1.0] - of_table[0.6]).dropna()
        assert math.isclose(row["difference"], difference.mean(), abs_tol=1e-12)
        assert row["n_users"] == len(difference)
        expected = scipy.stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", n_resamples=20_000, random_state=1
        ).pvalue  # of another program
        assert abs(row["p"] - expected) < 0.03
        assert row["low"] < row["difference"] < row["high"]


def test_lines_cross_where_the_better_one_changes():
    names = {"dataset": "d", "split": "s", "candidates": "rated", "by": "rating"}
    values = {("A", 0.1): 3.0, ("A", 1.0): 1.0, ("B", 0.1): 2.0, ("B", 1.0): 2.0}
    for metric, first in (("ndcg@5", "A"), ("rmse", "B")):
        frame = pd.DataFrame(
            [
                names | {"algorithm": name, "metric": metric, "share": share, "value": value}
                for (name, share), value in values.items()
            ]
        )
        (row,) = crossings(frame).to_dict("records")
        assert (row["first"], row["few"], row["many"]) == (first, 0.1, 1.0)
        assert math.isclose(row["at"], 0.1 * 10**0.5)


@pytest.mark.long
def test_notes_say_whether_more_ratings_help(run):
    frame = gains_of(run.info, run.users)
    noted = {
        name: note.code
        for note in run.info.notes
        if note.code.startswith("more-ratings")
        for name in note.values["algorithms"]
    }
    codes = {"gain": "help", "loss": "hurt", "undecided": "undecided"}
    assert noted == {
        row.algorithm: f"more-ratings-{codes[row.answer]}" for row in frame.itertuples()
    }


@pytest.mark.long
def test_table_and_plot_show_the_curve(run, capsys, tmp_path):
    where = ["--results", str(run.folder.parent)]
    assert call("table", "curve", "--shares", *where) == 0
    out = capsys.readouterr().out
    assert "20%" in out
    assert "60% to 100%" in out
    assert call("table", "curve", "--shares", "--format", "csv", *where) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 5 * 3
    plot = plots.kinds()["learning"](read_run(run.folder), place=3)
    values = plot.data.set_index(["algorithm", "share"])["value"]
    expected = curve_frame(run.info).set_index(["algorithm", "share"])["value"]
    assert values.sort_index().equals(expected.sort_index())
    assert "20%, 60% and 100%" in plot.describe()
    with pytest.raises(ResultsError, match="part of the table of its largest fraction"):
        plots.kinds()["learning"](run, place=1)


@pytest.mark.long
def test_the_plot_is_drawn_for_the_table_that_has_it(run, capsys, tmp_path):
    asked = ["plot", "curve", "--kind", "learning", "-o", tmp_path / "drawn"]
    assert call(*asked, "--results", run.folder.parent) == 0
    assert len([*(tmp_path / "drawn").iterdir()]) == 1


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ([0.5], "fewer than two `shares`; write two or more"),
        ([0.5, 0.5], "0.5 is in `shares` twice; write each once"),
        ([0, 1.0], "greater than 0"),
        ([0.5, 2], "less than or equal to 1"),
        ({"shares": [0.5, 1], "by": "item"}, "found 'item'; use one of rating, time, user"),
        (0.5, "found 0.5; it must be a mapping"),
    ],
)
def test_what_are_no_shares_is_refused(shares, message):
    with pytest.raises(ConfigError, match=message):
        harness.run(CONFIG | {"training_shares": shares}, results=None)


def test_a_run_without_shares_says_how_to_have_a_curve(capsys, tmp_path):
    harness.run(
        {key: value for key, value in CONFIG.items() if key != "training_shares"},
        results=tmp_path,
    )
    assert call("table", "curve", "--shares", "--results", tmp_path) == 2
    assert "add `training_shares: [0.1, 0.2, 0.5, 1.0]`" in capsys.readouterr().err


def test_a_row_passes_another_only_where_the_tests_found_both_sides(run):
    [curve] = curves_of(run.info.splits, run.info.tables)
    crossing = {"metric": "ndcg@5", "first": "ItemMean", "second": "SVD", "few": 0.2, "many": 1.0}
    info = run.info.model_copy(deep=True)
    for few, many in ((1.0, -1.0), (1.0, 1.0), (0.0, -1.0)):
        for share, gap in ((0.2, few), (1.0, many)):
            comparison = comparison_of(info, curve.tables[share], "ndcg@5")
            pair = comparison.pairs_of("ItemMean")["SVD"]
            pair.difference = gap if pair.first == "ItemMean" else -gap
            pair.significant, pair.opposite = bool(gap), False
        assert decided_at(info, curve, crossing) == [few > 0, many < 0]
        frame = pd.DataFrame([crossing | {"at": 0.5}])
        [said] = _on_crossings(info, curve, frame)
        assert said.startswith("SVD passes ItemMean") == (few > 0 > many)
        if not few > 0 > many:
            assert said.startswith("The values of ItemMean and SVD cross between 20% and 100%")
            assert said.endswith(f"undecided at {'20%' if few <= 0 else '100%'}.")
    info.statistics.clear()
    assert decided_at(info, curve, crossing) == [None, None]
    assert next(_on_crossings(info, curve, frame)).endswith("not tested.")
