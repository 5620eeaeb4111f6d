"""Models that are fitted and scored in compiled loops.

`fit` sets on a model the attributes that ``model.fit`` sets, so that it can be dumped, loaded and
used like any other; `estimate` and `catalogue` give for whole blocks of users and items what
``model.predict`` gives for each pair. If a model is not one of Surprise's own, or does something
else, they call it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

import numpy as np
import numpy.typing as npt

from harness._util.arguments import MOST_RATING, as_array, checked, is_floating
from harness._util.kernels import kernel
from harness.algorithms import base, parameters, registry, surprise
from harness.algorithms.predicted import predicted
from harness.algorithms.sources import source_of
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats, RatingLists
from harness.algorithms.trainset import GroupedLists as Lists
from harness.errors import AlgorithmError, DataError, counted


def check_ratings(trainset: ColumnTrainset) -> None:
    """Refuse ratings that are not finite, as a training set made by hand may have."""
    if not np.isfinite(trainset.by_user.ratings).all():
        raise DataError(of_ratings(trainset))


@contextmanager
def report_division_by_zero(model: surprise.AlgoBase) -> Iterator[None]:
    """Say what a division by zero in an algorithm means; one in your own class stays as is."""
    try:
        yield
    except ZeroDivisionError as error:
        if type(model).__module__.partition(".")[0] not in ("surprise", "harness"):
            raise
        raise AlgorithmError(of_division_by_zero(model)) from error


# Models that were dumped by an earlier version look for the first three here.
__all__ = ["ColumnTrainset", "Lists", "RatingLists", "catalogue", "estimate", "fit"]

Path = Literal["accelerated", "surprise"]
Outcome = tuple[Floats, Bools]  # estimates, and which are impossible

MOST_FINITE = float(np.finfo(np.float64).max)


@checked(AlgorithmError)
def fit(
    model: surprise.AlgoBase,
    trainset: surprise.Trainset,
    *,
    accelerate: bool = True,
    as_surprise: bool = False,
    progress: base.Progress | None = None,
) -> Path:
    """Fit a model, with the same attributes afterwards as from its own ``fit``.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted in place; its ``trainset`` is a `ColumnTrainset` afterwards. Among parameters that
        Surprise does not have, a ``random_state`` on a `surprise.NormalPredictor` seeds its draws.
    trainset : surprise.Trainset
        What to fit on; copied into columns if it is not in columns yet.
    accelerate : bool
        False calls ``model.fit`` whatever the model is.
    as_surprise : bool
        `SlopeOne` and `CoClustering` cast ratings to integers in Surprise, so that 4.5 stars count
        as 4. By default the true ratings are used here; True does as Surprise does. Whole stars
        give the same either way, and ``model.fit`` always casts.
    progress : callable, optional
        Called with steps done and steps in all, from time to time.

    Returns
    -------
    str
        ``accelerated``, or ``surprise`` where the model's own ``fit`` was called: for a class that
        Surprise does not have, a subclass that changes how it is fitted, parameters of unusual
        types, parameters that Surprise refuses, and a few algorithms where a user rated an item
        twice.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> fit(model, trainset)
    'accelerated'
    >>> model.predict("bob", "y").est
    np.float64(3.0)
    """
    columns = ColumnTrainset.from_surprise(trainset)
    check_ratings(columns)
    entry = registry.entry_of(type(model)) if accelerate and columns.n_ratings else None
    if isinstance(model, surprise.NormalPredictor):
        seed = getattr(model, "random_state", None)
        if seed is not None:
            model.generator = surprise.utils.get_rng(seed)
    if entry is None or not entry.may_fit(model, columns):
        model.fit(columns)
        return "surprise"
    surprise.AlgoBase.fit(model, columns)
    how = base.FitOptions(progress or (lambda step, n_steps: None), as_surprise)
    entry.fit(model, columns, how)
    return "accelerated"


@checked(AlgorithmError)
def estimate(
    model: surprise.AlgoBase,
    users: npt.ArrayLike,
    items: npt.ArrayLike,
    *,
    clip: bool = True,
    accelerate: bool = True,
) -> tuple[Floats, Bools]:
    """Estimate many ratings at once.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted by `fit`.
    users, items : array-like of int, shape (n,)
        Data set codes of each pair; the training set need not know them.
    clip : bool
        Clip estimates to the rating scale like ``predict`` by default.
    accelerate : bool
        False calls ``model.predict`` for each pair.

    Returns
    -------
    estimates : ndarray of float64, shape (n,)
        What ``model.predict(user, item, clip=clip).est`` gives for each pair.
    impossible : ndarray of bool, shape (n,)
        Where the model has no estimate and its default prediction is used.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y", "z"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> estimates, impossible = estimate(model, [1, 1], [1, 2])
    >>> estimates.round(3).tolist(), impossible.tolist()
    ([3.0, 3.667], [False, True])
    """
    codes = codes_of(users), codes_of(items)
    if len(codes[0]) != len(codes[1]):
        lengths = f"{len(codes[0])} users and {len(codes[1])} items"
        raise AlgorithmError(f"estimate: {lengths}; give one item for each user")
    return estimates_of(model, scorer_of(model, accelerate), *codes, clip)


def check_and_clip(model: surprise.AlgoBase, estimates: Floats, clip: bool) -> None:
    """Clip in place; Surprise's own clipping turns NaN into the top of the scale."""
    if n_bad := _clip(model, estimates, clip):
        raise AlgorithmError(of_estimates(model, estimates, n_bad, clip=clip))


