"""An analysis: it is handed each finished cell, and ends with a table and notes."""

import pandas as pd

import harness


class ListLengths(harness.Analysis):
    """How many items each algorithm lists for a user."""

    def __init__(self) -> None:
        self.rows = []

    def add(self, cell, scores):
        """Take a finished cell."""
        lengths = cell.lists.lengths
        self.rows.append([cell.algorithm, int(lengths.min()), float(lengths.mean())])

    def result(self):
        """Return the table."""
        return pd.DataFrame(self.rows, columns=["algorithm", "shortest", "mean"])

    def notes(self):
        """Return what a reader should know."""
        shortest = min(row[1] for row in self.rows)
        text = f"the shortest list has {shortest:,} items"
        return [harness.Note("shelf:shortest", {"n": shortest}, text=text)]
