"""What a run gives in a session: words, notes, forms of its table, and two of its rows."""

import re
from itertools import permutations

import pandas as pd
import pytest

import harness
from harness.errors import ResultsError
from harness.results import workbook
from harness.results.table import to_csv
from harness.results.verdict import verdict_lines
from harness.results.views import to_markdown

DATA = {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1000, "seed": 1}}
ROWS = ["BaselineOnly", "ItemMean", "Random"]


@pytest.fixture(scope="module")
def run():
    config = {"dataset": DATA, "algorithms": ROWS, "metrics": ["ndcg@10", "unjudged@5", "rmse"]}
    return harness.run(config | {"baselines": False, "candidates": "catalogue"}, results=None)


@pytest.fixture(scope="module")
def two_tables():
    config = {"dataset": DATA, "algorithms": ROWS, "metrics": ["ndcg@10"]}
    return harness.run(config | {"candidates": ["rated", "catalogue"]}, results=None)


def test_verdict_and_notes_are_those_of_the_record(run):
    assert run.verdict.splitlines() == verdict_lines(run.info)
    assert set(map(str, run.notes)) == set(map(str, run.info.notes))
    assert [note.weight for note in run.notes] == sorted(
        (note.weight for note in run.notes), reverse=True
    )


def test_forms_are_the_texts_of_the_commands_or_files(run, tmp_path):
    forms = {
        "to_csv": to_csv(run.info),
        "to_markdown": to_markdown(run.info),
        "to_latex": run.latex(),
        "to_html": run._repr_html_(),
    }
    for name, text in forms.items():
        write = getattr(run, name)
        assert write() == text
        assert write(tmp_path / name) is None
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_one_table_of_latex(two_tables):
    assert two_tables.to_latex(table=2) == two_tables.latex(table=2)
    assert two_tables.to_latex().count(r"\begin{table}") == 2


def test_a_workbook_has_the_numbers(run, tmp_path):
    pytest.importorskip("openpyxl")
    run.to_excel(path := tmp_path / "table.xlsx")
    sheets = pd.read_excel(path, sheet_name=None, engine="openpyxl")
    assert [*sheets] == ["table", "pairs", "notes"]
    assert sheets["table"]["ndcg@10"].tolist() == pytest.approx(run.table["ndcg@10"].tolist())
    assert sheets["table"]["algorithm"].tolist() == ROWS
    assert sheets["pairs"]["p_adjusted"].tolist() == pytest.approx(run.pairs["p_adjusted"].tolist())
    assert sheets["notes"]["notes"].tolist()[: len(verdict_lines(run.info))] == verdict_lines(
        run.info
    )


def test_a_workbook_holds_no_formula_and_no_control_character(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"=name": ["=1+1", "a\x07b", "-5"], "n": [1.5, None, 2]})
    workbook.write_workbook(tmp_path / "a.xlsx", {"table": frame})
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx")["table"]
    assert [*sheet.values] == [("'=name", "n"), ("'=1+1", 1.5), ("ab", None), ("-5", 2)]
    assert not [cell for row in sheet for cell in row if cell.data_type == "f"]


def test_a_workbook_needs_a_library(run, tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "_is_installed", lambda name: False)
    with pytest.raises(ResultsError, match=re.escape("pip install 'surprise-harness[excel]'")):
        run.to_excel(tmp_path / "table.xlsx")
    assert not [*tmp_path.iterdir()]


def test_two_rows_are_their_pair(run):
    for metric in ("ndcg@10", "unjudged@5"):
        higher = metric == "ndcg@10"
        pairs = run.pairs[run.pairs["metric"] == metric].set_index(["first", "second"])
        for first, second in permutations(ROWS, 2):
            found = run.compare(first, second, metric=metric)
            is_kept = (first, second) in pairs.index
            pair = pairs.loc[(first, second) if is_kept else (second, first)]
            sign = 1 if is_kept else -1
            assert found.difference == sign * pair["difference"]
            ends = sorted([sign * pair["low"], sign * pair["high"]])
            assert [found.low, found.high] == ends
            assert (found.p, found.p_adjusted) == (pair["p"], pair["p_adjusted"])
            assert (found.answer, found.n_users) == (pair["answer"], pair["n_users"])
            favours = None if pd.isna(pair["favours"]) else pair["favours"]
            assert found.better == favours
            if favours is None:
                assert "significantly better" not in found.verdict
                assert "significantly worse" not in found.verdict
            else:
                side = "better" if favours == first else "worse"
                assert found.verdict.startswith(f"{first} is significantly {side} than {second}; ")
                assert (found.difference > 0) == ((side == "better") == higher)
            assert str(found) == repr(found) == found.verdict
            assert "\n" not in found.verdict


def test_two_rows_of_one_table_of_several(two_tables):
    with pytest.raises(ResultsError, match=r"has 2 tables; give table= \(1: .*; 2: "):
        two_tables.compare("ItemMean", "Random")
    found = [two_tables.compare("ItemMean", "Random", table=n) for n in (1, 2)]
    assert [each.candidates for each in found] == ["rated", "catalogue"]
    assert found[0].difference != found[1].difference


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (("ItemMean",), {}, "1 given; give two names of rows"),
        (("ItemMean", "Random", "BaselineOnly"), {}, "3 given; give two names of rows"),
        (("ItemMean", "Rndom"), {}, "no row 'Rndom' in run; did you mean 'Random'?"),
        (("ItemMean", "ItemMean"), {}, "'ItemMean' is given twice"),
        (("ItemMean", "Random"), {"metric": "mae"}, "no metric 'mae'"),
        (("ItemMean", "Random"), {"metric": "rmse"}, "not compared by rmse; give metric='ndcg@10'"),
        (("ItemMean", "Random"), {"table": 2}, "no table 2; use one of 1: "),
        ((3,), {}, "found 3 \\(int\\); give runs, or the names of two rows"),
        ((None,), {"metric": "ndcg@10"}, "metric and table are for two rows"),
    ],
)
def test_what_is_neither_rows_nor_runs_is_refused(run, given, options, said):
    with pytest.raises(ResultsError, match=said):
        run.compare(*given, **options)


def test_runs_are_put_together_as_before(run):
    config = {"dataset": DATA, "algorithms": ["Popularity"], "metrics": ["ndcg@10"]}
    other = harness.run(config | {"baselines": False, "candidates": "catalogue"}, results=None)
    assert run.compare(other).table["algorithm"].tolist() == [*ROWS, "Popularity"]
