"""A line for each row of each run, appended to one CSV file."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness._util.files import cache_folder, hold, report_os_error, write_whole
from harness.config.trackers import TrackedRow, Tracker
from harness.errors import ResultsError
from harness.results.table import as_text

NAMES = ("started", "run", "dataset", "split", "candidates", "algorithm")
"""The first columns."""
LAST = ("params", "error")
"""The columns behind the numbers of the run that began the file."""
PATIENCE = 60.0
"""Seconds for which another process that writes the file is waited for."""


class CSVFile(Tracker):
    """A line for each row of a run, appended to a CSV file.

    Columns are the start of the run in UTC; the names of run, data set, split, candidates and
    algorithm; each metric by its label with ``_low`` and ``_high``, the ends of its interval;
    seconds, memory and users; the parameters as JSON; and the error of a row that failed. Metrics
    that earlier runs lack are columns at the end, empty in their lines. The lines of a run are
    written together at its end, all or none.

    Parameters
    ----------
    path : str
        Relative to the working directory.
    """

    def __init__(self, path: str = "tracked.csv") -> None:
        self.path = Path(path)
        self.started = ""
        self.lines: list[dict[str, Any]] = []

    def start(self, name: str, config: Mapping[str, Any]) -> None:
        """Keep the time."""
        self.started = datetime.now(UTC).isoformat(timespec="seconds")

    def row(self, row: TrackedRow) -> None:
        """Keep a row's line."""
        line: dict[str, Any] = {"started": self.started}
        line |= {name: as_text(getattr(row, name)) for name in NAMES[1:]}
        line |= {name: repr(value) for name, value in row.values.items()}
        line |= {"params": json.dumps(row.params), "error": as_text(row.error)}
        self.lines.append(line)

    def end(self, run: object) -> None:
        """Append the lines."""
        place = hashlib.sha256(str(self.path.resolve()).encode("utf-8", "replace")).hexdigest()
        with (
            report_os_error(self.path, advice="name another file under `path`"),
            hold(cache_folder() / "tracked" / f"{place}.lock", PATIENCE),
        ):
            columns, lines = self._earlier()
            numbers = dict.fromkeys(name for line in self.lines for name in line)
            if not columns:
                columns = [*(name for name in numbers if name not in LAST), *LAST]
            columns += [name for name in numbers if name not in columns]
            text = io.StringIO()
            writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows([*lines, *self.lines])
            write_whole(self.path, text.getvalue().encode("utf-8", "replace"))

    def _earlier(self) -> tuple[list[str], list[dict[str, str]]]:
        """Return the columns and lines that the file has."""
        if not self.path.exists() or not self.path.stat().st_size:
            return [], []
        with self.path.open(encoding="utf-8", errors="replace", newline="") as file:
            reader = csv.DictReader(file, strict=True, restval="")
            try:
                lines = [*reader]
            except csv.Error as error:
                raise ResultsError(f"{self.path}: not CSV ({error}); name another file") from None
        columns = [*(reader.fieldnames or ())]
        if columns[: len(NAMES)] != [*NAMES] or any(None in line for line in lines):
            raise ResultsError(f"{self.path}: has other columns than tracked runs; name another")
        return columns, lines
