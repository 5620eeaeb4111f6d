"""How long cells took on this machine, so that a run can say how long it will take.

Nothing but what is shown depends on it: a memory that cannot be read or written is none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Self

from filelock import Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.algorithms import registry
from harness.datasets import cache_folder
from harness.experiment.cell import Outcome
from harness.experiment.events import Expected, Watch
from harness.experiment.plan import Cell
from harness.experiment.workspace import Workspace
from harness.files import hold, write_whole

__all__ = ["Forecast", "Kind", "Pace", "kind_of"]

FILE = "pace.json"
MOST_BYTES = 16_000_000
MOST_KINDS = 3_000
MOST_CHARACTERS = 2_000
"""A kind with a longer name, as of parameters that are whole tables, is not remembered."""
MOST_TIMES = 5
"""The latest of a kind that are kept; their median is what is expected."""


@dataclass(frozen=True)
class Kind:
    """What the duration of a cell depends on.

    Parameters
    ----------
    work : str
        Algorithm, candidates, and whether loops are compiled.
    params : str
        The constructor's arguments without a seed, as JSON.
    n_ratings : int
        Training ratings.
    """

    work: str
    params: str
    n_ratings: int

    @property
    def family(self) -> tuple[str, str]:
        """What it shares with the same work on another fold."""
        return self.work, self.params

    @property
    def name(self) -> str:
        """What it is remembered by."""
        return f"{self.work} {self.n_ratings} {self.params}"


def kind_of(cell: Cell, workspace: Workspace) -> Kind:
    """Return the kind of a cell.

    Parameters
    ----------
    cell : Cell
    workspace : Workspace
    """
    experiment = workspace.experiment
    chosen = experiment.algorithms[cell.algorithm]
    candidates = experiment.candidates[cell.candidates].describe()
    compiled = "compiled" if experiment.accelerate else "plain"
    own = {key: value for key, value in cell.params.items() if key != "random_state"}
    return Kind(
        f"{registry.canonical(chosen.name)} / {candidates} / {compiled}",
        json.dumps(own, sort_keys=True, default=str),
        len(workspace.split(cell).train),
    )


class _Remembered(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    work: str = Field(max_length=MOST_CHARACTERS)
    params: str = Field(max_length=MOST_CHARACTERS)
    n_ratings: int = Field(ge=0, lt=2**53)
    seconds: list[float] = Field(min_length=1, max_length=MOST_TIMES)

    @property
    def usual(self) -> float:
        return median(self.seconds)


class _Memory(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kinds: dict[str, _Remembered] = Field(default={}, max_length=MOST_KINDS)


class Pace:
    """Seconds of the cells that were computed on this machine.

    Parameters
    ----------
    path : Path
        The file that remembers them from run to run.

    Examples
    --------
    >>> pace = Pace(getfixture("tmp_path") / "pace.json")
    >>> pace.learn([(Kind("SVD / rated / compiled", "{}", 1000), 2.0)])
    >>> again = Pace(pace.path)
    >>> again.expect(Kind("SVD / rated / compiled", "{}", 1000))
    2.0
    >>> again.expect(Kind("SVD / rated / compiled", '{"n_epochs": 5}', 2001))   # the nearest
    4.0
    >>> again.expect(Kind("NMF / rated / compiled", "{}", 1000)) is None
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kinds = _read(path)

    @classmethod
    def default(cls) -> Pace:
        """Return the memory that all runs of this user share."""
        return cls(cache_folder() / FILE)

    def expect(self, kind: Kind) -> float | None:
        """Return the seconds that a cell will take; None where nothing like it was ever done.

        The same algorithm decides, with the same parameters if it was ever done with them; of
        several numbers of ratings the nearest, in proportion.
        """
        work = [each for each in self._kinds.values() if each.work == kind.work]
        alike = [each for each in work if each.params == kind.params] or work
        if not alike:
            return None
        sizes = [(1 + kind.n_ratings) / (1 + each.n_ratings) for each in alike]
        nearest = min(abs(math.log(size)) for size in sizes)
        times = [
            each.usual * size
            for each, size in zip(alike, sizes, strict=True)
            if abs(math.log(size)) <= nearest
        ]
        return median(times)

    def learn(self, done: Iterable[tuple[Kind, float]]) -> None:
        """Remember what cells took, together with what other runs wrote meanwhile.

        Parameters
        ----------
        done : iterable of (Kind, float)
            With seconds.
        """
        done = [(kind, seconds) for kind, seconds in done if len(kind.name) < MOST_CHARACTERS]
        if not done:
            return
        # Two runs at once, a full disk, a folder that may not be written: only what is shown of
        # the next run depends on it.
        with suppress(OSError, Timeout), hold(self.path.with_suffix(".lock"), patience=1.0):
            kinds = _read(self.path)
            for kind, seconds in done:
                before = kinds.pop(kind.name, None)
                times = [*(before.seconds if before else []), seconds][-MOST_TIMES:]
                kinds[kind.name] = _Remembered(**asdict(kind), seconds=times)
            self._kinds = dict(list(kinds.items())[-MOST_KINDS:])
            write_whole(self.path, _Memory(kinds=self._kinds).model_dump_json().encode())


class Forecast:
    """Tells what cells will take, and remembers what they took.

    A context manager around their execution.

    Parameters
    ----------
    pace : Pace
    cells : iterable of Cell
    workspace : Workspace
    n_workers : int
    watch : callable
        Told what is expected, and again when the first of a family has shown it.
    """

    def __init__(
        self,
        pace: Pace,
        cells: Iterable[Cell],
        workspace: Workspace,
        n_workers: int,
        watch: Watch,
    ) -> None:
        self.pace = pace
        self.kinds = {cell: kind_of(cell, workspace) for cell in cells}
        self.n_workers = n_workers
        self.watch = watch
        # What another machine takes says nothing of this one.
        self.learns = workspace.experiment.execution.executor == "local"
        self.unknown: dict[tuple[str, str], list[Cell]] = {}
        self.took: list[tuple[Kind, float]] = []

    @property
    def cells(self) -> list[Cell]:
        """The cells, in order."""
        return list(self.kinds)

    def __enter__(self) -> Self:
        expected = {cell.title: self.pace.expect(kind) for cell, kind in self.kinds.items()}
        for cell, kind in self.kinds.items():
            if expected[cell.title] is None:
                self.unknown.setdefault(kind.family, []).append(cell)
        self.watch(Expected(expected, self.n_workers))
        return self

    def note(self, cell: Cell, outcome: Outcome) -> None:
        """Take in how a cell ended."""
        if not self.learns or outcome["status"] != "computed":
            return
        kind, seconds = self.kinds[cell], outcome["seconds"]
        self.took.append((kind, seconds))
        alike = [each.title for each in self.unknown.pop(kind.family, []) if each != cell]
        if alike:
            self.watch(Expected(dict.fromkeys(alike, seconds), self.n_workers))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.pace.learn(self.took)


def _read(path: Path) -> dict[str, _Remembered]:
    """Return what a file remembers, nothing where it is not one of ours."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        kinds = _Memory.model_validate_json(path.read_bytes()).kinds
    except (OSError, ValidationError):
        return {}
    return {
        name: each
        for name, each in kinds.items()
        if all(math.isfinite(seconds) and seconds >= 0 for seconds in each.seconds)
    }
