"""``harness cache``: the finished cells that runs share."""

from __future__ import annotations

import click

__all__ = ["cache_command"]


@click.group("cache")
def cache_command() -> None:
    """Manage the finished cells that runs share."""


@cache_command.command("list")
def _list() -> int:
    """List finished cells: key, megabytes, when."""
    from harness.cli.screen import show_table
    from harness.results.store import CellStore

    rows = [
        [entry.key[:16], f"{entry.n_bytes / 1e6:.2f}", entry.written.isoformat(" ", "minutes")]
        for entry in CellStore.default().entries()
    ]
    show_table(["cell", "MB", "written"], rows, ["cell", "written"])
    return 0


@cache_command.command("size")
def _size() -> int:
    """Print the number of cells and their size."""
    from harness.cli.screen import say
    from harness.errors import counted
    from harness.results.store import CellStore

    entries = list(CellStore.default().entries())
    total = sum(entry.n_bytes for entry in entries)
    say(f"{counted(len(entries), 'cell')}, {total / 1e6:.1f} MB")
    return 0


@cache_command.command("verify")
def _verify() -> int:
    """Read every cell against its checksum; broken ones are named and removed."""
    from harness.cli.screen import say
    from harness.errors import counted
    from harness.results.store import CellStore

    store = CellStore.default()
    broken = 0
    for entry in store.entries():
        if message := store.fault(entry.key):
            broken += 1
            say(message)
            store.discard(entry.key)
    say(f"{counted(broken, 'broken cell')} removed" if broken else "every cell is complete")
    return 1 if broken else 0


@cache_command.command("prune")
@click.option(
    "--older-than",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="DAYS",
    help="Remove cells that were written more days ago than this.",
)
def _prune(older_than: float) -> int:
    """Remove old cells; a run that needs them again computes them again."""
    from harness.cli.screen import say
    from harness.errors import counted
    from harness.results.store import CellStore

    store = CellStore.default()
    say(f"{counted(store.prune(older_than), 'cell')} removed")
    return 0
