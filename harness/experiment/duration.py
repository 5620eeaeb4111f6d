"""How long a run will take, from a probe: each algorithm on samples of users, timed by stage.

A cell of a sample is computed by the functions that compute a cell of a run. Its seconds are
multiplied by what the cells of the run have more of: the work of the algorithm (`Algorithm.work`),
candidates and users. Samples grow while the probe stays short. Nothing is stored.
"""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from harness._util.kernels import compiled_before, n_threads
from harness.algorithms import registry
from harness.algorithms.base import Counts, Work
from harness.algorithms.parameters import with_params
from harness.candidates.base import Candidates, CandidatesSection
from harness.config.experiment import LOCAL, Seeds
from harness.errors import HarnessError, counted
from harness.experiment.cell import compute
from harness.experiment.evaluate import evaluate
from harness.experiment.execute.attempt import Workplace
from harness.experiment.plan import Cell, Plan
from harness.experiment.tuning import n_planned, settings_of
from harness.metrics.arrays import Floats
from harness.plugins import registry as plugins
from harness.results.store import CellRecord
from harness.splits import Split
from harness.statistics import MANY_USERS

SMALLEST, GROWTH = 2_000, 4
"""Training ratings of the first sample, and how much larger the next is."""
BUDGET = 1.0
"""Seconds that all samples but the first may take, divided among the cells of a sample."""
MOST_STEPS = 5e9
"""Steps of about a nanosecond of one cell of the first sample, above which it is not probed."""
MOST_SETTINGS = 200
"""Settings of a search whose work is added up."""
MOST_USERS = 1 << 30

# Steps of about a nanosecond, as those of `Work`: what a stage takes of any algorithm.
A_FIT, A_SCORING = 5e5, 3e6
A_PAIR, A_USER, AN_ITEM, A_COMPARISON = 300.0, 2_000.0, 12.0, 0.7

# Seconds of what no probe measures, on an ordinary machine.
START = 1.6
"""To start Python, import, and load compiled code."""
CHILD = 1.8
"""To start a process for cells."""
A_CELL = 0.012
"""To store a cell and read it again."""
A_RUN = 0.25
"""To describe a run and write it."""

NAMES = {
    "start": "start",
    "data": "data and splits",
    "fits": "fits",
    "scores": "estimates and lists",
    "trials": "search trials",
    "metrics": "metrics and analyses",
    "comparison": "comparison",
}
"""Parts of the time of a run, in words."""

Seconds = Floats
"""Seconds of the clock and of the processor, shape (2,)."""


@dataclass
class Duration:
    """The time of a run all of whose cells have to be computed."""

    parts: dict[str, float] = field(default_factory=dict)
    """Seconds by the keys of `NAMES`."""
    processor: float = 0.0
    """Processor seconds in all."""
    cells: list[float | None] = field(default_factory=list)
    """For each algorithm, seconds of its longest cell."""
    shares: dict[str, float] = field(default_factory=dict)
    """For each algorithm by its label, its proportion of the seconds, trials included."""
    unknown: list[str] = field(default_factory=list)
    """Why the time cannot be told."""
    probe: str = ""
    """What was probed."""
    probe_seconds: float = 0.0
    """What the probe took."""
    has_compiled: bool = False
    """Whether the probe was the first here to compile loops; its seconds leave that out."""

    @property
    def seconds(self) -> float | None:
        """Seconds of the whole run; None where a part cannot be estimated."""
        return None if self.unknown else sum(self.parts.values())

    def describe(self) -> str:
        """Return the time in words, and where most of it is."""
        if self.unknown:
            more = f", and {len(self.unknown) - 1} more" if len(self.unknown) > 1 else ""
            return f"cannot be told: {self.unknown[0]}{more}"
        total = sum(self.parts.values())
        text = f"about {in_words(total)} on this machine"
        label, share = max(self.shares.items(), key=lambda each: each[1], default=("", 0.0))
        if share < 0.5:
            key, seconds = max(self.parts.items(), key=lambda each: each[1])
            label, share = NAMES[key], seconds / total
        return f"{text}, {share:.0%} of it in {label}"


