"""Seconds and memory that another program measured, in a JSON file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import NamedTuple

from harness.errors import ResultsError, counted, joined, reason_of, suggestion

MOST = 1e9
"""Seconds or megabytes beyond which a number is a mistake."""


class Costs(NamedTuple):
    """What fitting and scoring a fold took; NaN where it is not known."""

    fit_seconds: float = math.nan
    score_seconds: float = math.nan
    peak_mb: float = math.nan


def read_costs(path: Path, n_folds: int) -> list[Costs]:
    """Return what a file says of each fold.

    It holds an object with ``fit_seconds``, ``score_seconds`` and ``peak_mb``, each of which may be
    left out, or a list of such objects, one for each fold.

    Raises
    ------
    ResultsError
        If the file cannot be read, has other keys, or not one object for each fold.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not JSON"
        raise ResultsError(f"{path}: {reason}; give a JSON file of seconds and memory") from None
    entries = content if isinstance(content, list) else [content]
    if len(entries) != n_folds:
        raise ResultsError(
            f"{path}: costs of {counted(len(entries), 'fold')}, and there are {n_folds}; give a "
            "list with one object for each"
        )
    return [_costs(f"{path}: [{number}]", entry) for number, entry in enumerate(entries)]


def _costs(where: str, entry: object) -> Costs:
    if not isinstance(entry, dict):
        raise ResultsError(f"{where}: no object; write one with {joined(Costs._fields, 'or')}")
    for key, value in entry.items():
        if key not in Costs._fields:
            raise ResultsError(f"{where}: unknown key {key!r}; {suggestion(key, Costs._fields)}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value <= MOST):
            raise ResultsError(f"{where}.{key}: found {value!r:.40}; write a number, 0 or more")
    return Costs(**{key: float(value) for key, value in entry.items()})
