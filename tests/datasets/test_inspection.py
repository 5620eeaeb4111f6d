"""One inspection for every way in: the same ratings, the same notes, the same refusals."""

from __future__ import annotations

import re
import shlex
import sqlite3
from contextlib import closing

import pandas as pd
import pytest

import harness
from harness.config.yaml import read
from harness.console.answers import KEYS, as_typed, write_config
from harness.datasets.evidence import wide
from harness.datasets.inspection import detect, inspect
from harness.datasets.remedies import remedies_of
from harness.datasets.section import DatasetSection
from harness.errors import DataError, HarnessError
from harness.experiment.plan import Plan

from .conftest import rows_of

ROWS = [(10 * n // 4 + 3, (7 * n) % 11 + 1, n % 5 + 1, 1_200_000_000 + n) for n in range(40)]
TRUTH = {(str(u), str(i)): float(r) for u, i, r, _ in ROWS}
LAYOUTS = {
    "usual": "user,item,rating,timestamp\n{0},{1},{2},{3}",
    "no header": "{0},{1},{2},{3}",
    "comma": "user;item;rating\n{0};{1};{2},0",
    "titles": "Survey of films,,\nof 2020,,\nuser,item,rating\n{0},{1},{2}",
    "a title": "An export\n\nuser,item,rating\n{0},{1},{2}",
    "a title, no header": "An export\n{0},{1},{2}",
    "another sign": "% sym weighted\n{0} {1} {2}",
    "pandas": "0,1,2\n{0},{1},{2}",
    "pandas and its index": ",0,1,2\n{n},{0},{1},{2}",
    "row numbers": "{n},{0},{1},{2}",
    "row numbers and times": "{n},{0},{1},{2},{3}",
}
"""What is read, each with a note unless it is usual."""


def text_of(layout, rows=ROWS):
    *head, row = layout.split("\n")
    return "\n".join([*head, *(row.format(*values, n=n) for n, values in enumerate(rows))]) + "\n"


def wide_text(corner="user", blank="", rows="users", extra=(), header=True):
    """Return the ratings as a table with a column for each item, or user."""
    cells = pd.DataFrame(ROWS, columns=["user", "item", "rating", "time"])
    index, columns = ("user", "item") if rows == "users" else ("item", "user")
    cells = cells.pivot(index=index, columns=columns, values="rating")  # noqa: PD010
    for name in extra:
        cells.insert(0, name, [20 + n % 40 for n in range(len(cells))])
    lines = cells.to_csv(na_rep=blank, float_format="%g").splitlines()
    lines[0] = corner + "," + lines[0].partition(",")[2]
    return "\n".join(lines[not header :]) + "\n"


WIDE = {
    "blanks": wide_text(),
    "zeros": wide_text(blank="0"),
    "NA": wide_text(corner='""', blank="NA"),
    "no corner": wide_text(corner=""),
    "items in rows": wide_text(corner="movieId", rows="items"),
    "ages": wide_text(extra=("age", "Alter")),
    "no items by their numbers": wide_text(extra=("years",)),
    "dashes": wide_text(blank="-"),
    "99": wide_text(blank="99"),
    "a total": wide_text() + "Total" + ",4" * len({row[1] for row in ROWS}) + "\n",
    "the name of the index below": wide_text(corner="movieId").replace(
        "\n", "\nuser" + "," * len({row[1] for row in ROWS}) + "\n", 1
    ),
    "the name of the values above": ",rating" * 3
    + ",rating" * (len({row[1] for row in ROWS}) - 3)
    + "\n"
    + wide_text(),
}
UNEVEN = {
    "row names of R": '"user" "item" "rating"\n"{n}" {0} {1} {2}',
    "a header in another separator": "user,item,rating\n{0};{1};{2}",
}
REFUSED = {
    "times for ratings": ("{0},{1},{3}", "column 3 holds times"),
    "days for ratings": ("{0},{1},200509{d}", "column 3 holds times"),
    "events": ("{0},2005-09-17T17:37:51.277Z,{1},0", "column 2 holds times"),
    "ids": ("{0},{1},{4},{0},{3}", "column 5 holds times"),
}
REMEDIED = {
    "time first": "{3},{0},{1},{2}",
    "text third": "{0},{1},a film,{2}",
    "a flag before the time": "{0},{1},{2},0,2005/09/17",
    "names": "who,what,mark\n{0},{1},{2}",
    "one name": "user,what,mark\n{0},{1},{2}",
    "a series without a name": "user,item,0\n{0},{1},{2}",
}
"""What is refused with a remedy that reads it."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stated(**given):
    return dict.fromkeys((*KEYS, "data_columns")) | given


def outcome(read_ratings):
    """Return ratings by pair and notes, or the message."""
    try:
        ratings = read_ratings()
    except HarnessError as error:
        return str(error)
    notes = [str(note) for note in ratings.notes if note.code != "scale-found"]
    return {row[:2]: row[2:] for row in rows_of(ratings)}, notes


def ways(path, folder):
    """Return what each way in makes of a file."""
    few = {"algorithms": "ItemMean", "metrics": "rmse"}

    def by_config():
        config = {"dataset": str(path), **{key: [value] for key, value in few.items()}}
        return Plan.from_config(config).ratings(0)[0]

    def of_written():
        place = write_config(
            stated(dataset=str(path), **few), [], folder / "runs", shows_rows=False
        )
        return harness.load(read(place).data["dataset"], base=folder / "runs")

    return {
        "load": lambda: harness.load(path),
        "config": by_config,
        "detect": lambda: detect(DatasetSection(path=str(path))).ratings,
        "run": of_written,
    }


def refusal(path):
    """Return the error that a file gives."""
    with pytest.raises(DataError) as refused:
        harness.load(path)
    return refused.value


def followed(path, folder, at=0):
    """Return the ratings of a file after a remedy is typed as the message writes it."""
    typed_error = str(as_typed(refusal(path), "--data-columns"))
    words = shlex.split(re.findall("`(--[^`]+)`", typed_error)[at])
    values = {"--set": [], "--data-columns": []}
    for option, value in zip(words[::2], words[1::2], strict=True):
        values[option].append(value)
    columns = ",".join(values["--data-columns"]) or None
    place = write_config(
        stated(dataset=path.name, data_columns=columns),
        values["--set"],
        folder / "runs",
        shows_rows=False,
    )
    return harness.load(read(place).data["dataset"], base=folder / "runs")


def same_on_all(path, folder):
    """Return the outcome of `load`, after all others are compared with it."""
    made = {name: outcome(way) for name, way in ways(path, folder).items()}
    expected = made["load"]
    assert made["detect"] == expected
    assert made["config"] == expected
    if isinstance(expected, str):
        assert made["run"] == str(as_typed(refusal(path), "--data-columns"))
    else:
        assert made["run"] == expected
    return expected


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_alike_on_every_way_in(folder, name):
    path = folder / "a.csv"
    path.write_text(text_of(LAYOUTS[name]))
    ratings, notes = same_on_all(path, folder)
    assert {pair: value[0] for pair, value in ratings.items()} == TRUTH
    assert (notes == []) == (name == "usual")
    assert all(value[1] > 0 for value in ratings.values()) == ("{3}" in LAYOUTS[name])
    (described,) = harness.describe(path)
    assert [*map(str, described.notes)] == [str(note) for note in harness.load(path).notes]


@pytest.mark.parametrize("name", UNEVEN)
def test_rows_that_are_written_in_another_way_than_their_header_are_read(folder, name):
    path = folder / "a.csv"
    path.write_text(text_of(UNEVEN[name]))
    ratings, _ = same_on_all(path, folder)
    assert {pair: value[0] for pair, value in ratings.items()} == TRUTH


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_table_is_found_and_what_is_left_out_is_said(folder, name):
    path = folder / "a.csv"
    path.write_text(WIDE[name])
    ratings, notes = same_on_all(path, folder)
    assert {pair: value[0] for pair, value in ratings.items()} == TRUTH
    text = " ".join(notes)
    assert "`format: matrix`" in text
    assert ("Alter, age left out" in text) == (name == "ages")
    assert ("`not_rated: []`" in text) == (name in ("zeros", "99"))


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_ratings_is_refused_alike_on_every_way_in(folder, name):
    layout, message = REFUSED[name]
    rows = [(*row, row[1] * 40 + row[0]) for row in ROWS]
    path = folder / "a.csv"
    path.write_text(text_of(layout.replace("{d}", "1{2}"), rows))
    assert message in same_on_all(path, folder)


@pytest.mark.parametrize("name", REMEDIED)
def test_the_remedy_of_a_refusal_reads_the_ratings_wherever_it_is_written(folder, name):
    path = folder / "a.csv"
    path.write_text(text_of(REMEDIED[name]))
    message = same_on_all(path, folder)
    (remedy, *_) = remedies_of(message)
    ratings = harness.load({"path": str(path), **remedy.keys})
    assert {row[:2]: row[2] for row in rows_of(ratings)} == TRUTH
    assert {row[:2]: row[2] for row in rows_of(followed(path, folder))} == TRUTH


def test_keys_that_are_set_count_before_the_file_is_looked_at(folder):
    path = folder / "a.csv"
    path.write_text(text_of(LAYOUTS["comma"]).replace(";", "|"))
    place = write_config(
        stated(dataset="a.csv"),
        ["dataset.separator='|'", "dataset.columns.timestamp=null", "dataset.scale=[0, 10]"],
        folder / "runs",
        shows_rows=False,
    )
    section = read(place).data["dataset"]
    assert "decimal" not in section  # found again, and said by a note of the run
    assert section["scale"] == [0, 10]
    assert len(harness.load(section, base=folder / "runs")) == len(ROWS)


def test_a_pattern_and_a_list_of_files_are_run_as_a_config_reads_them(folder, call):
    for part in (0, 1):
        (folder / f"r-{part}.csv").write_text(text_of(LAYOUTS["usual"], ROWS[part::2]))
    few = ("--algorithms", "ItemMean", "--metrics", "rmse")
    call.done("run", "-q", "--dataset", "r-*.csv", *few)
    assert read(folder / "runs" / "r--.yaml").data["dataset"]["path"] == "../r-*.csv"


def test_a_database_of_one_table_and_json_with_a_mark_are_read_on_every_way_in(folder):
    with closing(sqlite3.connect(folder / "shop.db")) as base:
        FRAME.to_sql("ratings", base, index=False)
    ratings, _ = same_on_all(folder / "shop.db", folder)
    assert {pair: value[0] for pair, value in ratings.items()} == TRUTH
    records = FRAME.to_json(orient="records", lines=True)
    (folder / "a.json").write_text(records, encoding="utf-8-sig")
    (described,) = harness.describe(folder / "a.json")
    assert described.n_ratings == len(ROWS)


def test_bytes_count_before_the_ending(folder):
    frame = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])
    frame.to_parquet(folder / "a.csv")
    assert len(harness.load("a.csv")) == len(ROWS)
    with inspect(DatasetSection(path="a.csv")) as found:
        assert found.members[0].kind == "parquet"


def test_a_time_column_of_an_unusual_name_is_said_with_its_key(folder):
    path = folder / "a.csv"
    path.write_text(text_of("user,item,rating,moment\n{0},{1},{2},{3}"))
    (note,) = (note for note in harness.load(path).notes if note.code == "times-unread")
    (remedy,) = remedies_of(str(note))
    assert remedy.keys == {"columns": {"timestamp": "moment"}}
    assert harness.load({"path": str(path), **remedy.keys}).timestamps is not None


def test_another_item_is_said_unless_it_goes_with_the_one_that_is_read(folder):
    path = folder / "a.csv"
    path.write_text(text_of("user,artist,track,rating\n{0},a{1},{n},{2}"))
    ratings = harness.load(path)
    assert ratings.n_items == len(ROWS)  # tracks, of which an artist has several
    (note,) = (note for note in ratings.notes if note.code == "items-unread")
    (remedy,) = remedies_of(str(note))
    assert remedy.keys == {"columns": {"item": "artist"}}
    path.write_text(text_of("user,movieId,movie,rating\n{0},{1},film {1},{2}"))
    assert "items-unread" not in {note.code for note in harness.load(path).notes}


def test_lists_of_items_in_uneven_lines_are_no_matrix(folder):
    path = folder / "a.txt"
    lines = (" ".join(map(str, range(n, 2 * n + 9))) for n in range(20))
    path.write_text("\n".join(lines) + "\n")
    assert "it has no ratings" in str(refusal(path))


def test_ids_with_a_number_sign_are_rows(folder):
    path = folder / "a.csv"
    path.write_text(text_of("#{0},{1},{2}"))
    assert len(harness.load(path)) == len(ROWS)
    path.write_text("# 1,2,3\n" + text_of("{0},{1},{2}"))
    assert len(harness.load(path)) == len(ROWS)


def test_amazons_ids_show_that_the_item_is_first(folder):
    path = folder / "a.csv"
    path.write_text(text_of("00000000{1:02d},A00{0:02d}ZXZ,{2}"))
    ratings = harness.load(path)
    assert ratings.user_ids[0].startswith("A")


def test_a_small_matrix_without_names_is_refused_with_both_readings(folder):
    path = folder / "a.csv"
    path.write_text("5,3,0,1\n4,0,0,1\n1,1,0,5\n1,0,0,4\n0,1,5,4\n")
    with pytest.raises(DataError, match="4 columns of the same numbers") as refused:
        harness.load(path)
    (remedy,) = remedies_of(str(refused.value))
    ratings = harness.load({"path": str(path), **remedy.keys})
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (5, 4, 13)


@pytest.mark.parametrize(
    "lines",
    [
        "user,item,a,b\n1,2,3,4\n2,3,4,5",  # both ids are there
        "user,a,b\n1,2,3\n2,3,4",  # three columns
        "user,a,b,rating\n1,2,3,4\n2,2,2,2",
        "user,a,b,c\n1,2,3,4\n1,2,2,2",  # two rows of one user
        "user,a,b,c\n" + "\n".join(f"{n},{n},{n * 7},{n * 3}" for n in range(200)),
    ],
)
def test_what_is_not_certainly_a_matrix_is_none(lines):
    first, *rows = (line.split(",") for line in lines.splitlines())
    assert wide(first, rows) is None


def test_a_matrix_of_long_lines_is_found(folder):
    path = folder / "a.csv"
    names = ",".join(f"a film with quite a long title {n}" for n in range(4_000))
    rows = "".join(f"{user}{f',{user % 5 + 1},,,' * 1_000}\n" for user in range(8))
    path.write_text(f"user,{names}\n{rows}")
    ratings = harness.load({"path": str(path), "most_megabytes": 100})
    assert (ratings.n_users, len(ratings)) == (8, 8_000)


def test_an_id_column_may_be_named_and_columns_kept(folder):
    path = folder / "a.csv"
    path.write_text(wide_text(extra=("age",)))
    kept = harness.load({"path": str(path), "format": "matrix", "not_items": []})
    assert "age" in kept.item_ids
    swapped = harness.load({"path": str(path), "format": "matrix", "columns": {"item": "user"}})
    assert {*swapped.item_ids} == {str(row[0]) for row in ROWS}
    with pytest.raises(DataError, match="no column 'usr' for the user; did you mean 'user'"):
        harness.load({"path": str(path), "format": "matrix", "columns": {"user": "usr"}})


FRAME = pd.DataFrame(ROWS, columns=["user", "item", "rating", "timestamp"])


class TestLoaded:
    """Tables and tuples are told by the same rules as files."""

    def test_names_that_pandas_gives_are_positions(self):
        ratings = harness.load(pd.DataFrame(ROWS))
        assert {row[:2]: row[2] for row in rows_of(ratings)} == TRUTH
        assert "numbers-as-names" in {note.code for note in ratings.notes}

    def test_unusual_names_are_refused_with_those_that_may_be_meant(self):
        frame = FRAME.set_axis(["who", "what", "mark", "moment"], axis=1)
        with pytest.raises(DataError, match="no column for the user") as refused:
            harness.load(frame)
        (remedy,) = remedies_of(str(refused.value))
        names = {role: str(name) for role, name in remedy.keys["columns"].items()}
        ratings = harness.load(frame.rename(columns={name: role for role, name in names.items()}))
        assert {row[:2]: row[2] for row in rows_of(ratings)} == TRUTH
        (note,) = (note for note in ratings.notes if note.code == "times-unread")
        assert "{timestamp: moment}" in str(note)

    def test_a_wide_frame_is_read_with_and_without_its_index(self, folder):
        frame = FRAME.pivot(index="user", columns="item", values="rating")  # noqa: PD010
        for given in (frame, frame.reset_index()):
            ratings = harness.load(given)
            assert {row[:2]: row[2] for row in rows_of(ratings)} == TRUTH
            assert "matrix-found" in {note.code for note in ratings.notes}
        frame.reset_index().rename(columns=str).to_parquet(folder / "a.parquet")
        assert {row[:2]: row[2] for row in rows_of(harness.load("a.parquet"))} == TRUTH

    def test_ids_in_the_index_are_read(self):
        ratings = harness.load(FRAME.set_index(["user", "item"]))
        assert {row[:2]: row[2] for row in rows_of(ratings)} == TRUTH

    def test_tuples_are_held_against_what_they_are_to_be(self):
        ratings = harness.load(ROWS)
        assert {note.code for note in ratings.notes} == {"scale-found"}
        numbered = harness.load([(n, *row[:3]) for n, row in enumerate(ROWS)])
        assert {row[:2]: row[2] for row in rows_of(numbered)} == TRUTH
        with pytest.raises(DataError, match="column 3 holds times"):
            harness.load([(u, i, t) for u, i, _, t in ROWS])


@pytest.mark.parametrize(
    ("content", "keys"),
    [
        ("user~item~rating\n1~2~3\n", {"separator": "~"}),
        ("user\x02item\x02rating\n1\x022\x023\n", {"separator": "\x02"}),
        ("user;item;rating\n1;2;1,234\n2;2;7\n", {"thousands": ","}),
        ("user,item,rating,time\n1,2,3,\n2,2,4,5\n", {"columns": {"timestamp": None}}),
        ("user,item,rating\n1,2,3\n1,3,3\n2,2,\n", {"missing": "drop"}),
        ("user,item,rating\n1,2,3\n1,3,3\n1,2,4\n", {"duplicates": "first"}),
        ("user,uid,item,rating,Rating\n1,1,2,3,4\n", {"columns": {"rating": "rating"}}),
    ],
)
def test_a_remedy_is_followed_as_it_is_written_and_as_it_is_typed(folder, content, keys):
    path = folder / "a.csv"
    path.write_text(content)
    at = [remedy.keys for remedy in remedies_of(str(refusal(path)))].index(keys)
    ratings = harness.load({"path": str(path), **keys})
    assert rows_of(followed(path, folder, at)) == rows_of(ratings)


def test_repeated_pairs_in_most_rows_are_not_for_dropping(folder):
    path = folder / "a.csv"
    path.write_text("user,item,rating\n" + "1,2,3\n" * 9)
    assert "`duplicates: count`" in str(refusal(path))
    assert "first`" not in str(refusal(path))


def test_describe_shows_what_each_column_holds_and_why_it_is_which(folder, call):
    path = folder / "a.csv"
    path.write_text(text_of("user,item,rating,moment\n{0},{1},{2},{3}"))
    out = call.done("describe", "a.csv", "--candidates")
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert "its name" in lines["user"]
    assert "may be the timestamp, but has an unusual name" in lines["moment"]
    path.write_text(text_of("who,what,mark\n{0},{1},{2}"))
    code, out, err = call("describe", "a.csv", "--candidates")
    assert code == 2
    assert "may be the rating, as few numbers come again" in out
    assert "`--columns user=who,item=what,rating=mark`" in err
    path.write_text(text_of("{0},{1},{2}"))
    out = call.done("describe", "a.csv", "--candidates", "--set", "dataset.scale=[0, 9]")
    assert "its place" in out
    assert "scale       0 to 9" in out
    FRAME.rename(columns={"timestamp": "moment"}).to_parquet(folder / "a.parquet")
    out = call.done("describe", "a.parquet", "--candidates")
    assert "may be the timestamp, but has an unusual name" in out
    assert "not looked at" not in out


def test_set_of_describe_and_new_is_for_files(folder, call):
    path = folder / "a.csv"
    path.write_text(text_of(LAYOUTS["usual"]))
    assert "quickstart is not a file of ratings" in call.refused(
        "describe", "quickstart", "--set", "dataset.skip=1"
    )
    call.done("new", "c.yaml", "--dataset", "a.csv", "--set", "dataset.duplicates=first", "--yes")
    assert read(folder / "c.yaml").data["dataset"]["duplicates"] == "first"
    call.done("new", "d.yaml", "--set", "split.test_size=0.3", "--yes")
    assert read(folder / "d.yaml").data["split"]["test_size"] == 0.3
