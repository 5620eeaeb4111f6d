"""What may not stand in ratings, and what to do with it: nothing is dropped unsaid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.datasets.rows import Coded, Rows, in_order_of_appearance
from harness.errors import DataError

__all__ = ["Clean", "Policy", "clean", "counted"]


@dataclass(frozen=True)
class Policy:
    """What to do with rows that cannot be used as they are.

    Attributes
    ----------
    duplicates : {"error", "first", "last", "mean"}
        A pair of user and item that is rated more than once. The mean stands at the place of the
        first rating, with the latest timestamp.
    missing : {"error", "drop"}
        A row without user, item or a finite rating.
    out_of_scale : {"error", "clip", "drop"}
        A rating outside the scale.
    scale : (float, float), optional
        The lowest and the highest rating; what is found when None.
    """

    duplicates: str = "error"
    missing: str = "error"
    out_of_scale: str = "error"
    scale: tuple[float, float] | None = None


class Clean(NamedTuple):
    """Rows that can be used, their scale, and what was done to them."""

    rows: Rows
    scale: tuple[float, float]
    notes: tuple[str, ...]


def clean(rows: Rows, policy: Policy, at: Callable[[int], str]) -> Clean:
    """Apply the policies and number users and items by first appearance.

    Parameters
    ----------
    rows : Rows
        As read.
    policy : Policy
        What to do with missing values, ratings outside the scale, and duplicate pairs, which are
        looked for in this order.
    at : callable
        From a row's position, from 0, to where it stands, as ``ratings.csv:17``.

    Raises
    ------
    DataError
        If there are no rows, before or after; or for the first row that offends a policy of
        ``error``.
    """
    notes: list[str] = []
    if not len(rows):
        raise DataError(f"{at(-1)}: no ratings; give a file that has some")
    rows = _without_missing(rows, policy, at, notes)
    rows, scale = _within_scale(rows, policy, at, notes)
    rows = _without_duplicates(rows, policy, at, notes)
    if not len(rows):
        raise DataError(f"{at(-1)}: no ratings are left ({'; '.join(notes)}); check the policies")
    users, items = in_order_of_appearance(rows.users), in_order_of_appearance(rows.items)
    return Clean(replace(rows, users=users, items=items), scale, tuple(notes))


def _without_missing(
    rows: Rows, policy: Policy, at: Callable[[int], str], notes: list[str]
) -> Rows:
    bad = (rows.users.codes < 0) | (rows.items.codes < 0) | ~np.isfinite(rows.ratings)
    n_bad = int(np.count_nonzero(bad))
    if not n_bad:
        return rows
    if policy.missing == "error":
        row = int(np.argmax(bad))
        if rows.users.codes[row] < 0:
            found = "no user"
        elif rows.items.codes[row] < 0:
            found = "no item"
        elif np.isnan(rows.ratings[row]):
            found = "no rating"
        else:
            found = f"the rating is {rows.ratings[row]}"
        raise DataError(
            f"{at(row)}: {found} ({counted(n_bad, 'such row')} in all); "
            "mend the data, or drop such rows with missing: drop"
        )
    notes.append(f"{counted(n_bad, 'row')} without user, item or finite rating dropped")
    return rows.take(~bad)


def _within_scale(
    rows: Rows, policy: Policy, at: Callable[[int], str], notes: list[str]
) -> tuple[Rows, tuple[float, float]]:
    if policy.scale is None:
        if not len(rows):
            return rows, (np.nan, np.nan)
        found = float(rows.ratings.min()), float(rows.ratings.max())
        notes.append(f"scale {found[0]:g} to {found[1]:g}, the lowest and highest rating found")
        return rows, found
    low, high = policy.scale
    bad = (rows.ratings < low) | (rows.ratings > high)
    n_bad = int(np.count_nonzero(bad))
    if not n_bad:
        return rows, policy.scale
    if policy.out_of_scale == "error":
        row = int(np.argmax(bad))
        raise DataError(
            f"{at(row)}: the rating {rows.ratings[row]:g} is outside the scale {low:g} to {high:g} "
            f"({counted(n_bad, 'such row')} in all); mend the data or the scale, "
            "or say out_of_scale: clip or drop"
        )
    if policy.out_of_scale == "drop":
        notes.append(f"{counted(n_bad, 'rating')} outside {low:g} to {high:g} dropped")
        return rows.take(~bad), policy.scale
    notes.append(f"{counted(n_bad, 'rating')} outside {low:g} to {high:g} clipped")
    return replace(rows, ratings=np.clip(rows.ratings, low, high)), policy.scale


def _without_duplicates(
    rows: Rows, policy: Policy, at: Callable[[int], str], notes: list[str]
) -> Rows:
    pairs = rows.users.codes.astype(np.int64) * len(rows.items.ids) + rows.items.codes
    in_order = np.sort(pairs)
    if not np.any(in_order[1:] == in_order[:-1]):
        return rows
    del in_order
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    firsts = order[starts]
    n_extra = len(rows) - len(starts)
    if policy.duplicates == "error":
        _refuse_duplicate(rows, order, starts, at, n_extra)
    sizes = np.diff(starts, append=len(order))
    n_pairs = int(np.count_nonzero(sizes > 1))
    notes.append(
        f"{counted(n_pairs, 'duplicate pair')}: the {policy.duplicates} kept, "
        f"{counted(n_extra, 'row')} dropped"
    )
    if policy.duplicates == "mean":
        rows = _merged(rows, order, starts, sizes)
    kept = order[starts + sizes - 1] if policy.duplicates == "last" else firsts
    return rows.take(np.sort(kept))


def _merged(
    rows: Rows, order: NDArray[np.int64], starts: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Rows:
    """Return the rows with each pair's mean and latest timestamp at the place of its first."""
    firsts = order[starts]
    ratings = rows.ratings.copy()
    ratings[firsts] = np.add.reduceat(rows.ratings[order], starts) / sizes
    timestamps = rows.timestamps
    if timestamps is not None:
        timestamps = timestamps.copy()
        timestamps[firsts] = np.maximum.reduceat(timestamps[order], starts)
    return replace(rows, ratings=ratings, timestamps=timestamps)


def _refuse_duplicate(
    rows: Rows,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    at: Callable[[int], str],
    n_extra: int,
) -> None:
    is_first = np.zeros(len(rows), dtype=bool)
    is_first[order[starts]] = True
    row = int(np.argmin(is_first))
    same = (rows.users.codes == rows.users.codes[row]) & (rows.items.codes == rows.items.codes[row])
    user, item = _shown(rows.users, row), _shown(rows.items, row)
    raise DataError(
        f"{at(row)}: user {user} rates item {item} again (first at {at(int(np.argmax(same)))}; "
        f"{counted(n_extra, 'such row')} in all); say which counts with "
        "duplicates: first, last or mean"
    )


def _shown(column: Coded, row: int) -> str:
    text = str(column.ids[column.codes[row]])
    return repr(text if len(text) <= 40 else text[:40] + "…")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, as ``2 rows``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
