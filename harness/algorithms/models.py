"""Fit and score a Surprise model in compiled loops where they do what Surprise does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.algorithms import registry
from harness.algorithms.als import ACCELERATORS as LIBRARIES
from harness.algorithms.baselines import FLOORS
from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Floats,
    NeedsSurprise,
    Progress,
    Scorer,
)
from harness.algorithms.compiled.baselines import BaselineOnly
from harness.algorithms.compiled.co_clustering import CoClustering
from harness.algorithms.compiled.neighbors import (
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    KNNWithZScore,
)
from harness.algorithms.compiled.nmf import NMF
from harness.algorithms.compiled.normal import (
    NormalPredictor,
    borrowed_generator,
    seed_draws,
)
from harness.algorithms.compiled.slope_one import SlopeOne
from harness.algorithms.compiled.svd import SVD
from harness.algorithms.compiled.svdpp import SVDpp
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError

__all__ = ["Path", "catalogue", "estimate", "fit", "is_preference", "scoring_path", "warm_up"]

Path = Literal["accelerated", "surprise"]

ACCELERATORS: dict[type, Accelerator] = {
    accelerator.surprise_class: accelerator
    for accelerator in (
        SVD(),
        SVDpp(),
        NMF(),
        BaselineOnly(),
        KNNBasic(),
        KNNWithMeans(),
        KNNWithZScore(),
        KNNBaseline(),
        SlopeOne(),
        CoClustering(),
        NormalPredictor(),
        *FLOORS,
        *LIBRARIES,
    )
}


def fit(
    model: Any,
    trainset: Any,
    *,
    accelerate: bool = True,
    as_surprise: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Fit a model, with the same attributes afterwards as from its own ``fit``.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted in place; its ``trainset`` is a `ColumnTrainset` afterwards. Of parameters that
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
        types, and parameters that Surprise refuses.

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
    accelerator = _accelerator(model) if accelerate and columns.n_ratings else None
    seed_draws(model)
    if accelerator is None or not accelerator.may_fit(model):
        model.fit(columns)
        return "surprise"
    surprise.AlgoBase.fit(model, columns)
    accelerator.fit(
        model, columns, as_surprise=as_surprise, progress=progress or (lambda done, total: None)
    )
    return "accelerated"


def estimate(
    model: Any,
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
        Clip estimates to the rating scale, as ``predict`` does by default.
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
    asked_users, asked_items = _codes(users), _codes(items)
    clip = clip and not is_preference(model)
    scorer = _scorer(model) if accelerate else None
    if scorer is not None:
        try:
            estimates, impossible = scorer.pairs_of_codes(asked_users, asked_items)
            return _clipped(estimates, scorer.trainset, clip), impossible
        except NeedsSurprise:
            pass  # these similarities have no order: ask Surprise
    return _predict(model, asked_users, asked_items, clip)


def catalogue(
    model: Any,
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
        Users at a time; by default as many as are scored fastest.

    Yields
    ------
    start, stop : int
        Which part of `users` it is.
    estimates : ndarray of float64, shape (stop - start, n_items)
        Items in the order of inner ids; the array is the caller's to change.

    Examples
    --------
    >>> trainset = ColumnTrainset.from_columns(
    ...     [0, 0, 1], [0, 1, 0], [4, 2, 5],
    ...     user_ids=["ann", "bob"], item_ids=["x", "y"], scale=(1, 5))
    >>> model = surprise.SlopeOne()
    >>> path = fit(model, trainset)
    >>> for start, stop, estimates in catalogue(model, [1, 0]):
    ...     print(start, stop, estimates.tolist())
    0 2 [[5.0, 3.0], [4.0, 2.0]]
    """
    asked = _codes(users)
    trainset = _columns(model)
    clip = clip and not is_preference(model)
    scorer = _scorer(model) if accelerate else None
    size = block or (scorer.users_at_once() if scorer else 16)
    for start in range(0, len(asked), size):
        stop = min(start + size, len(asked))
        yield start, stop, _rows(model, scorer, trainset, asked[start:stop], clip)


def is_preference(model: Any) -> bool:
    """Return whether a model's estimates are no ratings, so that the scale does not bound them.

    Examples
    --------
    >>> is_preference(surprise.SVD())
    False
    """
    return bool(getattr(model, "is_preference", False))


def scoring_path(model: Any) -> Path:
    """Return which code `estimate` and `catalogue` use for a fitted model.

    Examples
    --------
    >>> scoring_path(surprise.SVD())
    'accelerated'
    """
    accelerator = _accelerator(model)
    return "accelerated" if accelerator and accelerator.may_score(model) else "surprise"


