"""The lists and the estimates of computed cells, kept in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.experiment.analyses.base import BuiltinAnalysis, ScoredCell
from harness.metrics import Scores
from harness.results.cells import AnyCell, TableName
from harness.results.outputs import OutputFiles

if TYPE_CHECKING:
    from harness.experiment.execute.progress import Watch
    from harness.experiment.plan import Plan


class OutputsKept(BuiltinAnalysis):
    """Writes the lists and estimates that the config's `outputs` ask for."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.files = OutputFiles(plan.experiment.outputs)
        self.parts["outputs"] = self.files

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Write the rows of a cell."""
        self.files.add(cell.name, cell.split, cell.candidates, cell.record)

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """End the files with the last table."""
        if name.table == tables[-1]:
            self.files.close()
