"""Ratings filtered, and split into training and test, seeded, hashed and named."""

# Messages and pages list the kinds in the order of these imports.  # ruff: noqa: I001
from harness.splits.split import Split, SplitSection, make, validation
from harness.splits.random import Holdout, KFold, OwnTraining, RepeatedKFold
from harness.splits.per_user import LeaveNOut, UserFraction, UserHoldout
from harness.splits.temporal import GlobalTime
from harness.splits.predefined import Predefined
from harness.splits.saved import SavedSplit, read, save
from harness.splits.filters import FilterSection, filter

__all__ = [
    "FilterSection",
    "GlobalTime",
    "Holdout",
    "KFold",
    "LeaveNOut",
    "OwnTraining",
    "Predefined",
    "RepeatedKFold",
    "SavedSplit",
    "Split",
    "SplitSection",
    "UserFraction",
    "UserHoldout",
    "filter",
    "make",
    "read",
    "save",
    "validation",
]
