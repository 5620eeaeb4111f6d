"""A damaged cell is found by its checksum; one that does not fit, by types, shapes and ranges."""

import hashlib
import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ResultsError
from harness.metrics import Pairs, Rankings
from harness.results.cells import CellFacts
from harness.results.store import (
    ARRAYS,
    MAGIC,
    OPTIONAL,
    START,
    CellRecord,
    MaintainedStore,
    no_lists,
)

KEY = "ab" * 32
FACTS = {
    "fit_seconds": 0.5,
    "score_seconds": 0.25,
    "peak_mb": 100.0,
    "measured": {
        "processor": "CPU",
        "cores": 2,
        "workers": 1,
        "threads": 2,
        "version": "0.2.0",
        "date": "2026-11-21",
    },
    "fit_path": "accelerated",
    "scoring_path": "surprise",
    "n_impossible": 0,
    "n_test": 3,
    "notes": ["é"],
}


def record(**changes):
    arrays = {
        "users": np.array([0, 2], np.int32),
        "rankings": Rankings(
            [0, 2, 3],
            [3.0, 4.0, 5.0],
            [1, 2, 1],
            [1, 2, 1],
            [1, 2, 1],
            [2, 4],
            top_items=[[0, 1], [2, -1]],
        ),
        "pairs": Pairs([0, 2, 3], [3.5, 3.0, 4.0], [4.0, 3.0, 5.0]),
    }
    return CellRecord(facts=CellFacts(**FACTS), **(arrays | changes))


def taken_apart(data):
    """Return the header and the arrays of a file."""
    with np.load(io.BytesIO(data[START:])) as file:
        arrays = dict(file)
    return json.loads(arrays.pop("header").tobytes()), arrays


def sealed(content):
    """Return a file with a right checksum, whatever it holds."""
    return MAGIC + hashlib.sha256(content).digest() + content


def put_together(header, arrays):
    file = io.BytesIO()
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    np.savez(file, header=np.frombuffer(text, np.uint8), **arrays)
    return sealed(file.getvalue())


@pytest.fixture
def whole():
    return taken_apart(record().to_bytes(KEY))


def without_names(lists):
    names = ("offsets", "relevance", "rank", "tie_low", "tie_high", "n_ranked")
    return Rankings(*(getattr(lists, name) for name in names))


@pytest.mark.parametrize("lists", [record().rankings, without_names(record().rankings)])
def test_a_record_comes_back_as_it_was(lists):
    before = record(rankings=lists)
    after = CellRecord.from_bytes(before.to_bytes(KEY), KEY)
    assert after.facts == before.facts
    for part in ("rankings", "pairs"):
        for name, value in vars(getattr(before, part)).items():
            np.testing.assert_array_equal(getattr(getattr(after, part), name), value)
    assert after.users.tolist() == [0, 2]
    assert after.to_bytes(KEY) == before.to_bytes(KEY)


def test_a_trial_is_its_header_and_comes_back_as_it_was():
    facts = CellFacts(**FACTS, judged={"ndcg@10": 0.5})
    before = CellRecord(facts, inputs={"seed": 1}, **no_lists())
    data = before.to_bytes(KEY)
    assert data[START:].startswith(b"{")
    after = CellRecord.from_bytes(data, KEY)
    assert (after.facts, after.inputs, after.rankings.n_users) == (before.facts, {"seed": 1}, 0)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (FACTS, "arrays are missing"),  # a cell has lists
        (FACTS | {"judged": {"ndcg@10": "much"}}, "judged.ndcg@10 is not right"),
    ],
)
def test_another_header_alone_is_refused(facts, message):
    header = {"key": KEY, "facts": facts, "inputs": {}}
    with pytest.raises(ResultsError, match=message):
        CellRecord.from_bytes(sealed(json.dumps(header).encode()), KEY)


def refused(header, arrays, message):
    with pytest.raises(ResultsError, match=message):
        CellRecord.from_bytes(put_together(header, arrays), KEY)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("users", [0, -1]),
        ("rankings.offsets", [0, 3, 2]),
        ("rankings.offsets", [0, 2**62, 3]),
        ("rankings.offsets", [1, 2, 3]),
        ("rankings.rank", [0, 2, 1]),
        ("rankings.rank", [1, 2**31 - 1, 1]),
        ("rankings.tie_low", [-(2**31), 2, 1]),
        ("rankings.tie_high", [1, 3, 1]),
        ("rankings.n_ranked", [2, 2**62]),
        ("rankings.n_ranked", [2, -1]),
        ("rankings.relevance", [np.nan, 4.0, 5.0]),
        ("rankings.pool_offsets", [0, -1, 3]),
        ("rankings.pool", [np.inf, 3.0, 5.0]),
        ("rankings.top_items", [0, 1, -2, -1]),
        ("pairs.offsets", [0, 5, 3]),
        ("pairs.offsets", [0, -5, 3]),
        ("pairs.estimates", [np.nan, 3.0, 4.0]),
        ("pairs.ratings", [-np.inf, 3.0, 5.0]),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(whole, name, values):
    header, arrays = whole
    arrays[name] = np.array(values, dtype=ARRAYS[name][0]).reshape(arrays[name].shape)
    refused(header, arrays, "not a cached cell")