def in_words(seconds: float) -> str:
    """Return a time with two digits at most, in the unit that a reader would choose.

    >>> [in_words(s) for s in (0.02, 0.44, 8.2, 71, 200, 5000, 9000, 300_000)]
    ['0.02 s', '0.4 s', '8 s', '71 s', '3 min', '83 min', '2.5 h', '3.5 days']
    """
    if seconds < 1.5:
        return f"{max(seconds, 0.01):.1g} s"
    for unit, size in (("s", 1), ("min", 60)):
        if seconds < 90 * size:
            return f"{seconds / size:.0f} {unit}"
    value, unit = (seconds / 3600, "h") if seconds < 48 * 3600 else (seconds / 86_400, "days")
    return f"{value:.2g} {unit}" if value < 10 else f"{value:.0f} {unit}"


def not_told(plan: Plan, n_all: int) -> Iterator[str]:
    """Yield why no probe tells the time of a run of `n_all` data sets, some of which were read."""
    experiment = plan.experiment
    if experiment.execution.executor != LOCAL:
        yield f"cells are computed by {experiment.execution.executor}"
    if len(plan.read) < n_all:
        yield "not all data are read here"
    for number, algorithm in enumerate(experiment.algorithms):
        if not registry.entry(algorithm.name).is_probed:
            yield f"{algorithm.title} is of another library, which is not probed"
        elif n_planned(plan, number) is None:
            yield f"the search of {algorithm.title} ends by seconds"


def estimate(plan: Plan, n_all: int, seconds_of_data: Seconds) -> Duration:
    """Probe the algorithms of a plan whose data were read and divided, and add up its cells.

    Parameters
    ----------
    plan : Plan
        Of the data sets that were read, each of which every split divides.
    n_all : int
        Data sets of the config.
    seconds_of_data : ndarray of float64, shape (2,)
        What reading and dividing took, by the clock and the processor.
    """
    told = Duration(unknown=[*not_told(plan, n_all)])
    told.cells = [None] * len(plan.experiment.algorithms)
    if not plan.read:
        return told

    told.has_compiled = not compiled_before()
    sizes = {number: len(ratings.ratings) for number, (ratings, _) in plan.read.items()}
    probe = _Probe(plan, max(sizes, key=lambda number: sizes[number]))
    probe.run()
    told.unknown += probe.failed.values()
    told.probe, told.probe_seconds = probe.describe(), float(probe.seconds[0])
    sums = _Sums(plan, probe)
    try:
        sums.add_up()
    except HarnessError as error:  # of a part that a check does not look at
        told.unknown.append(str(error))
    sums.parts["start"] = START * probe.ordinary
    sums.parts["data"] += seconds_of_data
    told.parts, told.processor = sums.seconds()
    told.cells = sums.longest
    total = sum(told.parts.values())
    for algorithm, seconds in zip(plan.experiment.algorithms, sums.of_algorithms, strict=True):
        share = min(1.0, seconds / total)
        told.shares[algorithm.title] = told.shares.get(algorithm.title, 0.0) + share
    return told


@dataclass
class _Law:
    """How long a cell took, and its work."""

    before: Seconds
    fit: Seconds
    scores: Seconds
    counts: Counts
    work: Work

    def of(self, work: Work, counts: Counts) -> tuple[Seconds, Seconds]:
        """Return the seconds of a fit and of its scores, of a cell with other counts."""
        fit = (work.fit + A_FIT) / (self.work.fit + A_FIT)
        scores = (work.scores + _ranking(counts)) / (self.work.scores + _ranking(self.counts))
        return self.fit * fit, self.scores * scores


def _ranking(counts: Counts) -> float:
    """Return the steps of ranking and storing what was estimated."""
    rows = counts.n_lists * AN_ITEM * counts.n_items
    if counts.n_lists:
        rows += A_COMPARISON * counts.n_pairs * counts.n_items
    return A_SCORING + A_PAIR * counts.n_pairs + A_USER * counts.n_tested + rows


