"""Writing where a person has said so: through links, and into devices and pipes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from harness.errors import HarnessError, ResultsError
from harness.files import ELSEWHERE, open_whole, report_os_error


def write_output(
    path: Path, data: bytes | str, advice: str = ELSEWHERE, kind: type[HarnessError] = ResultsError
) -> Path:
    """Write a file that a person has named, and return its path; text that is no Unicode as `?`."""
    with open_output(path, advice, kind) as file:
        file.write(data if isinstance(data, bytes) else data.encode("utf-8", "replace"))
    return path


@contextmanager
def open_output(
    path: Path, advice: str = ELSEWHERE, kind: type[HarnessError] = ResultsError
) -> Iterator[IO[bytes]]:
    """Open a file that a person has named: through a link, and into a device or a pipe."""
    with report_os_error(path, advice=advice, kind=kind):
        special = path.is_symlink() or (path.exists() and not path.is_file())
        opened: AbstractContextManager[IO[bytes]] = path.open("wb") if special else open_whole(path)
        with opened as file:
            yield file


def refuse_link(path: Path) -> Path:
    """Return a path, or refuse a link there, as a run from elsewhere may hold."""
    if path.is_symlink():
        raise ResultsError(f"{path}: a link to another file; remove the link")
    return path
