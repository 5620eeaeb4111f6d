"""How files of lists, predictions and truths are written: tables, TREC's files, ranx's JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from harness._util.libraries import pa
from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import RATINGS, Kind, Roles
from harness.datasets.conversion import Flaw, convert
from harness.datasets.places import find_file
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.packed import beginning, unpacked, without_packing
from harness.datasets.readers.trec import QRELS, RUN, TREC_COLUMNS, form_of_lines
from harness.errors import ColumnsError, DataError, MetricError, joined, reason_of, suggestion

if TYPE_CHECKING:
    from harness.datasets.conversion import Table


KINDS: dict[str, Kind] = {
    "user": "id", "item": "id", "estimate": "number", "rating": "number", "rank": "number",
    "timestamp": "time",
}  # fmt: skip
_OF_RATINGS = RATINGS.usual
NAMES = {
    "user": (*_OF_RATINGS["user"], "qid", "queryid"),
    "item": (*_OF_RATINGS["item"], "docid"),
    "estimate": ("estimate", "est", "prediction", "score"),
    "rating": (
        *(name for name in _OF_RATINGS["rating"] if name != "score"),
        "label",
        "relevance",
        "grade",
    ),
    "rank": ("rank",),
    "timestamp": _OF_RATINGS["timestamp"],
}
"""Accepted names of columns, including names for ratings; here a score is an estimate."""
TREC = (".run", ".trec", ".qrels", ".qrel", ".res")
_NESTED = re.compile(r'\s*\{\s*"(\\.|[^"\\])*"\s*:\s*\{\s*("(\\.|[^"\\])*"\s*:\s*-?\d|\})')
"""How an object of numbers by item and user begins."""
HEAD = 1 << 16
"""Bytes by which the form of a file is recognised."""


@dataclass(frozen=True)
class Written:
    """The form in which a file is written.

    Parameters
    ----------
    columns : dict
        Roles and their columns: a name from the header, or a position from 1.
    decimal : {".", ","}
        The decimal mark of numbers in text.
    """

    columns: Mapping[str, str | int] = field(default_factory=dict)
    decimal: Literal[".", ","] = "."

    def __post_init__(self) -> None:
        for role, column in self.columns.items():
            if role not in KINDS:
                raise MetricError(f"columns: {suggestion(str(role), [*KINDS])}")
            if isinstance(column, bool) or not isinstance(column, str | int) or column in ("", 0):
                raise MetricError(
                    f"columns: {role}: {column!r}; give a name from the header or a position from 1"
                )


class Form(NamedTuple):
    """What a file is: a table, unless it is TREC's or ranx's."""

    fields: str = ""
    """What a line of a TREC file holds: one of its two forms."""
    is_nested: bool = False
    """Whether it is an object of numbers by item and user, as ranx writes it."""

    @property
    def is_trec(self) -> bool:
        """Whether it is a TREC file, in which equal scores are ordered by document."""
        return bool(self.fields)


def form_of(path: Path, form: str) -> Form:
    """Return how a file is written, by its ending and its first lines.

    `form` is the kind among TREC's two kinds of lines that is looked for; a file whose ending is
    TREC's but whose lines are of neither kind has it too.
    """
    name = without_packing(path.name).casefold()
    text = beginning(path, HEAD).decode("utf-8", "replace").removeprefix("\ufeff")
    if _NESTED.match(text):
        return Form(is_nested=True)
    if name.endswith(TREC):
        return Form(form)
    is_ours = name.endswith((".csv", ".parquet", ".jsonl"))
    rows = [] if is_ours else [line.split() for line in text.split("\n")[:1000] if line.strip()]
    if len(text) >= HEAD // 2 and len(rows) > 1:
        rows = rows[:-1]  # the last one may be cut
    return Form(form_of_lines(rows))


def read_table(
    path: Path | str,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    *,
    form: str = RUN,
    written: Written | None = None,
    refuse: bool = True,
    base: Path | None = None,
) -> Table:
    """Read a table, a TREC file or ranx's JSON; refuse all problems at once.

    A table without header has the columns in the order user, item and estimate or, with the form of
    qrels, rating; of predictions, all have to be named.
    """
    written = written or Written()
    place = find_file(path, base)
    recognised = form_of(place, form)
    if recognised.is_nested:
        table = _read_ranx(place, str(path), "rating" if form == QRELS else "estimate")
        lacking = [role for role in required if role not in {**table.ids, **table.numbers}]
        if lacking:
            raise MetricError(
                f"{path}: numbers by item and user have no {joined(lacking)}; give the relevant "
                "items as truth"
            )
    else:
        table = _read_rows(place, str(path), recognised, required, optional, form, written)
    if refuse:
        refuse_faults(table)
    return table


def _read_rows(
    place: Path,
    where: str,
    recognised: Form,
    required: tuple[str, ...],
    optional: tuple[str, ...],
    form: str,
    written: Written,
) -> Table:
    options = ReadOptions(decimal=written.decimal)
    order: tuple[str, ...] = ()
    if recognised.is_trec:
        columns = TREC_COLUMNS[recognised.fields]
        options = ReadOptions(
            kind="dat",
            separator="whitespace",
            header=False,
            columns=columns,
            form=recognised.fields,
        )
        required, optional = tuple(columns), ()
    else:
        named = {role: at for role, at in written.columns.items() if role in (*required, *optional)}
        options = replace(options, columns=named)
        order = _order(required, optional, form, named)
        if not order and not all(isinstance(named.get(role), int) for role in required):
            options = replace(options, header=True)
    kinds = {role: KINDS[role] for role in (*required, *optional)}
    roles = Roles(kinds, NAMES, frozenset(optional) - frozenset(required), strict=True, order=order)
    try:
        return read_file(place, replace(options, roles=roles), where)
    except ColumnsError as error:
        if set(options.columns) >= {*required}:
            raise
        asked = [role for role in KINDS if role in required or role == "item"]
        example = ",".join(f"{role}={position}" for position, role in enumerate(asked, 1))
        raise DataError(f"{error}, or name columns, such as {example}") from None


def _order(
    required: tuple[str, ...], optional: tuple[str, ...], form: str, named: Mapping[str, object]
) -> tuple[str, ...]:
    """Return the columns of a file without header, in their order; none where that is not usual."""
    if {"estimate", "rating"} <= {*required}:
        return ()
    values = ["rating" if form == QRELS else "estimate"] * ("rank" not in named)
    return ("user", "item", *(role for role in values if role in (*required, *optional)))


def _read_ranx(path: Path, where: str, value: str) -> Table:
    """Read the numbers of each item by user, as ranx writes runs and qrels."""
    with unpacked(path, where) as (place, inner):
        try:
            users = json.loads(place.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise DataError(
                f"{inner}: not JSON ({reason_of(error)}); mend the file, or give an object a line "
                "in a file that ends in .jsonl"
            ) from None
    rows: list[tuple[str, str, float | None]] = []
    faults: dict[int, str] = {}
    for user, items in users.items():
        if not isinstance(items, dict):
            raise DataError(f"{where}: {user!r}: not an object of numbers by item; give one")
        for item, number in items.items():
            is_fine = isinstance(number, int | float) and not isinstance(number, bool)
            if not is_fine:
                faults[len(rows)] = f"the {value} {number!r:.40} is not a number"
            rows.append((user, item, float(number) if is_fine else None))
    if not rows:
        raise DataError(f"{where}: no numbers; give a file that has some")
    names, items_read, numbers = zip(*rows, strict=True)
    columns = {
        "user": pa.chunked_array([pa.array(names, pa.string())]),
        "item": pa.chunked_array([pa.array(items_read, pa.string())]),
        value: pa.chunked_array([pa.array(numbers, pa.float64())]),
    }
    flaw = Flaw("unreadable", np.array(sorted(faults), np.int64), faults.__getitem__)
    return convert(
        columns,
        {role: KINDS[role] for role in columns},
        where,
        lambda row: where if row < 0 else f"{where}: user {names[row]!r}, item {items_read[row]!r}",
        flaws=[flaw] if faults else [],
    )
