"""Whether a command keeps what is expected of one: its help, and its answer to a wrong option."""

from __future__ import annotations

from collections.abc import Iterator

import click
from click.testing import CliRunner

from harness.plugins import registry as plugins

UNKNOWN = "--no-such-option-anywhere"
WRONG_CALL = 2
"""Exit code of a call with something wrong in it."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a command in this process, and its help; it is not carried out."""
    command = plugins.find("commands", name).load()
    if not isinstance(command, click.Command):
        yield "it is not a command; decorate a function with `click.command()`"
        return
    if not (command.help or "").strip():
        yield "it has no help; write a docstring"
    for option in command.params:
        if isinstance(option, click.Option) and not (option.help or option.hidden):
            yield f"the option {option.opts[0]} has no help; write one"
    runner = CliRunner()
    shown = runner.invoke(command, ["--help"], prog_name=f"harness {name}")
    if shown.exit_code or shown.exception:
        yield f"`--help` ends with exit code {shown.exit_code}; let it show the help"
        return
    yield shown.output.encode("utf-8", "replace")
    refused = runner.invoke(command, [UNKNOWN], prog_name=f"harness {name}")
    if refused.exit_code != WRONG_CALL or not isinstance(refused.exception, SystemExit):
        yield "an unknown option is not refused with exit code 2; let click read the options"
