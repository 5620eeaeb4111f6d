"""Quotation marks that enclose fields, in one form or the other, and marks that are text."""

from __future__ import annotations

import csv
import io

import pytest

from harness.datasets.readers import text as reading
from harness.errors import DataError

from .conftest import rows_of
from .test_values import remedies

ROWS = [("u1", 'the "best" of', 4), ("u2", 'Great 19" TV', 3), ("u3", "plain", 5), ("u4", '"', 1)]


def lines(rows, separator="\t"):
    head = separator.join(("user", "item", "rating")) + "\n"
    return head + "".join(separator.join(map(str, row)) + "\n" for row in rows)


def with_marks(n):
    """Return rows of which one in four begins a field with a mark that is not closed."""
    return [(f"u{k}", f'"item {k}' if k % 4 == 0 else f"item {k}", k % 5 + 1) for k in range(n)]


@pytest.mark.parametrize("block", [1 << 22, 200, 50])
@pytest.mark.parametrize("rows", [ROWS, with_marks(40)])
def test_between_tabs_marks_that_do_not_pair_up_are_text_and_said(load, monkeypatch, rows, block):
    monkeypatch.setattr(reading, "BLOCK", block)
    ratings = load("a.tsv", lines(rows))
    assert [row[:3] for row in rows_of(ratings)] == [(u, i, float(r)) for u, i, r in rows]
    assert "marks-are-text" in {note.code for note in ratings.notes}
    said = load("a.tsv", lines(rows), quotes="none")
    assert rows_of(said) == rows_of(ratings)
    assert "marks-are-text" not in {note.code for note in said.notes}


def test_marks_that_enclose_fields_enclose_them_between_tabs(load):
    text = 'user\titem\trating\ttext\n1\t"a b"\t4\t"two\nlines"\n2\t"c ""d"""\t5\t"a\tb"\n'
    ratings = load("a.tsv", text)
    assert [row[1] for row in rows_of(ratings)] == ["a b", 'c "d"']
    assert "marks-are-text" not in {note.code for note in ratings.notes}


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_elsewhere_a_mark_that_is_not_closed_is_refused_with_the_key(load, separator):
    rows = with_marks(40)
    text = lines(rows, separator)
    with pytest.raises(DataError, match=r"a\.csv:2: a quotation mark is opened") as refused:
        load("a.csv", text)
    (keys,) = remedies(refused.value)
    assert keys == {"quotes": "none"}
    assert [row[1] for row in rows_of(load("a.csv", text, **keys))] == [item for _, item, _ in rows]
    with pytest.raises(DataError, match="`quotes: none` reads") as refused:  # of a single one
        load("a.csv", lines(rows[:3], separator))


def test_where_some_marks_enclose_fields_the_key_is_not_advised(load):
    text = 'user,item,rating\n1,"a, b",4\n2,"c,5\n3,d,1\n'
    with pytest.raises(DataError, match=r"a\.csv:3: a quotation mark") as refused:
        load("a.csv", text)
    assert "quotes: none" not in str(refused.value)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_single_marks_are_recognised_and_said(load, header, separator):
    rows = [(1, "it''s", 4), (2, f"a{separator.strip()} b", 5), (3, r"o\'c", 1), (4, 'x "y"', 3)]
    text = "".join(
        separator.join(f"'{field}'" for field in row) + "\n"
        for row in [("user", "item", "rating")] * header + rows
    )
    ratings = load("a.csv", text)
    wanted = ["it's", f"a{separator.strip()} b", "o'c", 'x "y"']
    assert [row[1] for row in rows_of(ratings)] == wanted
    assert ratings.ratings.tolist() == [4, 5, 1, 3]
    assert "quotes-found" in {note.code for note in ratings.notes}
    said = load("a.csv", text, quotes="single")
    assert rows_of(said) == rows_of(ratings)
    assert "quotes-found" not in {note.code for note in said.notes}


def test_single_marks_around_ids_alone_are_recognised(load):
    text = "user,item,rating\n'u1','x',4\n'u2','y',5\n"
    assert [row[:2] for row in rows_of(load("a.csv", text))] == [("u1", "x"), ("u2", "y")]


def test_apostrophes_in_names_are_none(load):
    text = "user,item,rating\n'tis,rock 'n',4\nu2,'y',5\n"
    ratings = load("a.csv", text)
    assert [row[1] for row in rows_of(ratings)] == ["rock 'n'", "'y'"]


@pytest.mark.parametrize(("value", "meant"), [(False, "none"), (True, "double")])
def test_true_and_false_say_whether_there_are_marks(load, value, meant):
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows([("a", "b", 3), ("c", "d", 4)])
    text = 'user,item,rating\n"a",b,3\n"c",d,4\n'
    assert rows_of(load("a.csv", text, quotes=value)) == rows_of(load("a.csv", text, quotes=meant))
    assert load("a.csv", text, quotes=False).user_ids.tolist() == ['"a"', '"c"']
    assert load("b.csv", buffer.getvalue(), quotes=True).user_ids.tolist() == ["a", "c"]


def test_other_values_are_refused(load):
    with pytest.raises(DataError, match="quotes: found"):
        load("a.csv", lines(ROWS), quotes="'")
    with pytest.raises(DataError, match="a Parquet file has none"):
        load("a.parquet", b"PAR1", quotes="none")
