"""Several runs in one table, if their numbers may stand beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.errors import ComparisonError, ResultsError, suggestion
from harness.results.provenance import listed, measured
from harness.results.run import Run, find_runs, read_run

__all__ = ["combine", "open_run"]


def open_run(name: str, results: Path) -> Run:
    """Return a run by its folder or, within `results`, by its name.

    Raises
    ------
    ResultsError
        If there is no such run, or its files are not what was written.
    """
    path = Path(name)
    if (path / "run.json").is_file():
        return read_run(path)
    known = {run.name: run for run in find_runs(results)}
    if name in known:
        return read_run(known[name])
    hint = suggestion(name, known) if known else "run a config first"
    raise ResultsError(f"{name}: no run of this name in {results}; {hint}")


def combine(runs: Sequence[Run], *, anyway: bool = False) -> dict[str, Any]:
    """Return the description of several runs as if they were one.

    Parameters
    ----------
    runs : sequence of Run
        At least one.
    anyway : bool
        Put them together even if they cannot be compared; a note then says why not.

    Returns
    -------
    dict
        As ``run.json`` holds: the cells of all runs, labels that occur twice marked by their run.

    Raises
    ------
    ComparisonError
        If the runs differ in data, split or candidates, or share no metric.
    """
    first = runs[0].info
    differences = [
        f"{run.name}: {difference}"
        for run in runs[1:]
        for difference in _differences(first, run.info)
    ]
    if differences and not anyway:
        raise ComparisonError(
            f"cannot stand in one table with {first['name']}: {'; '.join(differences)}; "
            "use --anyway to show them with this warning"
        )
    metrics = [label for label in first["metrics"] if all(label in r.info["metrics"] for r in runs)]
    if not metrics:
        raise ComparisonError(
            f"{', '.join(run.name for run in runs)}: no metric in common; "
            "run one of them again with the other's metrics"
        )
    cells: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for run in runs:
        for cell in run.info["cells"]:
            owner = seen.setdefault(cell["algorithm"], run.name)
            label = cell["algorithm"] if owner == run.name else f"{cell['algorithm']} ({run.name})"
            cells.append(cell | {"algorithm": label})
    notes = [f"not comparable: {difference}" for difference in differences]
    left_out = sorted({m for run in runs for m in run.info["metrics"]} - set(metrics))
    if left_out:
        notes.append(f"left out, because not every run has them: {', '.join(left_out)}")
    if len(conditions := measured(cells)) > 1:
        notes.append(f"fit s, score s and peak MB were measured {listed(conditions)}")
    notes += dict.fromkeys(note for run in runs for note in run.info["notes"])
    return {
        "name": " and ".join(run.name for run in runs),
        "metrics": metrics,
        "seeds": sorted({seed for run in runs for seed in run.info["seeds"]}),
        "cells": cells,
        "notes": notes,
    }


def _differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return why the numbers of two runs may not be compared."""
    found = []
    for what, identity in (
        ("other data", lambda info: {d["fingerprint"] for d in info["datasets"]}),
        ("another split", lambda info: {s["fingerprint"] for s in info["splits"]}),
        ("other candidates", lambda info: {c["candidates"] for c in info["cells"]}),
        ("estimates clipped in one of them only", lambda info: info["config"]["clip"]),
    ):
        if identity(one) != identity(other):
            found.append(what)
    return found