def _counts(split: Split, section: CandidatesSection, chosen: Candidates, extra: float) -> Counts:
    """Return the counts of a fold and its candidates; `extra` unrated ones of each user."""
    ratings = split.ratings
    of_users = np.bincount(ratings.users[split.train], minlength=ratings.n_users)
    of_items = np.bincount(ratings.items[split.train], minlength=ratings.n_items)
    pairs_of_users = np.zeros(len(of_users))
    pairs_of_users[chosen.users] = np.diff(chosen.offsets) + extra
    pairs_of_items = np.bincount(chosen.items, minlength=len(of_items)).astype(np.float64)
    known = of_items > 0
    pairs_of_items[known] += extra * chosen.n_users / max(1, int(np.count_nonzero(known)))
    n_lists = chosen.n_users if section.is_whole_catalogue else 0
    return Counts(of_users, of_items, pairs_of_users, pairs_of_items, n_lists)


class _Records:
    """The records of a sample, in place of the cells that a run stores."""

    def __init__(self, records: dict[str, CellRecord]) -> None:
        self.records, self.computed = records, {*records}

    def take(self, key: str) -> CellRecord | None:
        return self.records.get(key)

    def watch(self, event: object) -> None:
        """Show nothing."""


class _Probe:
    """Cells of growing samples of one data set, under the first split of the config."""

    def __init__(self, plan: Plan, dataset: int) -> None:
        self.plan, self.dataset = plan, dataset
        self.fold = plan.splits(dataset, 0, plan.experiment.seed[0])[0]
        self.laws: dict[tuple[int, int], _Law] = {}
        """By candidates and algorithm, of the largest sample that was probed."""
        self.extra: list[float] = [0.0] * len(plan.experiment.candidates)
        """Unrated candidates of a user."""
        self.scored: list[tuple[int, Seconds]] = []
        """For each sample, its users, and the seconds of metrics and analyses a cell."""
        self.failed: dict[int, str] = {}
        """By algorithm, -1 for what follows them, why there are no seconds."""
        self.n_fits = self.n_largest = 0
        self.seconds = np.ones(2)

    def describe(self) -> str:
        """Return what was probed."""
        fits = counted(self.n_fits, "fit")
        return f"{fits} on up to {self.n_largest:,} ratings, in {in_words(float(self.seconds[0]))}"

    @property
    def ordinary(self) -> Seconds:
        """What an ordinary second is here: more by the clock where others use the processor."""
        wall, processor = self.seconds
        return np.array([max(1.0, wall / max(processor, 1e-3)), 1.0])

    def run(self) -> None:
        """Compute cells of samples, the next sample only where it takes little time."""
        begun = _now()
        experiment = self.plan.experiment
        entries = [registry.entry(each.name) for each in experiment.algorithms]
        numbers = [n for n, entry in enumerate(entries) if entry.is_probed]
        all_places = [*itertools.product(range(len(experiment.candidates)), numbers)]
        places = all_places
        share = BUDGET / max(1, len(places))
        size, last, evaluates = SMALLEST, 0, True
        while places:
            fold = _sample(self.fold, size)
            if len(fold.train) > last:  # else a first user has more ratings than that
                places = self._probe(fold, places, share if last else np.inf, evaluates)
                taken = self.scored[-1][1][0] * len(numbers) if self.scored else 0.0
                evaluates = len(self.scored) < 2 or taken < BUDGET / 3 or self._is_resampled
                last = len(fold.train)
            if last == len(self.fold.train):
                break
            size *= GROWTH
        for place in all_places:
            title = experiment.algorithms[place[1]].title
            if place not in self.laws:
                self.failed.setdefault(place[1], f"no sample has candidates for {title}")
        self.seconds = _now() - begun

    def _probe(
        self, fold: Split, places: Sequence[tuple[int, int]], share: float, evaluates: bool
    ) -> list[tuple[int, int]]:
        """Compute cells of a sample; return which of them took little time."""
        kept: list[tuple[int, int]] = []
        for candidates, of_candidates in itertools.groupby(places, lambda place: place[0]):
            section = self.plan.experiment.candidates[candidates]
            plan = _plan_of(self.plan, self.dataset, fold, candidates)
            try:
                cells = {cell.algorithm: cell for cell in plan.cells}
                first = plan.selected(plan.cells[0])
            except (Exception, SystemExit):  # too few test ratings, or your own code fails
                kept += [*of_candidates]
                continue
            extra = len(first.extra_items) / max(1, first.n_users)
            self.extra[candidates] = extra
            counts = _counts(fold, section, first, extra)
            records: dict[str, CellRecord] = {}
            for _, number in of_candidates:
                cell, place = cells[number], (candidates, number)
                name = plan.experiment.algorithms[number].name
                work = registry.work(name, cell.params, counts)
                law = self.laws.get(place)
                if law is None and work.fit + work.scores > MOST_STEPS:
                    title = self.plan.experiment.algorithms[number].title
                    self.failed[number] = f"{title} takes long on the smallest sample, too"
                    continue
                if law and np.sum(law.of(work, counts), axis=0)[0] > share:
                    continue
                record = self._compute(plan, cell, candidates, counts, work)
                if record is not None:
                    records[cell.key] = record
                    kept.append(place)
            if evaluates and candidates == 0 and records:
                self._evaluate(plan, [c for c in plan.cells if c.key in records], records)
        return kept

    def _compute(
        self, plan: Plan, cell: Cell, candidates: int, counts: Counts, work: Work
    ) -> CellRecord | None:
        """Compute a cell and keep how long its stages took; None if it fails."""
        marks: list[tuple[str, Seconds]] = []

        def report(stage: str, done: int, total: int) -> None:
            if not marks or marks[-1][0] != stage:
                marks.append((stage, _now()))

        try:
            record = compute(cell, plan, report)
        except (Exception, SystemExit) as error:  # a class of your own can raise anything
            title = plan.experiment.algorithms[cell.algorithm].title
            self.failed.setdefault(cell.algorithm, f"{title} failed on a sample ({error})")
            return None
        marks.append(("", _now()))
        stages: dict[str, Seconds] = defaultdict(lambda: np.zeros(2))
        for (stage, start), (_, stop) in itertools.pairwise(marks):
            stages[stage.partition(" ")[0]] += stop - start
        self.n_fits += 1
        self.n_largest = max(self.n_largest, int(counts.n_ratings))
        before, fit, scores = (stages[stage] for stage in ("loading", "fitting", "scoring"))
        self.laws[candidates, cell.algorithm] = _Law(before, fit, scores, counts, work)
        return record

    def _evaluate(self, plan: Plan, cells: Sequence[Cell], records: dict[str, CellRecord]) -> None:
        """Score the cells of a sample, which its analyses see."""
        for _ in range(1 if self.scored else 2):  # the first time also loads what is compiled
            start = _now()
            try:
                evaluate(plan, cells, _Records(records), {})  # type: ignore[arg-type]
            except (Exception, SystemExit) as error:
                self.failed.setdefault(-1, f"metrics or analyses failed on a sample ({error})")
                return
        n_users = len(next(iter(records.values())).users)
        self.scored.append((n_users, (_now() - start) / len(cells)))

    @property
    def _is_resampled(self) -> bool:
        """Whether the last sample had too few users for the quicker statistics of the run."""
        n_users = len(np.unique(self.fold.ratings.users[self.fold.test]))
        return self.scored[-1][0] < MANY_USERS <= n_users

    def of_users(self, n_users: int) -> Seconds:
        """Return the seconds of metrics and analyses of a cell with so many users."""
        if not self.scored:
            return np.zeros(2)
        (before, fewer), (last, seconds) = self.scored[0], self.scored[-1]
        slope = np.maximum(seconds - fewer, 0.0) / max(1, last - before)
        if last == before:
            slope = seconds / max(1, last)
        return np.maximum(seconds - slope * last, 0.0) + slope * n_users


