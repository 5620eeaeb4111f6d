"""Parameters searched on a validation set of the training data, before the test is touched."""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from harness import metrics
from harness._util import seeds
from harness._util.libraries import pd
from harness.algorithms import parameters, registry
from harness.algorithms.parameters import with_params
from harness.config.experiment import Experiment, Tuning
from harness.experiment.execute.attempt import Outcome
from harness.experiment.execute.pool import Pool
from harness.experiment.execute.progress import RunPlanned
from harness.experiment.plan import Cell, Plan
from harness.notes.note import Note
from harness.results.cells import CellResult, FailedCell
from harness.results.importance import distributions, need_optuna, value_at
from harness.results.store import key_of
from harness.results.table import ROW
from harness.schema.sections import Range, SearchSpace

MOST_FAILED = 20
"""Trials without a score after which a search with a budget of only seconds ends: a trial that
fails at once uses up none of them."""
MOST_REPEATED = 10_000
"""Repeated draws in a row after which the settings that are left are listed."""

Value = bool | int | float | str | None
Setting = dict[str, Value]
"""Values by the dotted names of a space."""
Values = Range | list[Value]
"""What a space says of one name."""


class Trial(NamedTuple):
    """One setting, fitted on the inner training set and scored on the validation set."""

    params: dict[str, object]
    value: float
    """The deciding metric; NaN when the trial failed."""
    seconds: float
    """Seconds of fitting and scoring, or until it failed."""
    error: str | None = None


@dataclass
class Search:
    """The search for the parameters of a cell; its first trial is the setting of the config."""

    cell: Cell
    space: SearchSpace
    budget: Tuning
    settings: Iterator[Setting]
    n_parts: int = 1
    """Folds of the validation, on each of which a trial is fitted and scored."""
    tried: list[Trial] = field(default_factory=list)

    @property
    def n_default(self) -> int:
        """How many trials are of the setting of the config: 1, or none if it is not to be tried."""
        return int(self.budget.try_default or not self.space)

    @property
    def numbered(self) -> Iterator[tuple[int, Trial]]:
        """The trials with their numbers, of which 0 is the setting of the config."""
        return enumerate(self.tried, start=1 - self.n_default)

    @property
    def seconds(self) -> float:
        """Seconds of fitting and scoring spent so far."""
        return sum(trial.seconds for trial in self.tried)

    @property
    def best(self) -> Trial | None:
        """The best trial, the earliest of equals; None when every trial failed."""
        scored = [trial for trial in self.tried if not math.isnan(trial.value)]
        sign = 1 if metrics.parse(self.budget.metric).higher_is_better else -1
        return max(scored, key=lambda trial: sign * trial.value, default=None)

    @property
    def failure(self) -> Note | None:
        """How many trials have no score, and the first reason; None where all have one."""
        failed = [trial for trial in self.tried if math.isnan(trial.value)]
        if not failed:
            return None
        reason = failed[0].error or "no user of the validation set has a score"
        values = {"n": len(failed), "n_all": len(self.tried), "reason": reason}
        return Note("trials-failed", values)

    def next_settings(self) -> list[Setting]:
        """Return the settings to be tried at once: as many as do not wait for another's value."""
        n_tried, trials, seconds = len(self.tried), self.budget.trials, self.budget.seconds
        if n_tried and (
            not self.space
            or (trials is not None and n_tried - self.n_default >= trials)
            or (seconds is not None and self.seconds >= seconds)
            or (trials is None and n_tried > MOST_FAILED and self.best is None)
        ):
            return []
        one_by_one = seconds is not None or isinstance(self.settings, _Parzen)
        n_wanted = 1 if one_by_one or trials is None else trials + self.n_default - n_tried
        written: list[Setting] = [] if n_tried or not self.n_default else [{}]
        return [*written, *itertools.islice(self.settings, n_wanted - len(written))]


