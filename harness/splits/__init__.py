"""Ratings filtered, and split into training and test, seeded, hashed and named."""

from typing import TYPE_CHECKING

from harness import lazy

if TYPE_CHECKING:
    from harness.splits.base import FilterSection, Split, SplitSection, make, validation
    from harness.splits.filtering import filter
    from harness.splits.filters import k_core
    from harness.splits.saved import read, save

__all__ = [
    "FilterSection",
    "Split",
    "SplitSection",
    "filter",
    "k_core",
    "make",
    "read",
    "save",
    "validation",
]

TEST_SHARE = 0.2
"""The proportion of the ratings in the test set of a random split, unless a config says another."""

__getattr__ = lazy.members(
    __name__,
    {
        "base": ("FilterSection", "Split", "SplitSection", "make", "validation"),
        "filtering": ("filter",),
        "filters": ("k_core",),
        "saved": ("read", "save"),
    },
)
