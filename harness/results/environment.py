"""With what a run was made: versions, packages, commit and machine, without names of its user."""

from __future__ import annotations

import csv
import hashlib
import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Self

import harness
from harness._util.files import cache_folder
from harness._util.libraries import psutil
from harness.results.fields import Amount, Count, Record, Text

PACKAGES = ("scikit-surprise", "numpy", "scipy", "numba", "pandas", "pyarrow")


class Machine(Record):
    """Properties of the machine that affect timings."""

    system: Text
    processor: Text
    cores: Count
    memory_gb: Amount

    @classmethod
    @cache
    def here(cls) -> Self:
        """Return the environment of this machine, without names of it or its user."""
        return cls(
            system=platform.system(),
            processor=_processor(),
            cores=os.cpu_count() or 1,
            memory_gb=round(psutil.virtual_memory().total / 1e9, 1),
        )


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and what it computes with."""
    installed = {package: version(package) for package in PACKAGES}
    return {"python": platform.python_version(), "harness": harness.__version__} | installed


@cache
def packages() -> dict[str, str]:
    """Return a hash of the files of this package and of what it computes with, as installed.

    Equal wheels have equal hashes wherever they are installed; what a machine compiled itself has
    its own. A package whose installer kept no list of files is missing.
    """
    lists = {"harness": _files_of_package()}
    for package in PACKAGES:
        record = distribution(package).read_text("RECORD") or ""
        lists[package] = sorted(
            f"{file} {digest.partition('=')[2]}"
            for file, digest, _ in csv.reader(record.splitlines())
            if digest and not file.startswith("..") and ".dist-info" not in file.partition("/")[0]
        )
    return {name: _digest(own) for name, own in lists.items() if own}


@cache
def _files_of_package() -> list[str]:
    top = Path(harness.__file__).parent
    sources = sorted(path.relative_to(top).as_posix() for path in _sources(top))
    return [f"{file} {hashlib.sha256((top / file).read_bytes()).hexdigest()}" for file in sources]


def code_of_package(planned: str = "") -> str:
    """Return what tells the code of this package apart that this process runs.

    It is a hash of the package's files, with the process if one of them changed since it began:
    then what is loaded is of no version of the files. The hash of the process that planned the
    work, `planned`, is kept where the files are the same.
    """
    process, digest = psutil.Process(), _digest(_files_of_package())
    if planned.startswith(digest):
        return planned
    return digest if is_as_started() else f"{digest} {process.pid} {process.create_time()}"


def is_as_started() -> bool:
    """Return whether no file of this package is younger than this process.

    The code that a process has loaded is older than a file that changed since it began.
    """
    begun, now = psutil.Process().create_time(), time.time()
    states = [path.stat() for path in _sources(Path(harness.__file__).parent)]
    # What is dated in the future was written by another clock.
    return not any(begun <= max(state.st_mtime, state.st_ctime) <= now for state in states)


def _sources(top: Path) -> Iterator[Path]:
    """Return the files of this package that decide numbers or texts."""
    return (path for ending in ("py", "toml") for path in top.rglob(f"*.{ending}"))


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def commit() -> str | None:
    """Return the commit of the checkout that the package runs from, None outside of one.

    A trailing ``+`` says that the checkout held changes.
    """
    top = Path(harness.__file__).resolve().parents[1]
    if not (top / ".git").exists():
        return None
    options = ["--porcelain=v2", "--branch", "--untracked-files=no"]
    command = ["git", "-C", str(top), "status", *options, "--", "harness"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)  # noqa: S603 - fixed words, no shell
    except (OSError, subprocess.SubprocessError):
        return None
    head, *others = process.stdout.splitlines()
    oid = head.removeprefix("# branch.oid ")  # in words before the first commit
    return oid + "+" * any(line[:2] != "# " for line in others) if oid.isalnum() else None


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():  # Linux; elsewhere the platform module knows
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def without_folders(text: str, base: Path | None = None) -> str:
    """Return a message with the folders of this machine replaced by their purpose.

    Results are shared, so their notes and errors must not show local folders, including `base`, the
    folder of the config.
    """
    named = {cache_folder(): "(cache)", Path(tempfile.gettempdir()): "(temporary)"}
    with suppress(RuntimeError):  # nobody's home
        named[Path.home()] = "~"
    named |= {base or Path.cwd(): ".", Path.cwd(): "."}
    folders = {str(path.absolute()): name for path, name in named.items()}
    for folder in sorted(folders, key=len, reverse=True):
        if len(Path(folder).parts) > 1:
            text = re.sub(re.escape(folder) + r"(?![\w.-])", folders[folder], text)
    return text
