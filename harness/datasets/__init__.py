"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

from harness.datasets.cache import cache_folder
from harness.datasets.listing import Listing, available, expected_size, is_here
from harness.datasets.loading import Progress, load
from harness.datasets.ratings import Ratings

__all__ = [
    "Listing",
    "Progress",
    "Ratings",
    "available",
    "cache_folder",
    "expected_size",
    "is_here",
    "load",
]
