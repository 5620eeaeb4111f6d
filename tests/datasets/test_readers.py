"""Readers through one door: of this package, of others, by ending, by content, by name."""

import sys

import pandas as pd
import pytest

import harness
from harness.datasets.readers import builtin_endings, kind_of, kind_of_content, reader_named
from harness.errors import DataError
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install

ROWS = {"user": ["a", "a", "b"], "item": ["x", "y", "x"], "rating": [1.0, 4.0, 5.0]}
READER = """
class Bars:
    endings = (".bars",)

    def recognises(self, head):
        return head.startswith(b"%BARS")

    def read(self, path, options):
        lines = path.read_text().split("\\n")[1:]
        columns = dict(zip(("user", "item", "rating"), zip(*(line.split("!") for line in lines))))
        return {result}
"""
SHAPES = {
    "dict": "columns",
    "frame": "__import__('pandas').DataFrame(columns)",
    "arrow": "__import__('pyarrow').table(columns)",
}
pytestmark = pytest.mark.usefixtures("site")


def package(site, code, name="bars"):
    install(site, "bar-files", "2.1", {"readers": {name: f"{name}_files:Bars"}},
            **{f"{name}_files": code})  # fmt: skip
    plugins.refresh()


@pytest.fixture
def bars(tmp_path):
    path = tmp_path / "mine.bars"
    path.write_text("%BARS\na!x!1\na!y!4\nb!x!5")
    return path


def test_every_ending_has_one_reader_of_this_package():
    names = plugins.builtin_names("readers")
    endings = [ending for name in names for ending in reader_named(name).endings]
    assert sorted(endings) == sorted(builtin_endings())
    assert [kind_of(f"a.b/C{ending.upper()}") for ending in endings] == [
        builtin_endings()[ending] for ending in endings
    ]
    assert kind_of("a.csv/b") is None


def test_a_reader_may_look_at_the_name_beside_the_first_bytes(site, tmp_path):
    code = """
class Bars:
    def recognise(self, head, name):
        return name.startswith("bars-") and head.startswith(b"a")
    def read(self, path, options):
        return {"user": ["a", "b"], "item": ["x", "y"], "rating": [1, 5]}
"""
    package(site, code)
    named, other = tmp_path / "bars-1", tmp_path / "ratings-1"
    for path in (named, other):
        path.write_text("a!x!1")
    assert (kind_of_content(named), kind_of_content(other)) == ("bars", None)


def test_a_table_is_recognised_by_its_content_whatever_its_ending(tmp_path):
    path = tmp_path / "ratings.bin"
    pd.DataFrame(ROWS).to_parquet(path)
    assert kind_of_content(path) == "parquet"
    assert harness.load(path).ratings.tolist() == ROWS["rating"]


def test_text_of_any_ending_is_read_as_text(tmp_path):
    path = tmp_path / "ratings.bin"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert harness.load(path).ratings.tolist() == ROWS["rating"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_reader_of_another_package_may_return_any_shape(site, bars, shape):
    package(site, READER.replace("{result}", SHAPES[shape]))
    ratings = harness.load(bars)
    expected = harness.Ratings.from_frame(pd.DataFrame(ROWS))
    assert ratings.fingerprint == expected.fingerprint


def test_its_files_are_known_by_content_and_by_name(site, bars):
    package(site, READER.replace("{result}", "columns"))
    odd = bars.rename(bars.with_suffix(".x1"))
    assert kind_of_content(odd) == "bars"
    assert len(harness.load(odd)) == 3
    assert len(harness.load({"path": str(odd), "format": "bars"})) == 3
    positions = {"user": 2, "item": 1, "rating": 3}
    assert harness.load({"path": str(odd), "columns": positions}).user_ids.tolist() == ["x", "y"]


def test_it_is_not_imported_for_what_this_package_reads(site, tmp_path):
    package(site, READER.replace("{result}", "columns"))
    path = tmp_path / "a.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    harness.load({"path": str(path)})
    assert "bars_files" not in sys.modules


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("[1, 2]", "the reader returned a list; its author has to return a DataFrame"),
        ("{'user': [], 'item': [], 'rating': []}", "no rows of data"),
        ("{'user': ['a'], 'item': ['b']}", "no column"),
    ],
)
def test_what_goes_wrong_in_it_is_one_line_with_file_and_package(site, bars, code, said):
    package(site, READER.replace("{result}", code))
    with pytest.raises(DataError, match=said) as caught:
        harness.load(bars)
    assert str(bars) in str(caught.value)
    if "ZeroDivision" in said or "list" in said:
        assert "'bars' of bar-files 2.1" in str(caught.value)


def test_a_reader_that_cannot_be_imported_stops_only_what_names_it(site, bars, tmp_path):
    package(site, "import not_there_at_all")
    path = tmp_path / "a.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert len(harness.load(path)) == 3
    with pytest.raises(DataError, match=r"'bars' of bar-files 2.1: .*not_there_at_all"):
        harness.load({"path": str(bars), "format": "bars"})


@pytest.mark.parametrize("key", ["separator", "header", "encoding"])
def test_options_of_text_are_refused_for_formats_that_have_none(site, bars, key):
    package(site, READER.replace("{result}", "columns"))
    value = {"separator": ";", "header": True, "encoding": "utf-8"}[key]
    with pytest.raises(DataError, match=f"{key}: a 'bars' file has none; leave this out"):
        harness.load({"path": str(bars), key: value})


def test_an_unknown_format_is_refused_with_those_there_are(site):
    package(site, READER.replace("{result}", "columns"))
    with pytest.raises(
        DataError, match=r"format: found 'bar'; did you mean 'bars' of bar-files 2.1\?"
    ):
        harness.load({"path": "a.csv", "format": "bar"})


def test_columns_of_one_name_are_refused_if_they_are_read(site, bars):
    table = "__import__('pyarrow').Table.from_arrays([__import__('pyarrow').array(['1'])] * 4, "
    package(site, READER.replace("{result}", table + "names=['user', 'user', 'item', 'rating'])"))
    with pytest.raises(DataError, match="both 'user' and 'user' may be the user; rename one"):
        harness.load(bars)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("12:\nann,4,2005-12-31\n", "netflix"),
        ("The Matrix:\nann lee,4,2005-12-31\n", "netflix"),
        ("Ratings of 2024:\nuser id,item,rating\n", None),
        ("Ratings of 2024:\nuser,item,rating\n", None),
    ],
)
def test_an_item_of_netflix_files_may_hold_spaces_and_a_sentence_is_none(tmp_path, text, kind):
    path = tmp_path / "ratings"
    path.write_text(text)
    assert kind_of_content(path) == kind
