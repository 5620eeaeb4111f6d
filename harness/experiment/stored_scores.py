"""The scores and comparisons of a run's finished cells on disk: a repeated run reads them back.

They are of the same cells, by their checksums, and of the same config, code and packages; anything
else is scored again. A file has the form of a cell, and lies beside the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from harness.config.experiment import DEFAULT_ANALYSES
from harness.errors import ResultsError
from harness.experiment.evaluate import FAILED, Evaluation
from harness.results.cells import CellResult
from harness.results.environment import is_as_started, packages, versions
from harness.results.fields import Record, Rows, WrittenNote
from harness.results.statistics import (
    BoundResult,
    ConventionScores,
    GroupScores,
    MetricComparison,
    RowResult,
    TieScores,
)
from harness.results.store import key_of

if TYPE_CHECKING:
    from harness.execution.pool import Pool
    from harness.experiment.plan import Cell, Plan

NOT_DECISIVE = {"name", "description", "execution", "results", "trackers"}
"""Keys of a config on which no score depends."""
FIELDS = ("cells", "rows", "notes", "statistics", "not_compared")
"""Of an evaluation, beside the parts that analyses add to a record."""


class Header(Record):
    """What a file says beside the scores of users, and of which cells it is."""

    key: str
    checksums: dict[str, str]
    """By key of a cell, the checksum of its file."""
    cells: Rows[CellResult]
    rows: Rows[RowResult]
    bounds: Rows[BoundResult] = Field(default_factory=list)
    conventions: Rows[ConventionScores] = Field(default_factory=list)
    ties: Rows[TieScores] = Field(default_factory=list)
    groups: Rows[GroupScores] = Field(default_factory=list)
    undistinguished: dict[str, dict[str, list[WrittenNote | None]]] = Field(default_factory=dict)
    notes: Rows[WrittenNote]
    statistics: Rows[MetricComparison]
    not_compared: Rows[WrittenNote]


class StoredScores:
    """The file with the scores and comparisons of the cells of a run.

    There is none where a cell failed, where metrics, analyses or other code of one's own decide,
    and where the run has outputs.
    """

    def __init__(self, plan: Plan, cells: Sequence[Cell], pool: Pool, failed: bool) -> None:
        self.plan, self.cells = plan, cells
        self.store = pool.store
        repeatable = not failed and not pool.of_session and _is_decided(plan)
        self.key = self._key() if repeatable else ""

    def _key(self) -> str:
        experiment = self.plan.experiment
        return key_of(
            {
                "cells": [self.plan.name(cell).model_dump() for cell in self.cells],
                "config": experiment.model_dump(mode="json", exclude=NOT_DECISIVE),
                "splits": [split.model_dump() for split in self.plan.made()],
                "known": [*_known(self.plan)],
                "versions": versions(),
                "packages": packages(),
            }
        )

    def _checksums(self) -> dict[str, str]:
        keys = [self.plan.stored_as.get(cell.key, cell.key) for cell in self.cells]
        return {key: self.store.checksum(key) for key in keys}

    def read(self) -> Evaluation | None:
        """Return what an earlier run found for these cells; None where a file is missing or bad."""
        if not self.key:
            return None
        try:
            content, arrays = self.store.get_scores(self.key)
            header = Header.model_validate_json(content)
            if header.key != self.key or header.checksums != self._checksums():
                return None
        except (OSError, ResultsError, ValueError):  # missing or damaged: it is computed again
            return None
        from harness.experiment.earlier_scores import evaluation_of

        return evaluation_of(header, arrays, self.plan, self.cells)

    def write(self, evaluation: Evaluation) -> None:
        """Keep what was found, or nothing: where a disk is full, or a number is out of its range.

        The run itself is checked and written next, and says what is wrong.
        """
        finished = all(isinstance(cell, CellResult) for cell in evaluation.cells)
        if not self.key or not finished or any(n.code == FAILED for n in evaluation.notes):
            return
        labels = [str(metric) for metric in self.plan.metrics]
        with suppress(OSError, ValueError):
            header = Header(
                key=self.key,
                checksums=self._checksums(),
                **{name: getattr(evaluation, name) for name in FIELDS},
                **evaluation.parts,
            )
            arrays = {
                "scores": evaluation.users[labels].to_numpy(np.float64).T,
                "users": evaluation.codes,
            }
            text = header.model_dump_json(exclude_unset=True).encode()
            self.store.put_scores(self.key, text, arrays)


def _is_decided(plan: Plan) -> bool:
    """Return whether cells, config and the files of this package decide all that is computed."""
    experiment = plan.experiment
    return (
        is_as_started()
        and not experiment.plugins
        and not plan.absent
        and set(plan.analyses) <= {*DEFAULT_ANALYSES, "groups"}
        and all(
            metric.definition.compute.__module__.partition(".")[0] == "harness"
            for metric in plan.metrics
        )
    )


def _known(plan: Plan) -> Iterator[object]:
    """Yield what is known of users and items, which is no part of a fingerprint, if it is used."""
    decisive = (m.needs_genres or m.needs_column or m.needs_sample for m in plan.metrics)
    if plan.experiment.groups or any(decisive):
        for number, (ratings, _) in sorted(plan.read.items()):
            features = ratings.user_features, ratings.item_features
            yield number, [None if frame is None else frame.to_dict("list") for frame in features]
            yield None if ratings.at_random is None else ratings.at_random.tolist()
