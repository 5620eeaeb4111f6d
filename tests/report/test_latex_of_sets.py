"""Several data sets in one table of LaTeX: columns by data set, and what is refused."""

import re

import pandas as pd
import pytest

import harness
from harness.errors import ResultsError
from harness.report.papers import latex_of_sets
from harness.results.table import latex_table

CONFIG = {
    "split": {"kind": "holdout", "test_size": 0.25},
    "algorithms": ["ItemMean", "Random"],
    "baselines": False,
    "metrics": ["ndcg@3", "rmse"],
    "statistics": None,
}


def data(seed):
    return {"synthetic": {"n_users": 20, "n_items": 15, "n_ratings": 140, "seed": seed}}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run of two data sets, and one of a third, with an algorithm that the first lacks."""
    folder = tmp_path_factory.mktemp("runs")
    both = CONFIG | {"name": "both", "dataset": [data(0), data(1)]}
    third = CONFIG | {"name": "third", "dataset": data(2), "algorithms": ["Random", "Popularity"]}
    return [harness.run(config, results=folder) for config in (both, third)]


def cells(text):
    """The cells of each line of a table."""
    lines = [line.removesuffix(r" \\") for line in text.split("\n") if line.endswith(r"\\")]
    return [[cell.strip() for cell in line.split("&")] for line in lines]


def test_each_data_set_has_its_columns(runs):
    head, titles, *rows = cells(latex_of_sets(runs[:1]))
    assert [cell.startswith(r"\multicolumn{2}{c}{") for cell in head[1:]] == [True, True]
    assert titles == ["algorithm", "ndcg@3", "rmse", "ndcg@3", "rmse"]
    table = runs[0].table
    for name, *texts in rows:
        values = table[table["algorithm"] == name][["ndcg@3", "rmse"]].to_numpy().ravel()
        shown = [float(re.sub(r"\\textbf\{(.*)\}", r"\1", text)) for text in texts]
        assert shown == pytest.approx(values, abs=5e-5)
    for column in range(1, 5):
        texts = [row[column] for row in rows]
        assert sum("textbf" in text for text in texts) == 1


def test_metrics_columns_and_rows_can_be_chosen(runs, call):
    folder = runs[0].folder.parent
    shown = ["--format", "latex", "--together", "--results", str(folder), "--metrics", "rmse"]
    _, titles, *rows = cells(call.done("table", "both", "third", *shown))
    assert titles == ["algorithm", "rmse", "rmse", "rmse"]
    assert [row[0] for row in rows] == ["ItemMean", "Random", "Popularity"]
    more = ["--columns", "fit s", "--algorithms", "random"]
    _, titles, *rows = cells(call.done("table", "both", "third", *shown, *more))
    assert titles == ["algorithm", *["rmse", "fit s"] * 3]
    assert [row[0] for row in rows] == ["Random"]
    for option, word, means in (
        ("--metrics", "ndcg@5", "no metric 'ndcg@5'; did you mean 'ndcg@3'?"),
        ("--algorithms", "Rendom", "no row 'Rendom'; did you mean 'Random'?"),
        ("--columns", "fits", "no column 'fits'"),
    ):
        err = call.refused("table", "both", *shown[:-2], option, word)
        assert f"{option}: {means}" in err


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "latex"])
def test_columns_and_rows_are_chosen_in_every_format(runs, call, form):
    chosen = ["--columns", "rmse,seconds", "--algorithms", "Random", "--format", form]
    out = call.done("table", "third", "--results", str(runs[1].folder.parent), *chosen)
    table = runs[1].table.set_index("algorithm")
    assert f"{table.loc['Random', 'rmse']:.8f}"[:5] in out
    assert "seconds" in out
    assert f"{table.loc['Popularity', 'rmse']:.8f}"[:5] not in out
    assert not any(title in out for title in ("fit s", "fit_seconds", "peak", "n_users"))


def test_rows_that_a_data_set_lacks_have_no_value(runs):
    rows = {row[0]: row[1:] for row in cells(latex_of_sets(runs))[2:]}
    assert list(rows) == ["ItemMean", "Random", "Popularity"]
    assert rows["ItemMean"][4:] == ["--", "--"]
    assert rows["Popularity"][:4] == ["--"] * 4
    assert "--" not in rows["Random"]


def test_one_table_and_repeated_ones_are_refused(runs):
    with pytest.raises(ResultsError, match="there is one results table; leave the option out"):
        latex_of_sets(runs[1:])
    with pytest.raises(ResultsError, match=r"two results tables are called .*; give each run once"):
        latex_of_sets([runs[1], runs[1]])


def test_the_command_prints_it(runs, cli):
    folders = [run.folder for run in runs]
    out = cli.done("table", *folders, "--format", "latex", "--together")
    assert out.strip() == latex_of_sets(runs).strip()
    assert "--together: needs --format latex" in cli.refused("table", *folders, "--together")


def test_runs_of_several_data_sets_are_told_how_they_fit_in_one_table(runs, cli):
    folders = [run.folder for run in runs]
    for form in ("latex", "text"):
        err = cli.refused("table", *folders, "--format", form)
        assert "other data" in err
        assert "`harness compare RUN... --across` (harness.across)" in err
        assert "`harness table RUN... --format latex --together` for one table" in err


def test_a_wide_table_takes_less_room(runs):
    wide = latex_of_sets(runs, columns=["ndcg@3", "rmse", "fit s"])
    assert r"\cmidrule(lr){2-4} \cmidrule(lr){5-7} \cmidrule(lr){8-10}" in wide
    assert r"\small" in wide
    assert r"\small" not in latex_of_sets(runs[:1], columns=["rmse"])


@pytest.mark.parametrize(
    ("n_columns", "title", "environment", "size"),
    [
        (3, "ndcg@10", "table", ""),
        (3, "ap(threshold=4)@10", "table", "footnotesize"),
        (5, "ap(threshold=4)@10", "table*", "footnotesize"),
        (4, "mean of all users", "table", "small"),
    ],
)
def test_headings_and_letters_follow_the_width(n_columns, title, environment, size):
    frame = pd.DataFrame([["KNNBaseline"] + ["0.8067$^{\\mathrm{ab}}$"] * n_columns] * 2)
    frame.columns = ["algorithm", *[title] * n_columns]
    text = latex_table(frame, "Caption.", "wide")
    assert text.startswith(rf"\begin{{{environment}}}")
    assert rf"\end{{{environment}}}" in text
    assert ("footnotesize" in text, "small" in text) == (size == "footnotesize", size == "small")
    assert (r"ap@10\\(threshold=4)" in text) == ("(" in title)
    assert (r"mean of\\all users" in text) == ("mean" in title)


def test_a_table_that_fits_nowhere_says_so():
    frame = pd.DataFrame([["0.5"] * 20], columns=[f"metric{n}" for n in range(20)])
    assert re.search(r"% about \d+ pt wide: leave out columns", latex_table(frame, "Many.", "many"))
