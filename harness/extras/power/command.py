"""``harness power``: which differences a run can find, and what it needs for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import harness
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.progress import display
from harness.console.screen import documents, give_result, plain, say, show_table
from harness.errors import HarnessError
from harness.extras.power.analysis import columns


@command(
    "power quickstart --difference 0.005",
    "power my.yaml --pilot 500 --difference 0.005",
    group="Check others' numbers",
)
@click.argument("run", metavar="RUN|CONFIG", shell_complete=words.run_names)
@click.option(
    "--difference",
    type=float,
    help="A difference that matters, in the unit of the metric: how many users and seeds find it.",
)
@click.option(
    "--power",
    type=float,
    default=0.8,
    show_default=True,
    help="The chance to find a difference that is there.",
)
@click.option(
    "--metric",
    metavar="LABEL",
    shell_complete=words.of_kind("metrics"),
    help="A mean over users; by default the headline metric.",
)
@click.option(
    "--pilot",
    type=int,
    metavar="USERS",
    help="Fit CONFIG on this many users, and say what the whole would find.",
)
@options.overrides
@options.workers
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@options.results
def power(
    run: str,
    results: Path,
    pilot: int | None,
    overrides: tuple[str, ...],
    workers: int | None,
    quiet: bool,
    **settings: Any,
) -> int:
    """Say which differences a run can find, and how many users and seeds it needs.

    For each pair of rows the smallest true difference that the tests of the run find with the
    power; with --difference also the power for it, and the users or the seeds that would be enough,
    from the run's own variances.
    """
    whole: Any = run
    if pilot is None:
        if overrides or workers is not None:
            raise HarnessError("--set, --workers: need --pilot; add it, or leave them out")
        (whole,) = options.opened((run,), results)
    else:
        settings |= {"pilot": pilot, "overrides": overrides, "workers": workers}
    with display(quiet or bool(documents)) as watch:
        analysis = harness.power(whole, watch=watch, **settings)
    if documents:
        give_result(analysis.to_dict())
    for sentence in analysis.sentences():
        say(plain(sentence))
    titles, rows = columns(analysis)
    say()
    n_words = titles.index("second") + 1
    show_table(titles, rows, titles[:n_words])
    say()
    for note in analysis.notes:
        say(f"note: {plain(note)}")
    return 0
