"""Notes on a run that a careful reviewer would make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from harness.algorithms import registry
from harness.candidates import Sampled
from harness.evaluation import random_order
from harness.experiment.evaluate import Evaluation
from harness.experiment.plan import Plan
from harness.experiment.tuning import cut_grids
from harness.results.record import CellResult, MetricComparison, measured

__all__ = ["notes"]

TIED_SHARE = 0.05
"""A larger share of users with ties at the cut gets a note."""
MANY = 1 / 3
"""A share of users from which the note says that they are many."""


def notes(
    plan: Plan, evaluation: Evaluation, compared: Sequence[MetricComparison]
) -> Iterable[str]:
    """Return the notes on a run, each once."""
    cells = [cell for cell in evaluation.cells if isinstance(cell, CellResult)]
    return dict.fromkeys(
        [
            *_of_data(plan),
            *(note for cell in cells for note in cell.notes),
            *_impossible(cells),
            *_undefined(cells),
            *cut_grids(plan.experiment),
            *_undistinguished(evaluation, cells),
            *_undecided(compared),
            *_without_random_order(plan),
            *_times(cells),
            *_ties(evaluation, cells),
            *_of_algorithms(plan),
        ]
    )


def _of_data(plan: Plan) -> Iterator[str]:
    """Yield the notes on data, splits and candidates."""
    n_datasets, seeds = len(plan.experiment.dataset), plan.experiment.seed
    for name, ratings, reports in plan.loaded():
        yield from (f"{name}: {note}" for note in ratings.notes)
        yield from (f"{name}: {report}" for report in reports)
    for dataset, split, seed, folds in plan.made():
        if seed == seeds[0]:
            where = [dataset] if n_datasets > 1 else []
            where += [split] + ["first fold"] * (len(folds) > 1) + ["first seed"] * (len(seeds) > 1)
            yield from (f"{', '.join(where)}: {note}" for note in folds[0].notes)
    for name, section in zip(plan.names.candidates, plan.experiment.candidates, strict=True):
        if isinstance(section, Sampled):
            yield (
                f"{name}: metrics over sampled candidates are biased and may "
                "order algorithms differently than the whole catalogue "
                "(doi:10.1145/3394486.3403226)"
            )


def _impossible(cells: list[CellResult]) -> Iterator[str]:
    """Note how many test ratings algorithms could not estimate, equal counts together."""
    counts: dict[str, tuple[int, int]] = {}
    for cell in cells:
        before = counts.get(cell.algorithm, (0, 0))
        counts[cell.algorithm] = before[0] + cell.n_impossible, before[1] + cell.n_test
    alike: dict[tuple[int, int], list[str]] = {}
    for algorithm, count in counts.items():
        if count[0]:
            alike.setdefault(count, []).append(algorithm)
    for (n_impossible, n_test), algorithms in alike.items():
        yield (
            f"{', '.join(algorithms)}: {n_impossible:,} of {n_test:,} test estimates were "
            "impossible and became the model's default, as in Surprise"
        )


def _undefined(cells: list[CellResult]) -> Iterator[str]:
    counts: dict[str, int] = {}
    for cell in cells:
        for label, score in cell.scores.items():
            counts[label] = max(counts.get(label, 0), score.n_undefined)
    for label, count in counts.items():
        if count:
            yield f"{label}: up to {count:,} users a cell are undefined"


def _undistinguished(evaluation: Evaluation, cells: list[CellResult]) -> Iterator[str]:
    """Name the metrics that do not distinguish the algorithms of a table, with the reason."""
    tables: dict[str, dict[str, dict[Any, list[float | None]]]] = {}
    names = {cell.table: ", ".join(cell.names) for cell in evaluation.cells}
    for cell in cells:
        for label, score in cell.scores.items():
            folds = tables.setdefault(cell.table, {}).setdefault(label, {})
            folds.setdefault((cell.seed, cell.fold), []).append(score.mean)
    for table, labels in tables.items():
        where = f"{names[table]}: " if len(names) > 1 else ""
        for label, folds in labels.items():
            reasons = evaluation.undistinguished.get(table, {}).get(label, [None])
            if all(reasons):
                yield f"{where}{label} cannot distinguish algorithms: {reasons[0]}"
            elif all(len(each) > 1 and _equal(each) for each in folds.values()):
                yield f"{where}{label}: all algorithms of this run score the same"


def _equal(values: list[float | None]) -> bool:
    numbers = [value for value in values if value is not None]
    return len(numbers) == len(values) and bool(np.ptp(numbers) <= 1e-12 * np.abs(numbers).max())


def _undecided(compared: Sequence[MetricComparison]) -> Iterator[str]:
    """Name the metrics for which no difference could be significant, with the reason."""
    labels: dict[str, list[str]] = {}
    for entry in compared:
        if entry.note:
            labels.setdefault(entry.note, []).append(entry.metric)
    for note, found in labels.items():
        yield f"{', '.join(dict.fromkeys(found))}: {note}"


def _without_random_order(plan: Plan) -> Iterator[str]:
    """Say which metrics have no value of a random order below the table, with the reason."""
    for metric in plan.metrics:
        if not (metric.needs_pairs or metric.needs_items):
            found = random_order(metric)
            if isinstance(found, str):
                yield f"{metric}: no expected score of a random order is shown: {found}"


def _times(cells: list[CellResult]) -> Iterator[str]:
    """Note how seconds were measured, unless all were measured in the same way in this run."""
    conditions = measured(cells)
    found = sum(cell.found for cell in cells)
    if found:
        yield f"{found} of {len(cells)} cells were found in the cache; metric s are of this run"
    if found or len(conditions) > 1:
        yield f"fit s, score s and peak MB were measured {'; '.join(conditions)}"


def _ties(evaluation: Evaluation, cells: list[CellResult]) -> Iterator[str]:
    """Name the algorithms whose scores depend on the order of equal estimates."""
    affected: dict[str, dict[str, float]] = {}
    for cell in cells:
        reasons = evaluation.undistinguished.get(cell.table, {})
        for label, share in cell.tied_at_cut.items():
            if share > TIED_SHARE and not all(reasons.get(label, [None])):
                worst = affected.setdefault(label, {})
                worst[cell.algorithm] = max(worst.get(cell.algorithm, 0.0), share)
    for label, shares in affected.items():
        named = ", ".join(f"{name} ({share:.0%})" for name, share in shares.items())
        whose = "many" if max(shares.values()) >= MANY else "some"
        yield f"{label}: ties at the cut decide the score of {whose} users: {named}"


def _of_algorithms(plan: Plan) -> Iterator[str]:
    """Note what the names of algorithms and data sets do not tell."""
    algorithms = plan.experiment.algorithms
    left = [
        each.title for each in algorithms if each.search is None and registry.entry(each.name).space
    ]
    if plan.is_tuned and left:
        yield f"not tuned, beside tuned algorithms: {', '.join(left)}"
    preferring = [
        each.title
        for each in algorithms
        if registry.entry(each.name).gives_preferences(each.params)
    ]
    if preferring and any(metric.needs_pairs for metric in plan.metrics):
        yield (
            f"{', '.join(preferring)}: estimates are preferences, not ratings, so error metrics "
            "such as rmse mean nothing"
        )
    notes = (registry.entry(each.name).note for each in algorithms)
    yield from dict.fromkeys(note for note in notes if note)
    if any(ratings.name.startswith("ml-") for _, ratings, _ in plan.loaded()):
        yield (
            "MovieLens ratings were given to what MovieLens recommended, mostly in a few sittings; "
            "an order that fits them need not fit other users (doi:10.1145/3675163)"
        )
