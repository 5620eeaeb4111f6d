"""The law of the way in: each reads the same ratings of a file, or says the same of it.

`dev/proofs/shapes.py` writes files and folders as people have them, with the ratings that each
stands for, and reads them by `load`, `describe`, a config, ``run --dataset``, ``new`` and as a
frame. What does not hold yet is in ``dev/proofs/shapes_failing.txt``, which has to name exactly
that: ``python dev/proofs/shapes.py --write`` writes it.
"""

import importlib
import sys
from pathlib import Path

import pytest

PROOFS = Path(__file__).parents[2] / "dev" / "proofs"
MODULES = (
    *("shapes", "shape_files", "shape_odd", "shape_programs", "shape_public"),
    *("shape_exports", "shape_hands"),
)
FAMILIES = (
    *("movielens", "netflix", "amazon", "books", "films", "jester", "music", "events", "others"),
    *("pandas", "statistics", "spreadsheets", "databases", "documents", "endings", "separators"),
    *("headers", "orders", "times", "values", "missing", "ids", "repeats", "encodings", "wide"),
    *("packed", "folders", "junk", "keys"),
    *("sites", "shops", "surveys", "tools", "languages", "layouts"),
    *("apps", "by hand", "own languages", "writers"),
)


@pytest.fixture(scope="module")
def shapes():
    """The shapes of ``dev/proofs``, and what reads them."""
    sys.path.insert(0, str(PROOFS))
    try:
        yield importlib.import_module("shapes")
    finally:
        sys.path.remove(str(PROOFS))
        for name in MODULES:
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def families(shapes):
    return shapes.families()


def faults_of(shapes, some, folder):
    """Return the faults of shapes, by their titles."""
    found = {}
    for number, shape in enumerate(some):
        judged = shapes.judged(shape, folder / str(number))
        found[judged.title] = list(judged.faults())
    return found


def require_exactly(found, expected):
    wrong = {name: faults for name, faults in found.items() if faults and name not in expected}
    assert wrong == {}
    mended = sorted(expected & {name for name, faults in found.items() if not faults})
    assert mended == [], "remove these from dev/proofs/shapes_failing.txt"


def test_there_are_shapes_of_each_family(shapes, families):
    assert tuple(families) == FAMILIES
    titles = [f"{family}: {each.name}" for family, some in families.items() for each in some]
    assert len(titles) == len(set(titles)) > 250
    assert shapes.failing() <= set(titles)
    assert 40 < sum(len(shapes.sampled(some)) for some in families.values()) < 80


def test_the_truth_is_one_known_set(shapes, families):
    for some in families.values():
        for shape in some:
            assert shape.truth is None or 0 < len(shape.truth) <= 1000, shape.name
            assert shape.truth is not None or shape.says, f"{shape.name}: says nothing"


@pytest.mark.sample(2)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_way_in_reads_the_same(shapes, families, family, tmp_path):
    found = faults_of(shapes, shapes.sampled(families[family]), tmp_path)
    require_exactly(found, shapes.failing())


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_every_way_in_reads_the_same_of_all_shapes(shapes, families, family, tmp_path):
    found = faults_of(shapes, families[family], tmp_path)
    require_exactly(found, shapes.failing())


def test_a_remedy_is_parsed_as_it_is_written(shapes):
    said = (
        "a.csv:2: no; `missing: drop` drops it, `duplicates: first`, `last` or `mean` decides; "
        "columns: {timestamp: null} reads none; `columns: {user: 2, item: 1}`; call it "
        "`columns: {user: NAME}`; or typed: `--set \"dataset.decimal=','\"`, "
        "`--data-columns user=who,item=2`"
    )
    assert shapes.remedies(said) == [
        {"missing": "drop"},
        {"duplicates": "first"},
        {"duplicates": "last"},
        {"duplicates": "mean"},
        {"columns": {"user": 2, "item": 1}},
        {"decimal": ","},
        {"columns": {"user": "who", "item": 2}},
        {"columns": {"timestamp": None}},
    ]
