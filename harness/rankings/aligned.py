"""True and estimated values of the same items, given apart, become columns.

The order is the same as in scikit-learn's `ndcg_score`: the true values first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from harness._util.arguments import quoted, unmasked
from harness._util.libraries import pd
from harness.datasets.columns import Roles, find_columns
from harness.datasets.exchanged import KINDS, NAMES
from harness.datasets.frames import arrow_of
from harness.errors import ColumnsError, DataError, MetricError, listed
from harness.metrics.arrays import Floats
from harness.rankings.columns import (
    as_floats,
    as_ids,
    encode,
    refuse_other_index,
    refuse_repeats,
)

Columns = tuple[Any, Floats, Floats]
"""Users, estimates and true values, a row for each item of a user."""
SIDES = ("true", "estimated")
VALUE_OF = {"true": ("rating",), "estimated": ("estimate", "rating")}
"""By side, the role of the column of values, the likeliest first."""
TABLES = ("columns", "__arrow_c_stream__", "__dataframe__", "to_pandas")
"""Attributes of which a table of any library has one."""
FEW = 3
"""Users or items that a message names."""
ONE_USER = 0
"""Whom one list belongs to."""


def aligned(true: Any, estimated: Any) -> Columns:
    """Return the columns of users, estimates and true values of two objects of one form.

    Parameters
    ----------
    true, estimated : sequence, array, mapping or DataFrame
        Both of one form: one list of numbers, of one user; arrays or lists of users by items; the
        same by user in mappings, whose lists are paired by position, and whose mappings of items by
        their ids; a mapping of items to numbers, of one user; tables with columns ``user``,
        ``item`` and ``rating``, or ``estimate``; or DataFrames of users by items.

    Raises
    ------
    MetricError
        If the forms, shapes, users or items differ, or a value is missing or no number.

    Examples
    --------
    >>> [column.tolist() for column in aligned([[3, 1]], [[0.5, 0.9]])]
    [[0, 0], [0.5, 0.9], [3.0, 1.0]]
    >>> users, estimates, ratings = aligned({"a": {"x": 3, "y": 1}}, {"a": {"y": 0.9, "x": 0.5}})
    >>> users.tolist(), estimates.tolist(), ratings.tolist()
    (['a', 'a'], [0.5, 0.9], [3.0, 1.0])
    """
    forms = [_form(side, value) for side, value in zip(SIDES, (true, estimated), strict=True)]
    if forms[0] != forms[1]:
        _refuse(f"true is {forms[0]} and estimated is {forms[1]}; give both in one form")
    if forms[0] == "a mapping":
        users, estimates, ratings = _of_mappings(true, estimated)
    elif forms[0] == "a table":
        users, estimates, ratings = _of_tables(_frame("true", true), _frame("estimated", estimated))
    else:
        refuse_other_index("ndcg: the indexes of true and estimated", (true, estimated))
        users, estimates, ratings = _of_lists(true, estimated)
    return users, as_floats("ndcg: estimated", estimates), as_floats("ndcg: true", ratings)


def _refuse(text: str) -> NoReturn:
    raise MetricError(f"ndcg: {text}")


def _form(side: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if any(hasattr(value, name) for name in TABLES) and getattr(value, "ndim", 2) != 1:
        return "a table"
    is_rows = isinstance(value, Iterable) and hasattr(value, "__len__")
    if not is_rows or isinstance(value, str | bytes | Set):
        _refuse(f"{side} is {quoted(value)}; give a list, an array, a mapping or a DataFrame")
    return "a list"


def _check_items(side: str, by_user: Iterable[tuple[Any, Any]]) -> None:
    """Refuse names of items that are missing, or there as numbers and as text."""
    named = [(user, item) for user, own in by_user if isinstance(own, Mapping) for item in own]
    if named:
        users, items = zip(*named, strict=True)
        refuse_repeats(f"ndcg: {side}", as_ids(users), as_ids(items))


def _of_lists(true: Any, estimated: Any) -> tuple[Any, Any, Any]:
    """Return the columns of two lists of numbers, or of lists or rows by user."""
    if len(true) != len(estimated):
        _refuse(
            f"true has {len(true)} rows and estimated {len(estimated)}; give a value of each for "
            "every item"
        )
    if not len(true):
        _refuse("true and estimated are empty; give at least one item")
    for side, values in zip(SIDES, (true, estimated), strict=True):
        unmasked(f"ndcg: {side}", values, MetricError)
        _check_items(side, enumerate(values, 1))
    nested = [_is_nested(value) for value in (true, estimated)]
    if nested[0] != nested[1]:
        _refuse("one of true and estimated has a list for each user, the other has numbers")
    if not nested[0]:
        ratings, estimates = _numbers("true", true), _numbers("estimated", estimated)
        return np.full(len(ratings), ONE_USER), estimates, ratings
    pairs = []
    for user, (own_true, own_estimated) in enumerate(zip(true, estimated, strict=True)):
        pairs.append(_of_one(f"row {user + 1}", own_true, own_estimated))
    ratings, estimates = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    users = np.repeat(np.arange(len(pairs)), [len(own) for own, _ in pairs])
    return users, estimates, ratings


def _is_nested(values: Any) -> bool:
    """Return whether each part of a list is a list, and none a prediction or a row with ids."""
    parts = [*values]
    if any(hasattr(part, "est") for part in parts):
        _refuse("found predictions of Surprise beside a second list; give only the predictions")
    for part in parts:
        if isinstance(part, tuple) and any(isinstance(value, str) for value in part):
            _refuse(
                f"found {quoted(part)}, a row with ids; give DataFrames with columns user, item "
                "and rating, or estimate"
            )
    nested = [hasattr(part, "__len__") and not isinstance(part, str) for part in parts]
    if any(nested) and not all(nested):
        _refuse("found numbers beside lists; give a list of numbers, or a list for each user")
    return all(nested)


def _of_one(where: str, true: Any, estimated: Any) -> tuple[Floats, Floats]:
    """Return the true and the estimated values of one user."""
    if isinstance(true, Mapping) != isinstance(estimated, Mapping):
        _refuse(f"{where}: one has items by name, the other by position; give both in one form")
    if isinstance(true, Mapping):
        _check_same(where, "item", true, estimated)
        order = list(true)
        true, estimated = [true[item] for item in order], [estimated[item] for item in order]
    if not (hasattr(true, "__len__") and hasattr(estimated, "__len__")):
        _refuse(f"{where}: found {quoted(true)} and {quoted(estimated)}; give a list of each")
    refuse_other_index(f"ndcg: {where}: the indexes of true and estimated", (true, estimated))
    if len(true) != len(estimated):
        _refuse(
            f"{where}: {len(true)} true and {len(estimated)} estimated values; give one of each "
            "for every item"
        )
    if not len(true):
        _refuse(f"{where}: empty; leave this user out")
    return _numbers(f"true, {where}", true), _numbers(f"estimated, {where}", estimated)


def _numbers(where: str, values: Any) -> Floats:
    """Return numbers in one dimension; text, which could be an id, is refused."""
    array = np.asarray(unmasked(f"ndcg: {where}", values, MetricError))
    if any(isinstance(value, str | bytes) for value in array.flat):
        _refuse(
            f"{where}: found {str(array.flat[0])!r}; give numbers only; for lists of "
            "items, use harness.rankings.from_recommendations(lists, truth)"
        )
    column = as_floats(f"ndcg: {where}", values)
    if column.ndim != 1:
        _refuse(f"{where}: {column.ndim} dimensions; give users by items, of two")
    return column


def _of_mappings(true: Mapping[Any, Any], estimated: Mapping[Any, Any]) -> tuple[Any, Any, Any]:
    """Return the columns of numbers by item, or of lists or numbers by item for each user."""
    if not true or not estimated:
        _refuse("true and estimated are empty; give at least one item")
    flat = [all(isinstance(v, Real) for v in each.values()) for each in (true, estimated)]
    if flat[0] != flat[1]:
        _refuse("one of true and estimated has numbers, the other lists; give both in one form")
    for side, each in zip(SIDES, (true, estimated), strict=True):
        _check_items(side, [(ONE_USER, each)] if flat[0] else each.items())
    if flat[0]:
        ratings, estimates = _of_one("one user", true, estimated)
        return np.full(len(ratings), ONE_USER), estimates, ratings
    _check_same("", "user", true, estimated)
    users: list[Any] = []
    pairs = []
    for user in true:
        pairs.append(_of_one(f"user {user!r:.40}", true[user], estimated[user]))
        users += [user] * len(pairs[-1][0])
    ratings, estimates = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return as_ids(users), estimates, ratings


def _check_same(where: str, noun: str, true: Iterable[Any], estimated: Iterable[Any]) -> None:
    """Refuse users or items that only one side has: what the other would be is not known."""
    sides = {"true": {*true}, "estimated": {*estimated}}
    for side, other in (SIDES, SIDES[::-1]):
        missing = sorted(map(repr, sides[other] - sides[side]))
        if missing:
            begun = f"{where}: " if where else ""
            _refuse(
                f"{begun}{noun} {listed(missing, FEW)} {'has' if len(missing) == 1 else 'have'} "
                f"no {side} value; give one of each for every item (lists of unrated items: "
                "harness.rankings.from_recommendations, or `harness evaluate`)"
            )


def _frame(side: str, table: Any) -> pd.DataFrame:
    if isinstance(table, pd.DataFrame):
        return table
    try:
        frame: pd.DataFrame = arrow_of(table, f"ndcg: {side}").to_pandas()
    except DataError as error:
        raise MetricError(str(error)) from error.__cause__
    return frame


def _of_tables(true: pd.DataFrame, estimated: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return the columns of tables with a row for each item, or of users by items."""
    longs = [_has_ids(frame) for frame in (true, estimated)]
    if longs[0] != longs[1]:
        _refuse("one of true and estimated has columns user and item, the other has not")
    if not longs[0]:
        return _of_matrices(true, estimated)
    sides = [_named(side, frame) for side, frame in zip(SIDES, (true, estimated), strict=True)]
    for side, frame in zip(SIDES, sides, strict=True):
        refuse_repeats(f"ndcg: {side}", frame["user"], frame["item"])
    if sides[0][["user", "item"]].dtypes.tolist() != sides[1][["user", "item"]].dtypes.tolist():
        _check_types(sides)
        sides = [side.astype({"user": object, "item": object}) for side in sides]
    joined = sides[0].merge(sides[1], on=["user", "item"], how="outer", indicator=True, sort=False)
    alone = joined[joined["_merge"] != "both"]
    if len(alone):
        row = alone.iloc[0]
        lacking = SIDES[1] if row["_merge"] == "left_only" else SIDES[0]
        _refuse(
            f"{len(alone):,} of {len(joined):,} pairs are in only one table: user "
            f"{row['user']!r}, item {row['item']!r} has no {lacking} value; give one of each for "
            "every item (lists of unrated items: harness.rankings.from_recommendations, or "
            "`harness evaluate`)"
        )
    return joined["user"].to_numpy(), joined["estimated"].to_numpy(), joined["true"].to_numpy()


