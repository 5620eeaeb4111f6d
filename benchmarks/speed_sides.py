"""What the speed benchmarks share: the same ratings for both sides, a clock, a table.

Every benchmark runs plain Surprise and this package in one process group on the same data, prints
one row for each bar and ends with exit code 1 if one is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness import datasets
from harness.algorithms import surprise
from harness.algorithms.models import ColumnTrainset
from harness.datasets import Ratings
from harness.results.environment import machine


@dataclass
class Row:
    """One line of a table: seconds on either side, and the least ratio that is promised."""

    work: str
    theirs: float
    ours: float
    bar: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times faster."""
        return self.theirs / self.ours

    @property
    def missed(self) -> bool:
        """Whether there is a bar, and the ratio is below it."""
        return self.bar is not None and self.ratio < self.bar


@dataclass
class Table:
    """The rows of a benchmark, printed as they come."""

    title: str
    against: str = "Surprise"
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n{self.title}\n")
        print(f"{'':34} {self.against + ' s':>12} {'harness s':>10} {'ratio':>7} {'bar':>5}")

    def add(self, row: Row) -> None:
        """Print a row and keep it."""
        self.rows.append(row)
        bar = "" if row.bar is None else f"{row.bar:g}"
        verdict = " MISSED" if row.missed else ""
        print(
            f"{row.work:34} {row.theirs:12.3f} {row.ours:10.4f} {row.ratio:7.1f} {bar:>5}"
            f"{verdict}  {row.note}".rstrip(),
            flush=True,
        )

    def finish(self, output: Path | None) -> int:
        """Write the rows where asked to, and return the exit code."""
        if output:
            told = {
                "title": self.title,
                "against": self.against,
                "machine": machine(),
                "rows": [asdict(row) | {"ratio": round(row.ratio, 2)} for row in self.rows],
            }
            output.write_text(json.dumps(told, indent=1) + "\n")
        return int(any(row.missed for row in self.rows))


def arguments(description: str | None, **defaults: Any) -> argparse.Namespace:
    """Read the options that all benchmarks have, and numbers of their own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--copy", help="a copy of ml-100k to use in place of a download")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    return parser.parse_args()


def movielens(copy: str | None) -> Ratings:
    """Load MovieLens 100K."""
    return datasets.load({"name": "ml-100k", "path": copy} if copy else "ml-100k")


def columns(ratings: Ratings, rows: Any = slice(None)) -> ColumnTrainset:
    """Build this package's training set of some rows."""
    return ColumnTrainset.from_columns(
        ratings.users[rows],
        ratings.items[rows],
        ratings.ratings[rows],
        user_ids=ratings.user_ids,
        item_ids=ratings.item_ids,
        scale=ratings.scale,
    )


def raw(ratings: Ratings, rows: Any = slice(None)) -> list[tuple[str, str, float, None]]:
    """Return rows as Surprise keeps them before it builds a training set."""
    return list(
        zip(
            ratings.user_ids[ratings.users[rows]].tolist(),
            ratings.item_ids[ratings.items[rows]].tolist(),
            ratings.ratings[rows].tolist(),
            [None] * len(ratings.users[rows]),
            strict=True,
        )
    )


def plain_data(ratings: Ratings) -> Any:
    """Return the ratings as a `surprise.Dataset` whose raw rows stand in the same order."""
    rows = pd.DataFrame(raw(ratings)).iloc[:, :3]
    return surprise.Dataset.load_from_df(rows, surprise.Reader(rating_scale=ratings.scale))


def plain(ratings: Ratings, rows: Any = slice(None)) -> Any:
    """Build Surprise's own training set of some rows."""
    reader = surprise.Reader(rating_scale=ratings.scale)
    return surprise.Dataset(reader).construct_trainset(raw(ratings, rows))


def three_quarters(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows as Surprise's ``train_test_split(test_size=0.25, random_state=42)`` does."""
    order = np.random.RandomState(42).permutation(n)
    n_test = int(np.ceil(0.25 * n))
    return order[: n - n_test], order[n - n_test :]


def seconds(task: Callable[[], Any], repeats: int = 1) -> float:
    """Return the least time of several goes."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        best = min(best, time.perf_counter() - start)
    return best


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep Surprise's prints out of the table."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        yield