def test_an_array_that_is_missing_is_refused(whole):
    header, arrays = whole
    assert CellRecord.from_bytes(put_together(header, arrays), KEY).users.tolist() == [0, 2]
    for name in ARRAYS.keys() - OPTIONAL:
        others = {each: array for each, array in arrays.items() if each != name}
        refused(header, others, "arrays are missing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "cd" * 32}, "another key"),
        ({"key": 3}, "key is not right"),
        ({"facts": {"fit_seconds": "fast"}}, "facts.fit_seconds"),
        ({"facts": {"fit_seconds": -1.0}}, "facts.fit_seconds"),
        ({"facts": {"notes": [{}]}}, "facts.notes"),
        ({"facts": {"algorithm": "another"}}, "facts.algorithm"),
        ({"facts": {"n_test": 10**30}}, "facts.n_test"),
        ({"extra": 1}, "extra is not right"),
    ],
)
def test_a_header_that_says_something_else_is_refused(whole, change, message):
    header, arrays = whole
    for key, value in change.items():
        header[key] = header[key] | value if isinstance(value, dict) else value
    refused(header, arrays, message)


@pytest.mark.parametrize("header", [b"", b"[]", b"null", b'{"key": "', b"\xff\xfe", b"9"])
def test_a_header_that_is_no_header_is_refused(header):
    refused(header, {}, "not a cached cell")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"users": np.zeros((2, 1), np.int32)}, "users is of another type"),
        ({"users": np.zeros(2, np.int64)}, "users is of another type"),
        ({"users": np.zeros(2, ">i4")}, "users is of another type"),
        ({"users": np.array([print, len])}, "pickle"),
        ({"rankings.top_items": np.zeros((4, 1), np.int32)}, "contradict"),
        ({"more": np.zeros(1)}, "too many"),
    ],
)
def test_arrays_of_another_shape_or_type_are_refused(whole, change, message):
    header, arrays = whole
    refused(header, arrays | change, message)


@pytest.mark.parametrize(
    "content", [b"", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00", b"\x80\x04."]
)
def test_what_is_no_archive_of_arrays_is_refused(content):
    with pytest.raises(ResultsError, match="not a cached cell"):
        CellRecord.from_bytes(sealed(content), KEY)


@settings(max_examples=min(200, 6 * settings().max_examples))  # all in a search
@given(data=st.data())
def test_any_change_of_any_byte_is_found(data):
    content = bytearray(record().to_bytes(KEY))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ResultsError, match=r"cached cell|checksum"):
        CellRecord.from_bytes(bytes(content), KEY)


def is_refused_or_possible(data):
    try:
        read = CellRecord.from_bytes(data, KEY)
    except ResultsError:
        return
    lists = read.rankings
    assert (lists.tie_low >= 1).all()
    assert (lists.rank <= np.repeat(lists.n_ranked, np.diff(lists.offsets))).all()
    assert np.isfinite(read.pairs.estimates).all()


@settings(max_examples=min(300, 6 * settings().max_examples))  # all in a search
@given(data=st.data())
def test_any_change_of_a_number_is_refused_or_makes_a_possible_cell(data):
    header, arrays = taken_apart(record().to_bytes(KEY))
    name = data.draw(st.sampled_from(sorted(arrays)))
    flat = arrays[name].reshape(-1).view(np.uint8)
    place = data.draw(st.integers(0, len(flat) - 1))
    flat[place] ^= data.draw(st.integers(1, 255))
    is_refused_or_possible(put_together(header, arrays))


@settings(max_examples=min(500, 6 * settings().max_examples))  # all in a search
@given(data=st.data())
def test_any_change_under_a_right_checksum_is_refused_or_makes_a_possible_cell(data):
    content = bytearray(record().to_bytes(KEY)[START:])
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    is_refused_or_possible(sealed(bytes(content)))


def test_users_and_items_beyond_the_data_do_not_fit():
    assert record().fits(n_users=3, n_items=3)
    assert not record().fits(n_users=2, n_items=3)
    assert not record().fits(n_users=3, n_items=2)


def test_files_that_are_no_cells_are_left_alone(tmp_path):
    store = MaintainedStore(tmp_path)
    for name in ("ab/short.cell", f"cd/{KEY}.cell", "ab/../ab/x.cell"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"mine")
    assert list(store.entries()) == []
    assert store.prune(0) == 0
    assert (tmp_path / "cd" / f"{KEY}.cell").read_bytes() == b"mine"
