"""Several runs in one table, if their numbers can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config.inference import Inference
from harness.errors import ComparisonError, ResultsError, suggestion
from harness.results.cells import short_key
from harness.results.inference import infer
from harness.results.naming import distinct_names
from harness.results.provenance import listed, measured
from harness.results.run import RUN_FILE, Run, find_runs, read_run
from harness.results.table import TABLE, grouped

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["join", "open_run"]


def open_run(name: str, results: Path) -> Run:
    """Return a run by its folder, its ``run.json`` or, within `results`, its name.

    Raises
    ------
    ResultsError
        If there is no such run, or its files are not what was written.
    """
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


@dataclass(frozen=True)
class _Row:
    """A row of several runs' table: its source, and its entry in the joined run.

    Parameters
    ----------
    run : int
        Position of its run.
    own : str
        Its identity in that run.
    entry : dict
        Its place, names, identity and scores in the joined run.
    cells : list of dict
        As its run has them.
    """

    run: int
    own: str
    entry: dict[str, Any]
    cells: list[dict[str, Any]]

    @property
    def keys(self) -> set[str]:
        """Keys of its finished cells: what its numbers are of."""
        return {cell["key"] for cell in self.cells if not cell.get("error")}

    @property
    def names(self) -> dict[str, Any]:
        """Names and identities of its cells, users and records in the joined run."""
        return {key: self.entry[key] for key in (*TABLE, "row", "algorithm")}


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
        Without a folder and a config of its own.

    Raises
    ------
    ComparisonError
        If a run is given twice, the runs differ in data, split or candidates, or share no metric.
    """
    if len(runs) == 1:
        return runs[0]
    names = _run_names(runs)
    differences = [
        f"{name}: {difference}"
        for name, run in zip(names[1:], runs[1:], strict=True)
        for difference in _differences(runs[0].info, run.info)
    ]
    if differences and not anyway:
        raise ComparisonError(
            f"cannot be shown in one table with {names[0]}: {'; '.join(differences)}; "
            "use --anyway to show them with this warning"
        )
    infos = [run.info for run in runs]
    labels = [m for m in infos[0]["metrics"] if all(m in info["metrics"] for info in infos)]
    if not labels:
        raise ComparisonError(
            f"{', '.join(names)}: no metric in common; "
            "run one of them again with the other's metrics"
        )
    rows, repeated = _rows(runs)
    rows = _named(rows, runs, names)
    cells = [cell | row.names for row in rows for cell in row.cells]
    users = _users(runs, rows, labels)
    notes = [f"not comparable: {difference}" for difference in differences]
    left_out = sorted({m for info in infos for m in info["metrics"]} - set(labels))
    if left_out:
        notes.append(f"left out, because not every run has them: {', '.join(left_out)}")
    if len(conditions := measured(cells)) > 1:
        notes.append(f"fit s, score s and peak MB were measured {listed(conditions)}")
    for number, name in enumerate(names):
        if own := [row.entry["algorithm"] for row in repeated if row.run == number]:
            again = ", ".join(dict.fromkeys(own))
            notes.append(f"{name}: the same cells as in another run, counted once: {again}")
    settings = infos[0]["config"].get("statistics")
    seeds = sorted({seed for info in infos for seed in info["seeds"]})
    statistics: list[dict[str, Any]] = []
    if settings is not None:
        chosen = Inference.model_validate(settings)
        statistics, not_compared = infer(users, labels, cells, chosen, seeds[0])
        notes += not_compared
    notes += [note for info in infos for note in info["notes"]]
    tables = {row.entry["table"]: {key: row.entry[key] for key in TABLE} for row in rows}
    joined = {
        "name": " and ".join(names),
        "description": "",
        "metrics": labels,
        "seeds": seeds,
        "cells": cells,
        "rows": [row.entry for row in rows],
        "bounds": [
            entry | tables[entry["table"]]
            for entry in _first(infos, "bounds", ("table", "bound"))
            if entry["table"] in tables
        ],
        "conventions": _conventions(infos, rows, tables),
        "ties": _ties(infos, rows, tables),
        "datasets": _first(infos, "datasets", ("fingerprint",)),
        "splits": _first(infos, "splits", ("fingerprint",)),
        "config": {"statistics": settings},
        "statistics": statistics,
        "notes": list(dict.fromkeys(notes)),
    }
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
        of_row = grouped(run.info)
        for entry in run.info["rows"]:
            row = _Row(number, entry["row"], entry, of_row[entry["row"]])
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
                identity = short_key({"row": row.own, "run": number})
                row = replace(row, entry=entry | {"row": identity})
            rows.append(row)
    order = list(dict.fromkeys(row.entry["table"] for row in rows))
    return sorted(rows, key=lambda row: order.index(row.entry["table"])), repeated