def _clip(model: surprise.AlgoBase, estimates: Floats, clip: bool) -> int:
    """Clip in place if the estimates are ratings; return how many are not finite."""
    of_ratings = not is_preference(model)
    low, high = model.trainset.rating_scale if clip and of_ratings else (-np.inf, np.inf)
    flat = estimates.reshape(-1)
    # Errors of ratings are squared; of preferences the order alone counts.
    n_bad = bound(flat, float(low), float(high), MOST_RATING if of_ratings else MOST_FINITE)
    if not np.shares_memory(flat, estimates):
        estimates[...] = flat.reshape(estimates.shape)
    return n_bad


@kernel
def bound(values: Floats, lowest: float, highest: float, most: float) -> int:
    """Clip in place, NaN to `highest` as Python's min does; return how many are not numbers.

    Those are what is not finite, and what is beyond `most` when it is clipped.
    """
    n_bad = 0
    for place in range(len(values)):
        value = values[place]
        is_bad = value - value != 0.0
        value = value if value < highest else highest
        value = value if value > lowest else lowest
        n_bad += is_bad | (abs(value) > most)
        values[place] = value
    return n_bad


def is_preference(model: surprise.AlgoBase) -> bool:
    """Return whether a model's estimates are not ratings, so that the scale does not bound them."""
    return bool(getattr(model, "is_preference", False))


def not_ratings(model: surprise.AlgoBase) -> str:
    """Return what a model's estimates are if they are not estimates of ratings, else nothing."""
    entry = registry.entry_of(type(model))
    return "a preference" if is_preference(model) else entry.not_ratings if entry else ""


def scoring_path(model: surprise.AlgoBase) -> Path:
    """Return which code `estimate` and `catalogue` use for a fitted model."""
    entry = registry.entry_of(type(model))
    return "accelerated" if entry and entry.may_score(model) else "surprise"


def codes_of(given: npt.ArrayLike) -> Codes:
    codes = as_array("users or items", given, np.int64, AlgorithmError)
    if codes.ndim != 1:
        raise AlgorithmError(f"users or items: codes of shape {codes.shape}; give one a row")
    if codes.size and codes.min() < 0:  # NumPy would count from the end
        raise AlgorithmError(f"users or items: {codes.min()} is not a code; give codes from 0")
    return codes


def scorer_of(model: surprise.AlgoBase, accelerate: bool) -> base.Algorithm | None:
    """Return what scores a fitted model in blocks; None where its own ``predict`` must."""
    if not isinstance(getattr(model, "trainset", None), ColumnTrainset):
        raise AlgorithmError(
            f"{type(model).__name__}: the model was not fitted on a training set in columns; "
            "fit it with harness.models.estimates.fit"
        )
    entry = registry.entry_of(type(model))
    if not accelerate or entry is None or not entry.may_score(model):
        return None
    try:
        return entry(model)
    except base.NeedsSurprise:
        return None


