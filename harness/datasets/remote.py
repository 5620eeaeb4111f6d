"""Files from elsewhere (http, s3, gs), fetched through fsspec to a folder that is removed after."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import urlsplit

from harness.errors import DataError, reason_of
from harness.named_paths import is_url

PIECE = 1 << 20


@contextmanager
def fetched(paths: Sequence[str], sha256: str | None) -> Iterator[dict[str, Path]]:
    """Yield a copy of each file that is not on this machine, by its URL.

    Raises
    ------
    DataError
        If fsspec or what it needs for a scheme is not installed, if the file cannot be fetched, or
        if its hash is another one.
    """
    try:
        import fsspec
    except ImportError:
        raise DataError(
            f"{next(filter(is_url, paths))}: needs fsspec; pip install 'surprise-harness[remote]', "
            "or fetch the file and give its path"
        ) from None
    with tempfile.TemporaryDirectory(prefix="harness-", ignore_cleanup_errors=True) as folder:
        places = {}
        for number, url in enumerate(filter(is_url, paths)):
            name = PurePosixPath(urlsplit(url).path).name or "ratings"
            place = Path(folder) / str(number) / name
            place.parent.mkdir()
            try:
                with fsspec.open(url, "rb") as stream, place.open("wb") as file:
                    digest = _copied(stream, file)
            except Exception as error:  # of any library behind fsspec
                reason = f"{type(error).__name__}: {reason_of(error)}"
                raise DataError(
                    f"{url}: cannot be fetched ({reason}); check it, or fetch the file and give "
                    "its path"
                ) from error
            if sha256 is not None and digest != sha256.casefold():
                raise DataError(
                    f"{url}: its SHA-256 is {digest}, not {sha256}; the file has changed: check "
                    "it, and correct `sha256`"
                )
            places[url] = place
        yield places


def _copied(stream: IO[bytes], file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while data := stream.read(PIECE):
        if shutil.disk_usage(tempfile.gettempdir()).free < len(data) + (1 << 30):
            raise OSError("the disk is full")
        digest.update(data)
        file.write(data)
    return digest.hexdigest()
