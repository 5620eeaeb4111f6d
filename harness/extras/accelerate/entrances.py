"""Replacements of each method: Surprise's own code, or the accelerated code if it pays.

Nothing here imports the accelerated code before a call is worth it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate import traps, worth
from harness.extras.accelerate.calls import Method, Options, Scores, is_active, state
from harness.extras.accelerate.worth import NS, US

Saved = Callable[..., float]
LINE = 16
"""Bytes of a line of a file of ratings, at least."""
_faster: dict[tuple[type, str, Any], Method] = {}


def faster(owner: type, name: str, original: Method | None) -> Method:
    """Return the accelerated method, which replaces Surprise's own."""
    method = _faster.get((owner, name, original))
    if method is None:
        from harness.extras.accelerate.replacements import METHODS

        method = _faster[owner, name, original] = METHODS[owner, name](original)
    return method


def _is_worth(saved: Saved, *values: Any) -> tuple[bool, float]:
    """Return whether a call is accelerated, and the seconds that this saves."""
    seconds = 0.0
    with suppress(Exception):  # of objects that a script made: the call comes to it by itself
        seconds = saved(*values)
    return worth.is_worth(seconds), seconds


def _is_of_harness(trainset: object) -> bool:
    """Return whether a training set is the package's own, whose methods are as fast already."""
    return type(trainset).__module__.startswith("harness.")


def fit(owner: type, name: str, original: Method) -> Method:
    """Return the ``fit`` of a class."""

    @wraps(original)
    def fit(self: Any, trainset: Any) -> Any:
        if _is_of_harness(trainset) or not is_active():
            return original(self, trainset)
        is_worth, saved = _is_worth(worth.saved_by_fit, self, trainset)
        if is_worth:
            return faster(owner, name, original)(self, trainset)
        traps.warn_of_ratings_to_fit(owner, trainset)
        with worth.by_surprise(f"{type(self).__name__}.fit", saved):
            fitted = original(self, trainset)
        traps.warn_of_divergence(self, trainset)
        return fitted

    return fit


def test(owner: type, name: str, original: Method) -> Method:
    """Return ``AlgoBase.test``."""

    @wraps(original)
    def test(self: Any, testset: Any, verbose: bool = False) -> Any:
        if _is_of_harness(worth.held(self, "trainset")) or not is_active():
            return original(self, testset, verbose)
        is_worth, saved = _is_worth(
            lambda: worth.saved_by_test(self, self.trainset, worth.length(testset))
        )
        if is_worth:
            return faster(owner, name, original)(self, testset, verbose)
        rows = testset if isinstance(testset, list | tuple) else list(testset)
        if worth.kind_of(self) is not None:
            traps.warn_of_rows(self, rows)
        with worth.by_surprise(f"{type(self).__name__}.test", saved):
            return original(self, rows, verbose)

    return test


def counted(call: str, saved: Saved) -> Callable[[type, str, Method], Method]:
    """Return what makes any other method; `saved` takes the arguments of the method."""

    def make(owner: type, name: str, original: Method) -> Method:
        @wraps(original)
        def method(self: Any, *arguments: Any, **options: Any) -> Any:
            if _is_of_harness(self) or not is_active():
                return original(self, *arguments, **options)
            is_worth, seconds = _is_worth(saved, self, *arguments)
            if is_worth:
                return faster(owner, name, original)(self, *arguments, **options)
            of = f"{type(self).__name__}." if isinstance(self, surprise.AlgoBase) else ""
            with worth.by_surprise(of + call, seconds):
                return original(self, *arguments, **options)

        return method

    return make


def load(owner: type, name: str, original: Method) -> Method:
    """Return ``DatasetAutoFolds.__init__``."""

    @wraps(original)
    def begin(self: Any, ratings_file: Any = None, reader: Any = None, df: Any = None) -> None:
        if is_active() and _is_worth(lambda: US * len(df))[0]:
            faster(owner, name, original)(self, ratings_file, reader, df)
            return
        original(self, ratings_file, reader, df)
        if is_active():
            traps.warn_of_raw_ratings(self.raw_ratings, reader)

    return begin


