"""The results table and its bounds, as numbers and as text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.results.record import AnyCell, Bound, CellResult, RunInfo
from harness.results.values import (
    DEFAULT_DECIMALS,
    column_decimals,
    deviation,
    mean_or_none,
    or_nan,
    rounded,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "BOUNDS",
    "GROUP",
    "ROW",
    "TABLE",
    "TIMES",
    "DisplayTable",
    "as_text",
    "best_of",
    "bounds_to_csv",
    "display_table",
    "frame_to_csv",
    "grouped",
    "headline",
    "primary_metric",
    "row_name",
    "tabulate",
    "tabulate_bounds",
    "to_csv",
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
        (each.table, each.metric): {mean.row: mean for mean in each.algorithms}
        for each in info.statistics
    }
    rows = []
    for entry in info.rows:
        cells = by_row[entry.row]
        good = [cell for cell in cells if isinstance(cell, CellResult)]
        row: dict[str, Any] = {key: entry[key] for key in ("algorithm", *GROUP)}
        for label in info.metrics:
            row[label] = or_nan(entry.scores[label])
            if several:
                means = [or_nan(cell.scores[label].mean) for cell in good]
                row[f"{label}_sd"] = or_nan(deviation(means))
            if (entry.table, label) in compared:
                found = compared[entry.table, label].get(entry.row)
                row[f"{label}_low"] = or_nan(found.low if found else None)
                row[f"{label}_high"] = or_nan(found.high if found else None)
                row[f"{label}_letters"] = found.letters if found else ""
        if searched:
            settings = [_settings(cell) for cell in good if cell.n_trials is not None]
            row["tuned"] = "; ".join(dict.fromkeys(settings))
            row["n_trials"] = sum(cell.n_trials or 0 for cell in good)
            row["search_seconds"] = math.fsum(cell.search_seconds or 0.0 for cell in good)
        for column in TIMES:
            row[column] = or_nan(mean_or_none([cell[column] for cell in good]))
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
            row[label] = or_nan(entry.scores.get(label))
            if several:
                row[f"{label}_sd"] = or_nan(entry.deviations.get(label))
        rows.append(row | {"table": entry.table})
    return pd.DataFrame(rows, columns=None if rows else ["bound", *GROUP, *info.metrics, "table"])


def grouped(info: RunInfo) -> dict[str, list[AnyCell]]:
    """Return the cells of each row, by its identity, in the order of the tables."""
    rows: dict[str, list[AnyCell]] = {entry.row: [] for entry in info.rows}
    for cell in info.cells:
        rows[cell.row].append(cell)
    return rows


def _several(info: RunInfo) -> bool:
    return any(len(cells) > 1 for cells in grouped(info).values())


def _settings(cell: CellResult) -> str:
    params = {key: value for key, value in cell.params.items() if key != "random_state"}
    return json.dumps(params, sort_keys=True)


def _errors(cells: Sequence[AnyCell]) -> str:
    """Return why cells failed, as ``fold 1: out of memory; folds 2, 3: no``."""
    folds: dict[str, list[str]] = {}
    for cell in cells:
        if cell.error:
            folds.setdefault(cell.error, []).append(str(cell.fold + 1))
    if not any(cell.n_folds > 1 for cell in cells):
        return "; ".join(folds)
    reasons = []
    for error, numbers in folds.items():
        shown = list(dict.fromkeys(numbers))
        reasons.append(f"fold{'s' if len(shown) > 1 else ''} {', '.join(shown)}: {error}")
    return "; ".join(reasons)


def best_of(rows: Sequence[Mapping[Any, Any]], label: str) -> list[int]:
    """Return the positions of the best rows of a table: one, or several that are equal.

    Algorithms with a failed cell are excluded: their values are of other folds.
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


@dataclass(frozen=True, eq=False)
class DisplayTable:
    """The results table as text.

    Parameters
    ----------
    frame : DataFrame
        Of strings, bounds below each table, without empty columns.
    bounds : list of int
        Which rows are bounds.
    best : dict of str to list of int
        By metric, the rows that hold the best value of their table: no bounds, no algorithm with a
        failed cell, and none that is alone in its table.
    """

    frame: pd.DataFrame
    bounds: list[int]
    best: dict[str, list[int]]


