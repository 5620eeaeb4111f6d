"""``harness notes``: everything that changes how the table of a run is read."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options, words
from harness.cli.command import command
from harness.cli.screen import documents, give_result, plain, say


@command("notes quickstart", "notes quickstart --json")
@click.argument("run", metavar="RUN", shell_complete=words.runs)
@options.results
def notes(run: str, results: Path) -> int:
    """Print all notes of a run, in groups by what they change.

    Below a table stand the five that change most how it is read.
    """
    from harness.note_groups import in_groups

    (opened,) = options.opened((run,), results)
    if documents:
        give_result([note.to_dict() for note in opened.info.notes])
        return 0
    if not opened.info.notes:
        say(f"{opened.name}: no notes")
    for number, (title, members) in enumerate(in_groups(opened.info.notes).items()):
        say("\n" * (number > 0) + f"{title}:\n")
        for note in members:
            say(f"  {plain(note)}")
    return 0
