"""The results table and its bounds, as numbers and as text."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.results.frames import as_text
from harness.results.record import Bound, CellResult, FailedCell, RunInfo
from harness.results.rounding import DEFAULT_DECIMALS, column_decimals, rounded
from harness.results.values import deviation, mean_or_none

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GROUP",
    "ROW",
    "TABLE",
    "TIMES",
    "best_of",
    "best_rows",
    "bound_rows",
    "bounds_to_csv",
    "grouped",
    "headline",
    "primary_metric",
    "row_name",
    "tabulate",
    "tabulate_bounds",
    "to_csv",
    "to_frame_for_people",
    "to_markdown",
]

GROUP = ("dataset", "split", "candidates")
"""What a table is called."""
TABLE = (*GROUP, "table")
"""Display names and identity of a table."""
ROW = (*GROUP, "algorithm", "table", "row")
"""Display names and identities of a row."""
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")
BOUNDS: dict[Bound, str] = {"best": "best possible order", "random": "random order, expected"}
"""What the bounds of a table are called."""


def tabulate(info: RunInfo) -> pd.DataFrame:
    """Return the results table: a row for each algorithm, data set, split and candidates.

    Parameters
    ----------
    info : RunInfo

    Returns
    -------
    DataFrame
        ``algorithm``; ``dataset``, ``split``, ``candidates``; for each metric its label, the value:
        for a metric that is a mean of users' scores the mean over users of each user's average
        over folds and seeds, for any other the mean over folds and seeds; with ``<label>_sd``, the
        standard deviation of the folds' and seeds' means where there are several, and, where users
        were compared, ``<label>_low`` and ``<label>_high``, the interval over users, and
        ``<label>_letters``, one in common where two algorithms do not differ significantly;
        where parameters were searched, ``tuned``, the settings found, ``n_trials`` and
        ``search_seconds``, summed over cells;
        ``fit_seconds``, ``score_seconds``, ``metric_seconds``: mean seconds a cell; ``peak_mb``,
        the largest; ``n_users``; ``n_cells``, those that finished, and ``n_failed``; ``error``,
        empty when every cell finished; ``table`` and ``row``, the identities that ``run.users``,
        ``run.bounds`` and other runs use.
    """
    import pandas as pd

    by_row = grouped(info)
    several = _several(info)
    searched = any(cell.n_trials is not None for cell in info.cells)
    compared = {
        (each.table, each.metric): {row.row: row for row in each.algorithms}
        for each in info.statistics
    }
    rows = []
    for entry in info.rows:
        cells = by_row[entry.row]
        good = [cell for cell in cells if isinstance(cell, CellResult)]
        row: dict[str, Any] = {key: entry[key] for key in ("algorithm", *GROUP)}
        for label in info.metrics:
            row[label] = _number(entry.scores[label])
            if several:
                means = [_number(cell.scores[label].mean) for cell in good]
                row[f"{label}_sd"] = _number(deviation(means))
            if (entry.table, label) in compared:
                found = compared[entry.table, label].get(entry.row)
                row[f"{label}_low"] = _number(found.low if found else None)
                row[f"{label}_high"] = _number(found.high if found else None)
                row[f"{label}_letters"] = found.letters if found else ""
        if searched:
            row |= _searched(good)
        for column in TIMES:
            row[column] = _number(mean_or_none([cell[column] for cell in good]))
        row["peak_mb"] = max((cell.peak_mb for cell in good), default=math.nan)
        row["n_users"] = max((cell.n_users for cell in good), default=0)
        row["n_cells"], row["n_failed"] = len(good), len(cells) - len(good)
        row["error"] = _errors(cells)
        rows.append(row | {"table": entry.table, "row": entry.row})
    table = pd.DataFrame(rows)
    letters = [column for column in table.columns if column.endswith("_letters")]
    return table.fillna(dict.fromkeys(letters, ""))


def tabulate_bounds(info: RunInfo) -> pd.DataFrame:
    """Return what the best and, on average, a random order of the same items would score.

    Parameters
    ----------
    info : RunInfo

    Returns
    -------
    DataFrame
        ``bound``; ``dataset``, ``split``, ``candidates``; for each metric its label, averaged like
        the algorithms' values, NaN where it has no bounds, with ``<label>_sd`` as they have;
        ``table``.
    """
    import pandas as pd

    several = _several(info)
    rows = []
    for entry in info.bounds:
        row: dict[str, Any] = {"bound": BOUNDS[entry.bound]}
        row |= {key: entry[key] for key in GROUP}
        for label in info.metrics:
            row[label] = _number(entry.scores.get(label))
            if several:
                row[f"{label}_sd"] = _number(entry.deviations.get(label))
        rows.append(row | {"table": entry.table})
    return pd.DataFrame(rows, columns=None if rows else ["bound", *GROUP, *info.metrics, "table"])


def _several(info: RunInfo) -> bool:
    """Return whether a row has several cells."""
    return any(len(cells) > 1 for cells in grouped(info).values())


def _searched(cells: Sequence[CellResult]) -> dict[str, Any]:
    """Return what a search found in the cells of a row, and its cost."""
    settings = [
        json.dumps({k: v for k, v in cell.params.items() if k != "random_state"}, sort_keys=True)
        for cell in cells
        if cell.n_trials is not None
    ]
    return {
        "tuned": "; ".join(dict.fromkeys(settings)),
        "n_trials": sum(cell.n_trials or 0 for cell in cells),
        "search_seconds": math.fsum(cell.search_seconds or 0.0 for cell in cells),
    }


def grouped(info: RunInfo) -> dict[str, list[CellResult | FailedCell]]:
    """Return the cells of each row, by its identity, in the order of the tables."""
    rows: dict[str, list[CellResult | FailedCell]] = {entry.row: [] for entry in info.rows}
    for cell in info.cells:
        rows[cell.row].append(cell)
    return rows


def best_of(rows: Sequence[Mapping[Any, Any]], label: str) -> list[int]:
    """Return the positions of the best algorithms by a metric: one, or several that are equal.

    Algorithms with a failed cell are excluded: their values are of other folds.

    Parameters
    ----------
    rows : sequence of mapping
        Rows of one table, as `tabulate` has them.
    label : str
    """
    values = {
        i: row[label]
        for i, row in enumerate(rows)
        if not row["n_failed"] and not math.isnan(row[label])
    }
    if not values:
        return []
    best = (max if metrics.parse(label).higher_is_better else min)(values.values())
    return [i for i, value in values.items() if value == best]


def best_rows(info: RunInfo, label: str) -> list[int]:
    """Return which rows of `to_frame_for_people` hold the best value of a metric in their table.

    Bounds and rows with failed cells are left out, and tables of a single algorithm.
    """
    records = _records(info)
    found = []
    for table in dict.fromkeys(record["table"] for record in records):
        places = [i for i, each in enumerate(records) if each["table"] == table and "row" in each]
        if len(places) > 1:
            found += [places[i] for i in best_of([records[i] for i in places], label)]
    return found


def bound_rows(info: RunInfo) -> list[int]:
    """Return which rows of `to_frame_for_people` are bounds; they stand below each table."""
    return [i for i, record in enumerate(_records(info)) if "row" not in record]


def row_name(row: Mapping[Any, Any]) -> str:
    """Return the name of a row of `tabulate`: its algorithm, and how many cells finished.

    Examples
    --------
    >>> row_name({"algorithm": "SVD", "n_cells": 4, "n_failed": 3})
    'SVD (4 of 7 cells)'
    """
    if not (row["n_cells"] and row["n_failed"]):
        return str(row["algorithm"])
    return f"{row['algorithm']} ({row['n_cells']} of {row['n_cells'] + row['n_failed']} cells)"


def _records(info: RunInfo) -> list[dict[str, Any]]:
    """Return the rows of each table, then its bounds, which have no ``row``."""
    rows: list[dict[Any, Any]] = tabulate(info).to_dict(orient="records")
    bounds: list[dict[Any, Any]] = tabulate_bounds(info).to_dict(orient="records")
    return [
        record
        for table in dict.fromkeys(row["table"] for row in rows)
        for record in (*rows, *bounds)
        if record["table"] == table
    ]


def primary_metric(labels: Sequence[str]) -> str:
    """Return the primary label of a run: nDCG at 10, or the nearest one.

    Examples
    --------
    >>> primary_metric(["rmse", "ndcg@5", "ndcg@10"]), primary_metric(["rmse", "mae"])
    ('ndcg@10', 'rmse')
    """
    parsed = [metrics.parse(label) for label in labels]
    wanted = (
        [m for m in parsed if m.name == "ndcg" and m.k == 10]
        or [m for m in parsed if m.name == "ndcg"]
        or [m for m in parsed if not m.needs_pairs]
        or parsed
    )
    return str(wanted[0])


def to_csv(info: RunInfo) -> str:
    """Return ``table.csv``: metrics to eight decimals, so that equal runs are equal bytes."""
    return _csv(tabulate(info))


def bounds_to_csv(info: RunInfo) -> str:
    """Return ``bounds.csv``: what the best and a random order would score."""
    return _csv(tabulate_bounds(info))


def _csv(table: pd.DataFrame) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(as_text, table.columns))
    for row in table.itertuples(index=False):
        writer.writerow(
            _cell(column, value) for column, value in zip(table.columns, row, strict=True)
        )
    return text.getvalue()


def to_frame_for_people(info: RunInfo) -> pd.DataFrame:
    """Return the table as strings, bounds below each table, without empty columns.

    Each metric has, within one data set, split and candidates, the decimals that its uncertainty
    allows; see `harness.results.rounding`.
    """
    import pandas as pd

    rows, digits = _records(info), column_decimals(info)
    shown: dict[str, Sequence[str]] = {
        "algorithm": [row_name(row) if "row" in row else row["bound"] for row in rows]
    }
    for column in GROUP:
        if len({row[column] for row in rows}) > 1:
            shown[column] = [row[column] for row in rows]
    for label in info.metrics:
        decimals = [digits.get((row["table"], label), DEFAULT_DECIMALS) for row in rows]
        numbers = [
            _with_spread(row[label], row.get(f"{label}_sd", math.nan), own, max(decimals))
            for row, own in zip(rows, decimals, strict=True)
        ]
        if any(f"{label}_letters" in row for row in rows):
            letters = [row.get(f"{label}_letters", "") for row in rows]
            # Padded, so that the numbers stay under each other.
            widths = max(map(len, numbers)), max(map(len, letters))
            numbers = [
                f"{number:>{widths[0]}} {marks:<{widths[1]}}"
                for number, marks in zip(numbers, letters, strict=True)
            ]
        shown[label] = numbers
    if "n_trials" in rows[0]:
        shown["trials"] = [_filled(row.get("n_trials"), "d") for row in rows]
        shown["search s"] = [_filled(row.get("search_seconds"), ".1f") for row in rows]
    for column, name in zip(TIMES, ("fit s", "score s", "metric s"), strict=True):
        shown[name] = [rounded(row.get(column), 2) for row in rows]
    shown["peak MB"] = [rounded(row.get("peak_mb"), 0) for row in rows]
    shown["users"] = [_filled(row.get("n_users"), "d") for row in rows]
    if any(row.get("error") for row in rows):
        shown["error"] = [row.get("error", "") for row in rows]
    return pd.DataFrame(shown)


def _filled(value: float | None, form: str) -> str:
    """Return a number as text, nothing for zero or none."""
    return f"{value:{form}}" if value else ""


def to_markdown(info: RunInfo) -> str:
    """Return ``table.md``: what was run, the table, and the notes under it."""
    frame = to_frame_for_people(info)
    left = {"algorithm", "error", *GROUP}
    lines = [
        f"# {_escaped(info.name)}",
        "",
        *([_escaped(info.description), ""] if info.description else []),
        _escaped(headline(info)),
        "",
        "| " + " | ".join(_escaped(c) for c in frame.columns) + " |",
        "| " + " | ".join("---" if c in left else "---:" for c in frame.columns) + " |",
    ]
    lines += [
        "| " + " | ".join(_escaped(value) for value in row) + " |"
        for row in frame.itertuples(index=False)
    ]
    if info.notes:
        lines += ["", *(f"- {_escaped(note)}" for note in info.notes)]
    return "\n".join(lines) + "\n"


def headline(info: RunInfo) -> str:
    """Return one line: data, split, candidates, seeds."""
    parts = [" and ".join(dict.fromkeys(row[key] for row in info.rows)) for key in GROUP]
    seeds = ", ".join(str(seed) for seed in info.seeds)
    return f"data: {parts[0]}; split: {parts[1]}; candidates: {parts[2]}; seed: {seeds}"


def _escaped(text: object) -> str:
    """Return text escaped for Markdown."""
    shown = " ".join(str(text).split())
    for character in "\\`*_{}[]<>|#":
        shown = shown.replace(character, f"\\{character}")
    return shown.replace("&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _cell(column: str, value: Any) -> str:
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        if column in (*TIMES, "search_seconds"):
            return f"{value:.3f}"
        return f"{value:.0f}" if column == "peak_mb" else f"{value:.8f}"
    return str(as_text(value))


def _with_spread(value: float, spread: float, decimals: int, widest: int) -> str:
    """Return a number, padded to align decimal points, and its spread."""
    missing = widest - decimals + (decimals == 0 < widest)
    padded = [text + " " * missing for each in (value, spread) if (text := rounded(each, decimals))]
    return " ± ".join(padded)


def _errors(cells: Sequence[CellResult | FailedCell]) -> str:
    """Return why cells of a row failed, each reason once, with the folds where there are several.

    As ``fold 1: out of memory; folds 2, 3: no``.
    """
    folds: dict[str, list[str]] = {}
    for cell in cells:
        if cell.error:
            folds.setdefault(cell.error, []).append(str(cell.fold + 1))
    reasons = []
    for error, where in folds.items():
        numbers = list(dict.fromkeys(where))
        word = "fold" if len(numbers) == 1 else "folds"
        several = any(cell.n_folds > 1 for cell in cells)
        reasons.append(f"{word} {', '.join(numbers)}: {error}" if several else error)
    return "; ".join(reasons)
