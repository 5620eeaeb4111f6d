"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

from harness.datasets.ratings import Ratings, load, load_under
from harness.datasets.section import available, cache_folder

__all__ = ["Ratings", "available", "cache_folder", "load", "load_under"]
