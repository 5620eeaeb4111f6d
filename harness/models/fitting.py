"""Fits of models of Surprise: to all ratings, for as many epochs as a validation set chooses."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from harness._util import seeds
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.parameters import BSL_OPTIONS
from harness.algorithms.trainset import ColumnTrainset
from harness.datasets import load
from harness.errors import AlgorithmError, DataError
from harness.models import estimates as models
from harness.models import estimates as numerical_causes
from harness.models import estimates as numerical_faults


def seed_of(model: surprise.AlgoBase) -> int:
    """Return the seed of a model; 0 for one whose ``random_state`` is not a number."""
    state = getattr(model, "random_state", None)
    return int(state) if isinstance(state, int | np.integer) else 0


def epochs_of(model: surprise.AlgoBase) -> int:
    """Return how many epochs a fit takes; any number for an algorithm without epochs."""
    usual = int(BSL_OPTIONS["sgd"]["n_epochs"])
    if isinstance(model, surprise.BaselineOnly):
        return int(model.bsl_options.get("n_epochs", usual))
    return int(getattr(model, "n_epochs", usual))


def set_epochs(model: surprise.AlgoBase, n_epochs: int) -> None:
    """Let a fit take so many epochs."""
    if isinstance(model, surprise.BaselineOnly):
        model.bsl_options = {**model.bsl_options, "n_epochs": n_epochs}
    else:
        model.n_epochs = n_epochs


PATIENCE = 5
"""Epochs without a better error after which a search for their number ends."""


@checked(AlgorithmError, leaving=("trainset",))
def fit(
    model: surprise.AlgoBase | str,
    trainset: Any,
    *,
    validation: float | None = None,
    patience: int = PATIENCE,
) -> Any:
    """Fit a model of Surprise to the attributes that ``fit`` sets, faster from 100,000 ratings on.

    Parameters
    ----------
    model : surprise.AlgoBase or str
        Fitted in place. Your own class is fitted by its own ``fit``. A name, such as
        ``"SVD"``, stands for a new model of the algorithm that a config names so, with its usual
        parameters and the seed 0.
    trainset : surprise.Trainset, surprise.Dataset, Ratings, DataFrame, str or Path
        All ratings of a data set are used. Other sources are read by `harness.load`: a name, a
        path, a frame.
    validation : float, optional
        In (0, 1): proportion of the ratings, sampled at random, on which SVD, SVDpp, NMF and
        BaselineOnly with ``sgd`` stop early. The error of each epoch up to ``n_epochs`` is measured
        there; the model is then fitted to all ratings for the epochs with the least error.
    patience : int
        At least 1: epochs without a lower error after which no further one is tried.

    Returns
    -------
    surprise.AlgoBase
        The model, in the way of ``model.fit(trainset)``. With `validation`, its ``n_epochs`` (of
        BaselineOnly in ``bsl_options``) is the chosen number, and ``error_by_epoch`` a DataFrame
        with ``epoch`` and ``rmse`` on the validation set.

    Raises
    ------
    AlgorithmError
        If the algorithm is unknown; if the fit diverges, or divides by zero, as in cosines of
        zeros; with `validation`, if the algorithm has no epochs.
    DataError
        If `trainset` does not hold ratings, or one is not finite.

    Notes
    -----
    Estimates agree with Surprise's ``fit`` to 1e-9 relative or better. `SlopeOne` and
    `CoClustering` read ratings as integers in Surprise, so that 4.5 stars count as 4; here they
    count as 4.5. The validation set is drawn from the model's ``random_state``.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.SVD(random_state=0), ratings)
    >>> float(model.predict("1", "31").est)
    2.4...
    >>> type(harness.fit("SVD", "bundled")).__name__
    'SVD'
    >>> model = harness.fit(surprise.SVD(n_epochs=60, random_state=0), ratings, validation=0.1)
    >>> model.n_epochs < 60, [*model.error_by_epoch]
    (True, ['epoch', 'rmse'])
    """
    if isinstance(model, str):
        model = registry.create(model, {}, seed=0)
    if not isinstance(trainset, surprise.Trainset | surprise.Dataset):
        trainset = load(trainset).to_surprise()
    if isinstance(trainset, surprise.Dataset):
        trainset = trainset.build_full_trainset()
    if not trainset.n_ratings:
        raise DataError("fit: the training set has no rating; give some, as Ratings.to_surprise()")
    vars(model).pop("error_by_epoch", None)  # of an earlier fit
    with numerical_faults.report_division_by_zero(model), np.errstate(all="ignore"):
        if validation is not None:
            _choose_epochs(model, ColumnTrainset.from_surprise(trainset), validation, patience)
        models.fit(model, trainset)
    numerical_causes.check_fitted(model)
    return model


def _choose_epochs(
    model: surprise.AlgoBase, trainset: ColumnTrainset, share: float, patience: int
) -> None:
    """Set the number of epochs with the least error on a part of the ratings, and these errors."""
    if not 0 < share < 1:
        raise AlgorithmError(f"validation is {share!r}; give a share between 0 and 1, such as 0.1")
    if patience < 1:
        raise AlgorithmError(f"patience is {patience!r}; give a whole number from 1")
    rng = seeds.generator(seed_of(model), "validation")
    order = rng.permutation(trainset.n_ratings)
    n_validation = max(1, round(share * trainset.n_ratings))
    if n_validation == trainset.n_ratings:
        raise AlgorithmError("validation leaves no rating to fit; give more ratings")
    by_user = trainset.by_user
    users = np.repeat(trainset.user_codes, np.diff(by_user.offsets))
    items, ratings = trainset.item_codes[by_user.ids], by_user.ratings
    held_out, stays = order[:n_validation], np.sort(order[n_validation:])
    part = ColumnTrainset.from_columns(
        users[stays], items[stays], ratings[stays], user_ids=trainset.user_ids,
        item_ids=trainset.item_ids, scale=trainset.rating_scale,
    )  # fmt: skip
    trial = copy.copy(model)
    most = epochs_of(model)
    if most < 1:
        raise AlgorithmError(f"n_epochs is {most}; give the most epochs to try, from 1")
    set_epochs(trial, 0)
    entry = registry.entry_of(type(model))
    if entry is None or not entry.may_fit(trial, part):
        raise AlgorithmError(
            f"{type(model).__name__}: its epochs cannot be stopped; leave `validation` out"
        )
    models.fit(trial, part)
    errors: list[float] = []
    while len(errors) < most and len(errors) - int(np.argmin(errors or [0.0])) <= patience:
        if not entry.go_on(trial, part, 1, rng):
            raise AlgorithmError(
                f"{type(model).__name__}: it has no epochs to stop; leave `validation` out"
            )
        estimates, _ = models.estimate(trial, users[held_out], items[held_out])
        errors.append(float(np.sqrt(np.mean(np.square(estimates - ratings[held_out])))))
    set_epochs(model, int(np.argmin(errors)) + 1)
    model.error_by_epoch = pd.DataFrame({"epoch": range(1, len(errors) + 1), "rmse": errors})
