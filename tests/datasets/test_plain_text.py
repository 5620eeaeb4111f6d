"""The short way of a plain text gives the ratings and notes of the long way."""

from __future__ import annotations

import random
import re

import pytest

from harness.datasets import conversion, inspection
from harness.datasets.inspection import inspect
from harness.datasets.ratings import Ratings
from harness.datasets.readers import kind_of_plain, text
from harness.datasets.section import DatasetSection
from harness.errors import DataError

HEADERS = ("user,item,rating", "UserID;ItemID;Rating", "item\tuser\tstars", "score,user,item", "")
IDS = (
    "1",
    "20",
    "301",
    "301",
    "007",
    "4.0",
    "A7",
    "a7",
    "Total",
    "nan",
    "ü",
    " 5",
    "'x'",
    "+1",
    "",
)
RATINGS = ("1", "2", "3", "4.5", "2,5", "1.000", "3.250", "x", "nan", "inf", "1e200", "-1", "")
BEGINNINGS = ("", "", "", "\n", "# a comment\n", "sep=;\n", "\ufeff", "-- a sign\n", "A title\n")
KEYS = ({}, {}, {"no_id": ["1"]}, {"decimal": ","}, {"header": False}, {"quotes": "single"},
        {"values": {"x": 2}}, {"missing": "drop", "unreadable": "drop"})  # fmt: skip


def a_text(rng):
    """Return a text in which few things are odd, or nothing is."""
    header = rng.choice(HEADERS)
    mark = re.search(r"[,;\t]|$", header)[0] or ","
    n_odd = rng.choice((2, 3, 4, 8, len(IDS)))
    rows = [
        (
            rng.choice(IDS[:n_odd]) + str(n // 3),
            rng.choice(IDS[:n_odd]),
            rng.choice(RATINGS[:n_odd]),
        )
        for n in range(rng.choice((4, 12, 30)))
    ]
    if rng.random() < 0.2:
        rows.append(("Total", "", "60"))
    if header.startswith("score"):
        rows = [row[::-1] for row in rows]
    lines = [*([header] if header else []), *(mark.join(row) for row in rows)]
    return rng.choice(BEGINNINGS) + "\n".join(lines) + "\n" * rng.choice((0, 1))


def outcome(path, keys):
    """Return everything that is seen of a file that is read: the rows and notes, or the refusal."""
    section = DatasetSection(path=str(path), duplicates="last", **keys)
    try:
        with inspect(section) as found:
            ratings = Ratings.from_table(found.table(), found.name, section=section)
            kept = found.keys(), found.members[0].where
    except DataError as error:
        return str(error)
    ids = ratings.user_ids.tolist(), ratings.item_ids.tolist()
    return ratings.fingerprint, ratings.scale, [str(n) for n in ratings.notes], ids, kept


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
def test_the_short_way_gives_what_the_long_way_gives(tmp_path, monkeypatch, ending):
    rng = random.Random(5)
    path, n_short = tmp_path / f"a{ending}", 0
    for number in range(20):
        path.write_text(a_text(rng), encoding="utf-8")
        keys = rng.choice(KEYS)
        short = outcome(path, keys)
        n_short += kind_of_plain(path) is not None
        with monkeypatch.context() as patched:
            patched.setattr(inspection, "kind_of_plain", lambda path: None)
            patched.setattr(text, "_PLAIN", re.compile("(?!)"))
            patched.setattr(conversion, "_simple_ids", lambda column: None)
            assert short == outcome(path, keys), (number, path.read_text(encoding="utf-8"), keys)
    assert (n_short > 4) == (ending != ".txt")  # else the test would compare a way with itself


@pytest.mark.parametrize(
    "head",
    [
        "\x1f\x8b", "PK\x03\x04", "<html>,a,b\n", '{"user": 1, "item": 2}\n', "a,b\n1,2\n",
        "1,2,3\n4,5,6\n", "user,item;rating\n", "user,item,rating", "user,item,rating\n1,2,ü\n",
        "user,item,rating\n1,2,\0\n", '"user","item","rating"\n', "#user,item,rating\n", "",
    ],
)  # fmt: skip
def test_what_may_be_something_else_is_asked_about(tmp_path, head):
    path = tmp_path / "a.csv"
    path.write_text(head, encoding="utf-8")
    assert kind_of_plain(path) is None
    assert kind_of_plain(tmp_path / "absent.csv") is None
    assert kind_of_plain(tmp_path) is None
