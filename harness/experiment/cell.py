"""One cell: fit, estimate, rank; the work that a process or another machine does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

import harness
from harness import rankings
from harness._util import seeds
from harness._util.kernels import n_threads, rows_of_owners
from harness.algorithms import registry
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset
from harness.candidates.base import Candidates, CandidatesSection, Rated
from harness.config.experiment import AlgorithmConfig
from harness.errors import CapacityError, HarnessError
from harness.experiment.execute.attempt import Outcome
from harness.experiment.execute.progress import BEFORE, COMPILING, LOADING, Report
from harness.experiment.memory import PeakMemory, available_bytes
from harness.experiment.plan import Cell, Plan
from harness.metrics import Exposure, Metric, Pairs, Rankings
from harness.metrics.arrays import Floats, Ints
from harness.metrics.scoring import score_apart
from harness.models import estimates as models
from harness.models import estimates as numerical_faults
from harness.notes.note import Note, as_note
from harness.rankings import evaluation
from harness.rankings.catalogue import top_items
from harness.rankings.grouped import offsets_of
from harness.rankings.ties import order_keys, tie_keys
from harness.results.cells import CellFacts, Conditions
from harness.results.environment import Machine
from harness.results.scores import or_none
from harness.results.store import CellRecord, key_of, no_lists
from harness.splits import Split

if TYPE_CHECKING:
    from harness.algorithms import surprise
    from harness.rankings.ties import TieKeys


SHARE_OF_MEMORY = 0.9

FALLBACKS = {"mean": "UserMean", "item-mean": "ItemMean", "popularity": "Popularity"}
"""The algorithm that estimates for users without training ratings, by the config's word."""

Keys: TypeAlias = "tuple[TieKeys, TieKeys]"
"""Keys of the test users, by position, and of the items, by code."""


def attempt(
    cell: Cell,
    report: Report,
    workers: int = 1,
    check: Callable[[BaseException], object] = lambda error: None,
    *,
    plan: Plan,
) -> Outcome:
    """Compute a cell; what goes wrong is its outcome, unless `check` raises the error again."""
    begun = math.inf

    def timed(stage: str, done: int, total: int) -> None:
        nonlocal begun
        begun = min(begun, math.inf if stage in BEFORE else time.perf_counter())
        report(stage, done, total)

    try:
        record = compute(cell, plan, timed, workers)
        return Outcome(max(0.0, time.perf_counter() - begun), record)
    except BaseException as error:  # own code can raise anything, an interrupt too
        check(error)
        seconds = max(0.0, time.perf_counter() - begun)
        return Outcome.failed(error, seconds, plan.experiment.algorithms[cell.algorithm].name)


