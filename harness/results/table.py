"""The results table: cells averaged over folds and seeds, as numbers and as text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["GROUP", "TIMES", "tabulate", "to_csv", "to_frame_for_people", "to_markdown"]

GROUP = ("dataset", "split", "candidates")
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")


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
        over folds and seeds, and ``<label>_sd``, their standard deviation where there are several;
        ``fit_seconds``, ``score_seconds``, ``metric_seconds``: mean seconds a cell; ``peak_mb``,
        the largest; ``n_users``; ``n_cells``; ``error``, empty when every cell ended well.
    """
    import pandas as pd

    rows = []
    for place, cells in grouped(info).items():
        good = [cell for cell in cells if not cell.get("error")]
        row: dict[str, Any] = {"algorithm": place[-1], **dict(zip(GROUP, place, strict=False))}
        several = any(len(others) > 1 for others in grouped(info).values())
        for label in info["metrics"]:
            values = [_number(cell["scores"][label]["mean"]) for cell in good]
            row[label] = fmean(values) if values else math.nan
            if several:
                row[f"{label}_sd"] = stdev(values) if len(values) > 1 else math.nan
        for column in TIMES:
            row[column] = fmean(cell[column] for cell in good) if good else math.nan
        row["peak_mb"] = max((cell["peak_mb"] for cell in good), default=math.nan)
        row["n_users"] = max((cell["n_users"] for cell in good), default=0)
        row["n_cells"] = len(good)
        errors = [f"{_where(cell)}{cell['error']}" for cell in cells if cell.get("error")]
        row["error"] = "; ".join(dict.fromkeys(errors))
        rows.append(row)
    return pd.DataFrame(rows)


def grouped(info: dict[str, Any]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Return the cells of each row of the table, rows in the order of the config."""
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for cell in info["cells"]:
        rows.setdefault((*(cell[key] for key in GROUP), cell["algorithm"]), []).append(cell)
    return rows


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
    """Return the table as strings, rounded, without columns that say the same in every row."""
    import pandas as pd

    table = tabulate(info)
    shown: dict[str, Sequence[str]] = {"algorithm": table["algorithm"].tolist()}
    for column in GROUP:
        if table[column].nunique() > 1:
            shown[column] = table[column].tolist()
    for label in info["metrics"]:
        spread = table.get(f"{label}_sd")
        shown[label] = [
            _rounded(value, None if spread is None else spread.iloc[row])
            for row, value in enumerate(table[label])
        ]
    for column, name in zip(TIMES, ("fit s", "score s", "metric s"), strict=True):
        shown[name] = ["" if math.isnan(v) else f"{v:.2f}" for v in table[column]]
    shown["peak MB"] = ["" if math.isnan(v) else f"{v:.0f}" for v in table["peak_mb"]]
    shown["users"] = [str(n) for n in table["n_users"]]
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
        if column in TIMES:
            return f"{value:.3f}"
        return f"{value:.0f}" if column == "peak_mb" else f"{value:.8f}"
    return str(value)


def _rounded(value: float, spread: float | None) -> str:
    if math.isnan(value):
        return "undefined"
    if spread is None or math.isnan(spread):
        return f"{value:.4f}"
    return f"{value:.4f} ± {spread:.4f}"


def _where(cell: dict[str, Any]) -> str:
    parts = []
    if cell["n_folds"] > 1:
        parts.append(f"fold {cell['fold'] + 1}")
    return f"{', '.join(parts)}: " if parts else ""
