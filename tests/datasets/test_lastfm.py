"""Plays from Last.fm: two formats, odd lines, and a tar archive read as it unpacks."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from harness import datasets
from harness.config.data import DatasetSection
from harness.datasets.archives import open_member
from harness.datasets.catalogue import CATALOGUE, Description
from harness.datasets.columns import Table
from harness.datasets.lastfm import read_plays, read_plays_as_pandas
from harness.errors import DataError, DownloadError

from .conftest import Server, other, status, zipped

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


def tar_of(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def triples(ratings: datasets.Ratings) -> list[tuple[str, str, float]]:
    users, items = ratings.user_ids[ratings.users], ratings.item_ids[ratings.items]
    return list(zip(users, items, ratings.ratings.tolist(), strict=True))


def columns_of(table: Table) -> list[list[object]]:
    users, items = (table.ids[role] for role in ("user", "item"))
    return [
        users.ids[users.codes].tolist(), items.ids[items.codes].tolist(),
        table.numbers["rating"].tolist(),
    ]  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Description]:
    """Return a function that puts a small Last.fm 360K into the catalogue."""

    def put(archive: bytes, *urls: str) -> Description:
        what = replace(
            CATALOGUE["lastfm-360k"],
            url=f"{urls[0]}/lastfm-dataset-360K.tar.gz",
            other_urls=tuple(f"{url}/lastfm-dataset-360K.tar.gz" for url in urls[1:]),
            archive_bytes=len(archive),
            member_bytes=1000,
            md5=hashlib.md5(archive).hexdigest(),
            member_md5=None,
        )
        monkeypatch.setitem(CATALOGUE, "lastfm-360k", what)
        return what

    return put


class TestLastfm360K:
    def test_is_fetched_checked_and_read_with_names_as_they_stand(
        self, serve: Callable[..., Server], plays: Callable[..., Description], cache: Path
    ) -> None:
        archive = tar_of({"lastfm-dataset-360K/README.txt": b"read me", MEMBER: text_of(SOUND)})
        server = serve(archive)
        plays(archive, server.url)
        ratings = datasets.load("lastfm-360k", cache=cache)
        assert triples(ratings) == [(u, artist, float(n)) for u, _, artist, n in SOUND]
        assert ratings.notes == ("scale 1 to 2137, the lowest and highest rating found",)
        assert datasets.load("lastfm-360k", cache=cache).fingerprint == ratings.fingerprint
        assert len(server.ranges) == 1
        kept = {path.name for path in (cache / "datasets" / "lastfm-360k").iterdir()}
        assert [name for name in kept if name.endswith((".tsv", ".tar"))] == []

    def test_comes_from_the_second_address_where_the_first_fails_or_lies(
        self, serve: Callable[..., Server], plays: Callable[..., Description], tmp_path: Path
    ) -> None:
        archive = tar_of({MEMBER: text_of(SOUND)})
        good = serve(archive)
        for place, manner in enumerate([status(404), other(b"x" * len(archive))]):
            plays(archive, serve(archive, manner).url, good.url)
            ratings = datasets.load("lastfm-360k", cache=tmp_path / str(place))
            assert len(ratings) == len(SOUND)
        assert len(good.ranges) == 2

    def test_what_was_tried_is_told_where_no_address_has_it(
        self, serve: Callable[..., Server], plays: Callable[..., Description], cache: Path
    ) -> None:
        archive = tar_of({MEMBER: text_of(SOUND)})
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
        found = read_plays(io.BytesIO(text_of([*odd, *SOUND, *odd[:1]])), "plays.tsv")
        assert len(found) == len(SOUND)
        assert sorted(found.notes) == [
            "1 line without an artist left out",
            "2 lines without a SHA-1 for its user left out",
            "2 lines without four fields left out",
            "3 lines without a whole number of plays from 1 left out",
        ]

    def test_plays_of_artists_with_several_ids_are_added_up(self) -> None:
        lines = [SOUND[0], (ANN, "m9", "betty blowtorch", "3"), *SOUND[1:]]
        found = read_plays(io.BytesIO(text_of(lines)), "plays.tsv")
        assert found.numbers["rating"].tolist() == [2140, 1099, 7, 1, 3]
        assert found.notes == ("1 row added to another of the same user and artist",)

    def test_blocks_do_not_change_what_is_read(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = text_of([*SOUND, *QUOTED])
        whole = read_plays(io.BytesIO(text), "plays.tsv")
        monkeypatch.setattr("harness.datasets.lastfm.BLOCK", 200)
        parts = read_plays(io.BytesIO(text), "plays.tsv")
        assert len(parts) == len(SOUND) + len(QUOTED)
        assert columns_of(parts) == columns_of(whole)

    @pytest.mark.parametrize("text", [b"", b"x\ty\n", text_of([(ANN, "m", "x", "0")])])
    def test_a_file_without_plays_is_refused(self, text: bytes) -> None:
        with pytest.raises(DataError, match=r"^plays\.tsv: no plays; give a file that has some"):
            read_plays(io.BytesIO(text), "plays.tsv")

    def test_text_that_is_not_utf8_is_refused(self) -> None:
        text = text_of(SOUND).replace("Ä".encode(), b"\xc4")
        with pytest.raises(DataError, match=r"^plays\.tsv: .*invalid UTF8.*fetch it again"):
            read_plays(io.BytesIO(text), "plays.tsv")


class TestAsPandas:
    def test_is_what_pandas_makes_of_the_file(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = text_of([*SOUND, *QUOTED])
        monkeypatch.setattr("harness.datasets.lastfm.ROWS_AT_ONCE", 2)
        found = read_plays_as_pandas(io.BytesIO(text), "plays.tsv")
        frame = pd.read_table(io.BytesIO(text))
        frame = frame.drop(frame.columns[1], axis=1).dropna()
        frame.columns = pd.Index(["user", "artist", "plays"])
        assert columns_of(found) == [frame[name].tolist() for name in frame]
        assert found.notes == (
            "read as pandas.read_table does by default, which makes 6 rows of it",
            "1 row with a missing value left out",
        )

    def test_a_config_asks_for_it_and_its_columns_are_kept_apart(
        self, serve: Callable[..., Server], plays: Callable[..., Description], cache: Path
    ) -> None:
        archive = tar_of({MEMBER: text_of([*SOUND, *QUOTED])})
        plays(archive, serve(archive).url)
        all_lines = datasets.load("lastfm-360k", cache=cache)
        as_pandas = datasets.load({"name": "lastfm-360k", "like": "pandas"}, cache=cache)
        assert (len(all_lines), len(as_pandas)) == (9, 5)
        again = datasets.load({"name": "lastfm-360k", "like": "pandas"}, cache=cache)
        assert again.fingerprint == as_pandas.fingerprint
        assert again.notes == as_pandas.notes

    def test_plays_that_are_no_number_are_refused(self) -> None:
        text = text_of([*SOUND, (ANN, "m", "x", "often")])
        with pytest.raises(DataError, match=r"not read as pandas does \(.*often.*; leave out like"):
            read_plays_as_pandas(io.BytesIO(text), "plays.tsv")

    def test_no_other_data_set_is_read_so(self) -> None:
        with pytest.raises(ValueError, match="only lastfm-360k is read in more than one way"):
            DatasetSection.model_validate({"name": "lastfm-2k", "like": "pandas"})


class TestLastfm2K:
    TEXT = b"userID\tartistID\tweight\r\n2\t51\t13883\r\n2\t52\t11690\r\n7\t51\t1\r\n"

    @pytest.fixture
    def known(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Description]:
        def put(archive: bytes, url: str) -> Description:
            what = replace(
                CATALOGUE["lastfm-2k"],
                url=f"{url}/hetrec2011-lastfm-2k.zip",
                n_ratings=3,
                n_users=2,
                archive_bytes=len(archive),
                sha256=hashlib.sha256(archive).hexdigest(),
            )
            monkeypatch.setitem(CATALOGUE, "lastfm-2k", what)
            return what

        return put

    def test_is_read_in_its_own_format(
        self, serve: Callable[..., Server], known: Callable[..., Description], cache: Path
    ) -> None:
        archive = zipped({"artists.dat": b"x", "user_artists.dat": self.TEXT})
        known(archive, serve(archive).url)
        ratings = datasets.load("lastfm-2k", cache=cache)
        assert triples(ratings) == [("2", "51", 13883), ("2", "52", 11690), ("7", "51", 1)]
        assert ratings.timestamps is None
        assert ratings.scale == (1, 352_698)

    def test_a_copy_without_header_is_the_same(
        self, known: Callable[..., Description], cache: Path, tmp_path: Path
    ) -> None:
        known(b"", "http://127.0.0.1:9")
        found = []
        for name, text in [("a.tsv", self.TEXT), ("b.tsv", self.TEXT.split(b"\r\n", 1)[1])]:
            (tmp_path / name).write_bytes(text)
            path = str(tmp_path / name)
            found.append(datasets.load({"name": "lastfm-2k", "path": path}, cache=cache))
        assert found[0].fingerprint == found[1].fingerprint

    @pytest.mark.parametrize("line", [b"9\t51\t0\r\n", b"9\t51\t-3\r\n"])
    def test_plays_below_one_are_refused_by_line(
        self, known: Callable[..., Description], cache: Path, tmp_path: Path, line: bytes
    ) -> None:
        known(b"", "http://127.0.0.1:9")
        (tmp_path / "a.tsv").write_bytes(self.TEXT + line)
        with pytest.raises(DataError, match=r"a\.tsv:5: the rating -?\d is outside the scale 1 to"):
            datasets.load({"name": "lastfm-2k", "path": str(tmp_path / "a.tsv")}, cache=cache)

    def test_text_where_plays_belong_is_refused_by_line(
        self, known: Callable[..., Description], cache: Path, tmp_path: Path
    ) -> None:
        known(b"", "http://127.0.0.1:9")
        (tmp_path / "a.tsv").write_bytes(self.TEXT + b"9\t51\toften\r\n")
        with pytest.raises(DataError, match=r"a\.tsv:5: the rating 'often' is not a number"):
            datasets.load({"name": "lastfm-2k", "path": str(tmp_path / "a.tsv")}, cache=cache)


class TestTar:
    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        return tmp_path / "a.tar.gz"

    def read(self, archive: Path, most: int = 1000) -> bytes:
        with open_member(archive, "a/r.tsv", most) as stream:
            return b"".join(iter(lambda: stream.read(64), b""))

    def test_a_member_is_read_where_it_lies(self, archive: Path) -> None:
        archive.write_bytes(tar_of({"../../evil": b"x", "a/r.tsv": b"1\t2\n" * 99}))
        assert self.read(archive) == b"1\t2\n" * 99
        assert [path.name for path in archive.parent.iterdir()] == ["a.tar.gz"]

    def test_a_member_that_is_not_there_is_named_with_what_is(self, archive: Path) -> None:
        archive.write_bytes(tar_of({"b/r.tsv": b""}))
        with pytest.raises(DataError, match=r"holds no a/r\.tsv \(but b/r\.tsv\); fetch it again"):
            self.read(archive)

    @pytest.mark.parametrize("large", ["a/r.tsv", "before"])
    def test_what_is_larger_than_announced_is_refused(self, archive: Path, large: str) -> None:
        members = {"before": b"", "a/r.tsv": b""}
        archive.write_bytes(tar_of(members | {large: b"x" * 1001}))
        with pytest.raises(DataError, match=rf"!{large}: unpacks to more than 1,000 bytes"):
            self.read(archive)

    @pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
    def test_a_link_or_a_folder_is_refused(self, archive: Path, kind: bytes) -> None:
        with tarfile.open(archive, "w:gz") as opened:
            info = tarfile.TarInfo("a/r.tsv")
            info.type, info.linkname = kind, "/etc/passwd"
            opened.addfile(info)
        with pytest.raises(DataError, match="a link or a folder, not a file"):
            self.read(archive)

    def test_one_cut_off_is_broken(self, archive: Path) -> None:
        noise = hashlib.shake_256(b"x").digest(50_000)
        whole = tar_of({"a/r.tsv": noise})
        archive.write_bytes(whole[: len(whole) - 300])
        with pytest.raises(DataError, match=r"a/r\.tsv: broken \(.*\); fetch the archive again"):
            self.read(archive, most=100_000)

    @pytest.mark.parametrize(
        "data", [b"", b"no archive", gzip.compress(b"no tar" * 200)], ids=["empty", "text", "gzip"]
    )
    def test_what_is_no_tar_is_refused(self, archive: Path, data: bytes) -> None:
        archive.write_bytes(data)
        with pytest.raises(DataError, match=r"a\.tar\.gz: (not a gzipped tar archive|holds no)"):
            self.read(archive)

    def test_one_that_is_missing_is_refused(self, archive: Path) -> None:
        with pytest.raises(DataError, match=r"a\.tar\.gz: no such file"):
            self.read(archive)
