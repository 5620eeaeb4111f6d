"""Nothing that a user of version 0.3 wrote or saw is gone; what is new is allowed.

The lists in ``tests/data`` were made by `surfaces.py` with the Python of that version.
"""

import csv
import hashlib
import io
import re
from functools import cache
from pathlib import Path

import pytest

import harness
from harness.results.table import to_csv
from tests.compatibility.surfaces import SURFACES

TOP = Path(__file__).parents[2]
DATA = TOP / "tests" / "data"
RESULTS = TOP / "results"
RUNS = sorted(path.parent.name for path in RESULTS.glob("*/run.json"))
REMOVED: dict[str, dict[str, str]] = {
    "commands": {
        "harness recommend CONFIG|RUN": "first-hour.added.md"
    }  # the argument has a new name
}
"""By list, each line that is gone on purpose, and the file of `dev/changes`, or ``CHANGELOG.md``,
that tells users why and what to write instead."""
CHANGED_TABLES: dict[str, str] = {}
"""The same for tables of `results/` with other numbers."""
LISTED_SINCE = {
    *("candidates: catalogue", "candidates: file", "candidates: function", "candidates: rated"),
    *("candidates: sampled", "plots: differences", "plots: distribution", "plots: groups"),
    *("plots: learning", "plots: ndcg-over-k", "plots: parameter", "plots: spread"),
    *("plots: tradeoff", "executors: dask", "openers: gs", "openers: http", "openers: https"),
    "openers: s3",
}
"""What version 0.3 had too, and did not list."""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each list has now, made once."""

    @cache
    def lines(name):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path_factory.mktemp(name))
            return frozenset(SURFACES[name]())

    return lines


@pytest.mark.parametrize("name", SURFACES)
def test_everything_of_the_last_version_is_still_there(name, found):
    lines = (DATA / f"{name}_0_3.txt").read_text(encoding="utf-8").splitlines()
    gone = set(lines) - found(name)
    assert gone == set(REMOVED.get(name, {}))


def test_what_was_removed_is_told_to_users():
    reasons = [reason for lines in REMOVED.values() for reason in lines.values()]
    for reason in [*reasons, *CHANGED_TABLES.values()]:
        assert (TOP / "dev" / "changes" / reason).is_file() or reason == "CHANGELOG.md"


@pytest.mark.parametrize("name", SURFACES)
def test_what_is_new_is_told_to_users(name, found):
    before = (DATA / f"{name}_0_3.txt").read_text(encoding="utf-8").splitlines()
    known = words_of(" ".join(before))
    changes = (TOP / "dev" / "changes").glob("*.*.md")
    text = " ".join(path.read_text(encoding="utf-8") for path in changes)
    told = words_of(" ".join(re.findall(r"`[^`]+`", text)))  # a word of prose can be another's
    untold = []
    for line in sorted(found(name) - set(before) - LISTED_SINCE):
        words = words_of(line)
        new = [word for word in words if word not in known] or words[-1:]
        if not any(word in told for word in new):
            untold.append(line)
    assert not untold, "tell users of it in a file of dev/changes"


def words_of(text):
    return re.findall(r"[\w-]+", text)


def test_committed_tables_are_those_of_the_last_version_digit_for_digit():
    lines = (DATA / "results_0_3.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 16
    for digest, path in (line.split() for line in lines):
        if path not in CHANGED_TABLES:
            assert hashlib.sha256((TOP / path).read_bytes()).hexdigest() == digest, path


@pytest.mark.parametrize("name", RUNS)
def test_a_committed_run_still_makes_its_table_digit_for_digit(name):
    run = harness.read_run(RESULTS / name)
    written, made = ([*csv.reader(io.StringIO(text))] for text in (
        (RESULTS / name / "table.csv").read_text(encoding="utf-8"), to_csv(run.info)
    ))  # fmt: skip
    places = [made[0].index(column) for column in written[0]]  # more columns are allowed
    for place in {*range(len(made[0]))} - {*places}:
        has_value = any(row[place] for row in made[1:])
        assert has_value, f"{made[0][place]}: leave out of `result_rows` where no cell has a value"
    assert [[row[place] for place in places] for row in made] == written
    assert places == sorted(places)
