"""``harness best``: the best row of a run as a config."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

import harness
from harness._util.files import refuse_other_form, write_output
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import documents, give_result, say, say_written


@command("best quickstart", "best quickstart --metric ndcg@5 -o best.yaml", group="Use a model")
@click.argument("run", metavar="RUN", shell_complete=words.run_names)
@options.row
@click.option(
    "-o",
    "--output",
    type=options.printed,
    help="A file for the config; by default, or with -, it is printed.",
)
@options.force
def best(run: str, results: Path, output: Path | None, **choice: str | None) -> int:
    """Write the best row of a run as a config that runs.

    The config has the parameters of the row, from its search if it was tuned. Comments give the
    evidence: value and interval, rows that are not significantly different, seconds.
    """
    if output is not None:
        refuse_other_form(output, "YAML", ".yaml", ".yml")
    (opened,) = options.opened((run,), results)
    row = harness.best(opened, **choice)
    if documents:
        keys = {"row": row.row.model_dump(mode="json"), "params": row.params}
        give_result(keys | {"config": row.config_in("."), "evidence": row.evidence})
    text = row.to_yaml(output.parent if output else ".")
    if output is None:
        say(text.rstrip(), is_data=True)
        return 0
    write_output(output, text)
    for sentence in row.evidence:
        say(sentence)
    config = shlex.quote(str(output))
    say_written(output, f"; use it with `harness run {config}` or `harness recommend {config}`")
    return 0
