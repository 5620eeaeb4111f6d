"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.datasets.catalogue import available
    from harness.datasets.loading import load, load_under
    from harness.datasets.ratings import Ratings
    from harness.files import cache_folder

__all__ = ["Ratings", "available", "cache_folder", "load", "load_under"]

__getattr__ = lazy.members(
    __name__,
    {
        "catalogue": ("available", "cache_folder"),
        "loading": ("load", "load_under"),
        "ratings": ("Ratings",),
    },
)
