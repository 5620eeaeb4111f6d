"""The notes on a run: what a careful reader of its table needs to know."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import attrgetter

import numpy as np

from harness.algorithms import registry
from harness.comparison.inference import notes_on_tests
from harness.config.experiment import Experiment, settings_of_one
from harness.experiment.cell import FALLBACKS
from harness.experiment.evaluate import Evaluation
from harness.experiment.plan import Plan
from harness.experiment.tuning import cut_grids, unequal_trials
from harness.metrics.weights import Worth
from harness.notes.note import Note
from harness.plugins import registry as plugins
from harness.rankings import evaluation
from harness.results.cells import CellResult, WorthOfWeights, measured
from harness.results.scores import notes_on_failed_metrics, notes_on_undefined, notes_without_value

TIED_SHARE = 0.05
"""A larger proportion of users whose score depends on ties gets a note."""
MANY = 1 / 3
"""A proportion of users from which the note says that they are many."""


def notes(plan: Plan, results: Evaluation) -> Iterator[Note]:
    """Yield the notes on a run, of which some may come twice."""
    cells = [cell for cell in results.cells if isinstance(cell, CellResult)]
    yield from _notes_on_data(plan)
    for cell in cells:
        yield from cell.notes
    if any(cell.n_dropped_users for cell in cells):
        yield from _notes_on_dropped_users(cells)
    if any(cell.n_unknown_users for cell in cells):
        yield from notes_on_answers(plan.experiment)
    if any(cell.metric_errors for cell in cells):
        yield from notes_on_failed_metrics(cells)
    if any(cell.n_impossible for cell in cells):
        yield from _notes_on_impossible(cells)
    if any(row.n_undefined for row in results.rows):
        yield from notes_on_undefined((row.n_users, row.n_undefined) for row in results.rows)
    yield from notes_without_value([row.scores for row in results.rows])
    if any(metric.is_weighted for metric in plan.metrics):
        yield from notes_on_weights(plan, cells)
    if plan.is_tuned:
        yield from unequal_trials(cells)
    yield from results.notes
    if plan.is_tuned:
        yield from cut_grids(plan.experiment)
    if any(section.is_of_curve for section in plan.experiment.split):
        yield from notes_on_curves(plan, results)
    yield from _notes_on_metrics(plan, results, cells)
    if results.is_found or any(c.found or c.measured != cells[0].measured for c in cells):
        yield from _notes_on_times(cells, are_scores_found=results.is_found)
    yield from _notes_on_ties(results, cells)
    yield from _notes_on_algorithms(plan, results)


def _notes_on_data(plan: Plan) -> Iterator[Note]:
    n_datasets, seeds = len(plan.experiment.dataset), list(plan.experiment.draws)
    for data in plan.loaded():
        yield from (note.at(data.name) for note in data.notes)
        for report in data.filters:
            yield Note("filtered", {"counts": report}, data.name)
    for number, (ratings, _) in sorted(plan.read.items()) if plan.of_genres else ():
        rated = np.unique(ratings.items)
        if n_without := len(rated) - int(ratings.genres[rated].any(axis=1).sum()):
            values = {"n": n_without, "n_all": len(rated), "metrics": plan.of_genres}
            yield Note("genres-missing", values, plan.names["dataset"][number])
    for _, group in itertools.groupby(plan.made(), attrgetter("dataset", "split", "seed")):
        first, *rest = group
        if first.seed == seeds[0]:
            where = [first.dataset] * (n_datasets > 1) + [first.split] + ["first fold"] * bool(rest)
            where += ["first seed"] * (len(seeds) > 1)
            yield from (note.at(", ".join(where)) for note in first.notes)
    if errors := [str(metric) for metric in plan.metrics if metric.definition.needs_ratings]:
        scales = {plan.names["dataset"][n]: of.scale for n, (of, _) in plan.read.items()}
        for info in plan.made():
            for note in (note for note in info.notes if note.code == "judgements"):
                low, high = scales[info.dataset]
                values = {"metrics": errors, "low": low, "high": high, **note.values}
                yield Note("judgements-as-ratings", values, info.split)
    for name, section in zip(plan.names["candidates"], plan.experiment.candidates, strict=True):
        yield from section.notes(name, plan.metrics)
        yield from section.notes_on_ties(name, plan.metrics)


def _notes_on_dropped_users(cells: list[CellResult]) -> Iterator[Note]:
    """Note by table how many test users no number covers."""
    counts: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for cell in cells:
        counts[cell.table].add((cell.n_dropped_users, cell.n_dropped_users + cell.n_users))
    places = {cell.table: cell.place(counts) for cell in cells}
    for table, of_folds in counts.items():
        n_dropped, n_all = max(of_folds)
        if n_dropped:
            code = "users-dropped-in-folds" if len(of_folds) > 1 else "users-dropped"
            yield Note(code, {"n": n_dropped, "n_all": n_all}, places[table], table)


def _notes_on_impossible(cells: list[CellResult]) -> Iterator[Note]:
    """Note how many estimates were impossible, equal counts together."""
    alike: dict[tuple[int, int], list[str]] = defaultdict(list)
    for algorithm in dict.fromkeys(cell.algorithm for cell in cells):
        cells_of_row = [cell for cell in cells if cell.algorithm == algorithm]
        n_test = sum(cell.n_test for cell in cells_of_row)
        alike[sum(cell.n_impossible for cell in cells_of_row), n_test].append(algorithm)
    for (n_impossible, n_test), algorithms in alike.items():
        if n_impossible:
            values = {"algorithms": algorithms, "n": n_impossible, "n_all": n_test}
            yield Note("impossible", values)


def _notes_on_metrics(plan: Plan, results: Evaluation, cells: list[CellResult]) -> Iterator[Note]:
    """Name metrics that distinguish nothing, cannot be significant or have no random order."""
    means: dict[tuple[str, str], dict[tuple[int, int], list[float | None]]]
    means = defaultdict(lambda: defaultdict(list))
    tables = {cell.table for cell in results.cells}
    names = {cell.table: cell.place(tables) for cell in results.cells}
    for cell in cells:
        for label, score in cell.scores.items():
            means[cell.table, label][cell.seed, cell.fold].append(score.mean)
    for (table, label), folds in means.items():
        reasons = results.parts["undistinguished"].get(table, {}).get(label, [None])
        if all(reasons):
            yield Note("indistinct", {"metric": label, "reason": reasons[0]}, names[table], table)
        elif all(len(values) > 1 and _equal(values) for values in folds.values()):
            yield Note("all-equal", {"metric": label}, names[table], table)
    if results.statistics:
        yield from notes_on_tests(results.statistics, tables)
    for _, (ratings, _) in sorted(plan.read.items()):
        yield from evaluation.notes_on_labels(plan.metrics, *ratings.scale)
    for metric in (metric for metric in plan.metrics if metric.has_bounds):
        reason = evaluation.random_order(metric)
        if isinstance(reason, Note):
            yield Note("no-random-order", {"metric": str(metric), "reason": reason})


def _equal(values: list[float | None]) -> bool:
    numbers = [value for value in values if value is not None]
    return len(numbers) == len(values) and bool(np.ptp(numbers) <= 1e-12 * np.abs(numbers).max())


def _notes_on_times(cells: list[CellResult], *, are_scores_found: bool) -> Iterator[Note]:
    """Note how seconds were measured, unless all were measured in the same way in this run."""
    n_found = sum(cell.found for cell in cells)
    if are_scores_found:
        yield Note("scores-found")
    elif n_found:
        yield Note("cells-found", {"n": n_found, "n_all": len(cells)})
    if n_found or any(cell.measured != cells[0].measured for cell in cells):
        yield Note("measured", {"conditions": "; ".join(measured(cells))})


def _notes_on_ties(results: Evaluation, cells: list[CellResult]) -> Iterator[Note]:
    """Name the algorithms whose scores depend on the order of equal estimates."""
    affected: dict[str, dict[str, float]] = defaultdict(dict)
    for cell in cells:
        reasons = results.parts["undistinguished"].get(cell.table, {})
        for label, share in cell.tied.items():
            if share > TIED_SHARE and not all(reasons.get(label, [None])):
                shares = affected[label]
                shares[cell.algorithm] = max(shares.get(cell.algorithm, 0.0), share)
    for label, shares in affected.items():
        whose = "many" if max(shares.values()) >= MANY else "some"
        algorithms = [f"{name} ({share:.0%})" for name, share in shares.items()]
        values = {"metric": label, "whose": whose, "algorithms": algorithms, "shares": shares}
        yield Note("ties-decide", values)


def _notes_on_algorithms(plan: Plan, results: Evaluation) -> Iterator[Note]:
    """Note what the names of algorithms and data sets do not tell."""
    rows = {row.title: row for row in plan.experiment.algorithms}
    entries = {title: registry.entry(row.name) for title, row in rows.items()}
    if plan.is_tuned:
        untuned = [title for title in rows if rows[title].search is None and entries[title].space]
        if untuned:
            yield Note("not-tuned", {"algorithms": untuned})
    elif "tuning" in plan.experiment.model_fields_set:
        yield Note("tuning-unused")
    for name, titles in settings_of_one(plan.experiment).items():
        yield Note("chosen-on-test", {"algorithm": name, "n": len(titles)})
    if blank := [str(metric) for metric in plan.metrics if metric.definition.needs_ratings]:
        prefers = (
            c.algorithm for c in results.cells if entries[c.algorithm].gives_preferences(c.params)
        )
        if preferring := [*dict.fromkeys(prefers)]:
            yield Note("preferences", {"algorithms": preferring, "metrics": blank})
    yield from (Note(entry.note) for entry in entries.values() if entry.note)
    if any(ratings.name.startswith("ml-") for ratings, _ in plan.read.values()):
        yield Note("recommended-by-movielens")


def notes_on_answers(experiment: Experiment) -> Iterator[Note]:
    """Note how users without training ratings are answered, equal answers together."""
    answers: dict[str, list[str]] = defaultdict(list)
    for algorithm in experiment.algorithms:
        entry = registry.entry(algorithm.name)
        if entry.is_personal:
            answers[entry.unknown_user].append(algorithm.title)
    if experiment.fallback == "default":
        stated = "; ".join(f"{', '.join(names)}: {answer}" for answer, names in answers.items())
        if stated:
            yield Note("unknown-users-answered", {"answers": stated})
    else:
        fallback = experiment.fallback
        yield Note("fallback", {"algorithm": FALLBACKS[fallback], "fallback": fallback})


def notes_on_weights(plan: Plan, cells: Sequence[CellResult]) -> Iterator[Note]:
    """Note the effective sample size of weights, in each table of the fold with the least."""
    ranked = [str(metric) for metric in plan.metrics if metric.is_weighted and metric.is_ranking]
    for name, section in zip(plan.names["candidates"], plan.experiment.candidates, strict=True):
        if ranked and (section.only_rated or section.is_sample):
            yield Note("weights-of-few-candidates", {"candidates": name, "metrics": ranked})
    worth: dict[tuple[str, str], WorthOfWeights] = {}
    for cell in cells:
        for label, score in cell.scores.items():
            before = worth.get((cell.table, label))
            if score.worth and (before is None or score.worth.effective < before.effective):
                worth[cell.table, label] = score.worth
    if not worth:
        return
    alike: dict[tuple[str, Worth], list[str]] = defaultdict(list)
    for (table, label), of in worth.items():
        # Sums in another order differ in their last digits.
        rounded = round(of.effective), float(f"{of.greatest:.3g}")
        alike[table, Worth(of.n, *rounded, of.clipped)].append(label)
    tables = {cell.table for cell in cells}
    places = {cell.table: cell.place(tables) for cell in cells}
    for (table, least), labels in alike.items():
        code = "weights-few" if least.is_small else "weights-worth"
        yield Note(code, {"metrics": labels, **vars(least)}, places[table], table)
        if least.clipped:
            values = {"metrics": labels, "share": least.clipped}
            yield Note("propensities-raised", values, places[table], table)


def notes_on_curves(plan: Plan, results: Evaluation) -> Iterator[Note]:
    """Yield notes on the curve of each row by the headline metric."""
    notes_on = plugins.hook("curve-notes")
    yield from notes_on(
        plan.made(),
        {table.table: table.names for table in plan.tables.values()},
        results.users,
        plan.headline,
        plan.experiment.statistics,
        plan.experiment.seed[0],
    )
