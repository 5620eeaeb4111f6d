"""What pages say of each other and of the program does not contradict itself."""

import re
from pathlib import Path

import pytest

from harness.config.load import load
from harness.console.answers import SPLITS
from harness.plugins import registry as plugins
from harness.results import read_run

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
README = (TOP / "README.md").read_text(encoding="utf-8")
PAGES = sorted(DOCS.rglob("*.md"))
CONFIG = {"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["ndcg@10"]}


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_the_first_screen_has_both_questions():
    first = README[: README.index("## Run it")]
    assert len(first.splitlines()) <= 30
    assert {"**`rated`**", "**`catalogue`**"} <= set(re.findall(r"\*\*`\w+`\*\*", first))


def test_the_verdict_of_the_readme_names_only_rows_that_it_shows():
    verdict = re.search(r"<!-- verdict: .*?^```$", README, re.DOTALL | re.MULTILINE).group()
    rest = README[README.index("<!-- table:") :]
    shown = set(re.findall(r"^\| (\w+) \| 0\.", rest[: rest.index("\n\n", 200)], re.MULTILINE))
    rows = {row.algorithm for row in read_run(TOP / "results" / "quickstart").info.rows}
    assert set(re.findall(r"\w+", verdict)) & rows <= shown <= rows
    assert shown


def test_there_is_one_default_split():
    (left_out,), (named,), (asked,) = (
        load(CONFIG | split)[0].split
        for split in ({}, {"split": "holdout"}, {"split": SPLITS["holdout"]})
    )
    assert left_out == named == asked
    shown = re.search(r"^split: \{kind: holdout, test_size: ([\d.]+)\}", README, re.MULTILINE)
    assert float(shown.group(1)) == asked.test_size
    assert f"without `split` on {asked.test_size:.0%}" in README


@pytest.mark.parametrize("name", plugins.builtin_names("candidates"))
def test_every_kind_of_candidates_is_in_the_table_of_its_page(name):
    page = (DOCS / "explanation" / "candidates.md").read_text(encoding="utf-8")
    table = page[page.index("| `candidates` |") :].split("\n\n")[0]
    assert re.search(rf"^\| `(\{{kind: )?{name}\b", table, re.MULTILINE)


def test_no_page_shows_a_p_value_of_nothing():
    for page in PAGES:
        assert not re.search(r"\bp[ =]+0\.0+\b(?!\d)", page.read_text(encoding="utf-8")), page.name
