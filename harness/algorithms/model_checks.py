"""What a model file must hold: a training set, and attributes as a fit of the class gives them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from harness.algorithms import base, models, parameters, registry, surprise
from harness.algorithms.model_values import COMPUTED, Array
from harness.algorithms.trainset import ColumnTrainset, Lists

SIDES = ("by_user", "by_item")
UNSEEDED = (type(None), np.random.RandomState)
"""What a model may have in place of a number for a seed."""
OF_A_SEED = {"random_state", "generator"}
"""Attributes of a NormalPredictor that has a seed; in Surprise it takes none."""


class Header(BaseModel):
    """``model.json`` of a file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: str
    versions: dict[str, str]
    algorithm: str
    attributes: dict[str, Any]
    scale: tuple[float, float]
    user_ids: list[str | int | float]
    item_ids: list[str | int | float]
    sha256: dict[str, str]
    beyond_scale: bool = False  # as where a data set keeps ratings outside its scale
    state: dict[str, Any] | None = None  # of an algorithm without Surprise


class FileError(Exception):
    """What is wrong with a file, in words."""


def trainset_of(header: Header, arrays: dict[str, Array]) -> ColumnTrainset:
    """Return the training set if it is one: both groupings hold the same ratings."""
    ids = header.user_ids, header.item_ids
    codes = tuple(arrays[f"{side}_codes"] for side in ("user", "item"))
    for of_side, names in zip(codes, ids, strict=True):
        if len({*names}) < len(names):
            raise FileError("not a saved model: an id of a user or an item occurs twice")
        if of_side.dtype != np.int32 or of_side.ndim != 1 or not 0 < len(of_side) <= len(names):
            raise FileError("not a saved model: its users or items have no numbers")
        if len(np.unique(of_side)) < len(of_side) or not 0 <= of_side.min() <= of_side.max() < len(
            names
        ):
            raise FileError("not a saved model: its users or items are not distinct")
    low, high = header.scale
    rows = []
    for name, n_owners, n_partners in zip(
        SIDES, map(len, codes), (len(codes[1]), len(codes[0])), strict=True
    ):
        offsets, partners, ratings = (arrays[f"{name}.{key}"] for key in Lists._fields)
        kinds = [(column.dtype.str, column.ndim) for column in (offsets, partners, ratings)]
        if kinds != [("<i8", 1), ("<i4", 1), ("<f8", 1)] or len(partners) != len(ratings):
            raise FileError("not a saved model: its ratings have other types")
        covers = len(offsets) == n_owners + 1 and offsets[0] == 0 and offsets[-1] == len(partners)
        if not covers or (np.diff(offsets) < 1).any() or not np.isfinite(ratings).all():
            raise FileError("not a saved model: its ratings are not grouped")
        if partners.min() < 0 or partners.max() >= n_partners or not low <= high:
            raise FileError("not a saved model: a rating of an unknown user or item")
        owners = np.repeat(np.arange(n_owners), np.diff(offsets))
        pair = (owners, partners) if name == "by_user" else (partners, owners)
        order = np.lexsort((ratings, pair[1], pair[0]))
        rows.append([column[order] for column in (*pair, ratings)])
    if not all(np.array_equal(a, b) for a, b in zip(*rows, strict=True)):
        raise FileError("not a saved model: users and items have different ratings")
    lists = [Lists(*(arrays[f"{name}.{key}"] for key in Lists._fields)) for name in SIDES]
    trainset = ColumnTrainset(lists[0], lists[1], codes, ids, (low, high))  # type: ignore[arg-type]
    if is_beyond(trainset, low, high) and not header.beyond_scale:
        raise FileError(f"not a saved model: a rating outside the scale {low:g} to {high:g}")
    return trainset


def is_beyond(trainset: ColumnTrainset, low: float, high: float) -> bool:
    """Return whether a rating is outside the scale."""
    ratings = trainset.by_user.ratings
    return bool(((ratings < low) | (ratings > high)).any())


