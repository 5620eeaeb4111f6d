"""The numbers on the page, in CSV, Markdown and LaTeX are the same numbers."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from harness.report import latex, style
from harness.report.summary import summarise
from harness.results.runs import bounds_to_csv, display_table, to_csv, to_markdown

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
def page_tables(nasty_page):
    """Each results table of the page: by candidates and algorithm, the cell of each metric."""
    tables = [t for t in Tables(nasty_page).tables if t[0][-1]["text"].strip() == "users"]
    found = []
    for head, *rows in tables:
        labels = [cell["text"] for cell in head]
        names = [plain(row[0]["parts"].get(None) or row[0]["text"]) for row in rows]
        cells = [dict(zip(labels, row, strict=True)) for row in rows]
        found.append(dict(zip(names, cells, strict=True)))
    return dict(zip(["rated", "catalogue"], found, strict=True))


@pytest.fixture
def rows(nasty):
    """The rows of the CSV, each with the decimals of its metrics."""
    decimals = {table.names[2]: table.decimals for table in summarise(nasty).tables}
    found = list(csv.DictReader(io.StringIO(to_csv(nasty.info))))
    return [row | {"decimals": decimals[row["candidates"]]} for row in found]


@pytest.fixture
def rows_with_bounds(nasty, rows):
    """The rows of both files in the order in which tables show them."""
    decimals = {row["table"]: row["decimals"] for row in rows}
    bounds = list(csv.DictReader(io.StringIO(bounds_to_csv(nasty.info))))
    return [
        row | {"algorithm": row.get("algorithm") or row["bound"], "decimals": decimals[table]}
        for table in decimals
        for row in (*rows, *bounds)
        if row["table"] == table
    ]


def plain(text):
    return " ".join(text.split())


def shown(row, label, column=None):
    """Return a number of the CSV as tables show it, nothing where there is none."""
    value = row[column or label]
    return f"{float(value):.{row['decimals'][label]}f}" if value else ""


def test_page_shows_the_numbers_of_the_csv(rows_with_bounds, page_tables):
    compared = 0
    for row in rows_with_bounds:
        cells = page_tables[row["candidates"]][plain(row["algorithm"])]
        for label in LABELS:
            assert cells[label]["parts"].get("number", "") == shown(row, label)
            if row[label] and "data-value" in cells[label]["attributes"]:
                value = float(cells[label]["attributes"]["data-value"])
                assert value == pytest.approx(float(row[label]), abs=1e-8)
            compared += bool(row[label])
    assert compared == 2 * (5 * 4 + 2 * 3)


def test_page_shows_intervals_letters_and_times_of_the_csv(rows, page_tables):
    compared = 0
    for row in rows:
        cells = page_tables[row["candidates"]][plain(row["algorithm"])]
        for label in LABELS[:3]:
            if row[f"{label}_low"]:
                ends = [shown(row, label, f"{label}_{end}") for end in ("low", "high")]
                assert cells[label]["parts"]["interval"] == " to ".join(ends)
                assert " to ".join(ends) in cells[label]["attributes"]["title"]
                assert cells[label]["parts"]["letters"] == row[f"{label}_letters"]
                compared += 1
        if int(row["n_cells"]):
            seconds = float(cells["fit s"]["attributes"]["data-value"])
            assert seconds == pytest.approx(float(row["fit_seconds"]), abs=5e-4)
            assert cells["peak MB"]["text"].strip() == row["peak_mb"]
            assert cells["users"]["text"].strip() == row["n_users"]
    assert compared == 2 * 5 * 3


def test_page_marks_the_best_value_of_each_metric(rows, page_tables):
    for section, table in page_tables.items():
        finished = [row for row in rows if row["candidates"] == section and int(row["n_cells"])]
        for label in LABELS:
            known = [row for row in finished if row[label]]
            best = (min if label == "rmse" else max)(known, key=lambda row: float(row[label]))
            marked = [n for n, c in table.items() if c[label]["attributes"].get("class") == "best"]
            assert marked == [plain(best["algorithm"])]


def test_page_orders_rows_by_the_first_metric_and_failures_last(page_tables):
    for table in page_tables.values():
        values = [c["ndcg@10"]["attributes"].get("data-value") for c in table.values()][:6]
        assert values[-1] == ""
        assert [float(v) for v in values[:-1]] == sorted(map(float, values[:-1]), reverse=True)


def test_markdown_shows_the_numbers_of_the_csv(nasty, rows_with_bounds):
    lines = [line for line in to_markdown(nasty.info).splitlines() if line.startswith("| ")]
    head, _, *table = [[c.strip() for c in line.strip("|").split(" | ")] for line in lines]
    compared = 0
    for cells, row in zip(table, rows_with_bounds, strict=True):
        for label in LABELS:
            number, _, spread = cells[head.index(label)].partition(" ± ")
            assert number.split()[:1] == shown(row, label).split()
            assert spread.split()[:1] == shown(row, label, f"{label}_sd").split()
            compared += bool(number)
    assert compared == 2 * (5 * 4 + 2 * 3)


def test_the_text_table_shows_the_numbers_of_the_csv_under_each_other(nasty, rows_with_bounds):
    frame = display_table(nasty.info).frame
    for label in LABELS:
        points = set()
        width = frame[label].str.len().max()
        for text, row in zip(frame[label], rows_with_bounds, strict=True):
            if row[label]:
                assert text.split()[0] == shown(row, label)
                points.add(text.rjust(width).index("."))
        assert len(points) == 1


def test_latex_shows_the_numbers_of_the_csv(nasty, rows):
    lines = [line.removesuffix(r"\\") for line in latex(nasty).splitlines() if line.endswith("\\")]
    lines = [line for line in lines if not line.startswith("algorithm")]
    rows = [row for row in rows if int(row["n_cells"]) or row["error"]]
    for line, row in zip(lines, rows, strict=True):
        cells = re.split(r"(?<!\\)&", line)[1:]
        for label, cell in zip(LABELS, cells, strict=False):
            assert re.findall(r"\d+\.\d+", cell) == shown(row, label).split()
            letters = row.get(f"{label}_letters", "") if row[label] else ""
            assert re.findall(r"\\mathrm\{(\w+)\}", cell) == letters.split()


def test_notebook_table_shows_the_numbers_of_the_csv(nasty, rows):
    _, _, *table = Tables(style(nasty, place=2).to_html()).tables[0]
    rows = [row for row in rows if row["candidates"] == "catalogue"]
    for cells, row in zip(table, rows, strict=True):
        for label, cell in zip(LABELS, cells[1:], strict=False):
            assert cell["text"].startswith(shown(row, label))
