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
from harness.extras.accelerate import entrances, originals, worth
from harness.extras.accelerate.calls import Options, is_active, show_calls, state
from harness.extras.accelerate.worth import US

VERSIONS = ("1.1.5",)
"""Versions of Surprise whose results are the same."""
_MISSING: Any = object()
_changing = RLock()


_installed: list[tuple[Any, str, Any, Any]] = []
"""Each class or module and name, what was there, and what the patch put in its place."""
_made: dict[tuple[Any, str], tuple[Any, Any]] = {}
_measures: dict[str, tuple[types.FunctionType, types.FunctionType]] = {}
"""Each function of ``surprise.accuracy``, and another one with the code that it had."""

selection = surprise.model_selection
Entrance = Callable[[type, str, Any], Callable[..., Any]]


def _methods() -> list[tuple[type, str, Entrance]]:
    """Return the methods that are replaced at once, and what makes that which replaces them."""
    model, trainset, dataset = surprise.AlgoBase, surprise.Trainset, surprise.Dataset
    auto_folds, counted = surprise.dataset.DatasetAutoFolds, entrances.counted
    iterators = selection.KFold, selection.ShuffleSplit, selection.LeaveOneOut
    by_columns: dict[tuple[type, str], Callable[..., float]] = {
        (trainset, "build_testset"): lambda self: 0.2 * US * self.n_ratings,
        (trainset, "build_anti_testset"): worth.saved_by_anti_testset,
        (dataset, "construct_trainset"): lambda _, rows: 0.5 * US * len(rows),
        (auto_folds, "build_full_trainset"): lambda self: 0.5 * US * len(self.raw_ratings),
    }
    baselines, similarities = "compute_baselines", "compute_similarities"
    return [
        *((kind, "fit", entrances.fit) for kind in worth.MODELS),
        (model, "test", entrances.test),
        (model, baselines, counted(baselines, lambda self: US * self.trainset.n_ratings)),
        (
            model,
            similarities,
            counted(similarities, lambda self: worth.saved_by_similarities(self, self.trainset)),
        ),
        *((owner, name, counted(name, saved)) for (owner, name), saved in by_columns.items()),
        (dataset, "read_ratings", counted("load_from_file", entrances.saved_by_reading)),
        (auto_folds, "__init__", entrances.load),
        *((kind, "split", entrances.split) for kind in iterators),
    ]


_OF_WHAT_WAITS = (
    *((kind, "predict") for kind in worth.SLOW_TO_PREDICT),
    (surprise.AlgoBase, "get_neighbors"),
    *((surprise.AlgoBase, name) for name in ("__getattr__", "__getstate__")),
    *((surprise.Trainset, name) for name in ("__getattr__", "__getstate__")),
)
"""The methods that concern only what accelerated calls have made."""


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
        With `strict`, for a version of Surprise that has not been checked. Without it, there is a
        warning and nothing is patched.

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
            state.begin_to_count()
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
        worth.known.prepare = None
        if worth.known.is_loaded:
            _make_what_waits()
        while _installed:
            owner, name, original, replacement = _installed.pop()
            if vars(owner).get(name, _MISSING) is not replacement:
                continue  # a script has put its own there, or has deleted it
            if original is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)
        for name, (function, other) in _measures.items():
            if function.__code__ is getattr(_Measures, name).__code__:
                function.__code__ = other.__code__
        state.is_patched, state.options = False, Options()
        show_calls(False)


def _make_what_waits() -> None:
    """Make all that models and training sets have left for later, and forget the rest."""
    from harness.extras.accelerate import columns, descent, pending

    pending.make_all_models()
    columns.read_all()
    descent.forget_draws()


@contextmanager
def patched_surprise(
    *, strict: bool = False, compare: bool = False, verbose: bool = False, exact: bool = False
) -> Iterator[None]:
    """Patch Surprise within a ``with`` block; parameters are the same as for `patch_surprise`.

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
    # Which packages are installed takes a third of the time of a patch to find out.
    from harness._util.installed import SURPRISE, owners_of_surprise, problem_of_surprise

    found = problem_of_surprise(owners_of_surprise()) or (
        f"version {surprise.__version__}, and the patch is checked with {', '.join(VERSIONS)} only",
        f"run `pip install {SURPRISE}=={VERSIONS[-1]}`",
    )
    message = f"surprise: {found[0]}; nothing is patched; {found[1]}"
    if strict:
        from harness.extras.accelerate.attempts import AccelerationError

        raise AccelerationError(message)
    warnings.warn(message, UserWarning, stacklevel=3)
    return False


def _install() -> None:
    _take_back()
    originals.look(worth.MODELS)
    for owner, name, entrance in _methods():
        original = vars(owner).get(name)
        if name not in vars(owner):
            _put(owner, name, _MISSING, partial(entrance, owner, name, None))
        elif originals.was_own(owner, name):  # else a script put its own there
            _put(owner, name, original, partial(entrance, owner, name, original))
    for module in (selection.validation, selection.search):
        if originals.was_own(module, "fit_and_score"):
            scores = module.fit_and_score
            _put(module, "fit_and_score", scores, partial(entrances.FoldScorer, scores, _scorer))
        if originals.was_own(module, "Parallel"):
            runs, is_search = module.Parallel, module is selection.search
            _put(module, "Parallel", runs, partial(entrances.JobRunner, runs, is_search))
    for name in filter(partial(originals.was_own, surprise.accuracy), originals.MEASURES):
        function = getattr(surprise.accuracy, name)
        if name not in _measures:
            original = types.FunctionType(
                function.__code__, function.__globals__, name, function.__defaults__
            )
            _measures[name] = function, original
        if function is _measures[name][0]:
            function.__code__ = getattr(_Measures, name).__code__
    originals.remember()
    worth.known.prepare = _install_what_waits
    if worth.known.is_loaded:
        worth.known.load()


def _install_what_waits() -> None:
    """Replace the methods of what accelerated calls make, before the first of them.

    Python reads every attribute of a class that has ``__getattr__`` more slowly: a test took a
    third longer. A script of small calls does without.
    """
    with _changing:
        for owner, name in _OF_WHAT_WAITS if _installed else ():  # another thread may unpatch
            if originals.is_own(owner, name):  # else a script put its own there
                value = vars(owner).get(name)
                original = _MISSING if name not in vars(owner) else value
                _put(owner, name, original, partial(entrances.faster, owner, name, value))
                originals.remember_name(owner, name)


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
    _installed.append((owner, name, *made))
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
    rows = predictions if hasattr(predictions, "__len__") else list(predictions)
    if not is_active():
        return original(rows, verbose)
    saved = 0.3 * US * worth.length(rows)
    if worth.is_worth(saved):
        from harness.extras.accelerate.replacements import measured

        return measured(original, name, title, rows, verbose)
    with worth.by_surprise(f"accuracy.{name}", saved):
        return original(rows, verbose)
