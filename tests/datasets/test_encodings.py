"""Texts that are not UTF-8: read if their encoding is certain, else refused with what it may be."""

from __future__ import annotations

import pytest

from harness.datasets.readers import text as reading
from harness.datasets.readers.encodings import encoding_of_bytes, guesses
from harness.errors import DataError

from .conftest import rows_of
from .test_values import remedies

CERTAIN = [
    ("gbk", "用户七", "霸王别姬"),
    ("gbk", "张伟 李娜", "王芳和刘洋"),
    ("big5", "王小明", "臥虎藏龍的電影"),
    ("big5", "陳先生 林小姐", "台北市和高雄"),
    ("shift_jis", "表34", "ソ19"),
    ("shift_jis", "田中", "東京"),
    ("shift_jis", "山田太郎", "となりのトトロ"),
    ("euc_jp", "鈴木花子", "となりのトトロ"),
    ("euc_kr", "김철수 이영희", "올드보이와 기생충"),
    ("cp1251", "Иван", "Солярис"),
    ("cp1251", "Михаил", "Зеркало"),
    ("koi8_r", "Иван", "Солярис"),
    ("cp866", "Мария", "Зеркало"),
    ("cp1252", "Jürgen", "Amélie"),
    ("cp1252", "José Muñoz", "El niño"),
    ("cp1252", "João", "São"),
    ("cp1252", "Søren", "Ærø"),
    ("cp1252", "MÜLLER", "GRÖSSE"),
    ("cp1252", "Þórður", "Ísafjörður"),
    ("cp1252", "Zoë’s", "naïve – “x”"),
    ("mac_roman", "José", "Jürgen"),
    ("cp850", "José", "Jürgen"),
    ("cp1253", "Γιώργος", "Ελλάδα"),
    ("cp1250", "Dvořák", "Příliš žluťoučký"),
]
UNCERTAIN = [
    ("gbk", "北京", "1"),
    ("euc_kr", "사용자", "2"),
    ("cp1252", "é", "1"),
    ("cp1250", "Őrség", "Tükör"),
    ("cp1250", "Ştefan Ţăran", "Mănăstire"),
    ("iso8859_2", "Łukasz Żółw", "Gdańsk Święta"),
    ("cp1254", "Kullanıcı", "Şirin"),
    ("cp1254", "Ayşe Yıldız", "Çağrı"),
]


def content(user, item, n=3):
    return "user,item,rating\n" + "".join(f"{user}{k},{item}{k},{k % 5 + 1}\n" for k in range(n))


def rows(user, item, n=3):
    return [(f"{user}{k}", f"{item}{k}", float(k % 5 + 1), 0) for k in range(n)]


@pytest.mark.parametrize(("encoding", "user", "item"), CERTAIN)
def test_a_certain_encoding_is_read_and_said(load, encoding, user, item):
    data = content(user, item).encode(encoding)
    ratings = load("a.csv", data)
    assert rows_of(ratings) == rows(user, item)
    (note,) = (note for note in ratings.notes if note.code == "encoding-found")
    assert user[:4] in str(note)
    named = load("a.csv", data, encoding=note.values["encoding"])
    assert rows_of(named) == rows(user, item)
    assert "encoding-found" not in {note.code for note in named.notes}


@pytest.mark.parametrize(("encoding", "user", "item"), UNCERTAIN)
def test_an_uncertain_one_is_refused_with_a_line_in_each_candidate(load, encoding, user, item):
    data = content(user, item).encode(encoding)
    with pytest.raises(DataError, match="its encoding is not certain") as refused:
        load("a.csv", data)
    keys = remedies(refused.value)
    assert 2 <= len(keys) <= 3
    assert f" reads {user}0,{item}0,1" in str(refused.value)
    read = [rows_of(load("a.csv", data, **key)) for key in keys]
    assert rows(user, item) in read


@pytest.mark.parametrize("form", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_with_and_without_a_mark_is_read(load, form):
    ratings = load("a.csv", content("Jürgen", "語").encode(form))
    assert rows_of(ratings) == rows("Jürgen", "語")
    said = {note.code for note in ratings.notes}
    assert ("encoding-found" in said) == form.endswith("e")


@pytest.mark.parametrize("block", [1 << 22, 40])
def test_the_first_line_that_is_not_ascii_may_come_late(load, monkeypatch, block):
    monkeypatch.setattr(reading, "BLOCK", block)
    plain = "".join(f"u{n},i{n},3\n" for n in range(40))
    text = "user,item,rating\n" + plain + "Иван,Солярис,5\nМария,Зеркало,4\n"
    ratings = load("a.csv", text.encode("cp1251"))
    assert rows_of(ratings)[-1] == ("Мария", "Зеркало", 4.0, 0)


def test_a_line_of_another_encoding_in_utf_8_is_a_fault_with_its_line(load):
    text = content("Jürgen", "語", 20).encode() + "Zoë,x,5\n".encode("cp1252")
    with pytest.raises(DataError, match=r"a\.csv:22: the user is not UTF-8"):
        load("a.csv", text)


def test_bytes_that_the_found_encoding_has_not_are_refused(load, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK", 40)
    monkeypatch.setattr(reading, "SAMPLE", 40)
    text = content("Jürgen", "Amélie", 20).encode("cp1252") + b"\x81\x8d,x,5\n"
    with pytest.raises(DataError, match="not cp1252"):
        load("a.csv", text)


def test_a_header_may_be_what_shows_it(load):
    text = "用户,电影,评分\n1,x,5\n2,北京电影学院的张伟,4\n"
    ratings = load("a.csv", text.encode("gbk"), columns={"user": 1, "item": 2, "rating": 3})
    assert rows_of(ratings) == [("1", "x", 5.0, 0), ("2", "北京电影学院的张伟", 4.0, 0)]


@pytest.mark.parametrize(("encoding", "user", "item"), CERTAIN)
def test_no_encoding_is_taken_that_makes_another_text(encoding, user, item):
    for one in (user, item, f"{user}\n{item}"):
        data = one.encode(encoding)
        if data.isascii():
            continue
        found = encoding_of_bytes(data)
        assert found is None or data.decode(found) == one
        assert len(guesses(data)) > 1
