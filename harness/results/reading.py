"""Runs found, and read back from their folders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pydantic_core import from_json

from harness._util.arguments import checked
from harness._util.files import RUN_FILE, report_os_error, restore_folder
from harness.errors import ResultsError, counted, suggestion
from harness.results.fields import AGAIN
from harness.results.folder import check_file, earlier_runs, name_of, own_names, place_of_earlier
from harness.results.record import NO_DIGEST, SCHEMA_VERSION, RunInfo, record_in
from harness.results.runs import Run

RUNS = "runs"
"""The usual folder of runs."""
MOST_BYTES = 64_000_000


@checked(ResultsError)
def read_run(folder: Path | str) -> Run:
    """Read a run back, checked against the hashes that were written with it.

    Parameters
    ----------
    folder : Path or str
        ``results/<name>``, or the ``run.json`` in it.

    Raises
    ------
    ResultsError
        If there is no run, a file is missing or changed, or another version wrote it.
    """
    folder = _folder_of(folder)
    before = _stamp(folder)
    try:
        return _read_run(folder)
    except ResultsError:
        if _stamp(folder) == before:
            raise
        return _read_run(folder)  # it was replaced while it was read


def _folder_of(path: Path | str) -> Path:
    """Return the folder of a run, given itself or its ``run.json``."""
    path = Path(path)
    return path.parent if path.name == RUN_FILE else path


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return what changes when a folder is replaced."""
    with suppress(OSError):
        status = folder.stat()
        return status.st_ino, status.st_mtime_ns
    return None


def _read_run(folder: Path) -> Run:
    restore_folder(folder, own_names, place_of_earlier)
    if not (folder / RUN_FILE).is_file():
        names = [run.name for run in find_runs(folder.parent)]
        hint = suggestion(folder.name, names) if names else "run a config first"
        if ((beside := folder.parent / RUNS / folder.name) / RUN_FILE).is_file():
            hint = f"did you mean {str(beside)!r}?"
        raise ResultsError(f"{folder}: no run there; {hint}")
    info = read_info(folder / RUN_FILE)
    if info.name == name_of(folder) != folder.name:  # an earlier run says everywhere which one
        info = info.model_copy(update={"name": folder.name})
    for name, digest in info.files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ResultsError(f"{folder / name}: missing; {AGAIN}")
        check_file(folder / name, digest)
    return Run(info, folder=folder)


@checked(ResultsError)
def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name, the earlier runs of a name after it."""
    if not results.is_dir():
        return []
    records = (path for path in results.glob(f"*/{RUN_FILE}") if path.is_file())
    folders = [path.parent for path in records if not path.parent.name.startswith(".")]
    current = sorted({folder.with_name(name_of(folder)) for folder in folders})
    return [
        folder
        for latest in current
        for folder in (*[latest] * (latest in folders), *earlier_runs(latest))
    ]


def is_run(path: Path, results: Path) -> bool:
    """Return whether a path or a name is meant to be of a run, not of another program's file."""
    is_file = path.is_file() or (path.suffix and not (results / path).is_dir())
    if path.name == RUN_FILE and is_file:  # a name that other programs, as ranx, use too
        content = record_in((path if path.is_file() else results / path).parent)
        return not content or "schema_version" in content
    return path.is_dir() or not is_file


@checked(ResultsError)
def open_run(name: str | Path, results: Path) -> Run:
    """Return a run by its folder, its ``run.json`` or, within `results`, its name."""
    path = Path(name)
    if path.name == RUN_FILE:
        path = path.parent
    if (path / RUN_FILE).is_file():
        return read_run(path)
    folders = {folder.name: folder for folder in find_runs(results)}
    if str(name) in folders:
        return read_run(folders[str(name)])
    if path.suffix in (".yaml", ".yml"):
        raise ResultsError(f"{name}: a config; give the name or the folder of its run")
    hint = suggestion(name, folders) if folders else "run a config first"
    hint += "" if hint.endswith("?") else ", or give the folder of a run"
    raise ResultsError(f"{name}: no run of this name in {results}/; {hint}")


def read_info(path: Path) -> RunInfo:
    """Return what a ``run.json`` holds; a ResultsError if this version does not write that."""
    with report_os_error(path, "cannot be read", "check its permissions"):
        if path.stat().st_size > MOST_BYTES:
            raise ResultsError(f"{path}: larger than {MOST_BYTES:,} bytes; {AGAIN}")
        data = path.read_bytes()
    try:
        contents = from_json(data)
        written_in = contents["schema_version"]
    except (ValueError, LookupError, TypeError):
        raise ResultsError(f"{path}: not a run's description; {AGAIN}") from None
    if written_in != SCHEMA_VERSION or not isinstance(written_in, int):
        command, config = "run its config again", contents.get("config_file")
        if isinstance(config, str) and re.fullmatch(r"[\w./-]{1,200}", config):
            command = f"harness run {config} --results {path.parent.parent}"
        raise ResultsError(
            f"{path}: written by another version of harness, in a format that this version does "
            f"not read; make it again: {command}"
        )
    digest = contents.pop("sha256", None)
    if digest is not None and not _is_as_written(data, digest):
        raise ResultsError(f"{path}: changed since it was written; {AGAIN}")
    return RunInfo.checked(contents, str(path))


def _is_as_written(data: bytes, digest: object) -> bool:
    if not isinstance(digest, str) or len(digest) != len(NO_DIGEST) or not digest.isascii():
        return False
    blank = data.replace(digest.encode(), NO_DIGEST.encode(), 1)
    return hashlib.sha256(blank).hexdigest() == digest


def took(infos: Iterable[RunInfo]) -> str:
    """Return how long runs took: ``0.3 s, with 2 of 2 cells found in the cache``."""
    infos = list(infos)
    cells = [cell for info in infos for cell in info.cells]
    n_found = sum(cell.found for cell in cells)
    seconds = f"{sum(info.seconds for info in infos):.1f} s"
    if not n_found:
        return seconds
    return f"{seconds}, with {n_found} of {counted(len(cells), 'cell')} found in the cache"
