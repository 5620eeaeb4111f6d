"""Compute a run again from its folder, and compare it with what the folder holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from harness._util.arguments import checked
from harness.config.trackers import UNTRACKED
from harness.errors import ResultsError, counted
from harness.experiment.execute.progress import Watch
from harness.experiment.run import run
from harness.results.cells import CellResult
from harness.results.folder import OTHER_ANALYSES, OTHER_SCORES, differences
from harness.results.reading import read_run
from harness.results.record import RunInfo
from harness.results.runs import Run


@dataclass(frozen=True)
class RowVerification:
    """What came of a row of a run when it was computed again.

    Parameters
    ----------
    row : str
        Its name, and the name of its table where the run has several.
    difference : str
        Empty where every score of every cell is equal to the last digit; else the first that is
        not, with the recorded and the new value.
    """

    row: str
    difference: str


@dataclass(frozen=True)
class Verification:
    """What came of a run when it was computed again.

    Parameters
    ----------
    run : str
        Its name.
    rows : list of RowVerification
        Every row of the run, in its order.
    versions : list of str
        Packages of which another version is installed than the run had, such as ``numpy 1.26.4, now
        2.0.0``.
    changes : list of str
        What else is not as the run recorded it, such as ``other data``.
    """

    run: str
    rows: list[RowVerification]
    versions: list[str]
    changes: list[str]

    @property
    def is_equal(self) -> bool:
        """Whether every row came out again, to the last digit."""
        return not any(row.difference for row in self.rows)

    def sentences(self) -> list[str]:
        """Return the answer, and then what differs."""
        differing = [row for row in self.rows if row.difference]
        if not differing:
            first = f"{self.run}: all {counted(len(self.rows), 'row')} equal to the last digit"
        else:
            n_rows = counted(len(self.rows), "row")
            first = f"{self.run}: {len(differing):,} of {n_rows} came out otherwise"
        return [
            first,
            *(f"{row.row}: {row.difference}" for row in differing),
            *(f"changed: {change}" for change in self.changes),
            *(f"version: {version}" for version in self.versions),
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the answer as plain data that JSON holds."""
        return {"equal": self.is_equal, **asdict(self)}


@checked(ResultsError)
def verify(
    recorded: Run | Path | str,
    *,
    trust: bool = False,
    workers: int | None = None,
    watch: Watch | None = None,
) -> Verification:
    """Compute a run again from its folder, without cached cells, and compare every score.

    Parameters
    ----------
    recorded : Run or path
        A run with a folder.
    trust : bool
        Whether code that the config names may be imported and run.
    workers : int, optional
        Processes at the same time; as the config says by default.
    watch : callable, optional
        Receives what is being done.

    Returns
    -------
    Verification

    Raises
    ------
    ResultsError
        If the run has no folder, or its ratings came from Python.
    ConfigError
        If the config does not run here, as when data are missing or code is not trusted.

    Notes
    -----
    Compared are the means of every metric in every cell, with ``==``; seconds and memory are not
    results.

    Examples
    --------
    >>> import tempfile
    >>> import harness
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = harness.run({
    ...         "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    ...         "algorithms": ["BaselineOnly"], "metrics": ["ndcg@10"]}, results=folder)
    ...     verify(done).is_equal
    True
    """
    opened = recorded if isinstance(recorded, Run) else read_run(recorded)
    if opened.folder is None:
        raise ResultsError(f"{opened.name}: has no folder; write it with `results=` first")
    again = run(
        opened.folder,
        results=None,
        overrides=[UNTRACKED],
        workers=workers,
        fresh=True,
        trust=trust,
        watch=watch,
    )
    then, now = opened.info, again.info
    changes = differences(then.model_dump(mode="json"), now.model_dump(mode="json"))
    return Verification(
        run=then.name,
        rows=[*_rows(then, now)],
        versions=[*_versions(then, now)],
        changes=[change for change in changes if change not in (OTHER_ANALYSES, OTHER_SCORES)],
    )


def _rows(then: RunInfo, now: RunInfo) -> Iterator[RowVerification]:
    """Yield each recorded row with the first score that is not equal now."""
    tables = then.tables
    current = {(*row.names, row.algorithm): now.cells_of_rows[row.row] for row in now.rows}
    for row in then.rows:
        name = f"{row.start(tables)}{row.algorithm}"
        cells = {
            (cell.seed, cell.fold): cell for cell in current.get((*row.names, row.algorithm), [])
        }
        difference = "" if cells else "is not in the table any more"
        for cell in then.cells_of_rows[row.row]:
            if difference or not isinstance(cell, CellResult):
                continue
            where = f"seed {cell.seed}, fold {cell.fold + 1}"
            other = cells.get((cell.seed, cell.fold))
            if other is None:
                difference = f"{where}: is not there any more"
            elif not isinstance(other, CellResult):
                difference = f"{where}: failed ({other.error})"
            else:
                difference = _first(cell, other, where)
        yield RowVerification(name, difference)


def _first(then: CellResult, now: CellResult, where: str) -> str:
    """Return the first score of a cell that is not equal now; empty where all are."""
    for label, score in then.scores.items():
        other = now.scores.get(label)
        if other is None:
            return f"{where}: {label} is not there any more"
        if score.mean != other.mean or score.n_undefined != other.n_undefined:
            return f"{where}: {label} was {score.mean!r}, is {other.mean!r}"
    return ""


def _versions(then: RunInfo, now: RunInfo) -> Iterator[str]:
    for package, version in then.versions.items():
        if (current := now.versions.get(package)) != version:
            yield f"{package} {version}, now {current or 'not installed'}"
