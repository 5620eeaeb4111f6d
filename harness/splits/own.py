"""Your own kinds of split and filter.

::

    class Weekday(harness.Split):
        '''Ratings of one day of the week are the test set.'''

        day: int = 6

        def divide(self, ratings, rng):
            test = ratings.timestamps // 86_400 % 7 == self.day
            yield ~test, test


    class Active(harness.Filter):
        '''Users with enough ratings.'''

        least: int = 20

        def select(self, ratings, rng):
            return np.bincount(ratings.users)[ratings.users] >= self.least
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from harness.datasets import Ratings
from harness.errors import HarnessError, SplitError, counted, raised_where, reason_of
from harness.metrics.own import locked
from harness.schema.sections import Kind, State
from harness.splits.base import DrawnSplit, FilterSection, Mask, Notes, Parts, Rows


class _Own(Kind):
    """What your own kinds have in common: a class has the kind that its name stands for."""

    api: ClassVar[int] = 1
    """The version of the interface that the class is written for."""
    random_state: State | None = Field(
        default=None, description="Seed of the draws; null: from the run's seed."
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if _Own not in cls.__bases__ and "kind" not in vars(cls):  # `Split` and `Filter` have none
            cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
            cls.__annotations__ = {**vars(cls).get("__annotations__", {}), "kind": str}

    def describe(self) -> str:
        """Return the name with the keys that are not at their defaults."""
        keys = self.stated({"validation", "random_state"})
        kind = keys.pop("kind")
        return ", ".join([kind, *(f"{key} {value}" for key, value in keys.items())])


class Split(_Own, DrawnSplit):
    """The base class for your own kind of split; its fields are the keys of a config.

    A subclass is a plug-in of the group ``harness.splits``, or named as ``mine:Weekday`` in a
    config. Its name is the class name in lower case with hyphens, its sentence in the methods
    the first line of its docstring.

    Examples
    --------
    >>> class EveryThird(Split):
    ...     '''Every third rating is tested.'''
    ...     first: int = 0
    ...     def divide(self, ratings, rng):
    ...         test = np.arange(len(ratings)) % 3 == self.first
    ...         yield ~test, test
    >>> ratings = Ratings.from_columns([1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 3, 4], scale=(1, 5))
    >>> (split,) = EveryThird(first=1).splits(ratings, None, 0, None)
    >>> split.name, split.test.tolist()
    ('every-third, first 1', [1])
    """

    @abstractmethod
    def divide(
        self, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[tuple[ArrayLike, ArrayLike]]:
        """Yield the training and the test set of each fold.

        Parameters
        ----------
        ratings : Ratings
            What is divided, with the columns ``users``, ``items``, ``ratings``, ``timestamps``.
        rng : numpy.random.Generator
            For random draws; seeded by `random_state`, else from the run's seed.

        Yields
        ------
        train, test : array_like of bool, shape (n_ratings,), or of int
            Masks of the rows, or their positions in the order in which a model sees them.
        """

    def draw(self, ratings: Ratings, state: int) -> tuple[list[Parts], Notes]:
        """Return the folds that `divide` yields, checked."""
        rng, folds = np.random.Generator(np.random.PCG64(state)), []
        for fold, parts in enumerate(self._divided(ratings, rng), 1):
            where = f"{self.describe()}, fold {fold}"
            if not (isinstance(parts, tuple | list) and len(parts) == 2):
                raise SplitError(f"{where}: found {type(parts).__name__}; yield two arrays of rows")
            train, test = (self._rows(part, len(ratings), where) for part in parts)
            if n_both := len(np.intersect1d(train, test)):
                raise SplitError(
                    f"{where}: {counted(n_both, 'rating')} in both sets; yield parts that share "
                    "no row"
                )
            folds.append((train, test))
        if not folds:
            raise SplitError(f"{self.describe()}: `divide` yields nothing; yield a fold at least")
        return folds, ()

    def _divided(self, ratings: Ratings, rng: np.random.Generator) -> Iterator[Any]:
        """Yield what `divide` does; it sees ratings that it cannot change."""
        try:
            folds: object = self.divide(locked(ratings), rng)
            if not isinstance(folds, Iterable):
                raise SplitError(
                    f"{self.describe()}: `divide` returned {type(folds).__name__} "
                    f"({_defined(self.divide)}); yield a pair of rows for each fold"
                )
            yield from folds
        except HarnessError:
            raise
        except (Exception, SystemExit) as error:
            raise SplitError(
                f"{self.describe()}: `divide` failed ({raised_where(error)}); correct the class"
            ) from error

    def _rows(self, part: ArrayLike, n: int, where: str) -> Rows:
        if np.ma.is_masked(part):
            raise SplitError(f"{where}: a masked array; give a plain one, as by `filled(False)`")
        try:
            rows = np.asarray(part)
        except (TypeError, ValueError) as error:
            raise SplitError(
                f"{where}: not an array ({reason_of(error)}); give masks or row numbers"
            ) from None
        if rows.dtype == np.bool_:
            if rows.shape != (n,):
                raise SplitError(f"{where}: a mask of shape {rows.shape}; give one of ({n},)")
            return np.flatnonzero(rows)
        if rows.ndim != 1 or not np.issubdtype(rows.dtype, np.integer):
            raise SplitError(f"{where}: found {rows.dtype} {rows.shape}; give masks or row numbers")
        if len(rows) and not 0 <= rows.min() <= rows.max() < n:
            raise SplitError(f"{where}: rows up to {rows.max()}; there are {n}, from 0")
        if len(np.unique(rows)) < len(rows):
            raise SplitError(f"{where}: a row is there twice; give each once")
        return rows.astype(np.int64)

    def sentence(self, part: str = "test set") -> str:
        """Return the first line of the docstring, with the keys that are not at their defaults."""
        first = (type(self).__doc__ or self.describe()).strip().splitlines()[0].rstrip(".")
        keys = self.stated({"validation", "kind", "random_state"})
        chosen = ", ".join(f"{key} {value}" for key, value in keys.items() if key != "kind")
        return f"{first}{f' ({chosen})' if chosen else ''}."


class Filter(_Own, FilterSection):
    """The base class for your own kind of filter; its fields are the keys of a config.

    A subclass is a plug-in of the group ``harness.splits``, or named as ``mine:Active`` under
    `filters` in a config. Its name is the class name in lower case with hyphens.

    Examples
    --------
    >>> class Active(Filter):
    ...     '''Users with enough ratings.'''
    ...     least: int = 2
    ...     def select(self, ratings, rng):
    ...         return np.bincount(ratings.users)[ratings.users] >= self.least
    >>> ratings = Ratings.from_columns([1, 1, 2], [1, 2, 1], [1, 2, 3], scale=(1, 5))
    >>> Active().keep(ratings, 0).tolist(), Active(least=3).describe()
    ([True, True, False], 'active, least 3')
    """

    @abstractmethod
    def select(self, ratings: Ratings, rng: np.random.Generator) -> ArrayLike:
        """Return which ratings stay.

        Parameters
        ----------
        ratings : Ratings
            What is filtered, with the columns ``users``, ``items``, ``ratings``, ``timestamps``.
        rng : numpy.random.Generator
            For random draws; seeded by `random_state`, else from the run's seed.

        Returns
        -------
        array_like of bool, shape (n_ratings,)
        """

    def keep(self, ratings: Ratings, state: int) -> Mask:
        """Return what `select` returns; `filter` checks it."""
        state = state if self.random_state is None else self.random_state
        return cast("Mask", self.select(ratings, np.random.Generator(np.random.PCG64(state))))


def _defined(function: Callable[..., object]) -> str:
    """Return the file and line of a function."""
    code = function.__code__
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}"


__all__ = ["Filter", "Split"]