def _now() -> Seconds:
    return np.array([time.perf_counter(), time.process_time()])


def _sample(fold: Split, size: int) -> Split:
    """Return a fold of as many users, chosen at random, as have `size` training ratings."""
    if size >= len(fold.train):
        return fold
    ratings = fold.ratings
    order = np.random.default_rng(0).permutation(ratings.n_users)
    counts = np.bincount(ratings.users[fold.train], minlength=ratings.n_users)[order]
    chosen = np.zeros(ratings.n_users, np.bool_)
    chosen[order[: int(np.searchsorted(np.cumsum(counts), size)) + 1]] = True
    train, test = (rows[chosen[ratings.users[rows]]] for rows in (fold.train, fold.test))
    return replace(fold, train=train, test=test, fingerprint=f"{fold.fingerprint} {size}")


def _plan_of(plan: Plan, dataset: int, fold: Split, candidates: int) -> Plan:
    """Return the plan of one fold with the algorithms of another plan, under its first seed."""
    experiment = plan.experiment
    seed = experiment.seed[0]
    changed = {
        "dataset": [experiment.dataset[dataset]],
        "split": [experiment.split[0]],
        "candidates": [experiment.candidates[candidates]],
        "seed": [seed],
        "seeds": Seeds(),
        "analyses": [n for n in experiment.analyses if plugins.find("analyses", n).is_builtin],
    }
    one = experiment.model_copy(update=changed)
    vars(one).pop("draws", None)  # of the seeds of the whole run
    parts = {(0, 0, seed): [fold]}
    return Plan(
        one, plan.document, read={0: plan.read[dataset]}, _splits=parts, code_planned=plan.code
    )


