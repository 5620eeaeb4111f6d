"""Several runs become one, whose rows are compared user by user."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from harness.errors import ComparisonError
from harness.results.record import (
    AnyCell,
    ConventionScores,
    MetricComparison,
    RowKey,
    RowName,
    RowResult,
    RunInfo,
    TableName,
    TieScores,
    distinct_names,
    measured,
)
from harness.results.runs import ROW, Run
from harness.results.scores import infer
from harness.results.store import short_key

if TYPE_CHECKING:
    import pandas as pd

Entry = TypeVar("Entry")


@dataclass(eq=False)
class _Row:
    """A row of several runs' table: its run's position, and its identity in that run."""

    run: int
    own: str
    result: RowResult
    cells: list[AnyCell]

    @property
    def keys(self) -> set[str]:
        """Keys of its finished cells: what its numbers are of."""
        return {cell.key for cell in self.cells if not cell.error}

    @property
    def settings(self) -> dict[str, object]:
        """What distinguishes it from another row of the same name."""
        if any(cell.n_trials is not None for cell in self.cells):
            return {"parameters": "tuned"}
        params = self.cells[0].params
        return {"params": {key: value for key, value in params.items() if key != "random_state"}}

    def rename(self, **names: str) -> None:
        """Give it other names, or another identity, in the joined run."""
        self.result = self.result.model_copy(update=names)


def join(runs: Sequence[Run], *, anyway: bool = False) -> Run:
    """Put runs into one without a folder, their users compared with each other.

    A row that two runs have with the same cells is counted once. Rows with the same name are
    distinguished by their parameters, else by their runs. Config, versions and machine are those of
    the first run; one run alone comes back as it is. A ComparisonError refuses a run that is given
    twice, runs without a common metric and, unless `anyway`, runs that cannot be compared.
    """
    if len(runs) == 1:
        return runs[0]
    names = run_names(runs)
    infos = [run.info for run in runs]
    first = infos[0]
    differences = [
        f"{name}: {difference}"
        for name, info in zip(names[1:], infos[1:], strict=True)
        for difference in _differences(first, info)
    ]
    if differences and not anyway:
        raise ComparisonError(
            f"cannot be shown in one table with {names[0]}: {'; '.join(differences)}; "
            "use --anyway to show them with this warning"
        )
    labels = [label for label in first.metrics if all(label in info.metrics for info in infos)]
    if not labels:
        raise ComparisonError(
            f"{', '.join(names)}: no metric in common; "
            "run one of them again with the other's metrics"
        )
    rows, repeated = _rows(runs)
    _distinguish(rows, names)
    cells = [cell.model_copy(update=row.result.only(RowName)) for row in rows for cell in row.cells]
    users = _users(runs, rows, labels)
    notes = [f"not comparable: {difference}" for difference in differences]
    left_out = sorted({label for info in infos for label in info.metrics} - {*labels})
    if left_out:
        notes.append(f"left out, because not every run has them: {', '.join(left_out)}")
    if len(conditions := measured(cells)) > 1:
        notes.append(f"fit s, score s and peak MB were measured {'; '.join(conditions)}")
    for number, name in enumerate(names):
        if own := [row.result.algorithm for row in repeated if row.run == number]:
            again = ", ".join(dict.fromkeys(own))
            notes.append(f"{name}: the same cells as in another run, counted once: {again}")
    settings = first.experiment.statistics
    seeds = sorted({seed for info in infos for seed in info.seeds})
    statistics: list[MetricComparison] = []
    if settings is not None:
        draws = {key: draw for info in infos for key, draw in info.experiment.draws.items()}
        splits = [each for info in infos for each in info.splits]
        statistics, said = infer(users, labels, cells, settings, seeds[0], draws, splits)
        notes += [*said, *(each.about for each in statistics)]
    claims = {each.about for info in infos for each in info.statistics}
    notes += [note for info in infos for note in info.notes if note not in claims]
    if any(info.groups for info in infos):
        notes.append("groups are of one run at a time: harness table RUN --groups")
    tables = {row.result.table: row.result.only(TableName) for row in rows}
    bounds = _first(((each.table, each.bound), each) for info in infos for each in info.bounds)
    conventions, ties = _sensitivity(infos, rows, tables)
    joined = first.model_copy(
        update={
            "name": " and ".join(names),
            "description": "",
            "metrics": labels,
            "seeds": seeds,
            "datasets": _first((each.fingerprint, each) for i in infos for each in i.datasets),
            "descriptions": _first((each.name, each) for i in infos for each in i.descriptions),
            "splits": _first((each.fingerprint, each) for i in infos for each in i.splits),
            "notes": list(dict.fromkeys(notes)),
            "cells": cells,
            "rows": [row.result for row in rows],
            "bounds": [
                each.model_copy(update=tables[each.table])
                for each in bounds
                if each.table in tables
            ],
            "conventions": conventions,
            "ties": ties,
            "statistics": statistics,
            "groups": [],
            "files": {},
        }
    )
    return Run(joined, users)


def run_names(runs: Sequence[Run]) -> list[str]:
    """Return what to call each run, all different; a run that is given twice is refused."""
    folders = [run.folder.resolve() if run.folder else None for run in runs]
    for i, (run, folder) in enumerate(zip(runs, folders, strict=True)):
        if any(run is each for each in runs[:i]) or (folder and folder in folders[:i]):
            raise ComparisonError(f"{run.folder or run.name}: given twice; name each run once")
    paths = [{"path": str(folder)} if folder else {} for folder in folders]
    return distinct_names([run.name for run in runs], paths)


def _differences(one: RunInfo, other: RunInfo) -> list[str]:
    """Return why the numbers of two runs may not be compared."""
    found = []
    if {each.fingerprint for each in one.datasets} != {each.fingerprint for each in other.datasets}:
        found.append("other data")
    genres = [{each.genres for each in info.datasets} - {""} for info in (one, other)]
    if all(genres) and genres[0] != genres[1]:
        found.append("other genres of the items")
    if {each.fingerprint for each in one.splits} != {each.fingerprint for each in other.splits}:
        found.append("another split")
    if one.experiment.clip != other.experiment.clip:
        found.append("estimates clipped in one of them only")
    first, second = {*one.tables}, {*other.tables}
    if not found and not (first <= second or second <= first):
        found.append("other candidates, or a split that is described in another way")
    return found


def _rows(runs: Sequence[Run]) -> tuple[list[_Row], list[_Row]]:
    """Return the rows of all runs, by table, and those left out: another has the same cells."""
    rows: list[_Row] = []
    repeated: list[_Row] = []
    for number, run in enumerate(runs):
        cells = run.info.cells_of_rows
        for result in run.info.rows:
            row = _Row(number, result.row, result, cells[result.row])
            alike = [each for each in rows if each.own == row.own]
            if any(row.keys <= each.keys for each in alike):
                repeated.append(row)
            elif within := next((each for each in alike if each.keys < row.keys), None):
                repeated.append(within)
                rows[rows.index(within)] = row
            else:
                if alike:
                    row.rename(row=short_key({"row": row.own, "run": number}))
                rows.append(row)
    order = list(dict.fromkeys(row.result.table for row in rows))
    return sorted(rows, key=lambda row: order.index(row.result.table)), repeated


def _distinguish(rows: Sequence[_Row], names: Sequence[str]) -> None:
    """Make names unique: of the tables, and of the rows in a table."""
    tables: dict[str, list[_Row]] = {}
    for row in rows:
        tables.setdefault(row.result.table, []).append(row)
    ambiguous = len({own[0].result.names for own in tables.values()}) < len(tables)
    for own in tables.values():
        table = own[0].result.only(TableName)
        if ambiguous:
            table["dataset"] += f" ({names[own[0].run]})"
        seen: set[str] = set()
        titles = []
        for row in own:
            title = row.result.algorithm
            described = f"{title} {row.settings}"
            titles.append(f"{title} ({names[row.run]})" if described in seen else title)
            seen.add(described)
        unique = distinct_names(titles, [row.settings for row in own])
        for row, title in zip(own, unique, strict=True):
            row.rename(**table, algorithm=title)


def _users(runs: Sequence[Run], rows: Sequence[_Row], labels: Sequence[str]) -> pd.DataFrame:
    """Return the scores of the users of all rows, under the names of the joined run."""
    import pandas as pd

    columns = ["seed", "fold", "user", *labels]
    parts = []
    for number, run in enumerate(runs):
        own = [{"own": row.own} | row.result.only(RowName) for row in rows if row.run == number]
        users = run.users[["row", *columns]].rename(columns={"row": "own"})
        named = users.merge(pd.DataFrame(own, columns=["own", *ROW]), on="own")
        parts.append(named[[*ROW, *columns]])
    return pd.concat(parts, ignore_index=True)


def _sensitivity(
    infos: Sequence[RunInfo], rows: Sequence[_Row], tables: Mapping[str, Mapping[str, str]]
) -> tuple[list[ConventionScores], list[TieScores]]:
    """Return each table of conventions and of ties with the rows of all runs that have it."""
    conventions: dict[tuple[str, str, int], ConventionScores] = {}
    ties: dict[tuple[str, str], TieScores] = {}
    for number, info in enumerate(infos):
        own = {row.own: row.result for row in rows if row.run == number}
        for entry in info.conventions:
            if entry.table in tables:
                empty = entry.model_copy(update={**tables[entry.table], "rows": []})
                joined = conventions.setdefault((entry.table, entry.metric, entry.k), empty)
                known = {row.convention: row for row in joined.rows}
                for each in entry.rows:
                    scores = {own[row].row: each.scores[row] for row in each.scores if row in own}
                    if each.convention in known:
                        known[each.convention].scores.update(scores)
                    else:
                        joined.rows.append(each.model_copy(update={"scores": scores}))
        for tied in info.ties:
            if tied.table in tables:
                empty_ties = tied.model_copy(update={**tables[tied.table], "rows": []})
                ties.setdefault((tied.table, tied.metric), empty_ties).rows.extend(
                    row.model_copy(update=own[row.row].only(RowKey))
                    for row in tied.rows
                    if row.row in own
                )
    return list(conventions.values()), list(ties.values())


def _first(entries: Iterable[tuple[Hashable, Entry]]) -> list[Entry]:
    """Return the first entry of each identity."""
    found: dict[Hashable, Entry] = {}
    for identity, entry in entries:
        found.setdefault(identity, entry)
    return list(found.values())
