"""A run's folder: what it holds, written whole, read back checked."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import ResultsError, suggestion
from harness.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["SCHEMA_VERSION", "Run", "find_runs", "read_run"]

SCHEMA_VERSION = 1
RUN_FILE = "run.json"
USERS_FILE = "users.parquet"
TRIALS_FILE = "trials.parquet"


@dataclass(frozen=True, eq=False)
class Run:
    """One experiment, done.

    Parameters
    ----------
    info : dict
        What ``run.json`` holds: config, data, splits, seeds, versions, machine, cells.
    users : DataFrame
        One row for each cell and test user: ``dataset``, ``split``, ``candidates``,
        ``algorithm``, ``seed``, ``fold``, ``user`` and a column for each metric label, NaN where
        the metric is undefined.
    folder : Path or None
        Where it is on disk.
    trials : DataFrame or None
        One row for each setting that a search tried: where, ``trial``, ``params`` (JSON),
        ``value``, ``seconds``, ``error``; None when nothing was tuned.
    """

    info: dict[str, Any]
    users: pd.DataFrame
    folder: Path | None = None
    trials: pd.DataFrame | None = None

    @property
    def name(self) -> str:
        """Name of the run."""
        return str(self.info["name"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """The results table: a row for each algorithm, data set, split and candidates."""
        from harness.results.table import tabulate

        return tabulate(self.info)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The cells that did not come to an end."""
        return [cell for cell in self.info["cells"] if cell.get("error")]

    def _repr_html_(self) -> str:
        from harness.results.table import to_frame_for_people

        return str(to_frame_for_people(self.info).to_html(index=False, escape=True))

    def write(self, results: Path) -> Run:
        """Write the run to ``results/<name>/``, replacing what was there, whole or not at all.

        Returns
        -------
        Run
            The same, knowing its folder.

        Raises
        ------
        ResultsError
            If the folder cannot be written.
        """
        from harness.results.table import to_csv, to_markdown

        files = {
            "table.csv": to_csv(self.info).encode(),
            "table.md": to_markdown(self.info).encode(),
            USERS_FILE: _parquet(self.users),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = _parquet(self.trials)
        info = self.info | {"files": {name: _digest(data) for name, data in files.items()}}
        files[RUN_FILE] = (json.dumps(info, indent=1, ensure_ascii=False) + "\n").encode()
        folder = results / self.name
        try:
            _replace_folder(folder, files)
        except OSError as error:
            raise ResultsError(
                f"{results}: cannot write the results ({error.strerror}); finished cells are kept: "
                "mend it and run again, or use --results DIR"
            ) from None
        return replace(self, info=info, folder=folder)


def read_run(folder: Path) -> Run:
    """Read a run back, checked against the hashes that were written with it.

    Parameters
    ----------
    folder : Path
        ``results/<name>``.

    Raises
    ------
    ResultsError
        If there is no run, a file is missing or changed, or another version wrote it.
    """
    import pandas as pd

    _restore(folder)
    path = folder / RUN_FILE
    if not path.is_file():
        known = [each.name for each in find_runs(folder.parent)]
        hint = suggestion(folder.name, known) if known else "run a config first"
        raise ResultsError(f"{folder}: no run there; {hint}")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
        version = info["schema_version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ResultsError(f"{path}: not a run's description; run the config again") from None
    if version != SCHEMA_VERSION:
        raise ResultsError(
            f"{path}: written in format {version}, this is format {SCHEMA_VERSION}; "
            "run the config again"
        )
    for name, digest in info["files"].items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ResultsError(f"{folder / name}: missing; run the config again")
        if _digest((folder / name).read_bytes()) != digest:
            raise ResultsError(
                f"{folder / name}: changed since it was written; run the config again"
            )
    trials = pd.read_parquet(folder / TRIALS_FILE) if TRIALS_FILE in info["files"] else None
    return Run(info, pd.read_parquet(folder / USERS_FILE), folder, trials)


def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name."""
    if not results.is_dir():
        return []
    return sorted(path.parent for path in results.glob(f"*/{RUN_FILE}"))


def _parquet(frame: pd.DataFrame) -> bytes:
    data = io.BytesIO()
    frame.to_parquet(data, index=False, compression="zstd")
    return data.getvalue()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def _replace_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Put a new folder in the place of an old one; a kill in between is mended by `_restore`."""
    from filelock import FileLock

    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = folder.with_name(f".{folder.name}.lock")
    with FileLock(lock):
        _restore(folder)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            for name, data in files.items():
                write_whole(fresh / name, data)
            fresh.chmod(0o755)
            if folder.exists():
                folder.replace(_aside(folder))
            fresh.replace(folder)
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            _restore(folder)
            raise
        shutil.rmtree(_aside(folder), ignore_errors=True)
    lock.unlink(missing_ok=True)


def _restore(folder: Path) -> None:
    """Bring back the old folder if a writer died between moving it away and replacing it."""
    aside = _aside(folder)
    if aside.is_dir() and os.access(folder.parent, os.W_OK):
        if folder.exists():
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.replace(folder)
