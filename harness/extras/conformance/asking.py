"""Asks an implementation for the value of each case, in a separate process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field

from harness._util.files import cache_folder, hold
from harness.errors import HarnessError
from harness.extras.conformance.profile import FOLDER, Got
from harness.schema.sections import Section

ADAPTERS = FOLDER / "adapters"
MARK = "ready.json"
BY_CALLER = {
    "ranking": ("order", "scores", "ties"),
    "sets": ("order", "scores", "ties", "negative", "grades"),
}
PATIENCE = 900
"""Seconds after which an implementation is stopped."""


class TestedLibrary(Section):
    """A library of ``libraries.toml``."""

    distribution: str
    requirements: list[str]
    adapter: str
    call: str
    takes: str
    note: str = ""
    documentation: list[dict[str, Any]]
    reproductions: list[dict[str, str]] = Field(default_factory=list)

    @property
    def of_caller(self) -> tuple[str, ...]:
        """The questions that its caller decides."""
        return BY_CALLER.get(self.takes, ())

    @property
    def source(self) -> str:
        """The code of the adapter."""
        return (ADAPTERS / f"{self.adapter.partition(':')[0]}.py").read_text(encoding="utf-8")


@cache
def libraries() -> dict[str, TestedLibrary]:
    """Return the libraries that the suite can ask, by name."""
    text = (FOLDER / "libraries.toml").read_text(encoding="utf-8")
    return {name: TestedLibrary.model_validate(each) for name, each in tomllib.loads(text).items()}


def ask(target: str, python: str = sys.executable, folder: Path | None = None) -> dict[str, Got]:
    """Return what an adapter returns for each case, by its name.

    Parameters
    ----------
    target : str
        ``module:name`` or ``file.py:name`` of a function or class, see ``runner.py``.
    python : str
        The interpreter that runs it.
    folder : Path, optional
        Where the module is; by default the folder of the file, or the current one.

    Raises
    ------
    HarnessError
        If the module cannot be imported, or does not end.
    """
    module, _, name = target.rpartition(":")
    if module.endswith(".py"):
        folder, module = Path(module).resolve().parent, Path(module).stem
        if not (folder / f"{module}.py").is_file():
            raise HarnessError("no such file; name one that is there")
    with tempfile.TemporaryDirectory(prefix="harness-") as kept:
        written = Path(kept) / "returned.json"
        asked = [f"{module}:{name}", "--json", str(written)]
        command = [python, "-W", "ignore", str(FOLDER / "runner.py"), *asked]
        try:
            done = subprocess.run(  # noqa: S603 - ours, or the user's own
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"no end after {PATIENCE} seconds; lists have 24 items at most"
            ) from None
        if not written.is_file():
            said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            reason = (said or ["it ended"])[-1][:300]
            raise HarnessError(
                f"cannot be asked ({reason}); name a function, or a class without arguments, in "
                "the form file.py:name, or module:name for an installed module"
            )
        found: dict[str, Any] = json.loads(written.read_text(encoding="utf-8"))
        return found


def interpreter(name: str) -> str:
    """Return an interpreter that has a library: this one, or one of an environment in the cache."""
    library = libraries()[name]
    try:
        metadata.version(library.distribution)
        return sys.executable
    except metadata.PackageNotFoundError:
        pass
    folder = cache_folder() / "conformance" / library.distribution
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold(folder.with_suffix(".lock")):
        if not (folder / MARK).is_file():
            shutil.rmtree(folder, ignore_errors=True)
            pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
            made = [sys.executable, "-m", "venv", str(folder)]
            for command in (made, [*pip, *library.requirements]):
                done = subprocess.run(  # noqa: S603 - ours
                    command, capture_output=True, text=True, errors="replace"
                )
                if done.returncode:
                    said = (done.stderr.splitlines() or ["it said nothing"])[-1].strip()
                    raise HarnessError(
                        f"could not be installed: {said[:300]}; install "
                        f"{library.distribution} into the environment of harness, or leave it out"
                    )
            (folder / MARK).write_text(json.dumps(library.requirements), encoding="utf-8")
    return str(python)


def version(library: TestedLibrary, python: str) -> str:
    """Return the version of a library in an environment."""
    code = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"
    done = subprocess.run(  # noqa: S603
        [python, "-c", code, library.distribution], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
