"""A child process in which a worker computes one cell at a time: ``python -m`` this module.

It reads requests from its standard input and answers on its standard output, in frames: a
header as JSON and a body of bytes, each behind its length. It ends when its input does, in the
middle of a cell too, so none outlives its worker.
"""

from __future__ import annotations

import json
import math
import os
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

__all__ = ["Slot", "main", "read_frame", "write_frame"]

LOOK_SECONDS = 1.0

Header = dict[str, Any]
_LARGE = struct.Struct(">Q")


def write_frame(stream: IO[bytes], header: Header, body: bytes = b"") -> None:
    """Write a header and a body.

    Examples
    --------
    >>> import io
    >>> stream = io.BytesIO()
    >>> write_frame(stream, {"a": 1}, b"xyz")
    >>> _ = stream.seek(0)
    >>> read_frame(stream)
    ({'a': 1}, b'xyz')
    >>> read_frame(stream) is None
    True
    """
    text = json.dumps(header).encode()
    stream.write(_LARGE.pack(len(text)) + _LARGE.pack(len(body)) + text)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> tuple[Header, bytes] | None:
    """Return the next header and body, None when the stream ends before both are whole."""
    lengths = stream.read(2 * _LARGE.size)
    if len(lengths) < 2 * _LARGE.size:
        return None
    n_text, n_body = (_LARGE.unpack_from(lengths, at)[0] for at in (0, _LARGE.size))
    text, body = stream.read(n_text), stream.read(n_body)
    if len(text) < n_text or len(body) < n_body:
        return None
    return json.loads(text), body


class Slot:
    """The worker's end of a child process.

    Parameters
    ----------
    threads : int
        How many threads a cell may use.
    """

    def __init__(self, threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness.experiment.cluster.slot"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HARNESS_THREADS": str(threads)},
        )
        self.idle_since = time.monotonic()
        self.ready = False

    def ask(
        self, request: Header, limit: float | None, wanted: Callable[[], bool] = lambda: True
    ) -> tuple[Header, bytes]:
        """Compute a cell in the child.

        Parameters
        ----------
        request : dict
        limit : float or None
            Seconds after which the child is killed.
        wanted : callable
            Called now and then; when it returns False, the child is killed.

        Returns
        -------
        header : dict
            An outcome, see `harness.experiment.cell`.
        body : bytes
            The finished cell; empty when it failed.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        begun = time.perf_counter()
        answer = None
        reasons: list[str] = []
        try:
            if not self.ready:  # its imports are not the cell's time
                self.ready = read_frame(self.process.stdout) is not None
            begun = time.perf_counter()
            with self._watched(limit, wanted, reasons):
                write_frame(self.process.stdin, request)
                answer = read_frame(self.process.stdout)
        except OSError:  # it has died; reported below
            pass
        self.idle_since = time.monotonic()
        if answer is not None:
            return answer
        seconds = time.perf_counter() - begun
        reasons.append(
            f"the process of the cell died (exit code {self.process.wait()}), perhaps out of "
            "memory; run again to do only this cell, with fewer threads per worker"
        )
        return {"status": "failed", "seconds": seconds, "error": reasons[0]}, b""

    @contextmanager
    def _watched(
        self, limit: float | None, wanted: Callable[[], bool], reasons: list[str]
    ) -> Iterator[None]:
        """Kill the child, and say why, once its time is over or the driver stops waiting."""
        end = math.inf if limit is None else time.monotonic() + limit
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(max(0.0, min(LOOK_SECONDS, end - time.monotonic()))):
                if time.monotonic() >= end:
                    reason = f"stopped after the time limit of {limit:g} s; raise "
                    reasons.append(reason + "execution.time_limit")
                elif not wanted():
                    reasons.append("the driver no longer waits for it")
                else:
                    continue
                self.process.kill()
                return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()

    @property
    def alive(self) -> bool:
        """Whether it can take another request."""
        return self.process.poll() is None

    def close(self) -> None:
        """End the child, whatever it does."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:  # what was still to be written has nobody to read it
                continue
        self.process.wait()


def main() -> None:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    requests_from = os.fdopen(os.dup(0), "rb")
    # What an algorithm prints must not get between the frames.
    os.dup2(2, 1)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    requests: queue.SimpleQueue[Header] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(requests_from, requests), daemon=True).start()
    from harness.experiment.cluster.cells import Office

    office = Office()
    write_frame(answers, {"status": "ready"})
    while True:
        try:
            write_frame(answers, *office.answer(requests.get()))
        except OSError:
            return


def _receive(source: IO[bytes], requests: queue.SimpleQueue[Header]) -> None:
    """Pass requests on; the process ends after the last one, as no one waits for an answer."""
    while frame := read_frame(source):
        requests.put(frame[0])
    os._exit(0)


if __name__ == "__main__":
    main()