def display_table(info: RunInfo) -> DisplayTable:
    """Return the results table as text.

    Each metric has, within one data set, split and candidates, the decimals that its uncertainty
    allows; see `harness.results.values`.
    """
    import pandas as pd

    results: list[dict[Any, Any]] = tabulate(info).to_dict(orient="records")
    bounds: list[dict[Any, Any]] = tabulate_bounds(info).to_dict(orient="records")
    rows: list[dict[Any, Any]] = []
    best: dict[str, list[int]] = {label: [] for label in info.metrics}
    for table in info.tables:
        own = [row for row in results if row["table"] == table]
        for label, found in best.items():
            found += [len(rows) + i for i in best_of(own, label) if len(own) > 1]
        rows += [*own, *(bound for bound in bounds if bound["table"] == table)]
    digits = column_decimals(info)
    shown: dict[str, Sequence[str]] = {
        "algorithm": [row_name(row) if "row" in row else row["bound"] for row in rows]
    }
    for column in GROUP:
        if len({row[column] for row in rows}) > 1:
            shown[column] = [row[column] for row in rows]
    for label in info.metrics:
        places = [digits.get((row["table"], label), DEFAULT_DECIMALS) for row in rows]
        numbers = [
            _with_spread(row[label], row.get(f"{label}_sd"), own, max(places))
            for row, own in zip(rows, places, strict=True)
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
    for column in TIMES:
        shown[column.replace("_seconds", " s")] = [rounded(row.get(column), 2) for row in rows]
    shown["peak MB"] = [rounded(row.get("peak_mb"), 0) for row in rows]
    shown["users"] = [_filled(row.get("n_users"), "d") for row in rows]
    if any(row.get("error") for row in rows):
        shown["error"] = [row.get("error", "") for row in rows]
    which = [i for i, row in enumerate(rows) if "row" not in row]
    return DisplayTable(pd.DataFrame(shown), which, best)


def _filled(value: float | None, form: str) -> str:
    """Return a number as text, nothing for zero or none."""
    return f"{value:{form}}" if value else ""


def _with_spread(value: float, spread: float | None, places: int, widest: int) -> str:
    """Return a number, padded to align decimal points, and its spread."""
    missing = widest - places + (places == 0 < widest)
    padded = [text + " " * missing for each in (value, spread) if (text := rounded(each, places))]
    return " ± ".join(padded)


def to_markdown(info: RunInfo) -> str:
    """Return ``table.md``: what was run, the table, and the notes under it."""
    frame = display_table(info).frame
    left = {"algorithm", "error", *GROUP}
    rows = [
        list(frame.columns),
        ["---" if column in left else "---:" for column in frame.columns],
        *frame.itertuples(index=False),
    ]
    lines = [
        f"# {_escaped(info.name)}",
        "",
        *([_escaped(info.description), ""] if info.description else []),
        _escaped(headline(info)),
        "",
        *("| " + " | ".join(map(_escaped, row)) + " |" for row in rows),
        *([""] if info.notes else []),
        *(f"- {_escaped(note)}" for note in info.notes),
    ]
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


def to_csv(info: RunInfo) -> str:
    """Return ``table.csv``: metrics to eight decimals, so that equal runs are equal bytes."""
    return _csv(tabulate(info))


def bounds_to_csv(info: RunInfo) -> str:
    """Return ``bounds.csv``: what the best and a random order would score."""
    return _csv(tabulate_bounds(info))


def _csv(table: pd.DataFrame) -> str:
    import pandas as pd

    forms = dict.fromkeys((*TIMES, "search_seconds"), ".3f") | {"peak_mb": ".0f"}

    def text(column: str, value: object) -> object:
        if not isinstance(value, float):
            return value
        return "" if math.isnan(value) else format(value, forms.get(column, ".8f"))

    columns = {str(name): [text(str(name), value) for value in own] for name, own in table.items()}
    return frame_to_csv(pd.DataFrame(columns))


def as_text(value: Any) -> Any:
    """Return a cell of a CSV file so that a spreadsheet takes text for text, not for a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
    in front, unless it is a number. Everything else stays as it is.

    Examples
    --------
    >>> as_text("=1+1"), as_text("-1.5"), as_text(-1.5), as_text("SVD")
    ("'=1+1", '-1.5', -1.5, 'SVD')
    """
    if not isinstance(value, str) or value[:1] not in tuple("=+-@\t\r"):
        return value
    return value if re.fullmatch(r"[+-]\d*\.?\d+(e[+-]?\d+)?", value) else f"'{value}"


def frame_to_csv(frame: pd.DataFrame, **options: Any) -> str:
    r"""Return a table as CSV, text as `as_text` has it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_to_csv(pd.DataFrame({"user": ["@u"], "rmse": [-0.5]}))
    "user,rmse\n'@u,-0.5\n"
    """
    words = {
        str(name): column.map(as_text) for name, column in frame.items() if column.dtype.kind == "O"
    }
    text: str = frame.assign(**words).to_csv(index=False, lineterminator="\n", **options)
    return text
