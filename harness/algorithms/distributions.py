"""The installed packages that modules belong to, and what tells their versions apart."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path

METADATA = (".dist-info", ".egg-info", ".pth")
"""Endings of what installers write beside packages."""
INSTALLED = ("site-packages", "dist-packages")
"""Names of the folders of installed packages."""


def is_standard(name: str, file: str | None) -> bool:
    """Return whether a module, by its name and file, is of Python's standard library."""
    if name.partition(".")[0] not in sys.stdlib_module_names:
        return False
    if file is None or not Path(file).is_absolute():  # built in, or frozen
        return True
    path = Path(file).resolve()
    folders = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")}
    folders.add(str(Path(sys.base_prefix) / "DLLs"))  # on Windows
    below = any(path.is_relative_to(Path(folder).resolve()) for folder in folders)
    return below and not is_installed(path)


def is_installed(path: Path) -> bool:
    """Return whether a file is in a folder of installed packages."""
    return any(part in INSTALLED for part in path.parts)


def owners(name: str, file: str) -> tuple[Distribution, ...]:
    """Return the installed packages that a module's file belongs to; none of an editable install.

    A folder of metadata that a build left beside the source does not make it installed.
    """
    top, path = name.partition(".")[0], Path(file)
    depth = len(name.split(".")) - (path.name.partition(".")[0] != "__init__")
    if depth >= len(path.parents):
        return ()
    folder = path.parents[depth]
    if not folder.is_dir():  # as in an archive
        return ()
    claims = _claims(str(folder), folder.stat().st_mtime_ns).get(top, ())
    if len(claims) > 1:  # a namespace package: the one that lists this file
        relative = path.relative_to(folder).as_posix()
        listed = tuple(d for d in claims if relative in (d.read_text("RECORD") or ""))
        claims = listed or claims
    return claims


def are_installed(path: str) -> bool:
    """Return whether a file belongs to a package that is installed, in any folder of the path.

    A file that somebody put beside installed packages does not.

    >>> are_installed(__file__.replace("distributions", "nothing"))
    False
    """
    for entry in sys.path:
        if not entry or not path.startswith(entry.rstrip("/\\") + os.sep):
            continue
        first, _, rest = path[len(entry.rstrip("/\\")) + 1 :].replace(os.sep, "/").partition("/")
        top = first if rest else first.partition(".")[0]
        folder = Path(entry)
        if not folder.is_dir():  # an archive
            continue
        if _claims(entry, folder.stat().st_mtime_ns).get(top):
            return True
        if is_installed(folder) and (first == "__pycache__" or first.endswith(METADATA)):
            return True
    return False


@cache
def _claims(folder: str, changed: int) -> dict[str, tuple[Distribution, ...]]:
    """Return the packages installed in a folder, by the top-level names that they bring.

    Packages are added, upgraded and removed only with a change of the folder.
    """
    claims: dict[str, tuple[Distribution, ...]] = {}
    for installed in distributions(path=[folder]):
        built = installed.read_text("METADATA") is None and not is_installed(Path(folder))
        if built or is_editable(installed):
            continue
        for name in set(_top_level(installed)):
            claims[name] = (*claims.get(name, ()), installed)
    return claims


def _top_level(installed: Distribution) -> Iterator[str]:
    """Yield the names of the modules and packages at the top of an installed package."""
    yield from (installed.read_text("top_level.txt") or "").split()
    for line in _record(installed):
        first, _, rest = line.partition("/")
        yield first if rest else first.partition(".")[0]


def _record(installed: Distribution) -> list[str]:
    return (installed.read_text("RECORD") or "").splitlines()


def is_editable(installed: Distribution) -> bool:
    """Return whether an installed package is used from the folder of its source."""
    folder = _direct(installed).get("dir_info")
    return isinstance(folder, dict) and bool(folder.get("editable"))


def _direct(installed: Distribution) -> dict[str, object]:
    """Return where a package came from that is not from an index."""
    try:
        direct = json.loads(installed.read_text("direct_url.json") or "{}")
    except ValueError:
        return {}
    return direct if isinstance(direct, dict) else {}


def versions(installed: Distribution) -> dict[str, str]:
    """Return the version of an installed package by its normalized name.

    The version of what was installed from a folder or a repository says little, so a digest of its
    Python files is added: who develops a package installs one version many times.
    """
    version = installed.version
    if _direct(installed):
        lines = sorted(line for line in _record(installed) if ".py,sha256" in line)
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        version = f"{version} ({digest[:16]})"
    return {normalized(installed.metadata["Name"]): version}


def required(installed: Distribution) -> dict[str, str]:
    """Return the versions of the packages that an installed package declares to need."""
    needed: dict[str, str] = {}
    for line in installed.requires or ():
        name = re.match(r"[\w.-]+", line)
        if name and not re.search(r"\bextra\s*==", line):
            try:
                needed |= versions(distribution(name[0]))
            except PackageNotFoundError:  # of another system
                continue
    return needed


@cache
def needed(name: str) -> frozenset[str]:
    """Return the normalized names of the packages that one needs, and that those need in turn.

    >>> {"numba", "llvmlite"} <= needed("surprise-harness")
    True
    """
    found: set[str] = set()
    left = [name]
    while left:
        try:
            added = required(distribution(left.pop())).keys() - found
        except PackageNotFoundError:  # only its source is here
            continue
        found |= added
        left += added
    return frozenset(found)


def normalized(name: str) -> str:
    """Return a package's name as package indexes compare it.

    >>> normalized("Scikit_Surprise")
    'scikit-surprise'
    """
    return re.sub(r"[-_.]+", "-", name).lower()
