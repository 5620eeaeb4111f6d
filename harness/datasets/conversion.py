"""Columns converted by the same rules from files and frames, and what is wrong with rows.

Imports pandas and Arrow; import it where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pa, pd
from harness.datasets.arrow_columns import Mask
from harness.datasets.columns import RATINGS, Kind, find_columns
from harness.datasets.policies import ValueFormat
from harness.datasets.times import TimeReader
from harness.datasets.values import read_ids, read_numbers
from harness.errors import DataError
from harness.notes.note import Note

SHOWN = 20
"""Faults that are shown one by one; the others are counted."""
Rows = NDArray[np.int64]
_AS_FOUND = ValueFormat()


class Coded(NamedTuple):
    """A column of ids: each id once in `ids`, and for each row its position there, -1 for none."""

    codes: NDArray[np.int32]
    ids: NDArray[np.object_]


class Flaw(NamedTuple):
    """Rows with one kind of fault.

    `policy` is the key of the config that decides about them, empty if they cannot be used; `rows`
    rise; `describe` says what is wrong with a row; `advice` is what a config can do beside the
    policy; `kind` is what they are called, if not by the policy; `role` is the column that cannot
    be read in the first row, if it is one.
    """

    policy: str
    rows: Rows
    describe: Callable[[int], str]
    advice: str = ""
    kind: str = ""
    role: str = ""


@dataclass(frozen=True)
class Table:
    """Columns by role, and the rows that could not be read.

    A row without a number has NaN, one without a time `NO_TIME`; times are seconds since 1970.
    `at` says where a row is, or for -1 what was read.
    """

    ids: dict[str, Coded]
    numbers: dict[str, NDArray[np.float64]]
    times: dict[str, NDArray[np.int64]]
    at: Callable[[int], str]
    notes: tuple[Note, ...] = ()
    flaws: tuple[Flaw, ...] = ()

    def __len__(self) -> int:
        return len(self.ids["user"].codes)

    def take(self, rows: Rows | Mask) -> Table:
        """Return some of the rows (positions, or a mask), with the same codes and no flaws."""
        return replace(
            self,
            ids={role: Coded(column.codes[rows], column.ids) for role, column in self.ids.items()},
            numbers={role: column[rows] for role, column in self.numbers.items()},
            times={role: column[rows] for role, column in self.times.items()},
            flaws=(),
        )


def convert(
    columns: Mapping[str, object],
    kinds: Mapping[str, Kind],
    where: str,
    at: Callable[[int], str] | None = None,
    *,
    values: ValueFormat = _AS_FOUND,
    notes: Iterable[Note] = (),
    flaws: Iterable[Flaw] = (),
) -> Table:
    """Return columns of text or typed values (Arrow, arrays, Series, lists) as a table."""
    notes_made, faults = list(notes), list(flaws)
    by_row = at or (lambda row: where + f": row {row} (counted from 0)" * (row >= 0))
    table = Table({}, {}, {}, by_row)

    def mark(wrong: Mask, describe: Callable[[int], str]) -> None:
        if wrong.any():
            faults.append(Flaw("unreadable", np.flatnonzero(wrong), describe, role=role))

    role = ""
    try:
        arrays = {role: _to_arrow(column, role, kinds[role]) for role, column in columns.items()}
        lengths = {len(array) for array in arrays.values()}
        if len(lengths) > 1:
            raise DataError(f"columns of {sorted(lengths)} rows; give them the same length")
        for role, array in arrays.items():
            if kinds[role] == "number":
                table.numbers[role] = read_numbers(array, role, values, mark)
            elif kinds[role] == "time":
                reader = TimeReader(role, values.time_format, mark, notes_made)
                table.times[role] = reader.seconds(array)
            else:
                ids = read_ids(array, role, kinds[role], values, mark, notes_made)
                table.ids[role] = Coded(*ids)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    return replace(table, notes=tuple(notes_made), flaws=_united(faults))


def _united(flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    """Return one flaw for each policy: a row with several faults is described by the first."""

    def united(policy: str) -> Flaw:
        parts = [flaw for flaw in flaws if flaw.policy == policy]
        rows = np.unique(np.concatenate([part.rows for part in parts]))

        def of_row(row: int) -> Flaw:
            return next(part for part in parts if row in part.rows)

        role = of_row(rows[0]).role if len(rows) else ""
        return Flaw(policy, rows, lambda row: of_row(row).describe(row), role=role)

    return tuple(united(policy) for policy in dict.fromkeys(flaw.policy for flaw in flaws))


def _to_arrow(values: object, role: str, kind: Kind) -> pa.ChunkedArray:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    try:
        return pa.array(pd.Series(values), from_pandas=True)
    except UnicodeEncodeError:
        raise DataError(f"{role}s that cannot be written as UTF-8; clean the text") from None
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError):
        pass
    every = np.asarray(values, dtype=object)
    if not every.ndim:  # as of a set, which has no order
        raise DataError(f"{role}s: a {type(values).__name__}; give a list or an array")
    present = [
        None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in every
    ]
    names = sorted({type(value).__name__ for value in present if value is not None})
    if kind == "id" and names != ["int"]:  # whole numbers beyond 64 bits become text
        raise DataError(
            f"{role} ids of several types ({', '.join(names)}); "
            "turn the column into text or whole numbers, as .astype(str)"
        )
    texts = (value if value is None or isinstance(value, str) else repr(value) for value in present)
    plain = [text if text is None else text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, pa.string())


def table_of_frame(
    frame: pd.DataFrame, named: Mapping[str, str | int | None], name: str, values: ValueFormat
) -> Table:
    """Read the columns of ratings of a frame, by role as in the ``dataset`` part of a config."""
    names = [str(column) for column in frame.columns]
    return table_of_columns(names, lambda position: frame.iloc[:, position], named, name, values)


def table_of_columns(
    names: Sequence[str],
    column_at: Callable[[int], object],
    named: Mapping[str, str | int | None],
    name: str,
    values: ValueFormat,
) -> Table:
    """Read columns of ratings, of which `column_at` gives one by its position."""
    positions = find_columns(names, named, name)
    columns = {role: column_at(position) for role, position in positions.items()}
    return convert(columns, RATINGS.kinds, name, values=values)
