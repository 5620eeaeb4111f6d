"""The results table: cells averaged over folds and seeds, as numbers and as text."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.results.rounding import DEFAULT_DECIMALS, column_decimals, rounded

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "GROUP",
    "TIMES",
    "grouped",
    "headline",
    "primary_metric",
    "tabulate",
    "to_csv",
    "to_frame_for_people",
    "to_markdown",
]

GROUP = ("dataset", "split", "candidates")
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")
BOUNDS = {"best possible order": "best", "random order, expected": "random"}
"""Rows under each table that are computed from the lists alone."""


def tabulate(info: dict[str, Any]) -> pd.DataFrame:
    """Average the cells of each row.

    Parameters
    ----------
    info : dict
        What ``run.json`` holds.

    Returns
    -------
    DataFrame
        ``algorithm``; ``dataset``, ``split``, ``candidates``; for each metric its label, the mean
        over folds and seeds, with ``<label>_sd``, their standard deviation where there are
        several, and, where users were compared, ``<label>_low`` and ``<label>_high``, the interval
        over users, and ``<label>_letters``, one in common where two algorithms are not told apart;
        where parameters were searched, ``tuned``, the settings found, ``n_trials`` and
        ``search_seconds``, summed over cells;
        ``fit_seconds``, ``score_seconds``, ``metric_seconds``: mean seconds a cell; ``peak_mb``,
        the largest; ``n_users``; ``n_cells``; ``error``, empty when every cell ended well. The
        last rows of each data set, split and candidates are what the best order and, on average, a
        random order of the same items would score.
    """
    import pandas as pd

    by_row = grouped(info)
    several = any(len(cells) > 1 for cells in by_row.values())
    compared = _compared(info)
    rows = []
    for place, cells in by_row.items():
        good = [cell for cell in cells if not cell.get("error")]
        row: dict[str, Any] = {"algorithm": place[-1], **dict(zip(GROUP, place, strict=False))}
        for label in info["metrics"]:
            values = [_number(cell["scores"][label]["mean"]) for cell in good]
            row |= _averaged(label, values, several)
            if (*place[:-1], label) in compared:
                sure = compared[*place[:-1], label].get(place[-1], {})
                row[f"{label}_low"] = _number(sure.get("low"))
                row[f"{label}_high"] = _number(sure.get("high"))
                row[f"{label}_letters"] = sure.get("letters", "")
        if any("n_trials" in cell for cells in by_row.values() for cell in cells):
            row |= _searched(good)
        for column in TIMES:
            row[column] = _mean([cell[column] for cell in good])
        row["peak_mb"] = max((cell["peak_mb"] for cell in good), default=math.nan)
        row["n_users"] = max((cell["n_users"] for cell in good), default=0)
        row["n_cells"] = len(good)
        row["error"] = _errors(cells)
        rows.append(row)
    table = pd.DataFrame(rows)
    limits = pd.DataFrame(_bounds(info, several), columns=table.columns)
    if limits.empty:
        return table
    for column in table.columns:
        if column.endswith("_letters") or column in ("error", "tuned"):
            limits[column] = ""
        elif column in ("n_users", "n_cells", "n_trials"):
            limits[column] = 0
    both = pd.concat([table, limits.astype(table.dtypes.to_dict())], ignore_index=True)
    # Bounds stand under the rows that they bound.
    places = list(dict.fromkeys(place[:-1] for place in by_row))
    keys = [places.index(tuple(row)) for row in both[list(GROUP)].itertuples(index=False)]
    return both.iloc[sorted(range(len(both)), key=keys.__getitem__)].reset_index(drop=True)


def _searched(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a search found in the cells of a row, and what it took."""
    own = [cell for cell in cells if "n_trials" in cell]
    settings = [
        json.dumps({k: v for k, v in cell["params"].items() if k != "random_state"}, sort_keys=True)
        for cell in own
    ]
    return {
        "tuned": "; ".join(dict.fromkeys(settings)),
        "n_trials": sum(cell["n_trials"] for cell in own),
        "search_seconds": math.fsum(cell["search_seconds"] for cell in own),
    }


def _averaged(label: str, values: list[float], several: bool) -> dict[str, float]:
    found = {label: _mean(values)}
    if several:
        mean = found[label]
        squares = [(value - mean) ** 2 for value in values]
        found[f"{label}_sd"] = (
            math.sqrt(sum(squares) / (len(values) - 1)) if len(values) > 1 else math.nan
        )
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _compared(info: dict[str, Any]) -> dict[tuple[str, ...], dict[str, dict[str, Any]]]:
    """Return what is known of each algorithm's mean, by data set, split, candidates and metric."""
    return {
        (*(each[key] for key in GROUP), each["metric"]): {
            row["algorithm"]: row for row in each["algorithms"]
        }
        for each in info.get("statistics", [])
    }


def _bounds(info: dict[str, Any], several: bool) -> list[dict[str, Any]]:
    """Return the rows of the best and of a random order, averaged over folds and seeds."""
    places: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for bound in info.get("bounds", []):
        if not bound["scores"]:
            continue
        places.setdefault(tuple(bound[key] for key in GROUP), []).append(bound["scores"])
    rows = []
    for place, found in places.items():
        for title, name in BOUNDS.items():
            row: dict[str, Any] = {"algorithm": title, **dict(zip(GROUP, place, strict=True))}
            for label in info["metrics"]:
                values = [_number(scores.get(label, {}).get(name)) for scores in found]
                row |= _averaged(label, values, several)
            rows.append(row)
    return rows


