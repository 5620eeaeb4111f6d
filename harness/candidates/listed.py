"""Candidates that a file or your own function lists for each user."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from abc import abstractmethod
from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PrivateAttr, field_validator

from harness._util import seeds
from harness._util.files import digest_of
from harness._util.libraries import pd
from harness.candidates.base import Candidates, CandidatesSection
from harness.datasets.cleaning import refuse_faults
from harness.datasets.columns import RATINGS, Roles
from harness.datasets.conversion import Coded
from harness.datasets.places import find_file
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.errors import HarnessError, SplitError, counted, listed, raised_where
from harness.plugins import registry as plugins
from harness.splits import Split


class _OfPairs(CandidatesSection):
    """Candidates that are pairs of a user and an item from elsewhere."""

    judges_unrated: ClassVar[bool] = True
    longer: ClassVar[str] = "more candidates"

    missing_items: Literal["count", "drop"] = "count"
    """Whether a test item that is not listed, so never ranked, counts in the ideal."""

    @property
    @abstractmethod
    def source(self) -> str:
        """The origin of the pairs, for messages."""

    @abstractmethod
    def _pairs(self, split: Split, users: NDArray[np.int32], seed: int) -> tuple[Coded, Coded]:
        """Return the user and the item of each pair; `users` are the codes of the test users."""

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users of a split and their candidates, or raise a SplitError."""
        chosen, ratings = super().select(split, seed), split.ratings
        users, items = self._pairs(split, chosen.users, seed)
        user = pd.Index(ratings.user_ids).get_indexer(pd.Index(users.ids))[users.codes]
        item = pd.Index(ratings.item_ids).get_indexer(pd.Index(items.ids))
        if (unknown := np.flatnonzero(item < 0)).size:
            some = listed([repr(str(items.ids[place])) for place in unknown], 3)
            raise SplitError(
                f"{self.source}: {counted(len(unknown), 'item')} that {ratings.name} does not have "
                f"({some}); leave them out"
            )
        place = np.searchsorted(chosen.users, user)
        place[place == chosen.n_users] = 0
        is_tested = (user >= 0) & (chosen.users[place] == user)
        pairs = np.unique(place[is_tested] * ratings.n_items + item[items.codes][is_tested])
        owners = np.repeat(np.arange(chosen.n_users), np.diff(chosen.offsets))
        of_test = owners * ratings.n_items + chosen.items
        without = np.setdiff1d(np.arange(chosen.n_users), pairs // ratings.n_items)
        if len(without):
            some = listed([repr(str(ratings.user_ids[chosen.users[at]])) for at in without], 3)
            raise SplitError(
                f"{self.source}: no candidates for {len(without):,} of {chosen.n_users:,} test "
                f"users ({some}); add some for each"
            )
        is_listed = np.isin(of_test, pairs)
        extra = np.setdiff1d(pairs, of_test)
        edges = np.arange(chosen.n_users + 1) * ratings.n_items
        return replace(
            chosen,
            known=is_listed,
            judged=is_listed if self.missing_items == "drop" else chosen.judged,
            extra_offsets=np.searchsorted(extra, edges).astype(np.int64),
            extra_items=(extra % ratings.n_items).astype(np.int32),
        )


class Listed(_OfPairs):
    """The items that a file lists for each user, the same for all rows."""

    example: ClassVar[Mapping[str, object]] = {"path": "candidates.csv"}

    name = "file {0.file}"
    ranked = (
        "The items that {0.file} lists for a user are ranked; an item without a test rating has "
        "relevance 0."
    )

    kind: Literal["file"] = "file"
    """Rank the items that a file lists for each user."""
    path: Annotated[str, Field(min_length=1)]
    """A file with columns for user and item; items without a training rating are ranked too."""
    _columns: tuple[Coded, Coded] | None = PrivateAttr(default=None)
    _digest: str = PrivateAttr(default="")

    @property
    def file(self) -> str:
        """The name of the file."""
        return PureWindowsPath(self.path).name  # of a path of any system

    def prepare(self, folder: Path | None) -> None:
        """Read the file, once."""
        roles = Roles({"user": "id", "item": "id"}, RATINGS.usual)
        place = find_file(self.path, folder)
        table = read_file(place, ReadOptions(decimal=".", in_config=False, roles=roles), self.path)
        refuse_faults(table)
        self._columns = table.ids["user"], table.ids["item"]
        self._digest = hashlib.sha256(place.read_bytes()).hexdigest()

    def stated(self, exclude: Set[str] = frozenset()) -> dict[str, Any]:
        """Return the keys that are not defaults, with what the file holds in place of its path."""
        keys = super().stated(exclude)
        return keys | {"path": self._digest} if self._digest else keys

    def decisive(self) -> dict[str, Any]:
        """Return what decides numbers: the keys, with what the file holds in place of its path."""
        return super().decisive() | {"path": self._digest}

    @property
    def source(self) -> str:
        """The path of the file."""
        return self.path

    def _pairs(self, split: Split, users: NDArray[np.int32], seed: int) -> tuple[Coded, Coded]:
        assert self._columns is not None  # a plan reads the file
        return self._columns


class OfFunction(_OfPairs):
    """The items that your own function lists for each user, the same for all rows."""

    example: ClassVar[Mapping[str, object]] = {"function": "candidates_of:listed"}

    by_function: ClassVar[bool] = True
    name = "function {0.function}"
    ranked = (
        "The items that the function {0.function} lists for a user are ranked; an item without a "
        "test rating has relevance 0."
    )

    kind: Literal["function"] = "function"
    """Rank the items that your own function lists for each user."""
    function: str
    """`mine:nearby`, the function `nearby` of `mine.py`. It takes `train`, a DataFrame of the
    training ratings, `users`, a list of the test users, and, if it draws, `rng`; it returns a
    mapping of users to items, or a DataFrame with columns `user` and `item`."""
    _digest: str = PrivateAttr(default="")

    @field_validator("function")
    @classmethod
    def _is_of_module(cls, name: str) -> str:
        if not re.fullmatch(plugins.OBJECT, name):
            raise ValueError(f"found {name!r}; name a function of a module, such as mine:nearby")
        return name

    @property
    def source(self) -> str:
        """The name of the function, for messages."""
        return f"candidates: {self.function}"

    def prepare(self, folder: Path | None) -> None:
        """Import the function."""
        function = plugins.find("candidates", self.function).load()
        if not callable(function):
            raise SplitError(f"{self.source} is not a function; name one with `train` and `users`")
        file = getattr(sys.modules.get(function.__module__), "__file__", None)
        self._digest = digest_of(Path(file)) if file else ""

    def stated(self, exclude: Set[str] = frozenset()) -> dict[str, Any]:
        """Return the keys that are not defaults, with the code of the function beside its name."""
        keys = super().stated(exclude)
        return keys | {"code": self._digest} if self._digest else keys

    def _pairs(self, split: Split, users: NDArray[np.int32], seed: int) -> tuple[Coded, Coded]:
        ratings = split.ratings
        function: Any = plugins.find("candidates", self.function).load()
        state = seeds.derive(seed, "candidates", self.function, split.fold)
        train = ratings.to_frame().iloc[np.sort(split.train)].reset_index(drop=True)
        try:
            options = {"train": train, "users": [ratings.user_ids[user] for user in users]}
            if "rng" in inspect.signature(function).parameters:
                options["rng"] = np.random.Generator(np.random.PCG64(state))
            with seeds.global_generators(state):  # each process has to list the same
                pairs = function(**options)
            if isinstance(pairs, Mapping):
                rows = [(user, item) for user, items in pairs.items() for item in items]
                pairs = pd.DataFrame(rows, columns=["user", "item"])
        except HarnessError:
            raise
        except (Exception, SystemExit) as error:
            raise SplitError(
                f"{self.source} failed ({raised_where(error)}); correct the function"
            ) from error
        if not isinstance(pairs, pd.DataFrame) or not {"user", "item"} <= {*pairs}:
            raise SplitError(
                f"{self.source}: found {type(pairs).__name__}; return a mapping of users to items, "
                "or a DataFrame with columns user and item"
            )
        return _coded(pairs["user"]), _coded(pairs["item"])


def _coded(column: pd.Series) -> Coded:
    """Return ids as codes; one that is missing counts as an id, which no data set has."""
    codes, ids = pd.factorize(column, use_na_sentinel=False)
    return Coded(codes.astype(np.int32), np.array(ids, dtype=object))
