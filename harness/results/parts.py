"""The Parquet files of a run, and their columns."""

from __future__ import annotations

from typing import Literal

from harness.results.display import ROW

USERS_FILE = "users.parquet"
TRIALS_FILE = "trials.parquet"
LISTS_FILE = "lists.parquet"
ESTIMATES_FILE = "estimates.parquet"
Kind = Literal["word", "count", "number"]  # what a column of a Parquet file holds
CELL: dict[str, Kind] = {**dict.fromkeys(ROW, "word"), "seed": "count", "fold": "count"}
"""Columns that say which cell a row is of."""
TRIAL: dict[str, Kind] = {
    "trial": "count",
    "params": "word",
    "value": "number",
    "seconds": "number",
    "error": "word",
}
OUTPUTS: dict[str, dict[str, Kind]] = {
    LISTS_FILE: {"user": "word", "rank": "count", "item": "word", "estimate": "number"},
    ESTIMATES_FILE: {
        **dict.fromkeys(("user", "item"), "word"),
        **dict.fromkeys(("estimate", "rating"), "number"),
        **dict.fromkeys(("rank", "tie_low", "tie_high", "n_ranked"), "count"),
    },
}
"""Files that a run has where its config asks for them: their columns beside those of the cell."""
