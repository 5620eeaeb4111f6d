"""Asks an implementation for the value of each case, in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field

from harness._util.environments import environment
from harness._util.files import cache_folder
from harness.errors import HarnessError
from harness.extras.conformance.profile import FOLDER, Got
from harness.schema.sections import Section

BY_CALLER = {
    "ranking": ("order", "scores", "ties"),
    "sets": ("order", "scores", "ties", "negative", "grades"),
}
PATIENCE = 900
"""Seconds after which an implementation is stopped."""
VERSION = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"


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
    def file(self) -> Path:
        """The file with the function that calls it."""
        return FOLDER / "adapters" / f"{self.adapter.partition(':')[0]}.py"

    @property
    def target(self) -> str:
        """That function, as file.py:name."""
        return f"{self.file}:{self.adapter.partition(':')[2]}"

    def interpreter(self) -> str:
        """Return an interpreter that has it: this one, or one of an environment in the cache."""
        if any(metadata.distributions(name=self.distribution)):
            return sys.executable
        folder = cache_folder() / "conformance" / self.distribution
        advice = f"install {self.distribution} into the environment of harness, or leave it out"
        return str(environment(folder, self.requirements, advice))

    def version(self, python: str) -> str:
        """Return its version in the environment of an interpreter."""
        command = [python, "-c", VERSION, self.distribution]
        return subprocess.check_output(command, text=True).strip()  # noqa: S603 - ours


@cache
def libraries() -> dict[str, TestedLibrary]:
    """Return the libraries that the suite can ask, by name."""
    text = (FOLDER / "libraries.toml").read_text(encoding="utf-8")
    return {name: TestedLibrary.model_validate(each) for name, each in tomllib.loads(text).items()}


def ask(target: str, python: str = sys.executable) -> dict[str, Got]:
    """Return what a function or class returns for each case, by its name.

    It is ``file.py:name``, or ``module:name`` of a module that is installed or in the current
    folder; this interpreter runs it, or the one that is given.
    """
    module, _, name = target.rpartition(":")
    folder = Path()
    if module.endswith(".py"):
        folder, module = Path(module).resolve().parent, Path(module).stem
        if not (folder / f"{module}.py").is_file():
            raise HarnessError("no such file; name one that is there")
    with tempfile.TemporaryDirectory(prefix="harness-") as kept:
        written = Path(kept) / "returned.json"
        asked = [str(FOLDER / "runner.py"), f"{module}:{name}", "--json", str(written)]
        try:
            done = subprocess.run(  # noqa: S603 - ours, or the user's own
                [python, "-W", "ignore", *asked],
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
        found: dict[str, Got] = json.loads(written.read_text(encoding="utf-8"))
        return found
