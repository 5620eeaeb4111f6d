"""What a table, a row and a cell are called, and what a cell scored, or why it failed.

A cell is one fit of an algorithm.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Annotated, ClassVar, Self, TypeVar

from pydantic import AliasChoices, Discriminator, Field, Tag, model_validator

from harness.errors import counted
from harness.results.fields import (
    Amount,
    Count,
    Digest,
    Identity,
    Measured,
    Number,
    Params,
    Record,
    Rows,
    Share,
    Word,
    WrittenNote,
)

if TYPE_CHECKING:
    from harness.metrics import Scores


Key = TypeVar("Key")
Value = TypeVar("Value")


class TableName(Record):
    """Display names and identity of a table."""

    dataset: Word
    split: Word
    candidates: Word
    table: Identity

    @property
    def names(self) -> tuple[str, str, str]:
        """Data set, split and candidates."""
        return self.dataset, self.split, self.candidates

    def place(self, tables: Sized) -> str:
        """Return what this one of some tables is called; '' where there is no other."""
        return ", ".join(self.names) if len(tables) > 1 else ""

    def start(self, tables: Sized) -> str:
        """Return how a message about this one of some tables begins; of a single one, with ''."""
        return f"{place}: " if (place := self.place(tables)) else ""


class RowKey(Record):
    """Identity and display name of a row within its table."""

    row: Identity
    algorithm: Word


class RowName(RowKey, TableName):
    """Display names and identities of a row: an algorithm in a table."""


LONGEST_VALUE = 40
"""Characters of a setting that distinguishes two names."""


def distinct_names(names: Sequence[str], settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return names of which no two are equal, marked by the settings in which they differ.

    `settings` holds what each name stands for, without defaults; mappings may be nested. A ``path``
    replaces the name by an end of the path, as long as it must be to distinguish them.
    """
    shown = list(names)
    if len({*shown}) == len(shown):
        return shown
    for group in _equal(shown):
        paths = [str(settings[i].get("path", "")).replace("\\", "/").split("/") for i in group]
        n_paths = len({*map(tuple, paths)})
        if n_paths > 1:
            lengths = range(1, max(map(len, paths)) + 1)
            ends = ([path[-n:] for path in paths] for n in lengths)
            distinct = next(end for end in ends if len({*map(tuple, end)}) == n_paths)
            for i, end in zip(group, distinct, strict=True):
                shown[i] = "/".join(end) or shown[i]
    for group in _equal(shown):
        flat = {i: {k: value[:LONGEST_VALUE] for k, value in flattened(settings[i])} for i in group}
        keys = dict.fromkeys(key for values in flat.values() for key in values if key != "path")
        differing = [key for key in keys if len({values.get(key) for values in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{k.rpartition('.')[2]} {values[k]}" for k in differing if k in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    unique: list[str] = []
    for name in shown:
        number, free = 1, name
        while free in unique or (number > 1 and free in shown):
            number += 1
            free = f"{name} ({number})"
        unique.append(free)
    return unique


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the second parts of pairs by the first."""
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    positions = grouped((name, position) for position, name in enumerate(names))
    return [group for group in positions.values() if len(group) > 1]


def flattened(settings: Mapping[str, object], start: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names of nested settings, and their values as text."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{start}{key}.")
        elif value is not None:
            yield f"{start}{key}", str(value).lower() if isinstance(value, bool) else str(value)


OUTSIDE = "not a model of the run: its estimates or lists were read from files"
"""How a row of another program was fitted."""


class CellName(RowName):
    """A cell: one fit of an algorithm, on one fold under one seed."""

    seed: Count
    fold: Count
    n_folds: Count
    key: Digest
    split_fingerprint: Word
    params: Params
    found: bool = False
    """Whether it was in the cache before the run."""
    n_trials: Count | None = None
    """Trials of the search for its parameters; None without one, and where another cell has it."""
    search_seconds: Amount | None = None

    @model_validator(mode="after")
    def _search_is_whole(self) -> Self:
        if (self.n_trials is None) != (self.search_seconds is None):
            raise ValueError("n_trials without search_seconds, or the other way round")
        return self


class Conditions(Record):
    """What the seconds of a cell depend on, and when they were measured."""

    processor: str
    cores: Count
    workers: Count
    threads: Count
    version: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]

    def __str__(self) -> str:
        apiece = "" if self.workers == 1 else " each"
        return (
            f"on {self.date}, {self.processor}, {counted(self.cores, 'core')}, "
            f"{counted(self.workers, 'cell')} at a time with "
            f"{counted(self.threads, 'thread')}{apiece}, harness {self.version}"
        )


class CellFacts(Record):
    """Facts about a computed cell beside its lists and scores."""

    fit_seconds: Measured
    score_seconds: Measured
    peak_mb: Measured  # what the cell added to the memory of its process, at the most
    measured: Conditions
    fit_path: str
    scoring_path: str
    n_impossible: Count
    n_test: Count
    n_unknown_users: Count = 0  # evaluated users without a training rating
    n_dropped_users: Count = 0  # test users who are not evaluated, as they have no training rating
    notes: Rows[WrittenNote]
    judged: dict[str, Annotated[float, Field(allow_inf_nan=False)] | None] = {}
    """By label, what a trial scored; None where no user has a score."""
    training: dict[str, Annotated[float, Field(allow_inf_nan=False)] | None] = {}
    """By label, the value on the training set, where the config asks for it."""


class WorthOfWeights(Record):
    """What the weights of a metric are worth, see `harness.metrics.weights.Worth`."""

    n: Count
    effective: Amount
    greatest: Amount
    clipped: Share


class Score(Record):
    """The mean of a metric in a cell, and of how many users it is undefined."""

    mean: Number | None
    n_undefined: Count
    worth: WorthOfWeights | None = None
    """The effective sample size of a metric with weights."""

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """Return what is recorded of the scores of a cell."""
        mean = None if math.isnan(scores.mean) else float(scores.mean)
        score = cls(mean=mean, n_undefined=int(scores.n_undefined))
        if scores.worth is not None:
            score.worth = WorthOfWeights(**vars(scores.worth))
        return score


class CellResult(CellFacts, CellName):
    """A finished cell."""

    error: ClassVar[None] = None
    metric_seconds: Amount
    n_users: Count
    scores: dict[str, Score]
    tied: dict[str, Share] = Field(validation_alias=AliasChoices("tied", "tied_at_cut"))
    """By metric of lists, the proportion of users whose score depends on the order of ties; under
    its former name, of those with a tie across the cut-off rank."""
    metric_errors: dict[str, Word] = {}
    """By metric that failed, why; only where some did."""


class FailedCell(CellName):
    """A cell that did not come to an end."""

    error: Word


def _kind(cell: object) -> str:
    failed = "error" in cell if isinstance(cell, dict) else isinstance(cell, FailedCell)
    return "failed" if failed else "finished"


AnyCell = Annotated[
    Annotated[FailedCell, Tag("failed")] | Annotated[CellResult, Tag("finished")],
    Discriminator(_kind),
]


def failed_metrics(cells: Iterable[AnyCell]) -> dict[tuple[str, str], str]:
    """Return by row and label why a metric failed in a cell of the row."""
    return {
        (cell.row, label): reason
        for cell in cells
        if isinstance(cell, CellResult)
        for label, reason in cell.metric_errors.items()
    }


def why_without(cells: Iterable[AnyCell], label: str) -> str:
    """Return ``: `` and the first reason for which a metric failed; empty where it did not fail."""
    reasons = (reason for (_, failed), reason in failed_metrics(cells).items() if failed == label)
    reason = next(reasons, "")
    return f": {reason}" if reason else ""


def measured(cells: Iterable[AnyCell]) -> list[str]:
    """Return the conditions under which cells were measured, the most frequent first.

    Each with its number of cells where there are several: ``on 2026-11-20, ... (3 of 4 cells)``.
    """
    totals = Counter(str(cell.measured) for cell in cells if isinstance(cell, CellResult))
    if len(totals) == 1:
        return [*totals]
    return [f"{text} ({n} of {totals.total()} cells)" for text, n in totals.most_common()]
