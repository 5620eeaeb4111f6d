"""Analyses that are no part of the record: handed copies, they end with a table and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.analyses.base import Analysis
from harness.analyses.builtin import ScoredCell
from harness.errors import PluginError
from harness.lazy import pd
from harness.metrics import Scores
from harness.metrics.arrays import locked
from harness.notes import Note

if TYPE_CHECKING:
    from harness.experiment.evaluate import Evaluation


class OwnAnalysis:
    """An analysis of a run; what it does must not reach another one, or the run."""

    def __init__(self, name: str, kind: object) -> None:
        if not (isinstance(kind, type) and issubclass(kind, Analysis)):
            raise PluginError("it is not a subclass of harness.Analysis")
        self.name, self.analysis = name, kind()

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Hand it a finished cell."""
        unshared = replace(cell, record=locked(cell.record), users=cell.users.copy())
        self.analysis.add(unshared, {label: locked(value) for label, value in scores.items()})

    def end(self, evaluated: Evaluation) -> None:
        """Put its table and its notes into an evaluation."""
        table, notes = self.analysis.result(), self.analysis.notes()
        if table is not None:
            if not isinstance(table, pd.DataFrame):
                raise PluginError(f"`result` returned {type(table).__name__}, no DataFrame")
            evaluated.tables[self.name] = table
        if not all(isinstance(note, Note) for note in notes):
            raise PluginError("`notes` returned something else than a list of Note")
        evaluated.notes += notes
