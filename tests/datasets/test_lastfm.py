"""Plays from Last.fm: two formats, odd lines, and a tar archive read as it unpacks."""

from __future__ import annotations

import hashlib
import io

import pandas as pd
import pytest

from harness import datasets
from harness.datasets.plays import read_plays, read_plays_as_pandas
from harness.datasets.readers import text as reading
from harness.errors import DataError, DownloadError

from .conftest import other, rows_of, status, tarred, zipped

pytestmark = pytest.mark.usefixtures("impatient")

MEMBER = "lastfm-dataset-360K/usersha1-artmbid-artname-plays.tsv"
ANN, BOB, EVE = (name * 40 for name in "abe")
SOUND = [
    (ANN, "m1", "betty blowtorch", "2137"),
    (ANN, "", "die Ärzte", "1099"),
    (ANN, "m2", '"weird al" yankovic', "7"),
    (BOB, "m1", "betty blowtorch", "1"),
    (BOB, "m3", "NA", "3"),
]
QUOTED = [
    (BOB, "m4", '"unclosed', "5"),
    (EVE, "m5", "swallowed", "6"),
    (EVE, "m6", 'ends "here', "8"),
    (EVE, "m1", "betty blowtorch", "9"),
]
ODD = [
    ("sep 20, 2008", "", "x", "3"),
    (ANN, "m", "x", "0"),
    (ANN, "m", "x", "-4"),
    (ANN, "m", "x", "often"),
    (ANN, "m", " ", "3"),
    (ANN, "m", "x"),
    (ANN, "m", "x", "3", "4"),
]


def text_of(lines):
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def read(text, reader=read_plays):
    """Return user, artist and plays of each row, and the notes."""
    table = reader(io.BufferedReader(io.BytesIO(text)), "plays.tsv")
    columns = [each.ids[each.codes].tolist() for each in map(table.ids.get, ("user", "item"))]
    return list(zip(*columns, table.numbers["rating"].tolist(), strict=True)), [
        *map(str, table.notes)
    ]


@pytest.fixture
def plays(known):
    """Return a function that puts a small Last.fm 360K into the catalogue."""

    def put(archive, *urls):
        known(
            urls[0],
            "lastfm-360k",
            other_urls=tuple(f"{url}/lastfm-dataset-360K.tar.gz" for url in urls[1:]),
            archive_bytes=len(archive),
            member_bytes=1000,
            md5=hashlib.md5(archive).hexdigest(),
            member_md5=None,
        )

    return put


def test_360k_is_fetched_checked_and_read_with_names_as_they_are(serve, plays, cache):
    archive = tarred({"lastfm-dataset-360K/README.txt": b"read me", MEMBER: text_of(SOUND)})
    plays(archive, serve(archive).url)
    ratings = datasets.load("lastfm-360k", cache=cache)
    assert rows_of(ratings) == [(u, artist, float(n), 0) for u, _, artist, n in SOUND]
    (note,) = ratings.notes
    assert (note.code, note.values["high"]) == ("scale-found", 2137)


def test_a_second_address_is_tried_and_what_was_tried_is_said(serve, plays, tmp_path):
    archive = tarred({MEMBER: text_of(SOUND)})
    good = serve(archive)
    for place, manner in enumerate([status(404), other(b"x" * len(archive))]):
        plays(archive, serve(archive, manner).url, good.url)
        assert len(datasets.load("lastfm-360k", cache=tmp_path / str(place))) == len(SOUND)
    assert good.n_requests == 2
    first, second = serve(archive, status(404)), serve(archive, status(410))
    plays(archive, first.url, second.url)
    expected = rf"(?s){first.url}.*status 404.*{second.url}.*status 410.*by hand, put lastfm-"
    with pytest.raises(DownloadError, match=expected):
        datasets.load("lastfm-360k", cache=tmp_path)


def test_odd_lines_are_left_out_and_counted_in_blocks_of_any_size(monkeypatch):
    sound = [(user, artist, float(n)) for user, _, artist, n in [*SOUND, *QUOTED]]
    for block in (reading.BLOCK, 200, 7):
        monkeypatch.setattr(reading, "BLOCK", block)
        rows, notes = read(text_of([*ODD, *SOUND, *ODD[:1], *QUOTED]))
        assert rows == sound
        assert sorted(notes) == [
            "1 line without an artist left out",
            "2 lines without a SHA-1 for its user left out",
            "2 lines without four fields left out",
            "3 lines without a whole number of plays from 1 left out",
        ]


