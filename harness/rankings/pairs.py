"""Rankings from columns of users, estimates and ratings, or from predictions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from harness._util import names
from harness._util.arguments import as_array, check_argument, checked, unmasked, warn
from harness._util.kernels import group_rows
from harness.errors import MetricError
from harness.metrics import Pairs, Rankings, Value, dcg
from harness.metrics.arrays import Ids, warn_of_filled
from harness.metrics.gains import is_steep
from harness.rankings.columns import (
    as_floats,
    as_ids,
    encode,
    id_column,
    refuse_other_index,
    refuse_repeats,
)
from harness.rankings.grouped import from_grouped, make_room

TABLES = ("columns", "__arrow_c_stream__", "__dataframe__", "to_pandas")
"""Attributes of which a table of any library has one."""
ONLY_USER = 0
"""Whom pairs of estimate and rating belong to."""


UNSET: Any = object()
"""What was not given, where None is a value."""


class Row(NamedTuple):
    """One prediction, and whether its parts have names or only an order."""

    user: Hashable
    estimate: float
    rating: float
    form: Literal["named", "pair", "triple"]
    item: Any = UNSET


@checked(MetricError)
def from_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> Rankings:
    """Rank each user's rated items by estimate; every item is judged.

    Parameters
    ----------
    users : array_like, shape (n_rows,)
        The user of each row: numbers or text, in any order.
    estimates : array_like of float, shape (n_rows,)
        The model's estimates; equal ones keep the order of the rows under ``ties=first``.
    ratings : array_like of float, shape (n_rows,)
        The true ratings: the relevances.

    Returns
    -------
    Rankings
        Users in the order of their ids, which are in ``users``.

    Raises
    ------
    MetricError
        If the lengths differ, there is no row, or a value is missing or not finite.

    Examples
    --------
    >>> lists = from_pairs(["b", "a", "b"], [3.0, 4.5, 3.5], [5, 4, 2])
    >>> lists.users.tolist(), lists.relevance.tolist(), lists.rank.tolist()
    (['a', 'b'], [4.0, 2.0, 5.0], [1, 1, 2])
    """
    lists = from_grouped(*group_pairs(users, estimates, ratings))
    warn_of_filled(lists.relevance)
    return lists


@checked(MetricError)
def group_pairs(users: ArrayLike, estimates: ArrayLike, ratings: ArrayLike) -> tuple[Pairs, Ids]:
    """Group columns by user, each user's rows in their order; return pairs and ascending ids."""
    refuse_other_index("pairs: the indexes of the columns", (users, estimates, ratings))
    columns = [id_column("users", users)]
    columns += [as_floats("estimates", estimates), as_floats("ratings", ratings)]
    lengths = [column.shape for column in columns]
    if len(set(lengths)) > 1 or columns[0].ndim != 1:
        raise MetricError(
            "pairs: users, estimates and ratings have shapes "
            f"{', '.join(map(str, lengths))}; give three columns of one length"
        )
    if not len(columns[0]):
        raise MetricError("pairs: there is no row; give at least one pair of estimate and rating")
    codes, ids = encode(columns[0])
    offsets, rows = group_rows(codes, len(ids))
    grouped, _ = make_room(len(rows))
    for column, out in zip(columns[1:], grouped, strict=True):
        np.take(column, rows, out=out, mode="clip")  # without checks of bounds, twice as fast
    return Pairs(offsets, *grouped), ids


