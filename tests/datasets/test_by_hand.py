"""Files as hands, apps and less usual programs write them."""

import pathlib
import re
import urllib.parse

import pandas as pd
import pytest

import harness
from harness.config.yaml import as_yaml, escaped, parse
from harness.console.answers import _yaml
from harness.errors import DataError
from harness.plugins import registry as plugins
from tests.datasets.conftest import rows_of
from tests.plugins.test_plugins import install

ROWS = [(f"u{n % 8}", f"i{n // 4}", 1 + n % 5) for n in range(24)]
TRUTH = sorted((user, item, float(rating)) for user, item, rating in ROWS)


def lines(form, head=""):
    return head + "".join(form.format(*row) + "\n" for row in ROWS)


def refusal(load, name, content):
    with pytest.raises(DataError) as refused:
        load(name, content)
    return str(refused.value)


def plain(ratings):
    return sorted(row[:3] for row in rows_of(ratings))


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "blanks that do not break": (
            "a.csv", lines("{0},{1},{2}\xa0", "user\xa0id,item\xa0id,rating\n")),
        "marks without width": ("a.csv", lines("{0},{1},{2}", "\u200buser,item\u200e,rating\n")),
        "text sequences": (
            "a.json", lines('\x1e{{"user": "{0}", "item": "{1}", "rating": {2}}}')),
        "Oracle": ("a.sql", lines(
            "Insert into R (USER_ID,ITEM_ID,RATING) values ('{0}','{1}',{2});",
            "REM INSERTING into R\nSET DEFINE OFF;\n")),
        "SQL Server": ("a.sql", lines(
            "INSERT [dbo].[R] ([user], [item], [rating]) VALUES (N'{0}', N'{1}', "
            "CAST({2}.0 AS Decimal(3, 1)))\nGO",
            "USE [shop]\nGO\nCREATE TABLE [dbo].[R]([user] [int], [item] [nvarchar](9), [rating] "
            "[float]) ON [PRIMARY]\nGO\n")),
        "SQL Server, without GO": ("a.sql", lines(
            "INSERT [dbo].[R] ([user], [item], [rating]) VALUES (N'{0}', N'{1}', {2})",
            "CREATE TABLE [dbo].[R]([user] [int], [item] [int], [rating] [float])\nGO\n"
            "SET IDENTITY_INSERT [dbo].[R] ON \n\n")),
    }.values(),
)  # fmt: skip
def test_a_file_is_read_at_once(load, name, content):
    assert plain(load(name, content)) == TRUTH


def test_a_minus_of_typesetting_is_one(load):
    content = lines("{0},{1},{2}").replace(",1\n", ",\N{MINUS SIGN}1\n")
    for head in ("user,item,rating\n", ""):
        assert load("a.csv", head + content).scale == (-1.0, 5.0)
    first = load("a.csv", content[content.index("u5") :])  # the first rating is negative
    assert (len(first), first.scale[0]) == (19, -1.0)


@pytest.mark.parametrize(
    ("name", "content"),
    {
        "log": ("a.log", lines("level=info user={0} item={1} rating={2}")),
        "queries": ("a.txt", lines("user={0}&item={1}&rating={2}")),
    }.values(),
)
def test_the_call_that_a_message_names_reads_it(load, name, content, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call = re.search(r"(harness\.load\(.*\)) reads", refusal(load, name, content))[1]
    names = {"harness": harness, "pandas": pd, "pathlib": pathlib, "urllib": urllib}
    assert plain(eval(call, names)) == TRUTH


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.dbf", b"\x03\x7c\x01\x01" + bytes(60), "a dBASE table"),
        ("a.por", "ASCII SPSS PORT FILE".ljust(40) * 5, "an SPSS portable file"),
        ("a.txt", lines("HSET {0} {1} {2}"), "commands of Redis"),
        ("a.textproto", lines("r {{\n  user: {0}\n  item: {1}\n}}"), "protocol buffers"),
        ("a.pl", lines("rated({0},{1},{2})."), "tuples in parentheses"),
        ("a.js", 'call([{"user": 1}]);', "JSON in a call of JavaScript"),
        ("a.log", lines('2020-01-01 10:00:00,123 INFO {{"user": "{0}"}}'), "as in a log"),
        ("a.arff", "@relation r\n@attribute user numeric\n@attribute item numeric\n"
         "@attribute rating numeric\n@data\n{0 1, 1 2, 2 5}\n", "a sparse ARFF file"),
        ("a.xls", '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:'
         'spreadsheet"></Workbook>', "a workbook of Excel 2003 as XML"),
        ("a.parquet", "<!doctype html><html><title>Log in</title></html>", "a web page"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_called_by_its_name(load, name, content, says):
    assert says in refusal(load, name, content)


READER = """class Records:
    endings = (".records",)

    def read(self, path, options):
        return {"user": ["a", "b"], "item": ["x", "y"], "rating": [1, 2]}
"""


def test_a_reader_of_another_package_gets_its_xml(load, site):
    install(site, "records", "1", {"readers": {"records": "records:Records"}}, records=READER)
    plugins.refresh()
    assert len(load("a.records", "<?xml version='1.0'?>\n<r><a>1</a></r>\n")) == 2


def test_japanese_mail_is_read_with_the_encoding_that_the_message_names(load):
    content = lines("田中{0},{1},{2}", "user,item,rating\n").encode("iso2022_jp")
    assert "`encoding: iso2022_jp` reads that" in refusal(load, "a.csv", content)
    assert "田中u1" in load("a.csv", content, encoding="iso2022_jp").user_ids


def test_a_field_more_than_names_is_a_row_name_only_if_each_row_has_its_own(load):
    head = "user,item,rating\n"
    named = "".join(f"{n},{u},{i},{r}\n" for n, (u, i, r) in enumerate(ROWS, 1))
    assert plain(load("a.csv", head + named)) == TRUTH
    commas = lines("{0},{1},{2},5", head)  # a decimal comma
    assert "4 fields where the first line has 3" in refusal(load, "a.csv", commas)


def test_ids_of_a_wide_table_are_those_that_differ_in_each_row(load):
    head = "First name,Surname,Email address,a,b,c,d,e,f,g,h\n"
    rows = "".join(
        f"Ann,No {n},a{n}@x.org,{','.join(str(1 + n * m % 5) for m in range(8))}\n"
        for n in range(9)
    )
    ratings = load("a.csv", head + rows)
    assert {*ratings.user_ids} == {f"a{n}@x.org" for n in range(9)}
    assert {*ratings.item_ids} == {*"abcdefgh"}


def test_a_column_that_differs_in_each_row_is_proposed_last(load):
    content = "".join(f"key {n},{u},{i},{r}\n" for n, (u, i, r) in enumerate(ROWS))
    said = refusal(load, "a.csv", "key,who,what,mark\n" + content)
    assert "`columns: {user: who, item: what, rating: mark}`" in said


@pytest.mark.parametrize("name", [":START_ID", "?", "::", "?x"])
def test_any_name_of_a_column_is_written_so_that_it_is_read(name):
    data = {"dataset": {"columns": {"user": name, "item": "x"}}}
    assert parse(as_yaml(data)).data == data
    assert parse(_yaml("dataset", escaped(data["dataset"]))).data == data