def tune(plan: Plan, pool: Pool) -> tuple[list[Cell], dict[int, Search], dict[str, str]]:
    """Search parameters for every cell whose algorithm has a search; all searches advance together.

    Returned are the cells with the best parameters, the searches by the position of the first cell
    of each, and why no setting could be chosen, by the key of the cell.
    """
    experiment, cells = plan.experiment, list(plan.cells)
    metric = metrics.parse(experiment.tuning.metric)
    searches: dict[tuple[str, int, str, int], tuple[Search, list[int]]] = {}
    for position, cell in enumerate(cells):
        algorithm, seed = experiment.algorithms[cell.algorithm], experiment.draws[cell.seed].search
        if algorithm.search is not None:
            # Without random numbers, the cells of all model seeds are one, and searched once.
            same = (plan.name(cell).row, cell.fold, cell.key, seed)
            if same not in searches:
                space, name = registry.space_of(algorithm), registry.canonical(algorithm.name)
                settings = settings_of(experiment.tuning, space, seed, name, cell.fold)
                n_parts = experiment.tuning.validation_of(experiment.split[cell.split]).n_folds
                searches[same] = Search(cell, space, experiment.tuning, settings, n_parts), []
            searches[same][1].append(position)
    counts = [(n_planned(plan, each.cell.algorithm), each.n_parts) for each, _ in searches.values()]
    unknown = any(n is None for n, _ in counts)  # seconds alone end a search
    n_trials = None if unknown else sum((n or 0) * n_parts for n, n_parts in counts)
    pool.watch(RunPlanned(len(cells), 0, pool.workers, n_trials))
    while trials := [
        (search, setting, [*map(plan.keyed, _parts(search, setting, number))])
        for search, _ in searches.values()
        for number, setting in enumerate(search.next_settings(), start=len(search.tried))
    ]:
        failed = pool.compute([cell for *_, parts in trials for cell in parts], trials=True)
        for search, setting, parts in trials:
            trial = _mean([_outcome(pool, failed, cell, str(metric)) for cell in parts])
            search.tried.append(trial)
            if isinstance(search.settings, _Parzen) and setting:
                search.settings.tell(trial.value if metric.higher_is_better else -trial.value)
    failures = {}
    for search, positions in searches.values():
        best = search.best
        for position in positions:
            cell = cells[position]
            if best is None:
                # A row without a search may have the same cell, whose key must stay free of this
                # failure.
                cells[position] = replace(cell, key=key_of({"not tuned": cell.key}))
                failures[cells[position].key] = f"no setting can be chosen: {search.failure}"
            else:
                cells[position] = plan.keyed(replace(cell, params=best.params))
    return cells, {positions[0]: search for search, positions in searches.values()}, failures


def _parts(search: Search, setting: Setting, number: int) -> Iterator[Cell]:
    """Yield a trial on each fold of the validation."""
    cell = search.cell
    number += 1 - search.n_default
    title = f"{cell.title} · {f'trial {number}' if number else 'as written'}"
    params = with_params(cell.params, setting)
    for part in range(search.n_parts):
        of = f" · part {part + 1}/{search.n_parts}" if search.n_parts > 1 else ""
        yield replace(cell, inner=True, part=part, params=params, title=title + of)


def _outcome(pool: Pool, failed: Mapping[str, Outcome], cell: Cell, label: str) -> Trial:
    """Return how a trial ended on one fold of the validation."""
    trial = Trial(cell.params, math.nan, 0.0, "not computed")
    if outcome := failed.get(cell.key):
        return trial._replace(seconds=outcome.seconds, error=outcome.error)
    if (record := pool.take(cell.key)) and label in record.facts.judged:
        mean, facts = record.facts.judged[label], record.facts
        seconds = facts.fit_seconds + facts.score_seconds
        return Trial(cell.params, math.nan if mean is None else mean, seconds)
    return trial


def _mean(parts: Sequence[Trial]) -> Trial:
    """Return the mean over the folds of the validation; none where one of them has no value."""
    value = float(np.mean([part.value for part in parts]))
    error = next((part.error for part in parts if part.error), None)
    return Trial(parts[0].params, value, sum(part.seconds for part in parts), error)