@checked(MetricError)
def from_predictions(predictions: Any) -> Rankings:
    """Rank each user's predictions by estimate; every item is judged.

    Parameters
    ----------
    predictions : iterable, DataFrame or mapping
        ``surprise.Prediction`` (or anything with ``uid``, ``r_ui`` and ``est``), triples of user,
        estimate and rating, or pairs of estimate and rating that all belong to one user. Or a table
        with columns ``user``, ``estimate`` and ``rating`` of pandas, Polars, Arrow and others. Or
        lists by user, ids of any hashable kind: of predictions, of pairs of estimate and rating, or
        of triples of item, estimate and rating.

    Raises
    ------
    MetricError
        If a prediction is none of these, has no true rating, or there is none; if a user has an
        item twice, or an id is there as a number and as text. If the numbers of
        pairs or triples look like ratings first and estimates second, such as ``(r_ui, est)`` of
        Surprise: whole or half numbers first, and others second. For triples in lists by user, if
        the numbers do not tell which are the ratings.

    Warns
    -----
    UserWarning
        If all ratings are one number that nobody gives, as in an anti-test set of Surprise; if each
        of several users of triples has one row, for example if an item is in the place of the user.

    Examples
    --------
    >>> from_predictions([(2.5, 3), (4.5, 4), (4.0, 5)]).relevance.tolist()
    [4.0, 5.0, 3.0]
    >>> from_predictions({"ann": [(2.5, 3), (4.5, 4)], "bob": [(4.0, 5)]}).n_users
    2
    """
    lists = _from_predictions(predictions)
    warn_of_filled(lists.relevance)
    return lists


def _from_predictions(predictions: Any) -> Rankings:
    rows: list[Row] = []
    by_user = False
    unmasked("predictions", predictions, MetricError)
    if isinstance(predictions, Mapping) or any(hasattr(predictions, name) for name in TABLES):
        from harness.rankings import tables  # most calls can do without readers of files

        if tables.is_table(predictions):
            return from_grouped(*group_pairs(*tables.columns_of(predictions)))
        rows, by_user = tables.rows_by_user(predictions, _row), True
    if not isinstance(predictions, Iterable):
        raise MetricError(
            f"predictions: of type {type(predictions).__name__}; give a list of them, or a "
            "DataFrame with columns user, estimate and rating"
        )
    if not by_user:
        rows = [_row(f"predictions[{i}]", prediction) for i, prediction in enumerate(predictions)]
    if not rows:
        raise MetricError("predictions: empty; give at least one")
    _check_order(rows, by_user=by_user)
    if named := [(row.user, row.item) for row in rows if row.item is not UNSET]:
        refuse_repeats("predictions", *(as_ids(column) for column in zip(*named, strict=True)))
    users, estimates, ratings, *_ = zip(*rows, strict=True)
    if all(user is ONLY_USER for user in users):  # nobody to tell apart
        offsets, ids = np.array([0, len(rows)]), np.array([ONLY_USER])
        columns = (("estimates", estimates), ("ratings", ratings))
        grouped = [as_array(name, column, np.float64, MetricError) for name, column in columns]
        if grouped[0].ndim == grouped[1].ndim == 1:
            return from_grouped(Pairs(offsets, *grouped), ids)

    lists = from_grouped(*group_pairs(as_ids(users), estimates, ratings))
    is_of_triples = not by_user and all(row.form == "triple" for row in rows)
    if is_of_triples and lists.n_users > 1 and lists.longest == 1:
        warn(
            f"predictions: read as (user, estimate, rating), each of the {lists.n_users:,} users "
            "has one row, so that any order scores the same; give the user first, not the item"
        )
    return lists


