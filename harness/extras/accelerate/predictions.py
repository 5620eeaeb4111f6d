"""Surprise's predictions from columns of estimates, all at once or when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from harness.algorithms import surprise
from harness.algorithms.trainset import Floats
from harness.extras.accelerate.attempts import no_collection
from harness.extras.accelerate.estimates import NO_COUNT, POSSIBLE, REASONS, Estimated

Prediction = surprise.Prediction
BLOCK = 1 << 13  # estimates made ready at a time where members are read one after the other
NOTHING_AMISS = {"was_impossible": False}


def estimates(
    outcome: Estimated, mean: Any, scale: tuple[Any, Any], *, clip: bool = True
) -> list[Any]:
    """Return each estimate as ``predict`` has it, of the very type.

    An impossible one is the mean of all ratings; one off the scale is the bound itself, as Python's
    ``min`` and ``max`` choose.
    """
    values, reasons = outcome.values, outcome.reasons
    numbers: list[Any] = values.tolist() if outcome.are_floats is True else list(values)
    if isinstance(outcome.are_floats, np.ndarray):
        for place in np.flatnonzero(outcome.are_floats).tolist():
            numbers[place] = float(numbers[place])
    impossible = reasons != POSSIBLE
    if impossible.any():
        values = np.where(impossible, mean, values)
        for place in np.flatnonzero(impossible).tolist():
            numbers[place] = mean
    if clip:
        lowest, highest = scale
        above = ~(values < highest)
        for place in np.flatnonzero(above | ~(values > lowest)).tolist():
            numbers[place] = max(lowest, min(highest, numbers[place]))
    return numbers


def clipped(outcome: Estimated, mean: float, scale: tuple[float, float]) -> Floats:
    """Return the numbers of `estimates` as an array."""
    lowest, highest = scale
    values = np.where(outcome.reasons != POSSIBLE, mean, outcome.values)
    values[~(values < highest)] = highest
    values[~(values > lowest)] = lowest
    return values


def details(outcome: Estimated) -> Iterator[dict[str, Any]]:
    """Yield ``details`` of each prediction, a separate dictionary for each."""
    reasons, counts = outcome.reasons, outcome.counts
    if counts is None and not reasons.any():
        return map(dict.copy, repeat(NOTHING_AMISS, len(reasons)))
    return (
        {"was_impossible": True, "reason": REASONS[reason]}
        if reason
        else NOTHING_AMISS.copy()
        if count == NO_COUNT
        else {"actual_k": count, "was_impossible": False}
        for reason, count in zip(
            reasons.tolist(),
            repeat(NO_COUNT) if counts is None else counts.tolist(),
            strict=False,
        )
    )


def predictions(
    users: Iterable[Any],
    items: Iterable[Any],
    ratings: Iterable[Any],
    numbers: list[Any],
    outcome: Estimated,
) -> Iterator[Any]:
    """Yield a prediction for each pair of raw ids, each made when it is asked for."""
    rows = zip(users, items, ratings, numbers, details(outcome), strict=True)
    return map(tuple.__new__, repeat(Prediction), rows)


def listed(members: Iterable[Any]) -> list[Any]:
    """Return many small tuples as a list, without a search for cycles among them."""
    with no_collection():
        return list(members)


class LazyList(Sequence[Any]):
    """A list whose members are made when they are read, and that becomes one when it is changed.

    A member is made anew at each reading, until the list is changed, sorted or pickled. None is
    made before it is asked for: whoever drops it before the next leaves Python's search for cycles
    nothing to look at, which would take longer than all else.
    """

    def __init__(self, n: int, make: Callable[[int, int], Iterator[Any]]) -> None:
        self._n, self._make = n, make
        self._list: list[Any] | None = None

    @property
    def unread(self) -> bool:
        """Whether nobody can have changed a member."""
        return self._list is None

    def materialise(self) -> list[Any]:
        """Return all members as a list, and be that list from now on."""
        if self._list is None:
            self._list = listed(self)
        return self._list

    def __len__(self) -> int:
        return self._n if self._list is None else len(self._list)

    def __iter__(self) -> Iterator[Any]:
        if self._list is not None:
            return iter(self._list)
        return chain.from_iterable(
            self._make(start, min(start + BLOCK, self._n)) for start in range(0, self._n, BLOCK)
        )

    def __getitem__(self, key: Any) -> Any:
        if self._list is not None:
            return self._list[key]
        if isinstance(key, slice):
            start, stop, step = key.indices(self._n)
            if step == 1:
                return listed(self._make(start, max(start, stop)))
            return [self[place] for place in range(start, stop, step)]
        place = range(self._n)[key]
        return next(self._make(place, place + 1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | LazyList):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Any) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Any) -> list[Any]:
        return [*other, *self]

    def __mul__(self, times: int) -> list[Any]:
        return listed(self) * times

    def __repr__(self) -> str:
        return repr(listed(self))

    def __reduce__(self) -> tuple[type, tuple[list[Any]]]:
        return list, (listed(self),)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        return np.array(listed(self), *arguments, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.materialise(), name)  # append, sort, copy and the rest of a list

    def __setitem__(self, key: Any, value: Any) -> None:
        self.materialise()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.materialise()[key]

    def __iadd__(self, other: Any) -> LazyList:
        self.materialise().extend(other)
        return self
