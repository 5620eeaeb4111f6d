"""One cell: fit, estimate, rank; the work that a process or another machine does."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import harness
from harness import evaluation, metrics, seeds
from harness.algorithms import models, registry
from harness.algorithms.trainset import ColumnTrainset
from harness.candidates import Catalogue
from harness.config.experiment import AlgorithmConfig
from harness.errors import CapacityError, HarnessError
from harness.experiment.memory import PeakMemory, available_bytes
from harness.experiment.plan import Cell, Plan
from harness.experiment.ranking import compile_scoring, rank, score_pairs
from harness.kernels import n_threads
from harness.results.record import CellFacts, Conditions, Machine
from harness.results.scores import mean_or_none
from harness.results.store import CellRecord, key_of

__all__ = ["BEFORE", "COMPILING", "WAITING", "Outcome", "Report", "Stopwatch", "attempt", "compute"]

Report = Callable[[str, int, int], object]
"""Called with the stage, the steps done and the steps in all."""

WAITING = "waiting"
"""The stage before a cell begins, while another run is computing it."""
LOADING = "loading"
"""The stage in which its data come into memory."""
COMPILING = "compiling"
"""The stage in which loops are compiled, or read from the disk, before a clock starts."""
BEFORE = (WAITING, LOADING, COMPILING)
"""Stages that count neither in the seconds of a cell nor against its time limit."""

SHARE_OF_MEMORY = 0.9
LONGEST_REASON = 500
LONGEST_TRACEBACK = 20_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a cell ended.

    Parameters
    ----------
    seconds : float
        Of fitting and scoring, also of what failed.
    record : CellRecord or None
        The finished cell, None where it failed.
    found : bool
        Whether it was there already.
    error : str or None
        Why it failed, in one line.
    traceback : str
        Of the error, where there is one.
    """

    seconds: float = 0.0
    record: CellRecord | None = None
    found: bool = False
    error: str | None = None
    traceback: str = ""

    @classmethod
    def failed(cls, error: BaseException, seconds: float = 0.0, algorithm: str = "") -> Outcome:
        """Return the outcome of a cell that raised an error.

        Examples
        --------
        >>> Outcome.failed(HarnessError("SVD: no; yes")).error
        'SVD: no; yes'
        """
        module = sys.modules.get(algorithm.partition(":")[0]) if ":" in algorithm else None
        return cls(
            seconds,
            error=_reason(error, getattr(module, "__file__", None)),
            traceback="".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:],
        )


class Stopwatch:
    """Measure the seconds that a cell fits and scores."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._since: float | None = None
        self._seconds = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that a stage begins or advances."""
        self._seconds = self.seconds
        self._since = None if stage in BEFORE else time.perf_counter()
        self._report(stage, done, total)

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        return self._seconds + (0.0 if self._since is None else time.perf_counter() - self._since)


def attempt(
    cell: Cell,
    plan: Plan,
    report: Report,
    workers: int = 1,
    check: Callable[[BaseException], object] = lambda error: None,
) -> Outcome:
    """Compute a cell; whatever goes wrong inside it is its outcome, not an exception.

    `check` is called with every error, to raise again one that ends the run.
    """
    watch = Stopwatch(report)
    try:
        record = compute(cell, plan, watch, workers)
    except BaseException as error:  # own code can raise anything, an interrupt too
        check(error)
        name = plan.experiment.algorithms[cell.algorithm].name
        return Outcome.failed(error, watch.seconds, name)
    return Outcome(watch.seconds, record)


