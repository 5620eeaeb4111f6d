"""Files from elsewhere (http, s3, gs), fetched through fsspec to a folder that is removed after."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.datasets.limits import (
    MEGABYTE,
    PATIENCE,
    REMOTE_SECONDS,
    SLOWEST,
    Limits,
    too_slow,
)
from harness.errors import DataError, is_masked, is_url, masked, reason_of
from harness.named_paths import file_name

PIECE = 1 << 16
BLOCK = 1 << 20
"""Bytes that are asked for at once where a store sends parts of a file."""
SPARE = 1 << 30
"""Bytes of the disk that stay free."""


@contextmanager
def fetched(paths: Sequence[str], sha256: str | None, limits: Limits) -> Iterator[dict[str, Path]]:
    """Yield a copy of each file that is not on this machine, by its URL.

    Raises
    ------
    DataError
        If fsspec or what it needs for a scheme is not installed, if the file cannot be fetched, is
        larger or comes more slowly than allowed, or if its hash is another one.
    """
    try:
        import fsspec  # noqa: F401 - of an extra
    except ImportError:
        raise DataError(
            f"{masked(next(filter(is_url, paths)))}: needs fsspec; pip install "
            "'surprise-harness[remote]', or fetch the file and give its path"
        ) from None
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as folder:
        places = {}
        for number, url in enumerate(filter(is_url, paths)):
            place = Path(folder) / str(number) / (file_name(url) or "ratings")
            place.parent.mkdir()
            digest = _fetched(url, place, limits)
            if sha256 is not None and digest != sha256.casefold():
                raise DataError(
                    f"{masked(url)}: its SHA-256 is {digest}, not {sha256}; the file has changed: "
                    "check it, and correct `sha256`"
                )
            places[url] = place
        yield places


def _fetched(url: str, place: Path, limits: Limits) -> str:
    """Fetch a file within limits and return its SHA-256."""
    where = masked(url)
    if is_masked(url):
        raise DataError(
            f"{where}: an address without its password or query, which no record keeps; give all "
            "of it, as --set dataset.path=…"
        )
    transfer = _Transfer(url, place, limits)
    # A library behind fsspec may wait as long as it likes; this thread does not.
    threading.Thread(target=transfer.run, name="fetch", daemon=True).start()
    try:
        transfer.watch(where)
    finally:
        transfer.is_given_up = True
    error = transfer.error
    if error is None:
        return transfer.digest.hexdigest()
    if isinstance(error, DataError):
        raise error
    reason = f"{type(error).__name__}: {reason_of(error)}".replace(url, where)
    raise DataError(
        f"{where}: cannot be fetched ({reason}); check it, or fetch the file and give its path"
    ) from None  # errors of libraries hold the address with its secrets


class _Transfer:
    """A file on its way, copied by a thread and watched by another."""

    def __init__(self, url: str, place: Path, limits: Limits) -> None:
        self.url, self.place, self.limits = url, place, limits
        self.most = limits.most_fetched()
        self.n_bytes = 0
        self.digest = hashlib.sha256()
        self.error: Exception | None = None
        self.is_given_up = False
        self.ended = threading.Event()

    def run(self) -> None:
        """Copy the file; what goes wrong is kept as `error`."""
        try:
            self._copy()
        except Exception as error:  # of any library behind fsspec
            self.error = error
        finally:
            self.ended.set()

    def _copy(self) -> None:
        with _opened(self.url) as stream, self.place.open("wb") as file:
            self._check(_announced(stream))
            self._limit_packed(stream)
            while not self.is_given_up and (data := stream.read(PIECE)):
                if shutil.disk_usage(self.place.parent).free < len(data) + SPARE:
                    raise OSError("the disk is full")
                self.n_bytes += len(data)
                self._check(self.n_bytes)
                self.digest.update(data)
                file.write(data)

    def _limit_packed(self, stream: Any) -> None:
        """Let a body that the server packed unpack to no more than a packed file."""
        headers = _headers(stream)
        if headers.get("Content-Encoding", "identity") != "identity":
            announced = _announced(stream)
            self.most = min(self.most, self.limits.most_unpacked(announced or self.most))

    def _check(self, n_bytes: int) -> None:
        if n_bytes > self.most:
            raise DataError(
                f"{masked(self.url)}: more than {self.most / MEGABYTE:,.0f} MB; check the address, "
                "or allow more with dataset.most_megabytes"
            )

    def watch(self, where: str) -> None:
        """Wait until the copy ends, or raise a `DataError` if it takes too long."""
        most = self.limits.seconds or REMOTE_SECONDS
        begun = since = time.monotonic()
        mark = 0
        while not self.ended.wait(min(0.2, most)):
            now = time.monotonic()
            if now - begun > most:
                raise too_slow(where, "did not arrive", most)
            if now - since > PATIENCE:
                if (self.n_bytes - mark) / (now - since) < SLOWEST:
                    raise DataError(
                        f"{where}: sent fewer than {SLOWEST:,.0f} bytes a second for "
                        f"{PATIENCE:,.0f} s; try again later, or fetch the file and give its path"
                    )
                since, mark = now, self.n_bytes


def _opened(url: str) -> Any:
    """Open a file of any scheme; of http as one answer, of which each byte is seen as it comes."""
    from fsspec.core import url_to_fs

    if not url.startswith(("http://", "https://")):
        files, path = url_to_fs(url)
        return files.open(path, "rb", block_size=BLOCK)
    from aiohttp import ClientTimeout

    patience = ClientTimeout(total=None, sock_connect=PATIENCE, sock_read=PATIENCE)
    headers = {"Accept-Encoding": "identity"}
    files, path = url_to_fs(
        url, client_kwargs={"timeout": patience, "headers": headers}, skip_instance_cache=True
    )
    # With a size fsspec does not ask for one first, which some servers do not answer.
    return files.open(path, "rb", block_size=0, size=1)


def _headers(stream: Any) -> Any:
    return getattr(getattr(stream, "r", None), "headers", {})


def _announced(stream: Any) -> int:
    """Return the size of a file as its source announces it; 0 for unknown."""
    announced = _headers(stream).get("Content-Length") or getattr(stream, "size", None) or "0"
    return int(announced) if str(announced).isdecimal() else 0
