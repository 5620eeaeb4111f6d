"""Compare the rows of a run by their users, and put several runs into one table."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from harness import metrics, seeds, statistics
from harness.config.experiment import Inference
from harness.errors import ComparisonError, ResultsError, suggestion
from harness.results.environment import listed, measured
from harness.results.record import (
    AnyCell,
    ConventionScores,
    MetricComparison,
    RowResult,
    RunInfo,
    TableName,
    TieScores,
)
from harness.results.run import RUN_FILE, Run, find_runs, read_run
from harness.results.store import short_key
from harness.results.table import TABLE, grouped
from harness.results.values import is_mean_of_users

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["distinct_names", "infer", "join", "open_run"]

Entry = TypeVar("Entry")

LONGEST_VALUE = 40


def distinct_names(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return names of which no two are equal, marked by the settings in which they differ.

    Parameters
    ----------
    names : sequence of str
    settings : sequence of mapping
        For each name what it stands for, without defaults; mappings may be nested. A ``path``
        replaces the name by the shortest end of the path that distinguishes it from the others.

    Examples
    --------
    >>> distinct_names(["ratings", "ratings"], [{"path": "a/r.csv"}, {"path": "b/r.csv"}])
    ['a/r.csv', 'b/r.csv']
    >>> distinct_names(["holdout 25%"] * 2, [{}, {"random_state": 1}])
    ['holdout 25%', 'holdout 25% (random_state 1)']
    >>> distinct_names(["x", "x", "y"], [{}, {}, {}])
    ['x', 'x (2)', 'y']
    """
    shown = list(names)
    for group in _equal(shown):
        paths = {i: str(settings[i].get("path", "")).replace("\\", "/") for i in group}
        if len(set(paths.values())) > 1:
            for i, path in paths.items():
                shown[i] = _end(path.split("/"), set(paths.values()) - {path}) or shown[i]
    for group in _equal(shown):
        flat = {i: dict(_flattened(settings[i])) for i in group}
        keys = dict.fromkeys(key for each in flat.values() for key in each if key != "path")
        differing = [key for key in keys if len({each.get(key) for each in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{k.rpartition('.')[2]} {values[k]}" for k in differing if k in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    unique: list[str] = []
    for name in shown:
        number, free = 1, name
        while free in unique or (number > 1 and free in shown):
            number += 1
            free = f"{name} ({number})"
        unique.append(free)
    return unique


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    positions: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        positions.setdefault(name, []).append(i)
    return [group for group in positions.values() if len(group) > 1]


def _end(path: list[str], others: set[str]) -> str:
    """Return the shortest end of a path that no other path has."""
    for n in range(1, len(path)):
        if all(other.split("/")[-n:] != path[-n:] for other in others):
            return "/".join(path[-n:])
    return "/".join(path)


def _flattened(settings: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{start}{key}.")
        elif value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f"{start}{key}", text[:LONGEST_VALUE]


def infer(
    users: pd.DataFrame,
    labels: Sequence[str],
    cells: Sequence[AnyCell],
    settings: Inference,
    seed: int,
) -> tuple[list[MetricComparison], list[str]]:
    """Compare the algorithms of each table by every metric that is a mean over users.

    Parameters
    ----------
    users : DataFrame
        As a run has it: a row for each cell and user, a column for each label.
    labels : sequence of str
        Metrics; one whose table value is not a mean of users' scores (``rmse``) is skipped.
    cells : sequence of CellResult or FailedCell
        They give tables and rows their order and names. A row with a failed cell is not compared:
        its users are not those of the others.
    settings : Inference
    seed : int

    Returns
    -------
    statistics : list of MetricComparison
        For each table and metric; nothing where fewer than two algorithms can be compared.
    notes : list of str
        What could not be compared, and why.
    """
    tables: dict[str, TableName] = {}
    rows: dict[str, dict[str, str]] = {}
    failures: dict[str, list[bool]] = {}
    for cell in cells:
        tables.setdefault(cell.table, cell)
        rows.setdefault(cell.table, {})[cell.row] = cell.algorithm
        failures.setdefault(cell.row, []).append(bool(cell.error))
    wanted = [label for label in labels if is_mean_of_users(metrics.parse(label))]
    of_table = dict(iter(users.groupby("table", sort=False)))
    found, notes = [], []
    for table, names in rows.items():
        where = f"{', '.join(tables[table].names)}: " if len(rows) > 1 else ""
        whole = [row for row in names if not any(failures[row])]
        notes += [
            f"{where}{names[row]}: {failures[row].count(False)} of {len(failures[row])} cells "
            "finished; its values are of those alone, and it is not compared with the others"
            for row in names
            if row not in whole and not all(failures[row])
        ]
        for label in wanted if table in of_table and len(whole) > 1 else ():
            # A user in several folds and seeds is one observation.
            scores = of_table[table].pivot_table(
                index="user", columns="row", values=label, aggfunc="mean", sort=False
            )
            scores = scores.reindex(columns=whole).sort_index()
            kept = [whole[i] for i in _comparable(scores.notna().to_numpy())]
            if len(kept) < 2:
                notes.append(
                    f"{where}{label}: no two algorithms have scores of the same users; "
                    "none are compared"
                )
                continue
            if left_out := [names[row] for row in whole if row not in kept]:
                notes.append(
                    f"{where}{label}: {', '.join(left_out)} not compared: without users in common "
                    "with every other algorithm"
                )
            titles = [names[row] for row in kept]
            compared = statistics.compare(
                scores[kept].to_numpy(),
                titles,
                baseline=settings.baseline if settings.baseline in titles else None,
                test=settings.test,
                correction=settings.correction,
                interval=settings.interval,
                n_resamples=settings.resamples,
                confidence=settings.confidence,
                seed=seeds.derive(seed, "statistics", table, label),
                higher_is_better=metrics.parse(label).higher_is_better,
            )
            means = zip(kept, _records(compared.algorithms), strict=True)
            described = {
                "metric": label,
                "method": compared.describe(),
                "note": compared.note,
                "algorithms": [{"row": row} | each for row, each in means],
                "pairs": _records(compared.pairs),
                "baseline": None if compared.baseline is None else _records(compared.baseline),
            }
            found.append(MetricComparison.model_validate(tables[table].of_table | described))
    return found, list(dict.fromkeys(notes))


def _comparable(scored: NDArray[np.bool_]) -> list[int]:
    """Return columns of which every two have a user in common, those with most users first.

    Examples
    --------
    >>> _comparable(np.array([[1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 1, 0]], bool))
    [0, 1]
    """
    together = scored.T.astype(np.int64) @ scored.astype(np.int64) > 0
    chosen: list[int] = []
    for column in np.argsort(-scored.sum(axis=0), kind="stable").tolist():
        if together[column, column] and together[column, chosen].all():
            chosen.append(column)
    return sorted(chosen)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as plain data that JSON holds; what is not a number becomes None."""
    return [
        {
            str(key): (None if isinstance(value, float) and not np.isfinite(value) else value)
            for key, value in row.items()
        }
        for row in frame.to_dict(orient="records")
    ]


def open_run(name: str, results: Path) -> Run:
    """Return a run by its folder, its ``run.json`` or, within `results`, its name."""
    path = Path(name)
    if path.name == RUN_FILE:
        path = path.parent
    if (path / RUN_FILE).is_file():
        return read_run(path)
    known = {run.name: run for run in find_runs(results)}
    if name in known:
        return read_run(known[name])
    hint = suggestion(name, known) if known else "run a config first"
    hint += "" if hint.endswith("?") else ", or give the folder of a run"
    raise ResultsError(f"{name}: no run of this name in {results}/; {hint}")


@dataclass
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

    def rename(self, **names: str) -> None:
        """Give it other names, or another identity, in the joined run."""
        self.result = self.result.model_copy(update=names)


def join(runs: Sequence[Run], *, anyway: bool = False) -> Run:
    """Put runs into one, their users compared with each other.

    A row that two runs have with the same cells is counted once. Rows with the same name are
    distinguished by their parameters, else by their runs.

    Parameters
    ----------
    runs : sequence of Run
        At least one; one alone comes back as it is.
    anyway : bool
        Join runs that cannot be compared too; a note then says why.

    Returns
    -------
    Run
        Without a folder. Its config, versions and machine are those of the first run.

    Raises
    ------
    ComparisonError
        If a run is given twice, the runs differ in data, split or candidates, or share no metric.
    """
    if len(runs) == 1:
        return runs[0]
    names = _run_names(runs)
    infos = [run.info for run in runs]
    differences = [
        f"{name}: {difference}"
        for name, info in zip(names[1:], infos[1:], strict=True)
        for difference in _differences(infos[0], info)
    ]
    if differences and not anyway:
        raise ComparisonError(
            f"cannot be shown in one table with {names[0]}: {'; '.join(differences)}; "
            "use --anyway to show them with this warning"
        )
    labels = [label for label in infos[0].metrics if all(label in i.metrics for i in infos)]
    if not labels:
        raise ComparisonError(
            f"{', '.join(names)}: no metric in common; "
            "run one of them again with the other's metrics"
        )
    rows, repeated = _rows(runs)
    _distinguish(rows, names)
    cells = [cell.model_copy(update=row.result.of_row) for row in rows for cell in row.cells]
    users = _users(runs, rows, labels)
    notes = [f"not comparable: {difference}" for difference in differences]
    left_out = sorted({label for info in infos for label in info.metrics} - set(labels))
    if left_out:
        notes.append(f"left out, because not every run has them: {', '.join(left_out)}")
    if len(conditions := measured(cells)) > 1:
        notes.append(f"fit s, score s and peak MB were measured {listed(conditions)}")
    for number, name in enumerate(names):
        if own := [row.result.algorithm for row in repeated if row.run == number]:
            again = ", ".join(dict.fromkeys(own))
            notes.append(f"{name}: the same cells as in another run, counted once: {again}")
    settings = infos[0].experiment.statistics
    seeds = sorted({seed for info in infos for seed in info.seeds})
    statistics: list[MetricComparison] = []
    if settings is not None:
        statistics, not_compared = infer(users, labels, cells, settings, seeds[0])
        notes += not_compared
    notes += [note for info in infos for note in info.notes]
    tables = {row.result.table: row.result.of_table for row in rows}
    bounds = _first(((each.table, each.bound), each) for info in infos for each in info.bounds)
    joined = infos[0].model_copy(
        update={
            "name": " and ".join(names),
            "description": "",
            "metrics": labels,
            "seeds": seeds,
            "datasets": _first((each.fingerprint, each) for i in infos for each in i.datasets),
            "splits": _first((each.fingerprint, each) for i in infos for each in i.splits),
            "notes": list(dict.fromkeys(notes)),
            "cells": cells,
            "rows": [row.result for row in rows],
            "bounds": [
                each.model_copy(update=tables[each.table])
                for each in bounds
                if each.table in tables
            ],
            "conventions": _conventions(infos, rows, tables),
            "ties": _ties(infos, rows, tables),
            "statistics": statistics,
            "files": {},
        }
    )
    return Run(joined, users)


def _run_names(runs: Sequence[Run]) -> list[str]:
    """Return what to call each run, all different; a run that is given twice is refused."""
    folders = [run.folder.resolve() if run.folder else None for run in runs]
    for i, (run, folder) in enumerate(zip(runs, folders, strict=True)):
        if any(run is each for each in runs[:i]) or (folder and folder in folders[:i]):
            raise ComparisonError(f"{run.folder or run.name}: given twice; name each run once")
    paths = [{"path": str(folder)} if folder else {} for folder in folders]
    return distinct_names([run.name for run in runs], paths)


def _rows(runs: Sequence[Run]) -> tuple[list[_Row], list[_Row]]:
    """Return the rows of all runs, by table, and those left out: another has the same cells."""
    rows: list[_Row] = []
    repeated: list[_Row] = []
    for number, run in enumerate(runs):
        cells = grouped(run.info)
        for result in run.info.rows:
            row = _Row(number, result.row, result, cells[result.row])
            alike = [i for i, each in enumerate(rows) if each.own == row.own]
            if any(row.keys <= rows[i].keys for i in alike):
                repeated.append(row)
                continue
            within = next((i for i in alike if rows[i].keys < row.keys), None)
            if within is not None:
                repeated.append(rows[within])
                rows[within] = row
                continue
            if alike:
                row.rename(row=short_key({"row": row.own, "run": number}))
            rows.append(row)
    order = list(dict.fromkeys(row.result.table for row in rows))
    return sorted(rows, key=lambda row: order.index(row.result.table)), repeated


def _distinguish(rows: list[_Row], names: Sequence[str]) -> None:
    """Make names unique: of the tables, and of the rows in a table."""
    tables: dict[str, list[_Row]] = {}
    for row in rows:
        tables.setdefault(row.result.table, []).append(row)
    ambiguous = len({own[0].result.names for own in tables.values()}) < len(tables)
    for own in tables.values():
        table = own[0].result.of_table
        if ambiguous:
            table["dataset"] += f" ({names[own[0].run]})"
        settings = [_settings(row) for row in own]
        titles = [row.result.algorithm for row in own]
        alike = [f"{title} {each}" for title, each in zip(titles, settings, strict=True)]
        titles = [
            f"{title} ({names[row.run]})" if each in alike[:i] else title
            for i, (row, title, each) in enumerate(zip(own, titles, alike, strict=True))
        ]
        for row, title in zip(own, distinct_names(titles, settings), strict=True):
            row.rename(**table, algorithm=title)


def _settings(row: _Row) -> dict[str, Any]:
    """Return what distinguishes a row from another of the same name."""
    if any(cell.n_trials is not None for cell in row.cells):
        return {"parameters": "tuned"}
    params = row.cells[0].params
    return {"params": {key: value for key, value in params.items() if key != "random_state"}}


def _users(runs: Sequence[Run], rows: Sequence[_Row], labels: Sequence[str]) -> pd.DataFrame:
    """Return the scores of the users of all rows, under the names of the joined run."""
    import pandas as pd

    parts = []
    for number, run in enumerate(runs):
        own = {row.own: row.result.of_row for row in rows if row.run == number}
        users = run.users[run.users["row"].isin(own)]
        named = {
            key: users["row"].map({row: names[key] for row, names in own.items()})
            for key in (*TABLE, "row", "algorithm")
        }
        parts.append(users[[*named, "seed", "fold", "user", *labels]].assign(**named))
    return pd.concat(parts, ignore_index=True)


def _conventions(
    infos: Sequence[RunInfo], rows: Sequence[_Row], tables: dict[str, dict[str, str]]
) -> list[ConventionScores]:
    """Return each table of conventions with the rows of all runs that have it."""
    found: dict[tuple[str, str, int], ConventionScores] = {}
    for number, info in enumerate(infos):
        identities = {row.own: row.result.row for row in rows if row.run == number}
        for entry in info.conventions:
            if entry.table not in tables:
                continue
            empty = entry.model_copy(update=tables[entry.table] | {"rows": []})
            joined = found.setdefault((entry.table, entry.metric, entry.k), empty)
            for each in entry.rows:
                own = {identities[row]: v for row, v in each.scores.items() if row in identities}
                same = (other for other in joined.rows if other.convention == each.convention)
                if (found_row := next(same, None)) is None:
                    joined.rows.append(each.model_copy(update={"scores": own}))
                else:
                    found_row.scores.update(own)
    return list(found.values())


def _ties(
    infos: Sequence[RunInfo], rows: Sequence[_Row], tables: dict[str, dict[str, str]]
) -> list[TieScores]:
    """Return each table of ties with the rows of all runs that have it."""
    found: dict[tuple[str, str], TieScores] = {}
    for number, info in enumerate(infos):
        own = {row.own: row.result for row in rows if row.run == number}
        for entry in info.ties:
            if entry.table not in tables:
                continue
            empty = entry.model_copy(update=tables[entry.table] | {"rows": []})
            joined = found.setdefault((entry.table, entry.metric), empty)
            for each in entry.rows:
                if each.row in own:
                    names = {"row": own[each.row].row, "algorithm": own[each.row].algorithm}
                    joined.rows.append(each.model_copy(update=names))
    return list(found.values())


def _first(entries: Iterable[tuple[Hashable, Entry]]) -> list[Entry]:
    """Return the first entry of each identity."""
    found: dict[Hashable, Entry] = {}
    for identity, entry in entries:
        found.setdefault(identity, entry)
    return list(found.values())


def _differences(one: RunInfo, other: RunInfo) -> list[str]:
    """Return why the numbers of two runs may not be compared."""
    found = []
    if {each.fingerprint for each in one.datasets} != {each.fingerprint for each in other.datasets}:
        found.append("other data")
    if {each.fingerprint for each in one.splits} != {each.fingerprint for each in other.splits}:
        found.append("another split")
    if one.experiment.clip != other.experiment.clip:
        found.append("estimates clipped in one of them only")
    if not found and {*one.tables} != {*other.tables}:
        found.append("other candidates, or a split that is described in another way")
    return found
