"""What the benchmarks share: a command line, the file of figures, and other processes."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from timing import environment

from harness.results.environment import Machine

HERE = Path(__file__).parent
LENSKIT, LENSKIT_PYTHON = "lenskit==2026.4.*", "python3.13"
"""The measured version of LensKit, and a Python that is new enough for it."""


def command_line(about: str | None, seconds: float | None = None) -> argparse.ArgumentParser:
    """Return the options that benchmarks share; `seconds` is the default of theirs, if any."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    if seconds:
        text = "no work is repeated for longer"
        parser.add_argument("--seconds", type=float, default=seconds, help=text)
    return parser


def keep(output: Path | None, figures: dict[str, Any], part: str = "") -> None:
    """Write figures and the machine that made them, if a file is named: all of it, or one part."""
    if output:
        figures = {"machine": Machine.here().model_dump()} | figures
        if part:
            kept = json.loads(output.read_text("utf-8")) if output.exists() else {}
            figures = kept | {part: figures}
        output.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def python_with(
    folder: Path, *groups: Sequence[str], check: bool = True, base: str = sys.executable
) -> Path:
    """Return the interpreter of an environment; unless there is one, make it with packages."""
    python, installed = folder.resolve() / "bin" / "python", folder / "installed.txt"
    if not (installed.exists() and python.exists()):
        if not shutil.which(base):
            raise FileNotFoundError(f"{base}: not found, and {groups[0][-1]} needs it")
        subprocess.run([base, "-m", "venv", folder], check=True)
        codes = []
        for group in groups:
            print(f"installing {', '.join(group)} ...", flush=True)
            command = [python, "-m", "pip", "install", "-q", *group]
            codes.append(subprocess.run(command, check=check).returncode)
        if 0 in codes:  # else it is made again
            installed.write_text("\n".join(map(" ".join, groups)), "utf-8")
    return python


def calling(
    module: str, task: str, *arguments: object, python: str | Path = sys.executable
) -> list[str]:
    """Return a command that calls a function here and prints what it returns, with its peak."""
    return [str(python), "call.py", module, task, json.dumps(arguments, default=str)]


def answer(command: list[str], n: int, limit: float | None = None) -> dict[str, Any]:
    """Run a command with so many threads, and seconds; return the JSON that it prints last."""
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "cwd": HERE, "env": environment(n)}
    how["timeout"] = limit
    return dict(json.loads(subprocess.run(command, check=True, **how).stdout.splitlines()[-1]))
