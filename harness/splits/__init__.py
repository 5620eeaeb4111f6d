"""Ratings divided into training and test, seeded, hashed and named."""

from harness.splits.filters import Counts, FilterReport, filter
from harness.splits.making import make
from harness.splits.split import Split

__all__ = ["Counts", "FilterReport", "Split", "filter", "make"]
