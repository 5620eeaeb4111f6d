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

    It ignores the cache. It lists each row whose scores differ, with the first cell that differs,
    and the packages whose version changed. The exit code is 0 if every score is equal to the last
    digit, 1 if a score differs, and 2 if the run cannot be computed here.
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
