"""What rows show of a file with an unusual first line, marks or columns: read, or said what it is.

Each remedy that a message or a note names is followed here.
"""

from __future__ import annotations

import pandas as pd
import pytest

from harness import datasets
from harness.datasets.loading import load_under
from harness.datasets.remedies import remedies_of
from harness.datasets.section import DatasetSection
from harness.errors import DataError

from .conftest import rows_of

PAIRS = [(user, item, (user * item) % 5 + 1) for user in range(1, 13) for item in range(1, 7)]
PLAIN = [(str(user), str(item), float(rating), 0) for user, item, rating in PAIRS]


def lines(pattern, head=""):
    """Return a line for each rating, of user, item and rating."""
    return head + "".join(pattern.format(*row) + "\n" for row in PAIRS)


def codes(ratings):
    return {note.code for note in ratings.notes}


def followed(load, name, content, **keys):
    """Return what is read with the first remedy of the refusal."""
    with pytest.raises(DataError) as caught:
        load(name, content, **keys)
    remedy = remedies_of(str(caught.value))[0]
    return load(name, content, **keys, **remedy.keys)


class TestHeadersThatDoNotFit:
    def test_a_separator_at_the_end_of_rows_alone_is_left_out(self, load):
        ratings = load("a.csv", lines("{0},{1},{2},", "user,item,rating\n"))
        assert rows_of(ratings) == PLAIN

    def test_the_last_names_may_have_no_fields(self, load):
        ratings = load("a.csv", lines("{0},{1},{2}", "user,item,rating,comment\n"))
        assert rows_of(ratings) == PLAIN
        (note,) = (note for note in ratings.notes if note.code == "names-without-fields")
        assert note.values == {"names": ["comment"], "n": 3}

    def test_rows_that_lack_a_column_of_ratings_are_refused(self, load):
        with pytest.raises(DataError, match="2 fields where the first line has 3"):
            load("a.csv", lines("{0},{1}", "user,item,rating\n"))

    def test_a_date_in_the_first_line_shows_that_it_is_a_row(self, load):
        content = lines("u{0}\t2009-05-04T23:08:57Z\tm{1}\ttrack {1}")
        with pytest.raises(DataError, match="it has no ratings") as caught:
            load("a.tsv", content)
        assert "a header, it seems" not in str(caught.value)

    def test_names_in_the_third_column_are_not_ratings(self, load):
        content = "".join(f"{n % 9},{34 * 10**9 + n},s{n},5,6\n" for n in range(60))
        with pytest.raises(
            DataError, match=r"column 3 holds no numbers, but 60 texts .*no ratings"
        ):
            load("a.csv", content)


class TestMarks:
    def test_marks_behind_a_backslash_belong_to_the_field(self, load):
        ratings = load("a.csv", lines(r'{0},"film \"{1}\", 2",{2}', "user,item,rating\n"))
        assert rows_of(ratings)[0][:3] == ("1", 'film "1", 2', 2.0)
        assert ratings.n_items == 6

    def test_blanks_between_texts_in_marks_separate_as_r_writes_them(self, load):
        body = "".join(f'"{n}" "u{u}" "i {i}" {r}\n' for n, (u, i, r) in enumerate(PAIRS, 1))
        ratings = load("a.txt", '"user" "item" "rating"\n' + body)
        assert rows_of(ratings) == [(f"u{u}", f"i {i}", r, t) for u, i, r, t in PLAIN]

    @pytest.mark.parametrize(("left", "right"), ["“”", "„“", "«»", "»«"])
    def test_typographic_marks_around_all_ids_are_left_out(self, load, left, right):
        content = lines(f"{left}{{0}}{right},{left}i{{1}}{right},{{2}}", "user,item,rating\n")
        ratings = load("a.csv", content)
        assert rows_of(ratings)[0][:2] == ("1", "i1")
        (note,) = {note for note in ratings.notes if note.values.get("role") == "user"}
        (remedy,) = remedies_of(str(note))
        kept = load("a.csv", content, **remedy.keys)
        assert rows_of(kept)[0][:2] == (f"{left}1{right}", f"{left}i1{right}")

    def test_typographic_marks_around_some_ids_are_text(self, load):
        ratings = load("a.csv", "user,item,rating\n“ann”,x,1\nbob,x,2\n“cleo” of k,x,3\n")
        assert ratings.user_ids.tolist() == ["“ann”", "bob", "“cleo” of k"]

    def test_lines_in_marks_as_a_whole_are_refused_with_what_they_are(self, load):
        with pytest.raises(DataError, match="each line is in quotation marks as a whole"):
            load("a.csv", lines('"{0},{1},{2}"', '"user,item,rating"\n'))

    def test_a_letter_between_fields_is_named(self, load):
        content = lines("{0}þ{1}þ{2}", "userþitemþrating\n")
        assert rows_of(followed(load, "a.txt", content)) == PLAIN


