"""``harness audit``: errors that published tables contain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import harness
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import documents, give_result, say


@command(
    "audit quickstart",
    "audit lists.csv --truth test.csv --train train.csv",
    group="Check others' numbers",
)
@click.argument(
    "sources", nargs=-1, required=True, metavar="RUN|FILE...", shell_complete=words.run_names
)
@options.truth
@click.option("--train", "--training", "train", type=options.file, help="Training pairs of FILE.")
@click.option(
    "--metric",
    shell_complete=words.of_kind("metrics"),
    metavar="LABEL",
    help="With a cut-off rank; by default ndcg@10, or the headline metric of the run.",
)
@options.results
def audit(sources: tuple[str, ...], **settings: Any) -> int:
    """Search a run, or what any program wrote, for errors that published tables contain.

    FILE is what `harness evaluate` reads: predictions, or recommendations with --truth. Each
    finding has its size here and a published case; what cannot be checked is listed. The exit code
    is 0 whether or not something is found.
    """
    files = [source for source in sources if Path(source).is_file()]
    audits = [harness.audit(source, beside=files, **settings) for source in sources]
    if documents:
        give_result([json.loads(audit.to_json()) for audit in audits])
        return 0
    say("\n\n".join(map(str, audits)))
    return 0