def _named(rows: list[_Row], runs: Sequence[Run], names: Sequence[str]) -> list[_Row]:
    """Return the rows with names that are unique: of their tables, and of rows in a table."""
    tables: dict[str, _Row] = {}
    for row in rows:
        tables.setdefault(row.entry["table"], row)
    places = [{key: row.entry[key] for key in TABLE} for row in tables.values()]
    if len({tuple(place.values())[:3] for place in places}) < len(places):
        for place, row in zip(places, tables.values(), strict=True):
            place["dataset"] += f" ({names[row.run]})"
    found = {}
    for place in places:
        own = [row for row in rows if row.entry["table"] == place["table"]]
        settings = [_settings(row) for row in own]
        titles = [row.entry["algorithm"] for row in own]
        alike = [f"{title} {each}" for title, each in zip(titles, settings, strict=True)]
        titles = [
            f"{title} ({names[row.run]})" if each in alike[:i] else title
            for i, (row, title, each) in enumerate(zip(own, titles, alike, strict=True))
        ]
        titles = distinct_names(titles, settings)
        for row, title in zip(own, titles, strict=True):
            found[row.entry["row"]] = replace(row, entry=row.entry | place | {"algorithm": title})
    return [found[row.entry["row"]] for row in rows]


def _settings(row: _Row) -> dict[str, Any]:
    """Return what distinguishes a row from another of the same name."""
    cell = row.cells[0]
    if any("n_trials" in cell for cell in row.cells):
        return {"parameters": "tuned"}
    return {"params": {k: v for k, v in cell["params"].items() if k != "random_state"}}


def _users(runs: Sequence[Run], rows: Sequence[_Row], labels: Sequence[str]) -> pd.DataFrame:
    """Return the scores of the users of all rows, under the names of the joined run."""
    import pandas as pd

    parts = []
    for number, run in enumerate(runs):
        own = {row.own: row.names for row in rows if row.run == number}
        users = run.users[run.users["row"].isin(own)]
        named = {
            key: users["row"].map({row: names[key] for row, names in own.items()})
            for key in (*TABLE, "row", "algorithm")
        }
        parts.append(users[[*named, "seed", "fold", "user", *labels]].assign(**named))
    return pd.concat(parts, ignore_index=True)


def _conventions(
    infos: Sequence[dict[str, Any]], rows: Sequence[_Row], tables: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return each table of conventions with the rows of all runs that have it."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, info in enumerate(infos):
        identities = {row.own: row.entry["row"] for row in rows if row.run == number}
        for entry in info.get("conventions", []):
            if entry["table"] not in tables:
                continue
            own = found.setdefault(
                (entry["table"], entry["metric"], entry["k"]),
                entry | tables[entry["table"]] | {"rows": {}},
            )
            for row in entry["rows"]:
                merged = own["rows"].setdefault(row["convention"], row | {"scores": {}})
                merged["scores"] |= {
                    identities[key]: value
                    for key, value in row["scores"].items()
                    if key in identities
                }
    return [entry | {"rows": list(entry["rows"].values())} for entry in found.values()]


def _ties(
    infos: Sequence[dict[str, Any]], rows: Sequence[_Row], tables: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return each table of ties with the rows of all runs that have it."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for number, info in enumerate(infos):
        own = {row.own: row.entry for row in rows if row.run == number}
        for entry in info.get("ties", []):
            if entry["table"] not in tables:
                continue
            where = (entry["table"], entry["metric"])
            joined = found.setdefault(where, entry | tables[entry["table"]] | {"rows": []})
            joined["rows"] += [
                row | {key: own[row["row"]][key] for key in ("row", "algorithm")}
                for row in entry["rows"]
                if row["row"] in own
            ]
    return list(found.values())


def _first(infos: Sequence[dict[str, Any]], key: str, parts: tuple[str, ...]) -> list[Any]:
    """Return the entries of the runs under a key, each once, identified by some of its parts."""
    found: dict[tuple[Any, ...], Any] = {}
    for info in infos:
        for each in info[key]:
            found.setdefault(tuple(each[part] for part in parts), each)
    return list(found.values())


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return why the numbers of two runs may not be compared."""
    found = []
    for what, identity in (
        ("other data", lambda info: {d["fingerprint"] for d in info["datasets"]}),
        ("another split", lambda info: {s["fingerprint"] for s in info["splits"]}),
        ("estimates clipped in one of them only", lambda info: info["config"]["clip"]),
    ):
        if identity(one) != identity(other):
            found.append(what)
    tables = [{row["table"] for row in info["rows"]} for info in (one, other)]
    if not found and tables[0] != tables[1]:
        found.append("other candidates, or a split that is described in another way")
    return found
