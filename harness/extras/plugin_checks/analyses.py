"""Whether an analysis keeps what is expected of one, tried in small runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from harness._util.libraries import pd
from harness.experiment.analyses.base import Analysis, BuiltinAnalysis, ScoredCell
from harness.experiment.run import run
from harness.extras.plugin_checks.small_runs import CONFIG
from harness.metrics import Scores
from harness.notes.note import Note
from harness.plugins import registry as plugins
from harness.results.runs import Run

ASKED = {"groups": [{"users": "training_ratings"}], "outputs": {"lists": 3, "estimates": True}}
"""Keys of a config under which analyses of this package take part."""


class Watched(Analysis):
    """The analysis that is tried, with a look at what it is handed before and after."""

    kind: ClassVar[type[Analysis]]
    changed: ClassVar[bool] = False
    table: ClassVar[pd.DataFrame | None] = None
    noted: ClassVar[list[str]] = []

    def __init__(self) -> None:
        self.inner = self.kind()

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Hand a cell to the analysis."""
        before = _digest(cell, scores)
        self.inner.add(cell, scores)
        if _digest(cell, scores) != before:
            type(self).changed = True

    def result(self) -> pd.DataFrame | None:
        """Return its table."""
        type(self).table = self.inner.result()
        return self.table

    def notes(self) -> list[Note]:
        """Return its notes."""
        notes = self.inner.notes()
        type(self).noted = [str(note) for note in notes]
        return notes


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with an analysis in this process, and the bytes of its result."""
    kind = plugins.find("analyses", name).load()
    if not (isinstance(kind, type) and issubclass(kind, Analysis)):
        yield "it is not an analysis; make it a subclass of `harness.Analysis`"
        return
    config: dict[str, Any] = dict(CONFIG)
    if issubclass(kind, BuiltinAnalysis):
        label = name
        config |= {name: ASKED[name]} if name in ASKED else {"analyses": [name]}
    else:
        Watched.kind, Watched.changed, Watched.table = kind, False, None
        Watched.needs_items = kind.needs_items
        label = f"{__name__}:Watched"
        config["analyses"] = label
    results: list[bytes] = []
    for _ in "ab":
        done = run(config, results=None)
        if problem := _failure(done):
            yield problem
            return
        results.append(_result(done, label))
    if Watched.changed or not done.users.equals(run(CONFIG, results=None).users):
        yield "it changes the cells that it is handed; work on a copy"
    table = None if label == name else Watched.table
    if table is not None:
        numbers = table.select_dtypes("number")
        if np.isinf(numbers.to_numpy(float)).any():
            yield "its table has infinite numbers; leave them empty"
        if table.columns.duplicated().any() or not all(isinstance(c, str) for c in table.columns):
            yield "names of its table's columns are not text or are repeated; name each"
    if results[0] != results[1]:
        yield "the same cells give a different result; draw from its own seed"
    yield results[0]


def _failure(done: Run) -> str:
    """Return why the analysis failed in a run, or ''."""
    failed = [note for note in done.info.notes if note.code == "analysis-failed"]
    reasons = [str(note.values["reason"]) for note in failed]
    return f"it failed ({reasons[0].rpartition(' (')[0]}); correct its code" if reasons else ""


def _result(done: Run, name: str) -> bytes:
    """Return the bytes of what an analysis made: its table and notes, or parts of the record."""
    if name.startswith(__name__):
        table = {} if Watched.table is None else Watched.table.to_dict("list")
        return repr((table, Watched.noted)).encode()
    parts = ("bounds", "conventions", "ties", "groups")
    return repr([done.info[part] for part in parts]).encode()


def _digest(cell: ScoredCell, scores: Mapping[str, Scores]) -> str:
    ratings, digest = cell.split.ratings, hashlib.sha256(cell.record.to_bytes(""))
    arrays: list[NDArray[Any]] = [
        cell.split.train,
        cell.split.test,
        ratings.users,
        ratings.items,
        ratings.ratings,
    ]
    arrays += [score.per_user for score in scores.values()]
    for array in arrays:
        digest.update(array.tobytes())
    digest.update(cell.users.to_csv().encode("utf-8", "replace"))
    return digest.hexdigest()
