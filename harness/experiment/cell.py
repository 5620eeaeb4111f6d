"""One cell: fit, score, rank; the work that a process or another machine does."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import harness
from harness import evaluation, metrics, seeds
from harness.algorithms import models, registry
from harness.candidates import Catalogue
from harness.config.algorithm import AlgorithmConfig
from harness.errors import CapacityError, HarnessError
from harness.experiment.interrupts import interrupts_kept
from harness.experiment.memory import PeakMemory, available_bytes
from harness.experiment.plan import Cell, depth_of, global_seed, inputs_of, requested_metrics
from harness.experiment.scoring import compile_scoring, rank, score_pairs
from harness.experiment.workspace import Workspace
from harness.kernels import n_threads
from harness.results import environment
from harness.results.record import CellFacts, Conditions
from harness.results.store import CellRecord, CellStore, key_of

__all__ = [
    "BEFORE",
    "COMPILING",
    "WAITING",
    "Outcome",
    "Report",
    "Stopwatch",
    "compute",
    "failure",
    "finish",
]

Report = Callable[[str, int, int], object]
"""Called with the stage, the steps done and the steps in all."""

Outcome = dict[str, Any]
"""``status`` (computed, found, busy or failed), ``seconds`` of fitting and scoring and, when
it failed, ``error`` and perhaps ``traceback``."""

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


class _BusyError(Exception):
    """Another process is computing the cell."""


class Stopwatch:
    """Measure the seconds that a cell fits and scores.

    Parameters
    ----------
    report : callable
        Receives every stage that is reported to the stopwatch.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._since: float | None = None
        self._seconds = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Note that a stage begins or advances."""
        now = time.perf_counter()
        if self._since is not None:
            self._seconds += now - self._since
        self._since = None if stage in BEFORE else now
        self._report(stage, done, total)

    @property
    def seconds(self) -> float:
        """Seconds until now."""
        running = 0.0 if self._since is None else time.perf_counter() - self._since
        return self._seconds + running


def finish(
    cell: Cell,
    workspace: Workspace,
    store: CellStore,
    report: Report,
    *,
    workers: int = 1,
    wait: bool = True,
    fresh: bool = False,
) -> Outcome:
    """Compute a cell and store it, unless it is stored or another process computes it.

    Parameters
    ----------
    cell : Cell
    workspace : Workspace
    store : CellStore
    report : callable
    workers : int
        How many cells are computed at the same time.
    wait : bool
        Whether to wait for another run that is computing the same cell.
    fresh : bool
        Compute it even if it is stored.

    Returns
    -------
    dict
        An `Outcome`. Whatever goes wrong inside the cell is its outcome, not an exception.

    Raises
    ------
    KeyboardInterrupt
        If the process received one, even if the code of the algorithm caught it.
    """
    watch = Stopwatch(report)
    outcome: Outcome = {"status": "computed"}
    with interrupts_kept() as check:
        try:
            with _turn(cell, store, watch, wait=wait):
                if not fresh and store.is_whole(cell.key):
                    outcome["status"] = "found"
                else:
                    store.put(cell.key, compute(cell, workspace, watch, workers))
        except _BusyError:
            outcome["status"] = "busy"
        except BaseException as error:  # own code can raise anything, an interrupt too
            check(error)
            outcome |= failure(error, workspace.experiment.algorithms[cell.algorithm].name)
        check()
    return outcome | {"seconds": watch.seconds}


@contextmanager
def _turn(cell: Cell, store: CellStore, report: Report, *, wait: bool) -> Iterator[None]:
    """Hold a cell's lock; report the wait if another process holds it."""
    with ExitStack() as held:
        try:
            held.enter_context(store.lock(cell.key, patience=0.0))
        except TimeoutError:
            if not wait:
                raise _BusyError from None
            report(WAITING, 0, 0)
            held.enter_context(store.lock(cell.key))
        yield


