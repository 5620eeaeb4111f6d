"""``harness notes``: everything that changes how the table of a run is read."""

from __future__ import annotations

from pathlib import Path

import click

from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say
from harness.notes.note import in_groups


@command("notes quickstart", "notes quickstart --json", group="Look at results")
@click.argument("run", metavar="RUN", shell_complete=words.run_names)
@options.results
def notes(run: str, results: Path) -> int:
    """Print all notes of a run, in groups by what they change.

    A table is followed by the five most important notes.
    """
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
