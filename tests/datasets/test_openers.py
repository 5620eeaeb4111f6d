"""An opener of another package: it gives bytes, and all around it is as for this package's own."""

import json
import threading
import time

import pytest

import harness
from harness.datasets import places
from harness.datasets.openers import opener_of
from harness.errors import DataError
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install, site

__all__ = ["site"]
SECRET = "hush-hush"
SHELF = """
import io
import time

from harness.datasets.openers import Opener


class Endless:
    def __enter__(self): return self
    def __exit__(self, *error): pass
    def read(self, n): return bytes(n)


class Silent(Endless):
    def read(self, n): time.sleep(0.6); return b""


class Shelf(Opener):
    example = "shelf://desk/a.csv"

    def open(self, address):
        if "endless" in address: return Endless()
        if "silent" in address: return Silent()
        if "away" in address: raise OSError(f"{address}: no desk for hush-hush")
        if "locked" in address:
            from harness.errors import DataError
            raise DataError(f"{address}: locked; give another key than 'hush-hush'")
        return io.BytesIO(b"user,item,rating\\nann,emma,4\\nbob,dune,2\\n")

    def size(self, stream):
        return 10**12 if "huge" in self.asked else 0

    asked = ""


class Huge(Shelf):
    asked = "huge"


class Ends(Shelf):
    def open(self, address): raise SystemExit(3)


def no_opener(): return 7


class Needs(Shelf):
    def __init__(self, key): ...
"""
NAMES = {
    "shelf": "shelf_files:Shelf",
    "huge": "shelf_files:Huge",
    "ends": "shelf_files:Ends",
    "needs": "shelf_files:Needs",
    "none": "shelf_files:no_opener",
}


@pytest.fixture
def shelf(site):
    install(site, "harness-shelf", "0.3", {"openers": NAMES}, shelf_files=SHELF)
    plugins.refresh()


@pytest.fixture(autouse=True)
def ended_threads():
    """Let no thread of a transfer that was given up outlast its test."""
    yield
    end = time.monotonic() + 10
    while any(thread.name == "fetch" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_this_package_opens_its_schemes_through_the_same_door():
    names = {name: type(opener_of(f"{name}://x")).__name__ for name in plugins.names("openers")}
    assert names == {"http": "Web", "https": "Web", "s3": "Store", "gs": "Store"}
    assert type(opener_of("sftp://x")).__name__ == "Store"


def test_what_a_package_opens_is_read_and_recorded(shelf, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = f"shelf://ann:{SECRET}@desk/ratings.csv?key={SECRET}"
    assert harness.load(address).to_frame()["rating"].tolist() == [4.0, 2.0]
    head = f"dataset: {{path: '{address}'}}\nfilters: []\n"
    (tmp_path / "c.yaml").write_text(f"{head}algorithms: [ItemMean]\nmetrics: [rmse]\n")
    run = harness.run("c.yaml", results="runs")
    used = [(plugin.kind, plugin.name, plugin.package) for plugin in run.info.plugins]
    assert used == [("openers", "shelf", "harness-shelf")]
    written = [path.read_text(errors="replace") for path in run.folder.rglob("*.*")]
    assert not any(SECRET in text for text in written)
    assert "passes" in cli.done("list", "plugins", "shelf", "--check")


@pytest.mark.parametrize(
    ("address", "keys", "message"),
    [
        ("shelf://endless", {"most_megabytes": 1}, "more than 1 MB; check the address, or allow"),
        ("huge://a.csv", {}, "more than 10,000 MB; check the address, or allow more with"),
        ("shelf://silent", {"most_seconds": 0.2}, "did not arrive within 0.2 s; check it, or"),
        ("shelf://desk/a.csv", {"sha256": "0" * 64}, "its SHA-256 is .*; the file has changed"),
        ("shelf://away", {}, r"cannot be fetched \(OSError: .* of harness-shelf 0.3\); check it"),
        ("ends://a.csv", {}, r"cannot be fetched \(SystemExit: 3; opener 'ends' of harness-shelf"),
        ("none://a.csv", {}, "opener 'none' of harness-shelf 0.3: not a subclass of Opener"),
        ("needs://a.csv", {}, "opener 'needs' of harness-shelf 0.3: its class cannot be called"),
        ("shelf://***@desk/a.csv", {}, "an address without its password or query"),
    ],
)
def test_limits_and_messages_are_those_of_every_address(shelf, address, keys, message):
    with pytest.raises(DataError, match=message):
        harness.load({"path": address, **keys})


@pytest.mark.parametrize("place", ["away", "locked"])
def test_no_message_of_an_opener_has_a_secret(shelf, place):
    address = f"shelf://ann:{SECRET}@{place}/ratings.csv?key={SECRET}"
    with pytest.raises(DataError) as caught:
        harness.load(address)
    assert SECRET not in str(caught.value)
    assert "***" in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_source_that_sends_next_to_nothing_is_given_up(shelf, monkeypatch):
    monkeypatch.setattr(places, "PATIENCE", 0.2)
    with pytest.raises(DataError, match="sent fewer than 1,024 bytes a second for"):
        harness.load("shelf://silent")


def test_an_opener_that_changes_its_bytes_does_not_pass(site, cli):
    changing = SHELF.replace("io.BytesIO(", "io.BytesIO(str(time.time_ns()).encode() + ")
    names = {"openers": {"shelf": "shelf_files:Shelf"}}
    install(site, "harness-shelf", "0.3", names, shelf_files=changing)
    plugins.refresh()
    code, out, _ = cli("list", "plugins", "shelf", "--check", "--json")
    assert code == 1
    assert "it opens different bytes when it opens an address again" in json.dumps(json.loads(out))
