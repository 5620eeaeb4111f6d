"""Each fragment of the changelog has a name that a release understands, and list items alone."""

import re
import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
CONFIG = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
KINDS = [kind["directory"] for kind in CONFIG["type"]]
FOLDER = TOP / CONFIG["directory"]
FRAGMENTS = sorted(path.name for path in FOLDER.iterdir() if path.name not in CONFIG["ignore"])


def faults_of(name, text):
    """Yield what is wrong with a fragment."""
    if not re.fullmatch(rf"[a-z0-9]+(-[a-z0-9]+){{0,4}}\.({'|'.join(KINDS)})\.md", name):
        yield "its name is not TOPIC.KIND.md"
    if not text.startswith("- ") or not text.endswith("\n") or text.endswith("\n\n"):
        yield "it does not begin with a list item and end with one line end"
    for number, line in enumerate(text.splitlines(), 1):
        if not re.match(r"(- |  +- |  +)\S", line):
            yield f"line {number} is neither a list item nor the rest of one"
        if line != line.rstrip() or len(line) > 140:
            yield f"line {number} ends with a space or is longer than 140 characters"


@pytest.mark.parametrize("name", FRAGMENTS)
def test_a_fragment_has_a_valid_name_and_list_items(name):
    assert [*faults_of(name, (FOLDER / name).read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Topic.fixed.md", "- A.\n"),
        ("topic.repaired.md", "- A.\n"),
        ("topic.fixed.txt", "- A.\n"),
        ("topic.fixed.md", ""),
        ("topic.fixed.md", "A paragraph.\n"),
        ("topic.fixed.md", "- A.\n\n- B.\n"),
        ("topic.fixed.md", "# Heading\n\n- A.\n"),
        ("topic.fixed.md", "- A. \n"),
    ],
)
def test_a_wrong_fragment_is_found(name, text):
    assert [*faults_of(name, text)]


def test_the_changelog_has_the_line_below_which_a_release_writes():
    assert KINDS == ["changed", "added", "fixed"]
    assert (TOP / CONFIG["template"]).is_file()
    text = (TOP / CONFIG["filename"]).read_text(encoding="utf-8")
    assert text.count(CONFIG["start_string"]) == 1


def test_the_newest_version_can_be_read_in_a_minute():
    text = (TOP / CONFIG["filename"]).read_text(encoding="utf-8")
    versions = re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]
    assert all(re.match(r"## \d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)\n", each) for each in versions)
    newest = versions[0].rstrip().splitlines()
    assert len(newest) <= 80
    assert re.fullmatch(r"[A-Z].+\.", newest[2])  # who should upgrade, and why
    sections = [line for line in newest if line.startswith("### ")]
    assert sections == ["### Changed", "### Added", "### Fixed"]
    items = [
        line for line in newest if line.startswith(("- Changed results", "- Breaking changes"))
    ]
    assert items == ["- Changed results:", "- Breaking changes:"]
