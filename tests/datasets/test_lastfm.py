"""Plays from Last.fm: two formats, odd lines, and a tar archive read as it unpacks."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from harness import datasets
from harness.datasets import reading
from harness.datasets.cleaning import Table
from harness.datasets.loading import read_plays, read_plays_as_pandas
from harness.datasets.section import DatasetSection
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


def text_of(lines: list[tuple[str, ...]]) -> bytes:
    return "".join("\t".join(line) + "\n" for line in lines).encode()


def stream(text: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(text))


def columns_of(table: Table) -> list[list[object]]:
    users, items = (table.ids[role] for role in ("user", "item"))
    return [
        users.ids[users.codes].tolist(), items.ids[items.codes].tolist(),
        table.numbers["rating"].tolist(),
    ]  # fmt: skip


@pytest.fixture
def plays(known) -> Callable[..., None]:
    """Return a function that puts a small Last.fm 360K into the catalogue."""

    def put(archive: bytes, *urls: str) -> None:
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


class TestLastfm360K:
    def test_is_fetched_checked_and_read_with_names_as_they_stand(
        self, serve, plays, cache: Path
    ) -> None:
        archive = tarred({"lastfm-dataset-360K/README.txt": b"read me", MEMBER: text_of(SOUND)})
        server = serve(archive)
        plays(archive, server.url)
        ratings = datasets.load("lastfm-360k", cache=cache)
        assert rows_of(ratings) == [(u, artist, float(n), 0) for u, _, artist, n in SOUND]
        assert ratings.notes == ("scale 1 to 2137, the lowest and highest rating found",)
        assert datasets.load("lastfm-360k", cache=cache).fingerprint == ratings.fingerprint
        assert server.n_requests == 1
        kept = {path.name for path in (cache / "datasets" / "lastfm-360k").iterdir()}
        assert [name for name in kept if name.endswith((".tsv", ".tar"))] == []

    def test_comes_from_the_second_address_where_the_first_fails_or_lies(
        self, serve, plays, tmp_path: Path
    ) -> None:
        archive = tarred({MEMBER: text_of(SOUND)})
        good = serve(archive)
        for place, manner in enumerate([status(404), other(b"x" * len(archive))]):
            plays(archive, serve(archive, manner).url, good.url)
            ratings = datasets.load("lastfm-360k", cache=tmp_path / str(place))
            assert len(ratings) == len(SOUND)
        assert good.n_requests == 2

    def test_what_was_tried_is_told_where_no_address_has_it(
        self, serve, plays, cache: Path
    ) -> None:
        archive = tarred({MEMBER: text_of(SOUND)})
        first, second = serve(archive, status(404)), serve(archive, status(410))
        plays(archive, first.url, second.url)
        expected = rf"(?s){first.url}.*status 404.*{second.url}.*status 410.*by hand, put lastfm-"
        with pytest.raises(DownloadError, match=expected):
            datasets.load("lastfm-360k", cache=cache)

    def test_odd_lines_are_left_out_counted_and_told(self) -> None:
        odd = [
            ("sep 20, 2008", "", "x", "3"),
            (ANN, "m", "x", "0"),
            (ANN, "m", "x", "-4"),
            (ANN, "m", "x", "often"),
            (ANN, "m", " ", "3"),
            (ANN, "m", "x"),
            (ANN, "m", "x", "3", "4"),
        ]
        found = read_plays(stream(text_of([*odd, *SOUND, *odd[:1]])), "plays.tsv")
        assert len(found) == len(SOUND)
        assert sorted(found.notes) == [
            "1 line without an artist left out",
            "2 lines without a SHA-1 for its user left out",
            "2 lines without four fields left out",
            "3 lines without a whole number of plays from 1 left out",
        ]

    def test_plays_of_artists_with_several_ids_are_added_up(self) -> None:
        lines = [SOUND[0], (ANN, "m9", "betty blowtorch", "3"), *SOUND[1:]]
        found = read_plays(stream(text_of(lines)), "plays.tsv")
        assert found.numbers["rating"].tolist() == [2140, 1099, 7, 1, 3]
        assert found.notes == ("1 row added to another of the same user and artist",)

    def test_blocks_do_not_change_what_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = text_of([*SOUND, *QUOTED])
        whole = read_plays(stream(text), "plays.tsv")
        monkeypatch.setattr(reading, "BLOCK", 200)
        parts = read_plays(stream(text), "plays.tsv")
        assert len(parts) == len(SOUND) + len(QUOTED)
        assert columns_of(parts) == columns_of(whole)

    @pytest.mark.parametrize("text", [b"x\ty\n", text_of([(ANN, "m", "x", "0")])])
    def test_a_file_without_plays_is_refused(self, text: bytes) -> None:
        with pytest.raises(DataError, match=r"^plays\.tsv: no plays; give a file that has some"):
            read_plays(stream(text), "plays.tsv")

    def test_text_that_is_not_utf8_is_refused(self) -> None:
        text = text_of(SOUND).replace("Ä".encode(), b"\xc4")
        with pytest.raises(DataError, match=r"^plays\.tsv:2: the item is not UTF-8"):
            read_plays(stream(text), "plays.tsv")


class TestAsPandas:
    def test_is_what_pandas_makes_of_the_file(self) -> None:
        text = text_of([*SOUND, *QUOTED])
        found = read_plays_as_pandas(stream(text), "plays.tsv")
        frame = pd.read_table(io.BytesIO(text))
        frame = frame.drop(frame.columns[1], axis=1).dropna()
        frame.columns = pd.Index(["user", "artist", "plays"])
        assert columns_of(found) == [frame[name].tolist() for name in frame]
        assert found.notes == (
            "read as pandas.read_table does by default, which makes 6 rows of it",
            "1 row with a missing value left out",
        )

    def test_a_config_asks_for_it_and_its_columns_are_kept_apart(
        self, serve, plays, cache: Path
    ) -> None:
        archive = tarred({MEMBER: text_of([*SOUND, *QUOTED])})
        plays(archive, serve(archive).url)
        all_lines = datasets.load("lastfm-360k", cache=cache)
        as_pandas = datasets.load({"name": "lastfm-360k", "like": "pandas"}, cache=cache)
        assert (len(all_lines), len(as_pandas)) == (9, 5)
        again = datasets.load({"name": "lastfm-360k", "like": "pandas"}, cache=cache)
        assert again.fingerprint == as_pandas.fingerprint
        assert again.notes == as_pandas.notes

    def test_a_single_line_is_a_header_without_plays(self) -> None:
        with pytest.raises(DataError, match=r"^plays\.tsv: no plays; give a file that has some"):
            read_plays_as_pandas(stream(text_of(SOUND[:1])), "plays.tsv")

    def test_plays_that_are_no_number_are_refused(self) -> None:
        text = text_of([*SOUND, (ANN, "m", "x", "often")])
        with pytest.raises(DataError, match=r"not read as pandas does \(.*often.*; leave out like"):
            read_plays_as_pandas(stream(text), "plays.tsv")

    def test_no_other_data_set_is_read_so(self) -> None:
        with pytest.raises(ValueError, match="only lastfm-360k is read in more than one way"):
            DatasetSection.model_validate({"name": "lastfm-2k", "like": "pandas"})


class TestLastfm2K:
    TEXT = b"userID\tartistID\tweight\r\n2\t51\t13883\r\n2\t52\t11690\r\n7\t51\t1\r\n"

    def test_is_read_in_its_own_format(self, serve, known, cache: Path) -> None:
        archive = zipped({"artists.dat": b"x", "user_artists.dat": self.TEXT})
        known(
            serve(archive).url,
            "lastfm-2k",
            archive_bytes=len(archive),
            sha256=hashlib.sha256(archive).hexdigest(),
        )
        ratings = datasets.load("lastfm-2k", cache=cache)
        assert [row[:3] for row in rows_of(ratings)] == [
            ("2", "51", 13883), ("2", "52", 11690), ("7", "51", 1)
        ]  # fmt: skip
        assert ratings.timestamps is None
        assert ratings.scale == (1, 352_698)

    @pytest.fixture
    def load_copy(self, known, cache: Path, tmp_path: Path) -> Callable[[bytes], datasets.Ratings]:
        known(name="lastfm-2k", n_ratings=3, n_users=2)

        def load_text(text: bytes) -> datasets.Ratings:
            (tmp_path / "a.tsv").write_bytes(text)
            section = {"name": "lastfm-2k", "path": str(tmp_path / "a.tsv")}
            return datasets.load(section, cache=cache)

        return load_text

    def test_a_copy_without_header_is_the_same(self, load_copy) -> None:
        bare = self.TEXT.split(b"\r\n", 1)[1]
        assert load_copy(self.TEXT).fingerprint == load_copy(bare).fingerprint

    @pytest.mark.parametrize(
        ("plays", "fault"),
        [
            (b"0", "0 is outside the scale 1 to"),
            (b"-3", "-3 is outside the scale 1 to"),
            (b"often", "'often' is not a number"),
        ],
    )
    def test_what_is_no_count_of_plays_is_refused_by_line(self, load_copy, plays, fault) -> None:
        with pytest.raises(DataError, match=rf"a\.tsv:5: the rating {fault}"):
            load_copy(self.TEXT + b"9\t51\t" + plays + b"\r\n")
