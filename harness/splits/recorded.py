"""Splits and filters of a run that is only read: their names, without their code."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict, Field

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.splits.base import FilterSection, Mask, Rows, Split, SplitSection


class RecordedSplit(SplitSection):
    """A kind of split of a run that is only read: its name and its sentence, without its code."""

    model_config = ConfigDict(extra="allow")

    kind: str
    facts: dict[str, str] = Field(exclude=True)

    def splits(
        self, ratings: Ratings, rows: Rows | None, seed: int, base: Path | None
    ) -> list[Split]:
        """Raise a SplitError."""
        raise SplitError(
            f"{self.kind}: its code was not imported, since a run that names it was only read"
        )

    def describe(self) -> str:
        """Return the name that the run recorded."""
        return self.facts.get("name", self.kind)

    def sentence(self, part: str = "test part") -> str:
        """Return the sentence that the run recorded."""
        return self.facts.get("sentence", f"{self.kind} divides the ratings.")


class RecordedFilter(FilterSection):
    """A kind of filter of a run that is only read."""

    model_config = ConfigDict(extra="allow")

    kind: str
    facts: dict[str, str] = Field(exclude=True)

    def keep(self, ratings: Ratings, state: int) -> Mask:
        """Raise a SplitError."""
        raise SplitError(
            f"{self.kind}: its code was not imported, since a run that names it was only read"
        )

    def describe(self) -> str:
        """Return the name that the run recorded."""
        return self.facts.get("name", self.kind)
