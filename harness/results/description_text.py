"""A description of data and splits as text: tables, bars, and a line for each note."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.errors import counted

if TYPE_CHECKING:
    from harness.results.description import DataDescription


def lines(description: DataDescription, width: int) -> Iterator[str]:
    """Yield the lines of a description; notes are not broken."""
    yield f"{description.name}"
    yield ""
    for name, fact in description.facts().items():
        indent = " " * 12
        yield from textwrap.wrap(f"{name:<12}{fact}", width, subsequent_indent=indent)
    yield ""
    rows = [
        [
            f"{'ratings':<12}",
            *(f"{name:>7}" for name in (*description.per_user, "Gini")),
            "   single",
        ]
    ]
    for name, counts, gini, singles in (
        ("per user", description.per_user, description.gini_users, description.singles_users),
        ("per item", description.per_item, description.gini_items, description.singles_items),
    ):
        shown = (f"{value:>7,.0f}" for value in counts.values())
        rows.append([f"{name:<12}", *shown, f"{gini:>7.2f}", f"{singles:>9,}"])
    if width < len("".join(rows[0])):  # too narrow: a line for each quantile
        turned = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
        rows = [[f"{name:<8}", *(f"{number:>11}" for number in own)] for name, *own in turned]
    yield from map("".join, rows)
    yield ""
    most, longest = max(description.histogram.values()), max(map(len, description.histogram))
    for name, n in description.histogram.items():
        line = f"{name:>{longest}}  {n:>11,}  {n / description.n_ratings:>6.1%}  "
        yield (line + "#" * round(min(40, width - longest - 23) * n / most)).rstrip()
    for split in description.splits:
        yield ""
        folds = f"first of {split.n_folds} folds: " if split.n_folds > 1 else ""
        yield f"{split.name}"
        yield f"  {folds}{split.n_train:,} training and {counted(split.n_test, 'test rating')}"
        yield (
            f"  {counted(split.n_users, 'test user')}, {split.unknown_users:.1%} of them unknown; "
            f"items unknown in {split.unknown_items:.1%} of the test"
        )
        short = ", ".join(f"{share:.0%} at most {k}" for k, share in split.short.items())
        yield f"  test ratings a user: median {split.per_user['median']:g}; {short}"
    if description.notes or description.warnings:
        yield ""
    yield from (f"note: {note}" for note in description.notes)
    yield from (f"warning: {warning}" for warning in description.warnings)
