"""Data sets: turn a name, a file or an object into `Ratings` in columns."""

from harness.datasets.catalogue import available, cache_folder
from harness.datasets.loading import load
from harness.datasets.ratings import Ratings
from harness.datasets.reading import Progress

__all__ = ["Progress", "Ratings", "available", "cache_folder", "load"]
