"""``harness table -o FILE``: the form is that of the ending."""

from pathlib import Path

import pandas as pd
import pytest

import harness

CONFIG = {
    "name": "small",
    "dataset": {"synthetic": {"n_users": 60, "n_items": 50, "n_ratings": 1200}},
    "algorithms": ["BaselineOnly", "ItemMean"],
    "metrics": ["ndcg@10", "rmse"],
    "split": {"kind": "kfold", "n_splits": 2},
    "statistics": {"resamples": 100},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    harness.run(CONFIG, results=folder)
    return folder


FORMS = {"csv": "csv", "md": "markdown", "tex": "latex"}


@pytest.mark.parametrize("ending", FORMS)
@pytest.mark.parametrize("part", [[], ["--folds"]])
def test_a_file_is_what_is_printed(call, runs, tmp_path, ending, part):
    place = ["small", "--results", runs, *part]
    printed = call.done("table", *place, "--format", FORMS[ending])
    said = call.done("table", *place, "-o", path := tmp_path / f"table.{ending}")
    assert said == f"written to {path}\n"
    assert path.read_text(encoding="utf-8").rstrip("\n") == printed.rstrip("\n")


@pytest.mark.parametrize("part", [[], ["--folds"]])
def test_html_and_excel_have_the_rows(call, runs, tmp_path, part):
    call.done("table", "small", "--results", runs, *part, "-o", page := tmp_path / "table.html")
    assert "<td>ItemMean</td>" in page.read_text(encoding="utf-8")
    pytest.importorskip("openpyxl")
    call.done("table", "small", "--results", runs, *part, "-o", book := tmp_path / "table.xlsx")
    rows = pd.read_excel(book, sheet_name="table", engine="openpyxl")
    assert "ItemMean" in rows["algorithm"].tolist()


def test_what_the_ending_does_not_say_is_refused_before_the_run_is_read(call, tmp_path):
    assert "use one of .csv, .md, .html, .tex, .xlsx" in call.refused(
        "table", "none", "-o", "a.zzz"
    )
    said = call.refused("table", "none", "-o", "a.csv", "--format", "latex")
    assert said == "--format latex: a.csv is csv; leave one of them out\n"
    (tmp_path / "a.csv").write_text("mine")
    assert "replace it with --force" in call.refused("table", "none", "-o", "a.csv")


def test_a_file_has_the_columns_that_are_named(call, runs):
    place = ["small", "--results", runs]
    call.done("table", *place, "-o", "a.csv", "--columns", "ndcg@10")
    printed = call.done("table", *place, "--format", "csv", "--columns", "ndcg@10")
    assert Path("a.csv").read_text(encoding="utf-8") == printed
    said = call.refused("table", *place, "-o", "a.xlsx", "--columns", "ndcg@10")
    assert said == "--columns: not for this form; write .md, .csv or .tex, or leave it out\n"
