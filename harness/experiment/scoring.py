"""A fitted model and what is asked of it become rankings and pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from harness.algorithms import acceleration
from harness.candidates import Asked
from harness.config.candidates import CandidatesSection, Rated, Sampled
from harness.metrics import Pairs, Rankings

__all__ = ["rank", "score_pairs"]

BLOCK_BYTES = 64_000_000

Progress = Callable[[int, int], object]


def score_pairs(model: object, asked: Asked, *, clip: bool, accelerate: bool) -> tuple[Pairs, int]:
    """Estimate every test rating.

    Returns
    -------
    pairs : Pairs
        By user, in the order of `asked`.
    n_impossible : int
        Estimates that Surprise calls impossible and sets to the global mean.
    """
    users = np.repeat(asked.users, np.diff(asked.offsets))
    estimates, impossible = acceleration.estimate(
        model, users, asked.items, clip=clip, accelerate=accelerate
    )
    pairs = Pairs(offsets=asked.offsets, estimates=estimates, ratings=asked.ratings)
    return pairs, int(impossible.sum())


def rank(
    model: object,
    section: CandidatesSection,
    asked: Asked,
    pairs: Pairs,
    *,
    clip: bool,
    accelerate: bool,
    depth: int,
    progress: Progress,
) -> Rankings:
    """Rank the candidates of every kept user.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted.
    section : Rated, Catalogue or Sampled
    asked : Asked
    pairs : Pairs
        The estimates of the test ratings, from `score_pairs`.
    clip, accelerate : bool
    depth : int
        How many items at the top of each list are kept by name.
    progress : callable
        Called with users done and users in all.
    """
    if isinstance(section, Rated):
        return _rank_rated(asked, pairs, depth)
    if isinstance(section, Sampled):
        return _rank_sampled(model, asked, pairs, clip=clip, accelerate=accelerate, depth=depth)
    return _rank_catalogue(
        model, section, asked, clip=clip, accelerate=accelerate, depth=depth, progress=progress
    )
