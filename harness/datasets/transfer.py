"""Download a file: resumed after errors, with limits of size and time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

__all__ = ["Transfer", "TransferError"]

PIECE = 1 << 16
LEAST_PROGRESS = 1 << 16
"""Bytes that a try must bring to count as progress."""


class TransferError(Exception):
    """A source without a usable file; the message says why."""


class _PassingError(Exception):
    """A temporary error: the transfer is resumed from where it stopped."""


class Transfer:
    """Downloads to a ``.part`` file that the next try, or the next run, resumes.

    An instance can be the ``downloader`` of `pooch.retrieve`.

    Parameters
    ----------
    part : Path
        The partial file; moved to the target when complete.
    most : int
        A larger file is not the requested one.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes; the total is 0 when unknown.
    tries : int
        How often to try without progress before giving up.
    patience : float
        Seconds without a byte, and the span over which `slowest` is measured.
    slowest : float
        Bytes a second below which a source is given up.
    pause : float
        Seconds before a try that follows one without progress; doubled each time.
    """

    def __init__(
        self,
        part: Path,
        most: int,
        progress: Callable[[int, int], object] | None = None,
        *,
        tries: int = 4,
        patience: float = 30.0,
        slowest: float = 1024.0,
        pause: float = 0.5,
    ) -> None:
        self.part = part
        self.most = most
        self.progress = progress
        self.tries = tries
        self.patience = patience
        self.slowest = slowest
        self.pause = pause
        self.resumed = False

    def __call__(self, url: str, output: str | Path, pooch: object = None) -> None:
        """Download `url` to `output`.

        Raises
        ------
        TransferError
            If the source refuses, is too slow, or fails `tries` times without progress. The
            received bytes stay in the part file.
        """
        failures = 0
        while True:
            before = self._size()
            try:
                self._receive(url)
                break
            except _PassingError as error:
                failures = 0 if self._size() - before >= LEAST_PROGRESS else failures + 1
                if failures >= self.tries:
                    raise TransferError(f"{error} ({self.tries} tries)") from None
                time.sleep(self.pause * 2 ** max(failures - 1, 0))
        self.part.replace(output)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _receive(self, url: str) -> None:
        """Receive what is still missing, in one request."""
        import requests

        offset = self._size()
        headers = {"Accept-Encoding": "identity", "User-Agent": "surprise-harness"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        try:
            with requests.Session() as session:
                session.max_redirects = 5
                if url.startswith("https:"):
                    session.mount("http://", _refusing_adapter())
                with session.get(
                    url, headers=headers, stream=True, timeout=(10.0, self.patience)
                ) as response:
                    self._accept(response, offset)
        except requests.exceptions.TooManyRedirects:
            raise TransferError("redirected in a circle") from None
        except requests.exceptions.SSLError as error:
            raise TransferError(f"its certificate is not valid ({_reason(error)})") from None
        except requests.exceptions.Timeout:
            raise _PassingError(f"no answer within {self.patience:g} s") from None
        except requests.exceptions.ConnectionError as error:
            if "Failed to resolve" in str(error):
                raise TransferError(f"no connection ({_reason(error)})") from None
            raise _PassingError(f"no connection ({_reason(error)})") from None
        except requests.exceptions.RequestException as error:
            raise TransferError(f"no usable address or answer ({_reason(error)})") from None

    def _accept(self, response: Any, offset: int) -> None:
        """Check an answer and append its body to the part file."""
        status = response.status_code
        if status == 416 and offset:
            if response.headers.get("Content-Range", "").endswith(f"/{offset}"):
                return  # complete already
            self.part.unlink(missing_ok=True)
            raise _PassingError("the partial file does not match")
        if status in (408, 425, 429) or status >= 500:
            raise _PassingError(f"status {status}")
        if status not in (200, 206):
            raise TransferError(f"status {status}")
        if status == 206 and not response.headers.get("Content-Range", "").startswith(
            f"bytes {offset}-"
        ):
            self.part.unlink(missing_ok=True)
            raise _PassingError("the server sent another part than requested")
        start = offset if status == 206 else 0
        self.resumed = self.resumed or start > 0
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if re.fullmatch("[0-9]{1,18}", length) else 0
        if total > self.most:
            raise TransferError(f"{total:,} bytes announced, at most {self.most:,} expected")
        with self.part.open("r+b" if start else "wb") as file:
            file.seek(start)
            done = self._copy(response.raw, file, start, total)
        if total and done < total:
            raise _PassingError(f"cut off after {done:,} of {total:,} bytes")

    def _copy(self, source: Any, file: IO[bytes], done: int, total: int) -> int:
        """Write a body to a file and return where it ends."""
        from urllib3.exceptions import HTTPError, ReadTimeoutError

        since, mark = time.monotonic(), done
        while True:
            try:
                piece = source.read1(PIECE, decode_content=False)
            except ReadTimeoutError:
                raise _PassingError(
                    f"no data for {self.patience:g} s after {done:,} bytes"
                ) from None
            except (HTTPError, OSError) as error:
                raise _PassingError(f"cut off after {done:,} bytes ({_reason(error)})") from None
            if not piece:
                return done
            file.write(piece)
            done += len(piece)
            if done > self.most:
                raise TransferError(f"more than the {self.most:,} bytes expected")
            if self.progress:
                self.progress(done, total)
            elapsed = time.monotonic() - since
            if elapsed > self.patience:
                if (done - mark) / elapsed < self.slowest:
                    raise TransferError(
                        f"slower than {self.slowest:,.0f} bytes a second for {self.patience:g} s"
                    )
                since, mark = time.monotonic(), done


def _refusing_adapter() -> Any:
    """Return an adapter that refuses unencrypted connections, also in redirects."""
    import requests

    class Refusing(requests.adapters.BaseAdapter):
        def send(self, *_: Any, **__: Any) -> Any:
            raise TransferError("redirected to an address without encryption")

        def close(self) -> None:
            """There is nothing to close."""

    return Refusing()


def _reason(error: BaseException) -> str:
    """Return the innermost cause, in a few words."""
    seen: BaseException = error
    while True:
        inner = getattr(seen, "reason", None) or next(
            (part for part in seen.args if isinstance(part, BaseException)), None
        )
        if not isinstance(inner, BaseException):
            break
        seen = inner
    text = re.sub(r"^.*?(object at \w+>|port=\d+\)): ", "", str(seen))
    return (text or type(seen).__name__)[:160]
