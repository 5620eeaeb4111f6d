"""Which items are ranked for a test user."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.sections import Section

__all__ = ["CandidatesSection", "Catalogue", "Rated", "Sampled"]


class Rated(Section):
    """Each user's own test ratings, sorted by their estimates."""

    kind: Literal["rated"] = "rated"
    """Rank only what the user rated in the test set."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        return "rated" + (", known users" if self.unknown_users == "drop" else "")

    def sentence(self) -> str:
        """Return a sentence on what was ranked, for the methods text of a report."""
        return f"Each user's own test ratings are ranked.{_unknown_users(self.unknown_users)}"


class Catalogue(Section):
    """Every item of the training set, for every test user."""

    kind: Literal["catalogue"] = "catalogue"
    """Rank the whole catalogue; an item without a test rating has relevance 0."""
    training_items: Literal["drop", "keep"] = "drop"
    """Whether the items that the user rated in training stay among the candidates."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""
    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item without a training rating, so never ranked, counts in the ideal."""

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

    def sentence(self) -> str:
        """Return a sentence on what was ranked, for the methods text of a report."""
        own = {"keep": "included", "drop": "left out"}[self.training_items]
        return (
            "Every item of the training part is ranked for every test user, those that the user "
            f"rated in training {own}; an item without a test rating has relevance 0."
            f"{_unknown_items(self.unknown_items)}{_unknown_users(self.unknown_users)}"
        )


class Sampled(Section):
    """A user's test ratings among a random sample of items without one."""

    kind: Literal["sampled"] = "sampled"
    """Rank the test ratings and `n` items that the user has not rated."""
    n: int = Field(default=100, ge=1)
    """How many unrated items each user gets; fewer if the catalogue has fewer."""
    unknown_users: Literal["keep", "drop"] = "keep"
    """Whether users without a training rating are evaluated."""
    unknown_items: Literal["count", "drop"] = "count"
    """Whether a test item without a training rating, so never ranked, counts in the ideal."""

    def describe(self) -> str:
        """Return the short name that tables use."""
        parts = [f"sampled {self.n}"]
        if self.unknown_users == "drop":
            parts.append("known users")
        if self.unknown_items == "drop":
            parts.append("known items")
        return ", ".join(parts)

    def sentence(self) -> str:
        """Return a sentence on what was ranked, for the methods text of a report."""
        return (
            f"Each user's test ratings are ranked among {self.n} items drawn at random from "
            "those without a rating of the user, which have relevance 0."
            f"{_unknown_items(self.unknown_items)}{_unknown_users(self.unknown_users)}"
        )


def _unknown_users(rule: str) -> str:
    return {"keep": "", "drop": " Users without a training rating are left out."}[rule]


def _unknown_items(rule: str) -> str:
    return {
        "count": " Test items without a training rating cannot be ranked but count in the ideal.",
        "drop": " Test items without a training rating are left out.",
    }[rule]


def _from_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


CandidatesSection = Annotated[
    Annotated[Rated | Catalogue | Sampled, Field(discriminator="kind")],
    BeforeValidator(_from_name, json_schema_input_type=str | Rated | Catalogue | Sampled),
]
"""``rated``, ``catalogue`` or ``sampled``, as a name or with options."""
