"""The whole catalogue ranked for each test user of a cell; imported where a config asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from harness import rankings
from harness.algorithms import models
from harness.algorithms.trainset import Codes
from harness.kernels import rows_of_owners
from harness.metrics import Rankings
from harness.metrics.arrays import Floats
from harness.rankings.grouped import offsets_of

if TYPE_CHECKING:
    from harness.candidates import Catalogue
    from harness.experiment.cell import Keys, Scorer


def rank_catalogue(
    scorer: Scorer,
    section: Catalogue,
    keys: Keys | None,
    depth: int,
    named: bool,
    progress: Callable[[int, int], object],
) -> Rankings:
    """Rank every training item for every user, a block of users at a time."""
    selected, trainset = scorer.selected, scorer.model.trainset
    excluded, judged = section.training_items == "drop", selected.judged
    inner = trainset.inner_users[selected.users]
    codes = np.append(trainset.item_codes, -1).astype(np.int32)
    how, parts = {"clip": False, "accelerate": scorer.accelerate}, []
    for start, stop, estimates in models.catalogue(scorer.model, selected.users, **how):
        unknown = np.flatnonzero(inner[start:stop] < 0)
        if scorer.fallback and len(unknown):
            strangers = selected.users[start:stop][unknown]
            for first, last, others in models.catalogue(scorer.fallback, strangers):
                estimates[unknown[first:last]] = others
        models.check_and_clip(scorer.model, estimates, scorer.clip)
        users, rows = rows_of_owners(selected.offsets, np.arange(start, stop))
        users, rows = users[judged[rows]], rows[judged[rows]]
        trained, seen = rows_of_owners(trainset.by_user.offsets, inner[start:stop])
        part = rankings.rank_block(
            estimates,
            offsets_of(users, stop - start),
            trainset.inner_items[selected.items[rows]],
            selected.ratings[rows],
            excluded_offsets=offsets_of(trained, stop - start) if excluded else None,
            excluded_items=trainset.by_user.ids[seen] if excluded else None,
            depth=depth,
            tie_keys=None if keys is None else (keys[0][start:stop], keys[1][codes[:-1]]),
            least=section.least,
        )
        top = None if part.top_items is None else codes[part.top_items]
        shown = part.top_estimates if named else None
        items = codes[part.items] if named else None
        parts.append(replace(part, top_items=top, top_estimates=shown, items=items))
        progress(stop, selected.n_users)
    return Rankings.concatenate(parts)


def rank_toy(
    estimates: Floats, items: Codes, ratings: Floats, keys: Keys | None, depth: int
) -> None:
    """Rank a block of one user, so that no clock holds compilation."""
    block = (estimates[None], [0, 2], items[:2], ratings[:2], [0, 1], [2])
    rankings.rank_block(*block, depth=depth, tie_keys=keys)
