"""``harness run`` and ``harness check``."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import options

__all__ = ["check_command", "run_command"]


@click.command("run")
@options.configs
@options.overrides
@options.results
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=None,
    help="Processes at the same time; the numbers are the same for any number.",
)
@click.option(
    "--fresh", is_flag=True, help="Compute every cell and trial again, even finished ones."
)
@click.option("--quiet", "-q", is_flag=True, help="Print only the tables.")
def run_command(
    configs: tuple[str, ...],
    overrides: tuple[str, ...],
    results: Path,
    workers: int | None,
    fresh: bool,
    quiet: bool,
) -> int:
    """Run experiments and print their tables.

    Finished cells are kept: a second run computes only what is missing.
    """
    from harness.cli.progress import display
    from harness.cli.screen import say, show_run
    from harness.config.load import load
    from harness.errors import ConfigError, Fault
    from harness.experiment import run
    from harness.kernels import compiled_before

    # Every config is checked before the first is run.
    names: dict[str, str] = {}
    for config in configs:
        experiment, document = load(config, overrides=overrides)
        if experiment.name in names:
            message = (
                f"{experiment.name!r} is also the name of {names[experiment.name]}, whose results "
                "it would overwrite; change one, or run them with two commands and two --results"
            )
            raise ConfigError(config, [Fault(document.line(("name",)), "name", message)])
        names[experiment.name] = config
    if not quiet and not compiled_before():
        say("first run on this machine: compiling the algorithms takes about ten seconds", err=True)
    failed = 0
    for config in configs:
        with display(quiet) as watch:
            done = run(
                config,
                results=results,
                overrides=overrides,
                workers=workers,
                fresh=fresh,
                watch=watch,
            )
        show_run(done)
        failed += len(done.failed)
    return 1 if failed else 0


@click.command("check")
@options.configs
@options.overrides
def check_command(configs: tuple[str, ...], overrides: tuple[str, ...]) -> int:
    """Show what a run would do and what would stop it.

    Reads and splits the data, counts cells and trials, estimates memory, and looks for missing
    packages. The exit code is 2 if there is a fault.
    """
    from harness.cli.screen import say, show_dry_run
    from harness.experiment.dry_run import dry_run

    n_faults = 0
    for number, config in enumerate(configs):
        if number:
            say()
        found = dry_run(config, overrides=overrides)
        show_dry_run(found)
        if found.faults:
            say()
        for fault in found.faults:
            say(fault, err=True)
        n_faults += len(found.faults)
    return 2 if n_faults else 0
