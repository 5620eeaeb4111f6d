"""What a margin of equivalence says of the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.results.sentences import row_names

if TYPE_CHECKING:
    from harness.results.verdict import Standing


def answers_in_words(standing: Standing, most: int) -> str:
    """Return the rows by their answer against the leaders."""
    words = {
        "equivalent": f"within {standing.margin:g} equivalent to",
        "undecided": "undecided against",
        "different": "different from",
        "": "not the same answer against each of them:",
    }
    rows = {answer: standing.answered(answer) for answer in words}
    return "; ".join(
        f"{said} {row_names(rows[answer], most if answer != 'different' else min(most, 1))}"
        for answer, said in words.items()
        if rows[answer]
    )
