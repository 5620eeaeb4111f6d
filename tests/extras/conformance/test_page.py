"""The page of libraries: what is generated is current."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.extras.conformance.asking import libraries
from harness.extras.conformance.profile import suite

TOP = Path(__file__).parents[3]
PAGE = (TOP / "docs" / "reference" / "ndcg-by-library.md").read_text(encoding="utf-8")


def test_every_library_and_every_reproduction_is_on_the_page():
    for name, library in libraries().items():
        assert PAGE.count(f"\n| {name} | ") == 3
        for each in library.reproductions:
            assert (
                f"```python\n{each['code'].strip()}\n```\n\n```text\n{each['prints']}\n```" in PAGE
            )


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
