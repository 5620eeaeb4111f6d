"""What data and splits are like: ``harness describe`` prints it, the record of a run keeps it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from html import escape
from typing import Annotated, Literal

from pydantic import Field

from harness.errors import counted
from harness.results.fields import (
    Amount,
    Count,
    Number,
    Record,
    Rows,
    Share,
    Text,
    Word,
    WrittenNote,
)

Quantile = Literal["least", "10%", "25%", "median", "75%", "90%", "most"]
QUANTILES: dict[Quantile, float] = {
    "least": 0.0,
    "10%": 0.1,
    "25%": 0.25,
    "median": 0.5,
    "75%": 0.75,
    "90%": 0.9,
    "most": 1.0,
}
WIDTH = 80
"""Columns of a description as text."""
MOST_VALUES = 20
"""Distinct ratings in a histogram; of more, it has intervals."""


Quantiles = Annotated[dict[Quantile, Amount], Field(min_length=len(QUANTILES))]


class SplitDescription(Record):
    """What one kind of split does with the data, by its first fold.

    Attributes
    ----------
    name : str
    n_folds, n_train, n_test, n_users : int
        Folds; ratings in training and test, and users in test, of the first.
    unknown_users, unknown_items : float
        Proportion of the test users, and of the test ratings' items, without a training rating.
    per_user : dict of str to float
        Quantiles of the test ratings a user.
    short : dict of str to float
        By cut-off rank k, the proportion of test users with at most k test ratings.
    equal : float
        Proportion of test users whose test ratings are all the same.
    backwards : bool
        Whether every training rating is later than every test rating.
    notes : list of Note
        As a run notes them.
    """

    name: Word
    n_folds: Count
    n_train: Count
    n_test: Count
    n_users: Count
    unknown_users: Share
    unknown_items: Share
    per_user: Quantiles
    short: dict[Word, Share]
    equal: Share
    backwards: bool
    notes: Rows[WrittenNote]


class DataDescription(Record):
    """What `describe` finds.

    Attributes
    ----------
    name : str
    n_users, n_items, n_ratings : int
    density : float
        Ratings over pairs of user and item, in [0, 1].
    scale : list of float
        Its two ends.
    histogram : dict of str to int
        How often each rating is given; intervals where there are more than 20.
    per_user, per_item : dict of str to float
        Quantiles of the ratings a user and an item.
    gini_users, gini_items : float
        Gini coefficient of the ratings a user and an item: 0 if all have as many, near 1 if few
        have nearly all.
    singles_users, singles_items : int
        Users and items with a single rating.
    mean, median : float
        Of the ratings.
    distinct_per_user : float
        Distinct ratings that the median user gives: few make ties in the ideal order.
    constant_users : float
        Proportion of users with several ratings who always give the same.
    span : list of str
        First and last day with a rating; empty without timestamps.
    notes : list of Note
        What was done to the rows while they were read, and by filters.
    splits : list of SplitDescription
        One for each split of a config.
    warnings : list of str
        What the data or a split cannot answer.
    """

    name: Word
    n_users: Count
    n_items: Count
    n_ratings: Annotated[Count, Field(ge=1)]
    density: Share
    scale: Annotated[list[Number], Field(min_length=2, max_length=2)]
    histogram: Annotated[dict[Word, Count], Field(min_length=1, max_length=MOST_VALUES)]
    per_user: Quantiles
    per_item: Quantiles
    gini_users: Share
    gini_items: Share
    singles_users: Count
    singles_items: Count
    mean: Number
    median: Number
    distinct_per_user: Amount
    constant_users: Share
    span: Annotated[list[Word], Field(max_length=2)]
    notes: Rows[WrittenNote]
    splits: Rows[SplitDescription]
    warnings: Rows[Text]

    def facts(self) -> dict[str, str]:
        """Return counts, scale, time and ties in words, by their titles."""
        users, items = counted(self.n_users, "user"), counted(self.n_items, "item")
        (low, high), distinct = self.scale, self.distinct_per_user
        values = "1 rating" if distinct == 1 else f"{distinct:g} distinct ratings"
        return {
            "ratings": f"{self.n_ratings:,} by {users} of {items}",
            "density": f"{self.density:.3%}",
            "scale": f"{low:.10g} to {high:.10g}; mean {self.mean:.2f}, median {self.median:.10g}",
            "time": " to ".join(self.span) or "no timestamps",
            "ties": f"the median user gives {values}",
        }

    def to_json(self) -> str:
        """Return everything as JSON."""
        return json.dumps(self.model_dump(), indent=1)

    def text(self, width: int = WIDTH) -> str:
        """Return everything as text, its tables and bars no wider than a width, if they can be."""
        return "\n".join(lines(self, max(1, width)))

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__  # what a session shows; all numbers are in `to_json`

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.text())}</pre>"


class Descriptions(list[DataDescription]):
    """Descriptions of several data sets, which a session or a notebook shows as text."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_html_(self) -> str:
        return "\n".join(each._repr_html_() for each in self)


def lines(description: DataDescription, width: int) -> Iterator[str]:
    """Yield the lines of a description; notes are not broken."""
    yield f"{description.name}"
    yield ""
    for name, fact in description.facts().items():
        indent = " " * 12
        yield from textwrap.wrap(f"{name:<12}{fact}", width, subsequent_indent=indent)
    yield ""
    rows = [
        [
            f"{'ratings':<12}",
            *(f"{name:>7}" for name in (*description.per_user, "Gini")),
            "   single",
        ]
    ]
    for name, counts, gini, singles in (
        ("per user", description.per_user, description.gini_users, description.singles_users),
        ("per item", description.per_item, description.gini_items, description.singles_items),
    ):
        shown = (f"{value:>7,.0f}" for value in counts.values())
        rows.append([f"{name:<12}", *shown, f"{gini:>7.2f}", f"{singles:>9,}"])
    if width < len("".join(rows[0])):  # too narrow: a line for each quantile
        turned = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
        rows = [[f"{name:<8}", *(f"{number:>11}" for number in own)] for name, *own in turned]
    yield from map("".join, rows)
    yield ""
    most, longest = max(description.histogram.values()), max(map(len, description.histogram))
    for name, n in description.histogram.items():
        line = f"{name:>{longest}}  {n:>11,}  {n / description.n_ratings:>6.1%}  "
        yield (line + "#" * round(min(40, width - longest - 23) * n / most)).rstrip()
    for split in description.splits:
        yield ""
        folds = f"first of {split.n_folds} folds: " if split.n_folds > 1 else ""
        yield f"{split.name}"
        yield f"  {folds}{split.n_train:,} training and {counted(split.n_test, 'test rating')}"
        yield (
            f"  {counted(split.n_users, 'test user')}, {split.unknown_users:.1%} of them unknown; "
            f"items unknown in {split.unknown_items:.1%} of the test"
        )
        short = ", ".join(f"{share:.0%} at most {k}" for k, share in split.short.items())
        yield f"  test ratings a user: median {split.per_user['median']:g}; {short}"
    if description.notes or description.warnings:
        yield ""
    yield from (f"note: {note}" for note in description.notes)
    yield from (f"warning: {warning}" for warning in description.warnings)
