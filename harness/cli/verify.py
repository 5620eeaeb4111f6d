"""``harness verify``: a run, computed again and compared."""

from __future__ import annotations

from pathlib import Path

import click

from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.progress import display
from harness.console.screen import documents, give_result, plain, say
from harness.experiment.verify import verify as compute


@command("verify quickstart", "verify results/range-ml-100k --json", group="Check others' numbers")
@click.argument("run", metavar="RUN", shell_complete=words.run_names)
@options.workers
@click.option(
    "--trust", is_flag=True, help="Import and run the code that the config of the run names."
)
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@options.results
def verify(run: str, workers: int | None, trust: bool, quiet: bool, results: Path) -> int:
    """Compute a run again from its folder and compare every score.

    No finished cell is used. Rows that came out otherwise are listed with their first cell that
    differs, and versions of packages that changed. The exit code is 0 where every score is equal
    to the last digit, 1 where one is not, and 2 where the run cannot be computed here.
    """
    (opened,) = options.opened((run,), results)
    with display(quiet or bool(documents)) as watch:
        verification = compute(opened, trust=trust, workers=workers, watch=watch)
    if documents:
        give_result(verification.to_dict())
    first, *rest = verification.sentences()
    say(plain(first), colour="green" if verification.is_equal else "red")
    for sentence in rest:
        say(plain(sentence))
    return 0 if verification.is_equal else 1