def describe(
    searches: Mapping[int, Search], cells: Sequence[CellResult | FailedCell]
) -> pd.DataFrame:
    """Write what searches did into the cells they were for; return every trial as a table."""
    rows = []
    of_row: dict[int, list[Search]] = defaultdict(list)
    for search in searches.values():
        of_row[search.cell.algorithm].append(search)
    at_ends = {number: [*_at_ends(group)] for number, group in of_row.items()}
    for position, search in searches.items():
        cell = cells[position]
        cell.n_trials = len({repr(trial.params) for number, trial in search.numbered if number})
        cell.search_seconds = search.seconds
        if isinstance(cell, CellResult):
            notes = filter(None, (*at_ends[search.cell.algorithm], search.failure))
            added = (note.at(cell.algorithm) for note in notes)
            cell.notes = list(dict.fromkeys([*cell.notes, *added]))  # an earlier run's has them
        named = {key: cell[key] for key in (*ROW, "seed", "fold")}
        for number, trial in search.numbered:
            params = json.dumps(trial.params, sort_keys=True)
            ended = {"value": trial.value, "seconds": trial.seconds, "error": trial.error or ""}
            rows.append(named | {"trial": number, "params": params} | ended)
    return pd.DataFrame(rows)


def _at_ends(searches: Iterable[Search]) -> Iterator[Note]:
    """Note which parameters were best at an end that could be moved, for most searches.

    The end of a range is its outer tenth, the end of an ordered list its first or last value.
    """
    ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for search in searches:
        best = search.best
        for name, values in search.space.items():
            value = value_at(best.params, name) if best else None
            code = "near-ends" if isinstance(values, Range) else "list-ends"
            if value is not None and (end := _end(name, values, value)) is not None:
                ends[code, name].append(end)
    near: dict[str, list[str]] = defaultdict(list)
    for (code, name), found in ends.items():
        for end in ("low", "high"):
            if found.count(end) > len(found) / 2:
                near[code].append(
                    f"{name} at the {end} end ({found.count(end)} of {len(found)} searches)"
                )
    return (Note(code, {"ends": names}) for code, names in near.items())


def _end(name: str, values: Values, value: float) -> str | None:
    """Return the end that a value is at, '' for none; None where values have no order."""
    least = parameters.LEAST.get(name.rpartition(".")[2], -math.inf)
    if isinstance(values, Range):
        end, low = values.end(value), values.low
        least = 1 if values.whole else least
    else:
        numbers = _ordered(values)
        if not numbers or isinstance(value, bool | str):
            return None
        low, high = numbers[0], numbers[-1]
        end = "low" if value <= low else "high" if value >= high else ""
        least = max(1, least) if all(isinstance(number, int) for number in numbers) else least
    return "" if end == "low" and low <= least else end


def _ordered(values: Sequence[Value]) -> list[int | float]:
    """Return three numbers or more that rise or fall, from the least; of other values nothing.

    With two values each is an end, which says nothing.
    """
    numbers = [value for value in values if isinstance(value, int | float)]
    rising = sorted(numbers)
    is_list_of_numbers = len(numbers) == len(values) and bool not in map(type, values)
    is_ordered = numbers in (rising, rising[::-1]) and len(set(numbers)) == len(numbers)
    return rising if is_list_of_numbers and is_ordered and len(numbers) >= 3 else []


def n_planned(plan: Plan, algorithm: int) -> int | None:
    """Return the most trials of a search for an algorithm; None where only seconds end it."""
    chosen = plan.experiment.algorithms[algorithm]
    if chosen.search is None:
        return 0
    space, tuning = registry.space_of(chosen), plan.experiment.tuning
    if not space or tuning.trials is None:
        return None if space else 1
    if tuning.method == "tpe":  # which may try a setting again
        return tuning.try_default + tuning.trials
    size = _n_settings(_grid_of(space) if tuning.method == "grid" else space)
    return tuning.try_default + int(min(tuning.trials, size))


def cut_grids(experiment: Experiment) -> Iterator[Note]:
    """Yield a note for each algorithm whose grid has more settings than there are trials."""
    tuning = experiment.tuning
    for algorithm in experiment.algorithms:
        size = _n_settings(_grid_of(registry.space_of(algorithm)))
        if tuning.method == "grid" and tuning.trials is not None and size > tuning.trials:
            values = {"algorithm": algorithm.title, "n": size, "trials": tuning.trials}
            yield Note("grid-cut", values)


def unequal_trials(cells: Iterable[CellResult]) -> Iterator[Note]:
    """Note where searches tried different numbers of settings."""
    numbers: dict[str, set[int]] = defaultdict(set)
    for cell in cells:
        if cell.n_trials is not None:
            numbers[cell.algorithm].add(cell.n_trials)
    if len(set().union(*numbers.values())) > 1:
        ends = {name: sorted({min(counts), max(counts)}) for name, counts in numbers.items()}
        shown = [f"{name} {' to '.join(map(str, counts))}" for name, counts in ends.items()]
        yield Note("trials-differ", {"numbers": shown})