def estimates_of(
    model: surprise.AlgoBase,
    scorer: base.Algorithm | None,
    users: Codes,
    items: Codes | None,
    clip: bool,
) -> Outcome:
    """Return the estimates of pairs or, without items, of all training items for each user."""
    trainset: ColumnTrainset = model.trainset
    if scorer is None:
        return _predicted(model, users, items, clip)
    inner_users = users if scorer.takes_codes else trainset.inner_users[users]
    try:
        if items is None:
            estimates, none = scorer.rows(inner_users)
        else:
            inner_items = items if scorer.takes_codes else trainset.inner_items[items]
            estimates, none = scorer.pairs(inner_users, inner_items)
    except base.NeedsSurprise:  # these similarities have no order
        return _predicted(model, users, items, clip)
    impossible = np.broadcast_to(none, estimates.shape)
    if np.any(none):
        estimates[impossible] = model.default_prediction()
    if clip and not is_preference(model):
        _clip(model, estimates, clip)
    return estimates, impossible


def _predicted(model: surprise.AlgoBase, users: Codes, items: Codes | None, clip: bool) -> Outcome:
    return predicted(model, users, items, clip and not is_preference(model))


_warm: set[str] = set()
_SMALL = {
    **{"n_epochs": 1, "min_k": 1, "n_cltr_u": 1, "n_cltr_i": 1, "n_factors": 2, "k": 2},
    **{"k_core": 1, "min_rating": None},  # the toy would not pass filters
}
"""Parameters that are cheap to compute, and that fit a toy."""
_TOY_CODES = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 2]], np.int32)
_TOY_RATINGS, _TOY_IDS = [1.0, 2.0, 3.0, 4.0, 5.0, 3.0], ["a", "b", "c"]


def _kinds(value: object) -> object:
    """Return options with the type in place of each number: other numbers need no other loops."""
    if isinstance(value, Mapping):
        return sorted((key, _kinds(option)) for key, option in value.items())
    return type(value) if isinstance(value, int | float) and value not in (0, 1) else value


def warm_up(name: str, params: parameters.Params, *, whole_catalogue: bool = True) -> None:
    """Compile what an algorithm needs by fitting a toy, once in a process for each set of options.

    For your own class, its base class is compiled.
    """
    if "/" in name:
        source_of(name).prepare(name, params)
        return
    entry = registry.entry_of(registry.find(name))
    if entry is None or not entry.compiles:
        return
    names, _ = parameters.accepted(entry.model_class)
    cheap = {key: _SMALL.get(key, value) for key, value in params.items() if key in names}
    identity = repr((entry.name, whole_catalogue, _kinds(cheap)))
    if identity in _warm:
        return
    _warm.add(identity)
    (users, items), ids = _TOY_CODES, {"user_ids": _TOY_IDS, "item_ids": _TOY_IDS}
    toy = ColumnTrainset.from_columns(users, items, _TOY_RATINGS, **ids, scale=(1.0, 5.0))
    model = registry.create(entry.name, cheap, seed=0)
    fit(model, toy)
    estimates_of(model, scorer_of(model, accelerate=True), users, items, clip=True)
    if whole_catalogue:
        next(catalogue(model, users[:1]))


BLOCK_BYTES = 32_000_000  # of the estimates that `catalogue` yields at a time


