"""Fits of a search or of `cross_validate`, several at a time.

They are of several settings on the same fold, or of one setting on several folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from time import perf_counter
from typing import Any

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats
from harness.extras.accelerate import descent, fits, joined_folds, lanes, originals
from harness.extras.accelerate.attempts import Streams
from harness.extras.accelerate.calls import ACCELERATED, NotAccelerated, Scores, count
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.folds import is_ordinary
from harness.extras.accelerate.scored import came_together

FirstVectors = Sequence[Sequence[Floats]]  # of users and of items, for each fit
States = list[descent.State | None]  # None where a fit must be done by itself
FitAll = Callable[[list["PlannedFit"], FirstVectors], States]
Job = tuple[Callable[..., Scores], tuple[Any, ...], dict[str, Any]]  # as of ``joblib.delayed``
HELD_BYTES = 1 << 28
"""Bytes of vectors that were drawn in the order of the jobs, and of folds that await their fit."""
RATING_BYTES = 128
"""Bytes of a rating of a fold, in its columns and its test set."""


@dataclass
class PlannedFit:
    """A job whose fit may share its loop with others."""

    job: Job
    columns: ColumnTrainset
    vectors: Sequence[Floats] | None  # None where a seed draws the same at any time
    streams: Streams  # where they stand when the fit has drawn

    @property
    def model(self) -> Any:
        """The model of the job, not yet fitted."""
        return self.job[1][0]

    @property
    def same_fold(self) -> tuple[ColumnTrainset, Any, bool]:
        """What settings that are fitted side by side on a fold have in common."""
        return self.columns, self.model.n_epochs, bool(self.model.biased)

    @property
    def same_setting(self) -> tuple[Any, ...]:
        """What the fits of one setting on several folds have in common."""
        steps = descent.steps_of(self.model, ("bu", "bi", "pu", "qi"))
        return (*self.same_fold[1:], self.n_factors, *(numbers.tobytes() for numbers in steps))

    @property
    def n_factors(self) -> int:
        """Numbers in each of the model's vectors."""
        return int(self.model.n_factors)

    def n_bytes(self, holds_folds: bool) -> int:
        """Memory of what was drawn and, unless folds are held in any case, of the fold."""
        n_drawn = 0 if self.vectors is None else sum(side.nbytes for side in self.vectors)
        return n_drawn + (0 if holds_folds else self.columns.n_ratings * RATING_BYTES)


def run_jobs(jobs: Iterable[Job], scorer: type, holds_folds: bool = True) -> list[Scores]:
    """Return the result of each job; random numbers are drawn in the order of the jobs.

    Jobs whose function is a `scorer` may share a loop.
    """
    if not holds_folds and not _are_of_surprise(jobs):
        return [_run(job) for job in jobs]
    results: list[Scores] = []
    waiting: list[PlannedFit] = []
    for job in jobs:
        planned = plan(job, scorer, holds_folds)
        if planned is not None:
            waiting.append(planned)
        if planned is None or sum(fit.n_bytes(holds_folds) for fit in waiting) > HELD_BYTES:
            results += _run_planned(waiting)
            waiting = []
        if planned is None:
            results.append(_run(job))
    return results + _run_planned(waiting)


def _are_of_surprise(jobs: Iterable[Job]) -> bool:
    """Return whether jobs come straight from an iterator of Surprise.

    One of somebody's own may change the model or the last fold before it makes the next.
    """
    frame = getattr(jobs, "gi_frame", None)
    folds = None if frame is None else frame.f_locals.get(".0")
    return getattr(folds, "gi_code", None) in {
        getattr(iterator.split, "__code__", None)
        for iterator in (surprise.model_selection.KFold, surprise.model_selection.RepeatedKFold)
    }


def plan(job: Job, scorer: type, holds_folds: bool) -> PlannedFit | None:
    """Return a job as one that may share its loop; None for any other."""
    function, arguments, options = job
    if not isinstance(function, scorer) or options:
        return None
    model, trainset, testset, names = arguments[:4]
    if type(model) is not surprise.SVD or model.verbose or "fit" in vars(model):
        return None
    if not (holds_folds or came_together(trainset, testset)):
        return None
    if not is_ordinary(model, names):
        return None
    streams = Streams(model.random_state)
    try:
        fits.require_ordinary(surprise.SVD, model)
        if not originals.is_own(surprise.SVD, "fit"):  # which may draw before it fits
            raise NotAccelerated("SVD.fit is not Surprise's own")
        columns = columns_of(trainset)
        vectors = None
        if type(model.random_state) is not int:
            vectors = descent.first_vectors(model, columns)
    except Exception:  # the job comes to the same error by itself
        streams.rewind()
        return None
    return PlannedFit(job, columns, vectors, Streams(model.random_state))