def compute(cell: Cell, plan: Plan, report: Report, workers: int = 1) -> CellRecord:
    """Fit the algorithm of a cell, estimate the test ratings and rank the candidates.

    Returns
    -------
    CellRecord
        Of a trial, without its lists: they are judged at once by the metric that decides.

    Raises
    ------
    CapacityError
        If it would need more memory than is free; nothing is fitted.
    HarnessError
        If the data or the code changed since the cell got its key.
    AlgorithmError
        If the model gives estimates that are not numbers.
    """
    experiment = plan.experiment
    chosen = experiment.algorithms[cell.algorithm]
    section = experiment.candidates[cell.candidates]
    report(LOADING, 0, 0)
    split = plan.split(cell)
    inputs = plan.inputs(cell)
    if key_of(inputs) != cell.key:
        raise HarnessError(
            f"{cell.title}: the data, the split or the code here are not those that the run was "
            "planned with; a file was changed since, or this worker has another version: run again"
        )
    selected = section.select(split, cell.seed)
    # Code from elsewhere may change what it is given, which must not reach another cell.
    trainset = plan.trainset(split, shared=":" not in chosen.name)
    _refuse_what_cannot_fit(chosen.name, cell.params, trainset)
    model = registry.create(chosen.name, cell.params, cell.seed)
    if registry.entry(chosen.name).draws_in_order and chosen.params.get("random_state") is not None:
        folds = plan.splits(cell.dataset, cell.split, cell.seed)[: cell.fold]
        registry.advance(model, sum(len(fold.test) for fold in folds))
    report(COMPILING, 0, 0)
    wanted = (metrics.parse(experiment.tuning.metric),) if cell.inner else ()
    catalogue = isinstance(section, Catalogue)
    compile_scoring(wanted, plan.depth, catalogue=catalogue)
    if experiment.accelerate:
        models.warm_up(chosen.name, cell.params, whole_catalogue=catalogue)
    with PeakMemory() as peak, seeds.global_generators(plan.global_seed(cell)):
        fitting = "fitting by epoch" if hasattr(model, "n_epochs") else "fitting"
        report(fitting, 0, 0)
        start = time.perf_counter()
        fit_path = models.fit(
            model,
            trainset,
            accelerate=experiment.accelerate,
            as_surprise=chosen.as_surprise,
            progress=lambda done, total: report(fitting, done, total),
        )
        fitted = time.perf_counter()
        report("scoring", 0, 0)
        options = {"clip": experiment.clip, "accelerate": experiment.accelerate}
        pairs, n_impossible = score_pairs(model, selected, **options)
        rankings = rank(
            model,
            section,
            selected,
            pairs,
            **options,
            depth=plan.depth,
            progress=lambda done, total: report("scoring", done, total),
            ids=(split.ratings.user_ids, split.ratings.item_ids),
        )
        scored = time.perf_counter()
    machine = Machine.here()
    record = CellRecord(
        facts=CellFacts(
            fit_seconds=fitted - start,
            score_seconds=scored - fitted,
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
            notes=[
                f"{chosen.title}: {note}"
                for note in (*_notes(chosen, trainset, fit_path), *getattr(model, "fit_notes", ()))
            ],
        ),
        users=selected.users,
        kept=selected.kept,
        rankings=rankings,
        pairs=pairs,
        inputs=inputs,
    )
    if not cell.inner:
        return record
    scores = evaluation.evaluate(wanted, rankings, pairs, selected.kept)
    return record.judged({label: mean_or_none([each.mean]) for label, each in scores.items()})


def _reason(error: BaseException, own: str | None) -> str:
    """Return one line with the error and, for errors of other code, the place."""
    if isinstance(error, MemoryError):
        return "out of memory; use fewer workers, a smaller data set or fewer factors"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "no more threads are allowed; raise the limit (ulimit -u, -v) or set HARNESS_THREADS"
    try:
        text = str(error)
    except Exception:  # a foreign class whose message cannot be made
        text = "without a message"
    if not isinstance(error, HarnessError):
        every = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in every if frame.filename == own] or every
        where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        text = f"{type(error).__name__}: {text}{where}"
    shown = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return shown if len(shown) <= LONGEST_REASON else f"{shown[:LONGEST_REASON]} …"


def _notes(chosen: AlgorithmConfig, trainset: ColumnTrainset, fit_path: str) -> Iterator[str]:
    """Yield notes on how an algorithm was fitted."""
    values = trainset.by_user.ratings
    if not registry.entry(chosen.name).truncates:
        return
    if (values == values.astype(int)).all():
        return
    if chosen.as_surprise or fit_path == "surprise":
        yield "fractional ratings are cut to whole numbers, as Surprise does"
    else:
        yield (
            "computed with the true ratings, where Surprise cuts fractional ones to whole numbers; "
            "`as_surprise: true` reproduces that"
        )


def _refuse_what_cannot_fit(name: str, params: dict[str, Any], trainset: ColumnTrainset) -> None:
    size = trainset.n_users, trainset.n_items, trainset.n_ratings
    needed = registry.memory(name, params, *size)
    free = available_bytes()
    if needed > SHARE_OF_MEMORY * free:
        raise CapacityError(
            f"{name}: needs about {needed / 1e9:.1f} GB for {trainset.n_users:,} users and "
            f"{trainset.n_items:,} items, and {free / 1e9:.1f} GB are free; "
            "filter the data, sample users, or leave it out"
        )