def test_plays_of_artists_with_several_ids_are_added_up():
    rows, notes = read(text_of([SOUND[0], (ANN, "m9", "betty blowtorch", "3"), *SOUND[1:]]))
    assert [row[2] for row in rows] == [2140, 1099, 7, 1, 3]
    assert notes == ["1 row added to another of the same user and artist"]


@pytest.mark.parametrize(
    ("text", "reader", "message"),
    [
        (b"", read_plays, "no rows of data; give a file that has some"),
        (b"x\ty\n", read_plays, "no plays; give a file that has some"),
        (text_of(ODD[1:2]), read_plays, "no plays; give a file that has some"),
        (text_of(SOUND).replace("Ä".encode(), b"\xc4"), read_plays, "2: the item is not UTF-8"),
        (text_of(SOUND[:1]), read_plays_as_pandas, "no plays; give a file that has some"),
        (text_of([*SOUND, ODD[3]]), read_plays_as_pandas, "not read .*often.*; leave out like"),
    ],
)  # fmt: skip
def test_a_file_without_plays_is_refused(text, reader, message):
    with pytest.raises(DataError, match=rf"^plays\.tsv:\s?{message}"):
        read(text, reader)


def test_as_pandas_is_what_pandas_makes_of_the_file():
    text = text_of([*SOUND, *QUOTED])
    rows, notes = read(text, read_plays_as_pandas)
    frame = pd.read_table(io.BytesIO(text))
    frame = frame.drop(frame.columns[1], axis=1).dropna()
    assert rows == list(frame.itertuples(index=False, name=None))
    assert notes == [
        "read as pandas.read_table reads it by default, which gives 6 rows",
        "1 row with a missing value left out",
    ]


def test_a_config_asks_for_it_as_pandas_reads_it(serve, plays, cache):
    archive = tarred({MEMBER: text_of([*SOUND, *QUOTED])})
    plays(archive, serve(archive).url)
    as_pandas = {"name": "lastfm-360k", "like": "pandas"}
    assert len(datasets.load("lastfm-360k", cache=cache)) == 9
    assert len(datasets.load(as_pandas, cache=cache)) == 5
    with pytest.raises(DataError, match="only lastfm-360k is read in more than one way"):
        datasets.load(as_pandas | {"name": "lastfm-2k"})


TEXT_2K = b"userID\tartistID\tweight\r\n2\t51\t13883\r\n2\t52\t11690\r\n7\t51\t1\r\n"


def test_2k_is_read_in_its_own_format(serve, known, cache):
    archive = zipped({"artists.dat": b"x", "user_artists.dat": TEXT_2K})
    digest = hashlib.sha256(archive).hexdigest()
    known(serve(archive).url, "lastfm-2k", archive_bytes=len(archive), sha256=digest)
    ratings = datasets.load("lastfm-2k", cache=cache)
    assert rows_of(ratings) == [("2", "51", 13883, 0), ("2", "52", 11690, 0), ("7", "51", 1, 0)]
    assert ratings.timestamps is None
    assert ratings.scale == (1, 352_698)


def test_a_copy_of_2k_needs_no_header_and_its_faults_have_lines(known, tmp_path):
    known(name="lastfm-2k", n_ratings=3, n_users=2)

    def load(text):
        (tmp_path / "a.tsv").write_bytes(text)
        return datasets.load({"name": "lastfm-2k", "path": str(tmp_path / "a.tsv")})

    assert load(TEXT_2K).fingerprint == load(TEXT_2K.split(b"\r\n", 1)[1]).fingerprint
    for plays, fault in [
        (b"0", "0 is outside the scale 1 to"),
        (b"-3", "-3 is outside the scale 1 to"),
        (b"often", "'often' is not a number"),
    ]:
        with pytest.raises(DataError, match=rf"a\.tsv:5: the rating {fault}"):
            load(TEXT_2K + b"9\t51\t" + plays + b"\r\n")