def _run_planned(planned: list[PlannedFit]) -> list[Scores]:
    results: dict[int, Scores] = {}
    for places, fit_all in sorted(_batches(planned), key=itemgetter(0)):
        scores = _run_batch([planned[place] for place in places], fit_all)
        results |= zip(places, scores, strict=True)
    return [results[place] for place in range(len(planned))]


def _batches(planned: list[PlannedFit]) -> Iterator[tuple[list[int], FitAll]]:
    """Yield the places of the fits of each loop, and what fits them.

    A model that is fitted several times is so in the order of its jobs.
    """
    alone = []
    for places in _groups(planned, range(len(planned)), attrgetter("same_fold")):
        places.sort(key=lambda place: planned[place].n_factors)
        for start in range(0, len(places), lanes.LANES):
            chunk = places[start : start + lanes.LANES]
            n_models = len({id(planned[place].model) for place in chunk})
            n_factors = [planned[place].n_factors for place in chunk]
            # A lane as wide as the widest model costs as much as that model.
            if n_models == len(chunk) and sum(n_factors) >= 2 * max(n_factors) > 0:
                yield chunk, _fit_settings
            else:
                alone += chunk
    for places in _groups(planned, sorted(alone), attrgetter("same_setting")):
        for part in np.array_split(places, -(-len(places) // joined_folds.FOLDS)):
            yield part.tolist(), _fit_folds


def _groups(
    planned: list[PlannedFit], places: Iterable[int], key: Callable[[PlannedFit], Any]
) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for place in places:
        groups.setdefault(key(planned[place]), []).append(place)
    return [*groups.values()]


def _run_batch(planned: list[PlannedFit], fit_all: FitAll) -> list[Scores]:
    seconds, states = _fit(planned, fit_all)
    return [_run_fitted(fit, learnt, seconds) for fit, learnt in zip(planned, states, strict=True)]


def _run_fitted(fit: PlannedFit, learnt: descent.State | None, seconds: float) -> Scores:
    """Run a job whose fit is done; `seconds` are its proportion of a loop."""
    if learnt is not None:
        fits.prepare(fit.model, learnt)
    try:
        test, train, rest, tested = _run(fit.job)
    except BaseException:
        fit.streams.rewind()  # the jobs behind it have not begun
        raise
    finally:
        fits.forget_prepared(fit.model)
    return test, train, rest + seconds, tested


def _run(job: Job) -> Scores:
    function, arguments, options = job
    return function(*arguments, **options)


def _fit(planned: list[PlannedFit], fit_all: FitAll) -> tuple[float, States]:
    """Return the seconds of each fit of a loop, and what all have learnt."""
    begin = perf_counter()
    try:
        vectors = [
            descent.first_vectors(fit.model, fit.columns) if fit.vectors is None else fit.vectors
            for fit in planned
        ]
    except (TypeError, ValueError):  # which each job shows by itself, in Surprise's words
        return 0.0, [None] * len(planned)
    states = fit_all(planned, vectors)
    n_together = sum(learnt is not None for learnt in states)
    for place, learnt in enumerate(states):
        if learnt is None:
            fit = planned[place]
            states[place] = descent.fit_svd(
                fit.model, fit.columns, lambda epoch: None, vectors[place]
            )
    seconds = perf_counter() - begin
    if n_together > 1:
        count("SVD.fit, several at a time", ACCELERATED, "", seconds)
    return seconds / len(planned), states


def _fit_settings(planned: list[PlannedFit], vectors: FirstVectors) -> States:
    return lanes.fit_together([fit.model for fit in planned], planned[0].columns, vectors)


def _fit_folds(planned: list[PlannedFit], vectors: FirstVectors) -> States:
    if len(planned) == 1:
        return [None]
    trainsets = [fit.columns for fit in planned]
    return [*joined_folds.fit_joined(planned[0].model, trainsets, vectors)]
