"""The names of the package, declared once; each is imported when it is first used."""

from .catalogue import rank_block
from .files import Evidence, read
from .grouped import from_grouped
from .lists import from_lists, from_matrix, from_recommendations
from .pairs import from_pairs, from_predictions, group_pairs, ndcg

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