def compute(cell: Cell, workspace: Workspace, report: Report, workers: int = 1) -> CellRecord:
    """Fit the algorithm of a cell, estimate the test ratings and rank the candidates.

    Parameters
    ----------
    cell : Cell
    workspace : Workspace
    report : callable
    workers : int
        How many cells are computed at the same time; stored with the seconds.

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
    experiment = workspace.experiment
    chosen = experiment.algorithms[cell.algorithm]
    section = experiment.candidates[cell.candidates]
    report(LOADING, 0, 0)
    split = workspace.split(cell)
    inputs = inputs_of(experiment, workspace, cell)
    if key_of(inputs) != cell.key:
        raise HarnessError(
            f"{cell.title}: the data, the split or the code here are not those that the run was "
            "planned with; a file was changed since, or this worker has another version: run again"
        )
    asked = section.select(split, cell.seed)
    # Code from elsewhere may change what it is given, which must not reach another cell.
    trainset = workspace.trainset(split, shared=":" not in chosen.name)
    _refuse_what_cannot_fit(chosen.name, cell.params, trainset)
    model = registry.create(chosen.name, cell.params, cell.seed)
    if registry.draws_in_order(chosen.name) and chosen.params.get("random_state") is not None:
        folds = workspace.splits(cell.dataset, cell.split, cell.seed)[: cell.fold]
        registry.advance(model, sum(len(fold.test) for fold in folds))
    report(COMPILING, 0, 0)
    wanted: tuple[metrics.Metric, ...] = ()
    if cell.inner:
        wanted = (metrics.parse(experiment.tuning.metric),)
    depth = depth_of(requested_metrics(experiment))
    catalogue = isinstance(section, Catalogue)
    compile_scoring(wanted, depth, catalogue=catalogue)
    if experiment.accelerate:
        models.warm_up(chosen.name, cell.params, whole_catalogue=catalogue)
    with PeakMemory() as peak, seeds.global_generators(global_seed(chosen.name, cell)):
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
        pairs, n_impossible = score_pairs(model, asked, **options)
        rankings = rank(
            model,
            section,
            asked,
            pairs,
            **options,
            depth=depth,
            progress=lambda done, total: report("scoring", done, total),
            ids=(split.ratings.user_ids, split.ratings.item_ids),
        )
        scored = time.perf_counter()
    record = CellRecord(
        facts=CellFacts(
            fit_seconds=fitted - start,
            score_seconds=scored - fitted,
            peak_mb=peak.megabytes,
            measured=_conditions(workers),
            fit_path=fit_path,
            scoring_path=models.scoring_path(model) if experiment.accelerate else "surprise",
            n_impossible=n_impossible,
            n_test=len(asked.items),
            notes=[
                *_notes(chosen, trainset, fit_path),
                *(f"{chosen.title}: {note}" for note in getattr(model, "fit_notes", ())),
            ],
        ),
        users=asked.users,
        kept=asked.kept,
        rankings=rankings,
        pairs=pairs,
        inputs=inputs,
    )
    return _judged(record, wanted[0]) if cell.inner else record


def _conditions(workers: int) -> Conditions:
    """Return what the seconds of a cell depend on, and when they were measured."""
    machine = environment.machine()
    return Conditions(
        processor=machine.processor,
        cores=machine.cores,
        workers=workers,
        threads=n_threads(),
        version=harness.__version__,
        date=datetime.now(UTC).date().isoformat(),
    )


def _judged(record: CellRecord, metric: metrics.Metric) -> CellRecord:
    scores = evaluation.evaluate((metric,), record.rankings, record.pairs, record.kept)
    return record.judged({label: values["mean"] for label, values in scores.means.items()})


def failure(error: BaseException, algorithm: str = "") -> Outcome:
    """Return the record of a failed cell: the reason in one line, and the traceback.

    Parameters
    ----------
    error : BaseException
    algorithm : str
        Name of the algorithm; of an own class the line names the place in its file.

    Examples
    --------
    >>> failure(HarnessError("SVD: no; yes"))["error"]
    'SVD: no; yes'
    """
    module = sys.modules.get(algorithm.partition(":")[0]) if ":" in algorithm else None
    return {
        "status": "failed",
        "error": _reason(error, getattr(module, "__file__", None)),
        "traceback": "".join(traceback.format_exception(error))[-LONGEST_TRACEBACK:],
    }


def _reason(error: BaseException, own: str | None) -> str:
    """Return one line with the error and, for errors of other code, the place."""
    if isinstance(error, MemoryError):
        return "out of memory; use fewer workers, a smaller data set or fewer factors"
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


def _notes(chosen: AlgorithmConfig, trainset: Any, fit_path: str) -> list[str]:
    """Return notes on how an algorithm was fitted."""
    if not registry.truncates(chosen.name):
        return []
    values = trainset.by_user.ratings
    if (values == values.astype(int)).all():
        return []
    if chosen.as_surprise or fit_path == "surprise":
        return [f"{chosen.title}: fractional ratings are cut to whole numbers, as Surprise does"]
    return [
        f"{chosen.title}: computed with the true ratings, where Surprise cuts fractional ones to "
        "whole numbers; `as_surprise: true` reproduces that"
    ]


def _refuse_what_cannot_fit(name: str, params: dict[str, Any], trainset: Any) -> None:
    needed = registry.memory(
        registry.canonical(name), params, trainset.n_users, trainset.n_items, trainset.n_ratings
    )
    free = available_bytes()
    if needed > SHARE_OF_MEMORY * free:
        raise CapacityError(
            f"{name}: needs about {needed / 1e9:.1f} GB for {trainset.n_users:,} users and "
            f"{trainset.n_items:,} items, and {free / 1e9:.1f} GB are free; "
            "filter the data, sample users, or leave it out"
        )
