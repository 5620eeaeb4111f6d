"""The page shows who is tied, what other rules and other libraries would say, or why not."""

import csv
import io
import re

import pytest

from harness.report import build_page, join
from harness.report.conventions import convention_table, sensitivity_tables, tie_table
from harness.report.summary import summarise
from harness.results.record import RunInfo
from harness.results.run import Run


def first(make, run):
    summary = summarise(run)
    return make(summary, summary.tables[0])


def changed(run, **info):
    return Run(RunInfo(**run.info.model_dump() | info), run.users)


def without(run, *keys):
    return Run(run.info.model_copy(update={key: [] for key in keys}), run.users)


def test_every_results_table_has_both(nasty):
    titles = [table.title for table in sensitivity_tables(summarise(nasty))]
    assert titles == [
        "Ties at the cut, rated",
        "ndcg@10 by library and document, rated",
        "Ties at the cut, catalogue",
        "ndcg@10 by library and document, catalogue",
    ]


def test_the_tie_table_has_shares_and_a_column_for_each_rule(plain_run):
    table = first(tie_table, plain_run)
    rules = ["average", "first", "last", "best", "worst"]
    assert table.columns[-5:] == tuple(f"ties={rule}" for rule in rules)
    assert {row[0] for row in table.rows} == {"SVD", "BaselineOnly", "Random"}
    by_name = {row[0]: row for row in table.rows}
    assert by_name["BaselineOnly"][table.columns.index("tied, ndcg@10")] == "1.0%"
    assert by_name["Random"][table.columns.index("tied, ndcg@10")] == "2.0%"
    best = table.columns.index("ties=best")
    assert float(by_name["Random"][best]) > float(by_name["SVD"][best])


def test_the_caption_names_whom_the_order_of_ties_changes_most(plain_run):
    assert "Random gains 0.11" in first(tie_table, plain_run).caption


def test_a_rule_that_changes_nothing_is_said_to_change_nothing(plain_run):
    ties = plain_run.info.model_dump()["ties"]
    for row in ties[0]["rows"]:
        row["scores"] = dict.fromkeys(row["scores"], 0.5)
    caption = first(tie_table, changed(plain_run, ties=ties)).caption
    assert "No rule changes a value that is shown." in caption


def test_no_ties_at_all_are_shown_as_none(plain_run):
    cells = plain_run.info.model_dump()["cells"]
    for cell in cells:
        cell["tied_at_cut"] = {"ndcg@10": 0.0}
    table = first(tie_table, changed(plain_run, cells=cells))
    assert {row[1] for row in table.rows} == {"0.0%"}


def test_libraries_with_one_definition_share_a_row(nasty):
    table = first(convention_table, nasty)
    assert [row[:2] for row in table.rows] == [
        ("one <b>&, two", "ndcg(gain=linear)@10"),
        ("three", "ndcg(ties=first)@10"),
        ("four", "ndcg(gain=binary)@10 (<i>refused</i>)"),
    ]


def test_the_best_algorithm_of_each_definition_stands_out(nasty):
    table = first(convention_table, nasty)
    last = len(table.columns) - 1
    assert {table.columns[column] for _, column in table.best} == {"Random"}
    assert {row for row, _ in table.best} == {0, 1}
    assert table.rows[2][last] == ""


def test_the_caption_counts_under_which_definitions_who_is_best(nasty):
    caption = first(convention_table, nasty).caption
    assert "2 definitions that distinguish the algorithms, the best is Random under 2." in caption
    assert re.search(r"SVD goes from 0\.50\d* to 0\.60\d*\.", caption)


def test_definitions_that_tell_nothing_apart_are_counted_with_the_reason(plain_run):
    entries = plain_run.info.model_dump()["conventions"]
    for row in entries[0]["rows"]:
        row |= {"note": "", "label": "ndcg(gain=binary)@10"}
        row["scores"] = dict.fromkeys(row["scores"], 1.0)
    entries[0]["rows"][0]["label"] = "ndcg(gain=binary, ties=first)@10"
    caption = first(convention_table, changed(plain_run, conventions=entries)).caption
    assert "2 definitions give all algorithms the same value: every rating" in caption


@pytest.mark.parametrize("make", [tie_table, convention_table])
def test_what_is_missing_is_said_to_be_with_the_way_to_get_it(plain_run, make):
    caption = first(make, without(plain_run, "ties", "conventions")).caption
    assert "its cells are not in the cache of this machine" in caption
    assert "Run its config again" in caption


def test_shares_are_shown_even_where_the_rules_are_missing(plain_run):
    table = first(tie_table, without(plain_run, "ties", "conventions"))
    assert table.columns[0] == "algorithm"
    assert all(column.startswith("tied, ") for column in table.columns[1:])
    assert table.rows


def test_data_behind_a_table_are_what_it_shows(nasty):
    for table in sensitivity_tables(summarise(nasty)):
        read = [tuple(row) for row in csv.reader(io.StringIO(table.csv))]
        assert read == [table.columns, *table.rows]


def test_the_page_shows_both_and_hides_nothing_behind_markup(nasty_page):
    section = nasty_page.partition('<section id="more-tables">')[2].partition("</section>")[0]
    assert "one &lt;b&gt;&amp;, two" in section
    assert "(&lt;i&gt;refused&lt;/i&gt;)" in section
    assert section.count("<table") == 4
    assert 'href="#more-tables"' in nasty_page


def test_the_page_of_a_run_without_them_says_so(plain_run):
    page = build_page([without(plain_run, "ties", "conventions")])
    section = page.partition('<section id="more-tables">')[2].partition("</section>")[0]
    assert "Run its config again" in section


def with_other_cells(run):
    """Return a copy whose cells are not the same, as of another version."""
    info = run.info.model_copy(deep=True, update={"name": "other"})
    for number, cell in enumerate(info.cells):
        cell.key = f"{number}".rjust(64, "e")
    return Run(info, run.users)


def test_several_runs_stand_in_one_table_under_their_own_names(plain_run):
    other = with_other_cells(plain_run)
    joined = join([plain_run, other])
    names = {"SVD", "SVD (other)", "Random", "Random (other)"}
    assert names <= set(first(convention_table, joined).columns)
    assert names <= {row[0] for row in first(tie_table, joined).rows}


def test_a_run_that_lacks_them_leaves_its_columns_out(plain_run):
    other = with_other_cells(plain_run)
    joined = join([plain_run, without(other, "ties", "conventions")])
    columns = first(convention_table, joined).columns
    assert "SVD" in columns
    assert "SVD (other)" not in columns
