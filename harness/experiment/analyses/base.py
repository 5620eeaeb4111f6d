"""Analyses: one receives each scored cell, and ends with a table and notes.

::

    class ListLengths(harness.Analysis):
        '''How many items each algorithm lists for a user.'''

        def __init__(self):
            self.rows = []

        def add(self, cell, scores):
            self.rows.append([cell.algorithm, cell.lists.lengths.mean()])

        def result(self):
            return pd.DataFrame(self.rows, columns=["algorithm", "mean length"])
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from harness.metrics import Scores
from harness.metrics.own import Lists
from harness.metrics.ties import as_shown
from harness.results.record import OwnTable

if TYPE_CHECKING:
    import pandas as pd

    from harness.candidates.base import CandidatesSection
    from harness.experiment.execute.progress import Watch
    from harness.experiment.plan import Cell, Plan
    from harness.notes.note import Note
    from harness.results.cells import AnyCell, CellName, RowName, TableName
    from harness.results.store import CellRecord
    from harness.splits import Split


@dataclass(frozen=True, eq=False)
class ScoredCell:
    """A computed cell with its scores, as an analysis receives it.

    Parameters
    ----------
    name : CellName
        Display names and identities: ``algorithm``, ``dataset``, ``seed``, ``fold``, ...
    split : Split
        The training and the test set, with the data.
    candidates : CandidatesSection
        Which items were ranked.
    record : CellRecord
        The evaluated ``users``, as codes of the data; their ``rankings``; their ``pairs`` of
        estimate and rating.
    users : DataFrame
        The scores of each user, in the order of the record.
    """

    name: CellName
    split: Split
    candidates: CandidatesSection
    record: CellRecord
    users: pd.DataFrame

    @property
    def algorithm(self) -> str:
        """The display name of the row."""
        return self.name.algorithm

    @property
    def lists(self) -> Lists:
        """The ranked lists, as a metric of items in your own code receives them."""
        return Lists(as_shown(self.record.rankings))


class Analysis:
    """The base class of analyses of scored cells.

    A subclass is a plug-in of the group ``harness.analyses``, or named as ``mine:Lengths`` under
    `analyses` in a config. It is made once for a run, without arguments.

    Examples
    --------
    >>> class Count(Analysis):
    ...     '''How many cells finished.'''
    ...     n = 0
    ...     def add(self, cell, scores):
    ...         self.n += 1
    >>> counting = Count()
    >>> counting.add(None, {})
    >>> counting.n, counting.result(), counting.notes()
    (1, None, [])
    """

    api: ClassVar[int] = 1
    """The version of the interface that the class is written for."""
    title: ClassVar[str] = ""
    """The heading of its table on the page and on a terminal; its name by default."""
    caption: ClassVar[str] = ""
    """The text beside its table; the first paragraph of the docstring by default."""
    is_decided: ClassVar[bool] = False
    """Whether cells, config and the files of this package decide all that it makes, so that it is
    kept with the scores of a run; only a `BuiltinAnalysis` can declare it."""
    needs_items: ClassVar[int] = 0
    """How many items at the top of each list it has to know by name, for `Lists.items`."""

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take a scored cell; the cells of a row come after each other, and so do those in a table.

        Parameters
        ----------
        cell : ScoredCell
        scores : mapping of str to Scores
            By label; ``per_user`` in the order of ``cell.record.users``.
        """

    def result(self) -> pd.DataFrame | None:
        """Return the analysis' own table, or None."""
        return None

    def notes(self) -> list[Note]:
        """Return what a reader of the run should know."""
        return []

    @classmethod
    def view(cls, name: str, table: pd.DataFrame) -> OwnTable:
        """Return its table as runs keep it and the page shows it: with a title and a caption.

        Parameters
        ----------
        name : str
            As a config names the analysis.
        table : DataFrame
        """
        about = cls.caption or first_paragraph(cls)
        return OwnTable.of(table, title=cls.title or name, caption=about)


def first_paragraph(kind: type) -> str:
    """Return the first paragraph of the docstring of a class itself, on one line."""
    return " ".join(inspect.cleandoc(vars(kind).get("__doc__") or "").partition("\n\n")[0].split())


@dataclass(eq=False)
class BuiltinAnalysis(Analysis):
    """An analysis whose result is a part of the record of a run."""

    makes: ClassVar[Sequence[str]] = ()
    """Keys of the parts of the record that it makes: a run that it is for has each."""

    plan: Plan
    parts: dict[str, Any] = field(default_factory=partial(defaultdict, list), init=False)
    """What it has made, by key; each part begins as an empty list."""
    said: list[Note] = field(default_factory=list, init=False)
    """What was found while the tables ended."""

    def start_table(self, cells: Sequence[Cell]) -> None:
        """Begin a table, of which these are the cells."""

    def end_row(self, name: RowName) -> None:
        """End a row of which a cell finished."""

    def end_table(
        self, name: TableName, cells: Sequence[AnyCell], tables: Sequence[str], watch: Watch
    ) -> None:
        """End a table, of which these are the cells, finished and failed; `tables` are all."""
