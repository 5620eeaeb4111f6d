"""``harness verify``: a run, computed again and compared."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli import options, words
from harness.cli.command import command
from harness.cli.screen import plain, say


@command("verify quickstart", "verify results/range-ml-100k --json")
@click.argument("run", metavar="RUN", shell_complete=words.runs)
@options.workers
@click.option(
    "--trust", is_flag=True, help="Import and run the code that the config of the run names."
)
@options.as_json
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@options.results
def verify(
    run: str, workers: int | None, trust: bool, as_json: bool, quiet: bool, results: Path
) -> int:
    """Compute a run again from its folder and compare every score.

    No finished cell is used. Rows that came out otherwise are listed with their first cell that
    differs, and versions of packages that changed. The exit code is 0 where every score is equal
    to the last digit, 1 where one is not, and 2 where the run cannot be computed here.
    """
    from harness.cli.progress import display
    from harness.experiment.verify import verify as compute

    (opened,) = options.opened((run,), results)
    with display(quiet or as_json) as watch:
        answer = compute(opened, trust=trust, workers=workers, watch=watch)
    if as_json:
        say(json.dumps(answer.to_dict(), indent=1), is_data=True)
    else:
        first, *rest = answer.sentences()
        say(plain(first), colour="green" if answer.is_equal else "red")
        for sentence in rest:
            say(plain(sentence))
    return 0 if answer.is_equal else 1
