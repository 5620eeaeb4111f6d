"""What the code of a cell has read: recorded where it ran, and compared before the cell is reused.

A cell with your own code is reused if everything in such a list still is what it was: files and
folders by their contents, variables of the environment, where modules are found, and packages.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from harness._util.files import remembered_digest

ABSENT = "absent"
FOLDER = "folder"
UNREADABLE = "unreadable"
"""What stands for the digest of a path that is not a file."""
BYTECODE = "__pycache__"
"""A folder that Python itself writes; it is not among the names in its parent."""
ALL_VARIABLES = "*"
"""Stands for the names and values of the whole environment."""
UNSTABLE_VARIABLES = {"_", "OLDPWD", "SHLVL", "COLUMNS", "LINES", "PYTEST_CURRENT_TEST"}
"""Variables that a shell or a test runner sets anew for each command."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that a worker process gets from this package."""


class Reads(BaseModel):
    """What a process had read when a cell was finished, as text that can be compared."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    python: str
    """Version of the interpreter."""
    folder: str
    """The working folder, from which relative paths start."""
    files: dict[str, str]
    """By path, a SHA-256 of the contents, or what the path is instead."""
    folders: dict[str, str]
    """By path, a hash of the names in a folder that was listed."""
    environment: dict[str, str]
    """By variable, a hash of its value."""
    modules: dict[str, str]
    """By top-level name, where a module was found."""
    packages: dict[str, str]
    """By name, version and files of an installed package."""
    reasons: list[str] = []
    """Why more may decide the numbers than is listed here."""
    undeclared: list[str] = []
    """Libraries that open files unseen, which `depends` has to declare."""

    @property
    def key(self) -> str:
        """The hash of the list, by which it is stored."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """Return the list as the bytes of a file."""
        return json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":")).encode()

    def unrecorded(self, *, declared: bool) -> list[str]:
        """Return why the list is not complete; what a library opens is, if it is `declared`."""
        return [*self.reasons, *([] if declared else self.undeclared)]

    def holds(self) -> bool:
        """Return whether everything in the list still is what it was."""
        importlib.invalidate_caches()  # of folders in which a module came or went
        return (
            self.python == sys.version
            and self.folder == os.getcwd()  # noqa: PTH109 - compared as text
            and all(variable_digest(k) == v for k, v in self.environment.items())
            and all(content_digest(path) == was for path, was in self.files.items())
            and all(listing_digest(path) == was for path, was in self.folders.items())
            and all(origin_of(name) == was for name, was in self.modules.items())
            and all(_installed_digest(name) == was for name, was in self.packages.items())
        )


def content_digest(path: str) -> str:
    """Return the SHA-256 of a file, or what a path is instead."""
    try:
        return FOLDER if Path(path).is_dir() else remembered_digest(Path(path))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError):
        return UNREADABLE


def listing_digest(path: str) -> str:
    """Return a hash of the names in a folder."""
    try:
        names = sorted(name for name in os.listdir(path) if name != BYTECODE)  # noqa: PTH208
    except OSError:
        return ABSENT
    return _sha256("\0".join(names))


def variable_digest(name: str) -> str:
    """Return a hash of the value of a variable of the environment, which may be a secret."""
    if name != ALL_VARIABLES:
        value = os.environ.get(name)
        return ABSENT if value is None else _sha256(value)
    stable = sorted((k, v) for k, v in os.environ.items() if is_stable(k))
    return _sha256(json.dumps(stable))


def is_stable(name: str) -> bool:
    """Return whether a variable of the environment counts where the whole of it was read."""
    ours = name.startswith("HARNESS_") or name in THREAD_VARIABLES
    return not ours and name not in UNSTABLE_VARIABLES


def origin_of(name: str, finders: Iterable[Any] | None = None) -> str:
    """Return where a top-level module would be imported from now; it is not imported."""
    for finder in sys.meta_path if finders is None else finders:
        find = getattr(finder, "find_spec", None)
        spec = None
        with suppress(Exception):  # of a finder that is not Python's
            spec = find(name, None) if find else None
        if spec is not None:
            return origin_of_spec(spec)
    return ABSENT


def origin_of_spec(spec: Any) -> str:
    """Return the file of a module, or the folders of a namespace package."""
    if spec.origin is not None or spec.submodule_search_locations is None:
        return str(spec.origin)
    return "\0".join(map(str, spec.submodule_search_locations))


def _installed_digest(name: str) -> str:
    try:
        return package_digest(distribution(name))
    except PackageNotFoundError:
        return ABSENT


def package_digest(installed: Any) -> str:
    """Return the version of an installed package, with a hash of the list of its files."""
    lines = (installed.read_text("RECORD") or "").splitlines()
    listed = sorted(line for line in lines if ",sha256=" in line and ".dist-info/" not in line)
    return f"{installed.version} {_sha256(chr(10).join(listed))}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
