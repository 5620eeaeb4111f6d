"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import harness
from harness.datasets import cache_folder
from harness.errors import counted
from harness.results.record import AnyCell, CellResult, Machine, RunInfo

__all__ = ["commit", "listed", "machine", "measured", "took", "versions", "without_folders"]

PACKAGES = ("scikit-surprise", "numpy", "scipy", "numba", "pandas", "pyarrow")


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and what it computes with.

    Examples
    --------
    >>> sorted(versions())[:2]
    ['harness', 'numba']
    """
    found = {"python": platform.python_version(), "harness": harness.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found


def machine() -> Machine:
    """Return the properties of the machine that affect timings, without names of it or its user.

    Examples
    --------
    >>> machine().cores >= 1
    True
    """
    import psutil

    return Machine(
        system=platform.system(),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 1e9, 1),
    )


def measured(cells: Iterable[AnyCell]) -> dict[str, int]:
    """Return under which conditions how many cells were measured, the most frequent first."""
    totals: Counter[str] = Counter()
    for cell in cells:
        if isinstance(cell, CellResult):
            its = cell.measured
            totals[
                f"on {its.date}, {its.processor}, {counted(its.cores, 'core')}, "
                f"{counted(its.workers, 'cell')} at a time with {counted(its.threads, 'thread')}"
                f"{'' if its.workers == 1 else ' each'}, harness {its.version}"
            ] += 1
    return dict(totals.most_common())


def listed(conditions: dict[str, int]) -> str:
    """Return conditions in words, each with its number of cells where there are several.

    Examples
    --------
    >>> listed({"on 2026-11-20": 4}), listed({"on 2026-11-20": 3, "on 2026-11-21": 1})
    ('on 2026-11-20', '3 of 4 cells on 2026-11-20; 1 of 4 cells on 2026-11-21')
    """
    if len(conditions) == 1:
        return next(iter(conditions))
    total = sum(conditions.values())
    return "; ".join(f"{n} of {total} cells {text}" for text, n in conditions.items())


def took(infos: Iterable[RunInfo]) -> str:
    """Return how long runs took, and how many cells were found in the cache.

    As ``0.3 s, with 2 of 2 cells found in the cache``.
    """
    infos = list(infos)
    cells = [cell for info in infos for cell in info.cells]
    found = sum(cell.found for cell in cells)
    seconds = f"{sum(info.seconds for info in infos):.1f} s"
    if not found:
        return seconds
    return f"{seconds}, with {found} of {counted(len(cells), 'cell')} found in the cache"


def without_folders(text: str, base: Path | None = None) -> str:
    """Return a message with the folders of this machine replaced by their purpose.

    Results are shared, so their notes and errors must not show local folders, `base`, that of the
    config, among them.

    Examples
    --------
    >>> without_folders(f"{cache_folder()}/cells/ab: no space left on device")
    '(cache)/cells/ab: no space left on device'
    """
    named = {cache_folder(): "(cache)", Path(tempfile.gettempdir()): "(temporary)"}
    with suppress(RuntimeError):  # nobody's home
        named[Path.home()] = "~"
    named |= {} if base is None else {base: "."}
    named[Path.cwd()] = "."
    folders = {str(each.absolute()): name for each, name in named.items()}
    for folder in sorted(folders, key=len, reverse=True):
        if len(Path(folder).parts) > 1:
            text = re.sub(re.escape(folder) + r"(?![\w.-])", folders[folder], text)
    return text


def commit() -> str | None:
    """Return the commit of the checkout that the package runs from, None outside of one.

    A trailing ``+`` says that the checkout held changes.
    """
    top = Path(harness.__file__).resolve().parents[1]
    if not (top / ".git").exists():
        return None
    try:
        head = _git(top, "rev-parse", "HEAD")
        changed = _git(top, "status", "--porcelain", "--untracked-files=no", "--", "harness")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def _git(top: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed words, no shell
        ["git", "-C", str(top), *words],  # noqa: S607
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    return done.stdout.strip()


@cache
def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():  # Linux; elsewhere the platform module knows
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
