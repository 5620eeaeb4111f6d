"""``harness check``: what a run would do, and what would stop it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.config.load import code_named, load, read_config
from harness.config.yaml import as_yaml
from harness.console import options
from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say, show_table
from harness.errors import joined
from harness.experiment.dry_run import dry_run


@command("check my.yaml", "check my.yaml --resolved", group="Start here")
@options.configs
@options.overrides
@click.option(
    "--no-code",
    is_flag=True,
    help="List the files and modules that a config names, and import none of them.",
)
@click.option(
    "--resolved",
    is_flag=True,
    help="Print the config with what it extends and the values of its variables, as YAML.",
)
def check(
    configs: tuple[str, ...], overrides: tuple[str, ...], no_code: bool, resolved: bool
) -> int:
    """Show what a run would do and what would stop it.

    Reads and splits the data, counts cells and trials, estimates memory, and looks for missing
    packages. The exit code is 2 if there is a fault.
    """
    if no_code:
        return _list_code(configs)
    if resolved:
        return _print_resolved(configs, overrides)

    n_faults, plans = 0, []
    for number, config in enumerate(configs):
        if number:
            say()
        plan = dry_run(config, overrides=overrides)
        plans.append(
            {
                "name": plan.name,
                "facts": dict(plan.facts),
                "notes": [*map(str, plan.notes)],
                "faults": [*plan.faults],
            }
        )
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
    if documents:
        give_result(plans)
    return 2 if n_faults else 0


def _list_code(configs: Sequence[str]) -> int:
    for config in configs:
        names = sorted(code_named(read_config(config).data))
        for name in names:
            say(f"{plain(config)}: {plain(name)}")
        if not names:
            say(f"{plain(config)}: names no code of its own")
    return 0


def _print_resolved(configs: Sequence[str], overrides: Sequence[str]) -> int:
    for number, config in enumerate(configs):
        _, document = load(config, overrides=overrides)
        bases = joined([*dict.fromkeys(document.sources.values())])
        if number:
            say("---", is_data=True)
        say(f"# {plain(document.source)}{' with ' if bases else ''}{plain(bases)}", is_data=True)
        say(as_yaml(document.data).rstrip(), is_data=True)
    return 0
