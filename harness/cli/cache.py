"""``harness cache``: the cached cells that runs share."""

from __future__ import annotations

import click

from harness.console import options
from harness.console.command import CommandGroup, command
from harness.console.screen import documents, give_result, say, show_table
from harness.errors import counted


@command("cache list", "cache size", name="list")
def list_cells() -> int:
    """List the cached cells: key, megabytes, time."""
    if documents:
        give_result(
            [
                {"cell": entry.key, "bytes": entry.n_bytes, "written": entry.written.isoformat()}
                for entry in options.store().entries()
            ]
        )
    rows = [
        [entry.key[:16], f"{entry.n_bytes / 1e6:.2f}", entry.written.isoformat(" ", "minutes")]
        for entry in options.store().entries()
    ]
    show_table(["cell", "MB", "written"], rows, ["cell", "written"])
    return 0


@command("cache size", "cache prune")
def size() -> int:
    """Print the number of cached cells and the size of the cells and their scores."""
    store = options.store()
    n_cells = sum(1 for _ in store.entries())
    n_bytes = sum(entry.n_bytes for ending in store.endings for entry in store.entries(ending))
    if documents:
        give_result({"cells": n_cells, "bytes": n_bytes})
    say(f"{counted(n_cells, 'cell')}, {n_bytes / 1e6:.1f} MB")
    return 0


@command("cache verify", "cache list")
def verify() -> int:
    """Compare every cell with its checksum; name and remove broken cells."""
    store = options.store()
    broken = 0
    for ending in store.endings:
        for entry in store.entries(ending):
            if message := store.fault(entry.key, ending):
                broken += 1
                say(message)
                store.discard(entry.key, ending)
    say(f"{counted(broken, 'broken file')} removed" if broken else "every cell is complete")
    return 1 if broken else 0


@command("cache prune", "cache prune --older-than 90")
@click.option(
    "--older-than",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="DAYS",
    help="Remove cells that are older than this number of days.",
)
def prune(older_than: float) -> int:
    """Remove old cells; a run that needs them computes them again."""
    say(f"{counted(options.store().prune(older_than), 'cell')} removed")
    return 0


@command("cache size", "cache prune --older-than 90", group="Tools", cls=CommandGroup)
def cache() -> None:
    """Manage the cached cells that runs share."""


for _command in (list_cells, size, verify, prune):
    cache.add_command(_command)
