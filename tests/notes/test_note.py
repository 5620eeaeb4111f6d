"""A note is a code with values, from which its text is made once."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import harness
from harness import Note
from harness._util.files import RUN_FILE
from harness.errors import ResultsError
from harness.notes.note import PLAIN, as_note, by_weight, codes, sentence
from harness.results.record import RunInfo

PACKAGE = Path(harness.__file__).parent
DATA = {"synthetic": {"n_users": 60, "n_items": 40, "n_ratings": 1200}}
CONFIG = {
    "name": "noted",
    "dataset": DATA,
    "algorithms": ["BaselineOnly", "EASE"],
    "candidates": ["rated", {"kind": "sampled", "n": 5}],
    "metrics": ["ndcg(ties=first)@3", "rmse", "recall(threshold=5)@3"],
    "groups": [{"items": "popularity"}],
}


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:  # the cache of a test is not set up yet
        patch.setenv("HARNESS_CACHE", str(tmp_path_factory.mktemp("cache")))
        return harness.run(CONFIG, results=tmp_path_factory.mktemp("runs"))


def test_the_text_is_made_of_code_and_values_and_never_again():
    note = Note("unknown-users", {"n": np.int64(1), "n_all": 1200, "share": np.float64(1 / 1200)})
    assert str(note) == "1 of 1,200 test users (0.1%) has no training rating"
    assert json.loads(json.dumps(note.to_dict()))["values"]["n"] == 1
    assert str(note.at("ml-100k").at("outer", "0" * 16)) == f"outer: ml-100k: {note}"
    assert note.at("x").text == note.text
    kept = Note(**{**note.to_dict(), "text": "as it was written: {kind: x}"})
    assert str(kept.at("a")) == "a: as it was written: {kind: x}"
    assert note == Note(**note.to_dict())
    assert len({note, Note(**note.to_dict()), note.at("x")}) == 2
    with pytest.raises(AttributeError):
        note.code = "x"
    with pytest.raises(ValueError, match="mine: a note with an unknown code; give its text"):
        Note("mine")


@pytest.mark.parametrize(
    ("template", "values", "text"),
    [
        ("{n:n user} {n:has|have}", {"n": 1}, "1 user has"),
        ("{n:n user} {n:has|have}", {"n": 2000}, "2,000 users have"),
        ("{names:list} {names:is|are}", {"names": ["a"]}, "a is"),
        ("{names:and} {names:is|are}", {"names": ["a", "b"]}, "a and b are"),
        ("{share:percent}, {share:.0%}", {"share": 0.5}, "50.0%, 50%"),
        (
            "because {why}",
            {"why": Note("none-relevant").to_dict()},
            f"because {Note('none-relevant')}",
        ),
    ],
)
def test_numbers_and_lists_decide_between_singular_and_plural(template, values, text):
    assert sentence(template, **values) == text


def test_every_code_that_the_package_names_is_declared_and_every_declared_one_is_named():
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r'Note\(\s*"([a-z-]+)"', source))
    assert named <= {*codes()}
    assert not [code for code in codes() if f'"{code}"' not in source and code not in MADE]
    declared = tomllib.loads((PACKAGE / "notes" / "notes.toml").read_text(encoding="utf-8"))
    assert {entry["weight"] for entry in declared.values()} == {1, 2, 3}


# Codes whose last part is a value of the config or of the data.
MADE = {
    *(f"{policy}-dropped" for policy in ("unreadable", "missing")),
    *(f"outside-scale-{done}" for done in ("dropped", "clipped", "kept")),
    *(f"unknown-{role}" for role in ("users", "items")),
}


def test_a_run_notes_codes_and_the_weightiest_come_first(done):
    notes = done.info.notes
    assert {note.code for note in notes} >= {"leak", "sampled-biased", "preferences", "claim"}
    assert PLAIN not in {note.code for note in notes}
    weights = [note.weight for note in notes]
    assert weights == sorted(weights, reverse=True)
    written = json.loads((done.folder / RUN_FILE).read_text(encoding="utf-8"))
    assert [Note(**each) for each in written["notes"]] == notes
    assert [each["text"] for each in written["notes"]] == [note.text for note in notes]
    assert harness.read_run(done.folder).info.notes == notes


def test_notes_of_before_they_had_codes_are_read_as_sentences(done):
    record = json.loads(done.info.model_dump_json())
    for place in (record, *record["datasets"], *record["splits"], *record["cells"]):
        place["notes"] = [note["text"] for note in place["notes"]]
    read = RunInfo.checked(record)
    assert [str(note) for note in read.notes] == [note.text for note in done.info.notes]
    assert {note.code for note in read.notes} == {PLAIN}
    for wrong in ({}, {"code": "a b", "text": "x"}, {"code": "x", "text": ""}, 3):
        with pytest.raises(ResultsError, match=r"notes\[0\]"):
            RunInfo.checked(record | {"notes": [wrong]})


def test_notes_are_sorted_by_weight_once_each():
    light, heavy, plain = (
        Note("measured", {"conditions": "x"}),
        Note("own-training"),
        as_note("a: b"),
    )
    assert by_weight([light, plain, heavy, light]) == [heavy, plain, light]
    assert as_note(plain) is plain
