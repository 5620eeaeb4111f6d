"""Notes on a run that a careful reviewer would make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from harness.algorithms import registry
from harness.config.experiment import Experiment
from harness.evaluation import random_order
from harness.experiment.plan import requested_metrics
from harness.experiment.scores import Scored
from harness.experiment.tuning import cut_grids
from harness.experiment.workspace import Workspace
from harness.results import environment
from harness.results.record import CellResult, MetricComparison

__all__ = ["remarks"]

TIED_SHARE = 0.05
"""A larger share of users with ties at the cut gets a note."""


def remarks(
    experiment: Experiment,
    workspace: Workspace,
    scored: Scored,
    compared: list[MetricComparison],
) -> list[str]:
    """Return the notes on a run, each once.

    Parameters
    ----------
    experiment : Experiment
    workspace : Workspace
        Knows the notes on data and splits.
    scored : Scored
    compared : list of MetricComparison
        The statistics of the run.
    """
    cells = [cell for cell in scored.cells if isinstance(cell, CellResult)]
    notes = [*workspace.notes()]
    for cell in cells:
        notes += cell.notes
    notes += _impossible(cells)
    undefined: dict[str, int] = {}
    for cell in cells:
        for label, score in cell.scores.items():
            undefined[label] = max(undefined.get(label, 0), score.n_undefined)
    notes += [
        f"{label}: up to {count:,} users a cell are undefined"
        for label, count in undefined.items()
        if count
    ]
    notes += [
        *cut_grids(experiment),
        *_undistinguished(scored),
        *_undecided(compared),
        *_without_random_order(experiment),
    ]
    notes += [*_times(cells), *_ties(scored), *cut_grids(experiment), *_untuned(experiment)]
    notes += _of_libraries(experiment)
    notes += _caveats(workspace)
    return list(dict.fromkeys(notes))


def _times(cells: list[CellResult]) -> Iterator[str]:
    """Note how seconds were measured, unless all were measured in the same way in this run."""
    conditions = environment.measured(cells)
    found = sum(cell.found for cell in cells)
    if found:
        total = sum(conditions.values())
        yield f"{found} of {total} cells were found in the cache; metric s are of this run"
    if found or len(conditions) > 1:
        yield f"fit s, score s and peak MB were measured {environment.listed(conditions)}"


def _undistinguished(scored: Scored) -> Iterator[str]:
    """Name the metrics that do not distinguish the algorithms of a table, with the reason."""
    tables: dict[str, dict[str, dict[Any, list[float | None]]]] = {}
    names: dict[str, str] = {}
    for cell in scored.cells:
        names[cell.table] = ", ".join(cell.names)
        for label, score in cell.scores.items() if isinstance(cell, CellResult) else ():
            folds = tables.setdefault(cell.table, {}).setdefault(label, {})
            folds.setdefault((cell.seed, cell.fold), []).append(score.mean)
    for table, labels in tables.items():
        where = f"{names[table]}: " if len(names) > 1 else ""
        for label, folds in labels.items():
            reasons = scored.undistinguished.get(table, {}).get(label, [None])
            if all(reasons):
                yield f"{where}{label} cannot distinguish algorithms: {reasons[0]}"
            elif all(len(each) > 1 and _equal(each) for each in folds.values()):
                yield f"{where}{label}: all algorithms of this run score the same"


def _equal(values: list[float | None]) -> bool:
    numbers = [value for value in values if value is not None]
    return len(numbers) == len(values) and bool(np.ptp(numbers) <= 1e-12 * np.abs(numbers).max())


def _undecided(compared: list[MetricComparison]) -> Iterator[str]:
    """Name the metrics for which no difference could be significant, with the reason."""
    labels: dict[str, list[str]] = {}
    for entry in compared:
        if entry.note:
            labels.setdefault(entry.note, []).append(entry.metric)
    for note, found in labels.items():
        yield f"{', '.join(dict.fromkeys(found))}: {note}"


def _without_random_order(experiment: Experiment) -> Iterator[str]:
    """Say which metrics have no value of a random order below the table, with the reason."""
    for metric in requested_metrics(experiment):
        if not (metric.needs_pairs or metric.needs_items):
            found = random_order(metric)
            if isinstance(found, str):
                yield f"{metric}: no expected score of a random order is shown: {found}"


def _ties(scored: Scored) -> Iterator[str]:
    """Name the algorithms whose scores depend on the order of equal estimates."""
    affected: dict[str, dict[str, float]] = {}
    for cell in scored.cells:
        reasons = scored.undistinguished.get(cell.table, {})
        for label, share in cell.tied_at_cut.items() if isinstance(cell, CellResult) else ():
            if share > TIED_SHARE and not all(reasons.get(label, [None])):
                worst = affected.setdefault(label, {})
                worst[cell.algorithm] = max(worst.get(cell.algorithm, 0.0), share)
    for label, shares in affected.items():
        named = ", ".join(f"{name} ({share:.0%})" for name, share in shares.items())
        yield f"{label}: ties at the cut decide the score of many users: {named}"


def _untuned(experiment: Experiment) -> Iterator[str]:
    """Note algorithms with default parameters in a table with tuned ones."""
    tuned = [each.title for each in experiment.algorithms if each.search is not None]
    left = [
        each.title
        for each in experiment.algorithms
        if each.search is None and registry.search_space(each.name)
    ]
    if tuned and left:
        yield f"not tuned, beside tuned algorithms: {', '.join(left)}"


def _of_libraries(experiment: Experiment) -> Iterator[str]:
    """Note what the rows of other libraries do not show."""
    preferring = [
        each.title
        for each in experiment.algorithms
        if registry.gives_preferences(each.name, each.params)
    ]
    if preferring and any(metric.needs_pairs for metric in requested_metrics(experiment)):
        yield (
            f"{', '.join(preferring)}: estimates are preferences, not ratings, so error metrics "
            "such as rmse mean nothing"
        )
    if any(registry.canonical(each.name) == "spark-als" for each in experiment.algorithms):
        yield "peak MB is that of Python; Spark runs beside it, in Java"


def _caveats(workspace: Workspace) -> Iterator[str]:
    names = workspace.dataset_names()
    if any(name.startswith("ml-") for name in names):
        yield (
            "MovieLens ratings were given to what MovieLens recommended, mostly in a few sittings; "
            "an order that fits them need not fit other users (doi:10.1145/3675163)"
        )


def _impossible(cells: list[CellResult]) -> list[str]:
    """Note how many test ratings algorithms could not estimate, equal counts together."""
    counts: dict[str, tuple[int, int]] = {}
    for cell in cells:
        before = counts.get(cell.algorithm, (0, 0))
        counts[cell.algorithm] = before[0] + cell.n_impossible, before[1] + cell.n_test
    alike: dict[tuple[int, int], list[str]] = {}
    for algorithm, count in counts.items():
        if count[0]:
            alike.setdefault(count, []).append(algorithm)
    return [
        f"{', '.join(algorithms)}: {n_impossible:,} of {n_test:,} test estimates were impossible "
        "and became the model's default, as in Surprise"
        for (n_impossible, n_test), algorithms in alike.items()
    ]
