"""The list of all texts that the program can print has each kind of them, as the code has them."""

import ast
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]

MODULE = '''
"""A module."""

class Held(Section):
    """A section."""

    n: int = 1
    """How many items."""

class Kept(Analysis):
    """What the table shows."""

@command("run quickstart", group="Tools")
@click.option("--n", help="A number.")
def show(n):
    """Print a run.

    It prints no more than n rows.
    """
    if n < 0:
        raise DataError(f"{path}: {n} is negative; give a number of 0 or more")
    warn("the run is not complete yet")
    return f"{len(rows)} rows are {'not shown on this page' if n else ''}"

def helper():
    """Return something that nobody prints."""
    return "SVD"
'''

FOUND = [
    ("key", "n: How many items."),
    ("label", "What the table shows."),
    ("help", "Print a run."),
    ("help", "It prints no more than n rows."),
    ("help", "A number."),
    ("error", "{path}: {n} is negative; give a number of 0 or more"),
    ("warning", "the run is not complete yet"),
    ("text", "{len(rows)} rows are {…}"),
    ("text", "not shown on this page"),
]


@pytest.fixture
def printed(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    import printed_texts

    yield printed_texts
    sys.modules.pop("printed_texts")


def test_each_kind_of_text_in_a_module_is_listed_and_no_other(printed):
    tree = ast.parse(MODULE)
    assert sorted(printed.of_python(tree, printed.sections_of([tree]))) == sorted(FOUND)


def test_texts_of_a_template_and_of_its_code_are_listed(printed):
    page = "<p>{# why #}Best: <b>{{ name }}</b></p>{% set x = 'the mean of all' %}<h2>Results</h2>"
    expected = ["Best: {{ name }}", "Results", "the mean of all"]
    assert [text for _, text in printed.of_template(page)] == expected


def test_a_changed_text_stands_beside_the_one_before(printed):
    before = [("a.py", "the file has no rows"), ("a.py", "the same as ever"), ("a.py", "gone now")]
    now = [("b.py", "the same as ever"), ("b.py", "the file has no ratings"), ("b.py", "a new one")]
    assert [*printed.beside(before, now)] == [
        ("b.py", "the file has no rows", "the file has no ratings"),
        ("b.py", "", "a new one"),
        ("a.py", "gone now", ""),
    ]


def test_the_list_is_that_of_the_code(printed):
    before, now = printed.LIST.read_text(encoding="utf-8"), printed.written(printed.texts(TOP))
    # A line at a time: a difference of two long texts takes pytest minutes.
    lost = sorted({*before.splitlines()} - {*now.splitlines()})
    came = sorted({*now.splitlines()} - {*before.splitlines()})
    message = "a text changed: read the difference, and run python dev/tools/printed_texts.py"
    assert not [*lost, *came][:20], message
    assert before == now, message
