"""The page of libraries: what is generated is current, and the cases by hand are right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.extras.conformance.asking import libraries
from harness.extras.conformance.calculation import value
from harness.extras.conformance.profile import suite

TOP = Path(__file__).parents[3]
PAGE = (TOP / "docs" / "reference" / "ndcg-by-library.md").read_text(encoding="utf-8")
BY_HAND = [
    ({"relevance": [1, 3], "scores": [2, 1], "k": 2}, {"gain": "linear"}, 0.7967),
    ({"relevance": [1, 3], "scores": [2, 1], "k": 2}, {"gain": "exp2"}, 0.7098),
    ({"relevance": [1] * 5, "scores": [1, *[None] * 4], "k": 5}, {}, 0.3392),
    ({"relevance": [1, 0], "scores": [1, 1], "k": 2}, {"ties": "average"}, 0.8155),
    (
        {"relevance": [1, 1, 1], "scores": [2, 1, None], "items": ["a", "a", "b"], "k": 2},
        {"duplicates": "once"},
        0.6131,
    ),
    ({"relevance": [0, 1], "scores": [2, 1], "k": 5}, {}, 0.6309),
]


@pytest.mark.parametrize(("case", "answers", "expected"), BY_HAND)
def test_a_case_by_hand_is_right_and_on_the_page(case, answers, expected):
    assert round(value(case, answers), 4) == expected
    section = PAGE.partition("## For teachers")[2]
    assert f"| {expected} |" in section


def test_seven_cases_are_shown_by_hand():
    section = PAGE.partition("## For teachers")[2]
    assert len(re.findall(r"^\| (?!case|---)", section, re.MULTILINE)) == 7


def test_every_library_and_every_reproduction_is_on_the_page():
    for name, library in libraries().items():
        assert PAGE.count(f"\n| {name} | ") == 3
        for each in library.reproductions:
            assert f"```python\n{each.code.strip()}\n```\n\n```text\n{each.prints}\n```" in PAGE


def test_the_tables_and_reproductions_are_those_of_the_kept_values():
    script = TOP / "dev" / "tools" / "conformance_page.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "path", ["results/conformance/README.md", "docs/reference/ndcg-by-library.md"]
)
def test_the_number_of_cases_is_the_one_of_the_file(path):
    text = (TOP / path).read_text(encoding="utf-8")
    assert f"{len(suite()['cases'])} small cases" in text
