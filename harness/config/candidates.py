"""Which items a test user is asked about."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.config.section import Section

__all__ = ["CandidatesSection", "Catalogue", "Rated", "Sampled"]


class Rated(Section):
    """Each user's own test ratings, put in the order of their estimates."""

    kind: Literal["rated"] = "rated"
    """Rank only what the user rated in the test set."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return "rated" + (", known users" if self.unknown_users == "drop" else "")


class Catalogue(Section):
    """Every item of the training set, for every test user."""

    kind: Literal["catalogue"] = "catalogue"
    """Rank the whole catalogue; an item without a test rating has relevance 0."""
    training_items: Literal["drop", "keep"] = "drop"
    """Whether the items that the user rated in training stay among the candidates."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""
    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item that training never saw, and so cannot be ranked, counts in the ideal."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        parts = ["catalogue"]
        if self.training_items == "keep":
            parts.append("training items kept")
        if self.unknown_users == "drop":
            parts.append("known users")
        if self.unknown_items == "drop":
            parts.append("known items")
        return ", ".join(parts)


class Sampled(Section):
    """A user's test ratings among a random sample of items without one."""

    kind: Literal["sampled"] = "sampled"
    """Rank the test ratings and `n` items that the user rated nowhere."""
    n: int = Field(default=100, ge=1)
    """How many unrated items each user gets, fewer where the catalogue has fewer."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""
    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item that training never saw, and so cannot be ranked, counts in the ideal."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        parts = [f"sampled {self.n}"]
        if self.unknown_users == "drop":
            parts.append("known users")
        if self.unknown_items == "drop":
            parts.append("known items")
        return ", ".join(parts)


def _from_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


CandidatesSection = Annotated[
    Annotated[Rated | Catalogue | Sampled, Field(discriminator="kind")],
    BeforeValidator(_from_name, json_schema_input_type=str | Rated | Catalogue | Sampled),
]
"""``rated``, ``catalogue`` or ``sampled``, as a name or with options."""
