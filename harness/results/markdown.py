"""A run as Markdown: ``table.md``."""

from __future__ import annotations

from collections.abc import Iterator

from harness.results.record import RunInfo
from harness.results.table import (
    AGAINST_BEST,
    GROUP,
    TextTable,
    display_table,
    divided,
    escape_markdown,
    headline,
    is_apart,
    markdown_table,
)
from harness.results.verdict import verdict_lines


def to_markdown(info: RunInfo) -> str:
    """Return ``table.md``: what was run, the verdict, the table, and the notes under it."""
    lines = [
        f"# {escape_markdown(info.name)}",
        "",
        *([escape_markdown(info.description), ""] if info.description else []),
        escape_markdown(headline(info)),
        "",
        *(f"{escape_markdown(line)}\n" for line in verdict_lines(info)),
        *_markdown_tables(display_table(info)),
        *([""] if info.notes else []),
        *(f"- {escape_markdown(note)}" for note in info.notes),
    ]
    return "\n".join(lines) + "\n"


def _markdown_tables(table: TextTable) -> Iterator[str]:
    """Yield the lines of the results tables, each under its names where they are kept apart."""
    tables = [table]
    if is_apart(table):
        tables = divided(table)
    for number, part in enumerate(tables):
        if len(tables) > 1:
            yield from (*[""] * (number > 0), f"## {escape_markdown(part.title)}", "")
        yield from markdown_table(part.frame, {"algorithm", "error", AGAINST_BEST, *GROUP})
