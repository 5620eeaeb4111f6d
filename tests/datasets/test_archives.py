"""Archives from strangers: nothing unpacked, nothing outside, no bombs."""

from __future__ import annotations

import gzip
import hashlib
import stat
import struct
import tarfile
import zipfile

import pytest

from harness.datasets.readers.packed import open_member
from harness.errors import DataError

from .conftest import tarred, zipped

ROWS = b"1,2,3\n" * 99


@pytest.fixture(autouse=True)
def _narrow(monkeypatch):
    monkeypatch.setattr("harness.datasets.readers.packed.most_bytes", lambda expected: expected)


@pytest.fixture(params=["a.zip", "a.tar.gz"])
def archive(request, tmp_path):
    return tmp_path / request.param


def read(archive, data=None, expected=1_000):
    """Return the member of an archive, which is written first."""
    if data is not None:
        archive.write_bytes(data)
    with open_member(archive, "a/r.csv", expected) as stream:
        return b"".join(iter(lambda: stream.read(64), b""))


def packed(archive, members):
    return zipped(members) if archive.suffix == ".zip" else tarred(members)


def patched(data, *places, central):
    """Return a zip with other numbers in the header of its member and in its directory."""
    changed = bytearray(data)
    directory = data.index(b"PK\x01\x02")
    for place, number in [*places, *((directory + place, number) for place, number in central)]:
        struct.pack_into("<I", changed, place, number)
    return bytes(changed)


def test_a_member_is_read_in_place_and_those_that_climb_out_are_never_written(archive):
    members = {"../../evil": b"x", "/etc/evil": b"x", "a/r.csv": ROWS}
    assert read(archive, packed(archive, members)) == ROWS
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE])
def test_a_link_or_a_folder_in_a_tar_is_refused(tmp_path, kind):
    info = tarfile.TarInfo("a/r.csv")
    info.type, info.linkname = kind, "/etc/passwd"
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as opened:
        opened.addfile(info)
    with pytest.raises(DataError, match="a link or a folder, not a file"):
        read(tmp_path / "a.tar.gz")


@pytest.mark.parametrize("mode", [stat.S_IFLNK | 0o777, 0])
def test_a_link_or_a_folder_in_a_zip_is_refused(tmp_path, mode):
    entry = zipfile.ZipInfo("a/r.csv" if mode else "a/r.csv/")
    entry.create_system, entry.external_attr = 3, mode << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        opened.writestr(entry, "/etc/passwd" if mode else "")
    with (
        pytest.raises(DataError, match="a link or a folder, not a file"),
        open_member(tmp_path / "a.zip", entry.filename, 1_000),
    ):
        pass


STORED = zipped({"a/r.csv": b"1,2,3\n" * 50})
DEFLATED = zipped({"a/r.csv": b"0" * 50_000}, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (patched(STORED, (6, 1), central=((8, 1),)), "encrypted; give an archive that is not"),
        (DEFLATED, "unpacks to more than 1,000 bytes"),
        (
            patched(DEFLATED, (22, 900), central=((24, 900),)),
            r"broken \(Bad CRC-32|unpacks to more than",
        ),
        (STORED[:60] + b"?" + STORED[61:], r"a\.zip!a/r\.csv: broken \(Bad CRC-32"),
        *((STORED[:-n_lost], r"a\.zip") for n_lost in (1, 10, 30, 60, 100)),
    ],
    # The bytes hold the time, so that names made of them would differ between processes.
    ids=["encrypted", "bomb", "understated", "changed", *(f"cut {n}" for n in range(5))],
)
def test_a_zip_that_is_a_bomb_encrypted_or_damaged_is_refused(tmp_path, data, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path / "a.zip", data)


@pytest.mark.parametrize("large", ["a/r.csv", "before"])
def test_a_tar_larger_than_announced_is_refused(tmp_path, large):
    with pytest.raises(DataError, match=rf"!{large}: unpacks to more than 1,000 bytes"):
        read(tmp_path / "a.tar.gz", tarred({"before": b"", "a/r.csv": b""} | {large: b"x" * 1001}))


def test_a_cut_tar_is_broken(tmp_path):
    data = tarred({"a/r.csv": hashlib.shake_256(b"x").digest(50_000)})
    with pytest.raises(DataError, match=r"a/r\.csv: broken \(.*\); fetch the archive again"):
        read(tmp_path / "a.tar.gz", data[:-300], expected=100_000)


def test_an_archive_of_very_many_members_is_refused(archive, monkeypatch):
    monkeypatch.setattr("harness.datasets.readers.packed.MOST_MEMBERS", 3)
    with pytest.raises(DataError, match=r": 4 members; give the archive as published"):
        read(archive, packed(archive, {str(n): b"" for n in range(4)}))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", b"<html>log in</html>", b"PK\x05\x06" + b"\0" * 18, gzip.compress(b"no" * 999)],
    ids=["empty", "start", "text", "end", "gzip"],
)
def test_what_is_no_archive_or_absent_is_refused(archive, data):
    with pytest.raises(DataError, match=r": no such file; fetch it again"):
        read(archive)
    with pytest.raises(DataError, match=r": (not a (zip|gzipped tar) archive|holds no a/r\.csv)"):
        read(archive, data)
    with pytest.raises(DataError, match=r"holds no a/r\.csv \(but b/r\.csv\); fetch it again"):
        read(archive, packed(archive, {"b/r.csv": b""}))
