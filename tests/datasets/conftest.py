"""A server that answers badly, and a small data set to be had from it."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from harness import datasets
from harness.datasets import download
from harness.datasets.catalogue import CATALOGUE
from tests.plugins.test_plugins import site  # noqa: F401 - a fixture


def zipped(members, method=zipfile.ZIP_STORED):
    """Return a zip archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(members):
    """Return a gzipped tar archive with these members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def rows_of(ratings):
    """Return user, item, rating and time (0 for none) of each row."""
    times = [0] * len(ratings) if ratings.timestamps is None else ratings.timestamps.tolist()
    users, items = ratings.user_ids[ratings.users], ratings.item_ids[ratings.items]
    return list(zip(users.tolist(), items.tolist(), ratings.ratings.tolist(), times, strict=True))


@pytest.fixture
def load(tmp_path):
    """Return a function that writes a file of one's own and loads it."""

    def write_and_load(name, content, **keys):
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return datasets.load({"path": name, **keys}, base=tmp_path)

    return write_and_load


class Handler(BaseHTTPRequestHandler):
    """Answers in the next manner of its server; the last is kept."""

    def do_GET(self):
        self.server.n_requests += 1
        manners = self.server.manners
        manner = manners.pop(0) if len(manners) > 1 else manners[0]
        try:
            manner(self, self.server.body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *args):
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """Serves one body under any path, in the manners given; counts the requests."""

    daemon_threads = True

    def __init__(self, body, manners):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.manners, self.n_requests = body, manners, 0
        self.url = f"http://127.0.0.1:{self.server_port}"


def send(handler, data, length, code=200, **headers):
    """Send a head and a body, and hang up."""
    handler.send_response(code)
    for name, value in headers.items():
        handler.send_header(name, value)
    if length is not None:
        handler.send_header("Content-Length", str(length))
    handler.end_headers()
    handler.wfile.write(data)
    handler.wfile.flush()
    handler.close_connection = True


def whole(handler, body):
    """Answer as one should."""
    send(handler, body, len(body))


def cut(n_bytes):
    """Announce everything, send `n_bytes` of it and hang up."""
    return lambda handler, body: send(handler, body[:n_bytes], len(body))


def status(code, **headers):
    """Answer with nothing but a status."""
    return lambda handler, body: send(handler, b"", 0, code, **headers)


def other(data, length=None):
    """Send other bytes, perhaps with a length that is not theirs."""
    return lambda handler, body: send(handler, data, length)


def dripping(handler, body):
    """Send little now and then, for long."""
    send(handler, b"", len(body))
    for _ in range(200):
        handler.wfile.write(b"x" * 512)
        handler.wfile.flush()
        time.sleep(0.05)


def silent(handler, body):
    """Announce much, then say nothing for a while."""
    send(handler, b"", len(body))
    time.sleep(2)


def endless(handler, body):
    """Send more and more without saying how much."""
    send(handler, b"", None)
    for _ in range(10_000):
        handler.wfile.write(b"x" * 65_536)


@pytest.fixture
def serve():
    """Return a function that starts a server on this machine for a body and some manners."""
    running = []

    def start(body, *manners):
        server = Server(body, list(manners) or [whole])
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


RATINGS = b"userId,movieId,rating,timestamp\n" + b"".join(
    b"%d,%d,%s,%d\n" % (n // 40 + 1, n % 40 + 1, [b"0.5", b"3.0", b"5.0"][n % 3], 10**9 + n)
    for n in range(20_000)
)
ARCHIVE = zipped({"ml-25m/README.txt": b"read me", "ml-25m/ratings.csv": RATINGS})
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Return a function that puts a small ml-25m into the catalogue, or changes another entry."""
    monkeypatch.chdir(tmp_path)  # where no copy is in `data`

    def put(url=NOWHERE, name="ml-25m", **changes):
        small = {
            "n_ratings": 20_000,
            "n_users": 500,
            "n_items": 40,
            "archive_bytes": len(ARCHIVE),
            "md5": hashlib.md5(ARCHIVE).hexdigest(),
            "member_bytes": len(RATINGS),
        }
        changes = (small if name == "ml-25m" else {}) | changes
        what = CATALOGUE[name]
        what = replace(what, url=f"{url}/{what.archive}", **changes)  # type: ignore[arg-type]
        monkeypatch.setitem(CATALOGUE, name, what)
        return what

    return put


@pytest.fixture
def impatient(monkeypatch):
    """Make downloads give up after fractions of a second."""
    monkeypatch.setattr(download, "PATIENCE", 0.4)
    monkeypatch.setattr(download, "SLOWEST", 100_000)
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))


@pytest.fixture
def cache(tmp_path):
    """Return an empty cache folder."""
    return tmp_path / "cache"
