"""Readers of Arrow, ORC and JSON against pandas, and what they say of broken files."""

import json

import numpy as np
import pandas as pd
import pytest

import harness
from harness.datasets.readers import json_lines, kind_of, kind_of_content
from harness.errors import DataError

WRITERS = {
    "feather": lambda frame, path: frame.to_feather(path),
    "arrow": lambda frame, path: frame.to_feather(path),
    "orc": lambda frame, path: frame.to_orc(path),
    "jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "json": lambda frame, path: frame.to_json(path, orient="records"),
}


def generated(seed):
    """Return a frame as people have them: ids of text or numbers, shuffled columns, some times."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    pairs = rng.permutation(30 * 30)[:n]
    users, items = pairs // 30, pairs % 30
    texts = np.array(["ann", "Zoë", "a b", "1e3", "007", "日本", 'q"q', "x,y", "2009-01-01", "-"])
    names = np.array([f"{text}{number}" for number in range(3) for text in texts])
    columns = {
        "user": users if rng.random() < 0.5 else names[users],
        "item": items if rng.random() < 0.5 else names[items],
        "rating": rng.integers(1, 11, n) / (2 if rng.random() < 0.5 else 1),
    }
    if rng.random() < 0.5:
        columns["timestamp"] = rng.integers(10**9, 2 * 10**9, n)
    columns["text"] = names[users]
    return pd.DataFrame({name: columns[name] for name in rng.permutation([*columns])})


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("seed", range(8))
def test_it_reads_what_pandas_wrote(tmp_path, ending, seed):
    frame = generated(seed)
    path = tmp_path / f"r.{ending}"
    WRITERS[ending](frame, path)
    expected = harness.Ratings.from_frame(frame)
    assert harness.load(path).fingerprint == expected.fingerprint
    bare = path.rename(tmp_path / "r.bin")
    assert kind_of_content(bare) == kind_of(path)
    assert harness.load(bare).fingerprint == expected.fingerprint


@pytest.mark.parametrize("ending", ["feather", "arrow", "orc"])
def test_a_truncated_table_is_refused_in_one_line(tmp_path, ending):
    path = tmp_path / f"r.{ending}"
    WRITERS[ending](generated(0), path)
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=f"{path.name}: not an (Arrow|ORC) file that can be read"):
        harness.load(path)


def lines(tmp_path, *records):
    path = tmp_path / "r.jsonl"
    texts = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def record(user, item, rating, **more):
    return {"user": user, "item": item, "rating": rating} | more


def test_nested_fields_are_named_by_their_path(tmp_path):
    nested = [
        {"by": {"id": user}, "asin": "A", "review": {"stars": stars, "a.b": 1}}
        for user, stars in (("x", 4), ("y", 2.5))
    ]
    columns = {"user": "by.id", "rating": "review.stars"}
    ratings = harness.load({"path": str(lines(tmp_path, *nested)), "columns": columns})
    assert (ratings.user_ids.tolist(), ratings.ratings.tolist()) == (["x", "y"], [4.0, 2.5])
    columns["rating"] = "review.star"
    with pytest.raises(DataError, match=r"no column 'review\.star' for the rating; did you mean"):
        harness.load({"path": str(tmp_path / "r.jsonl"), "columns": columns})


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ('{"user": "b", "item', "not JSON"),
        ("[1, 2]", "not an object of fields and values"),
        (record(["b"], "x", 3), "the user is a list; name a field of one value by its path"),
        (record("b", "x", True), "the rating 'true' is not a number"),
        (record("b", "x", "many"), "the rating 'many' is not a number"),
        (record("b", "x", 1e999), "no rating|the rating|not finite"),
        (record("b", "x", None), "no rating"),
        ({"user": "b", "item": "x"}, "no rating"),
    ],
)
def test_a_fault_has_its_line_across_empty_lines(tmp_path, bad, said):
    path = lines(tmp_path, record("a", "x", 1), "", record("a", "y", 5), bad)
    with pytest.raises(DataError, match=f"r.jsonl:4: .*({said})"):
        harness.load(path)
    ratings = harness.load({"path": str(path), "unreadable": "drop", "missing": "drop"})
    assert len(ratings) == 2


def test_whole_floats_are_the_ids_of_integers_and_chunks_do_not_matter(tmp_path, monkeypatch):
    path = lines(tmp_path, *(record(user, "x", 3) for user in (1, 2.0, "3", 2.5, 2**60)))
    ids = ["1", "2", "3", "2.5", str(2**60)]
    for size in (1, 2, 100):
        monkeypatch.setattr(json_lines, "CHUNK", size)
        assert harness.load(path).user_ids.tolist() == ids


def test_describe_tells_records_from_a_config(tmp_path):
    records = tmp_path / "yelp.json"
    records.write_text("\n".join(json.dumps(record(user, "x", user)) for user in (1, 2)))
    (description,) = harness.describe(records)
    assert description.n_ratings == 2
    config = tmp_path / "config.json"
    text = json.dumps({"dataset": str(records), "algorithms": ["SVD"], "metrics": ["rmse"]})
    config.write_text(text)
    assert harness.describe(config)[0].n_ratings == 2


def test_a_file_without_an_object_is_refused(tmp_path):
    for text, said in (("", "no rows of data"), ("\n7\n", ":2: not an object")):
        path = tmp_path / "r.jsonl"
        path.write_text(text)
        with pytest.raises(DataError, match=said):
            harness.load(path)
