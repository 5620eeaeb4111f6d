"""What a config would do, told without loading or fitting anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import datasets
from harness.algorithms import acceleration, registry
from harness.config.experiment import Experiment
from harness.config.load import load
from harness.experiment.memory import available_bytes

__all__ = ["Outline", "outline"]


@dataclass(frozen=True)
class Outline:
    """The plan of an experiment.

    Parameters
    ----------
    name : str
    summary : str
        Data, split and candidates in one line.
    rows : tuple of tuples of str
        For each algorithm: label, cells, memory of its largest cell, parameters.
    notes : tuple of str
        What could not be told, or would not fit.
    """

    name: str
    summary: str
    rows: tuple[tuple[str, str, str, str], ...]
    notes: tuple[str, ...]


def outline(config: str | Path | dict[str, Any], *, overrides: Iterable[str] = ()) -> Outline:
    """Plan an experiment: its cells and what they would need.

    Raises
    ------
    ConfigError
        With every fault of the config.

    Examples
    --------
    >>> plan = outline({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["rmse"]})
    >>> plan.rows[0][:2]
    ('SVD', '1')
    """
    experiment, _ = load(config, overrides=overrides, check_algorithm=registry.check)
    notes: list[str] = []
    folds = [_n_folds(section) for section in experiment.split]
    if None in folds:
        notes.append("how many folds there are is in the files; one is counted here")
    n_cells = (
        len(experiment.dataset)
        * len(experiment.candidates)
        * len(experiment.seed)
        * sum(fold or 1 for fold in folds)
    )
    sizes = [size for each in experiment.dataset if (size := datasets.expected_size(each))]
    if len(sizes) < len(experiment.dataset):
        notes.append("the size of a data set of your own is known once it is read")
    largest = max(sizes, key=lambda size: size[2], default=None)
    free = available_bytes()
    rows = []
    for algorithm in experiment.algorithms:
        memory = None
        if largest is not None:
            name = registry.canonical(algorithm.name)
            memory = acceleration.memory(name, algorithm.params, *largest)
            if memory > free:
                notes.append(
                    f"{algorithm.title}: {memory / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free; "
                    "it would be refused"
                )
        params = ", ".join(f"{key}={value!r}" for key, value in algorithm.params.items())
        shown = "unknown" if memory is None else f"{memory / 1e6:,.0f} MB"
        rows.append((algorithm.title, str(n_cells), shown, params or "defaults"))
    return Outline(experiment.name, _summary(experiment, sizes, n_cells), tuple(rows), tuple(notes))


def _summary(experiment: Experiment, sizes: list[tuple[int, int, int]], n_cells: int) -> str:
    data = ", ".join(each.describe() for each in experiment.dataset)
    ratings = f" ({sum(size[2] for size in sizes):,} ratings)" if sizes else ""
    splits = ", ".join(each.describe() for each in experiment.split)
    candidates = "; ".join(each.describe() for each in experiment.candidates)
    total = n_cells * len(experiment.algorithms)
    return f"{data}{ratings}; {splits}; {candidates}; {total} cells"


def _n_folds(section: Any) -> int | None:
    """Return how many folds a split has, None where only its files can tell."""
    n_splits = getattr(section, "n_splits", 1)
    if section.kind == "predefined":
        return len(section.folds) if section.folds else None if section.file else 1
    return int(n_splits * getattr(section, "n_repeats", 1)) if section.kind != "file" else None
