"""``harness check``: what a run would do, and what would stop it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli import options
from harness.cli.command import command
from harness.cli.screen import plain, say, show_table


@command("check my.yaml", "check my.yaml --no-code")
@options.configs
@options.overrides
@click.option(
    "--no-code",
    is_flag=True,
    help="List the files and modules that a config names, and import none of them.",
)
def check(configs: tuple[str, ...], overrides: tuple[str, ...], no_code: bool) -> int:
    """Show what a run would do and what would stop it.

    Reads and splits the data, counts cells and trials, estimates memory, and looks for missing
    packages. The exit code is 2 if there is a fault.
    """
    if no_code:
        return _list_code(configs)
    from harness.experiment.dry_run import dry_run

    n_faults = 0
    for number, config in enumerate(configs):
        if number:
            say()
        plan = dry_run(config, overrides=overrides)
        say(f"{plain(plan.name)}\n")
        for subject, fact in plan.facts:
            say(f"{subject:<12}{plain(fact)}")
        say()
        columns = ["algorithm", "cells", "trials", "memory of one", "parameters"]
        has_trials = any(row[2] != "0" for row in plan.rows)
        shown = [j for j in range(5) if j != 2 or has_trials]
        rows = [[row[j] for j in shown] for row in plan.rows]
        show_table([columns[j] for j in shown], rows, ("algorithm", "parameters"))
        for lines, err in (
            ([f"note: {plain(note)}" for note in plan.notes], False),
            (plan.faults, True),
        ):
            if lines:
                say()
            for line in lines:
                say(line, err=err)
        n_faults += len(plan.faults)
    return 2 if n_faults else 0


def _list_code(configs: Sequence[str]) -> int:
    from harness.config.faults import code_named
    from harness.config.files import read

    for config in configs:
        names = sorted(code_named(read(Path(config)).data))
        for name in names:
            say(f"{plain(config)}: {plain(name)}")
        if not names:
            say(f"{plain(config)}: names no code of its own")
    return 0
