"""Rankings from columns, frames, lists, matrices, files or a model's estimates."""

from importlib import import_module
from typing import TYPE_CHECKING

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

_HOMES = {
    "catalogue": ("rank_block",),
    "files": ("Evidence", "read"),
    "grouped": ("from_grouped",),
    "lists": ("from_lists", "from_matrix", "from_recommendations"),
    "pairs": ("from_pairs", "from_predictions", "group_pairs", "ndcg"),
}


def __getattr__(name: str) -> object:
    """Import a public name on first use: to rank pairs takes no reader of files."""
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"harness.rankings.{home}"), name)
            return value
    raise AttributeError(f"module 'harness.rankings' has no attribute {name!r}")
