"""Surprise's methods replaced by faster ones, and put back.

Methods of Surprise's own classes are replaced, not names in modules, so that it does not matter
what was imported before. The functions of ``surprise.accuracy`` have no class: their code is
replaced, so that a function that was imported by name is the faster one too.
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import Any, NamedTuple

from harness.algorithms import surprise
from harness.extras.accelerate import (
    altered,
    columns,
    descent,
    folds,
    measures,
    one_by_one,
    pending,
    replacements,
    splits,
    testsets,
    together,
)
from harness.extras.accelerate.calls import AccelerationError, Options, run, show_calls, state
from harness.extras.accelerate.comparison import require_same

VERSIONS = ("1.1.5",)
"""Of Surprise, whose results are the same."""
_MISSING: Any = object()
_changing = RLock()


class _Place(NamedTuple):
    """What a class or module held, and what the patch put in its place."""

    owner: Any
    name: str
    original: Any
    replacement: Any


_installed: list[_Place] = []
_made: dict[tuple[Any, str], tuple[Any, Any]] = {}
_measures: dict[str, tuple[types.FunctionType, types.FunctionType]] = {}
"""Each function of ``surprise.accuracy``, and another one with the code that it had."""

MODELS = (
    surprise.SVD,
    surprise.SVDpp,
    surprise.NMF,
    surprise.SlopeOne,
    surprise.CoClustering,
    surprise.BaselineOnly,
    surprise.NormalPredictor,
    surprise.KNNBasic,
    surprise.KNNWithMeans,
    surprise.KNNWithZScore,
    surprise.KNNBaseline,
)
selection = surprise.model_selection
ITERATORS: dict[type, tuple[Callable[..., Any], ...]] = {
    selection.KFold: (splits.k_fold, splits.check_k_fold),
    selection.ShuffleSplit: (splits.shuffle_split, splits.check_shuffle_split),
    selection.LeaveOneOut: (splits.leave_one_out,),
}


def _methods() -> list[tuple[type, str, Callable[[Any], Any]]]:
    """Return the methods that are replaced, and by what."""
    model, trainset, dataset = surprise.AlgoBase, surprise.Trainset, surprise.Dataset
    auto_folds = surprise.dataset.DatasetAutoFolds
    by_columns = replacements.from_columns
    return [
        *((kind, "fit", replacements.fit_of(kind)) for kind in MODELS),
        (model, "test", replacements.test),
        *((kind, "predict", replacements.predict) for kind in one_by_one.ESTIMATES),
        (model, "compute_baselines", replacements.compute_baselines),
        (model, "compute_similarities", replacements.compute_similarities),
        (model, "get_neighbors", replacements.get_neighbors),
        (model, "__getattr__", replacements.missing_attribute_of_model),
        (model, "__getstate__", replacements.state_of_model),
        (trainset, "__getattr__", replacements.missing_attribute_of_trainset),
        (trainset, "__getstate__", replacements.state_of_trainset),
        (trainset, "build_testset", by_columns(testsets.build_testset, "build_testset")),
        (
            trainset,
            "build_anti_testset",
            by_columns(testsets.build_anti_testset, "build_anti_testset"),
        ),
        (dataset, "read_ratings", by_columns(splits.read_ratings, "load_from_file")),
        (
            dataset,
            "construct_trainset",
            by_columns(splits.construct_trainset, "construct_trainset"),
        ),
        (auto_folds, "__init__", replacements.load),
        (
            auto_folds,
            "build_full_trainset",
            by_columns(splits.build_full_trainset, "build_full_trainset"),
        ),
        *((kind, "split", replacements.split(kind, *how)) for kind, how in ITERATORS.items()),
    ]


def patch_surprise(
    *, strict: bool = False, compare: bool = False, verbose: bool = False, exact: bool = False
) -> None:
    """Make Surprise itself faster, in this process and in those that joblib starts for it.

    Scripts stay as they are: models, training sets, predictions and what is dumped are Surprise's
    own classes, and results are equal to the last bit, but for SVD++ on more than small data (see
    `exact`).

    Parameters
    ----------
    strict : bool
        Raise where a call cannot be accelerated; by default Surprise's own code answers.
    compare : bool
        Run both sides of each call, and raise at the first bit that differs. Implies `exact`.
    verbose : bool
        Log for each call which way it took, why, and the seconds, on standard error.
    exact : bool
        Let SVD++ add up in Surprise's order whatever it costs. By default it does so where that
        takes less than about half a second; otherwise factors differ by about 1e-13.

    Raises
    ------
    AccelerationError
        With `strict`, for a version of Surprise that has not been checked. Without it, a warning
        says so and nothing is patched.

    Notes
    -----
    To patch twice is to patch once, with the later options. What Surprise does without a word has a
    warning: ratings outside the scale, ids of another type, NaN ratings, fits that diverged, half
    stars that are read as whole ones.

    Examples
    --------
    >>> import harness
    >>> harness.patch_surprise()
    >>> harness.unpatch_surprise()
    """
    options = Options(strict, compare, verbose, exact)
    with _changing:
        if not _is_checked_version(strict):
            return
        show_calls(verbose)
        if not state.is_patched:
            state.counts.clear()
            _install()
        state.options, state.is_patched = options, True


def unpatch_surprise() -> None:
    """Put Surprise's own methods back; models and training sets go on working.

    >>> import harness
    >>> harness.unpatch_surprise()
    """
    with _changing:
        if not state.is_patched:
            return
        pending.make_all_models()
        columns.read_all()
        descent.forget_draws()
        while _installed:
            place = _installed.pop()
            if vars(place.owner).get(place.name, _MISSING) is not place.replacement:
                continue  # a script has put its own there, or has deleted it
            if place.original is _MISSING:
                delattr(place.owner, place.name)
            else:
                setattr(place.owner, place.name, place.original)
        for name, (function, original) in _measures.items():
            if function.__code__ is getattr(_Measures, name).__code__:
                function.__code__ = original.__code__
        state.is_patched, state.options = False, Options()
        show_calls(False)


@contextmanager
def patched_surprise(
    *, strict: bool = False, compare: bool = False, verbose: bool = False, exact: bool = False
) -> Iterator[None]:
    """Patch Surprise within a ``with`` block; parameters are those of `patch_surprise`.

    >>> import harness
    >>> with harness.patched_surprise():
    ...     pass
    """
    before = state.options if state.is_patched else None
    patch_surprise(strict=strict, compare=compare, verbose=verbose, exact=exact)
    try:
        yield
    finally:
        if before is None:
            unpatch_surprise()
        else:
            patch_surprise(**vars(before))


def _is_checked_version(strict: bool) -> bool:
    if surprise.__version__ in VERSIONS:
        return True
    message = (
        f"surprise: version {surprise.__version__}, and the patch is checked with "
        f"{', '.join(VERSIONS)} alone; nothing is patched"
    )
    if strict:
        raise AccelerationError(message)
    warnings.warn(message, UserWarning, stacklevel=3)
    return False


def _install() -> None:
    _take_back()
    altered.look(MODELS)
    for owner, name, replacement in _methods():
        original = vars(owner).get(name)
        if name not in vars(owner):
            _put(owner, name, _MISSING, partial(replacement, None))
        elif altered.was_own(owner, name):  # else a script put its own there
            _put(owner, name, original, partial(replacement, original))
    for module in (selection.validation, selection.search):
        if altered.was_own(module, "fit_and_score"):
            scores = module.fit_and_score
            _put(module, "fit_and_score", scores, partial(folds.FoldScorer, scores, _scorer))
        if altered.was_own(module, "Parallel"):
            runs, is_search = module.Parallel, module is selection.search
            _put(module, "Parallel", runs, partial(together.JobRunner, runs, is_search))
    for name in filter(partial(altered.was_own, surprise.accuracy), altered.MEASURES):
        function = getattr(surprise.accuracy, name)
        if name not in _measures:
            original = types.FunctionType(
                function.__code__, function.__globals__, name, function.__defaults__
            )
            _measures[name] = function, original
        if function is _measures[name][0]:
            function.__code__ = getattr(_Measures, name).__code__
    altered.remember()


def _take_back() -> None:
    """Let a method that a script has put back after the patch ended be Surprise's own again."""
    for (owner, name), (original, replacement) in _made.items():
        if vars(owner).get(name, _MISSING) is replacement:
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


