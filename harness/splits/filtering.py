"""Ratings that stay after the filters of a config, with the counts around each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness import seeds
from harness.arguments import checked
from harness.datasets import Ratings
from harness.errors import HarnessError, SplitError, counted, raised_where
from harness.metrics.locked import locked
from harness.splits.base import FilterSection, Mask


def _kept(section: FilterSection, ratings: Ratings, state: int) -> Mask:
    """Return the mask of a filter; one of somebody else's sees ratings that it cannot change."""
    if type(section).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return section.keep(ratings, state)
    try:
        returned = section.keep(locked(ratings), state)
        keep = np.asarray(returned)
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        said = raised_where(error)
        raise SplitError(f"filters: {section.describe()}: it failed ({said}); mend it") from error
    if np.ma.is_masked(returned):
        raise SplitError(
            f"filters: {section.describe()}: a masked array; return a plain one, as by "
            "`filled(False)`"
        )
    if keep.dtype != np.bool_ or keep.shape != (len(ratings),):
        found = f"{keep.dtype} {keep.shape}"
        raise SplitError(
            f"filters: {section.describe()}: found {found}; return a mask of ({len(ratings)},)"
        )
    return keep


@checked(SplitError)
def filter(
    sections: Sequence[FilterSection], ratings: Ratings, seed: int
) -> tuple[Ratings, list[str]]:
    """Return the rows that stay after filters, and for each its name with the counts around it.

    Raises SplitError if a filter cannot be applied or leaves nothing.
    """
    reports = []
    for position, section in enumerate(sections):
        before = _counts(ratings)
        keep = _kept(section, ratings, seeds.derive(seed, "filter", position))
        if not keep.any():
            raise SplitError(
                f"filters: {section.describe()} leaves none of "
                f"{counted(len(ratings), 'rating')}; relax it"
            )
        ratings = ratings.take(np.flatnonzero(keep))
        after = _counts(ratings)
        changes = (f"{noun} {n:,} -> {after[noun]:,}" for noun, n in before.items())
        reports.append(f"{section.describe()}: {', '.join(changes)}")
    return ratings, reports


def _counts(ratings: Ratings) -> dict[str, int]:
    """Count the ratings, and the users and items that have one."""
    sides = {"users": ratings.users, "items": ratings.items}
    counts = {noun: int(np.count_nonzero(np.bincount(codes))) for noun, codes in sides.items()}
    return {"ratings": len(ratings)} | counts
