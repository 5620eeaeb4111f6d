"""What an analysis is: it is handed each finished cell, and ends with a table and notes.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from harness.analyses.builtin import ScoredCell
from harness.metrics import Scores

if TYPE_CHECKING:
    import pandas as pd

    from harness.notes import Note


class Analysis:
    """The base class of what looks at finished cells.

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
    needs_items: ClassVar[int] = 0
    """How many items at the top of each list it has to know by name, for `Lists.items`."""

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Take a finished cell; the cells of a row come after each other, those of a table too.

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
