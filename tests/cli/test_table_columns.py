"""Columns of a results table: those that are named, or those that a terminal has room for."""

import re
import sys

import pytest

import harness
from harness.console import tables
from harness.errors import HarnessError
from harness.results.table import display_table
from tests.cli.test_table_on_a_terminal import Terminal

SMALL = {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1200}}
SEVERAL = [{"synthetic": SMALL["synthetic"] | {"seed": seed}} for seed in (1, 2)]
RUNS = {
    "usual": {"metrics": ["ndcg@5", "ndcg@10", "rmse", "mae"]},
    "folds": {"metrics": ["ndcg@10", "rmse", "mae"], "split": {"kind": "kfold", "n_splits": 2}},
    "data": {"metrics": ["ndcg@5", "ndcg@10", "rmse"], "dataset": SEVERAL},
    "many": {"metrics": ["ndcg@5,10,20", "precision@5,10", "recall@5,10", "rmse", "mae"]},
}


@pytest.fixture(scope="module")
def runs():
    start = {"dataset": SMALL, "algorithms": ["BaselineOnly", "ItemMean"]}
    start["statistics"] = {"resamples": 100}
    return {
        name: harness.run(start | keys | {"name": name}, results=None)
        for name, keys in RUNS.items()
    }


@pytest.fixture
def shown(monkeypatch):
    """Return a function that shows a run on a terminal of some width and returns the lines."""
    monkeypatch.setenv("NO_COLOR", "1")

    def show(run, width, columns=None):
        stream = Terminal(width)
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(width))
            patch.setattr(sys, "stdout", stream)
            tables.show_run(run, columns)
        return stream.lines

    return show


def heads(lines):
    return [line.split() for line in lines if line.startswith("algorithm ")]


@pytest.mark.parametrize("name", ["usual", "folds", "data"])
def test_the_usual_metrics_fit_eighty_columns_in_one_part(runs, shown, name):
    lines = shown(runs[name], 80)
    assert max(map(len, lines)) <= 80
    tables = heads(lines)
    assert len(tables) == len({row.table for row in runs[name].info.rows})
    for head in tables:
        assert set(runs[name].info.metrics) <= set(head)
        assert "metric" not in head
    said = [line for line in lines if line.startswith("left out: ")]
    assert len(said) == (name != "data")
    assert all("peak MB" in line for line in said)


def test_everything_is_shown_where_there_is_room_or_no_terminal(runs, shown, capsys, monkeypatch):
    for name, run in runs.items():
        lines = shown(run, 250)
        assert not [line for line in lines if line.startswith("left out")], name
        assert {"peak", "users", "fit"} <= set(heads(lines)[0])
    monkeypatch.delenv("COLUMNS", raising=False)
    tables.show_run(runs["many"])
    out = capsys.readouterr().out
    assert "left out" not in out
    assert len(heads(out.splitlines())) == 1


def test_metrics_are_never_left_out(runs, shown):
    lines = shown(runs["many"], 80)
    assert len(heads(lines)) > 1
    titles = " ".join(" ".join(head) for head in heads(lines))
    assert all(f" {label} " in f" {titles} " for label in runs["many"].info.metrics)
    assert "peak MB" in titles


def test_the_seconds_are_summed_before_they_are_rounded(runs):
    run = runs["usual"]
    table = display_table(run.info, sums_seconds=True)
    place = list(table.columns).index("seconds")
    expected = run.table[["fit_seconds", "score_seconds", "metric_seconds"]].sum(axis=1)
    texts = [row[place] for row in table.rows]
    assert texts[: len(expected)] == [f"{seconds:.2f}" for seconds in expected]
    assert set(texts[len(expected) :]) == {""}  # bounds


def test_a_number_of_users_that_is_the_same_is_said_and_another_stays(runs):
    info = runs["usual"].info
    narrow = tables.with_room(info, display_table(info), lambda table: "users" not in table.columns)
    count = int(runs["usual"].table["n_users"].iloc[0])
    assert f"users ({count} in every row)" in narrow[1]
    info = info.model_copy(deep=True)
    info.rows[0].n_users = count - 1
    table, said = tables.with_room(
        info, display_table(info), lambda table: "peak MB" not in table.columns
    )
    assert "users" in table.columns
    assert "users" not in said