def split(owner: type, name: str, original: Method) -> Method:
    """Return the ``split`` of an iterator over folds."""

    @wraps(original)
    def split(self: Any, data: Any) -> Iterator[Any]:
        if not is_active():
            yield from original(self, data)
            return
        n_folds = 0
        with suppress(Exception):
            n_folds = int(vars(self)["n_splits"])
        if _is_worth(lambda: 0.7 * US * n_folds * len(data.raw_ratings))[0]:
            yield from faster(owner, name, original)(self, data)
            return
        with worth.by_surprise(f"{owner.__name__}.split", 0.0):
            folds = original(self, data)
        yield from worth.each_fold(folds, n_folds)

    return split


class FoldScorer:
    """Replaces ``fit_and_score``.

    `patch` is called with the options in another process, where this object is unpickled.
    """

    def __init__(
        self, original: Callable[..., Scores], patch: Callable[[Options], FoldScorer]
    ) -> None:
        self.original, self.patch = original, patch

    def __reduce__(self) -> tuple[Any, ...]:
        return self.patch, (state.options,)

    def __call__(
        self,
        algo: Any,
        trainset: Any,
        testset: Any,
        measures: list[str],
        return_train_measures: bool = False,
    ) -> Scores:
        """Fit on the training set and score the test set."""
        arguments = algo, trainset, testset, measures, return_train_measures
        if not is_active() or not _is_worth(worth.saved_by_fit, algo, trainset)[0]:
            return self.original(*arguments)
        from harness.extras.accelerate import folds

        return folds.score(self.original, *arguments)


class JobRunner:
    """Replaces joblib's ``Parallel`` in Surprise's own calls, where one process does it all.

    A search holds all its folds in any case; `cross_validate` makes one after the other, and
    `holds_folds` is False.
    """

    def __init__(self, original: Callable[..., Any], holds_folds: bool) -> None:
        self.original, self.holds_folds = original, holds_folds

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Return what runs jobs."""
        parallel = self.original(*arguments, **options)
        is_alone = not arguments and options.get("n_jobs") == 1 and not options.get("verbose")
        if is_active() and options.get("n_jobs") not in (None, 1):
            state.runs_elsewhere = True
        if not is_alone or not is_active() or state.options.compare:
            return parallel
        return partial(self.run, parallel)

    def run(self, parallel: Callable[..., Any], jobs: Any) -> Any:
        """Run the jobs of a search or of `cross_validate`."""
        seconds = 0.0
        more: Iterable[Any] = jobs
        if not worth.known.is_loaded:
            with suppress(Exception):
                if not self.holds_folds:
                    seconds = _saved_by_folds(jobs.gi_frame.f_locals)
            if self.holds_folds:
                first: Any = next(jobs, None)
                more = jobs if first is None else chain([first], jobs)
                with suppress(Exception):
                    seconds = _saved_by_search(jobs.gi_frame.f_locals, *first[1][:3])
        if not worth.is_worth(seconds):
            return parallel(more)
        from harness.extras.accelerate import together

        return together.run_jobs(more, FoldScorer, self.holds_folds)


def _saved_by_folds(variables: dict[str, Any]) -> float:
    """Return the seconds that the fits of `cross_validate` save together, if they are of SVD."""
    model, folds = variables["algo"], variables[".0"].gi_frame.f_locals
    n = vars(folds["self"])["n_splits"] * len(folds["data"].raw_ratings)
    if worth.kind_of(model) is not surprise.SVD:
        return 0.0
    return float(1.5 * NS * n * model.n_epochs * model.n_factors)


def _saved_by_search(variables: dict[str, Any], model: Any, trainset: Any, testset: Any) -> float:
    """Return the seconds that all jobs of a search save that are like the first."""
    n_folds = 1 + trainset.n_ratings / len(testset)
    each = worth.saved_by_fit(model, trainset) + worth.saved_by_test(model, trainset, len(testset))
    return float(each * n_folds * len(variables["self"].param_combinations))


def saved_by_reading(_: Any, path: Any) -> float:
    """Return the seconds that reading a file of ratings saves."""
    return 0.5 * US * Path(path).expanduser().stat().st_size / LINE
