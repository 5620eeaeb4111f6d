"""Candidates that a file lists for each user."""

from __future__ import annotations

import hashlib
from collections.abc import Set
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from harness.candidates import Candidates, CandidatesSection
from harness.errors import SplitError, counted, listed
from harness.lazy import pd
from harness.splits import Split

if TYPE_CHECKING:
    from harness.datasets.conversion import Coded


class Listed(CandidatesSection):
    """The items that a file lists for each user, the same for all rows."""

    name = "file {0.file}"
    ranked = (
        "The items that {0.file} lists for a user are ranked; an item without a test rating has "
        "relevance 0."
    )

    kind: Literal["file"] = "file"
    """Rank the items that a file lists for each user."""
    path: Annotated[str, Field(min_length=1)]
    """A file with columns for user and item; items without a training rating are ranked too."""
    missing_items: Literal["count", "drop"] = "count"
    """Whether a test item that the file does not list, so never ranked, counts in the ideal."""
    _columns: tuple[Coded, Coded] | None = PrivateAttr(default=None)
    _digest: str = PrivateAttr(default="")

    @property
    def file(self) -> str:
        """The name of the file."""
        return PureWindowsPath(self.path).name  # of a path of any system

    def prepare(self, folder: Path | None) -> None:
        """Read the file, once."""
        from harness.datasets.cleaning import refuse_faults
        from harness.datasets.columns import RATINGS, Roles
        from harness.datasets.own_files import find_file
        from harness.datasets.readers import read_file
        from harness.datasets.readers.base import ReadOptions

        roles = Roles({"user": "id", "item": "id"}, RATINGS.usual)
        place = find_file(self.path, folder)
        table = read_file(place, ReadOptions(decimal="", roles=roles), self.path)
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

    def select(self, split: Split, seed: int) -> Candidates:
        """Select the test users of a split and their candidates, or raise a SplitError."""
        chosen, ratings = super().select(split, seed), split.ratings
        assert self._columns is not None  # a plan reads the file
        users, items = self._columns
        user = pd.Index(ratings.user_ids).get_indexer(pd.Index(users.ids))[users.codes]
        item = pd.Index(ratings.item_ids).get_indexer(pd.Index(items.ids))
        if (unknown := np.flatnonzero(item < 0)).size:
            some = listed([repr(str(items.ids[place])) for place in unknown], 3)
            raise SplitError(
                f"{self.path}: {counted(len(unknown), 'item')} that {ratings.name} does not have "
                f"({some}); remove them, or give the candidates of these data"
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
                f"{self.path}: no candidates for {len(without):,} of {chosen.n_users:,} test users "
                f"({some}); add some for each"
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