def test_columns_that_are_named_are_shown_in_their_order(runs, shown):
    run = runs["usual"]
    assert heads(shown(run, 80, "rmse, NDCG@10,seconds")) == [
        ["algorithm", "rmse", "ndcg@10", "seconds"]
    ]
    assert heads(shown(run, 80, "metrics")) == [["algorithm", *run.info.metrics]]
    assert len(heads(shown(run, 80, "all"))) == 2
    for row in shown(run, 200, "mae"):
        if row.startswith("BaselineOnly") and len(row.split()) == 2:  # no line of the verdict
            assert float(row.split()[1]) == pytest.approx(run.table["mae"].iloc[0], abs=1e-4)
    assert heads(shown(runs["data"], 80, "rmse")) == [["algorithm", "rmse"]] * 2


def test_the_best_values_stand_out_in_chosen_columns(runs):
    run = runs["usual"]
    table = tables.chosen(run.info, "mae,ndcg@5")
    best = {(table.columns[j], table.rows[i][0]) for i, j in table.best}
    full = display_table(run.info)
    expected = {(full.columns[j], full.rows[i][0]) for i, j in full.best}
    assert best == {pair for pair in expected if pair[0] in ("mae", "ndcg@5")}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("ndgc@10", "no column 'ndgc@10'; did you mean 'ndcg@10'?"),
        ("ndcg@7", "no column 'ndcg@7'; did you mean 'ndcg@5'?"),
        ("seconds,fit s", "seconds has fit s in it"),
    ],
)
def test_a_column_that_is_not_there_is_said(runs, columns, message):
    with pytest.raises(HarnessError, match=re.escape(message)):
        tables.chosen(runs["usual"].info, columns)


@pytest.mark.long
def test_every_command_that_prints_a_table_takes_columns(call, made, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    page = str(tmp_path / "page.html")
    for words in (("table", "one"), ("compare", "one", "two", "-o", page)):
        out = call.done(*words, "--columns", "rmse")
        assert heads(out.splitlines()) == [["algorithm", "rmse"]]


def test_columns_of_another_form_are_refused(call, made, monkeypatch):
    monkeypatch.chdir(made)
    for words in (
        ("table", "one", "--groups"),
        ("compare", "one", "two", "--across"),
    ):
        assert "--columns: is" in call.refused(*words, "--columns", "rmse")


CONFIG = """
name: small
dataset: {synthetic: {n_users: 60, n_items: 50, n_ratings: 1200}}
algorithms: [BaselineOnly]
metrics: [ndcg@10, rmse]
"""


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            "user=who,item=what",
            "for columns of the data file, use --data-columns user=who,item=what",
        ),
        ("usrs", "no column 'usrs'; did you mean 'users'?"),
        ("mae", "no column 'mae'"),
        ("trials", "no column 'trials'"),
        ("dataset", "no column 'dataset'"),
        ("against best", "no column 'against best'"),
        ("seconds,fit s", "seconds has fit s in it; leave one of them out"),
    ],
)
def test_names_of_columns_are_read_before_anything_is_fitted(call, tmp_path, columns, said):
    (tmp_path / "small.yaml").write_text(CONFIG)
    errors = call.refused("run", "small.yaml", "--columns", columns)
    assert f"--columns: {said}" in errors or said in errors
    assert not (tmp_path / "runs").exists()
    assert not [*(tmp_path / "cache").glob("**/*.cell")]


def test_columns_of_data_are_told_apart_before_a_config_is_written(call, tmp_path):
    (tmp_path / "ratings.csv").write_text("user,item,rating\na,x,1\nb,x,2\n")
    call.refused("run", "--dataset", "ratings.csv", "--columns", "user=user", "--metrics", "rmse")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("columns", ["all", "metrics", "NDCG@10,seconds", "users,error"])
def test_columns_that_a_table_can_have_are_shown(call, tmp_path, columns):
    (tmp_path / "small.yaml").write_text(CONFIG)
    assert "BaselineOnly" in call.done("run", "small.yaml", "--columns", columns, "-q")
