"""The ``dataset`` part of a config: what it may say, and what is said of what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from harness.datasets.section import DatasetSection


@pytest.mark.parametrize(
    ("value", "name", "path"),
    [
        ("ml-100k", "ml-100k", None),
        ("ratings.csv", None, "ratings.csv"),
        ("data/u.data", None, "data/u.data"),
        ("ratings.pq", None, "ratings.pq"),
        ("Ratings.TAB", None, "Ratings.TAB"),
        ("data\\ratings", None, "data\\ratings"),
        ({"name": "ml-1m", "path": "ml-1m.zip"}, "ml-1m", "ml-1m.zip"),
        ({"name": "ml-1m", "scale": [0.5, 5]}, "ml-1m", None),
        ({"path": "a.csv", "items": "i.csv", "users": {"path": "u.csv"}}, None, "a.csv"),
        ({"path": "a", "format": "csv", "scale": [1, 5]}, None, "a"),
        ({"path": "a.parquet", "columns": {"user": 1}}, None, "a.parquet"),
        ({"synthetic": {"n_users": 5, "n_items": 5, "n_ratings": 5}}, None, None),
        ({"name": "synthetic", "synthetic": {}}, "synthetic", None),
    ],
)
def test_a_source_can_be_named_in_many_ways(value: Any, name: str | None, path: str | None) -> None:
    section = DatasetSection.model_validate(value)
    assert (section.name, section.path) == (name, path)
    jsonschema.validate(value, DatasetSection.model_json_schema())


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        ({}, (), "no data is named; give name"),
        ("ml-100", ("name",), "did you mean 'ml-100k'"),
        ({"path": ""}, ("path",), "at least 1 character"),
        ({"pth": "a.csv"}, ("pth",), "Extra inputs are not permitted"),
        ({"name": "synthetic", "scale": [1, 5]}, (), "the scale of synthetic .* a key of `synth"),
        ({"name": "ml-1m", "separator": ","}, ("separator",), "what ml-1m looks like is known"),
        ({"name": "ml-1m", "columns": {}}, ("columns",), "what ml-1m looks like is known"),
        ({"name": "bundled", "path": "a.csv"}, (), "bundled is not read from a path"),
        ({"path": "a.parquet", "header": True}, ("header",), "a Parquet file has none"),
        ({"path": "A.PQ", "separator": ","}, ("separator",), "a Parquet file has none"),
        ({"path": "a", "format": "parquet", "encoding": "utf-8"}, ("encoding",), "a Parquet file"),
        ({"path": "a.csv", "separator": "\n"}, ("separator",), "cannot separate fields"),
        ({"path": "a.csv", "scale": [5, 1]}, ("scale",), r"\[5, 1\] is not a scale"),
        ({"path": "a.csv", "scale": [1, float("inf")]}, ("scale",), "is not a scale"),
        ({"path": "a.csv", "scale": [1, 2, 3]}, ("scale",), "at most 2 items"),
        ({"path": "a.csv", "scale": [1, "5"]}, ("scale", 1), "valid number"),
        ({"path": "a.csv", "columns": {"user": 0}}, ("columns", "user"), "greater than or equal"),
        ({"path": "a.csv", "duplicates": "mode"}, ("duplicates",), "'error', 'first', 'last'"),
        ({"path": "a.csv", "synthetic": {}}, ("synthetic",), "synthetic or read from a path"),
        ({"name": "ml-1m", "synthetic": {}}, ("synthetic",), "ml-1m is not synthetic"),
        ({"synthetic": {"n_ratings": 5}}, ("synthetic", "n_ratings"), "use 2000 or more"),
        (
            {"synthetic": {"n_users": 10, "n_items": 10, "n_ratings": 60}},
            ("synthetic", "n_ratings"),
            "more than half of 10 users times 10 items; use 50 or fewer",
        ),
        ({"synthetic": {"step": 0.7}}, ("synthetic", "step"), "steps of 0.7 do not lead"),
        ({"synthetic": {"step": -1.0}}, ("synthetic", "step"), "greater than 0"),
        ({"synthetic": {"exponent": float("nan")}}, ("synthetic", "exponent"), "finite|greater"),
        ({"synthetic": {"n_users": 10**30}}, ("synthetic", "n_users"), "less than or equal"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_key(
    value: Any, key: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        DatasetSection.model_validate(value, context=Path())  # the folder of its config
    place = tuple(part for part in refused.value.errors()[0]["loc"] if part != "int")
    assert place[: len(key)] == key
