"""What `harness doctor` looks at, and what of it is a problem."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import takewhile
from pathlib import Path
from typing import Any

import harness
from harness._util.files import cache_folder
from harness._util.installed import changed_files, owners_of_surprise, problem_of_surprise
from harness._util.kernels import NEEDED, address_space_left, n_threads
from harness._util.libraries import psutil
from harness.errors import counted
from harness.plugins.registry import PACKAGE
from harness.results.record import SCHEMA_VERSION

LONGEST = 10
"""Seconds that the probe may take."""
LEAST_DISK = 100_000_000
"""Bytes: a run of a small data set needs less, downloads of the larger ones need more."""
STAGES = {
    "libraries_imported": "importing NumPy, SciPy, pandas and pyarrow",
    "surprise_imported": "importing Surprise",
    "numba_compiles": "compiling a function with Numba",
    "loops_kept": "looking for compiled loops",
    "plain_fit": "fitting SVD in plain Surprise",
    "accelerated_fit": "fitting SVD with compiled loops",
}
"""Steps of the probe, in its order."""


@dataclass
class Examination:
    """What was found; `problems` is empty where nothing has to be done."""

    surprise: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    threads: dict[str, Any] = field(default_factory=dict)
    cache: dict[str, Any] = field(default_factory=dict)
    space: dict[str, Any] = field(default_factory=dict)
    schema: dict[str, Any] = field(default_factory=dict)
    probe: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """Each as *where: what was found; what to do*."""
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON holds it."""
        return {"is_healthy": not self.problems, **vars(self)}

    def rows(self) -> list[tuple[str, str]]:
        """Return what was looked at and what was found, for a table."""
        owners = " and ".join(map(" ".join, self.surprise["owners"].items())) or "no package"
        libraries = [f"{name} {number}" for name, number in self.versions.items() if name[0] != "_"]
        threads, cache, space = self.threads, self.cache, self.space
        size = f"{counted(cache['files'], 'file')}, {cache['bytes'] / 1e6:.1f} MB"
        return [
            ("surprise", f"{owners}, in {self.surprise['path'] or 'no folder'}"),
            ("versions", ", ".join(libraries)),
            ("system", f"{platform.system()} {platform.machine()}"),
            ("threads", f"{threads['used']} of {counted(threads['cores'], 'core')}"),
            ("cache", f"{cache['folder']}: {size}"),
            *self._probed(),
            (
                "memory",
                f"{space['memory_available'] / 1e9:.1f} GB available of "
                f"{space['memory_total'] / 1e9:.1f} GB",
            ),
            ("disk", f"{space['disk_free'] / 1e9:.1f} GB free for the cache"),
            (
                "schema",
                f"run.json {self.schema['run']}; config keys of harness {self.schema['config']}",
            ),
        ]

    def _probed(self) -> list[tuple[str, str]]:
        rows = []
        if done := self.probe.get("numba_compiles"):
            how = "compiles" if done["is_compiled"] else "does not compile"
            rows.append(("Numba", f"{how}: {done['seconds']:.1f} s with its import"))
        if done := self.probe.get("loops_kept"):
            kept = f"{done['folder']}: {counted(done['files'], 'loop')}"
            rows.append(("compiled loops", kept if done["folder"] else "not kept"))
        if plain := self.probe.get("plain_fit"):
            times = f"{plain['ratings']:,} ratings: {plain['seconds']:.2f} s plain"
            if fast := self.probe.get("accelerated_fit"):
                times += (
                    f", {fast['seconds']:.3f} s accelerated (first time "
                    f"{fast['first_seconds']:.2f} s)"
                )
            rows.append(("fit of SVD", times))
        return rows


def examine() -> Examination:
    """Look at everything; a probe takes at most `LONGEST` seconds."""
    found = Examination()
    _look_at_versions(found)
    _look_at_threads(found)
    _look_at_cache(found)
    _look_at_space(found)
    found.schema = {"run": SCHEMA_VERSION, "config": harness.__version__}
    _probe(found)
    _look_at_surprise(found)
    return found


def _look_at_surprise(found: Examination) -> None:
    owners = owners_of_surprise()
    imported = found.probe.get("surprise_imported", {})
    found.surprise = {
        "owners": owners,
        "imported_version": imported.get("version"),
        "path": imported.get("path"),
        "changed_files": changed_files(),
    }
    if problem := problem_of_surprise(owners):
        found.problems.insert(0, f"surprise: {'; '.join(problem)}")


def _look_at_versions(found: Examination) -> None:
    """Compare each package that this one needs with the lowest version that it allows."""
    found.versions = {"Python": platform.python_version(), "harness": harness.__version__}
    for line in requires(PACKAGE) or ():
        named = re.match(r"([\w.-]+)\s*(?:>=\s*([\d.]+))?$", line)
        if named is None:  # of an extra
            continue
        name, lowest = named.groups()
        try:
            found.versions[name] = number = version(name)
        except PackageNotFoundError:
            if name == "scikit-surprise":
                continue  # whose folder is looked at by itself
            found.problems.append(f"{name}: it is not installed; run `pip install {line!r}`")
            continue
        if lowest and _numbers(number) < _numbers(lowest):
            found.problems.append(
                f"{name}: version {number}, and at least {lowest} is needed; run "
                f"`pip install --upgrade {name}`"
            )


