"""The numbers on the page, in CSV, Markdown and LaTeX are the same numbers."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest

from harness.report import latex, style
from harness.report.summary import summarise
from harness.results.table import bounds_to_csv, display_table, to_csv, to_markdown


class Tables(HTMLParser):
    """Collects the cells of every table: a list of (text, class and data attributes)."""

    def __init__(self, html):
        super().__init__()
        self.tables = []
        self.cell = None
        self.inside = []
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
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell["text"] += data
            name = self.inside[-1][1]
            self.cell["parts"][name] = self.cell["parts"].get(name, "") + data


@pytest.fixture
def told(nasty):
    return summarise(nasty)


@pytest.fixture
def page_tables(nasty_page):
    """Each results table of the page: by algorithm, the cell of each metric."""
    tables = [t for t in Tables(nasty_page).tables if t[0][-1]["text"].strip() == "users"]
    assert len(tables) == 2
    found = []
    for table in tables:
        labels = [cell["text"] for cell in table[0]]
        rows = {}
        for row in table[1:]:
            name = row[0]["parts"].get(None) or row[0]["text"]
            rows[name.strip()] = dict(zip(labels, row, strict=True))
        found.append(rows)
    return found


def digits(told, row):
    """How many decimals each metric gets in the table that a row of the CSV belongs to."""
    return told.tables[0 if row["candidates"] == "rated" else 1].decimals


def csv_rows(info):
    return list(csv.DictReader(io.StringIO(to_csv(info))))


def rows_with_bounds(info):
    """Return the rows of both files in the order in which tables show them."""
    bounds = list(csv.DictReader(io.StringIO(bounds_to_csv(info))))
    rows = csv_rows(info)
    return [
        row | {"algorithm": row.get("algorithm") or row["bound"]}
        for table in dict.fromkeys(row["table"] for row in rows)
        for row in (*rows, *bounds)
        if row["table"] == table
    ]


def plain(text):
    return " ".join(text.split())


def test_page_shows_the_numbers_of_the_csv(nasty, told, page_tables):
    compared = 0
    for row in rows_with_bounds(nasty.info):
        where = page_tables[0 if row["candidates"] == "rated" else 1]
        cells = where[plain(row["algorithm"])]
        for label in nasty.info["metrics"]:
            shown = cells[label]["parts"].get("number", "")
            if not row[label]:
                assert shown == ""
                continue
            assert shown == f"{float(row[label]):.{digits(told, row)[label]}f}"
            if "data-value" in cells[label]["attributes"]:
                assert float(cells[label]["attributes"]["data-value"]) == pytest.approx(
                    float(row[label]), abs=1e-8
                )
            compared += 1
    assert compared == 2 * (5 * 4 + 2 * 3)


def test_page_shows_intervals_and_letters_of_the_csv(nasty, told, page_tables):
    compared = 0
    for row in csv_rows(nasty.info):
        cells = page_tables[0 if row["candidates"] == "rated" else 1][plain(row["algorithm"])]
        for label in ("ndcg@5", "ndcg@10", "ndcg@20"):
            if not row[f"{label}_low"]:
                continue
            places = digits(told, row)[label]
            low, high = (f"{float(row[f'{label}_{end}']):.{places}f}" for end in ("low", "high"))
            assert cells[label]["parts"]["interval"] == f"{low} to {high}"
            assert f"{low} to {high}" in cells[label]["attributes"]["title"]
            assert cells[label]["parts"]["letters"] == row[f"{label}_letters"]
            compared += 1
    assert compared == 2 * 5 * 3


def test_page_marks_the_best_value_of_each_metric(nasty, page_tables):
    rows = csv_rows(nasty.info)
    for number, section in enumerate(("rated", "catalogue")):
        for label in nasty.info["metrics"]:
            known = [
                row
                for row in rows
                if row["candidates"] == section and row[label] and int(row["n_cells"])
            ]
            best = (min if label == "rmse" else max)(known, key=lambda row: float(row[label]))
            marked = [
                name
                for name, cells in page_tables[number].items()
                if cells[label]["attributes"].get("class") == "best"
            ]
            assert marked == [plain(best["algorithm"])]


def test_page_orders_rows_by_the_first_metric_and_failures_last(page_tables):
    for rows in page_tables:
        names = list(rows)
        values = [rows[name]["ndcg@10"]["attributes"].get("data-value") for name in names[:6]]
        assert values[-1] == ""
        assert [float(v) for v in values[:-1]] == sorted(map(float, values[:-1]), reverse=True)


def test_markdown_shows_the_numbers_of_the_csv(nasty, told):
    lines = [line for line in to_markdown(nasty.info).splitlines() if line.startswith("| ")]
    table = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    labels = table[0]
    compared = 0
    for shown, row in zip(table[2:], rows_with_bounds(nasty.info), strict=True):
        for label in nasty.info["metrics"]:
            number, _, spread = shown[labels.index(label)].partition(" ± ")
            assert bool(number) == bool(row[label])
            if number:
                places = digits(told, row)[label]
                assert number.split()[0] == f"{float(row[label]):.{places}f}"
                assert spread.split()[0] == f"{float(row[f'{label}_sd']):.{places}f}"
                compared += 1
    assert compared == 2 * (5 * 4 + 2 * 3)


def test_the_text_table_shows_the_numbers_of_the_csv_under_each_other(nasty, told):
    frame = display_table(nasty.info).frame
    for label in nasty.info["metrics"]:
        points = set()
        for shown, row in zip(frame[label], rows_with_bounds(nasty.info), strict=True):
            if row[label]:
                places = digits(told, row)[label]
                assert shown.split()[0] == f"{float(row[label]):.{places}f}"
                points.add(shown.rjust(frame[label].str.len().max()).index("."))
        assert len(points) == 1


def test_latex_shows_the_numbers_of_the_csv(nasty, told):
    rows = [row for row in csv_rows(nasty.info) if int(row["n_cells"]) or row["error"]]
    lines = [
        line.strip().removesuffix("\\\\").strip()
        for line in latex(nasty).splitlines()
        if line.endswith("\\\\") and not line.strip().startswith("algorithm")
    ]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)&", line)]
        for label, cell in zip(nasty.info["metrics"], cells[1:], strict=False):
            number = re.search(r"\d+\.\d+", cell)
            assert (number is None) == (not row[label])
            if number:
                assert number[0] == f"{float(row[label]):.{digits(told, row)[label]}f}"
                letters = re.search(r"\\mathrm\{(\w+)\}", cell)
                assert (letters[1] if letters else "") == row.get(f"{label}_letters", "")


def test_notebook_table_shows_the_numbers_of_the_csv(nasty, told):
    shown = Tables(style(nasty, place=2).to_html()).tables[0]
    rows = [row for row in csv_rows(nasty.info) if row["candidates"] == "catalogue"]
    for cells, row in zip(shown[2:], rows, strict=False):
        for label, cell in zip(nasty.info["metrics"], cells[1:], strict=False):
            expected = f"{float(row[label]):.{digits(told, row)[label]}f}" if row[label] else ""
            assert cell["text"].startswith(expected)


def test_times_on_the_page_are_those_of_the_csv(nasty, page_tables):
    for row in csv_rows(nasty.info):
        cells = page_tables[0 if row["candidates"] == "rated" else 1][plain(row["algorithm"])]
        if int(row["n_cells"]):
            assert float(cells["fit s"]["attributes"]["data-value"]) == pytest.approx(
                float(row["fit_seconds"]), abs=5e-4
            )
            assert cells["peak MB"]["text"].strip() == row["peak_mb"]
            assert cells["users"]["text"].strip() == row["n_users"]
