"""The reader of TREC's judgements, and how lines of TREC and lines of a table differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.datasets.columns import is_number
from harness.datasets.readers.base import Reader, ReadOptions, by_position, example_ratings
from harness.datasets.readers.text import Delimited

if TYPE_CHECKING:
    from harness.datasets.conversion import Table

RUN, QRELS = "query Q0 document rank score tag", "query 0 document relevance"
TREC_COLUMNS = {
    RUN: {"user": 1, "item": 3, "estimate": 5},
    QRELS: {"user": 1, "item": 3, "rating": 4},
}
_SECOND = ("q0", "0")
"""The second field of every line of TREC's files."""


def form_of_lines(rows: Sequence[Sequence[str]]) -> str:
    """Return which of TREC's two forms lines have, by their fields; empty for another.

    Examples
    --------
    >>> form_of_lines([["ann", "0", "book", "1"], ["ann", "0", "film", "0"]])
    'query 0 document relevance'
    >>> form_of_lines([["ann", "book", "4", "0"]])
    ''
    """
    if not rows or any(len(row) < 4 or row[1].casefold() not in _SECOND for row in rows):
        return ""
    if all(len(row) == 6 and is_number(row[3]) and is_number(row[4]) for row in rows):
        return RUN
    # As a table of ratings, all of these would be of one item: it cannot be if a user comes twice.
    repeated = len({row[0] for row in rows}) < len(rows) or rows[0][1].casefold() == "q0"
    is_qrels = all(len(row) == 4 and is_number(row[3]) for row in rows)
    return QRELS if is_qrels and repeated else ""


class Qrels(Reader):
    """Judgements of TREC, a user, 0, an item and its rating a line, blanks between."""

    endings = (".qrels", ".qrel")
    label = "TREC judgements"
    spaces_in_ids = False

    def write_example(self, path: Path) -> None:
        """Write the example ratings as judgements."""
        rows = example_ratings(spaces=False).itertuples(index=False, name=None)
        path.write_text("".join(f"{u} 0 {i} {r}\n" for u, i, r in rows), encoding="utf-8")

    def recognises(self, head: bytes) -> bool:
        """Return whether all lines are judgements, of which a user has several."""
        text = head.decode("utf-8", "replace").removeprefix("\ufeff")
        rows = [line.split() for line in text.split("\n") if line.strip()]
        return form_of_lines(rows[:-1] if len(head) >= 2048 else rows) == QRELS

    def names(self, path: Path, where: str) -> list[str]:
        """Return the names of the fields, which the files do not have."""
        return ["user", "0", "item", "rating"]

    def read(self, path: Path, options: ReadOptions) -> Table:
        """Read all judgements; every problem has its line."""
        columns = {
            role: at for role, at in TREC_COLUMNS[QRELS].items() if role in options.roles.kinds
        }
        asked = replace(
            options,
            separator="whitespace",
            header=False,
            columns=columns | by_position(self.names(path, options.where), options.columns),
            form=QRELS,
        )
        return Delimited().read(path, asked)
