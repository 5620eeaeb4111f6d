"""Nothing that a user of version 0.3 wrote or saw is gone; what is new is allowed.

The lists in ``tests/data`` were made by `surfaces.py` with the Python of that version.
"""

import csv
import hashlib
import io
from pathlib import Path

import pytest

import harness
from harness.results.table import to_csv
from tests.compatibility.surfaces import SURFACES

TOP = Path(__file__).parents[2]
DATA = TOP / "tests" / "data"
RESULTS = TOP / "results"
RUNS = sorted(path.parent.name for path in RESULTS.glob("*/run.json"))
REMOVED: dict[str, dict[str, str]] = {}
"""By list, each line that is gone on purpose, and the file of `dev/changes`, or ``CHANGELOG.md``,
that tells users why and what to write instead."""
CHANGED_TABLES: dict[str, str] = {}
"""The same for tables of `results/` with other numbers."""


@pytest.mark.parametrize("name", SURFACES)
def test_everything_of_the_last_version_is_still_there(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = (DATA / f"{name}_0_3.txt").read_text(encoding="utf-8").splitlines()
    gone = set(lines) - set(SURFACES[name]())
    assert gone == set(REMOVED.get(name, {}))


def test_what_was_removed_is_told_to_users():
    reasons = [reason for lines in REMOVED.values() for reason in lines.values()]
    for reason in [*reasons, *CHANGED_TABLES.values()]:
        assert (TOP / "dev" / "changes" / reason).is_file() or reason == "CHANGELOG.md"


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
    assert [[row[place] for place in places] for row in made] == written
    assert places == sorted(places)
