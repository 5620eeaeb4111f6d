"""Files from a server that is slow, silent or endless, or that packs what it sends."""

import gzip
import threading
import time

import pytest

import harness
from harness.datasets import limits
from harness.datasets import places as remote
from harness.errors import DataError

from .conftest import send, whole

pytest.importorskip("aiohttp", reason="the extra `remote`")
DATA = b"user,item,rating\n" + b"".join(b"u%d,i%d,%d\n" % (n, n % 7, n % 5 + 1) for n in range(500))


def endless(handler, body):
    """Announce nothing, and send until nobody listens."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(body)


def announced(n_bytes):
    """Announce a size and send less."""
    return lambda handler, body: send(handler, body, n_bytes)


def silent(handler, body):
    """Say nothing, as long as the test takes."""
    handler.server.over.wait(20)


def slow(handler, body):
    """Send a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    for byte in body:
        if handler.server.over.wait(0.02):
            return
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()


def silent_after_a_beginning(handler, body):
    send_head(handler, len(body))
    handler.wfile.write(body[:100])
    handler.wfile.flush()
    handler.server.over.wait(20)


def send_head(handler, n_bytes):
    handler.send_response(200)
    handler.send_header("Content-Length", str(n_bytes))
    handler.end_headers()


def packed_without_end(handler, body):
    """Send a small body that unpacks to a large one."""
    send(handler, body, len(body), **{"Content-Encoding": "gzip"})


@pytest.fixture
def address(serve):
    """Return a function that starts a server of some manner and gives an address there."""
    started = []

    def start(manner, body=DATA, path="a.csv"):
        one = serve(body, manner)
        one.over = threading.Event()
        started.append(one)
        return f"{one.url}/{path}"

    yield start
    for one in started:
        one.over.set()


@pytest.fixture(autouse=True)
def ended_threads():
    """Let no thread of a transfer that was given up outlast its test."""
    yield
    end = time.monotonic() + 10
    while any(thread.name == "fetch" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_file_is_fetched_with_one_question(serve):
    one = serve(DATA)
    assert len(harness.load(f"{one.url}/a.csv")) == 500
    assert one.n_requests == 1


@pytest.mark.parametrize(
    ("manner", "keys", "message"),
    [
        (endless, {"most_megabytes": 1}, "more than 1 MB; check the address, or allow more with"),
        (announced(10**12), {}, "more than 10,000 MB; check the address, or allow more with"),
        (slow, {"most_seconds": 0.3}, "did not arrive within 0.3 s; check it, or allow more sec"),
        (silent, {"most_seconds": 0.3}, "did not arrive within 0.3 s; check it, or allow more sec"),
    ],
)
def test_limits_are_keys_of_a_config(address, manner, keys, message):
    url = address(manner)
    with pytest.raises(DataError, match=rf"{url}: {message}"):
        harness.load({"path": url, **keys})


@pytest.mark.parametrize("manner", [slow, silent, silent_after_a_beginning])
def test_a_server_that_sends_next_to_nothing_is_given_up(address, monkeypatch, manner):
    monkeypatch.setattr(remote, "PATIENCE", 0.3)
    url = address(manner)
    reason = "sent fewer than 1,024 bytes a second|cannot be fetched .*[Tt]imeout"
    with pytest.raises(DataError, match=rf"{url}: ({reason})"):
        harness.load(url)


def test_a_body_that_the_server_packed_is_limited_as_a_packed_file(address, monkeypatch):
    monkeypatch.setattr(limits, "FLOOR", 100_000)
    url = address(packed_without_end, gzip.compress(bytes(10_000_000)))
    with pytest.raises(DataError, match=rf"{url}: more than \d+ MB; check the address"):
        harness.load(url)
    good = address(packed_without_end, gzip.compress(DATA))
    assert len(harness.load(good)) == 500


def test_a_packed_file_of_a_server_is_limited_too(address, monkeypatch):
    monkeypatch.setattr(limits, "FLOOR", 100_000)
    url = address(whole, gzip.compress(bytes(10_000_000)), "a.csv.gz")
    with pytest.raises(DataError, match=rf"{url}: .* that unpack to more than .*most_megabytes"):
        harness.load(url)
    assert len(harness.load(address(whole, gzip.compress(DATA), "a.csv.gz"))) == 500


def test_limits_can_be_set_on_the_command_line(address, cli, tmp_path):
    config = tmp_path / "c.yaml"
    url = address(slow)
    config.write_text(f"dataset: '{url}'\nalgorithms: [ItemMean]\nmetrics: [rmse]\n")
    code, _, err = cli("run", config, "--set", "dataset.most_seconds=0.3")
    assert code == 2
    assert "did not arrive within" in err


@pytest.mark.parametrize(
    "manner", [lambda h, _: send(h, b"", 0, 404), lambda h, _: send(h, b"", 0, 500)]
)
def test_a_refusal_of_a_server_is_said(address, manner):
    with pytest.raises(DataError, match=r"cannot be fetched .*; check it, or fetch the file"):
        harness.load(address(manner))


def test_an_answer_that_is_cut_off_is_said(address):
    with pytest.raises(DataError, match=r"cannot be fetched .*; check it, or fetch the file"):
        harness.load(address(announced(len(DATA) + 9)))
