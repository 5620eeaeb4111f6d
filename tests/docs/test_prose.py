"""The rules of style find what they should, and texts get no worse by them."""

import json
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


@pytest.fixture
def prose(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "dev" / "tools")
    import prose

    yield prose
    sys.modules.pop("prose")


FOUND = {
    "The model knows the training part.": "Terms",
    "There is a fault in line 3.": "Terms",
    "The user sees what he rated.": "Terms",
    "Finished cells stay.": "Terms",
    "It is drawn at random.": "Terms",
    "Some formats, as `csv`, need no header.": "SuchAs",
    "The order is that of the file.": "ThatOf",
    "`x` is no whole number.": "IsNo",
    "The table alone says it.": "Alone",
    "Write a metric of your own.": "Own",
    "The numbers come out again.": "Passive",
    "The reason stands below the table.": "Passive",
    "It works. Where a file has no header, name the columns.": "Fronted",
    "What is missing is counted.": "Fronted",
    "One: two; three.": "Joints",
    f"{'One word after another ' * 7}.": "Long",
}


@pytest.mark.parametrize("text", FOUND)
def test_a_rule_finds_what_it_should(text, prose, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"# A title\n\n{text}\n")
    assert {rule for _, rule, _ in prose.findings(page)} == {FOUND[text]}
    assert {line for line, _, _ in prose.findings(page)} == {3}


@pytest.mark.parametrize(
    "text",
    [
        "The model knows the training set, such as `ratings.csv`.",
        "There is no header. Divide the sum by two: it is no longer needed.",
        "What is a cell?",
        "```text\nthe training part; he: said; of yours\n```",
        "`the training part` and [a word](https://example.org/fault)",
        "| a cell: one | another: two | a third; a fourth |",
        "- a line: with a colon\n- another line: with a colon",
        f"{'One word after another. ' * 9}",
    ],
)
def test_a_rule_finds_nothing_in_plain_text_and_in_code(text, prose, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"---\ndescription: the training part\n---\n\n{text}\n")
    assert [*prose.findings(page)] == []


def test_docstrings_messages_and_notes_are_read(prose, tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        'def f(n):\n    """Divide the ratings."""\n    raise E(f"{n} is no number")\n'
    )
    assert [(line, rule) for line, rule, _ in prose.findings(module)] == [(2, "Terms"), (3, "IsNo")]
    notes = tmp_path / "notes.toml"
    notes.write_text('[a]\nweight = 1\ntext = "the order is that of the file"\n')
    assert [(line, rule) for line, rule, _ in prose.findings(notes)] == [(3, "ThatOf")]


def test_what_is_allowed_only_falls(prose):
    known = {"a.md": {"Terms": 3, "Long": 1}, "gone.md": {"Own": 1}}
    now = {"a.md": {"Terms": 2, "Long": 4}, "new.md": {"Own": 2}}
    assert prose.lowered(known, now) == {"a.md": {"Terms": 2, "Long": 1}}
    assert prose.grown(known, now) == [
        "a.md: Long: 4 found, 1 allowed",
        "new.md: Own: 2 found, 0 allowed",
    ]


@pytest.mark.long
def test_no_text_has_more_findings_than_are_known(prose):
    known = json.loads(prose.KNOWN.read_text(encoding="utf-8"))
    more = prose.grown(known, prose.counts(prose.files()))
    assert not more, "run `python dev/tools/prose.py FILE` for what to write in their place"