def _put(owner: Any, name: str, original: Any, make: Callable[[], Any]) -> None:
    """Put a replacement in a place: the same each time, since a script may hold it."""
    made = _made.get((owner, name))
    if made is None or made[0] is not original:
        made = _made[owner, name] = original, make()
    _installed.append(_Place(owner, name, *made))
    setattr(owner, name, made[1])


def _scorer(options: Options) -> Any:
    """Return the scorer of folds in a process that joblib has started."""
    with _changing:
        if not state.is_patched:
            patch_surprise(**vars(options))
    return selection.validation.fit_and_score


class _Measures:
    """The code of ``surprise.accuracy`` under the patch; names are looked up where it runs."""

    @staticmethod
    def rmse(predictions, verbose=True):  # type: ignore[no-untyped-def]
        from harness.extras.accelerate.patching import measured

        return measured("rmse", "RMSE: ", predictions, verbose)

    @staticmethod
    def mse(predictions, verbose=True):  # type: ignore[no-untyped-def]
        from harness.extras.accelerate.patching import measured

        return measured("mse", "MSE: ", predictions, verbose)

    @staticmethod
    def mae(predictions, verbose=True):  # type: ignore[no-untyped-def]
        from harness.extras.accelerate.patching import measured

        return measured("mae", "MAE:  ", predictions, verbose)

    @staticmethod
    def fcp(predictions, verbose=True):  # type: ignore[no-untyped-def]
        from harness.extras.accelerate.patching import measured

        return measured("fcp", "FCP:  ", predictions, verbose)


def measured(name: str, title: str, predictions: Any, verbose: Any) -> Any:
    """Return what a function of ``surprise.accuracy`` does."""
    original = _measures[name][1]

    def attempt() -> Any:
        altered.require_own_measures()
        value = measures.value(name, *measures.columns_of_predictions(predictions))
        if verbose:
            print(f"{title}{value:1.4f}")  # noqa: T201 - as Surprise does
        return value

    def check(value: Any) -> None:
        require_same(value, original(predictions, verbose=False), f"accuracy.{name}")

    rows = predictions if hasattr(predictions, "__len__") else list(predictions)
    return run(f"accuracy.{name}", attempt, lambda: original(rows, verbose), check=check)
