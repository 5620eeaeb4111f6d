"""Rankings from columns, frames, lists, matrices, files or a model's estimates."""

from harness.rankings.lists import Evidence, from_lists, from_matrix, from_recommendations, read
from harness.rankings.pairs import (
    from_grouped,
    from_pairs,
    from_predictions,
    group_pairs,
    ndcg,
    rank_block,
)

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
