"""What stands before the rows of a text, its encoding, and quotation marks after a stroke."""

from __future__ import annotations

import pytest

from harness import datasets
from harness.datasets.inspection import detect
from harness.datasets.readers.text import encoding_of_bytes
from harness.errors import DataError

from .conftest import rows_of

BODY = "7,30,4\n5,30,2.5\n7,10,5\n"
ROWS = [("7", "30", 4.0, 0), ("5", "30", 2.5, 0), ("7", "10", 5.0, 0)]
HEAD = "user,item,rating\n"
TITLE = r'"1";"a";"5"' + "\n" + r'"2";"The \"x\" of y";"4"' + "\n" + r'"3";"c \"";"3"' + "\n"
CHINESE = "用户,电影,评分\n" + "".join(f"用户{n}甲,霸王别姬{n},{n % 5}\n" for n in range(9))


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        ("sep=,\n" + HEAD + BODY, {}),
        ('"sep=;"\n' + (HEAD + BODY).replace(",", ";"), {}),
        ("sep=|\n" + BODY.replace(",", "|"), {}),
        ("# exported 2020-01-01, by hand\n" + HEAD + BODY, {}),
        ("# a\n#b\n\n# c\n" + BODY, {}),
        ("# user,item,rating\n" + BODY, {}),
        ("# one, two\n# item,user,rating\n30,7,4\n30,5,2.5\n10,7,5\n", {}),
        ("#user\titem\trating\n" + BODY.replace(",", "\t"), {}),
        ("a report\nof 2020\n\n" + HEAD + BODY, {"skip": 2}),
        ("% no\n" + HEAD + "% no\n" + BODY.replace("5,30", "% a, b, c\n5,30"), {"comment": "%"}),
        (BODY.replace(",", "\t\t"), {}),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_rows_are_found(load, content, keys, end):
    assert rows_of(load("a.csv", content.replace("\n", end), **keys)) == ROWS


def test_what_is_not_read_is_counted_and_lines_keep_their_numbers(load):
    content = "# a\n# b\n" + HEAD + "1,1,1\n2,2,x\n"
    with pytest.raises(DataError, match=r"a\.csv:5: the rating 'x'"):
        load("a.csv", content)
    ratings = load("a.csv", content.replace("x", "2"))
    (note,) = (note for note in ratings.notes if note.code == "comments-skipped")
    assert note.values == {"n": 2, "line": 3}
    with pytest.raises(DataError, match=r"a\.csv:6: the rating 'x'"):
        load("a.csv", "x\ny\n" + HEAD + "#\n1,1,1\n2,2,x\n", skip=2, comment="#")


def test_an_id_may_begin_with_a_number_sign(load):
    ratings = load("a.csv", HEAD + "#1,2,3\n#2,2,4\n")
    assert [row[0] for row in rows_of(ratings)] == ["#1", "#2"]
    assert len(load("a.csv", "#1,2,3\n#2,2,4\n", header=False)) == 2


@pytest.mark.parametrize("columns", [None, {"user": 2, "item": 1}])
def test_an_order_of_columns_that_is_assumed_is_said(load, columns):
    ratings = load("a.csv", BODY, **({"columns": columns} if columns else {}))
    notes = [str(note) for note in ratings.notes if note.code == "columns-assumed"]
    assert len(notes) == (columns is None)
    if columns is None:
        assert "user, item, rating" in notes[0]
        assert "{user: 2, item: 1}" in notes[0]
    assert "columns-assumed" not in {note.code for note in load("a.csv", HEAD + BODY).notes}


def test_a_quotation_mark_after_a_stroke_is_one_as_book_crossing_writes_it(load):
    ratings = load("a.csv", "user;title;rating\n" + TITLE, columns={"item": "title"})
    assert [row[1] for row in rows_of(ratings)] == ["a", 'The "x" of y', 'c "']
    plain = load("a.csv", 'user;title;rating\n"1";"a\\";"5"\n', columns={"item": "title"})
    assert [row[1] for row in rows_of(plain)] == ["a\\"]


class TestEncodings:
    @pytest.mark.parametrize("encoding", ["gbk", "big5", "shift_jis", "cp1251", "latin-1", "cp500"])
    def test_any_that_python_knows_is_read(self, load, encoding):
        name = {"cp1251": "Иван", "latin-1": "Jürgen", "cp500": "x"}.get(encoding, "山田")
        content = f"user,item,rating\n{name},1,5\n".encode(encoding)
        assert rows_of(load("a.csv", content, encoding=encoding)) == [(name, "1", 5.0, 0)]

    @pytest.mark.parametrize("encoding", ["gkb", "base64", "", "a\x00b"])
    def test_what_is_none_is_refused(self, load, encoding):
        with pytest.raises(DataError, match="encoding"):
            load("a.csv", BODY, encoding=encoding)

    def test_chinese_and_western_text_are_told_apart(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_bytes(CHINESE.encode("gbk"))
        assert detect(path).section["encoding"] == "gbk"
        path.write_bytes("user,item,rating\nJürgen,Amélie,5\nAnaïs,Ôò,4\n".encode("latin-1"))
        assert detect(path).section["encoding"] == "cp1252"

    @pytest.mark.parametrize("text", ["안녕하세요사용자영화평점", "Пользователь фильм оценка"])
    def test_other_languages_are_not_taken_for_chinese(self, text):
        data = f"{text},{text}\n".encode("euc_kr" if ord(text[0]) > 0xAC00 else "cp1251") * 9
        assert encoding_of_bytes(data) != "gbk"

    def test_a_header_in_another_encoding_is_read_and_a_note_names_it(self, load):
        ratings = load("a.csv", CHINESE.encode("gbk"))
        assert ratings.user_ids[0] == "用户0甲"
        (note,) = (note for note in ratings.notes if note.code == "layout-found")
        assert note.text == "read with `encoding: gbk`, as the file shows"


def test_a_published_data_set_does_not_say_that_its_order_was_assumed():
    assert "columns-assumed" not in {note.code for note in datasets.load("bundled").notes}
