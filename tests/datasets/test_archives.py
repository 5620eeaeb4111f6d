"""Archives from strangers: nothing unpacked, nothing outside, no bombs."""

from __future__ import annotations

import gzip
import hashlib
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest

from harness.datasets.download import open_member
from harness.errors import DataError

from .conftest import tarred, zipped

ROWS = b"1,2,3\n" * 99


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.datasets.download._most_bytes", lambda expected: expected)


def read(archive: Path, member: str = "a/r.csv", expected: int = 1_000) -> bytes:
    with open_member(archive, member, expected) as stream:
        return b"".join(iter(lambda: stream.read(64), b""))


@pytest.fixture(params=["a.zip", "a.tar.gz"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


@pytest.fixture
def zip_path(tmp_path: Path) -> Path:
    return tmp_path / "a.zip"


def pack(archive: Path, members: dict[str, bytes]) -> bytes:
    data = zipped(members) if archive.suffix == ".zip" else tarred(members)
    archive.write_bytes(data)
    return data


def test_a_member_is_read_in_place_and_those_that_climb_out_are_never_written(
    archive: Path,
) -> None:
    pack(archive, {"../../evil": b"x", "/etc/evil": b"x", "a/r.csv": ROWS})
    assert read(archive) == ROWS
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_every_compression_is_read(zip_path: Path, method: int) -> None:
    zip_path.write_bytes(zipped({"a/r.csv": ROWS, "b": b""}, method))
    assert read(zip_path) == ROWS


def test_an_absent_member_is_named_with_those_that_are_there(archive: Path) -> None:
    pack(archive, {"b/r.csv": b""})
    with pytest.raises(DataError, match=r"holds no a/r\.csv \(but b/r\.csv\); fetch it again"):
        read(archive)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_a_link_or_a_folder_in_a_tar_is_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as opened:
        info = tarfile.TarInfo("a/r.csv")
        info.type, info.linkname = kind, "/etc/passwd"
        opened.addfile(info)
    with pytest.raises(DataError, match="a link or a folder, not a file"):
        read(tmp_path / "a.tar.gz")


def test_a_link_or_a_folder_in_a_zip_is_refused(zip_path: Path) -> None:
    with zipfile.ZipFile(zip_path, "w") as opened:
        link = zipfile.ZipInfo("a/r.csv")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        opened.writestr(link, "/etc/passwd")
        opened.writestr("b/", "")
    for member in ("a/r.csv", "b/"):
        with pytest.raises(DataError, match="a link or a folder, not a file"):
            read(zip_path, member)


def test_an_encrypted_member_is_refused(zip_path: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"secret"}))
    central = data.index(b"PK\x01\x02")
    data[6] |= 1
    data[central + 8] |= 1
    zip_path.write_bytes(bytes(data))
    with pytest.raises(DataError, match="encrypted; give an archive that is not"):
        read(zip_path)


def test_a_bomb_is_refused_before_it_is_unpacked(zip_path: Path) -> None:
    zip_path.write_bytes(zipped({"a/r.csv": b"0" * 50_000_000}, zipfile.ZIP_DEFLATED))
    assert zip_path.stat().st_size < 100_000
    with pytest.raises(DataError, match="unpacks to more than 1,000 bytes"):
        read(zip_path)


def test_a_bomb_that_lies_about_its_size_is_stopped(zip_path: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"0" * 50_000}, zipfile.ZIP_DEFLATED))
    central = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, 22, 900)
    struct.pack_into("<I", data, central + 24, 900)
    zip_path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"broken \(Bad CRC-32|unpacks to more than"):
        read(zip_path)


@pytest.mark.parametrize("large", ["a/r.csv", "before"])
def test_a_tar_larger_than_announced_is_refused(tmp_path: Path, large: str) -> None:
    members = {"before": b"", "a/r.csv": b""}
    pack(tmp_path / "a.tar.gz", members | {large: b"x" * 1001})
    with pytest.raises(DataError, match=rf"!{large}: unpacks to more than 1,000 bytes"):
        read(tmp_path / "a.tar.gz")


def test_an_archive_of_very_many_members_is_refused(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.datasets.download.MOST_MEMBERS", 3)
    pack(archive, {str(n): b"" for n in range(4)})
    with pytest.raises(DataError, match=r": 4 members; give the archive as published"):
        read(archive)


def test_a_wrong_checksum_is_found_while_reading(zip_path: Path) -> None:
    data = bytearray(zipped({"a/r.csv": b"1,2,3\n" * 50}))
    data[60] ^= 1
    zip_path.write_bytes(bytes(data))
    with pytest.raises(DataError, match=r"a\.zip!a/r\.csv: broken \(Bad CRC-32"):
        read(zip_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"<html>log in</html>", b"PK\x05\x06" + b"\0" * 18, gzip.compress(b"no" * 999)],
    ids=["empty", "start", "text", "end", "gzip"],
)
def test_what_is_no_archive_is_refused(archive: Path, data: bytes) -> None:
    archive.write_bytes(data)
    with pytest.raises(DataError, match=r": (not a (zip|gzipped tar) archive|holds no a/r\.csv)"):
        read(archive)


@pytest.mark.parametrize("n_lost", [1, 10, 30, 60, 100])
def test_a_cut_zip_is_refused(zip_path: Path, n_lost: int) -> None:
    zip_path.write_bytes(zipped({"a/r.csv": b"1,2,3\n" * 50})[:-n_lost])
    with pytest.raises(DataError, match=r"a\.zip"):
        read(zip_path)


def test_a_cut_tar_is_broken(tmp_path: Path) -> None:
    data = pack(tmp_path / "a.tar.gz", {"a/r.csv": hashlib.shake_256(b"x").digest(50_000)})
    (tmp_path / "a.tar.gz").write_bytes(data[:-300])
    with pytest.raises(DataError, match=r"a/r\.csv: broken \(.*\); fetch the archive again"):
        read(tmp_path / "a.tar.gz", expected=100_000)


def test_an_absent_archive_is_refused(archive: Path) -> None:
    with pytest.raises(DataError, match=r": no such file; fetch it again"):
        read(archive)
