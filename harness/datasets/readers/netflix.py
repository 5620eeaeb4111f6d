"""The reader of the Netflix Prize's files: an item's id and a colon, then its ratings a line."""

from __future__ import annotations

import re
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from harness._util.files import report_os_error
from harness._util.libraries import pa
from harness.datasets.conversion import Flaw, convert
from harness.datasets.readers.base import NO_ROWS, UNREADABLE, Reader, ReadOptions, example_ratings
from harness.errors import DataError, counted

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


_ID = rb"[^\s:,](?:[^\r\n:,]*[^\s:,])?"
"""An id, which may hold spaces: then the rating is a number, so that no sentence is an item."""
_BEGINNING = re.compile(
    rb"^(\xef\xbb\xbf)?"
    rb"(?:[^\s:,]+:\r?\n[^\s:,]+,[^\s:,]+|" + _ID + rb":\r?\n" + _ID + rb",[-+]?[\d.]+)"
    rb"(,[^\n]*)?\r?\n"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
CHUNK = 1 << 18
"""Lines that are held as Python objects at once."""


class Netflix(Reader):
    """Lines of an item as ``12:``, and lines of user, rating and date below each."""

    endings: ClassVar[tuple[str, ...]] = ()
    keys = ("encoding",)
    label = "Netflix Prize"

    def write_example(self, path: Path) -> None:
        """Write the example ratings, all of one day, below their items."""
        lines = []
        for item, ratings in example_ratings().groupby("item"):
            lines.append(f"{item}:")
            lines += [f"{user},{rating},2005-12-31" for user, _, rating in ratings.to_numpy()]
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def recognises(self, head: bytes) -> bool:
        """Return whether a file begins with an item, a colon and a line of its ratings."""
        return _BEGINNING.match(head) is not None

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the columns, which the files do not have."""
        return ["user", "item", "rating", "timestamp"]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read all ratings; every problem has its line."""
        where, kinds = options.where, options.roles.kinds
        roles = ("user", "rating", "timestamp")
        values: dict[str, list[str | None]] = {role: [] for role in (*roles, "item")}
        chunks: dict[str, list[pa.Array]] = {role: [] for role in values}
        lines, faults = array("q"), dict[int, str]()

        def flush() -> None:
            for role, texts in values.items():
                is_id = kinds.get(role) == "id"  # a list of candidates has no rating
                kind = pa.dictionary(pa.int32(), pa.string()) if is_id else pa.string()
                chunks[role].append(pa.array(texts, kind))
                texts.clear()

        item: str | None = None
        n_fields = 0
        with (
            report_os_error(where, *UNREADABLE),
            path.open(encoding=options.encoding or "utf-8-sig", errors="replace") as file,
        ):
            for number, line in enumerate(file, 1):
                text = line.strip()
                if not text:
                    continue
                if text.endswith(":"):
                    item = text[:-1].strip()
                    continue
                fields = text.split(",")
                n_fields = n_fields or len(fields)
                if item is None or len(fields) != n_fields or n_fields not in (2, 3):
                    expected = "user,rating,date" if n_fields == 3 else "user,rating"
                    fields_found = counted(len(fields), "field")
                    found = "no item above, such as 12:" if item is None else fields_found
                    faults[len(lines)] = f"{found}, where {expected} is expected"
                    fields = [None, None, None]  # type: ignore[list-item]
                for role, value in zip(roles, fields, strict=False):
                    values[role].append(value)
                values["item"].append(item)
                lines.append(number)
                if len(lines) % CHUNK == 0:
                    flush()
        flush()
        if not lines:
            raise DataError(f"{where}: {NO_ROWS}")
        if n_fields == 2 and kinds.get("rating") and _are_dates(chunks["rating"][0]):
            raise DataError(
                f"{where}: users and dates without ratings, such as the qualifying set of the "
                "Netflix Prize; give the files of ratings, such as combined_data_1.txt"
            )
        read = [role for role in kinds if role in chunks and (role != "timestamp" or n_fields == 3)]
        read = [role for role in read if options.columns.get(role, role) is not None]
        flaw = Flaw("unreadable", np.array(sorted(faults), np.int64), faults.__getitem__)
        return convert(
            {role: pa.chunked_array(chunks[role]) for role in read},
            kinds,
            where,
            lambda row: where if row < 0 else f"{where}:{lines[row]}",
            values=options,
            flaws=[flaw] if faults else [],
        )


def _are_dates(values: pa.Array) -> bool:
    """Return whether the first values that are there are dates."""
    first = [value for value in values[:100].to_pylist() if value]
    return bool(first) and all(map(_DATE.fullmatch, first))
