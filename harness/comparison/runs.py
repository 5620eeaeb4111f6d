"""Several runs become one, whose rows are compared user by user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.comparison.inference import OF_TESTS, infer, notes_on_tests
from harness.config.experiment import headline_of
from harness.errors import ComparisonError, ResultsError
from harness.notes.note import PLAIN, Note, by_weight
from harness.results.cells import AnyCell, RowKey, RowName, TableName, distinct_names, measured
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.statistics import ConventionScores, MetricComparison, RowResult, TieScores
from harness.results.store import short_key
from harness.results.table import ROW


@dataclass(eq=False)
class _Row:
    """A row of several runs' table: its run's position, and its identity in that run."""

    run: int
    own: str
    result: RowResult
    cells: list[AnyCell]

    @property
    def keys(self) -> set[str]:
        """Keys of its computed cells, which decide its numbers."""
        return {cell.key for cell in self.cells if not cell.error}

    @property
    def settings(self) -> dict[str, object]:
        """What distinguishes it from another row of the same name."""
        if any(cell.n_trials is not None for cell in self.cells):
            return {"parameters": "tuned"}
        params = self.cells[0].params
        return {"params": {key: value for key, value in params.items() if key != "random_state"}}


@checked(ResultsError)
def join(runs: Sequence[Run], *, anyway: bool = False) -> Run:
    """Put runs into one without a folder, their users compared with each other.

    A row that two runs have with the same cells is counted once. Rows with the same name are
    distinguished by their parameters, else by their runs. Config, versions and machine are taken
    from the first run; a single run is returned as it is. A ComparisonError refuses a run that is
    given twice, runs without a common metric and, unless `anyway`, runs that cannot be compared.
    """
    if not len(runs):
        raise ResultsError("runs: there is none; give at least one")
    if len(runs) == 1:
        return runs[0]
    names, infos = run_names(runs), [run.info for run in runs]
    first = infos[0]
    why = {name: _differences(first, info) for name, info in zip(names, infos, strict=True)}
    differences = [f"{name}: {reason}" for name, reasons in why.items() for reason in reasons]
    if differences and not anyway:
        others = [f"{name} ({', '.join(reasons)})" for name, reasons in why.items() if reasons]
        across = (
            "for several data sets, use `harness compare RUN... --across` (harness.across), or "
            "`harness table RUN... --format latex --together` for one table; "
        )
        other_data = all("other data" in reasons for reasons in why.values() if reasons)
        raise ComparisonError(
            f"cannot be shown in one table with {names[0]}: {', '.join(others)}; "
            f"{across if other_data else ''}--anyway (anyway=True) shows them with this warning"
        )
    labels = common_metrics(names, infos)
    rows, repeated = _rows(runs)
    _distinguish(rows, names)
    cells = [cell.model_copy(update=row.result.only(RowName)) for row in rows for cell in row.cells]
    users = _users(runs, rows, labels)
    notes = [Note("not-comparable", {"difference": difference}) for difference in differences]
    left_out = sorted({label for info in infos for label in info.metrics} - {*labels})
    if left_out:
        notes.append(Note("metrics-left-out", {"metrics": left_out}))
    if len(conditions := measured(cells)) > 1:
        notes.append(Note("measured", {"conditions": "; ".join(conditions)}))
    for number, name in enumerate(names):
        if repeats := dict.fromkeys(row.result.algorithm for row in repeated if row.run == number):
            notes.append(Note("cells-repeated", {"algorithms": [*repeats]}, name))
    seeds = sorted({seed for info in infos for seed in info.seeds})
    statistics: list[MetricComparison] = []
    tables = {row.result.table: row.result.only(TableName) for row in rows}
    if (settings := first.experiment.statistics) is not None:
        draws = {key: draw for info in infos for key, draw in info.experiment.draws.items()}
        splits = [entry for info in infos for entry in info.splits]
        statistics, said = infer(users, labels, cells, settings, seeds[0], draws, splits)
        notes += [*said, *notes_on_tests(statistics, tables)]
    # The notes of runs that were written before notes had codes are known by their whole text.
    old = {str(note) for info in infos for note in notes_on_tests(info.statistics, info.tables)}
    notes += [
        note
        for info in infos
        for note in info.notes
        if note.code not in OF_TESTS and not (note.code == PLAIN and note.text in old)
    ]
    if any(info.groups for info in infos):
        notes.append(Note("groups-apart"))

    def merged(part: str, *identity: str) -> list[Any]:
        """Return the entries of a part in all runs, the first of each identity."""
        records: dict[tuple[object, ...], Any] = {}
        for entry in (entry for info in infos for entry in getattr(info, part)):
            records.setdefault(tuple(entry[key] for key in identity), entry)
        return list(records.values())

    conventions, ties = _sensitivity(infos, rows, tables)
    joined = first.model_copy(
        update={
            "name": " and ".join(names),
            "description": "",
            "metrics": labels,
            "headline": headline_of(labels, first.headline),
            "seeds": seeds,
            "datasets": merged("datasets", "fingerprint"),
            "descriptions": merged("descriptions", "name"),
            "splits": merged("splits", "fingerprint"),
            "notes": by_weight(notes),
            "cells": cells,
            "rows": [row.result for row in rows],
            "bounds": [
                entry.model_copy(update=tables[entry.table])
                for entry in merged("bounds", "table", "bound")
                if entry.table in tables
            ],
            "conventions": conventions,
            "ties": ties,
            "statistics": statistics,
            "groups": [],
            "files": {},
        }
    )
    return Run(joined, users)


def common_metrics(names: Sequence[str], infos: Sequence[RunInfo]) -> list[str]:
    """Return the labels that all runs have; a ComparisonError where there is none."""
    labels = [label for label in infos[0].metrics if all(label in info.metrics for info in infos)]
    if not labels:
        raise ComparisonError(
            f"{', '.join(names)}: no metric in common; "
            "run one of them again with the other's metrics"
        )
    return labels


def run_names(runs: Sequence[Run]) -> list[str]:
    """Return what to call each run, all different; a run that is given twice is refused."""
    folders = [run.folder.resolve() if run.folder else None for run in runs]
    for i, (run, folder) in enumerate(zip(runs, folders, strict=True)):
        if any(run is earlier for earlier in runs[:i]) or (folder and folder in folders[:i]):
            raise ComparisonError(f"{run.folder or run.name}: given twice; name each run once")
    paths = [{"path": str(folder)} if folder else {} for folder in folders]
    return distinct_names([run.name for run in runs], paths)


def _differences(one: RunInfo, other: RunInfo) -> list[str]:
    """Return why the numbers of two runs may not be compared."""
    parts: dict[str, Callable[[RunInfo], Any]] = {
        "other data": lambda info: {data.fingerprint for data in info.datasets},
        "other genres of the items": lambda info: {data.genres for data in info.datasets} - {""},
        "another split": lambda info: {data.fingerprint for data in info.splits},
        "estimates clipped in one of them only": lambda info: info.experiment.clip,
    }
    differences = [aspect for aspect, part in parts.items() if part(one) != part(other)]
    genres = "other genres of the items"  # unknown where no metric needs them
    if genres in differences and not (parts[genres](one) and parts[genres](other)):
        differences.remove(genres)
    first, second = {*one.tables}, {*other.tables}
    if not differences and not (first <= second or second <= first):
        differences.append("other candidates, or a split that is described in another way")
    return differences


def _rows(runs: Sequence[Run]) -> tuple[list[_Row], list[_Row]]:
    """Return the rows of all runs, by table, and those left out: another has the same cells."""
    rows: list[_Row] = []
    repeated: list[_Row] = []
    for number, run in enumerate(runs):
        cells = run.info.cells_of_rows
        for result in run.info.rows:
            row = _Row(number, result.row, result, cells[result.row])
            alike = [other for other in rows if other.own == row.own]
            if any(row.keys <= other.keys for other in alike):
                repeated.append(row)
            elif within := next((other for other in alike if other.keys < row.keys), None):
                repeated.append(within)
                rows[rows.index(within)] = row
            else:
                if alike:
                    name = short_key({"row": row.own, "run": number})
                    row.result = row.result.model_copy(update={"row": name})
                rows.append(row)
    order = list(dict.fromkeys(row.result.table for row in rows))
    return sorted(rows, key=lambda row: order.index(row.result.table)), repeated


def _distinguish(rows: Sequence[_Row], names: Sequence[str]) -> None:
    """Make names unique: of the tables, and of the rows in a table."""
    tables: dict[str, list[_Row]] = {}
    for row in rows:
        tables.setdefault(row.result.table, []).append(row)
    ambiguous = len({members[0].result.names for members in tables.values()}) < len(tables)
    for members in tables.values():
        table = members[0].result.only(TableName)
        if ambiguous:
            table["dataset"] += f" ({names[members[0].run]})"
        titles: list[str] = []
        for i, row in enumerate(members):
            alike = [(earlier.result.algorithm, earlier.settings) for earlier in members[:i]]
            twice = (row.result.algorithm, row.settings) in alike
            titles.append(row.result.algorithm + f" ({names[row.run]})" * twice)
        unique = distinct_names(titles, [row.settings for row in members])
        for row, title in zip(members, unique, strict=True):
            row.result = row.result.model_copy(update={**table, "algorithm": title})


def _users(runs: Sequence[Run], rows: Sequence[_Row], labels: Sequence[str]) -> pd.DataFrame:
    """Return the scores of the users of all rows, under the names of the joined run."""
    columns = ["seed", "fold", "user", *labels]
    parts = []
    for number, run in enumerate(runs):
        row_names = [
            {"own": row.own} | row.result.only(RowName) for row in rows if row.run == number
        ]
        users = run.users[["row", *columns]].rename(columns={"row": "own"})
        named = users.merge(pd.DataFrame(row_names, columns=["own", *ROW]), on="own")
        parts.append(named[[*ROW, *columns]])
    return pd.concat(parts, ignore_index=True)


def _sensitivity(
    infos: Sequence[RunInfo], rows: Sequence[_Row], tables: Mapping[str, Mapping[str, str]]
) -> tuple[list[ConventionScores], list[TieScores]]:
    """Return each table of conventions and of ties with the rows of all runs that have it."""
    conventions: dict[tuple[str, str, int], ConventionScores] = {}
    ties: dict[tuple[str, str], TieScores] = {}
    for number, info in enumerate(infos):
        results = {row.own: row.result for row in rows if row.run == number}
        for entry in (record for record in info.conventions if record.table in tables):
            empty = entry.model_copy(update={**tables[entry.table], "rows": []})
            joined = conventions.setdefault((entry.table, entry.metric, entry.k), empty)
            by_convention = {row.convention: row for row in joined.rows}
            for record in entry.rows:
                scores = {
                    results[row].row: record.scores[row] for row in record.scores if row in results
                }
                if record.convention in by_convention:
                    by_convention[record.convention].scores.update(scores)
                else:
                    joined.rows.append(record.model_copy(update={"scores": scores}))
        for tied in (record for record in info.ties if record.table in tables):
            without = tied.model_copy(update={**tables[tied.table], "rows": []})
            ties.setdefault((tied.table, tied.metric), without).rows.extend(
                row.model_copy(update=results[row.row].only(RowKey))
                for row in tied.rows
                if row.row in results
            )
    return list(conventions.values()), list(ties.values())
