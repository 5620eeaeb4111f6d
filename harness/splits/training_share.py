"""A part of the training ratings of another split, with its test set: a point of a curve."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from harness._util import seeds
from harness.datasets import Ratings
from harness.errors import SplitError
from harness.notes.note import Note
from harness.schema.sections import written
from harness.splits.base import Fold, Rows, SplitSection, assemble, rounded
from harness.splits.random import Holdout

OF_THE_PARTS = {"unknown-users", "unknown-items", "leak"}
"""Notes on a split that depend on which ratings are in training."""


class TrainingShare(SplitSection):
    """A proportion of the training ratings of another split, with the same test set."""

    example: ClassVar[Mapping[str, object]] = {"share": 0.5}

    is_of_curve = True

    kind: Literal["training-share"] = "training-share"
    """The test set of another split, and a proportion of its training ratings. Smaller ones are
    parts of larger ones; `training_shares` writes several of them."""
    of: SplitSection = Field(default=Holdout(), validate_default=True)
    """The split of which it is a part."""
    share: Annotated[float, Field(gt=0, lt=1)]
    """Proportion of the training ratings, or of their users, rounded up."""
    by: Literal["rating", "user", "time"] = "rating"
    """The sampled unit: ratings, users with all their training ratings, or the latest ratings."""

    @model_validator(mode="after")
    def _is_of_a_whole(self) -> Self:
        if self.of.is_of_curve:
            raise ValueError("`of` is a training share itself; name the split that it is of")
        if self.of.validation is not None:
            raise ValueError("`of` has a `validation`; write it beside `of`")
        return self

    @property
    def n_folds(self) -> int:
        """How many folds the other split has."""
        return self.of.n_folds

    @property
    def from_files(self) -> bool:  # type: ignore[override]
        """Whether files decide the rows."""
        return self.of.from_files

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Fold]:
        """Split ratings as the other split does, and leave a part of the training ratings out."""
        wholes = self.of.splits(ratings, rows, seed, base)
        parts = [(self._part(whole, seed), whole.test) for whole in wholes]
        made = assemble(self.describe(), wholes[0].ratings, parts, rows)
        return [
            split.with_notes((*self._notes(whole, split),))
            for whole, split in zip(wholes, made, strict=True)
        ]

    def _part(self, whole: Fold, seed: int) -> Rows:
        """Return the rows that stay, in the order of the whole training set."""
        ratings, train = whole.ratings, whole.train
        rng = seeds.generator(seed, "training share", self.by, whole.fold)
        if self.by == "user":
            users = np.unique(ratings.users[train])
            drawn = rng.permutation(users)[: rounded(self.share, len(users), up=True)]
            return train[np.isin(ratings.users[train], drawn)]
        order = rng.permutation(len(train))
        if self.by == "time":
            if ratings.timestamps is None:
                raise SplitError(
                    f"{self.describe()}: the ratings have no timestamps; use `by: rating` or `user`"
                )
            # equal times in the order of the draw, so that smaller shares are parts of larger ones
            order = order[np.argsort(-ratings.timestamps[train[order]], kind="stable")]
        stays = np.zeros(len(train), dtype=bool)
        stays[order[: rounded(self.share, len(train), up=True)]] = True
        return train[stays]

    def _notes(self, whole: Fold, split: Fold) -> list[Note]:
        values = {
            "share": self.share, "by": self.by, "whole": whole.fingerprint, "n": len(split.train),
            "n_all": len(whole.train),
        }  # fmt: skip
        return [
            Note("training-share", values),
            *(note for note in whole.notes if note.code not in OF_THE_PARTS),
            *(note for note in split.notes if note.code in OF_THE_PARTS),
        ]

    def describe(self) -> str:
        """Return the name of the other split with the share."""
        share = written(self.share)
        part = {"rating": share, "user": f"users {share}", "time": f"latest {share}"}[self.by]
        return f"{self.of.describe()}, training {part}"

    def sentence(self, part: str = "test set") -> str:
        """Return the sentence of the other split with what stays of the training ratings."""
        share = written(self.share)
        seen = {
            "rating": f"{share} of the training ratings, sampled rating by rating",
            "user": f"all training ratings of {share} of the users, sampled user by user",
            "time": f"{share} of the training ratings, by time the latest",
        }[self.by]
        return f"{self.of.sentence(part)} Models see {seen}."

    def inner(self) -> SplitSection | None:
        """Return how the other split splits its training set."""
        return self.of.inner()
