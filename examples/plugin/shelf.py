"""A template: one plug-in of each kind, as entry points in pyproject.toml name them."""

from pathlib import Path

import click
import numpy as np
import pandas as pd

import harness


class DampedMean:
    """An algorithm: item means, drawn to the mean of all ratings where there are few."""

    def __init__(self, damping: float = 5.0):
        self.damping = damping

    def fit(self, train):
        counts = np.bincount(train.items, minlength=train.n_items)
        sums = np.bincount(train.items, train.ratings, minlength=train.n_items)
        self.means = (sums + self.damping * train.ratings.mean()) / (counts + self.damping)

    def estimate(self, users, items):
        return np.where(items >= 0, self.means[items], np.nan)  # -1 is an unknown item


@harness.metric("share of the first k items with few training ratings", needs="items")
def small_share(lists, k, *, threshold=0.1):
    few = lists.popularity <= threshold * lists.popularity.max()
    return lists.mean(few[lists.items(k)], k)


class Weekday(harness.Split):
    """Ratings of one day of the week are the test part."""

    day: int = 6

    def divide(self, ratings, rng):
        test = (ratings.timestamps // 86_400 + 3) % 7 == self.day  # 1970 began on a Thursday
        yield ~test, test


def loans():
    """Return a data set: how many stars readers gave books, drawn from a fixed seed."""
    rng, n = np.random.default_rng(7), 500
    shares = np.tile(
        1 / np.arange(1, 31), 40
    )  # of 40 readers, and of 30 books from many loans to few
    pairs = rng.choice(40 * 30, n, replace=False, p=shares / shares.sum())
    times = rng.integers(10**9, 1_010_000_000, n)
    columns = {"user": pairs // 30, "item": pairs % 30, "rating": rng.integers(1, 6, n)}
    return pd.DataFrame(columns | {"timestamp": times})


class Slips:
    """A reader of files of slips, as ``ann,emma,4,86400;bob,dune,5,172800``."""

    endings = (".slips",)
    example = b"ann,emma,4,86400;bob,dune,5,172800"  # what `harness list plugins --check` reads

    def read(self, path, options):
        slips = path.read_text(encoding="utf-8").strip().split(";")
        columns = zip(*(slip.split(",") for slip in slips), strict=True)
        return dict(zip(("user", "item", "rating", "timestamp"), columns, strict=True))


class ListLengths(harness.Analysis):
    """How many items each algorithm lists for a user."""

    def __init__(self):
        self.rows = []

    def add(self, cell, scores):
        self.rows.append([cell.algorithm, float(cell.lists.lengths.mean())])

    def result(self):
        return pd.DataFrame(self.rows, columns=["algorithm", "mean length"])


class RowLog(harness.Tracker):
    """A tracker: a line in a file for each row."""

    def __init__(self, path: str = "rows.log"):
        self.path = path

    def row(self, row):
        with Path(self.path).open("a", encoding="utf-8") as file:
            print(row.run, row.title, row.metrics, file=file)


@click.command()
@click.argument("run")
def row_count(run):
    """Print how many rows the table of a RUN has."""
    click.echo(f"{len(harness.read_run(run).table)} rows")
