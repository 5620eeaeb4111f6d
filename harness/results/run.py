"""A run and its folder: written completely or not at all, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Container, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.errors import ResultsError, suggestion
from harness.files import beside, hold, leftovers, read_regular, sync_folder, write_whole
from harness.results.record import FailedCell, RunInfo, read_info, to_json
from harness.results.table import (
    ROW,
    bounds_to_csv,
    display_table,
    tabulate,
    tabulate_bounds,
    to_csv,
    to_markdown,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["Run", "check_replaceable", "find_runs", "read_run", "replace_folder", "restore_folder"]

RUN_FILE = "run.json"
USERS_FILE = "users.parquet"
TRIALS_FILE = "trials.parquet"
DERIVED = ("report.html",)
"""Files that are made from a run's files, and are outdated when these are replaced."""
WRITTEN = {RUN_FILE, USERS_FILE, TRIALS_FILE, "table.csv", "bounds.csv", "table.md", *DERIVED}
"""A folder with nothing else is a run's, even if its ``run.json`` is damaged."""
PATIENCE = 60.0

Kind = Literal["word", "count", "number"]
"""What a column of a Parquet file holds."""
CELL: dict[str, Kind] = {**dict.fromkeys(ROW, "word"), "seed": "count", "fold": "count"}
"""Columns that say which cell a row is of."""
TRIAL: dict[str, Kind] = {
    "trial": "count",
    "params": "word",
    "value": "number",
    "seconds": "number",
    "error": "word",
}
SHARE_OF_MEMORY = 0.5
BYTES_PER_VALUE = 16
"""Most bytes of a value while a table is read: itself and its copy for pandas."""


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
        return tabulate(self.info)

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """What the best order and, on average, a random order of the same items would score."""
        return tabulate_bounds(self.info)

    @cached_property
    def users(self) -> pd.DataFrame:
        """One row for each cell and test user."""
        if self._users is not None:
            return self._users
        scores: dict[str, Kind] = dict.fromkeys(self.info.metrics, "number")
        return self._read(USERS_FILE, {**CELL, "user": "word", **scores})

    @cached_property
    def trials(self) -> pd.DataFrame | None:
        """One row for each setting that a search tried, None when nothing was tuned."""
        if self._trials is not None or TRIALS_FILE not in self.info.files:
            return self._trials
        return self._read(TRIALS_FILE, CELL | TRIAL)

    def _read(self, name: str, columns: dict[str, Kind]) -> pd.DataFrame:
        if self.folder is None or name not in self.info.files:
            raise ResultsError(f"{self.name}: has no {name}; run the config again")
        frame = _read_parquet(self.folder / name, self.info.files[name], columns)
        cells = {tuple(cell[key] for key in CELL) for cell in self.info.cells}
        if not cells.issuperset(frame[list(CELL)].drop_duplicates().itertuples(index=False)):
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
        return str(display_table(self.info).frame.to_html(index=False, escape=True))

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
        files = {
            "table.csv": to_csv(self.info).encode("utf-8", "replace"),
            "bounds.csv": bounds_to_csv(self.info).encode("utf-8", "replace"),
            "table.md": to_markdown(self.info).encode("utf-8", "replace"),
            USERS_FILE: self.users.to_parquet(index=False, compression="zstd"),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = self.trials.to_parquet(index=False, compression="zstd")
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
        _check_file(folder / name, digest)
    return Run(info, folder=folder)


def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name."""
    if not results.is_dir():
        return []
    found = (path for path in results.glob(f"*/{RUN_FILE}") if path.is_file())
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))


def _check_file(path: Path, digest: str) -> None:
    """Compare a file with the SHA-256 that was noted when it was written."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
    if found != digest:
        raise ResultsError(f"{path}: changed since it was written; run the config again")


def _read_parquet(path: Path, digest: str, columns: Mapping[str, Kind]) -> pd.DataFrame:
    """Read these columns of a table that may come from anybody."""
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_file(path, digest)
    try:
        with pq.ParquetFile(path) as file:
            needed = BYTES_PER_VALUE * file.metadata.num_rows * len(columns)
            if needed > SHARE_OF_MEMORY * psutil.virtual_memory().available:
                raise ResultsError(f"{path}: would take {needed / 1e9:.0f} GB; free memory first")
            schema = file.schema_arrow
            for name, kind in columns.items():
                if schema.names.count(name) != 1 or not _holds(schema.field(name).type, kind):
                    raise ResultsError(f"{path}: no column {name!r}; run the config again")
            table = file.read(columns=list(columns))
            # What the file says of pandas is not needed, and may be anything.
            frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise ResultsError(f"{path}: not a table ({reason}); run the config again") from None
    for name, kind in columns.items():
        if kind == "number" and frame[name].abs().max() == float("inf"):
            raise ResultsError(f"{path}: an infinite number in {name!r}; run the config again")
    return frame[list(columns)]


def _holds(found: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_null(found):  # nothing in it
        return True
    if types.is_dictionary(found):
        found = found.value_type
    if kind == "word":
        return bool(types.is_string(found) or types.is_large_string(found))
    return bool(types.is_integer(found) if kind == "count" else types.is_floating(found))


def replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Replace the files that an earlier run wrote into a folder, all of them or none.

    Other files in the folder stay there; a folder with files and no run is refused. Writers take
    turns; when one is killed between moving the old folder away and moving the new one in,
    `restore_folder` or the next writer brings the old one back.
    """
    fresh = beside(folder, "new")
    with hold(folder.with_name(".lock"), PATIENCE):
        _restore(folder)
        for unfinished in leftovers(folder, "new"):
            shutil.rmtree(unfinished, ignore_errors=True)
        own = _own_names(folder) | files.keys()
        check_replaceable(folder)
        aside = None
        try:
            for name, data in files.items():
                write_whole(fresh / name, data)
            if folder.exists():
                aside = folder.rename(beside(folder, "old"))
            fresh.rename(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            if aside is not None and not folder.exists():
                aside.rename(folder)
            raise
        if aside is not None:
            _bring_back(folder, aside, own)
        sync_folder(folder.parent)


def check_replaceable(folder: Path) -> None:
    """Refuse an existing path that has files but no run."""
    if not folder.exists() or (folder.is_dir() and not _others(folder, WRITTEN | {"plots"})):
        return
    if "schema_version" not in _description(folder):
        raise ResultsError(
            f"{folder}: has files, and no run that the harness wrote; "
            "give the run another name, or use --results DIR"
        )


def restore_folder(folder: Path) -> None:
    """Restore the folder that a killed writer had moved away."""
    if not leftovers(folder, "old"):
        return
    # A folder that cannot be written has no writer, and stays as it is.
    with suppress(OSError), hold(folder.with_name(".lock"), PATIENCE):
        _restore(folder)


def _restore(folder: Path) -> None:
    for aside in leftovers(folder, "old"):
        if not folder.exists():
            aside.rename(folder)
        else:
            _bring_back(folder, aside, _own_names(aside) | _own_names(folder))


def _bring_back(folder: Path, aside: Path, own: Container[str]) -> None:
    """Move the files that are not a run's from the old folder to the new, and remove the old."""
    for other in _others(aside, own):
        if not (folder / other.name).exists():  # the new run's file has the name now
            other.rename(folder / other.name)
    shutil.rmtree(aside, ignore_errors=True)


def _others(folder: Path, own: Container[str]) -> list[Path]:
    return [each for each in folder.iterdir() if each.name not in own] if folder.is_dir() else []


def _own_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder that a run wrote and that are unchanged."""
    written = _description(folder).get("files", {})
    names = {RUN_FILE, *DERIVED}
    for name, digest in written.items() if isinstance(written, dict) else ():
        with suppress(OSError):
            if hashlib.sha256(read_regular(folder / name)).hexdigest() == digest:
                names.add(name)
    return names


def _description(folder: Path) -> dict[str, object]:
    """Return what a folder's ``run.json`` holds; nothing where it is missing or another format."""
    try:
        found = json.loads(read_regular(folder / RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