def compute(cell: Cell, plan: Plan, report: Report, workers: int = 1) -> CellRecord:
    """Fit the algorithm of a cell, estimate the test ratings and rank the candidates."""
    experiment = plan.experiment
    chosen = experiment.algorithms[cell.algorithm]
    section = experiment.candidates[cell.candidates]
    report(LOADING, 0, 0)
    if plan.code.files_planned is not None:
        plan.code.import_files()
    split, inputs = plan.split(cell), plan.inputs(cell)
    if key_of(inputs) != cell.key:
        raise HarnessError(
            f"{cell.title}: the data, the split or the code here are not those that the run was "
            "planned with; a file was changed since, or this worker has another version: run again"
        )
    selected = plan.selected(cell)
    # Code from elsewhere may change what it is given, which must not reach another cell.
    trainset = plan.trainset(split, shared=not registry.is_own(chosen.name))
    refuse_what_cannot_fit(chosen.name, cell.params, trainset)
    model = registry.create(chosen.name, cell.params, cell.seed)
    entry = registry.entry(chosen.name)
    if entry.draws_in_order and chosen.params.get("random_state") is not None:
        folds = plan.splits(cell.dataset, cell.split, cell.seed)[: cell.fold]
        registry.advance(model, sum(len(fold.test) for fold in folds))
    report(COMPILING, 0, 0)
    deciding = plan.deciding if cell.inner else ()
    depth, catalogue = inputs["depth"], section.is_whole_catalogue
    compile_scoring(deciding, depth, catalogue=catalogue)
    if experiment.accelerate:
        models.warm_up(chosen.name, cell.params, whole_catalogue=catalogue)
    peak, state = PeakMemory(), inputs["global_seed"]
    with (
        nullcontext() if cell.inner else peak,  # nothing shows the memory of a trial
        nullcontext() if state is None else seeds.global_generators(state),
        numerical_faults.report_division_by_zero(model),
    ):
        fitting = "fitting by epoch" if hasattr(model, "n_epochs") else "fitting"
        report(fitting, 0, 0)
        start = time.perf_counter()
        how = {"accelerate": experiment.accelerate, "as_surprise": chosen.as_surprise}
        fit_path = models.fit(model, trainset, progress=partial(report, fitting), **how)
        fitted = time.perf_counter()
        report("scoring", 0, 0)
        instead = None
        if experiment.fallback != "default":
            instead = registry.create(FALLBACKS[experiment.fallback], {}, cell.seed)
            models.fit(instead, trainset)
        scorer = Scorer(model, selected, experiment.clip, experiment.accelerate, instead)
        pairs, n_impossible = scorer.pairs()
        named = deciding[0].needs_names if deciding else plan.names_items
        scoring, ids = partial(report, "scoring"), (split.ratings.user_ids, split.ratings.item_ids)
        lists = scorer.rank(section, pairs, depth=depth, named=named, progress=scoring, ids=ids)
        scored = time.perf_counter()
        training: dict[str, float | None] = {}
        if experiment.outputs.training and not cell.inner:
            training = training_values(plan.metrics, split, scorer)
    # Another library's process reports what it measured, without its start.
    elsewhere = getattr(model, "seconds_elsewhere", (None, 0.0))
    machine = Machine.here()
    notes = [*getattr(model, "fit_notes", ())]
    if entry.truncates:
        notes = [*_notes_on_cut_ratings(chosen, trainset, fit_path), *notes]
    facts = CellFacts(
        fit_seconds=fitted - start if elsewhere[0] is None else elsewhere[0],
        score_seconds=scored - fitted + elsewhere[1],
        peak_mb=peak.megabytes,
        measured=Conditions(
            processor=machine.processor,
            cores=machine.cores,
            workers=workers,
            threads=n_threads(),
            version=harness.__version__,
            date=datetime.now(UTC).date().isoformat(),
        ),
        fit_path=fit_path,
        scoring_path=models.scoring_path(model) if experiment.accelerate else "surprise",
        n_impossible=n_impossible,
        n_test=len(selected.items),
        n_unknown_users=selected.n_unknown,
        n_dropped_users=selected.n_dropped,
        notes=[as_note(note).at(chosen.title) for note in notes],
        training=training,
    )
    record = CellRecord(facts, selected.users, lists, pairs, inputs)
    return judged(record, deciding, split) if cell.inner else record


def _notes_on_cut_ratings(
    chosen: AlgorithmConfig, trainset: ColumnTrainset, fit_path: str
) -> Iterator[Note]:
    """Yield a note if an algorithm that cuts ratings to whole numbers was fitted to others."""
    values = trainset.by_user.ratings
    if (values == np.trunc(values)).all():
        return
    if chosen.as_surprise or fit_path == "surprise":
        yield Note("ratings-cut")
    else:
        yield Note("ratings-not-cut")


def refuse_what_cannot_fit(name: str, params: dict[str, object], trainset: ColumnTrainset) -> None:
    """Raise a CapacityError where the memory that is free does not suffice."""
    size = trainset.n_users, trainset.n_items, trainset.n_ratings
    needed = registry.memory(name, params, *size)
    free = _free_in(int(time.monotonic()))
    if needed > SHARE_OF_MEMORY / 2 * free:  # so much may have been taken since
        free = available_bytes()
    if needed > SHARE_OF_MEMORY * free:
        raise CapacityError(
            f"{name}: needs about {needed / 1e9:.3g} GB for {trainset.n_users:,} users and "
            f"{trainset.n_items:,} items, and {free / 1e9:.3g} GB are free; "
            + registry.what_fits(name, params, size, SHARE_OF_MEMORY * free)
        )


@lru_cache(maxsize=1)
def _free_in(second: int) -> int:
    """Return the memory that is free, once a second: to ask takes as long as a small cell."""
    return available_bytes()


