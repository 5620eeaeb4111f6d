"""The data set that comes with the package, so that a run needs no network."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np

from harness.datasets.catalogue import Description
from harness.datasets.cleaning import Policy
from harness.datasets.columns import encode
from harness.datasets.ratings import Ratings
from harness.datasets.rows import Rows

__all__ = ["bundled_titles", "read_bundled"]


def read_bundled(what: Description) -> Ratings:
    """Return MovieLens Latest Small of October 2016, with ids as text."""
    table = _read("ratings.parquet")
    rows = Rows(
        encode(table.column("userId"), "user"),
        encode(table.column("movieId"), "item"),
        table.column("rating").to_numpy().astype(np.float64),
        table.column("timestamp").to_numpy().astype(np.int64),
    )
    return Ratings.from_rows(
        rows,
        Policy(scale=what.scale),
        lambda row: f"{what.name}: row {row}",
        name=what.name,
        licence=what.licence,
        citation=what.citation,
    )


def bundled_titles() -> dict[str, str]:
    """Return the title of each item of the bundled data set, by raw id.

    Examples
    --------
    >>> bundled_titles()["1"]
    'Toy Story'
    """
    table = _read("titles.parquet")
    ids, titles = table.column("movieId").to_pylist(), table.column("title").to_pylist()
    return {str(movie): title for movie, title in zip(ids, titles, strict=True)}


def _read(name: str) -> Any:
    import pyarrow.parquet as pq

    with (files("harness.datasets") / "bundled" / name).open("rb") as file:
        return pq.ParquetFile(file).read()  # `read_table` would import much that nothing needs
