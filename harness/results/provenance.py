"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import harness
from harness.datasets import cache_folder

__all__ = ["commit", "machine", "versions", "without_folders"]

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


def machine() -> dict[str, Any]:
    """Return what of the machine bears on timings; nothing that names it or its user.

    Examples
    --------
    >>> machine()["cores"] >= 1
    True
    """
    import psutil

    return {
        "system": platform.system(),
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
    }


def without_folders(text: str, base: Path | None = None) -> str:
    """Return a message in which folders of this machine are named by what they are for.

    Results are handed on: a note or an error in them tells nobody where somebody works.

    Parameters
    ----------
    text : str
    base : Path, optional
        The folder of the config.

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


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():  # Linux; elsewhere the platform module knows
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
