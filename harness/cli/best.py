"""``harness best``: the best row of a run as a config."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import harness
from harness.cli import options, words
from harness.cli.command import command
from harness.cli.screen import say


@command("best quickstart", "best quickstart --metric ndcg@5 -o best.yaml")
@click.argument("run", metavar="RUN", shell_complete=words.runs)
@options.row
@click.option(
    "-o", "--output", type=options.output, help="A file for the config; by default it is printed."
)
@options.force
def best(run: str, results: Path, output: Path | None, **choice: str | None) -> int:
    """Write the best row of a run as a config that runs.

    The config has the row's parameters, found by its search if there was one; comments give the
    evidence: value and interval, rows that are not significantly different, seconds.
    """
    from harness.files import write_output

    (opened,) = options.opened((run,), results)
    row = harness.best(opened, **choice)
    text = row.to_yaml(output.parent if output else ".")
    if output is None:
        say(text.rstrip(), is_data=True)
        return 0
    write_output(output, text)
    for sentence in row.evidence:
        say(sentence)
    config = shlex.quote(str(output))
    say(f"written to {output}; use it with `harness run {config}` or `harness recommend {config}`")
    return 0