def odd_parameter(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> str:
    """Return a parameter that Surprise would not take, which takes more than a config, or ''."""
    allowed, _ = parameters.accepted(entry.model_class)
    for name in allowed:
        value = vars(model).get(name)
        if isinstance(value, UNSEEDED):
            continue
        if not parameters.is_ordinary(name, value) or _has_negative_count(name, value):
            return name
    return ""


def _has_negative_count(name: str, value: object) -> bool:
    """Return whether a number of neighbours, factors, epochs and the like is below 0."""
    if isinstance(value, dict):
        return any(_has_negative_count(*option) for option in value.items())
    is_count = isinstance(parameters.LEAST.get(name), int)
    return is_count and isinstance(value, int | np.integer) and bool(value < 0)


def compare(model: surprise.AlgoBase, entry: type[base.Algorithm]) -> None:
    """Refuse a model whose attributes are not those of a fit of its class, by type and shape."""
    if name := odd_parameter(model, entry):
        raise FileError(f"not a saved model: {name} has another type or shape")
    allowed, _ = parameters.accepted(entry.model_class)
    params = {name: value for name, value in vars(model).items() if name in allowed}
    params = {name: value for name, value in params.items() if not isinstance(value, UNSEEDED)}
    quick = {"verbose": False, "n_epochs": 1}
    small = params | {name: value for name, value in quick.items() if name in allowed}
    if "bsl_options" in params:
        small["bsl_options"] = {**params["bsl_options"], "n_epochs": 1}
    toy = registry.create(entry.name, small, 0)
    learned = {size for value in vars(model).values() for size in np.shape(value)}
    for name in params:  # before as much memory is taken
        if name.startswith("n_") and name != "n_epochs" and params[name] not in learned:
            raise FileError(f"not a saved model: {name} is not the size of what was learned")
    used = {value for value in vars(model).values() if isinstance(value, int)}
    free = (n for n in count(23) if n not in used)  # a number of factors has another shape
    n_users, n_items = next(free), next(free)
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    columns, ids = (users, items, 1.0 + (users * items) % 5), (range(n_users), range(n_items))
    toy_set = ColumnTrainset.from_columns(*columns, user_ids=ids[0], item_ids=ids[1], scale=(1, 5))
    models.fit(toy, toy_set)
    sizes = {n_users: model.trainset.n_users, n_items: model.trainset.n_items}
    expected, attributes = vars(toy), vars(model)
    for name in expected.keys() & OF_A_SEED - attributes.keys():
        del expected[name]
    if expected.keys() != attributes.keys():
        names = sorted(expected.keys() ^ attributes.keys())
        raise FileError(f"not a saved model: attributes {names}")
    for name, like in expected.items():
        if name not in params and not _is_like(model, name, like, sizes):  # those are looked at
            raise FileError(f"not a saved model: {name} has another type or shape")


def _is_like(model: surprise.AlgoBase, name: str, like: object, sizes: dict[int, int]) -> bool:
    """Return whether an attribute has the type and shape of that of a toy; `sizes` of both."""
    value = vars(model)[name]
    if isinstance(value, dict) and value == COMPUTED:
        return name in ("sim", "dev", "freq", "weights")
    if isinstance(like, np.ndarray):
        if not isinstance(value, np.ndarray) or value.dtype != like.dtype:
            return False
        shapes = zip(like.shape, value.shape, strict=False)
        if value.ndim != like.ndim or any(b not in (a, sizes.get(a)) for a, b in shapes):
            return False
        if like.dtype.kind == "i" and like.ndim == 1:  # numbers of clusters
            return bool(value.min() >= 0 and value.max() < getattr(model, f"n_{name}", 0))
        return True
    if name == "random_state" and isinstance(value, UNSEEDED):
        return True
    if isinstance(like, list):
        is_long = isinstance(value, list) and len(value) == sizes.get(len(like), len(like))
        return is_long and all(type(member) is type(like[0]) for member in value)
    return isinstance(value, (type(like), int, float))
