"""The notes on a run: what a careful reader of its table needs to know."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import numpy as np

from harness import evaluation, metrics
from harness.algorithms import registry
from harness.candidates import Sampled
from harness.errors import counted, joined
from harness.experiment.cell import FALLBACKS
from harness.experiment.evaluate import Evaluation
from harness.experiment.plan import Plan
from harness.experiment.tuning import cut_grids
from harness.results.record import CellResult, MetricComparison, measured
from harness.results.scores import notes_on_tests

TIED_SHARE = 0.05
"""A larger share of users whose score depends on ties gets a note."""
MANY = 1 / 3
"""A share of users from which the note says that they are many."""


def notes(plan: Plan, found: Evaluation, compared: Sequence[MetricComparison]) -> Iterable[str]:
    """Return the notes on a run, each once."""
    cells = [cell for cell in found.cells if isinstance(cell, CellResult)]
    return dict.fromkeys(
        [
            *_notes_on_data(plan),
            *(note for cell in cells for note in cell.notes),
            *_notes_on_unknown_users(plan, cells),
            *_notes_on_counts(cells),
            *_notes_on_trials(cells),
            *found.group_notes,
            *(cut_grids(plan.experiment) if plan.is_tuned else ()),
            *_notes_on_metrics(plan, found, compared, cells),
            *_notes_on_times(cells),
            *_notes_on_ties(found, cells),
            *_notes_on_algorithms(plan, found),
        ]
    )


def _notes_on_data(plan: Plan) -> Iterator[str]:
    n_datasets, seeds = len(plan.experiment.dataset), list(plan.experiment.draws)
    for data in plan.loaded():
        yield from (f"{data.name}: {note}" for note in (*data.notes, *data.filters))
    for number, (ratings, _) in sorted(plan.read.items()) if plan.of_genres else ():
        rated = np.unique(ratings.items)
        if n_without := len(rated) - int(ratings.genres[rated].any(axis=1).sum()):
            yield (
                f"{plan.names['dataset'][number]}: {n_without:,} of {len(rated):,} items have no "
                f"genre and are left out of {', '.join(plan.of_genres)}"
            )
    for _, group in itertools.groupby(plan.made(), attrgetter("dataset", "split", "seed")):
        first, *others = group
        if first.seed == seeds[0]:
            where = [first.dataset] if n_datasets > 1 else []
            where += [first.split] + ["first fold"] * bool(others)
            where += ["first seed"] * (len(seeds) > 1)
            yield from (f"{', '.join(where)}: {note}" for note in first.notes)
    for name, section in zip(plan.names["candidates"], plan.experiment.candidates, strict=True):
        if isinstance(section, Sampled):
            yield (
                f"{name}: metrics over sampled candidates are biased and may order algorithms "
                "differently than the whole catalogue (doi:10.1145/3394486.3403226)"
            )
            for word, place in (("first", "before"), ("last", "after")):
                if labels := [str(m) for m in plan.metrics if m.params.get("ties") == word]:
                    yield (
                        f"{name}: {joined(labels)}: of equal estimates, a user's test items stand "
                        f"{place} the sampled ones; use ties=average"
                    )


def _notes_on_unknown_users(plan: Plan, cells: list[CellResult]) -> Iterator[str]:
    """Note how users without training ratings are answered, equal answers together."""
    if not any(cell.n_unknown_users for cell in cells):
        return
    experiment, answers = plan.experiment, defaultdict(list)
    for each in experiment.algorithms:
        answers[registry.entry(each.name).unknown_user].append(each.title)
    if experiment.fallback == "default":
        stated = "; ".join(
            f"{', '.join(names)}: {answer}"
            for answer, names in answers.items()
            if "every user" not in answer
        )
        if stated:
            what = "estimates for users without training ratings"
            yield f"{what}: {stated} (`fallback` exchanges them)"
    else:
        yield (
            "estimates for users without training ratings are those of "
            f"{FALLBACKS[experiment.fallback]} (`fallback: {experiment.fallback}`), whatever the "
            "algorithm"
        )


def _notes_on_counts(cells: list[CellResult]) -> Iterator[str]:
    """Note how many estimates were impossible, equal counts together, and scores undefined."""
    undefined: dict[str, int] = defaultdict(int)
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for algorithm in dict.fromkeys(cell.algorithm for cell in cells):
        own = [cell for cell in cells if cell.algorithm == algorithm]
        n_test = sum(cell.n_test for cell in own)
        alike[sum(cell.n_impossible for cell in own), n_test].append(algorithm)
    for (n_impossible, n_test), algorithms in alike.items():
        if n_impossible:
            yield (
                f"{', '.join(algorithms)}: {n_impossible:,} of {n_test:,} test estimates were "
                "impossible and became the model's default, as in Surprise"
            )
    for label, score in itertools.chain(*(cell.scores.items() for cell in cells)):
        undefined[label] = max(undefined[label], score.n_undefined)
    for label, n_users in undefined.items():
        if n_users and not metrics.parse(label).definition.pooled:
            are = "is" if n_users == 1 else "are"
            yield f"{label}: up to {counted(n_users, 'user')} a cell {are} undefined"


def _notes_on_trials(cells: list[CellResult]) -> Iterator[str]:
    """Note where searches tried different numbers of settings."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for cell in cells:
        if cell.n_trials is not None:
            numbers[cell.algorithm].add(cell.n_trials)
    if len(set().union(*numbers.values())) > 1:
        ends = {name: sorted({min(each), max(each)}) for name, each in numbers.items()}
        shown = ", ".join(f"{name} {' to '.join(map(str, each))}" for name, each in ends.items())
        yield (
            "settings tried in a search, beside that of the config, which is always tried and not "
            f"counted: {shown}"
        )


