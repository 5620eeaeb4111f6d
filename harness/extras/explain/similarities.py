"""The items or users that a fitted model takes for most alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.compiled.matrix import rows_of
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError
from harness.models.new_users import in_columns, inner_ids
from harness.rankings.columns import as_ids
from harness.rankings.ties import order_keys, tie_keys

Floats = NDArray[np.float64]
FACTORS = {"item": "qi", "user": "pu"}
"""The attribute with the factors of each side."""
NEIGHBOUR_METHODS = ("KNNBasic", "KNNWithMeans", "KNNWithZScore", "KNNBaseline")
WITH_FACTORS = ("SVD", "SVDpp", "NMF", "PureSVD")
"""Algorithms that have factors of items and users once they are fitted."""


@checked(AlgorithmError)
def similar(
    model: surprise.AlgoBase, *, item: object = None, user: object = None, n: int = 10
) -> pd.DataFrame:
    """Return the items, or the users, that are most similar to one.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, by `harness.fit` or by its own ``fit``. A neighbour method has similarities of
        items with ``sim_options={"user_based": False}``, else of users. For SVD, SVDpp, NMF and
        PureSVD, similarities are cosines of the factors of items or of users.
    item, user : object
        The raw id of one item, or of one user.
    n : int
        How many; at least 1.

    Returns
    -------
    DataFrame
        Columns ``item`` (or ``user``), ``similarity`` and ``rank`` (from 1), without the one that
        was asked for. Only similarities above 0 are listed, so there may be fewer than `n`; equal
        ones are in an order that depends only on the ids.

    Raises
    ------
    AlgorithmError
        For an unknown id, neither or both of `item` and `user`, `n` below 1, a model that is not
        fitted, or one that has no similarities of that side.

    Examples
    --------
    >>> import harness, surprise
    >>> options = {"name": "pearson_baseline", "user_based": False}
    >>> model = surprise.KNNBaseline(sim_options=options, verbose=False)
    >>> model = harness.fit(model, harness.load("bundled").to_surprise())
    >>> harness.similar(model, item="1", n=2)
       item  similarity  rank
    0  3114     0.32322     1
    1  2355     0.22740     2
    """
    if (item is None) == (user is None):
        both = "neither `item` nor" if item is None else "both `item` and"
        raise AlgorithmError(f"similar: {both} `user`; give one of them, such as item='1'")
    if n < 1:
        raise AlgorithmError(f"similar: n is {n}; give a whole number from 1")
    side, asked = ("item", item) if user is None else ("user", user)
    fitted = in_columns(model)
    trainset = fitted.trainset
    place = place_of(trainset, side, asked)
    raw = trainset.raw_items(trainset.item_codes)
    if side == "user":
        raw = trainset.raw_users(trainset.user_codes)
    ids = as_ids(raw).astype(object)
    values = _similarities(fitted, side, place)
    values[place] = 0.0  # not the one itself
    keys = tie_keys(ids)
    order = np.lexsort((order_keys(keys[place], keys), -values))[: min(n, len(values))]
    order = order[values[order] > 0]
    columns = {side: ids[order], "similarity": values[order], "rank": np.arange(1, len(order) + 1)}
    return pd.DataFrame(columns)


def place_of(trainset: ColumnTrainset, side: str, asked: object, where: str = "similar") -> int:
    """Return the inner id of an item or a user, or raise an AlgorithmError."""
    of_side = trainset._raw2inner_id_items if side == "item" else trainset._raw2inner_id_users
    (place,) = inner_ids(side, [asked], of_side).tolist()
    if place < 0:
        raise AlgorithmError(
            f"{where}: {side} {asked!r} is not in the training set; give one like "
            f"{next(iter(of_side), None)!r}"
        )
    return int(place)


def check_similarities(model: surprise.AlgoBase, side: str) -> None:
    """Refuse a model, fitted or not, that has no similarities of a side.

    A class that is not an algorithm of this package is not refused before its fit.

    Parameters
    ----------
    model : surprise.AlgoBase
    side : {"item", "user"}

    Raises
    ------
    AlgorithmError

    Examples
    --------
    >>> import surprise
    >>> check_similarities(surprise.SVD(), "item")
    >>> check_similarities(surprise.KNNBasic(sim_options={"user_based": False}), "user")
    Traceback (most recent call last):
    harness.errors.AlgorithmError: similar: this KNNBasic has similarities of items; fit it with ...
    """
    name = type(model).__name__
    is_fitted, is_known = hasattr(model, "trainset"), registry.entry_of(type(model)) is not None
    has_similarities = hasattr(model, "sim") if is_fitted else name in NEIGHBOUR_METHODS
    options = getattr(model, "sim_options", None)
    if isinstance(options, dict) and has_similarities:
        of = "user" if options.get("user_based", True) else "item"
        if of != side:
            raise AlgorithmError(
                f"similar: this {name} has similarities of {of}s; fit it with "
                f"sim_options={{'user_based': {side == 'user'}}}"
            )
        return
    factors = getattr(model, FACTORS[side], None)
    has_factors = isinstance(factors, np.ndarray) and factors.ndim == 2
    if not is_fitted:
        has_factors = name in WITH_FACTORS or not is_known
    if not has_factors:
        raise AlgorithmError(
            f"similar: {name} has no similarities of {side}s; use a neighbour method, as "
            "KNNBaseline, or one with factors, as SVD"
        )


def _similarities(model: surprise.AlgoBase, side: str, place: int) -> Floats:
    """Return the similarity of one item, or user, to each."""
    check_similarities(model, side)
    if isinstance(getattr(model, "sim_options", None), dict) and hasattr(model, "sim"):
        return np.array(rows_of(model.sim, np.array([place], np.int32))[0], np.float64)
    factors = getattr(model, FACTORS[side])
    lengths = np.sqrt((factors * factors).sum(axis=1))
    products = factors @ factors[place]
    scale = lengths * lengths[place]
    cosines: Floats = np.divide(products, scale, out=np.zeros(len(factors)), where=scale > 0)
    return cosines
