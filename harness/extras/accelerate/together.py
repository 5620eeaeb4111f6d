"""The settings of a search that are fitted on the same fold: several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from harness.algorithms import surprise
from harness.algorithms.trainset import ColumnTrainset, Floats
from harness.extras.accelerate import descent, fits, lanes
from harness.extras.accelerate.calls import ACCELERATED, Streams, count, state
from harness.extras.accelerate.columns import columns_of
from harness.extras.accelerate.folds import FoldScorer, Scores

Job = tuple[Callable[..., Scores], tuple[Any, ...], dict[str, Any]]  # as of ``joblib.delayed``
HELD_BYTES = 1 << 28
"""Of vectors that were drawn in the order of the jobs and wait for their fit."""


class JobRunner:
    """Stands in for joblib's ``Parallel`` in Surprise's searches, where one process does it all."""

    def __init__(self, original: Callable[..., Any]) -> None:
        self.original = original

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Return what runs jobs."""
        parallel = self.original(*arguments, **options)
        is_alone = not arguments and options.get("n_jobs") == 1 and not options.get("verbose")
        return run_jobs if is_alone and not state.options.compare else parallel


@dataclass
class PlannedFit:
    """A job whose fit may share its loop with others."""

    job: Job
    columns: ColumnTrainset
    vectors: Sequence[Floats] | None  # None where a seed draws the same at any time

    @property
    def model(self) -> Any:
        """The model of the job, not yet fitted."""
        return self.job[1][0]

    @property
    def group(self) -> tuple[ColumnTrainset, Any, bool]:
        """What the fits of one loop have in common."""
        return self.columns, self.model.n_epochs, bool(self.model.biased)

    @property
    def n_factors(self) -> int:
        """Numbers in each of the model's vectors."""
        return int(self.model.n_factors)

    @property
    def n_bytes(self) -> int:
        """Memory of what was drawn."""
        return 0 if self.vectors is None else sum(side.nbytes for side in self.vectors)


def run_jobs(jobs: Iterable[Job]) -> list[Scores]:
    """Return the result of each job; random numbers are drawn in the order of the jobs."""
    results: list[Scores] = []
    waiting: list[PlannedFit] = []
    for job in jobs:
        planned = plan(job)
        if planned is not None:
            waiting.append(planned)
        if planned is None or sum(fit.n_bytes for fit in waiting) > HELD_BYTES:
            results += _run_planned(waiting)
            waiting = []
        if planned is None:
            results.append(_run(job))
    return results + _run_planned(waiting)


def plan(job: Job) -> PlannedFit | None:
    """Return a job as one that may share its loop; None for any other."""
    function, arguments, options = job
    if not isinstance(function, FoldScorer) or options:
        return None
    model, trainset = arguments[:2]
    if type(model) is not surprise.SVD or model.verbose or "fit" in vars(model):
        return None
    streams = Streams(model.random_state)
    try:
        columns = columns_of(trainset)
        fits.require_ordinary(surprise.SVD, model)
        vectors = None
        if type(model.random_state) is not int:
            vectors = descent.first_vectors(model, columns)
    except Exception:  # the job comes to the same error by itself
        streams.rewind()
        return None
    return PlannedFit(job, columns, vectors)


def _run_planned(planned: list[PlannedFit]) -> list[Scores]:
    results: dict[int, Scores] = {}
    groups: dict[Any, list[int]] = {}
    for place, fit in enumerate(planned):
        groups.setdefault(fit.group, []).append(place)
    for places in groups.values():
        places.sort(key=lambda place: planned[place].n_factors)
        for start in range(0, len(places), lanes.LANES):
            chunk = places[start : start + lanes.LANES]
            results |= zip(chunk, _run_chunk([planned[place] for place in chunk]), strict=True)
    return [results[place] for place in range(len(planned))]


def _run_chunk(planned: list[PlannedFit]) -> list[Scores]:
    try:
        seconds = _fit(planned)
        scores = [_run(fit.job) for fit in planned]
    finally:
        for fit in planned:
            fits.forget_prepared(fit.model)
    return [(test, train, own + seconds, tested) for test, train, own, tested in scores]


def _run(job: Job) -> Scores:
    function, arguments, options = job
    return function(*arguments, **options)


def _fit(planned: list[PlannedFit]) -> float:
    """Let the fits of some jobs be ready when these ask for them; return the seconds of each."""
    begin = perf_counter()
    models = [fit.model for fit in planned]
    try:
        vectors = [
            descent.first_vectors(fit.model, fit.columns) if fit.vectors is None else fit.vectors
            for fit in planned
        ]
    except (TypeError, ValueError):  # which each job shows by itself, in Surprise's words
        return 0.0
    columns = planned[0].columns
    states: list[descent.State | None] = [None] * len(planned)
    # A lane as wide as the widest model costs as much as that model.
    if sum(fit.n_factors for fit in planned) >= 2 * max(fit.n_factors for fit in planned) > 0:
        states = lanes.fit_together(models, columns, vectors)
    for fit, first, learnt in zip(planned, vectors, states, strict=True):
        if learnt is None:
            learnt = descent.fit_svd(fit.model, columns, lambda epoch: None, first)
        fits.prepare(fit.model, learnt)
    seconds = perf_counter() - begin
    if any(learnt is not None for learnt in states):
        count("SVD.fit, several at a time", ACCELERATED, "", seconds)
    return seconds / len(planned)
