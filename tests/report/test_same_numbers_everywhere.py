"""The numbers on the page, in CSV, Markdown and LaTeX are the same numbers."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from harness.report import latex, style
from harness.report.summary import summarise
from harness.results.runs import to_markdown
from harness.results.table import (
    COLUMNS,
    columns_of,
    display_table,
    group_tables,
    rounded_csv,
    to_csv,
)

LABELS = ["ndcg@5", "ndcg@10", "ndcg@20", "rmse"]


class Tables(HTMLParser):
    """Collects the cells of every table: a list of (text, class and data attributes)."""

    def __init__(self, html):
        super().__init__()
        self.tables, self.cell, self.inside = [], None, []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = {"attributes": attributes, "text": "", "parts": {}}
            self.tables[-1][-1].append(self.cell)
        if tag not in ("br", "meta", "input", "path"):
            self.inside.append((tag, attributes.get("class")))

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass
        self.cell = None if tag in ("td", "th") else self.cell

    def handle_data(self, data):
        if self.cell is not None:
            self.cell["text"] += data
            name = self.inside[-1][1]
            self.cell["parts"][name] = self.cell["parts"].get(name, "") + data


@pytest.fixture
def rows(nasty):
    """The rows of both CSV files as tables show them, each with the decimals of its metrics."""
    decimals = {table.key: table.decimals for table in summarise(nasty).tables}
    texts = (to_csv(nasty.info), rounded_csv(nasty.bounds))
    found = [row for text in texts for row in csv.DictReader(io.StringIO(text))]
    found.sort(key=lambda row: list(decimals).index(row["table"]))
    own = ({"algorithm": row.get("bound"), "decimals": decimals[row["table"]]} for row in found)
    return [known | row for known, row in zip(own, found, strict=True)]


def plain(text):
    return " ".join(text.split())


def shown(row, column):
    """Return a number of the CSV as tables show it, nothing where there is none."""
    places = row["decimals"][re.sub("_(low|high|sd)$", "", column)]
    return f"{float(row[column]):.{places}f}" if row[column] else ""


@pytest.mark.long
def test_the_page_shows_numbers_intervals_letters_and_times(nasty_page, rows):
    tables = [t for t in Tables(nasty_page).tables if t[0][-1]["text"].strip() == "users"]
    found = {}
    for section, (head, *others) in zip(["rated", "catalogue"], tables, strict=True):
        values = [row[2]["attributes"].get("data-value") for row in others]
        assert values[5] == ""  # failed, then the bounds
        assert values[:5] == sorted(values[:5], key=float, reverse=True)
        for row in others:
            name = plain(row[0]["parts"].get(None) or row[0]["text"])
            found[section, name] = dict(zip([cell["text"] for cell in head], row, strict=True))
    n_numbers = n_intervals = 0
    for row in rows:
        cells = found[row["candidates"], plain(row["algorithm"])]
        for label in LABELS:
            parts, attributes = cells[label]["parts"], cells[label]["attributes"]
            assert parts.get("number", "") == shown(row, label)
            n_numbers += bool(row[label])
            if attributes.get("data-value"):
                assert float(attributes["data-value"]) == pytest.approx(float(row[label]), abs=1e-8)
            if row.get(f"{label}_low"):
                ends = " to ".join(shown(row, f"{label}_{end}") for end in ("low", "high"))
                assert ends == parts["interval"]
                assert ends in attributes["title"]
                assert parts["letters"] == row[f"{label}_letters"]
                n_intervals += 1
        if int(row.get("n_cells", 0)):
            seconds = float(cells["fit s"]["attributes"]["data-value"])
            assert seconds == pytest.approx(float(row["fit_seconds"]), abs=5e-4)
            assert cells["peak MB"]["text"].strip() == row["peak_mb"]
            assert cells["users"]["text"].strip() == row["n_users"]
    assert (n_numbers, n_intervals) == (2 * (5 * 4 + 2 * 3), 2 * 5 * 3)
    for section in ("rated", "catalogue"):
        known = [r for r in rows if r["candidates"] == section and int(r.get("n_cells", 0))]
        for label in LABELS:
            best = (min if label == "rmse" else max)(known, key=lambda row: float(row[label]))
            own = {key: cells for key, cells in found.items() if key[0] == section}
            marked = [k for k, c in own.items() if c[label]["attributes"].get("class") == "best"]
            assert marked == [(section, plain(best["algorithm"]))]


def test_markdown_shows_the_numbers_of_the_csv(nasty, rows):
    lines = [line for line in to_markdown(nasty.info).splitlines() if line.startswith("| ")]
    head, _, *table = [[c.strip() for c in line.strip("|").split(" | ")] for line in lines]
    for cells, row in zip(table, rows, strict=True):
        for label in LABELS:
            number, _, spread = cells[head.index(label)].partition(" ± ")
            assert number.split()[:1] == shown(row, label).split()
            assert spread.split()[:1] == shown(row, f"{label}_sd").split()


def test_the_text_table_shows_the_numbers_of_the_csv_under_each_other(nasty, rows):
    frame = display_table(nasty.info).frame
    for label in LABELS:
        width = frame[label].str.len().max()
        pairs = [pair for pair in zip(frame[label], rows, strict=True) if pair[1][label]]
        assert [text.split()[0] for text, _ in pairs] == [shown(row, label) for _, row in pairs]
        assert len({text.rjust(width).index(".") for text, _ in pairs}) == 1


def test_latex_and_notebook_show_the_numbers_of_the_csv(nasty, rows):
    rows = [row for row in rows if "error" in row]  # without bounds
    lines = [line.removesuffix(r"\\") for line in latex(nasty).splitlines() if line.endswith("\\")]
    lines = [line for line in lines if not line.startswith("algorithm")]
    for line, row in zip(lines, rows, strict=True):
        for label, cell in zip(LABELS, re.split(r"(?<!\\)&", line)[1:], strict=False):
            assert re.findall(r"\d+\.\d+", cell) == shown(row, label).split()
            letters = row.get(f"{label}_letters", "") if row[label] else ""
            assert re.findall(r"\\mathrm\{(\w+)\}", cell) == letters.split()
    _, _, *table = Tables(style(nasty, place=2).to_html()).tables[0]
    rows = [row for row in rows if row["candidates"] == "catalogue"]
    for cells, row in zip(table, rows, strict=True):
        for label, cell in zip(LABELS, cells[1:], strict=False):
            assert cell["text"].startswith(shown(row, label))


@pytest.mark.long
def test_every_form_of_the_table_has_the_columns_of_one_declaration(nasty, nasty_page, rows):
    columns = columns_of(nasty.table)
    names, titles = ([getattr(column, key) for column in columns] for key in ("name", "title"))
    assert names == [name for name in nasty.table if name in {c.name for c in COLUMNS}]
    assert names == [name for name in rows[0] if name in {c.name for c in COLUMNS}]
    head = next(t[0] for t in Tables(nasty_page).tables if t[0][-1]["text"].strip() == titles[-1])
    assert [plain(cell["text"]) for cell in head][-len(titles) :] == titles
    assert [title for title in display_table(nasty.info).frame if title in titles] == titles
    in_papers = [column.title for column in columns if column.in_papers]
    line = next(line for line in latex(nasty).splitlines() if line.startswith("algorithm"))
    assert plain(line.removesuffix(r"\\")).endswith(" & ".join(in_papers))
    assert list(style(nasty, place=2).data.columns)[-len(in_papers) :] == in_papers


def test_in_a_group_only_what_the_tests_tell_apart_is_marked(nasty):
    info = nasty.info.model_copy(deep=True)
    entry = next(each for each in info.groups if each.metric == info.headline)
    group = next(each for each in entry.groups if not each.is_small)
    first, *others = sorted(group.algorithms, key=lambda mean: mean.mean or 0.0, reverse=True)
    place = [each.group for each in entry.groups].index(group.group) + 1
    for letters, marked in (("a", 0), ("b", 1)):
        first.letters = "a"
        for mean in others:
            mean.letters = letters
        table = next(
            each
            for each in group_tables(info, entry.metric)
            if each.title.startswith(f"{entry.metric} by {entry.title}")
        )
        assert sum(column == place for _, column in table.best) == marked
