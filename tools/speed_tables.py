"""Tables of what the speed benchmarks measured, from `benchmarks/figures/`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

__all__ = ["full", "growth", "large", "summary"]

FIGURES = Path(__file__).parents[1] / "benchmarks" / "figures"
SUMMARY = (
    ("seed_table", "nine algorithms, whole catalogue: one run", ".*warm", "1", "2"),
    ("readme_table", "ten algorithms, 5 folds, RMSE and MAE", ".*", "1", "2"),
    ("fits", "fit: SVD, NMF", "SVD|NMF", "1", "1"),
    ("fits", "fit: SVD++", r"SVD\+\+", "1", "1"),
    ("fits", "fit: SlopeOne, CoClustering", "SlopeOne|CoClustering", "1", "1"),
    ("catalogue", "score the catalogue: the four KNNs", "KNN.*", "1", "2"),
    ("catalogue", "score the catalogue: the other six", "(?!KNN).*", "1", "2"),
    ("metrics", "NDCG at six ranks of 240,000 rows", ".*, 240,000 rows", "as set", "2"),
)
"""File, what the row of the summary says, a pattern of the rows that it is made of, and the
threads that the other side and the harness may use."""


def read(name: str) -> Any:
    """Return what a benchmark wrote."""
    return json.loads((FIGURES / f"{name}.json").read_text(encoding="utf-8"))


def summary() -> str:
    """Return one line for each group of rows, with the least and the greatest of each column."""
    lines = [
        "| work | other side, s | harness, s | times faster | threads: other, harness |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for name, title, pattern, *threads in SUMMARY:
        rows = [row for row in read(name)["rows"] if re.fullmatch(pattern, row["work"])]
        columns = [
            _range([row[key] for row in rows], digits)
            for key, digits in (("theirs", 2), ("ours", 3), ("ratio", 3))
        ]
        lines.append(f"| {title} | " + " | ".join([*columns, ", ".join(threads)]) + " |")
    return "\n".join(lines)


def full(name: str) -> str:
    """Return every row of one benchmark."""
    told = read(name)
    lines = [
        f"| work | {told['against']}, s | harness, s | ratio | at least | |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in told["rows"]:
        bar = "" if row["bar"] is None else f"{row['bar']:g}"
        figures = (_written(row["theirs"], 3), _written(row["ours"], 3), f"{row['ratio']:.1f}")
        lines.append(f"| {row['work']} | {' | '.join(figures)} | {bar} | {row['note']} |")
    return "\n".join(lines)


def growth() -> str:
    """Return the seconds of each fit for each number of ratings, and the exponent."""
    told = read("growth")
    sizes = sorted({size for sides in told["seconds"].values() for size, _ in sides["harness"]})
    lines = [
        "| fit | " + " | ".join(f"{size:g} M" for size in sizes) + " | exponent from 1 M |",
        "| --- |" + " ---: |" * (len(sizes) + 1),
    ]
    for name, sides in told["seconds"].items():
        for side in ("harness", "surprise"):
            seconds = dict(map(tuple, sides[side]))
            cells = [_written(seconds[size], 3) if size in seconds else "" for size in sizes]
            cells.append(f"{told['exponents'][name]:.2f}" if side == "harness" else "")
            lines.append(f"| {name}, {side} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def large() -> str:
    """Return the seconds of each stage at each size."""
    told = read("large")["sizes"]
    stages = [stage for stage in next(iter(told.values())) if stage not in NOT_SECONDS]
    lines = ["| | " + " | ".join(told) + " |", "| --- |" + " ---: |" * len(told)]
    for stage in stages:
        figures = [_written(each[stage], 3) for each in told.values()]
        lines.append(f"| {stage}, s | " + " | ".join(figures) + " |")
    for title, key, scale in NOT_SECONDS.values():
        figures = [f"{each[key] * scale:.3g}" for each in told.values()]
        lines.append(f"| {title} | " + " | ".join(figures) + " |")
    return "\n".join(lines)


NOT_SECONDS = {
    "seconds per rating and epoch": (
        "nanoseconds for a rating and epoch",
        "seconds per rating and epoch",
        1e9,
    ),
    "peak bytes": ("peak memory, GB", "peak bytes", 1e-9),
}


def _range(values: list[float], digits: int) -> str:
    least, most = (_written(each, digits) for each in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def _written(value: float, digits: int) -> str:
    """Return a number with some significant digits, and never fewer than its whole ones."""
    whole = len(str(int(value))) if value >= 1 else 0
    if whole >= digits:
        return f"{value:,.0f}"
    text = f"{value:.{digits}g}"
    return text if "e" not in text else f"{value:f}"
