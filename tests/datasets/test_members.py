"""Archives, folders and workbooks of several files: which are read, and what is said of it."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile

import pandas as pd
import pytest

import harness
from harness.errors import DataError

FRAME = pd.DataFrame(
    [(f"u{n % 7}", f"i{n % 5}", n % 5 + 1, 10**9 + n) for n in range(35)],
    columns=["userId", "movieId", "rating", "timestamp"],
)
EXPECTED = harness.load(FRAME)
CSV = FRAME.to_csv(index=False)
BARE = FRAME.to_csv(index=False, header=False)
MOVIES = "movieId,title,genres\n" + "".join(f"i{n},Film {n} (1990),Drama\n" for n in range(5))
USERS = "".join(f"u{n}::M::{n}::10::48067\n" for n in range(1, 8))
NUMBERED = FRAME.assign(userId=FRAME["userId"].str[1:], movieId=FRAME["movieId"].str[1:])


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def tarred(members, mode="w:gz"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else content.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def put(folder, name, members):
    """Write files as an archive of a name, or as a folder."""
    path = folder / name
    if name.endswith(".zip"):
        path.write_bytes(zipped(members))
    elif ".t" in name:
        path.write_bytes(tarred(members, "w" if name.endswith(".tar") else "w:gz"))
    else:
        for inner, content in members.items():
            place = path / inner
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


KINDS = ("a.zip", "a.tar.gz", "a.tgz", "a.tar", "a")
"""An archive or a folder, by its name."""
SETS = {
    "MovieLens Latest": {
        "ml/README.txt": "Summary\n=======\nThis dataset describes 5-star rating,s\n",
        "ml/links.csv": "movieId,imdbId,tmdbId\ni1,1,2\n",
        "ml/movies.csv": MOVIES,
        "ml/ratings.csv": CSV,
        "ml/tags.csv": "userId,movieId,tag,timestamp\nu1,i1,funny,1\n",
        "ml/genome-scores.csv": "movieId,tagId,relevance\ni1,1,0.5\n",
    },
    "Book-Crossing": {
        "BX-Book-Ratings.csv": FRAME.drop(columns="timestamp").to_csv(
            index=False, sep=";", header=["User-ID", "ISBN", "Book-Rating"]
        ),
        "BX-Books.csv": '"ISBN";"Book-Title";"Book-Author"\n"i1";"A";"B"\n',
        "BX-Users.csv": '"User-ID";"Location";"Age"\n"u1";"here";"30"\n',
    },
    "MovieLens 1M, packed again": {
        "movies.dat": "1::Toy Story (1995)::Animation|Comedy\n",
        "ratings.dat": BARE.replace(",", "::"),
        "users.dat": USERS,
        "README": "SUMMARY & USAGE LICENSE\n",
    },
    "Spark": {
        "_SUCCESS": "",
        "part-00000": FRAME[:20].to_csv(index=False, header=False),
        "part-00001": FRAME[20:].to_csv(index=False, header=False),
        "part-00002": "",
        ".part-00000.crc": "x",
    },
    "parts with columns in another order": {
        "2020.csv": FRAME[:20].to_csv(index=False),
        "2021.csv": FRAME[20:][["rating", "timestamp", "movieId", "userId"]].to_csv(index=False),
    },
    "packed in an archive": {"d/ratings.csv.gz": gzip.compress(CSV.encode()), "d/m.csv": MOVIES},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SETS)
def test_the_ratings_are_found_in_archives_and_folders(tmp_path, name, kind):
    path = put(tmp_path, kind, SETS[name])
    ratings = harness.load(path)
    expected = FRAME.drop(columns="timestamp") if name == "Book-Crossing" else FRAME
    assert ratings.fingerprint == harness.load(expected).fingerprint
    said = [note for note in ratings.notes if note.code in ("member-read", "members-joined")]
    assert bool(said) == (name != "Spark" and not name.startswith("parts"))


def test_nothing_is_written_into_a_folder(tmp_path):
    path = put(tmp_path, "a", {**SETS["packed in an archive"], "x.zip": zipped({"y.bin": "z"})})
    before = sorted(path.rglob("*"))
    harness.load(path / "d")
    with pytest.raises(DataError):
        harness.load({"path": str(path), "member": "nothing"})
    with pytest.raises(DataError):
        harness.load(path)
    assert sorted(path.rglob("*")) == before


def test_the_note_names_what_was_read_and_the_key(tmp_path):
    path = put(tmp_path, "a.zip", SETS["Book-Crossing"])
    note = next(note for note in harness.load(path).notes if note.code == "member-read")
    assert str(note) == (
        "BX-Book-Ratings.csv read, not 2 other files beside it (such as BX-Books.csv, "
        "BX-Users.csv); `member: …` names another"
    )


def test_the_published_name_counts_before_others_of_the_same_columns(tmp_path):
    text = NUMBERED.to_csv(index=False, header=False, sep="\t")
    names = ["u.data", "u1.base", "u1.test", "ua.base", "u.item"]
    path = put(tmp_path, "a.zip", {f"ml-100k/{name}": text for name in names})
    assert harness.load(path).fingerprint == harness.load(NUMBERED).fingerprint


def test_an_archive_in_the_layout_of_the_netflix_prize(tmp_path):
    members = {
        f"combined_data_{item}.txt": f"{item}:\n"
        + "".join(f"{u},{u % 5 + 1},2005-09-06\n" for u in range(1, 9))
        for item in (1, 2)
    } | {"movie_titles.csv": "1,2003,Dinosaur Planet\n", "qualifying.txt": "1:\n10,2005-12-19\n"}
    ratings = harness.load(put(tmp_path, "archive.zip", members))
    assert ratings.counts == (8, 2, 16)


@pytest.mark.parametrize("kind", ["a.zip", "a"])
def test_where_it_cannot_be_told_the_message_names_files_and_a_key_that_works(tmp_path, kind):
    members = {"first.csv": BARE, "second.csv": BARE.replace("u", "v")}
    path = put(tmp_path, kind, members)
    with pytest.raises(DataError) as refused:
        harness.load(path)
    message = str(refused.value)
    assert "2 files may hold the ratings (first.csv, second.csv); name one" in message
    advised = re.search(
        r"such as member: (\S+), or several by a pattern, such as member: '(.*)'$", message
    )
    one = harness.load({"path": str(path), "member": advised[1]})
    assert one.fingerprint == EXPECTED.fingerprint
    assert len(harness.load({"path": str(path), "member": advised[2]})) == 70


def test_where_no_file_has_ratings_the_advice_leads_to_what_is_wrong(tmp_path):
    path = put(tmp_path, "a.zip", {"movies.csv": MOVIES, "users.dat": "1::M\n"})
    with pytest.raises(DataError, match=r"no file of ratings among 2 files .*member: movies\.csv"):
        harness.load(path)
    with pytest.raises(DataError, match=r"a\.zip!movies\.csv:1: .*no column"):
        harness.load({"path": str(path), "member": "movies.csv"})


def test_a_member_by_its_name_in_any_folder_and_one_that_is_not_there(tmp_path):
    path = put(tmp_path, "a.tar.gz", {"x/y/stars.csv": CSV, "x/more.csv": CSV})
    section = {"path": str(path), "member": "stars.csv"}
    assert harness.load(section).fingerprint == EXPECTED.fingerprint
    with pytest.raises(DataError, match=r"no file 'star.csv' for member; did you mean.*stars\.csv"):
        harness.load(section | {"member": "star.csv"})
    (tmp_path / "r.csv").write_text(CSV)
    with pytest.raises(DataError, match="not an archive or a folder; leave `member` out"):
        harness.load({"path": str(tmp_path / "r.csv"), "member": "r.csv"})


def test_an_archive_in_an_archive_is_opened_but_not_one_without_end(tmp_path):
    inner = tarred({"set/mv_1.csv": CSV, "set/README": "text"})
    path = put(tmp_path, "a.tar.gz", {"d/training.tar.gz": inner, "d/probe.txt": "1:\n30\n"})
    assert harness.load(path).fingerprint == EXPECTED.fingerprint
    data = CSV.encode()
    for _ in range(5):
        data = zipped({"r.zip": data})
    (tmp_path / "deep.zip").write_bytes(data)
    with pytest.raises(DataError, match="an archive inside 3 others; unpack it and give a file"):
        harness.load(tmp_path / "deep.zip")


def test_one_table_in_two_formats_is_not_read_twice(tmp_path):
    path = put(tmp_path, "a", {"ratings.csv": CSV, "ratings.jsonl": FRAME.to_json(
        orient="records", lines=True)})  # fmt: skip
    with pytest.raises(
        DataError, match=r"2 files may hold the ratings .*, such as member: ratings\.csv"
    ):
        harness.load(path)
    section = {"path": str(path), "member": "ratings.csv"}
    assert harness.load(section).fingerprint == EXPECTED.fingerprint


def test_parts_of_which_one_has_a_header_are_refused(tmp_path):
    path = put(tmp_path, "a", {"part-0.csv": CSV, "part-1.csv": BARE.replace("u", "v")})
    with pytest.raises(DataError, match=r"part-0\.csv has a header and part-1\.csv has none; join"):
        harness.load(path)


def test_many_parts_are_not_all_looked_at(tmp_path, monkeypatch):
    from harness.datasets import members

    seen = []
    look = members._columns_of
    monkeypatch.setattr(members, "_columns_of", lambda *of: seen.append(of[0].name) or look(*of))
    parts = {f"mv_{n:07}.txt": f"{n}:\n7,5,2005-09-06\n" for n in range(1, 100)}
    assert harness.load(put(tmp_path, "training_set", parts)).counts == (1, 99, 99)
    assert len(seen) == 3


def test_an_encrypted_archive_is_refused_with_what_it_is(tmp_path):
    path = put(tmp_path, "a.zip", {"ratings.csv": CSV})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.zip: encrypted; unpack it with its password"):
        harness.load(path)


def test_a_workbook_that_reaches_too_far_is_refused(tmp_path):
    from harness.datasets.readers import reader_named

    reader_named("excel").write_example(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    members[sheet] = members[sheet].replace(b"</sheetData>", far)
    (tmp_path / "a.xlsx").write_bytes(zipped(members))
    with pytest.raises(DataError, match=r"bytes that unpack to .* MB, over 250 times its own size"):
        harness.load(tmp_path / "a.xlsx")


def test_faults_have_the_member_and_the_line(tmp_path):
    members = {"ratings.csv": CSV + "u9,i9,much,5\n", "movies.csv": MOVIES}
    with pytest.raises(DataError, match=r"a\.zip!ratings\.csv:37: the rating 'much' is not"):
        harness.load(put(tmp_path, "a.zip", members))


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_a_cut_archive_is_refused_in_one_line(tmp_path, kind):
    path = put(tmp_path, kind, SETS["MovieLens Latest"])
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"cannot be unpacked .*; give a whole file"):
        harness.load(path)


@pytest.mark.parametrize("ending", ["csv", "txt", "dat", "data", "bin"])
@pytest.mark.parametrize(
    "content",
    ["parquet", "feather", "stream", "gzip", "bzip2", "xz", "zip", "tar.gz", "sqlite", "json"],
)
def test_bytes_count_before_endings(tmp_path, ending, content):
    import bz2
    import lzma
    import sqlite3

    import pyarrow as pa

    path = tmp_path / f"ratings.{ending}"
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    data = {
        "gzip": lambda: gzip.compress(CSV.encode()),
        "bzip2": lambda: bz2.compress(CSV.encode()),
        "xz": lambda: lzma.compress(CSV.encode()),
        "zip": lambda: zipped({"r.csv": CSV}),
        "tar.gz": lambda: tarred({"r.csv": CSV}),
        "json": lambda: FRAME.to_json(orient="records").encode(),
    }
    if content in data:
        path.write_bytes(data[content]())
    elif content == "parquet":
        FRAME.to_parquet(path)
    elif content == "feather":
        FRAME.to_feather(path)
    elif content == "stream":
        with pa.ipc.new_stream(str(path), table.schema) as writer:
            writer.write_table(table)
    else:
        base = sqlite3.connect(path)
        FRAME.to_sql("ratings", base, index=False)
        base.close()
    assert harness.load(path).fingerprint == EXPECTED.fingerprint


def test_a_text_that_is_called_as_if_it_were_packed_is_read(tmp_path):
    for name in ("r.csv.gz", "r.csv.zip", "r.csv.xz"):
        (tmp_path / name).write_text(CSV)
        assert harness.load(tmp_path / name).fingerprint == EXPECTED.fingerprint


def workbook(path, **sheets):
    pytest.importorskip("python_calamine", reason="the extra `excel`")
    pytest.importorskip("openpyxl", reason="writes workbooks")
    with pd.ExcelWriter(path) as book:
        for name, frame in sheets.items():
            frame.to_excel(book, sheet_name=name, index=False)
    return path


MOVIE_FRAME = pd.read_csv(io.StringIO(MOVIES))


def test_lines_before_the_header_of_a_sheet_are_found_or_said(tmp_path):
    more = [None] * (FRAME.shape[1] - 1)
    titled = [["Our ratings", *more], [None, *more], [*FRAME], *FRAME.to_numpy().tolist()]
    path = tmp_path / "a.xlsx"
    pytest.importorskip("python_calamine", reason="the extra `excel`")
    pytest.importorskip("openpyxl", reason="writes workbooks")
    pd.DataFrame(titled).to_excel(path, index=False, header=False)
    ratings = harness.load(path)
    assert ratings.fingerprint == EXPECTED.fingerprint
    (keys,) = (n.values["keys"] for n in ratings.notes if n.code == "titles-skipped")
    assert harness.load({"path": str(path), **keys}).fingerprint == EXPECTED.fingerprint
    with pytest.raises(DataError, match=r"a\.xlsx!.*: "):  # as the note's own key says
        harness.load({"path": str(path), "skip": 0})


def test_the_sheet_of_ratings_is_found_and_others_are_named_by_table(tmp_path):
    path = workbook(tmp_path / "a.xlsx", films=MOVIE_FRAME, stars=FRAME)
    ratings = harness.load(path)
    assert ratings.fingerprint == EXPECTED.fingerprint
    assert "stars read, not 1 other sheet beside it (such as films); `table: …`" in str(
        ratings.notes
    )
    other = FRAME.assign(rating=1)
    path = workbook(tmp_path / "b.xlsx", a=FRAME.assign(extra=0), b=other)
    with pytest.raises(
        DataError, match=r"2 sheets may hold the ratings \(a, b\); name one, such as table"
    ):
        harness.load(path)
    read = harness.load({"path": str(path), "table": "b"})
    assert read.fingerprint == harness.load(other).fingerprint


def test_a_workbook_with_dates_and_whatever_it_is_called(tmp_path):
    frame = FRAME.assign(timestamp=pd.to_datetime(FRAME["timestamp"], unit="s"))
    path = workbook(tmp_path / "a.xlsx", ratings=frame).rename(tmp_path / "a.csv")
    assert harness.load(path).fingerprint == EXPECTED.fingerprint


def test_a_workbook_without_the_library_names_the_command(tmp_path, monkeypatch):
    import builtins

    from harness.datasets.readers import reader_named

    reader_named("excel").write_example(tmp_path / "a.xlsx")
    real = builtins.__import__

    def without(name, *rest):
        if name == "python_calamine":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        DataError, match=r"needs python-calamine; pip install 'surprise-harness\[exc"
    ):
        harness.load(tmp_path / "a.xlsx")
