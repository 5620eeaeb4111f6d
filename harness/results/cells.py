"""A cell of a run: one fit of an algorithm, with what it scored, or why it failed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import AliasChoices, Discriminator, Field, Tag, model_validator

from harness.errors import counted
from harness.results.fields import (
    Amount,
    Count,
    Digest,
    Measured,
    Number,
    Params,
    Record,
    Rows,
    Share,
    Word,
    WrittenNote,
)
from harness.results.names import RowName

if TYPE_CHECKING:
    from harness.metrics import Scores


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
    """Of the search for its parameters; None without one, and where another cell has it."""
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
    """What is known of a finished cell beside its lists and scores."""

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
    """By label, the value on the training part, where the config asks for it."""


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
    """Of a metric with weights."""

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
    """By metric of lists, the share of users whose score depends on the order of ties; under its
    former name, of those with a tie across the cut-off rank."""
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


def measured(cells: Iterable[AnyCell]) -> list[str]:
    """Return the conditions under which cells were measured, the most frequent first.

    Each with its number of cells where there are several: ``on 2026-11-20, ... (3 of 4 cells)``.
    """
    totals = Counter(str(cell.measured) for cell in cells if isinstance(cell, CellResult))
    if len(totals) == 1:
        return [*totals]
    return [f"{text} ({n} of {totals.total()} cells)" for text, n in totals.most_common()]
