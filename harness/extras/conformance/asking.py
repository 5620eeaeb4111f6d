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
from harness.extras.conformance.profile import Got, place, questions
from harness.schema.sections import Section

ADAPTERS = Path(__file__).with_name("adapters")
MARK = "ready.json"
PATIENCE = 900
"""Seconds after which an implementation is stopped."""


class Snippet(Section):
    """A deviation in at most five lines of the library alone, and what they print."""

    question: str
    text: str
    code: str
    prints: str


class TestedLibrary(Section):
    """A library of ``libraries.toml``."""

    distribution: str
    requirements: list[str]
    adapter: str
    call: str
    takes: str
    note: str = ""
    reproductions: list[Snippet] = Field(default_factory=list)

    @property
    def source(self) -> str:
        """The code of the adapter."""
        return (ADAPTERS / f"{self.adapter.partition(':')[0]}.py").read_text(encoding="utf-8")


@cache
def libraries() -> dict[str, TestedLibrary]:
    """Return the libraries that the suite can ask, by name."""
    text = Path(__file__).with_name("libraries.toml").read_text(encoding="utf-8")
    return {name: TestedLibrary.model_validate(each) for name, each in tomllib.loads(text).items()}


def ask(target: str, python: str = sys.executable, folder: Path | None = None) -> dict[str, Got]:
    """Return what an adapter returns for each case, by its name.

    Parameters
    ----------
    target : str
        ``module:name`` of a function or class, see ``runner.py``.
    python : str
        The interpreter that runs it.
    folder : Path, optional
        Where the module is; by default the current folder.

    Raises
    ------
    HarnessError
        If the module cannot be imported, or does not end.
    """
    with tempfile.TemporaryDirectory(prefix="harness-") as name:
        written = Path(name) / "returned.json"
        command = [python, "-W", "ignore", str(place("runner.py")), target, "--json", str(written)]
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
                f"{target}: no end after {PATIENCE} seconds; lists have 24 items at most"
            ) from None
        if not written.is_file():
            said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
            raise HarnessError(
                f"{target}: cannot be asked ({(said or ['no message'])[-1][:300]}); name a "
                "function or a class as module:name, of a module in the current folder or installed"
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
                        f"{name}: could not be installed: {said[:300]}; install "
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


def answer(question: str, profile_sentence: str, library: TestedLibrary) -> str:
    """Return an answer in words; what the caller decides is not the library's."""
    if library.takes == "ranking" and question in ("order", "scores", "ties"):
        return "the caller orders the list"
    return profile_sentence if question in questions() else ""