def _codes(given: npt.ArrayLike) -> npt.NDArray[Any]:
    codes = np.asarray(given)
    if not codes.size:
        return codes.astype(np.int32)
    if codes.min() < 0:  # NumPy would count from the end
        raise AlgorithmError(f"users or items: {codes.min()} is not a code; give codes from 0")
    return codes


def _accelerator(model: Any) -> Accelerator | None:
    found = (ACCELERATORS[c] for c in type(model).__mro__ if c in ACCELERATORS)
    return next(found, None)


def _columns(model: Any) -> ColumnTrainset:
    trainset = getattr(model, "trainset", None)
    if not isinstance(trainset, ColumnTrainset):
        raise AlgorithmError(
            f"{type(model).__name__}: the model was not fitted on a training set in columns; "
            "fit it with harness.algorithms.models.fit"
        )
    return trainset


def _scorer(model: Any) -> Scorer | None:
    _columns(model)
    accelerator = _accelerator(model)
    if accelerator is None or not accelerator.may_score(model):
        return None
    try:
        return accelerator.scorer(model)
    except NeedsSurprise:
        return None


def _rows(
    model: Any, scorer: Scorer | None, trainset: ColumnTrainset, users: npt.NDArray[Any], clip: bool
) -> Floats:
    if scorer is not None:
        try:
            return _clipped(scorer.rows_of_codes(users), trainset, clip)
        except NeedsSurprise:
            pass  # these similarities have no order: ask Surprise
    items = np.tile(trainset.item_codes, len(users))
    estimates, _ = _predict(model, np.repeat(users, trainset.n_items), items, clip)
    return estimates.reshape(len(users), trainset.n_items)


def _predict(
    model: Any, users: npt.NDArray[Any], items: npt.NDArray[Any], clip: bool
) -> tuple[Floats, Bools]:
    trainset = _columns(model)
    estimates = np.empty(len(users))
    impossible = np.empty(len(users), np.bool_)
    pairs = zip(trainset.raw_users(users), trainset.raw_items(items), strict=True)
    with borrowed_generator(model):
        for place, (user, item) in enumerate(pairs):
            prediction = model.predict(user, item, clip=clip)
            estimates[place] = prediction.est
            impossible[place] = prediction.details["was_impossible"]
    return estimates, impossible


def _clipped(estimates: Floats, trainset: ColumnTrainset, clip: bool) -> Floats:
    if clip:
        lowest, highest = trainset.rating_scale
        # fmin and fmax let go of NaN as Python's min and max do in `predict`.
        np.fmin(estimates, highest, out=estimates)
        np.fmax(estimates, lowest, out=estimates)
    return estimates


_warm: set[str] = set()
_CHEAP: dict[str, Any] = {
    "n_epochs": 1,
    "n_factors": 2,
    "k": 2,
    "min_k": 1,
    "n_cltr_u": 1,
    "n_cltr_i": 1,
    "k_core": 1,  # filters that the toy would not pass
    "min_rating": None,
}


def warm_up(name: str, params: dict[str, Any], *, whole_catalogue: bool = True) -> None:
    """Fit and score an algorithm on a toy, once in each process for each set of options.

    Ranking and metrics have theirs in `harness.experiment.scoring.compile_scoring`.

    Parameters
    ----------
    name : str
        As `registry.find` takes it; of a class of your own, what it derives from is compiled.
    params : dict
        Only options and switches that select other compiled code are used.
    whole_catalogue : bool
        Whether whole catalogues will be scored, besides pairs.
    """
    name, params = registry.builtin_of(name, params)
    cheap = {key: _CHEAP.get(key, value) for key, value in params.items()}
    identity = json.dumps(
        [registry.canonical(name), cheap, whole_catalogue], sort_keys=True, default=str
    )
    if identity in _warm:
        return
    _warm.add(identity)
    users = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    items = np.array([0, 1, 0, 2, 1, 2], dtype=np.int32)
    toy = ColumnTrainset.from_columns(
        users,
        items,
        np.array([1.0, 2.0, 3.0, 4.0, 5.0, 3.0]),
        user_ids=np.array(["a", "b", "c"]),
        item_ids=np.array(["x", "y", "z"]),
        scale=(1.0, 5.0),
    )
    model = registry.create(name, cheap, seed=0)
    fit(model, toy)
    estimate(model, users, items)
    if whole_catalogue:
        for _ in catalogue(model, users[:1]):
            break
