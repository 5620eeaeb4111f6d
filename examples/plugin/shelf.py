"""A template: one plug-in of each kind, as entry points in pyproject.toml name them."""

import io
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import click
import numpy as np
import pandas as pd
import surprise

import harness
from harness.algorithms.base import Algorithm
from harness.algorithms.sources import Source
from harness.candidates import CandidatesSection
from harness.datasets.openers import Opener
from harness.errors import AlgorithmError
from harness.experiment.execute.pool import Executor
from harness.report.drawing import Plot, label_rows


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
    """Ratings of one day of the week are the test set."""

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


class Recent(CandidatesSection):
    """Candidates: a user's test ratings, and the items that were rated last in training."""

    name = "{0.n} recent items"
    ranked = "Each user's test ratings are ranked among the {0.n} items rated last."

    kind: Literal["recent"] = "recent"
    n: int = 20

    def select(self, split, seed):
        tested = self.tested(split)
        ratings, train = split.ratings, split.train
        latest = np.zeros(ratings.n_items)
        np.maximum.at(latest, ratings.items[train], ratings.timestamps[train])
        recent = np.argsort(-latest, kind="stable")[: self.n]
        rated = (ratings.items[ratings.users == user] for user in tested.users)
        lists = [np.setdiff1d(recent, items) for items in rated]
        return replace(
            tested,
            extra_offsets=np.cumsum([0, *map(len, lists)], dtype=np.int64),
            extra_items=np.concatenate(lists).astype(np.int32),
        )


class Bars(Plot):
    """A plot: one bar for the value of each algorithm."""

    name = "bars"
    title = "Values"
    caption = "The longer the bar, the greater the value."

    def _select(self):
        names = self.table.ranked(self.label)
        return self._frame(((name, self._value(name)[0]) for name in names), "value")

    def _draw(self, axes):
        values = dict(zip(self.data["algorithm"], self.data["value"], strict=True))
        axes.barh(range(len(values)), [*values.values()], color=self._colours())
        label_rows(axes, values)

    def describe(self):
        return f"The values of {len(self.data)} algorithms."


class Desk(surprise.AlgoBase):
    """A model of the source below: the mean of all ratings, and a bonus for what a shop shows."""

    def __init__(self, name="shop/desk", bonus: float = 0.5):
        super().__init__()
        self.name, self.bonus = name, bonus

    def estimate(self, u, i):
        return self.trainset.global_mean + self.bonus * (i == 0)


class DeskEntry(Algorithm):
    """What is known of that model without making it."""

    model_class = Desk
    name = "shop/desk"
    kind = "library"
    summary = "what the shop shows first"


class Shop(Source):
    """A source: models of another library, here `shop/desk`."""

    def prefixes(self):
        return ["shop"]

    def models(self):
        yield {"library": "shop", "model": "desk", "scores": "ratings", "parameters": "bonus"}

    def canonical(self, name):
        if name.casefold() != "shop/desk":
            raise AlgorithmError(f"unknown algorithm {name!r}; shop has desk")
        return "shop/desk"

    def entry(self, name):
        return DeskEntry

    def check(self, name, params):
        for param in params:
            if param != "bonus":
                yield ("params", param), "shop/desk has no such parameter; it has bonus"

    def identity(self, name):
        return "shop/desk 1"


class OneByOne(Executor):
    """An executor: one cell after the other in this process."""

    def __init__(self, pool):
        self.pool = pool

    def compute(self, cells, check, *, recorded=False):
        for cell in cells:
            report = partial(self.pool.report, cell)
            yield cell, self.pool.attempt(cell, report, check=check, plan=self.pool.plan)

    def close(self):
        pass


FILES = {"desk.csv": b"user,item,rating\nann,emma,4\nbob,dune,5\n"}


class Shelf(Opener):
    """An opener: the files above by address, as ``shelf://desk.csv``."""

    example = "shelf://desk.csv"  # what `harness list plugins --check` reads

    def open(self, address):
        return io.BytesIO(FILES[address.removeprefix("shelf://")])