class _Sums:
    """The seconds of all cells of a plan."""

    def __init__(self, plan: Plan, probe: _Probe) -> None:
        self.plan, self.probe = plan, probe
        algorithms = plan.experiment.algorithms
        self.parts: dict[str, Seconds] = {name: np.zeros(2) for name in NAMES}
        self.of_algorithms = [0.0] * len(algorithms)
        self.longest: list[float | None] = [None] * len(algorithms)
        self.n_cells = self.n_trials = 0

    def add_up(self) -> None:
        """Add the cells of all data sets, splits and candidates."""
        experiment = self.plan.experiment
        for dataset, split in itertools.product(self.plan.read, range(len(experiment.split))):
            folds = self.plan.splits(dataset, split, experiment.seed[0])
            n_seeds = len(experiment.split_seeds)
            alike = n_seeds > 1 and self._is_seedless(dataset, split, folds)
            n_users, n_compared = 0, 0
            for candidates, section in enumerate(experiment.candidates):
                chosen = section.tested(folds[0])
                counts = _counts(folds[0], section, chosen, self.probe.extra[candidates])
                n_users = max(n_users, chosen.n_users)
                n_compared += 1
                for number in range(len(experiment.algorithms)):
                    self._add(dataset, split, candidates, number, counts, len(folds), alike)
            n_rows = len(experiment.algorithms)
            n_users = min(n_users * len(folds), self.plan.read[dataset][0].n_users)
            self.parts["comparison"] += n_compared * self._comparison(n_rows, n_users)

    def _is_seedless(self, dataset: int, split: int, folds: Sequence[Split]) -> bool:
        """Return whether the split is the same under another seed."""
        second = [*self.plan.experiment.draws][-1]
        start = _now()
        other = self.plan.splits(dataset, split, second)[0]
        self.parts["data"] += (_now() - start) * (len(self.plan.experiment.split_seeds) - 1)
        return other.fingerprint == folds[0].fingerprint

    def _add(
        self,
        dataset: int,
        split: int,
        candidates: int,
        number: int,
        counts: Counts,
        n_folds: int,
        alike: bool,
    ) -> None:
        """Add the cells of an algorithm in one table, and the trials of its searches."""
        experiment, law = self.plan.experiment, self.probe.laws.get((candidates, number))
        if law is None:
            return
        algorithm = experiment.algorithms[number]
        seeded = registry.takes_seed(algorithm.name)
        seeded = seeded and algorithm.params.get("random_state") is None
        n_draws = len(experiment.draws)
        # Cells without random numbers are one for all model seeds, or for all that split alike.
        n_alike = 1 if seeded else n_draws if alike else experiment.seeds.model
        n_cells = n_folds * n_draws
        n_distinct = max(1, n_cells // n_alike)
        cost = partial(_limited, experiment.execution.time_limit)
        fit, scores = law.of(registry.work(algorithm.name, algorithm.params, counts), counts)
        prepared = law.before * counts.n_ratings / max(1.0, law.counts.n_ratings)
        self.parts["fits"] += cost(fit) * n_distinct
        self.parts["scores"] += (cost(scores) + prepared / len(experiment.algorithms)) * n_distinct
        self.parts["metrics"] += self.probe.of_users(counts.n_tested) * n_cells
        self.parts["metrics"] += A_CELL * n_distinct * self.probe.ordinary
        self.n_cells += n_distinct
        self.longest[number] = max(self.longest[number] or 0.0, float((fit + scores)[0]))
        in_all = (cost(fit) + cost(scores)) * n_distinct
        trials = self._trials(dataset, split, candidates, number, law) * n_distinct
        self.parts["trials"] += trials
        self.of_algorithms[number] += float((in_all + trials)[0])

    def _trials(self, dataset: int, split: int, candidates: int, number: int, law: _Law) -> Seconds:
        """Return the seconds of one search: of the settings that it tries, on its validation."""
        plan, experiment = self.plan, self.plan.experiment
        algorithm, n = experiment.algorithms[number], n_planned(plan, number)
        if not n:
            return np.zeros(2)
        seed = experiment.seed[0]
        inner = plan.inner(split, seed, plan.splits(dataset, split, seed)[0])
        section = experiment.candidates[candidates]
        chosen = section.tested(inner[0])
        counts = _counts(inner[0], section, chosen, self.probe.extra[candidates])
        tuning = experiment.tuning
        if tuning.method == "tpe":  # which nobody knows before the values
            tuning = tuning.model_copy(update={"method": "random"})
        space, n_default = registry.space_of(algorithm), int(tuning.try_default)
        settings = settings_of(tuning, space, seed, registry.canonical(algorithm.name), 0)
        tried = [*itertools.islice(settings, min(n - n_default, MOST_SETTINGS))]
        tried += [{}] * (n_default or not tried)
        cost = partial(_limited, experiment.execution.time_limit)
        total = np.zeros(2)
        for setting in tried:
            params = with_params(algorithm.params, setting)
            of_setting = law.of(registry.work(algorithm.name, params, counts), counts)
            total += cost(np.sum(of_setting, axis=0))
        self.n_cells += n * len(inner)
        return (total / len(tried) + A_CELL * self.probe.ordinary) * n * len(inner)

    def _comparison(self, n_rows: int, n_users: int) -> Seconds:
        """Return the seconds of intervals and tests of one table."""
        settings = self.plan.experiment.statistics
        if settings is None:
            return np.zeros(2)
        n_metrics = len(self.plan.metrics)
        if n_users >= MANY_USERS and settings.resamples is None:
            seconds = n_rows * n_metrics * (1e-7 * n_users + 7e-4)
        else:
            drawn = (settings.resamples or 10_000) / 10_000
            seconds = 0.0035 * n_rows * n_metrics + 5e-5 * n_users * (1 + 0.2 * n_metrics) * drawn
        return seconds * self.probe.ordinary

    def seconds(self) -> tuple[dict[str, float], float]:
        """Return the seconds of each part, shared by the workers, and of the processor in all."""
        plan, workers = self.plan, self.plan.experiment.execution.workers
        self.parts["metrics"] += A_RUN * self.probe.ordinary
        of_cells = ("fits", "scores", "trials")
        factor, added = 1.0, 0.0
        in_others = workers > 1 or plan.experiment.execution.time_limit is not None
        algorithms = range(len(self.longest))
        places = (plan.code.place(Cell(0, 0, 0, n, 0, 0, 1, "", {})) for n in algorithms)
        if in_others or Workplace.RECORDED in places:
            wall, processor = sum((self.parts[name] for name in of_cells), np.zeros(2))
            shared = max(
                wall / max(1, min(workers, self.n_cells)),
                processor / n_threads(),
                max(filter(None, self.longest), default=0.0),
            )
            factor, added = shared / max(wall, 1e-9), CHILD * float(self.probe.ordinary[0])
        walls = {n: float(s[0]) * (factor if n in of_cells else 1.0) for n, s in self.parts.items()}
        self.of_algorithms = [seconds * factor for seconds in self.of_algorithms]
        walls["start"] += added
        return walls, float(sum(s[1] for s in self.parts.values())) + CHILD * workers * (added > 0)


def _limited(limit: float | None, seconds: Seconds) -> Seconds:
    """Return the seconds of a cell, which a time limit may end."""
    return seconds if limit is None else np.minimum(seconds, limit)