@checked(MetricError, leaving=("estimated",))
def ndcg(
    predictions: Any = UNSET,
    estimated: Any = UNSET,
    k: int | None = 10,
    *,
    true: Any = UNSET,
    **params: Any,
) -> float:
    """Return the mean NDCG@k over users: of predictions, or of true and estimated values.

    Parameters
    ----------
    predictions : iterable, DataFrame or mapping
        As `from_predictions` takes them: ``algo.test(testset)`` of Surprise, tuples, a table with
        columns ``user``, ``estimate`` and ``rating``, or lists by user. With `estimated`, the true
        values.
    estimated : sequence, array, mapping or DataFrame, optional
        The estimated values of the same items, after the true ones as in scikit-learn's
        ``ndcg_score``: numbers of one user, an array of users by items, lists or mappings of items
        by user, or tables with columns ``user``, ``item`` and ``estimate``. A whole number, or
        None, in this place is `k`.
    k : int or None
        Cut-off rank; None for whole lists.
    true : sequence, array, mapping or DataFrame, optional
        The true values by their name, whatever they look like.
    **params
        As in a label: ``ties="first"``, ``gain="linear"``, ``gain="binary(4)"``, ...

    Returns
    -------
    float
        In [0, 1], unless ``negative="keep"`` keeps negative gains; nan if no user has an item of
        positive gain.

    Raises
    ------
    MetricError
        If a parameter or a prediction cannot be used; if shapes, users or items of true and
        estimated values differ; if the first of the two look like estimates, and the second like
        ratings.

    Warns
    -----
    UserWarning
        If all ratings are equal, as in an anti-test set of Surprise, where each is the mean of the
        training set: any order scores the same. If the gain of 2**rel - 1 meets ratings far above
        10, of which the highest decide nearly all.

    Notes
    -----
    ``ndcg(true, estimated, k=k, gain="linear", undefined=0)`` is scikit-learn's
    ``ndcg_score(true, estimated, k=k)``, whose gain is the value itself, and which counts a user
    without a positive value as 0. There, `k` is None by default.

    Examples
    --------
    The worked example with ten ratings and their estimates, ties in input order:

    >>> estimates = [2.5, 4.5, 4.5, 1.5, 1.5, 3.5, 3.5, 5.5, 4.5, 4.5]
    >>> ratings = [3, 4, 5, 1, 2, 3, 4, 5, 5, 4]
    >>> round(ndcg(zip(estimates, ratings), k=10, ties="first"), 12)
    0.961845355481
    >>> round(ndcg(ratings, estimates, k=5, ties="first"), 12)
    0.959091177065
    >>> ndcg({"ann": {"x": 5, "y": 1}}, {"ann": {"x": 4.4, "y": 2.1}})
    1.0
    """
    for word in params:
        if hint := names.meant("arguments", f"ndcg.{word}"):
            raise TypeError(f"ndcg() has no argument {word!r}; use {hint}")
    is_number = isinstance(estimated, int | np.integer) and not isinstance(estimated, bool)
    if estimated is None or is_number:
        k, estimated = (None if estimated is None else int(estimated)), UNSET
        check_argument(ndcg, "ndcg", "k", k, MetricError)
    if true is UNSET and estimated is UNSET:
        if predictions is UNSET:
            raise MetricError("ndcg: nothing is given; give predictions, or true and estimated")
        if isinstance(predictions, str | Path):
            raise MetricError(
                f"ndcg: {str(predictions)!r} is a path; score the file with `harness evaluate`, or "
                "give its table, for example of pandas.read_csv"
            )
        rankings = _from_predictions(predictions)
    else:
        rankings = _from_both(predictions, estimated, true)
    scores = dcg.ndcg(rankings, k, **params)
    ratings = rankings.relevance
    if rankings.longest > 1 and ratings.min() == ratings.max():
        warn(
            f"predictions: all ratings are {ratings[0]:.6g}, as in an anti-test set, so that any "
            "order scores the same; score a test set, or rank all items by harness.run with "
            "`candidates: catalogue`"
        )
    values = dcg.ndcg.choose({name: Value(str(value)) for name, value in params.items()})
    least, most = float(rankings.pool.min()), float(rankings.pool.max())
    if is_steep(dcg.ndcg.values(values), least, most):
        warn(
            "predictions: one point more of rating doubles the gain, and ratings reach "
            f"{most:.6g}: the highest decide nearly all of NDCG; gain='linear' has gains in "
            "proportion"
        )
    return scores.mean


