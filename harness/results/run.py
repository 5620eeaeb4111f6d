"""A run's folder: written completely or not at all, checked when it is read."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ResultsError, suggestion
from harness.results.folders import replace_folder, restore_folder
from harness.results.frames import Kind, check_file, read_frame, to_parquet
from harness.results.record import SCHEMA_VERSION, FailedCell, RunInfo, read_info, to_json
from harness.results.table import ROW

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCHEMA_VERSION", "Run", "find_runs", "read_run"]

RUN_FILE = "run.json"
USERS_FILE = "users.parquet"
TRIALS_FILE = "trials.parquet"
PLACE: dict[str, Kind] = {
    **dict.fromkeys(ROW, "word"),
    **dict.fromkeys(("seed", "fold"), "count"),
}
"""Columns that say which cell a row is of."""
TRIAL: dict[str, Kind] = {
    "trial": "count",
    "params": "word",
    "value": "number",
    "seconds": "number",
    "error": "word",
}


class Run:
    """One experiment, done.

    Parameters
    ----------
    info : RunInfo
        What ``run.json`` holds: config, data, splits, seeds, versions, machine, cells.
    users : DataFrame, optional
        One row for each cell and test user: ``dataset``, ``split``, ``candidates``,
        ``algorithm``, ``table`` and ``row``, their identities, ``seed``, ``fold``, ``user`` and a
        column for each metric label, NaN where the metric is undefined. Read from the
        folder on first use.
    folder : Path, optional
        Where it is on disk.
    trials : DataFrame, optional
        One row for each setting that a search tried: where, ``trial``, ``params`` (JSON),
        ``value``, ``seconds``, ``error``; None when nothing was tuned.
    """

    def __init__(
        self,
        info: RunInfo,
        users: pd.DataFrame | None = None,
        folder: Path | None = None,
        trials: pd.DataFrame | None = None,
    ) -> None:
        self.info = info
        self.folder = folder
        self._users = users
        self._trials = trials

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.info.name

    @cached_property
    def table(self) -> pd.DataFrame:
        """The results table: a row for each algorithm, data set, split and candidates."""
        from harness.results.table import tabulate

        return tabulate(self.info)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """What the best order and, on average, a random order of the same items would score."""
        from harness.results.table import tabulate_bounds

        return tabulate_bounds(self.info)

    @cached_property
    def users(self) -> pd.DataFrame:
        """One row for each cell and test user."""
        if self._users is not None:
            return self._users
        scores: dict[str, Kind] = dict.fromkeys(self.info.metrics, "number")
        return self._read(USERS_FILE, {**PLACE, "user": "word", **scores})

    @cached_property
    def trials(self) -> pd.DataFrame | None:
        """One row for each setting that a search tried, None when nothing was tuned."""
        if self._trials is not None or TRIALS_FILE not in self.info.files:
            return self._trials
        return self._read(TRIALS_FILE, PLACE | TRIAL)

    def _read(self, name: str, columns: dict[str, Kind]) -> pd.DataFrame:
        if self.folder is None or name not in self.info.files:
            raise ResultsError(f"{self.name}: has no {name}; run the config again")
        frame = read_frame(self.folder / name, self.info.files[name], columns)
        cells = {tuple(cell[key] for key in PLACE) for cell in self.info.cells}
        if not cells.issuperset(frame[list(PLACE)].drop_duplicates().itertuples(index=False)):
            raise ResultsError(
                f"{self.folder / name}: has rows of cells that {RUN_FILE} does not have; "
                "run the config again"
            )
        return frame

    @property
    def failed(self) -> list[FailedCell]:
        """The cells that did not come to an end."""
        return self.info.failed

    def _repr_html_(self) -> str:
        from harness.results.table import to_frame_for_people

        return str(to_frame_for_people(self.info).to_html(index=False, escape=True))

    def write(self, results: Path) -> Run:
        """Write the run to ``results/<name>/``, replacing an older one, completely or not at all.

        Returns
        -------
        Run
            The same, knowing its folder.

        Raises
        ------
        ResultsError
            If the folder cannot be written.
        """
        from harness.results.table import bounds_to_csv, to_csv, to_markdown

        files = {
            "table.csv": to_csv(self.info).encode("utf-8", "replace"),
            "bounds.csv": bounds_to_csv(self.info).encode("utf-8", "replace"),
            "table.md": to_markdown(self.info).encode("utf-8", "replace"),
            USERS_FILE: to_parquet(self.users),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = to_parquet(self.trials)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        info = self.info.model_copy(update={"files": digests})
        files[RUN_FILE] = to_json(info)
        folder = results / self.name
        try:
            replace_folder(folder, files)
        except OSError as error:
            raise ResultsError(
                f"{results}: cannot write the results ({(error.strerror or str(error)).lower()}); "
                "finished cells are kept: fix it and run again, or use --results DIR"
            ) from None
        return Run(info, self.users, folder, self.trials)


def read_run(folder: Path | str) -> Run:
    """Read a run back, checked against the hashes that were written with it.

    Parameters
    ----------
    folder : Path or str
        ``results/<name>``.

    Raises
    ------
    ResultsError
        If there is no run, a file is missing or changed, or another version wrote it.
    """
    folder = Path(folder)
    before = _stamp(folder)
    try:
        return _read_run(folder)
    except ResultsError:
        if _stamp(folder) == before:
            raise
        return _read_run(folder)  # it was replaced while it was read


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return what changes when a folder is replaced."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read_run(folder: Path) -> Run:
    restore_folder(folder)
    path = folder / RUN_FILE
    if not path.is_file():
        known = [each.name for each in find_runs(folder.parent)]
        hint = suggestion(folder.name, known) if known else "run a config first"
        raise ResultsError(f"{folder}: no run there; {hint}")
    info = read_info(path)
    for name, digest in info.files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ResultsError(f"{folder / name}: missing; run the config again")
        check_file(folder / name, digest)
    return Run(info, folder=folder)


def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name."""
    if not results.is_dir():
        return []
    found = (path for path in results.glob(f"*/{RUN_FILE}") if path.is_file())
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))