def _check_types(sides: Sequence[pd.DataFrame]) -> None:
    """Refuse ids of other types, none of which would be equal."""
    for name in ("user", "item"):
        first, second = (frame[name].iloc[0] if len(frame) else None for frame in sides)
        are_numbers = isinstance(first, Real) and isinstance(second, Real)
        if type(first) is not type(second) and not are_numbers:
            _refuse(
                f"ids of {name}s are like {first!r} in true and {second!r} in estimated; give both "
                "as text, or both as numbers"
            )


def _has_ids(frame: pd.DataFrame) -> bool:
    names = [str(name) for name in frame.columns]
    roles = Roles({role: KINDS[role] for role in ("user", "item")}, NAMES)
    return all(roles.positions(names, role) for role in roles.kinds)


def _named(side: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return user, item and the value of a side, by the usual names of columns."""
    names = [str(name) for name in frame.columns]
    for value in VALUE_OF[side]:
        roles = Roles({role: KINDS[role] for role in ("user", "item", value)}, NAMES)
        if value == VALUE_OF[side][-1] or roles.positions(names, value):
            break
    try:
        places = find_columns(names, {}, f"ndcg: {side}", roles)
    except ColumnsError as error:
        raise MetricError(str(error)) from None
    columns = {side if role == value else role: place for role, place in places.items()}
    return pd.DataFrame({name: frame.iloc[:, place] for name, place in columns.items()})


def _of_matrices(true: pd.DataFrame, estimated: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return the columns of DataFrames of users by items, whatever the order of their labels."""
    for noun, labels in (("user", "index"), ("item", "columns")):
        own, other = getattr(true, labels), getattr(estimated, labels)
        if own.has_duplicates or other.has_duplicates:
            _refuse(f"a {noun} is twice in the {labels}; keep one")
        for labels_of in (own, other):
            encode(np.asarray(labels_of))  # refuses missing ids
        _check_same("", noun, own, other)
    estimated = estimated.loc[true.index, true.columns]
    users = np.repeat(np.asarray(true.index), true.shape[1])
    return users, estimated.to_numpy().ravel(), true.to_numpy().ravel()
