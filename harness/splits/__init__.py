"""Ratings divided into training and test, seeded, hashed and named."""

from harness.splits.making import make
from harness.splits.split import Split

__all__ = ["Split", "make"]