def grouped(info: dict[str, Any]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Return the cells of each row of the table, rows in the order of the config."""
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for cell in info["cells"]:
        rows.setdefault((*(cell[key] for key in GROUP), cell["algorithm"]), []).append(cell)
    return rows


def primary_metric(labels: Sequence[str]) -> str:
    """Return the label that stands for a run: nDCG at 10, or what is nearest to it.

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


def to_csv(info: dict[str, Any]) -> str:
    """Return ``table.csv``: metrics to eight decimals, so that equal runs are equal bytes."""
    table = tabulate(info)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.itertuples(index=False):
        writer.writerow(
            _cell(column, value) for column, value in zip(table.columns, row, strict=True)
        )
    return text.getvalue()


def to_frame_for_people(info: dict[str, Any]) -> pd.DataFrame:
    """Return the table as strings, without columns that say the same in every row.

    Each metric has, within one data set, split and candidates, the decimals that its uncertainty
    allows; see `harness.results.rounding`.
    """
    import pandas as pd

    table, digits = tabulate(info), column_decimals(info)
    places = [tuple(place) for place in table[list(GROUP)].itertuples(index=False)]
    shown: dict[str, Sequence[str]] = {"algorithm": table["algorithm"].tolist()}
    for column in GROUP:
        if table[column].nunique() > 1:
            shown[column] = table[column].tolist()
    for label in info["metrics"]:
        spreads = table.get(f"{label}_sd", [math.nan] * len(table))
        decimals = [digits.get((*place, label), DEFAULT_DECIMALS) for place in places]
        numbers = [
            _with_spread(value, spread, own, max(decimals))
            for value, spread, own in zip(table[label], spreads, decimals, strict=True)
        ]
        letters = table.get(f"{label}_letters")
        if letters is not None:  # padded, so that the numbers stay under each other
            widths = max(map(len, numbers)), max(map(len, letters))
            numbers = [
                f"{number:>{widths[0]}} {marks:<{widths[1]}}"
                for number, marks in zip(numbers, letters, strict=True)
            ]
        shown[label] = numbers
    if "n_trials" in table:
        shown["trials"] = [str(n) if n else "" for n in table["n_trials"]]
        shown["search s"] = [f"{s:.1f}" if s > 0 else "" for s in table["search_seconds"]]
    for column, name in zip(TIMES, ("fit s", "score s", "metric s"), strict=True):
        shown[name] = ["" if math.isnan(v) else f"{v:.2f}" for v in table[column]]
    shown["peak MB"] = ["" if math.isnan(v) else f"{v:.0f}" for v in table["peak_mb"]]
    shown["users"] = [str(n) if n else "" for n in table["n_users"]]
    if any(table["error"]):
        shown["error"] = table["error"].tolist()
    return pd.DataFrame(shown)


def to_markdown(info: dict[str, Any]) -> str:
    """Return ``table.md``: what was run, the table, and the notes under it."""
    frame = to_frame_for_people(info)
    left = {"algorithm", "error", *GROUP}
    lines = [
        f"# {_escaped(info['name'])}",
        "",
        *([_escaped(info["description"]), ""] if info.get("description") else []),
        _escaped(headline(info)),
        "",
        "| " + " | ".join(_escaped(c) for c in frame.columns) + " |",
        "| " + " | ".join("---" if c in left else "---:" for c in frame.columns) + " |",
    ]
    lines += [
        "| " + " | ".join(_escaped(value) for value in row) + " |"
        for row in frame.itertuples(index=False)
    ]
    if info["notes"]:
        lines += ["", *(f"- {_escaped(note)}" for note in info["notes"])]
    return "\n".join(lines) + "\n"


def headline(info: dict[str, Any]) -> str:
    """Return one line: data, split, candidates, seeds."""
    parts = [" and ".join(dict.fromkeys(cell[key] for cell in info["cells"])) for key in GROUP]
    seeds = ", ".join(str(seed) for seed in info["seeds"])
    return f"data: {parts[0]}; split: {parts[1]}; candidates: {parts[2]}; seed: {seeds}"


def _escaped(text: object) -> str:
    """Return text that Markdown shows as it is."""
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
    return str(value)


def _with_spread(value: float, spread: float, decimals: int, widest: int) -> str:
    """Return a number, padded so that decimal points stay under each other, and its spread."""
    missing = widest - decimals + (decimals == 0 < widest)
    padded = [text + " " * missing for each in (value, spread) if (text := rounded(each, decimals))]
    return " ± ".join(padded)


def _errors(cells: Sequence[dict[str, Any]]) -> str:
    """Return why cells of a row failed, each reason once, with the folds where there are several.

    Examples
    --------
    >>> reasons = enumerate(["out of memory", "no", "no"])
    >>> _errors([{"fold": fold, "n_folds": 3, "error": reason} for fold, reason in reasons])
    'fold 1: out of memory; folds 2, 3: no'
    """
    folds: dict[str, list[str]] = {}
    for cell in cells:
        if cell.get("error"):
            folds.setdefault(cell["error"], []).append(str(cell["fold"] + 1))
    told = []
    for error, where in folds.items():
        numbers = list(dict.fromkeys(where))
        word = "fold" if len(numbers) == 1 else "folds"
        several = any(cell["n_folds"] > 1 for cell in cells)
        told.append(f"{word} {', '.join(numbers)}: {error}" if several else error)
    return "; ".join(told)