@checked(AlgorithmError)
def catalogue(
    model: surprise.AlgoBase,
    users: npt.ArrayLike,
    *,
    clip: bool = True,
    accelerate: bool = True,
    block: int | None = None,
) -> Iterator[tuple[int, int, Floats]]:
    """Estimate the rating of every training item for each user, some users at a time.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted by `fit`.
    users : array-like of int, shape (n,)
        Data set codes.
    clip : bool
        Clip estimates to the rating scale.
    accelerate : bool
        False calls ``model.predict`` for each pair.
    block : int, optional
        Users at a time; by default as many as have 32 MB of estimates.

    Yields
    ------
    start, stop : int
        Which part of `users` it is.
    estimates : ndarray of float64, shape (stop - start, n_items)
        Items in the order of inner ids; the array is the caller's to change.

    Examples
    --------
    >>> from harness.models.estimates import ColumnTrainset, fit
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> for start, stop, estimates in catalogue(model, [1, 0]):
    ...     print(start, stop, estimates.tolist())
    0 2 [[5.0, 3.0], [4.0, 2.0]]
    """
    codes = codes_of(users)
    scorer = scorer_of(model, accelerate)
    row = 8 * max(model.trainset.n_items, 1)
    size = block or max(1, BLOCK_BYTES // row)
    at_once = size if block or scorer is None else max(size, scorer.block_bytes // row)
    for first in range(0, len(codes), at_once):
        estimates = estimates_of(model, scorer, codes[first : first + at_once], None, clip)[0]
        for start in range(0, len(estimates), size):
            part = estimates[start : start + size]
            yield first + start, first + start + len(part), part


_LEARNED = ("bu", "bi", "pu", "qi", "yj")
"""Attributes that gradient descent computes, which diverges where its steps are too long."""

BY_ZERO = (
    "division by zero, as where all ratings are equal (standard deviation 0); "
    "use other parameters or another algorithm"
)
DIVERGED = "; the fit diverged: lower the learning rate or raise the regularisation"


def of_ratings(trainset: ColumnTrainset) -> str:
    """Return which rating of a training set is not finite."""
    offsets, items, ratings = trainset.by_user
    row = int(np.argmin(np.isfinite(ratings)))
    user = int(np.searchsorted(offsets, row, side="right")) - 1
    pair = f"user {trainset.to_raw_uid(user)!r}, item {trainset.to_raw_iid(int(items[row]))!r}"
    return f"trainset: {pair}: the rating {ratings[row]} is not finite; drop it or give it a value"


def of_estimates(model: surprise.AlgoBase, estimates: Floats, n_bad: int, *, clip: bool) -> str:
    """Return what estimates of which `n_bad` cannot be used come from."""
    why = f", perhaps from a {BY_ZERO}"
    if hasattr(model, "n_epochs") or getattr(model, "bsl_options", {}).get("method") == "sgd":
        why = DIVERGED
    fault = "not numbers"
    if not clip and np.isfinite(estimates).all():
        fault = f"beyond {MOST_RATING:g}"
    problem = f"{n_bad:,} of {estimates.size:,} estimates are {fault}{why}"
    return f"{type(model).__name__}: {problem}"


def of_division_by_zero(model: surprise.AlgoBase) -> str:
    """Return what a division by zero in one of Surprise's algorithms comes from."""
    return f"{type(model).__name__}: {_zero_cosine(model) or BY_ZERO}"


def _zero_cosine(model: surprise.AlgoBase) -> str:
    """Return whose ratings have no cosine, if the model's similarities are cosines."""
    options = getattr(model, "sim_options", {})
    if str(options.get("name", "")).casefold() != "cosine" or not hasattr(model, "trainset"):
        return ""
    by_user = options.get("user_based", True)
    trainset = ColumnTrainset.from_surprise(model.trainset)
    lists = trainset.by_user if by_user else trainset.by_item
    zeros = np.add.reduceat((lists.ratings == 0).astype(np.int64), lists.offsets[:-1])
    inner = int(np.argmax(zeros / np.diff(lists.offsets)))  # the largest share of ratings of 0
    if not zeros[inner]:
        return ""
    noun, other = ("user", "item") if by_user else ("item", "user")
    raw = trainset.to_raw_uid(inner) if by_user else trainset.to_raw_iid(inner)
    return (
        f"two {noun}s have no cosine if one of them has only ratings of 0 for the {other}s "
        f"that both have, such as {noun} {raw!r} with {counted(int(zeros[inner]), 'rating')} of 0; "
        "use another similarity, such as `sim_options: {name: msd}`, or leave ratings of 0 out"
    )


def check_fitted(model: surprise.AlgoBase) -> None:
    """Refuse a model whose learned numbers are not finite: every estimate would be one bound.

    A model with your own class is not checked.
    """
    if registry.entry_of(type(model)) is None:
        return
    learned = [np.asarray(value) for name, value in vars(model).items() if name in _LEARNED]
    if not all(np.isfinite(array).all() for array in learned if is_floating(array)):
        raise AlgorithmError(f"{type(model).__name__}: what it learned is not finite{DIVERGED}")
