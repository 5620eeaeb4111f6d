"""Numbers with marks between thousands; ids that are one, though written in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from harness import datasets
from harness.datasets.inspection import detect
from harness.errors import DataError

from .conftest import rows_of

PLAYS = 'user,item,plays\na,x,12\na,y,"1,234"\nb,x,999\nb,y,"10,000"\n'
ALIKE = ["caf\u00e9", "cafe\u0301", "bob", "bob\u00a0", "ann", "an\u200bn", "\uff21", "A"]


class TestThousands:
    @pytest.mark.parametrize(
        ("text", "keys", "number"),
        [
            ("1,234", {"thousands": ","}, 1234.0),
            ("1,234,567.5", {"thousands": ","}, 1234567.5),
            ("-1,234", {"thousands": ","}, -1234.0),
            ("1.234,5", {"thousands": ".", "decimal": ","}, 1234.5),
            ("1 234", {"thousands": " "}, 1234.0),
            ("999", {"thousands": ","}, 999.0),
            ("1,5", {"decimal": ","}, 1.5),
        ],
    )
    def test_are_read_as_the_config_says(self, load, text, keys, number):
        keys |= {"out_of_scale": "keep"}
        ratings = load("a.csv", f"user;item;rating\na;x;{text}\nb;x;7\n", **keys)
        assert ratings.ratings.tolist() == [number, 7.0]

    @pytest.mark.parametrize("text", ["12,34", "1,2345", "1,,234", "1,23"])
    def test_marks_at_other_places_are_no_thousands(self, load, text):
        with pytest.raises(DataError, match="is not a number"):
            load("a.csv", f"user;item;rating\na;x;{text}\n", thousands=",")

    def test_what_is_not_certain_is_refused_with_both_keys(self, load):
        with pytest.raises(DataError, match=r"1234, say `thousands: ','`; if it is 1\.234,"):
            load("a.csv", "user;item;rating\na;x;1,234\nb;x;7\n")

    def test_one_mark_is_not_both(self, load):
        with pytest.raises(DataError, match="decimal mark too"):
            load("a.csv", PLAYS, thousands=",", decimal=",")

    @pytest.mark.parametrize(
        ("numbers", "found"),
        [
            (["12", "1,234", "999"], {"thousands": ","}),
            (["1,234,567", "1"], {"thousands": ","}),
            (["4,5", "3,125", "2"], {"decimal": ","}),
            (["4,125", "3,875", "5"], None),
        ],
    )
    def test_a_file_shows_what_its_commas_are_or_is_refused(self, tmp_path, numbers, found):
        rows = "".join(f"u{n};i{n};{number}\n" for n, number in enumerate(numbers))
        (tmp_path / "a.csv").write_text("user;item;rating\n" + rows)
        if found is None:
            assert "if that is 4125, say `thousands: ','`" in detect(tmp_path / "a.csv").faults
            return
        section = detect(tmp_path / "a.csv").section
        assert {key: section.get(key) for key in found} == found


class TestIds:
    def test_floats_that_pandas_wrote_are_whole_numbers(self, load):
        ratings = load("a.csv", "user,item,rating\n1,x,1\n1.0,y,2\n2.0,x,3\n")
        assert [row[0] for row in rows_of(ratings)] == ["1", "1", "2"]
        (note,) = (note for note in ratings.notes if note.code == "float-ids-joined")
        assert note.values == {"role": "user", "example": "1.0", "plain": "1", "n": 1}
        assert note.text == "user ids written as 1.0 read as 1; 1 id is written in both ways"

    def test_nothing_is_said_of_joined_ids_where_none_is(self, load):
        ratings = load("a.csv", "user,item,rating\n1.0,x,1\n2.0,x,3\n")
        assert ratings.notes[0].text == "user ids written as 1.0 read as 1"

    @pytest.mark.parametrize("other", ["1.1", "a", "01", "1e3"])
    def test_beside_other_ids_a_point_belongs_to_the_id(self, load, other):
        ratings = load("a.csv", f"user,item,rating\n1,x,1\n1.0,x,2\n{other},x,3\n")
        assert [row[0] for row in rows_of(ratings)] == ["1", "1.0", other]

    @pytest.mark.parametrize("kind", ["int64", "float64", "str"])
    def test_a_frame_and_a_file_have_the_same_ids(self, load, tmp_path, kind):
        ids = [f"{n}.0" for n in range(3)] if kind == "str" else np.arange(3, dtype=kind)
        frame = pd.DataFrame({"user": ids, "item": ids, "rating": [1, 2, 3]})
        of_file = load("a.csv", frame.to_csv(index=False))
        assert of_file.fingerprint == datasets.load(frame).fingerprint

    def test_ids_that_look_the_same_are_counted_and_joined_if_said(self, load):
        rows = "".join(f"{name},i{n},{n}\n" for n, name in enumerate(ALIKE))
        content = "user,item,rating\n" + rows
        ratings = load("a.csv", content)
        (note,) = (note for note in ratings.notes if note.code == "spellings-differ")
        assert (ratings.n_users, note.values["n"]) == (8, 3)
        assert "`id_spellings: join`" in str(note)
        joined = load("a.csv", content, id_spellings="join")
        assert [row[0] for row in rows_of(joined)] == [
            "caf\u00e9", "caf\u00e9", "bob", "bob", "ann", "ann", "\uff21", "A",
        ]  # fmt: skip
        assert "spellings-joined" in {note.code for note in joined.notes}

    def test_letters_of_other_alphabets_are_no_spellings(self, load):
        ratings = load("a.csv", "user,item,rating\nа,x,1\na,x,2\nß,x,3\nss,x,4\n")
        assert ratings.n_users == 4
        assert not {note.code for note in ratings.notes} & {"spellings-differ"}


class TestSpellingsOfOneId:
    UUID = "000000a4-1543-f693-93f0-14e540000000"

    @pytest.mark.parametrize(
        ("one", "other", "joined"),
        [(UUID, UUID.upper(), UUID), (UUID.upper(), UUID, UUID), ("007", "7", "7"),
         ("7", "007", "7"), ("Ann@Shop.org", "ann@shop.org", "ann@shop.org"), ("00", "0", "0")],
    )  # fmt: skip
    def test_are_counted_and_joined_if_said(self, load, one, other, joined):
        content = f"user,item,rating\n{one},x,1\n{other},y,2\n0123,z,3\n"
        ratings = load("a.csv", content)
        assert ratings.user_ids.tolist() == [one, other, "0123"]
        (note,) = (note for note in ratings.notes if note.code == "spellings-differ")
        assert "`id_spellings: join` makes them one" in str(note)
        ratings = load("a.csv", content, id_spellings="join")
        assert [row[0] for row in rows_of(ratings)] == [joined, joined, "0123"]

    def test_an_id_of_one_case_alone_is_joined_to_the_form_of_the_others(self, load):
        other = self.UUID.replace("a4", "b5").upper()
        content = f"user,item,rating\n{self.UUID},x,1\n{self.UUID.upper()},y,2\n{other},z,3\n"
        ratings = load("a.csv", content, id_spellings="join")
        assert ratings.user_ids.tolist() == [self.UUID, other.lower()]

    def test_names_and_numbers_of_one_length_are_not(self, load):
        content = "user,item,rating\nAnn,007,1\nann,070,2\n"
        ratings = load("a.csv", content)
        assert "spellings-differ" not in {note.code for note in ratings.notes}
