"""Ratings filtered, and split into training and test, seeded, hashed and named."""

# ruff: noqa: I001 - messages and pages list the kinds in the order of these imports
from harness.splits import random, per_user, temporal, predefined
from harness.splits.filters import FilterSection, filter
from harness.splits.saved import read, save
from harness.splits.split import Split, SplitSection, make, validation

__all__ = [
    "FilterSection",
    "Split",
    "SplitSection",
    "filter",
    "make",
    "per_user",
    "predefined",
    "random",
    "read",
    "save",
    "temporal",
    "validation",
]
