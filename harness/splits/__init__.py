"""Ratings split into training and test, seeded, hashed and named."""

from harness.splits.filters import Counts, FilterReport, filter
from harness.splits.making import make, validation, validations
from harness.splits.saved import read, save
from harness.splits.split import Split

__all__ = [
    "Counts",
    "FilterReport",
    "Split",
    "filter",
    "make",
    "read",
    "save",
    "validation",
    "validations",
]