def _from_both(first: Any, estimated: Any, true: Any) -> Rankings:
    """Rank items by estimated values that were given apart from the true ones."""
    from harness.rankings.aligned import aligned  # most calls can do without readers of files

    is_named = true is not UNSET
    if is_named and first is not UNSET:
        raise MetricError("ndcg: true is given twice; give ndcg(true=..., estimated=...)")
    if estimated is UNSET:
        raise MetricError("ndcg: there is no estimated; give ndcg(true=..., estimated=...)")
    users, estimates, ratings = aligned(true if is_named else first, estimated)
    grids = _fineness(estimates), _fineness(ratings)
    are_numbers = np.isfinite(ratings).all() and np.isfinite(estimates).all()
    if not is_named and are_numbers and grids[0] < grids[1] and len(np.unique(estimates)) > 1:
        raise MetricError(
            f"ndcg: read as (true, estimated), the estimated values are {GRIDS[grids[0]]}, as "
            "ratings are, and the true ones are not; turn them round, or say which is which: "
            "ndcg(true=..., estimated=...)"
        )
    return from_grouped(*group_pairs(users, estimates, ratings))


GRIDS = {1: "whole numbers", 2: "whole and half numbers"}
"""What numbers of a fineness are."""


def _check_order(rows: Sequence[Row], *, by_user: bool) -> None:
    """Refuse pairs and triples whose numbers look like (rating, estimate), or do not tell."""
    unnamed = [row for row in rows if row.form != "named"]
    if len({row.rating for row in unnamed}) < 2:  # any order scores the same
        return
    try:
        first, second = (
            _fineness([float(value) for value in column])
            for column in ([row.estimate for row in unnamed], [row.rating for row in unnamed])
        )
    except (TypeError, ValueError):  # no numbers; what reads them says so
        return
    is_triple = any(row.form == "triple" for row in unnamed)
    item = "item" if by_user else "user"
    form = f"({item * is_triple}{', ' * is_triple}estimate, rating)"
    advice = (
        "give surprise.Prediction, or a DataFrame with columns user, estimate and rating, or turn "
        "them round"
    )
    if first < second:
        raise MetricError(
            f"predictions: read as {form}, the estimates are {GRIDS[first]}, as ratings are, and "
            f"the ratings are not; {advice}"
        )
    if is_triple and by_user and first == second:
        raise MetricError(
            f"predictions: triples in lists by user are read as {form}, and these numbers do not "
            f"tell which are the ratings; {advice}"
        )


def _fineness(values: ArrayLike) -> int:
    """Return 1 for whole numbers, 2 for whole and half ones, 3 for others."""
    doubled = 2 * np.asarray(values, dtype=np.float64)
    doubled = doubled[np.isfinite(doubled)]  # others are refused later, by their row
    return 3 if (doubled % 1 != 0).any() else 2 if (doubled % 2 != 0).any() else 1


def _row(where: str, prediction: object) -> Row:
    if hasattr(prediction, "uid") and hasattr(prediction, "est") and hasattr(prediction, "r_ui"):
        item = getattr(prediction, "iid", UNSET)
        row = Row(prediction.uid, prediction.est, prediction.r_ui, "named", item)
    elif "Index" in getattr(prediction, "_fields", ()):
        raise MetricError(
            f"{where}: a row of a DataFrame with its index; give "
            "frame.itertuples(index=False), after frame.reset_index() if the index is the user"
        )
    elif (
        isinstance(prediction, (Sequence, np.ndarray))
        and not isinstance(prediction, str)
        and len(prediction) in (2, 3)
    ):
        is_pair = len(prediction) == 2
        user, estimate, rating = (ONLY_USER, *prediction) if is_pair else prediction
        row = Row(user, estimate, rating, "pair" if is_pair else "triple")
    else:
        raise MetricError(
            f"{where}: {prediction!r:.60} is not a prediction; "
            "give surprise.Prediction, (estimate, rating) or (user, estimate, rating), or two "
            "lists, such as "
            "ndcg(true, estimated)"
        )
    if any(value is np.ma.masked for value in row):
        raise MetricError(f"{where}: a value is masked; drop the row or give it a value")
    if row.rating is None:
        raise MetricError(
            f"{where}: there is no true rating; score a test set, not an anti-test set"
        )
    return row