class TestColumns:
    def test_e_mail_addresses_in_the_second_column_alone_are_users(self, load):
        content = lines("film {1},u{0}@x.org,{2}")
        ratings = load("a.csv", content)
        assert rows_of(ratings)[0][:2] == ("u1@x.org", "film 1")
        (note,) = (note for note in ratings.notes if note.code == "item-first")
        (remedy,) = remedies_of(str(note))
        assert rows_of(load("a.csv", content, **remedy.keys))[0][:2] == ("film 1", "u1@x.org")

    def test_a_date_of_oracle_is_a_time(self, load):
        content = lines("{0},{1},{2},31-MAR-07", "user,item,rating,created\n")
        assert "times-unread" in codes(load("a.csv", content))

    def test_fields_of_json_are_proposed(self, load):
        frame = pd.DataFrame(PAIRS, columns=["user", "item", "hours"])
        content = frame.to_json(orient="records", lines=True)
        assert rows_of(followed(load, "a.jsonl", content)) == PLAIN

    def test_true_and_false_are_proposed_with_their_numbers(self, load):
        frame = pd.DataFrame(PAIRS, columns=["user", "item", "liked"])
        frame["liked"] = frame["liked"] > 3
        for name in ("a.jsonl", "a.csv"):
            is_csv = name.endswith("csv")
            content = frame.to_csv(index=False) if is_csv else frame.to_json(orient="records")
            ratings = followed(load, name, content)
            assert [row[2] for row in rows_of(ratings)] == [float(r > 3) for _, _, r in PAIRS]

    def test_the_time_of_a_day_as_a_small_number_is_asked_about(self, load):
        content = lines("{0},{1},{2},{1}", "user,item,rating,time\n")
        (note,) = (note for note in load("a.csv", content).notes if note.code == "times-of-1970")
        assert rows_of(load("a.csv", content, **remedies_of(str(note))[-1].keys)) == PLAIN

    def test_a_trec_run_is_refused_and_its_scores_are_read_if_said(self, load):
        content = lines("{0} Q0 {1} 1 {2}.5 bm25")
        with pytest.raises(DataError, match="a TREC run"):
            load("a.run", content)
        scores = [(user, item, rating + 0.5, 0) for user, item, rating, _ in PLAIN]
        assert rows_of(followed(load, "a.run", content)) == scores


