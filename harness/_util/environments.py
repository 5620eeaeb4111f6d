"""Virtual environments for other libraries, made once and kept in the cache folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness._util.files import hold
from harness.errors import HarnessError

MARK = "ready.json"
"""The file of a complete environment: what was installed."""


def environment(
    folder: Path, requirements: Sequence[str], advice: str, base: str = sys.executable
) -> Path:
    """Return the interpreter of an environment, which is made if it is not complete.

    Parameters
    ----------
    folder : Path
        Where the environment is.
    requirements : sequence of str
        What pip installs into it.
    advice : str
        What to do if it cannot be made, for the message.
    base : str
        The interpreter that makes it.

    Raises
    ------
    HarnessError
        If it could not be made: what pip, or ``venv``, said last.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (folder / MARK).is_file():
        return python
    folder.parent.mkdir(parents=True, exist_ok=True)
    with hold(folder.with_suffix(".lock")):
        if (folder / MARK).is_file():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--quiet"]
        for command in ([base, "-m", "venv", str(folder)], [*pip, *requirements]):
            done = subprocess.run(  # noqa: S603 - ours, or the user's own
                command, capture_output=True, text=True, errors="replace"
            )
            if done.returncode:
                lines = done.stderr.splitlines()
                errors = [line for line in lines if "ERROR" in line.upper()]
                said = (errors or lines or ["it said nothing"])[-1].strip()
                raise HarnessError(f"could not be installed: {said[:300]}; {advice}")
        (folder / MARK).write_text(json.dumps([*requirements]), encoding="utf-8")
    return python
