"""Ratings filtered, and split into training and test, seeded, hashed and named."""

from harness.splits.base import FilterSection, Split, SplitSection, filter, make, validation
from harness.splits.filters import (
    FirstUsers,
    KCore,
    MinRating,
    MinRatingsPerItem,
    MinRatingsPerUser,
    SampleUsers,
    TimeWindow,
    TopItems,
)
from harness.splits.kinds import (
    GlobalTime,
    Holdout,
    ItemFraction,
    KFold,
    LeaveNOut,
    OwnTraining,
    RepeatedKFold,
    UserFraction,
    UserHoldout,
)
from harness.splits.saved import Predefined, SavedSplit, read, save

__all__ = [
    "FilterSection",
    "FirstUsers",
    "GlobalTime",
    "Holdout",
    "ItemFraction",
    "KCore",
    "KFold",
    "LeaveNOut",
    "MinRating",
    "MinRatingsPerItem",
    "MinRatingsPerUser",
    "OwnTraining",
    "Predefined",
    "RepeatedKFold",
    "SampleUsers",
    "SavedSplit",
    "Split",
    "SplitSection",
    "TimeWindow",
    "TopItems",
    "UserFraction",
    "UserHoldout",
    "filter",
    "make",
    "read",
    "save",
    "validation",
]
