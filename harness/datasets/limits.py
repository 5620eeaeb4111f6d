"""Limits of what is read: size and seconds of a file from elsewhere, and what a file unpacks to.

A small file can stand for very much: zeros compress a thousandfold, a dictionary page holds one
text for a million rows, and a view of a database can have no end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.errors import DataError

MEGABYTE = 10**6
RATIO = 250
"""How many times its own size a file may unpack to. Ratings as text are packed to a tenth, ratings
that follow a formula to a hundredth."""
FLOOR = 32 * MEGABYTE
"""Bytes that a file of any size may unpack to."""
ROW = 24
"""Bytes of a row, beside its texts: two codes, a rating and a time."""
REMOTE_MEGABYTES = 10_000.0
REMOTE_SECONDS = 3_600.0
DATABASE_SECONDS = 10.0
"""Seconds of processor time for a query of a database of any size, and one more a megabyte."""
PATIENCE = 30.0
"""Seconds without a byte after which a source is given up."""
SLOWEST = 1024.0
"""Bytes a second; a source that sends fewer for as long is given up too."""


@dataclass(frozen=True)
class Limits:
    """What a config allows; None is what is usual.

    Parameters
    ----------
    megabytes : float or None
        Of a file from elsewhere, and of what any file unpacks to.
    seconds : float or None
        Until a file from elsewhere has come, and for a query of a database.
    """

    megabytes: float | None = None
    seconds: float | None = None

    def most_fetched(self) -> int:
        """Return how many bytes a file from elsewhere may have."""
        return int((self.megabytes or REMOTE_MEGABYTES) * MEGABYTE)

    def most_unpacked(self, n_packed: int) -> int:
        """Return how many bytes a file of `n_packed` bytes may unpack to.

        Examples
        --------
        >>> Limits().most_unpacked(1_000), Limits().most_unpacked(1_000_000)
        (32000000, 250000000)
        >>> Limits(megabytes=1).most_unpacked(1_000_000)
        1000000
        """
        if self.megabytes is not None:
            return int(self.megabytes * MEGABYTE)
        return max(FLOOR, RATIO * n_packed)

    def check_unpacked(self, n_bytes: float, n_packed: int, where: str, *, least: bool) -> None:
        """Raise a `DataError` if a file of `n_packed` bytes unpacks to too many.

        `least` says that `n_bytes` is what was seen so far, not all of it.
        """
        most = self.most_unpacked(n_packed)
        if n_bytes <= most:
            return
        megabytes = math.ceil(n_bytes / MEGABYTE)
        why = "more than most_megabytes allows"
        if self.megabytes is None:
            why = f"over {RATIO} times its own size"
        some = "more" if least else f"most_megabytes: {megabytes:,}".replace(",", "")
        key = "with dataset.most_megabytes" if least else "in dataset"
        raise DataError(
            f"{where}: {n_packed:,} bytes that unpack to {'more than ' * least}{megabytes:,} MB, "
            f"{why}; check where the file is from, or allow {some} {key}"
        )

    def query_seconds(self, n_bytes: int) -> float:
        """Return the seconds of processor time for a query of a database of `n_bytes`."""
        return self.seconds or DATABASE_SECONDS + n_bytes / MEGABYTE


def too_slow(where: str, what: str, seconds: float) -> DataError:
    """Return the error about what did not end within the seconds of `Limits`."""
    return DataError(
        f"{where}: {what} within {seconds:,g} s; check it, or allow more seconds with "
        "dataset.most_seconds"
    )
