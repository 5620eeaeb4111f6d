"""A server that answers badly, and a small data set to be had from it."""

from __future__ import annotations

import hashlib
import io
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness.datasets import sources
from harness.datasets.catalogue import CATALOGUE, Description
from harness.datasets.transfer import Transfer


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """Return an archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@dataclass
class Server:
    """Serves one body under any path, in the manner set; keeps the requests."""

    body: bytes
    url: str = ""
    manners: list[Callable[[BaseHTTPRequestHandler, bytes], None]] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer in the next manner; the last is kept."""
        self.ranges.append(handler.headers.get("Range"))
        manner = self.manners.pop(0) if len(self.manners) > 1 else self.manners[0]
        manner(handler, self.body)


def whole(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Answer as one should, ranges included."""
    wanted = handler.headers.get("Range")
    start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
    if wanted and start >= len(body):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(body)}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return
    handler.send_response(206 if wanted else 200)
    if wanted:
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
    handler.send_header("Content-Length", str(len(body) - start))
    handler.end_headers()
    handler.wfile.write(body[start:])


def without_ranges(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send everything, whatever was asked for."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def cut(n_bytes: int) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    """Announce everything, send `n_bytes` of it and hang up."""

    def manner(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        wanted = handler.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        handler.send_response(206 if wanted else 200)
        handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        handler.send_header("Content-Length", str(len(body) - start))
        handler.end_headers()
        handler.wfile.write(body[start : start + n_bytes])
        handler.close_connection = True

    return manner


def status(code: int, **headers: str) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    """Answer with nothing but a status."""

    def manner(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return manner


def other(
    data: bytes, length: int | None = None
) -> Callable[[BaseHTTPRequestHandler, bytes], None]:
    """Send other bytes, perhaps with another length than theirs; no length for a negative one."""

    def manner(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(200)
        if length is None or length >= 0:
            handler.send_header("Content-Length", str(len(data) if length is None else length))
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True

    return manner


def dripping(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send a byte now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b"x")
        handler.wfile.flush()
        time.sleep(0.05)


def silent(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Announce much, then say nothing for a while."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.flush()
    time.sleep(3)


def endless(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """Send more and more without saying how much."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(10_000):
        handler.wfile.write(b"x" * 65_536)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Return a function that starts a server on this machine for a body and some manners."""
    running = []

    def start(body: bytes, *manners: Callable[[BaseHTTPRequestHandler, bytes], None]) -> Server:
        server = Server(body, manners=list(manners) or [whole])

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                try:
                    server.answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = True
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        running.append(http)
        server.url = f"http://127.0.0.1:{http.server_port}"
        return server

    yield start
    for http in running:
        http.shutdown()
        http.server_close()


RATINGS = b"".join(
    b"%d,%d,%s,%d\n" % (n // 40 + 1, n % 40 + 1, [b"0.5", b"3.0", b"5.0"][n % 3], 10**9 + n)
    for n in range(20_000)
)
RATINGS = b"userId,movieId,rating,timestamp\n" + RATINGS


@dataclass
class Small:
    """A data set of 20,000 ratings, and its archive."""

    what: Description
    archive: bytes
    ratings: bytes = RATINGS


@pytest.fixture
def small() -> Small:
    """Return a small data set in the manner of the big ones."""
    archive = zipped({"ml-25m/README.txt": b"read me", "ml-25m/ratings.csv": RATINGS})
    what = replace(
        CATALOGUE["ml-25m"],
        n_ratings=20_000,
        n_users=500,
        n_items=40,
        archive_bytes=len(archive),
        md5=hashlib.md5(archive).hexdigest(),
        member_bytes=len(RATINGS),
    )
    return Small(what, archive)


@pytest.fixture
def known(small: Small, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Description]:
    """Return a function that puts the small data set into the catalogue, from some address."""

    def put(url: str, **changes: object) -> Description:
        what = replace(small.what, url=f"{url}/ml-25m.zip", **changes)  # type: ignore[arg-type]
        monkeypatch.setitem(CATALOGUE, "ml-25m", what)
        return what

    return put


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make downloads give up after fractions of a second."""
    monkeypatch.setattr(sources, "Transfer", partial(Transfer, patience=0.4, pause=0.01))
