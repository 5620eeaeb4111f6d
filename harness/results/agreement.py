"""Whether the parts of a record are of the same metrics, tables and rows, each listed once.

And what is wrong with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from harness import metrics
from harness.errors import MetricError, ResultsError
from harness.results.fields import AGAIN
from harness.results.names import RowKey, TableName

if TYPE_CHECKING:
    from harness.results.record import RunInfo


def check_parts(info: RunInfo) -> None:
    """Raise ValueError where two parts of a record contradict each other."""
    _check_labels(info)
    parts = [*_rows_of_parts(info)]
    for kind, keys in _unique_keys(info, parts):
        if len({*keys}) < len(keys):
            raise ValueError(f"{kind} is there twice")
    for expected, scores, owner in _scored_parts(info):
        for label in sorted({*expected} ^ {*scores}):
            lacks = "no" if label in expected else "a score of"
            raise ValueError(f"{owner} has {lacks} {label}")
    _check_names(info, parts)
    _check_statistics(info)
    _check_conventions(info)
    if any(cell.fold >= cell.n_folds or cell.seed not in info.seeds for cell in info.cells):
        raise ValueError("a cell of a seed or a fold that the run does not have")


def refusal(error: Exception, where: str) -> ResultsError:
    """Return the error that names the first key of a record that is missing or wrong."""
    if isinstance(error, MetricError):
        return ResultsError(f"{where}: metrics: {error}; {AGAIN}")
    path, reason = "", str(error)
    if isinstance(error, ValidationError):
        from harness.key_paths import dotted

        first = error.errors(include_input=False, include_url=False)[0]
        path = dotted(tuple(part for part in first["loc"] if part not in ("failed", "finished")))
        reason = first["msg"].removeprefix("Value error, ")
    return ResultsError(f"{where}: {path or 'the run'}: {reason.splitlines()[0]}; {AGAIN}")


def _check_labels(info: RunInfo) -> None:
    if info.headline is not None and info.headline not in info.metrics:
        raise ValueError(f"the headline {info.headline} is not among its metrics")
    labels = [row.label for table in info.conventions for row in table.rows]
    for label in [*labels, *(table.metric for table in info.ties), *info.metrics]:
        metrics.parse(label)


def _rows_of_parts(info: RunInfo) -> Iterator[tuple[str, Sequence[RowKey]]]:
    """Yield the identity of a table, and the rows that a part of the record has of it."""
    for comparison in info.statistics:
        yield comparison.table, comparison.algorithms
    for tied in info.ties:
        yield tied.table, tied.rows
    for division in info.groups:
        for group in division.groups:
            yield division.table, group.algorithms
        yield division.table, division.gaps


def _unique_keys(
    info: RunInfo, parts: Iterable[tuple[str, Sequence[RowKey]]]
) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield a kind of thing, and the keys of all that there are, of which no two may be equal."""
    yield "a metric", info.metrics
    yield "a row", [row.row for row in info.rows]
    yield "a cell", [(cell.row, cell.seed, cell.fold) for cell in info.cells]
    yield "a bound", [(bound.table, bound.bound) for bound in info.bounds]
    yield "a comparison", [(comparison.table, comparison.metric) for comparison in info.statistics]
    for table in info.conventions:
        yield "a convention", [row.convention for row in table.rows]
    divisions = [(division.table, division.title, division.metric) for division in info.groups]
    yield "a division into groups", divisions
    for division in info.groups:
        yield "a group", [group.group for group in division.groups]
    for _, rows in parts:
        yield "a row of a part", [row.row for row in rows]


def _scored_parts(info: RunInfo) -> Iterator[tuple[Iterable[str], Iterable[str], str]]:
    """Yield the labels that a part must have scores of, those that it has, and what it is."""
    for cell in info.finished:
        yield info.metrics, cell.scores, f"a cell of {cell.algorithm}"
    for row in info.rows:
        yield info.metrics, row.scores, f"the row of {row.algorithm}"
    for bound in info.bounds:
        labels = [label for label in info.metrics if label in bound.scores]
        for scores in (bound.scores, bound.deviations):
            yield labels, scores, f"the {bound.bound} order"


def _check_names(info: RunInfo, parts: Iterable[tuple[str, Sequence[RowKey]]]) -> None:
    """Check that a table and a row have one name everywhere, and no other has it."""
    tables = info.tables
    rows = {row.row: (row.table, row.algorithm) for row in info.rows}
    for names, kind in ((tables, "tables"), (rows, "rows")):
        if len({*names.values()}) < len(names):
            raise ValueError(f"two {kind} have the same name")
    if {cell.row for cell in info.cells} != {*rows}:
        raise ValueError("its rows are not those of its cells")
    named: list[TableName] = [*info.rows, *info.cells, *info.bounds, *info.statistics]
    for part in [*named, *info.conventions, *info.ties, *info.groups]:
        if tables.get(part.table) != part.names:
            raise ValueError(f"table {part.table} has two names, or no row")
    for table, keys in [*parts, *((cell.table, [cell]) for cell in info.cells)]:
        for key in keys:
            if rows.get(key.row) != (table, key.algorithm):
                raise ValueError(f"row {key.row} has two names, or is not in the table")


def _check_statistics(info: RunInfo) -> None:
    for label in [part.metric for parts in (info.statistics, info.groups) for part in parts]:
        if label not in info.metrics:
            raise ValueError(f"statistics of {label}, which the run does not have")
    for comparison in info.statistics:
        names = {mean.algorithm for mean in comparison.algorithms}
        for pair in [*comparison.pairs, *(comparison.baseline or [])]:
            if pair.first == pair.second or not {pair.first, pair.second} <= names:
                raise ValueError("statistics: a pair of an unknown algorithm, or of one alone")


def _check_conventions(info: RunInfo) -> None:
    for table in info.conventions:
        rows = {row.row for row in info.rows if row.table == table.table}
        if not all({*row.scores} <= rows for row in table.rows):
            raise ValueError("conventions: a score of an unknown row")
