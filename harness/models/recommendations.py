"""Fitted models in a script: estimate fast, and recommend.

Everything here takes and gives raw ids, and models that Surprise itself fitted too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from harness._util.arguments import checked, quoted
from harness._util.kernels import rows_of_owners
from harness._util.libraries import pd
from harness.algorithms import predicted, registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.errors import AlgorithmError, listed
from harness.models import estimates as models
from harness.models.files import load_model
from harness.models.new_users import fold_in, in_columns, inner_ids
from harness.rankings.catalogue import top_columns
from harness.rankings.columns import as_ids
from harness.rankings.ties import tie_keys

Floats = NDArray[np.float64]
Seen = Literal["leave-out", "keep"]
Unknown = Literal["error", "popular"]


@checked(AlgorithmError)
def estimate(model: surprise.AlgoBase, pairs: Iterable[Any] | pd.DataFrame) -> Floats:
    """Estimate the ratings of many pairs, like ``model.predict`` for each.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted, by `harness.fit` or by its own ``fit``.
    pairs : iterable of (user, item, ...), or DataFrame
        Raw ids; what follows the first two is ignored, so a test set of Surprise will do. A
        DataFrame has columns ``user`` and ``item``, or these are its first two.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)
        Clipped to the rating scale. An unknown user or item has the estimate that Surprise gives.

    Raises
    ------
    AlgorithmError
        If the model is not fitted, or knows none of the users (or items) and their ids have another
        type, as 196 is where the training set has "196"; if an estimate is not a number.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.BaselineOnly(verbose=False), ratings)
    >>> harness.estimate(model, [("1", "31"), ("1", "no such film")]).round(4)
    array([2.7065, 2.9096])
    """
    fitted = in_columns(model)
    trainset = fitted.trainset
    users, items = _two_columns(pairs)
    ids, inner = (trainset._raw2inner_id_users, trainset._raw2inner_id_items), []
    for side, asked, of_side in zip(("users", "items"), (users, items), ids, strict=True):
        inner.append(inner_ids(side, asked, of_side))
        trained = next(iter(of_side))
        if asked and (inner[-1] < 0).all() and type(asked[0]) is not type(trained):
            raise AlgorithmError(
                f"pairs: the model knows none of these {side}; its ids are like {trained!r} "
                f"({type(trained).__name__}), these like {asked[0]!r} ({type(asked[0]).__name__})"
            )
    if isinstance(model, surprise.NormalPredictor):  # a draw for each pair, in their order
        inner[0][:] = -1
    estimates = np.empty(len(users))
    both = (inner[0] >= 0) & (inner[1] >= 0)
    codes = (trainset.user_codes[inner[0][both]], trainset.item_codes[inner[1][both]])
    of_both = models.estimate(fitted, *codes, clip=False)[0]
    models.check_and_clip(fitted, of_both, clip=True)
    estimates[both] = of_both
    with predicted.drawing_from(predicted.own_generator(fitted)):
        for row in np.flatnonzero(~both).tolist():
            estimates[row] = fitted.predict(users[row], items[row]).est
    return estimates


@checked(AlgorithmError, leaving=("ratings",))
def recommend(
    model: surprise.AlgoBase | str | Path,
    ratings: Mapping[object, float] | pd.DataFrame | None = None,
    n: int = 10,
    *,
    users: Iterable[object] | None = None,
    items: Iterable[object] | None = None,
    without: Iterable[object] | None = None,
    seen: Seen = "leave-out",
    least: float | None = None,
    clip: bool = True,
    unknown_users: Unknown = "error",
) -> pd.DataFrame:
    """Return the items with the highest estimates for each user.

    Parameters
    ----------
    model : surprise.AlgoBase, str or Path
        Fitted, by `harness.fit` or by its own ``fit``; or the file of a model that
        `harness.save_model` wrote.
    ratings : mapping of item to rating, or DataFrame, optional
        Ratings of a new user, whom `fold_in` adds; a DataFrame with columns ``user``, ``item`` and
        ``rating`` has several. Without it, lists are for users of the training set.
    n : int
        Items in a list; at least 1.
    users : iterable, optional
        Raw ids of the users; all of them by default.
    items : iterable, optional
        Raw ids of the items that may be in a list, as those in stock or of one genre; all of the
        training set by default.
    without : iterable, optional
        Raw ids of items that are in no list; those that the model does not know change nothing.
    seen : {"leave-out", "keep"}
        Whether items that the user has rated are left out.
    least : float, optional
        The least estimate of an item in a list.
    clip : bool
        Whether estimates are clipped to the rating scale, as by ``predict``. Items above the top of
        the scale are tied then: give False to order them.
    unknown_users : {"error", "popular"}
        What a user of `users` without a training rating gets: an error, or the items with the most
        training ratings, with the estimates of ``predict`` for an unknown user.

    Returns
    -------
    DataFrame
        Columns ``user``, ``item``, ``estimate`` and ``rank`` (from 1), users in the order asked
        for. Every item of the training set is a candidate, unless `items` or `without` say less.
        Items of equal estimate are in an order
        that depends only on the raw ids of user and item and differs from user to user, so that no
        item is favoured. A list is shorter where candidates run out; it may be empty.

    Raises
    ------
    AlgorithmError
        For unknown users or `items`, a model that is not fitted, one that cannot take new users, or
        an argument out of its range.
    DataError
        For ratings that `fold_in` refuses.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.BaselineOnly(verbose=False), ratings)
    >>> harness.recommend(model, n=2, users=["1"])
      user item  estimate  rank
    0    1  318  3.851330     1
    1    1  858  3.841215     2
    >>> harness.recommend(model, {"31": 4.0, "1029": 3.5}, n=1)
           user item  estimate  rank
    0  new user  318  4.510929     1
    """
    blocks = recommend_in_blocks(
        model,
        ratings,
        n,
        users=users,
        items=items,
        without=without,
        seen=seen,
        least=least,
        clip=clip,
        unknown_users=unknown_users,
    )
    return pd.concat(blocks, ignore_index=True)


def _check_saved(model: str | Path) -> None:
    """Refuse the name of an algorithm, a run or a config, where a fitted model belongs."""
    if Path(model).suffix.lower() not in ("", ".yaml", ".yml") or is_zipfile(model):
        return
    name = f"{str(model)!r:.60}"
    advice = f"for a run or a config, harness.fit_row({name}) fits a row first"
    with suppress(AlgorithmError):
        registry.canonical(str(model))
        advice = f"fit the algorithm first: harness.fit({name}, ratings)"
    raise AlgorithmError(f"recommend: {name} is not a saved model; {advice}")


def _check_ratings(ratings: object) -> None:
    """Refuse what stands where ratings of a new user belong, as a user or a number of items."""
    if ratings is None or isinstance(ratings, Mapping | pd.DataFrame):
        return
    advice = "give a mapping of items to ratings of a new user, a pandas.DataFrame, or users=[...]"
    if isinstance(ratings, int) and not isinstance(ratings, bool):
        advice = f"give n={ratings} for so many items a user"
    if isinstance(ratings, str):
        advice = f"give users=[{ratings!r:.60}] for a user of the training set"
    raise AlgorithmError(f"recommend: ratings is {quoted(ratings)}; {advice}")


def check_least(least: float | None, most: float) -> None:
    """Refuse a least estimate that no estimate reaches; `most` is the largest one there can be.

    Raises
    ------
    AlgorithmError

    Examples
    --------
    >>> check_least(4.5, most=5.0)
    >>> check_least(6.0, most=5.0)
    Traceback (most recent call last):
    harness.errors.AlgorithmError: least: 6, which no estimate reaches; give 5 or less
    """
    if least is not None and not least <= most:  # NaN too
        raise AlgorithmError(
            f"least: {least:.16g}, which no estimate reaches; give {most:.16g} or less"
        )


@checked(AlgorithmError, leaving=("ratings",))
def recommend_in_blocks(
    model: surprise.AlgoBase | str | Path,
    ratings: Mapping[object, float] | pd.DataFrame | None = None,
    n: int = 10,
    *,
    users: Iterable[object] | None = None,
    items: Iterable[object] | None = None,
    without: Iterable[object] | None = None,
    seen: Seen = "leave-out",
    least: float | None = None,
    clip: bool = True,
    unknown_users: Unknown = "error",
) -> Iterator[pd.DataFrame]:
    """Yield what `recommend` returns, some users at a time, so that memory stays bounded.

    Parameters are the same as for `recommend`.

    Yields
    ------
    DataFrame
        At least one, even if no list has an item.

    Examples
    --------
    >>> import harness, surprise
    >>> ratings = harness.load("bundled").to_surprise()
    >>> model = harness.fit(surprise.BaselineOnly(verbose=False), ratings)
    >>> sum(len(block) for block in harness.recommend_in_blocks(model, n=3))
    2013
    """
    if isinstance(model, str | Path):
        _check_saved(model)
    _check_ratings(ratings)
    if isinstance(model, str | Path):
        model = load_model(model)
    if n < 1:
        raise AlgorithmError(f"recommend: n is {n}; give a whole number from 1")
    model = in_columns(model) if ratings is None else fold_in(model, ratings)
    trainset = model.trainset
    check_least(least, trainset.rating_scale[1] if clip else np.inf)
    raw_users = trainset.raw_users(trainset.user_codes) if users is None else list(users)
    inner = _inner_users(trainset, raw_users, unknown_users)
    item_ids = as_ids(trainset.raw_items(trainset.item_codes)).astype(object)
    may_be_shown = _may_be_shown(trainset, items, without)
    keys = tie_keys([str(user) for user in raw_users]), tie_keys(item_ids)
    offsets, rated, _ = trainset.by_user
    yield _lists([], [], [])
    codes = trainset.user_codes[np.maximum(inner, 0)]  # of anybody, where a user is unknown
    for start, stop, estimates in models.catalogue(model, codes, clip=False):
        models.check_and_clip(model, estimates, clip)
        allowed = np.ones(estimates.shape, dtype=bool) if least is None else estimates >= least
        allowed &= may_be_shown
        if seen == "leave-out":
            rows, places = rows_of_owners(offsets, np.maximum(inner[start:stop], 0))
            allowed[rows, rated[places]] = False
        allowed[inner[start:stop] < 0] = False
        estimates[~allowed] = -np.inf
        block_keys = keys[0][start:stop], keys[1]
        top = top_columns(estimates, allowed, min(n, trainset.n_items), block_keys)
        rows, places = np.nonzero(top >= 0)
        columns = top[rows, places]
        lists = _lists(
            [raw_users[start + row] for row in rows.tolist()],
            item_ids[columns],
            estimates[rows, columns],
            places + 1,
        )
        unknown = np.flatnonzero(inner[start:stop] < 0).tolist()
        if unknown:
            orders = np.lexsort((keys[1], -np.diff(trainset.by_item.offsets)))
            shown = item_ids[orders[may_be_shown[orders]]].tolist()
            popular = [
                _popular(model, raw_users[start + row], shown, n, least, clip) for row in unknown
            ]
            owners = [
                *rows,
                *(row for row, part in zip(unknown, popular, strict=True) for _ in part.index),
            ]
            lists = pd.concat([lists, *popular], ignore_index=True)
            lists = lists.iloc[np.argsort(owners, kind="stable")].reset_index(drop=True)
        yield lists


def _popular(
    model: surprise.AlgoBase,
    user: object,
    items: list[object],
    n: int,
    least: float | None,
    clip: bool,
) -> pd.DataFrame:
    """Return the first items, from the most rated on, for a user whom the model does not know."""
    shown: list[object] = []
    estimates: list[float] = []
    for item in items:
        if len(shown) == n:
            break
        estimate = float(model.predict(user, item, clip=clip).est)
        if least is None or estimate >= least:
            shown.append(item)
            estimates.append(estimate)
    return _lists([user] * len(shown), shown, estimates, np.arange(1, len(shown) + 1))


def _may_be_shown(
    trainset: ColumnTrainset, items: Iterable[object] | None, without: Iterable[object] | None
) -> NDArray[np.bool_]:
    """Return by inner id whether an item may be in a list."""
    trained = trainset._raw2inner_id_items
    allowed = np.full(trainset.n_items, items is None)
    if items is not None:
        raw_items = list(items)
        inner = inner_ids("items", raw_items, trained)
        if not raw_items:
            raise AlgorithmError("items: none; give at least one, or leave `items` out for all")
        _check_known("items", raw_items, inner, trained, "leave them out, nothing is known of them")
        allowed[inner] = True
    if without is not None:
        inner = inner_ids("without", list(without), trained)
        allowed[inner[inner >= 0]] = False
    return allowed


def _two_columns(pairs: Iterable[Any] | pd.DataFrame) -> tuple[list[Any], list[Any]]:
    if isinstance(pairs, pd.DataFrame):
        names = ["user", "item"] if {"user", "item"} <= {*pairs} else list(pairs)[:2]
        if len(names) < 2:
            raise AlgorithmError("pairs: one column; give a column of users and one of items")
        return pairs[names[0]].tolist(), pairs[names[1]].tolist()
    rows = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    for row in rows:
        if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray) or len(row) < 2:
            raise AlgorithmError(f"pairs: {row!r:.60}; give (user, item) pairs")
    return [row[0] for row in rows], [row[1] for row in rows]


def _inner_users(
    trainset: ColumnTrainset, raw_users: list[object], unknown_users: Unknown
) -> NDArray[np.int64]:
    trained = trainset._raw2inner_id_users
    inner = inner_ids("users", raw_users, trained)
    if unknown_users == "error":
        advice = "give their ratings to recommend for new users, or unknown_users='popular'"
        _check_known("users", raw_users, inner, trained, advice)
    return inner


def _check_known(
    side: str,
    raw_ids: list[object],
    inner: NDArray[np.int64],
    trained: Mapping[Any, int],
    advice: str,
) -> None:
    """Raise an error that names the ids that the training set does not have."""
    unknown = [repr(raw) for raw, code in zip(raw_ids, inner.tolist(), strict=True) if code < 0]
    if unknown:
        raise AlgorithmError(
            f"{side}: {len(unknown)} of {len(raw_ids)} are not in the training set "
            f"({listed(unknown, 5)}); its ids are like {next(iter(trained), None)!r}; {advice}"
        )


def _lists(users: list[object], items: Any, estimates: Any, ranks: Any = ()) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "user": pd.Series(users, dtype=object),
            "item": pd.Series(items, dtype=object),
            "estimate": np.asarray(estimates, dtype=np.float64),
            "rank": np.asarray(ranks, dtype=np.int64),
        }
    )
