"""Whether plug-ins keep what is expected of their kind, tried in their own processes.

A kind has a module with a function `steps(name)`, which yields what is wrong as sentences, and the
bytes of what it computed. It runs in two processes, so that code which ends its process, or which
gives other numbers in the next one, is found and harms nothing.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.errors import HarnessError, reason_of

PATIENCE = 600.0
"""Seconds that a plug-in may take in a process."""
LONGEST_END = 300
"""Characters of the last line of a process that are shown."""


class Findings(NamedTuple):
    """What a process says of a plug-in."""

    problems: list[str]
    digest: str
    """Digest of what it computed; '' where it computed nothing."""


def problems_of(module: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Return what is wrong with plug-ins by the function `steps` of a module, in two processes.

    Parameters
    ----------
    module : str
        As ``harness.extras.plugin_checks.metrics``.
    names : sequence of str
        Of plug-ins, or ``module:object``.

    Returns
    -------
    dict of str to list of str
        By name, sentences; none for what can be used.
    """
    first, second = _in_process(module, names, 1), _in_process(module, names, 2)
    problems = {}
    for name in names:
        problems[name] = list(dict.fromkeys(first[name].problems + second[name].problems))
        if len({first[name].digest, second[name].digest} - {""}) > 1:
            problems[name].append(
                "its numbers differ in another process; draw only from its seed, and depend "
                "on no order of sets"
            )
    return problems


def _in_process(module: str, names: Sequence[str], number: int) -> dict[str, Findings]:
    """Return what a process says of plug-ins; where one ends it, another takes the rest."""
    findings: dict[str, Findings] = {}
    path = os.pathsep.join(str(Path(folder).resolve()) for folder in sys.path)
    variables = {"PYTHONPATH": path, "PYTHONHASHSEED": str(number)}
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        file = Path(scratch, "findings.txt")
        while rest := [name for name in names if name not in findings]:
            file.write_bytes(b"")
            try:
                process = subprocess.run(  # noqa: S603 - this module
                    [sys.executable, "-m", __name__, module, str(file), str(number), *rest],
                    env=os.environ | variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=PATIENCE * len(rest),
                    text=True,
                    errors="replace",
                )
                said = (process.stderr.strip().splitlines() or ["it said nothing"])[-1]
                end = f"exit code {process.returncode} ({said[:LONGEST_END]})"
                end = f"its process ended with {end}; correct its code"
            except subprocess.TimeoutExpired:
                end = f"it did not end within {PATIENCE:g} seconds; correct its code"
            for line in file.read_text(encoding="utf-8").splitlines():
                name, problems, digest = json.loads(line)
                findings[name] = Findings(problems, digest)
            for name in rest:
                if name not in findings:  # the one that was under way
                    findings[name] = Findings([end], "")
                    break
    return findings


def examine(module: str, name: str) -> Findings:
    """Return what is wrong with a plug-in in this process."""
    problems: list[str] = []
    digest = hashlib.sha256()
    computed = False
    try:
        for finding in importlib.import_module(module).steps(name):
            if isinstance(finding, bytes):
                digest.update(finding)
                computed = True
            else:
                problems.append(finding)
    except HarnessError as error:
        problems.append(str(error))
    except Exception as error:
        said = f"{type(error).__name__}: {reason_of(error)}"
        problems.append(f"it failed ({said}); correct its code")
    return Findings(problems, digest.hexdigest() if computed else "")


def main(module: str, path: str, number: str, *names: str) -> None:
    """Examine plug-ins in this process, and write a line of JSON for each."""
    with Path(path).open("a", encoding="utf-8") as file:
        for name in names:
            # What draws without its seed differs between the processes.
            random.seed(int(number))
            np.random.seed(int(number))  # noqa: NPY002
            file.write(json.dumps([name, *examine(module, name)]) + "\n")
            file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
