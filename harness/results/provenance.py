"""Where and with what a run was made."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import harness

__all__ = ["commit", "machine", "versions"]

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
