"""Ratings of items that were drawn at random for their users: a small file beside the data."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.arguments import as_array
from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import RATINGS
from harness.datasets.own_files import find_file
from harness.datasets.ratings import Ratings
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.errors import DataError


def add(ratings: Ratings, source: Any, base: Path | None = None) -> Ratings:
    """Return ratings with those at random of a path, or of an array."""
    if isinstance(source, str | os.PathLike):
        where = os.fspath(source)
        # The hint of a decimal comma is for those who can name it.
        table = read_file(find_file(where, base), ReadOptions(decimal="", roles=RATINGS), where)
        refuse_faults(table)
        values = table.numbers["rating"]
    else:
        where = "at_random"
        values = as_array(where, source, np.float64, DataError)
    if values.ndim != 1 or not len(values):
        raise DataError(f"{where}: no list of ratings at random; give one rating at least")
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a rating that is no finite number; leave it out")
    return replace(ratings, at_random=values)