def _numbers(text: str) -> list[int]:
    """Return the numbers of a version.

    >>> _numbers("2.10.0rc1") > _numbers("2.9")
    True
    """
    parts = (re.match(r"\d+", part) for part in text.split("."))
    return [int(part[0]) for part in takewhile(bool, parts) if part]


def _look_at_threads(found: Examination) -> None:
    asked = os.environ.get("HARNESS_THREADS")
    found.threads = {"used": n_threads(), "cores": os.cpu_count() or 1, "asked": asked}
    if asked and str(found.threads["used"]) != asked.lstrip("0"):
        found.problems.append(
            f"HARNESS_THREADS: {asked!r} is not a number of threads and has no effect; set a "
            "number from 1, or unset it"
        )


def _look_at_cache(found: Examination) -> None:
    folder = cache_folder()
    sizes = [size for size in map(_size, folder.rglob("*")) if size is not None]
    found.cache = {"folder": str(folder), "files": len(sizes), "bytes": sum(sizes)}
    place = _existing(folder)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        found.problems.append(
            f"{folder}: the cache cannot be written there; fix the permissions, or set "
            "HARNESS_CACHE to another folder"
        )


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:  # removed meanwhile
        return None


def _existing(folder: Path) -> Path:
    """Return a folder, or the nearest one above it that exists."""
    return next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)


def _look_at_space(found: Examination) -> None:
    memory = psutil.virtual_memory()
    free = {
        name: shutil.disk_usage(_existing(place)).free
        for name, place in (
            ("disk_free", cache_folder()),
            ("temporary_free", Path(tempfile.gettempdir())),
        )
    }
    space = address_space_left()
    found.space = {
        "memory_total": memory.total,
        "memory_available": memory.available,
        "address_space": space,
        **free,
    }
    if space is not None and space < NEEDED:
        found.problems.append(
            f"memory: the limit of address space leaves {space / 1e6:.0f} MB, and compiled loops "
            f"need {NEEDED / 1e6:.0f} MB; raise it with `ulimit -v`"
        )
    for name, n_bytes in free.items():
        if n_bytes < LEAST_DISK:
            place = cache_folder() if name == "disk_free" else tempfile.gettempdir()
            found.problems.append(
                f"{place}: {n_bytes / 1e6:.0f} MB are free on this disk; free some space"
            )


def _probe(found: Examination) -> None:
    """Run the probe in a process, and take what it has reached within `LONGEST` seconds."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-m", "harness.extras.doctor.probe"]
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=LONGEST)  # noqa: S603 - fixed words, no shell
        output, errors, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as late:
        output, errors, code = late.stdout or b"", b"", None
    stage = reason = ""
    for line in output.decode(errors="replace").splitlines():
        try:
            entry = json.loads(line)
            stage, state = entry.pop("stage"), entry.pop("state")
        except (ValueError, KeyError, AttributeError):  # what a library prints
            continue
        if state == "done":
            found.probe[stage] = entry
        reason = str(entry.get("reason", ""))
    doing = STAGES.get(stage, "starting Python")
    is_late = code is None and not {*STAGES} <= {*found.probe}  # else only Python had not ended
    if is_late:
        found.notes.append(
            f"{doing} had not ended after {LONGEST} s; the first time on a machine compiles, so "
            "call `harness doctor` again"
        )
    elif code:
        last = [*filter(None, map(str.strip, errors.decode(errors="replace").splitlines()))]
        found.problems.append(
            f"probe: {doing} failed ({reason or (last[-1] if last else f'exit code {code}')}); "
            f"run `pip install --force-reinstall {PACKAGE}` in a fresh environment"
        )
    _look_at_probe(found)


def _look_at_probe(found: Examination) -> None:
    compiled, kept = found.probe.get("numba_compiles"), found.probe.get("loops_kept")
    if compiled and not compiled["is_compiled"]:
        found.problems.append(
            "Numba: it does not compile, so that everything is many times slower; unset "
            "NUMBA_DISABLE_JIT"
        )
    elif kept and kept["folder"] is None:
        found.problems.append(
            "compiled loops: there is no folder to keep them in, so that each process compiles "
            "again; set NUMBA_CACHE_DIR to a folder that can be written"
        )
    fast = found.probe.get("accelerated_fit")
    if fast and not fast["is_equal"]:
        found.problems.append(
            "SVD: the accelerated fit differs from the fit of plain Surprise; use `harness.fit` "
            "and `patch_surprise` only with versions of `dev/constraints.txt`"
        )