class TestWideTables:
    WORDS = pd.DataFrame(PAIRS, columns=["user", "item", "rating"]).assign(
        rating=lambda frame: frame["rating"].map(
            lambda r: ("awful", "poor", "fair", "good", "great")[r - 1]
        )
    )

    def test_words_in_their_fields_are_ratings(self, load):
        content = self.WORDS.pivot_table(
            index="user", columns="item", values="rating", aggfunc="first"
        ).to_csv()
        ratings = followed(load, "a.csv", content)
        assert sorted(rows_of(ratings)) == sorted(PLAIN)

    def test_other_texts_are_not(self, load):
        rows = "".join(f"{n},Ann {n},m,red,yes\n" for n in range(30))
        with pytest.raises(DataError, match="no column for the item and the rating"):
            load("a.csv", "user,name,sex,colour,likes\n" + rows)

    def test_parquet_is_one_by_the_key_too(self, tmp_path):
        table = pd.DataFrame(PAIRS, columns=["user", "item", "rating"])
        wide = table.pivot_table(index="user", columns="item", values="rating")
        wide.columns = wide.columns.astype(str)
        wide.reset_index().to_parquet(tmp_path / "a.parquet")
        for keys in ({}, {"format": "matrix"}):
            ratings = datasets.load({"path": "a.parquet", **keys}, base=tmp_path)
            assert sorted(rows_of(ratings)) == sorted(PLAIN)
        with_less = {"format": "matrix", "not_items": ["6"]}
        assert datasets.load({"path": "a.parquet", **with_less}, base=tmp_path).n_items == 5

    def test_a_column_of_equal_numbers_is_said_with_what_leaves_it_out(self, load):
        rows = (
            f"u{n},{1 + n % 5},{1 + 2 * n % 5},{5 - n % 5},{1 + 3 * n % 5},1,x" for n in range(12)
        )
        content = "user,a,b,c,d,wave,group\n" + "\n".join(rows) + "\n"
        ratings = load("a.csv", content)
        assert ratings.n_items == 5
        said = {note.code: str(note) for note in ratings.notes}
        assert said["matrix-columns-constant"] == (
            "wave read as items, and each row has the same number there; "
            "`not_items: [group, wave]` leaves out columns that hold no ratings"
        )
        followed = load("a.csv", content, format="matrix", not_items=["group", "wave"])
        assert {*followed.item_ids} == {*"abcd"}
        assert "matrix-columns-constant" not in codes(followed)
        few = "\n".join(content.split("\n")[:10]) + "\n"  # too few rows to tell
        assert "matrix-columns-constant" not in codes(load("a.csv", few))

    def test_a_frame_with_pandas_name_of_the_values_is_one(self, tmp_path):
        table = pd.DataFrame(PAIRS, columns=["user", "item", "rating"])
        path = tmp_path / "a.csv"
        table.pivot_table(index="user", columns="item", values=["rating"]).to_csv(path)
        for source in (path, pd.read_csv(path)):
            assert sorted(rows_of(datasets.load(source))) == sorted(PLAIN)

    @pytest.mark.parametrize("as_frame", [False, True])
    def test_items_are_in_rows_by_the_key_of_the_note(self, tmp_path, as_frame):
        table = pd.DataFrame(PAIRS, columns=["user", "item", "rating"])
        table = table.assign(
            user="Ann " + table["user"].astype(str), item="Film " + table["item"].astype(str)
        )
        wide = table.pivot_table(index="item", columns="user", values="rating")
        wide.columns.name, wide.index.name = None, "title"
        wide.to_csv(tmp_path / "a.csv")
        (note,) = (n for n in datasets.load(tmp_path / "a.csv").notes if "matrix-read" in n.code)
        (remedy,) = remedies_of(str(note))
        if as_frame:
            section = DatasetSection(path="-", **remedy.keys)
            ratings = load_under(pd.read_csv(tmp_path / "a.csv"), section)
        else:
            ratings = datasets.load({"path": "a.csv", **remedy.keys}, base=tmp_path)
        found = {(user, item, rating) for user, item, rating, _ in rows_of(ratings)}
        assert found == {*table.astype({"rating": float}).itertuples(index=False, name=None)}


class TestDoubts:
    """What a file cannot tell is said, with what to do."""

    def test_a_short_last_rating_without_a_line_end_may_be_cut_off(self, load):
        content = lines("{0},{1},{2}.5", "user,item,rating\n")
        assert "maybe-cut" in codes(load("a.csv", content[:-3]))
        assert "maybe-cut" not in codes(load("a.csv", content[:-1]))  # whole
        assert "maybe-cut" not in codes(load("a.csv", content[:-3] + "\n"))

    def test_ids_with_an_exponent_may_have_lost_digits(self, load):
        content = lines("7.65{0:02d}E+16,{1},{2}", "user,item,rating\n")
        (note,) = (note for note in load("a.csv", content).notes if note.code == "exponent-ids")
        assert note.values == {"role": "user", "example": "7.6501E+16"}
        beside = content + "ann,1,2\n"
        assert "exponent-ids" not in codes(load("a.csv", beside))

    def test_zeros_below_even_numbers_are_asked_about(self, load):
        content = lines("{0},{1},{2}", "user,item,rating\n").replace(",1\n", ",10\n")
        content = content.replace(",3\n", ",0\n").replace("13,", "14,")
        ratings = load("a.csv", content)
        (note,) = (note for note in ratings.notes if "not_rated" in str(note))
        (first, *_) = remedies_of(str(note))
        assert load("a.csv", content, **first.keys).ratings.min() > 0


def test_a_file_for_each_user_is_refused_with_what_is_missing(tmp_path):
    for user in range(1, 13):
        (tmp_path / f"{user}.csv").write_text("item,rating\n1,2\n")
    with pytest.raises(DataError, match=r"no column for the user: .*the name of each file"):
        datasets.load(tmp_path)


def test_an_empty_folder_is_called_empty(tmp_path):
    with pytest.raises(DataError, match="as this folder is empty"):
        datasets.load(tmp_path)


def test_a_program_is_called_one(load):
    with pytest.raises(DataError, match="a program, which is not read"):
        load("a.csv", b"\x7fELF" + bytes(range(256)))
