"""Rankings from columns, frames, lists, matrices, files or a model's estimates."""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.rankings.catalogue import rank_block
    from harness.rankings.files import Evidence, read
    from harness.rankings.grouped import from_grouped
    from harness.rankings.lists import from_lists, from_matrix, from_recommendations
    from harness.rankings.pairs import from_pairs, from_predictions, group_pairs, ndcg

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

__getattr__ = lazy.members(
    __name__,
    {
        "catalogue": ("rank_block",),
        "files": ("Evidence", "read"),
        "grouped": ("from_grouped",),
        "lists": ("from_lists", "from_matrix", "from_recommendations"),
        "pairs": ("from_pairs", "from_predictions", "group_pairs", "ndcg"),
    },
)
