"""The page shows who is tied, what other rules and other libraries would say, or why not."""

import csv
import io
import re

from harness.report import build_page, join
from harness.report.papers import sensitivity_tables
from harness.report.summary import summarise

from .conftest import changed


def tie_table(run):
    return sensitivity_tables(summarise(run))[0]


def convention_table(run):
    return sensitivity_tables(summarise(run))[1]


def section_of(page):
    return page.partition('<section id="more-tables">')[2].partition("</section>")[0]


def test_every_results_table_has_both_and_their_data(nasty, nasty_page):
    tables = sensitivity_tables(summarise(nasty))
    titles = ("Ties", "ndcg@10 by library and document")
    expected = [f"{title}, {section}" for section in ("rated", "catalogue") for title in titles]
    assert [table.title for table in tables] == expected
    for table in tables:
        read = [tuple(row) for row in csv.reader(io.StringIO(table.csv))]
        assert read == [tuple(row) for row in (table.columns, *table.rows)]
    section = section_of(nasty_page)
    assert "one &lt;b&gt;&amp;, two" in section
    assert "(&lt;i&gt;refused&lt;/i&gt;)" in section
    assert section.count("<table") == 6
    assert 'href="#more-tables"' in nasty_page


def test_the_tie_table_has_shares_and_a_column_for_each_rule(plain_run):
    table = tie_table(plain_run)
    rules = ["average", "first", "last", "best", "worst"]
    assert table.columns[-5:] == tuple(f"ties={rule}" for rule in rules)
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    shares = {name: row["tied, ndcg@10"] for name, row in rows.items()}
    assert shares == {"SVD": "0.0%", "BaselineOnly": "1.0%", "Random": "2.0%"}
    assert float(rows["Random"]["ties=best"]) > float(rows["SVD"]["ties=best"])
    assert "Random gains 0.11" in table.caption


def test_no_ties_and_rules_that_change_nothing_are_shown_as_such(plain_run):
    for cell in plain_run.info.cells:
        cell.tied = {"ndcg@10": 0.0}
    for row in plain_run.info.ties[0].rows:
        row.scores = dict.fromkeys(row.scores, 0.5)
    assert {row[1] for row in tie_table(plain_run).rows} == {"0.0%"}
    assert "No rule changes a value that is shown." in tie_table(plain_run).caption


def test_libraries_with_one_definition_share_a_row_and_its_best_algorithm_stands_out(nasty):
    table = convention_table(nasty)
    assert [row[:2] for row in table.rows] == [
        ("one <b>&, two", "ndcg(gain=linear)@10"),
        ("three", "ndcg(ties=first)@10"),
        ("four", "ndcg(gain=binary)@10 (<i>refused</i>)"),
    ]
    assert {table.columns[column] for _, column in table.best} == {"Random"}
    assert {row for row, _ in table.best} == {0, 1}
    assert table.rows[2][-1] == ""
    best = "Random is best under 2 of the 2 definitions that distinguish the algorithms."
    assert best in table.caption
    assert re.search(r"SVD goes from 0\.50\d* to 0\.60\d*\.", table.caption)


def test_definitions_that_do_not_distinguish_are_counted_with_the_reason(plain_run):
    rows = plain_run.info.conventions[0].rows
    for row in rows:
        row.note, row.label = "", "ndcg(gain=binary)@10"
        row.scores = dict.fromkeys(row.scores, 1.0)
    rows[0].label = "ndcg(gain=binary, ties=first)@10"
    caption = convention_table(plain_run).caption
    assert "2 definitions give all algorithms the same value: every rating" in caption


def test_what_is_missing_is_said_to_be_with_the_way_to_get_it(plain_run):
    run = changed(plain_run, ties=[], conventions=[])
    for table in sensitivity_tables(summarise(run)):
        assert "No cached cell of this table has scores for it." in table.caption
        assert "Run the config again" in table.caption
    first, *others = tie_table(run).columns
    assert first == "algorithm"
    assert all(column.startswith("tied, ") for column in others)
    assert tie_table(run).rows
    assert "Run the config again" in section_of(build_page([run]))


def test_several_runs_stand_in_one_table_under_their_own_names(plain_run, other_run):
    joined = join([plain_run, other_run])
    names = {"SVD", "SVD (other)", "Random", "Random (other)"}
    assert names <= set(convention_table(joined).columns)
    assert names <= {row[0] for row in tie_table(joined).rows}
    other = changed(other_run, conventions=[])
    columns = convention_table(join([plain_run, other])).columns
    assert ("SVD" in columns, "SVD (other)" in columns) == (True, False)