@dataclass(frozen=True, eq=False)
class Scorer:
    """A fitted model and candidates, which become pairs and rankings."""

    model: surprise.AlgoBase
    selected: Candidates
    clip: bool
    accelerate: bool
    fallback: surprise.AlgoBase | None = None
    """Fitted to the same training set; it answers for users whom that does not know."""

    def pairs(self) -> tuple[Pairs, int]:
        """Estimate every judged rating, in the order of the test set; count the impossible ones."""
        selected = self.selected
        users, items = np.empty((2, len(selected.items)), dtype=np.int32)
        users[selected.order] = np.repeat(selected.users, np.diff(selected.offsets))
        items[selected.order] = selected.items
        estimates, impossible = self._estimate(users, items)
        pairs = Pairs(selected.offsets, estimates[selected.order], selected.ratings)
        return pairs, int(impossible.sum())

    def rank(
        self,
        section: CandidatesSection,
        pairs: Pairs,
        *,
        depth: int,
        ids: tuple[ArrayLike, ArrayLike],
        named: bool = False,
        progress: Callable[[int, int], object] = lambda done, total: None,
    ) -> Rankings:
        """Rank the candidates of every user.

        The first `depth` items of each list are kept by name, tied ones in an order that the raw
        `ids` or the section decide; with `named`, judged items are too, and the first estimates.
        """
        selected = self.selected
        keys = (tie_keys(ids[0])[selected.users], tie_keys(ids[1])) if depth else None
        if section.is_whole_catalogue:
            keys = None if section.ties_as_in_training else keys

            return rank_catalogue(self, section, keys, depth, named, progress)
        known, n_users = selected.known, len(selected.users)
        owners = np.repeat(np.arange(n_users), np.diff(selected.offsets))
        listed = owners, selected.items, pairs.estimates, selected.ratings
        if not section.only_rated:
            others = np.repeat(np.arange(n_users), np.diff(selected.extra_offsets))
            estimates, _ = self._estimate(selected.users[others], selected.extra_items)
            listed = (
                np.concatenate([owners[known], others]),
                np.concatenate([selected.items[known], selected.extra_items]),
                np.concatenate([pairs.estimates[known], estimates]),
                np.concatenate([selected.ratings[known], np.zeros(len(others))]),
            )
        ranked = _rank_listed(n_users, *listed, keys, depth=depth, named=named, least=section.least)
        if section.only_rated and section.least_estimate is None:
            return ranked
        # A test item that cannot be ranked may still count in the ideal order.
        users, ratings = owners[selected.judged], selected.ratings[selected.judged]
        ideal = ratings[np.lexsort((-ratings, users))]
        return replace(ranked, pool_offsets=offsets_of(users, n_users), pool=ideal)

    def _estimate(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        scorer = models.scorer_of(self.model, self.accelerate)
        estimates, impossible = models.estimates_of(self.model, scorer, users, items, clip=False)
        if self.fallback and (unknown := self.model.trainset.inner_users[users] < 0).any():
            others = models.estimate(self.fallback, users[unknown], items[unknown])
            estimates[unknown], impossible = others[0], impossible.copy()
            impossible[unknown] = others[1]
        models.check_and_clip(self.model, estimates, self.clip)
        return estimates, impossible


def _rank_listed(
    n_users: int,
    owners: Ints,
    items: Codes,
    estimates: Floats,
    relevance: Floats,
    keys: Keys | None = None,
    *,
    depth: int,
    named: bool = False,
    least: float = -np.inf,
) -> Rankings:
    """Rank candidates that are given by pair; owners are positions among the users."""
    rows = np.flatnonzero(estimates >= least)
    rows = rows[np.argsort(owners[rows], kind="stable")]
    users, items, estimates = owners[rows], items[rows], estimates[rows]
    pairs = Pairs(offsets_of(users, n_users), estimates, relevance[rows])
    ranked = rankings.from_grouped(pairs)
    if named:  # row numbers in place of relevances come back in rank order
        numbered = Pairs(pairs.offsets, estimates, np.arange(len(rows)))
        order = rankings.from_grouped(numbered).relevance.astype(np.int64)
        ranked = replace(ranked, items=items[order])
    if not depth:
        return ranked

    equal = None if keys is None else order_keys(keys[0][users], keys[1][items])
    top = top_items(users, np.arange(len(rows)), estimates, n_users, depth, equal)
    shown = np.append(estimates, np.nan)[top] if named else None
    return replace(ranked, top_items=np.append(items, -1)[top], top_estimates=shown)


@cache
def compile_scoring(wanted: tuple[Metric, ...], depth: int, *, catalogue: bool = False) -> None:
    """Rank and score a toy, once in each process, so that no clock holds compilation.

    A metric of somebody else's may fail on it, and not on the lists of a run.
    """
    users, items = np.array([0]), np.array([0, 1, 2], dtype=np.int32)
    estimates, ratings = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    owners, ids = np.zeros(3, dtype=np.int64), np.array(["a", "b", "c"])
    keys = (tie_keys(ids[:1]), tie_keys(ids)) if depth else None
    models.bound(estimates, 1.0, 5.0, 5.0)
    listed = _rank_listed(1, owners, items, estimates, ratings, keys, depth=depth)
    if catalogue:
        rank_toy(estimates, items, ratings, keys, depth)
    if wanted:
        exposure = None
        if any(metric.needs_exposure for metric in wanted):
            exposure = Exposure(
                users, items[:1], users, n_items=3, ratings=ratings[:1], genres=np.eye(3)
            )
        pairs = Pairs([0, 3], estimates, ratings)
        score_apart(wanted, listed, pairs, exposure)


def rank_catalogue(
    scorer: Scorer,
    section: CandidatesSection,
    keys: Keys | None,
    depth: int,
    named: bool,
    progress: Callable[[int, int], object],
) -> Rankings:
    """Rank every training item for every user, a block of users at a time."""
    selected, trainset = scorer.selected, scorer.model.trainset
    excluded, judged = not section.keeps_training_items, selected.judged
    inner = trainset.inner_users[selected.users]
    codes = np.append(trainset.item_codes, -1).astype(np.int32)
    how, parts = {"clip": False, "accelerate": scorer.accelerate}, []
    for start, stop, estimates in models.catalogue(scorer.model, selected.users, **how):
        unknown = np.flatnonzero(inner[start:stop] < 0)
        if scorer.fallback and len(unknown):
            strangers = selected.users[start:stop][unknown]
            for first, last, others in models.catalogue(scorer.fallback, strangers):
                estimates[unknown[first:last]] = others
        models.check_and_clip(scorer.model, estimates, scorer.clip)
        users, rows = rows_of_owners(selected.offsets, np.arange(start, stop))
        users, rows = users[judged[rows]], rows[judged[rows]]
        trained, seen = rows_of_owners(trainset.by_user.offsets, inner[start:stop])
        part = rankings.rank_block(
            estimates,
            offsets_of(users, stop - start),
            trainset.inner_items[selected.items[rows]],
            selected.ratings[rows],
            excluded_offsets=offsets_of(trained, stop - start) if excluded else None,
            excluded_items=trainset.by_user.ids[seen] if excluded else None,
            depth=depth,
            tie_keys=None if keys is None else (keys[0][start:stop], keys[1][codes[:-1]]),
            least=section.least,
        )
        top = None if part.top_items is None else codes[part.top_items]
        shown = part.top_estimates if named else None
        items = codes[part.items] if named else None
        parts.append(replace(part, top_items=top, top_estimates=shown, items=items))
        progress(stop, selected.n_users)
    return Rankings.concatenate(parts)


def rank_toy(
    estimates: Floats, items: Codes, ratings: Floats, keys: Keys | None, depth: int
) -> None:
    """Rank a block of one user, so that no clock holds compilation."""
    block = (estimates[None], [0, 2], items[:2], ratings[:2], [0, 1], [2])
    rankings.rank_block(*block, depth=depth, tie_keys=keys)


def judged(record: CellRecord, deciding: Sequence[Metric], split: Split) -> CellRecord:
    """Return the record of a trial, with its score by label."""
    exposure = evaluation.exposure_for(deciding, split, record.users)
    scores = evaluation.evaluate(deciding, record.rankings, record.pairs, exposure)
    means = {label: or_none(each.mean) for label, each in scores.items()}
    facts = record.facts.model_copy(update={"judged": means})
    return replace(record, facts=facts, **no_lists())


def training_values(
    metrics: Sequence[Metric], split: Split, scorer: Scorer
) -> dict[str, float | None]:
    """Return by label what each metric is on the training ratings, which each user's list ranks.

    Metrics of which items are shown, and those with weights of exposure, have no value there.
    """
    scored = [metric for metric in metrics if not metric.needs_exposure]
    section, trained = Rated(), replace(split, test=split.train)
    of_training = replace(scorer, selected=section.select(trained, 0))
    pairs, _ = of_training.pairs()
    ids = split.ratings.user_ids, split.ratings.item_ids
    lists = of_training.rank(section, pairs, depth=0, ids=ids)
    scores, _ = score_apart(scored, lists, pairs)
    return {label: or_none(of_metric.mean) for label, of_metric in scores.items()}
