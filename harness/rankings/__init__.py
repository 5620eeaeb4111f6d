"""Rankings from columns, frames, lists, matrices, files or a model's estimates."""

from __future__ import annotations

from harness.rankings.blocks import rank_block
from harness.rankings.lists import from_lists, from_matrix, from_recommendations
from harness.rankings.pairs import (
    from_grouped,
    from_pairs,
    from_predictions,
    group_pairs,
    ndcg,
)
from harness.rankings.prediction_files import Evidence, read

__all__ = [
    "Evidence",
    "from_grouped",
    "from_lists",
    "from_matrix",
    "from_pairs",
    "from_predictions",
    "from_recommendations",
    "group_pairs",
    "ndcg",
    "rank_block",
    "read",
]
