"""Archives from strangers: nothing unpacked, nothing outside, no bombs."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from harness.datasets.archives import member_names, open_member
from harness.errors import DataError

from .conftest import zipped


def read(archive: Path, member: str = "a/r.csv", most: int = 1_000) -> bytes:
    with open_member(archive, member, most) as stream:
        return b"".join(iter(lambda: stream.read(64), b""))


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "a.zip"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_member_is_read_where_it_lies(archive: Path, method: int) -> None:
    archive.write_bytes(zipped({"a/r.csv": b"1,2,3\n", "b": b""}, method))
    assert read(archive) == b"1,2,3\n"
    assert [path.name for path in archive.parent.iterdir()] == ["a.zip"]


def test_members_that_climb_out_are_never_written(archive: Path) -> None:
    archive.write_bytes(zipped({"../../evil": b"x", "/etc/evil": b"x", "a/r.csv": b"fine"}))
    assert read(archive) == b"fine"
    assert [path.name for path in archive.parent.iterdir()] == ["a.zip"]


def test_a_member_that_is_not_there_is_named_with_what_is(archive: Path) -> None:
    archive.write_bytes(zipped({"b/r.csv": b""}))
    with pytest.raises(DataError, match=r"a\.zip: holds no a/r\.csv \(but b/r\.csv\); fetch"):
        read(archive)


def test_a_link_is_refused(archive: Path) -> None:
    with zipfile.ZipFile(archive, "w") as opened:
        link = zipfile.ZipInfo("a/r.csv")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        opened.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match="a link or a folder, not a file"):
        read(archive)


def test_a_folder_is_refused(archive: Path) -> None:
    archive.write_bytes(zipped({"a/r.csv/": b""}))
    with pytest.raises(DataError, match="a link or a folder, not a file"):
        read(archive, "a/r.csv/")


def test_an_encrypted_member_is_refused(archive: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"secret"}))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    archive.write_bytes(bytes(data))
    with pytest.raises(DataError, match="encrypted; give an archive that is not"):
        read(archive)


def test_a_bomb_is_refused_before_it_is_unpacked(archive: Path) -> None:
    archive.write_bytes(zipped({"a/r.csv": b"0" * 50_000_000}, zipfile.ZIP_DEFLATED))
    assert archive.stat().st_size < 100_000
    with pytest.raises(DataError, match="unpacks to more than 1,000 bytes"):
        read(archive)


def test_a_bomb_that_lies_about_its_size_is_stopped(archive: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"0" * 50_000}, zipfile.ZIP_DEFLATED))
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, 900)
    struct.pack_into("<I", data, central + 24, 900)
    archive.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"broken \(Bad CRC-32|unpacks to more than"):
        read(archive)


def test_an_archive_of_very_many_members_is_refused(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.datasets.archives.MOST_MEMBERS", 3)
    archive.write_bytes(zipped({str(n): b"" for n in range(4)}))
    with pytest.raises(DataError, match=r"a\.zip: 4 members; give the archive as published"):
        member_names(archive)


def test_a_wrong_checksum_is_found_while_reading(archive: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"1,2,3\n" * 50}))
    data[60] ^= 1
    archive.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"a\.zip!a/r\.csv: broken \(Bad CRC-32"):
        read(archive)


@pytest.mark.parametrize("data", [b"", b"PK", b"<html>log in</html>", b"PK\x05\x06" + b"\0" * 18])
def test_what_is_no_archive_is_refused(archive: Path, data: bytes) -> None:
    archive.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.zip: (not a zip archive|holds no a/r\.csv)"):
        read(archive)


@pytest.mark.parametrize("n_lost", [1, 10, 30, 60, 100])
def test_a_cut_archive_is_refused(archive: Path, n_lost: int) -> None:
    archive.write_bytes(zipped({"a/r.csv": b"1,2,3\n" * 50})[:-n_lost])
    with pytest.raises(DataError, match=r"a\.zip"):
        read(archive)
