"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

from harness.datasets.catalogue import available, cache_folder
from harness.datasets.loading import load, load_under
from harness.datasets.ratings import Ratings

__all__ = ["Ratings", "available", "cache_folder", "load", "load_under"]
