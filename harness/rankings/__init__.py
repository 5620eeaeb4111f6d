"""Rankings from what there is: columns, frames, lists, matrices, files or a model's estimates."""

from __future__ import annotations

from harness.rankings.catalogue import rank_block
from harness.rankings.columns import from_grouped, from_pairs, group_pairs
from harness.rankings.predictions import from_predictions, ndcg, pairs_of

__all__ = [
    "from_grouped",
    "from_pairs",
    "from_predictions",
    "group_pairs",
    "ndcg",
    "pairs_of",
    "rank_block",
]
