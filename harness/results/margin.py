"""What a margin of equivalence says of the rows of a table; imported where a config has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.results.sentences import row_names
from harness.results.statistics import Answer

if TYPE_CHECKING:
    from harness.results.verdict import Standing


def answers_in_words(standing: Standing, most: int) -> str:
    """Return the rows by their answer against the leader."""
    margin = f"within {standing.margin:g}"
    words: dict[Answer, str] = {
        "equivalent": f"{margin} equivalent to",
        "undecided": "undecided against",
        "different": "different from",
    }
    rows = {answer: standing.answered(answer) for answer in words}
    return "; ".join(
        f"{said} {row_names(rows[answer], most if answer != 'different' else min(most, 1))}"
        for answer, said in words.items()
        if rows[answer]
    )
