"""``harness check``: what a run would do, and what would stop it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from harness.config.load import code_named, load, read_config
from harness.config.yaml import as_yaml
from harness.console import options
from harness.console.command import command
from harness.console.screen import (
    documents,
    fail,
    give_result,
    plain,
    say,
    show_table,
)
from harness.errors import ConfigError, Fault, joined
from harness.experiment.dry_run import DryRun, dry_run
from harness.experiment.duration import in_words

WIDTH = 80
"""Width of a table with the time of a cell; a wider one is shown without."""


@command("check my.yaml", "check my.yaml --resolved", group="Start here")
@options.configs
@options.overrides
@click.option(
    "--no-code",
    is_flag=True,
    help="List the files and modules that a config names, without importing them.",
)
@click.option(
    "--resolved",
    is_flag=True,
    help="Print the config as YAML, with its bases merged and its variables filled in.",
)
@click.option(
    "--no-probe",
    is_flag=True,
    help="Do not fit samples, and leave out the estimated time of the run.",
)
def check(
    configs: tuple[str, ...],
    overrides: tuple[str, ...],
    no_code: bool,
    resolved: bool,
    no_probe: bool,
) -> int:
    """Show what a run would do and what would stop it.

    Reads and splits the data, counts cells and trials, estimates memory, and looks for missing
    packages. Fits each algorithm to samples of the data for about two seconds, to estimate how long
    the run takes without the cache. The exit code is 2 if there is a problem.
    """
    if no_code:
        return _list_code(configs)
    if resolved:
        return _print_resolved(configs, overrides)

    faults: list[Fault] = []
    plans = []
    for number, config in enumerate(configs):
        if number:
            say()
        plan = dry_run(config, overrides=overrides, probe=not no_probe)
        plans.append(
            {
                "name": plan.name,
                "facts": dict(plan.facts),
                "notes": [*map(str, plan.notes)],
                "faults": [*plan.faults],
                **_time(plan),
            }
        )
        if plan.duration is not None and plan.duration.has_compiled:
            say(
                "first run on this machine: compiled the loops; the estimated time leaves this out",
                err=True,
            )
        say(f"{plain(plan.name)}\n")
        for subject, fact in plan.facts:
            say(f"{subject:<12}{plain(fact)}")
        say()
        columns, rows = _table(plan)
        show_table(columns, rows, ("algorithm", "parameters"))
        for lines, err in (
            ([f"note: {plain(note)}" for note in plan.notes], False),
            (plan.faults, True),
        ):
            if lines:
                say()
            for line in lines:
                say(line, err=err)
        faults += [Fault(0, "", text, str(config)) for text in plan.faults]
    if faults:
        message = "\n".join(fault.message for fault in faults)
        fail("check", message, ConfigError(configs[0], faults))
    if documents:
        give_result(plans)
    return 2 if faults else 0


def _table(plan: DryRun) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the table, with the time of a cell if there is room."""
    of_one = (
        ["" if s is None else in_words(s) for s in plan.duration.cells] if plan.duration else []
    )
    columns = ["algorithm", "cells", "trials", "memory of one", "time of one", "parameters"]
    rows = [
        [*row[:4], seconds, row[4]]
        for row, seconds in zip(plan.rows, of_one or [""] * len(plan.rows), strict=True)
    ]
    hidden = set() if any(row[2] != "0" for row in rows) else {2}
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    total = sum(2 + width for j, width in enumerate(widths) if j not in hidden) - 2
    if total > WIDTH or not any(of_one):
        hidden |= {4}
    shown = [j for j in range(len(columns)) if j not in hidden]
    return [columns[j] for j in shown], [[row[j] for j in shown] for row in rows]


def _time(plan: DryRun) -> dict[str, object]:
    """Return how long a run takes, for machines."""
    if plan.duration is None:
        return {}
    told = plan.duration
    titles = [row[0] for row in plan.rows]
    cells = [
        {"algorithm": title, "seconds": s} for title, s in zip(titles, told.cells, strict=True)
    ]
    return {
        "seconds": told.seconds,
        "time": {
            "parts": told.parts,
            "processor_seconds": told.processor,
            "cells": cells,
            "not_told": told.unknown,
            "probe": told.probe,
            "probe_seconds": told.probe_seconds,
        },
    }


def _list_code(configs: Sequence[str]) -> int:
    for config in configs:
        names = sorted(code_named(read_config(config).data))
        for name in names:
            say(f"{plain(config)}: {plain(name)}")
        if not names:
            say(f"{plain(config)}: does not name your own code")
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
