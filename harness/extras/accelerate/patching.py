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
from typing import Any

from harness.algorithms import surprise
from harness.extras.accelerate import (
    altered,
    columns,
    descent,
    folds,
    measures,
    pending,
    replacements,
    splits,
    testsets,
    together,
)
from harness.extras.accelerate.calls import (
    AccelerationError,
    Options,
    run,
    show_calls,
    state,
)

VERSIONS = ("1.1.5",)
"""Of Surprise, whose results are the same."""
_MISSING: Any = object()
_changing = RLock()
_originals: list[tuple[Any, str, Any]] = []
_codes: dict[str, types.FunctionType] = {}

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


def _methods() -> list[tuple[type, str, Callable[[Any], Any]]]:
    """Return the methods that are replaced, and by what."""
    model, trainset, dataset = surprise.AlgoBase, surprise.Trainset, surprise.Dataset
    auto_folds = surprise.dataset.DatasetAutoFolds
    by_columns = replacements.from_columns
    return [
        *((kind, "fit", replacements.fit_of(kind)) for kind in MODELS),
        (model, "test", replacements.test),
        (model, "predict", replacements.predict),
        (model, "compute_baselines", replacements.compute_baselines),
        (model, "compute_similarities", replacements.compute_similarities),
        (model, "get_neighbors", replacements.get_neighbors),
        (model, "__getattr__", replacements.missing_attribute_of_model),
        (model, "__getstate__", replacements.state_of_model),
        (trainset, "__getattr__", replacements.missing_attribute_of_trainset),
        (trainset, "__getstate__", replacements.state_of_trainset),
        (trainset, "knows_user", replacements.knows("n_users")),
        (trainset, "knows_item", replacements.knows("n_items")),
        (trainset, "all_ratings", replacements.all_ratings),
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
        (
            selection.KFold,
            "split",
            replacements.split("KFold", splits.k_fold, splits.check_k_fold),
        ),
        (
            selection.ShuffleSplit,
            "split",
            replacements.split("ShuffleSplit", splits.shuffle_split, splits.check_shuffle_split),
        ),
        (
            selection.LeaveOneOut,
            "split",
            replacements.split("LeaveOneOut", splits.leave_one_out),
        ),
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
        while _originals:
            owner, name, original = _originals.pop()
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        for name, function in _codes.items():
            getattr(surprise.accuracy, name).__code__ = function.__code__
        _codes.clear()
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
    altered.look(MODELS)
    for owner, name, replacement in _methods():
        original = vars(owner).get(name, _MISSING)
        if original is _MISSING:
            _set(owner, name, replacement(None))
        elif altered.is_of_surprise(original):  # else a script put its own there
            _set(owner, name, replacement(original))
    for module in (selection.validation, selection.search):
        _set(module, "fit_and_score", folds.FoldScorer(_fit_and_score, _scorer))
        runner = together.JobRunner(module.Parallel, holds_folds=module is selection.search)
        _set(module, "Parallel", runner)
    for name in filter(partial(altered.was_own, surprise.accuracy), altered.MEASURES):
        function = getattr(surprise.accuracy, name)
        _codes[name] = types.FunctionType(
            function.__code__, function.__globals__, name, function.__defaults__
        )
        function.__code__ = getattr(_Measures, name).__code__
    altered.remember()


def _set(owner: Any, name: str, value: Any) -> None:
    _originals.append((owner, name, vars(owner).get(name, _MISSING)))
    setattr(owner, name, value)


def _fit_and_score(*arguments: Any) -> Any:
    """Call Surprise's own function."""
    original = next(old for _, name, old in _originals if name == "fit_and_score")
    return original(*arguments)


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
    original = _codes[name]

    def attempt() -> Any:
        value = measures.value(name, *measures.columns_of_predictions(predictions))
        if verbose:
            print(f"{title}{value:1.4f}")  # noqa: T201 - as Surprise does
        return value

    def check(value: Any) -> None:
        from harness.extras.accelerate.comparison import require_same

        require_same(value, original(predictions, verbose=False), f"accuracy.{name}")

    rows = predictions if hasattr(predictions, "__len__") else list(predictions)
    return run(f"accuracy.{name}", attempt, lambda: original(rows, verbose), check=check)
