"""A fitted model and candidates become pairs and rankings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import evaluation, rankings
from harness.algorithms import models
from harness.candidates import Candidates, CandidatesSection, Catalogue, Rated
from harness.errors import AlgorithmError
from harness.metrics import Exposure, Metric, Pairs, Rankings
from harness.rankings.blocks import TieKeys, offsets_of, order_keys, tie_keys, top_items

__all__ = ["Progress", "compile_scoring", "rank", "score_pairs"]

BLOCK_BYTES = 32_000_000

Progress = Callable[[int, int], object]
Keys = tuple[TieKeys, TieKeys]
"""Of the test users, by position, and of the items, by code."""


@cache
def compile_scoring(wanted: tuple[Metric, ...], depth: int, *, catalogue: bool = False) -> None:
    """Rank and score a toy, once in each process, so that no clock holds compilation."""
    kept, items = np.array([0]), np.array([0, 1, 2], dtype=np.int32)
    estimates, ratings = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    owners, ids = np.zeros(3, dtype=np.int64), np.array(["a", "b", "c"])
    keys = (tie_keys(ids[:1]), tie_keys(ids)) if depth else None
    listed = _rank_listed(kept, owners, items, estimates, ratings, keys, depth=depth)
    if catalogue:
        block = (estimates[None], [0, 2], items[:2], ratings[:2], [0, 1], [2])
        rankings.rank_block(*block, depth=depth, tie_keys=keys)
    if wanted:
        exposure = Exposure(np.zeros(1, np.int32), items[:1], kept, n_items=3)
        pairs = Pairs([0, 3], estimates, ratings)
        evaluation.evaluate(wanted, listed, pairs, np.array([True]), exposure)


def score_pairs(
    model: Any, selected: Candidates, *, clip: bool, accelerate: bool
) -> tuple[Pairs, int]:
    """Estimate every test rating, in the order of the test set.

    Raises
    ------
    AlgorithmError
        If an estimate is not a number.
    """
    users = np.empty(len(selected.items), dtype=np.int32)
    items = np.empty_like(users)
    users[selected.order] = np.repeat(selected.users, np.diff(selected.offsets))
    items[selected.order] = selected.items
    estimates, impossible = models.estimate(model, users, items, clip=False, accelerate=accelerate)
    _check_and_clip(model, estimates, clip=clip)
    pairs = Pairs(selected.offsets, estimates[selected.order], selected.ratings)
    return pairs, int(impossible.sum())


def rank(
    model: Any,
    section: CandidatesSection,
    selected: Candidates,
    pairs: Pairs,
    *,
    clip: bool,
    accelerate: bool,
    depth: int,
    progress: Progress,
    ids: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> Rankings:
    """Rank the candidates of every kept user.

    The first `depth` items of each list are kept by name, those of equal estimates in an order that
    depends on the raw `ids` of users and items alone.

    Raises
    ------
    AlgorithmError
        If an estimate is not a number.
    """
    keys = None
    if depth and ids is not None:
        keys = tie_keys(ids[0])[selected.users], tie_keys(ids[1])
    if isinstance(section, Catalogue):
        return _rank_catalogue(
            model, section, selected, keys, clip=clip, accelerate=accelerate, depth=depth,
            progress=progress,
        )  # fmt: skip
    kept = np.flatnonzero(selected.kept)
    owners = np.repeat(np.arange(selected.n_users), np.diff(selected.offsets))
    if isinstance(section, Rated):
        return _rank_listed(
            kept, owners, selected.items, pairs.estimates, selected.ratings, keys, depth=depth
        )
    others = np.repeat(np.arange(selected.n_users), np.diff(selected.extra_offsets))
    guesses, _ = models.estimate(
        model, selected.users[others], selected.extra_items, clip=False, accelerate=accelerate
    )
    _check_and_clip(model, guesses, clip=clip)
    known = selected.known
    ranked = _rank_listed(
        kept,
        np.concatenate([owners[known], others]),
        np.concatenate([selected.items[known], selected.extra_items]),
        np.concatenate([pairs.estimates[known], guesses]),
        np.concatenate([selected.ratings[known], np.zeros(len(others))]),
        keys,
        depth=depth,
    )
    pool_offsets, pool = _pool(kept, selected, drop_unknown=section.unknown_items == "drop")
    return replace(ranked, pool_offsets=pool_offsets, pool=pool)


def _rank_listed(
    kept: NDArray[np.int64],
    owners: NDArray[np.int64],
    items: NDArray[np.int32],
    estimates: NDArray[np.float64],
    relevance: NDArray[np.float64],
    keys: Keys | None = None,
    *,
    depth: int,
) -> Rankings:
    """Rank candidates that are given pair by pair; owners are positions among the test users."""
    position = np.full(max(owners.max(initial=-1), kept.max(initial=-1)) + 1, -1)
    position[kept] = np.arange(len(kept))
    users = position[owners]
    rows = np.flatnonzero(users >= 0)
    rows = rows[np.argsort(users[rows], kind="stable")]
    users, items, estimates = users[rows], items[rows], estimates[rows]
    ranked = rankings.from_grouped(Pairs(offsets_of(users, len(kept)), estimates, relevance[rows]))
    if not depth:
        return ranked
    equal = None if keys is None else order_keys(keys[0][owners[rows]], keys[1][items])
    return replace(ranked, top_items=top_items(users, items, estimates, len(kept), depth, equal))


def _rank_catalogue(
    model: Any,
    section: Catalogue,
    selected: Candidates,
    keys: Keys | None,
    *,
    clip: bool,
    accelerate: bool,
    depth: int,
    progress: Progress,
) -> Rankings:
    """Rank every training item for every kept user, a block of users at a time."""
    trainset = model.trainset
    kept = np.flatnonzero(selected.kept)
    inner = trainset.inner_users[selected.users[kept]]
    block = max(1, BLOCK_BYTES // (8 * max(1, trainset.n_items)))
    codes = np.append(trainset.item_codes, -1).astype(np.int32)
    parts = []
    blocks = models.catalogue(
        model, selected.users[kept], clip=False, accelerate=accelerate, block=block
    )
    for start, stop, estimates in blocks:
        _check_and_clip(model, estimates, clip=clip)
        judged = _stretches(selected.offsets, kept[start:stop])
        judged_columns = trainset.inner_items[selected.items[judged.rows]]
        known = judged_columns >= 0
        seen = (
            _stretches(trainset.by_user.offsets, inner[start:stop])
            if section.training_items == "drop"
            else None
        )
        part = rankings.rank_block(
            estimates,
            offsets_of(judged.owners[known], stop - start),
            judged_columns[known],
            selected.ratings[judged.rows[known]],
            excluded_offsets=None if seen is None else seen.offsets,
            excluded_items=None if seen is None else trainset.by_user.ids[seen.rows],
            depth=depth,
            tie_keys=None if keys is None else (keys[0][kept[start:stop]], keys[1][codes[:-1]]),
        )
        if part.top_items is not None:
            part = replace(part, top_items=codes[part.top_items])
        parts.append(part)
        progress(stop, len(kept))
    pool_offsets, pool = _pool(kept, selected, drop_unknown=section.unknown_items == "drop")
    return replace(Rankings.concatenate(parts), pool_offsets=pool_offsets, pool=pool)


@dataclass(frozen=True)
class _Stretches:
    """The rows that some owners hold in ragged arrays, owner by owner."""

    offsets: NDArray[np.int64]
    owners: NDArray[np.int64]
    rows: NDArray[np.int64]


def _stretches(offsets: NDArray[np.int64], owners: NDArray[np.int64]) -> _Stretches:
    """Gather the rows of owners; an owner of -1 holds none."""
    lengths = np.where(owners >= 0, offsets[owners + 1] - offsets[owners], 0)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.arange(ends[-1]) + np.repeat(offsets[owners] - ends[:-1], lengths)
    return _Stretches(ends, np.repeat(np.arange(len(owners)), lengths), rows)


def _pool(
    kept: NDArray[np.int64], selected: Candidates, *, drop_unknown: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return every kept user's test ratings in descending order: the ideal order."""
    held = _stretches(selected.offsets, kept)
    counted = selected.known[held.rows] if drop_unknown else np.ones(len(held.rows), dtype=bool)
    owners, ratings = held.owners[counted], selected.ratings[held.rows[counted]]
    return offsets_of(owners, len(kept)), ratings[np.lexsort((-ratings, owners))]


def _check_and_clip(model: Any, estimates: NDArray[np.float64], *, clip: bool) -> None:
    """Clip estimates to the rating scale in place.

    Surprise's own clipping turns an estimate that is not a number into the top of the scale, so
    it is done here, after a look.
    """
    n_bad = int(np.count_nonzero(~np.isfinite(estimates)))
    if n_bad:
        raise AlgorithmError(
            f"{type(model).__name__}: {n_bad:,} of {estimates.size:,} estimates are not numbers; "
            "the fit diverged: lower the learning rate or raise the regularisation"
        )
    if clip and not models.is_preference(model):
        np.clip(estimates, *model.trainset.rating_scale, out=estimates)