def _notes_on_metrics(
    plan: Plan, found: Evaluation, compared: Sequence[MetricComparison], cells: list[CellResult]
) -> Iterator[str]:
    """Name metrics that distinguish nothing, cannot be significant or have no random order."""
    means: dict[tuple[str, str], dict[tuple[int, int], list[float | None]]]
    means = defaultdict(lambda: defaultdict(list))
    tables = {cell.table for cell in found.cells}
    names = {cell.table: cell.start(tables) for cell in found.cells}
    for cell in cells:
        for label, score in cell.scores.items():
            means[cell.table, label][cell.seed, cell.fold].append(score.mean)
    for (table, label), folds in means.items():
        reasons = found.undistinguished.get(table, {}).get(label, [None])
        if all(reasons):
            yield f"{names[table]}{label} cannot distinguish algorithms: {reasons[0]}"
        elif all(len(each) > 1 and _equal(each) for each in folds.values()):
            yield f"{names[table]}{label}: all algorithms of this run score the same"
    yield from notes_on_tests(compared, tables)
    for metric in plan.metrics:
        if metric.has_bounds:
            reason = evaluation.random_order(metric)
            if isinstance(reason, str):
                yield f"{metric}: no expected score of a random order is shown: {reason}"


def _equal(values: list[float | None]) -> bool:
    numbers = [value for value in values if value is not None]
    return len(numbers) == len(values) and bool(np.ptp(numbers) <= 1e-12 * np.abs(numbers).max())


def _notes_on_times(cells: list[CellResult]) -> Iterator[str]:
    """Note how seconds were measured, unless all were measured in the same way in this run."""
    conditions = measured(cells)
    if n_found := sum(cell.found for cell in cells):
        yield f"{n_found} of {len(cells)} cells were found in the cache; metric s are of this run"
    if n_found or len(conditions) > 1:
        yield f"fit s, score s and peak MB were measured {'; '.join(conditions)}"


def _notes_on_ties(found: Evaluation, cells: list[CellResult]) -> Iterator[str]:
    """Name the algorithms whose scores depend on the order of equal estimates."""
    affected: dict[str, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        reasons = found.undistinguished.get(cell.table, {})
        for label, share in cell.tied.items():
            if share > TIED_SHARE and not all(reasons.get(label, [None])):
                worst = affected[label]
                worst[cell.algorithm] = max(worst.get(cell.algorithm, 0.0), share)
    for label, shares in affected.items():
        whose = "many" if max(shares.values()) >= MANY else "some"
        algorithms = ", ".join(f"{name} ({share:.0%})" for name, share in shares.items())
        yield f"{label}: ties decide the score of {whose} users: {algorithms}"


def _notes_on_algorithms(plan: Plan, found: Evaluation) -> Iterator[str]:
    """Note what the names of algorithms and data sets do not tell."""
    known = [(each, registry.entry(each.name)) for each in plan.experiment.algorithms]
    left = [each.title for each, entry in known if each.search is None and entry.space]
    if plan.is_tuned and left:
        yield f"not tuned, beside tuned algorithms: {', '.join(left)}"
    entries = {each.title: entry for each, entry in known}
    prefers = (c.algorithm for c in found.cells if entries[c.algorithm].gives_preferences(c.params))
    preferring = dict.fromkeys(prefers)
    blank = [str(metric) for metric in plan.metrics if metric.needs_ratings]
    if preferring and blank:
        yield (
            f"{', '.join(preferring)}: estimates are scores on a scale of their own, not ratings, "
            f"so {', '.join(blank)} {'is' if len(blank) == 1 else 'are'} left blank"
        )
    yield from dict.fromkeys(entry.note for _, entry in known if entry.note)
    if any(data.source.startswith("ml-") for data in plan.loaded()):
        yield (
            "MovieLens ratings were given to what MovieLens recommended, mostly in a few sittings; "
            "an order that fits them need not fit other users (doi:10.1145/3675163)"
        )