def settings_of(tuning: Tuning, space: SearchSpace, seed: int, *names: object) -> Iterator[Setting]:
    """Return the settings that a search tries: random, listed or modelled, always from a seed."""
    if tuning.method == "tpe":
        return _Parzen(space, seeds.derive(seed, "search", *names))
    rng = seeds.generator(seed, "search", *names)
    if tuning.method == "random":
        return _draws(space, rng)
    grid = _grid_of(space)
    is_whole = _n_settings(grid) <= (tuning.trials or math.inf)
    return _product(grid) if is_whole else _draws(grid, rng)


class _Parzen(Iterator[Setting]):
    """Optuna's tree-structured Parzen estimators (doi:10.5555/2986459.2986743)."""

    def __init__(self, space: SearchSpace, seed: int) -> None:
        optuna = need_optuna("tuning.method: tpe")
        self.space = distributions(space)
        sampler = optuna.samplers.TPESampler(seed=seed)
        self.study = optuna.create_study(direction="maximize", sampler=sampler)

    def __next__(self) -> Setting:
        self.trial = self.study.ask(self.space)
        return dict(self.trial.params)

    def tell(self, value: float) -> None:
        """Report how good the last setting was; larger is better, NaN for one that failed."""
        from optuna.trial import TrialState

        failed = math.isnan(value)
        state = TrialState.FAIL if failed else None
        self.study.tell(self.trial, None if failed else value, state)


def _draws(space: Mapping[str, Values], rng: np.random.Generator) -> Iterator[Setting]:
    """Yield random settings, each once; end when there is no other."""
    size = _n_settings(space)
    seen: set[str] = set()
    n_repeated = 0
    while space and len(seen) < size and n_repeated < MOST_REPEATED:
        setting = {name: _draw(values, rng) for name, values in space.items()}
        if repr(setting) in seen:  # the text distinguishes True from 1, a set does not
            n_repeated += 1
            continue
        seen.add(repr(setting))
        n_repeated = 0
        yield setting
    if len(seen) < size < math.inf:  # a few settings are left that are drawn seldom
        every = {name: _all_values(values) or () for name, values in space.items()}
        yield from (values for values in _product(every) if repr(values) not in seen)


def _n_settings(space: Mapping[str, Values]) -> float:
    """Return how many settings can be drawn; infinity where a range has no end of values."""
    every = map(_all_values, space.values())
    return math.prod(math.inf if values is None else len(values) for values in every)


def _all_values(values: Values) -> Sequence[Value] | None:
    """Return the values that may be drawn, None where there is no end of them."""
    if not isinstance(values, Range):
        return _distinct(values)
    return range(int(values.low), int(values.high) + 1) if values.whole else None


def _draw(values: Values, rng: np.random.Generator) -> Value:
    if not isinstance(values, Range):
        return values[int(rng.integers(len(values)))]
    if values.whole and not values.log:
        return int(rng.integers(int(values.low), int(values.high) + 1))
    # A whole number is the middle of a unit interval, so that both ends are as likely as others.
    low, high = (values.low - 0.5, values.high + 0.5) if values.whole else (values.low, values.high)
    if values.log:
        drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        drawn = float(rng.uniform(low, high))
    return min(max(round(drawn), int(values.low)), int(values.high)) if values.whole else drawn


def _grid_of(space: SearchSpace) -> dict[str, list[Value]]:
    """Return a space of the values that a grid takes."""
    return {name: _points(values) for name, values in space.items()}


def _points(values: Values) -> list[Value]:
    if not isinstance(values, Range):
        return _distinct(values)
    spread = np.geomspace if values.log else np.linspace
    points = spread(values.low, values.high, values.points).tolist()
    return _distinct(sorted(map(round, points)) if values.whole else points)


def _product(space: Mapping[str, Iterable[Value]]) -> Iterator[Setting]:
    if space:
        for combination in itertools.product(*space.values()):
            yield dict(zip(space, combination, strict=True))


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list({repr(value): value for value in values}.values())
