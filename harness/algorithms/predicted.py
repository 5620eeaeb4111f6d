"""Estimates of models whose own ``predict`` has to be called, one for each pair."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats
from harness.errors import AlgorithmError


def predicted(
    model: surprise.AlgoBase, users: Codes, items: Codes | None, clip: bool
) -> tuple[Floats, Bools]:
    """Return what ``model.predict`` gives, called for one pair after the other."""
    trainset: ColumnTrainset = model.trainset
    pairs = (users, items) if items is not None else (users[:, None], trainset.item_codes)
    every_user, every_item = np.broadcast_arrays(*pairs)
    estimates = np.empty(every_user.shape)
    impossible = np.empty(every_user.shape, np.bool_)
    raw = trainset.raw_users(every_user.ravel()), trainset.raw_items(every_item.ravel())
    # NaN and infinity are reported with their number; NumPy's warnings name lines of Surprise.
    with drawing_from(own_generator(model)), np.errstate(divide="ignore", invalid="ignore"):
        for place, (user, item) in enumerate(zip(*raw, strict=True)):
            prediction = model.predict(user, item, clip=clip)
            try:
                estimates.flat[place] = float(prediction.est)
            except (TypeError, ValueError):
                raise AlgorithmError(
                    f"{type(model).__name__}: the estimate {str(prediction.est)[:40]} is not "
                    "a number; return a float from `estimate`"
                ) from None
            impossible.flat[place] = prediction.details["was_impossible"]
    return estimates, impossible


def own_generator(model: surprise.AlgoBase) -> np.random.RandomState | None:
    """Return what a NormalPredictor with a seed draws from, in place of the global generator."""
    is_normal = isinstance(model, surprise.NormalPredictor)
    return getattr(model, "generator", None) if is_normal else None


@contextmanager
def drawing_from(generator: np.random.RandomState | None) -> Iterator[None]:
    """Let what draws from NumPy's global generator draw from another, if there is one."""
    if generator is None:
        yield
        return
    before = np.random.get_state()  # noqa: NPY002
    np.random.set_state(generator.get_state())  # noqa: NPY002
    try:
        yield
    finally:
        generator.set_state(np.random.get_state())  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002
