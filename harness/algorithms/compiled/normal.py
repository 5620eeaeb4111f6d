"""NormalPredictor: draws from one normal distribution."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from harness.algorithms.compiled.accelerator import (
    Accelerator,
    Bools,
    Codes,
    Floats,
    Progress,
    Scorer,
)
from harness.algorithms.surprise_import import surprise
from harness.algorithms.trainset import ColumnTrainset

__all__ = ["NormalPredictor", "borrowed_generator", "seed_draws"]


class NormalScorer(Scorer):
    """One random number for each estimate, in the order of the estimates."""

    def pairs(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        return self.draw(len(users)), np.zeros(len(users), np.bool_)

    def rows(self, users: Codes) -> Floats:
        return self.draw(len(users), self.trainset.n_items)

    def draw(self, *shape: int) -> Floats:
        """Draw from the model's own generator, or NumPy's global one where it has none."""
        rng = _own_generator(self.model) or surprise.utils.get_rng(None)
        draws: Floats = rng.normal(self.trainset.global_mean, self.model.sigma, shape)
        return draws


class NormalPredictor(Accelerator):
    """Accelerates `surprise.NormalPredictor`."""

    surprise_class = surprise.NormalPredictor
    scorer = NormalScorer

    def fit(  # noqa: D102
        self, model: Any, trainset: ColumnTrainset, *, as_surprise: bool, progress: Progress
    ) -> None:
        squares = (trainset.user_ratings - trainset.global_mean) ** 2
        # Summed one after the other, as Surprise does.
        model.sigma = np.sqrt(np.add.accumulate(squares)[-1] / trainset.n_ratings)


def seed_draws(model: Any) -> None:
    """Give a `surprise.NormalPredictor` that has a ``random_state`` a generator of its own.

    Surprise's class takes no seed and draws from NumPy's global generator. With an attribute
    ``random_state``, a model draws what that generator would after ``numpy.random.seed``, while
    the generator itself does not change. Every fit starts again.
    """
    seeded = getattr(model, "random_state", None) is not None
    if seeded and isinstance(model, surprise.NormalPredictor):
        model.generator = surprise.utils.get_rng(model.random_state)


@contextmanager
def borrowed_generator(model: Any) -> Iterator[None]:
    """Let calls of ``model.predict`` draw from the model's generator, if it has one."""
    own = _own_generator(model)
    if own is None:
        yield
        return
    before = np.random.get_state()  # noqa: NPY002
    np.random.set_state(own.get_state())  # noqa: NPY002
    try:
        yield
    finally:
        own.set_state(np.random.get_state())  # noqa: NPY002
        np.random.set_state(before)  # noqa: NPY002


def _own_generator(model: Any) -> np.random.RandomState | None:
    if isinstance(model, surprise.NormalPredictor):
        return getattr(model, "generator", None)
    return None
