"""The command line: the only part that prints or exits."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from traceback import format_exception

import click

import harness
from harness import streams
from harness.cli import commands, new, row_commands, schema, views
from harness.cli.screen import TRACEBACK, say, shows_tracebacks
from harness.errors import HarnessError, reason_of, suggestion

OUTPUT_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.EDQUOT)
"""What is wrong where standard output cannot be written."""
LIMIT_ERRORS = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
LIMIT_MESSAGES = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""What Python and libraries say where memory, processes or threads are limited."""


class _Commands(click.Group):
    """Commands in the order in which they are declared, with a suggestion for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands and not ctx.resilient_parsing:  # completion in a shell
            ctx.fail(f"No such command {cmd_name!r}; {suggestion(cmd_name, self.commands)}")
        return self.commands.get(cmd_name)


def _traceback_option(*, hidden: bool = False) -> click.Option:
    def remember(context: click.Context, option: click.Parameter, value: bool) -> None:
        if value:
            os.environ[TRACEBACK] = "1"

    return click.Option(
        ["--traceback"],
        is_flag=True,
        hidden=hidden,
        expose_value=False,
        callback=remember,
        help=f"Show where in the code an error comes from; {TRACEBACK}=1 does the same.",
    )


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[_traceback_option()],
)
@click.version_option(harness.__version__, prog_name="harness")
def _harness() -> None:
    """Compare Surprise's algorithms by how well they rank.

    A config names data, split, algorithms and metrics; `harness run` trains the models and prints
    a table of NDCG@k and runtime.
    """


for _command in (
    *(commands.describe, new.new, commands.run, commands.check, commands.split, schema.schema),
    *(views.report, views.plot, views.table, views.compare, views.methods),
    *(row_commands.best, row_commands.recommend, row_commands.save),
    *(
        commands.evaluate,
        commands.audit,
        commands.conventions,
        commands.reproduce,
        views.list_,
        views.cache,
    ),
):
    # The option of the whole program is understood after the command as well.
    _command.params.append(_traceback_option(hidden=True))
    for _subcommand in (_command, *getattr(_command, "commands", {}).values()):
        _subcommand.short_help = _subcommand.help.partition("\n\n")[0]  # Click would cut it
    _harness.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 all well; 1 a cell failed; 2 something to fix in config, data or call; 130
    interrupted. A reader of the output that leaves (`harness table NAME | head -1`) changes none.
    """
    gc.set_threshold(50_000)  # what imports and compilation make lasts: collecting took a tenth
    streams.prepare()
    try:
        if sys.stdout is None:
            raise HarnessError("standard output is closed; send it to a file or to /dev/null")
        try:
            Path.cwd()
        except OSError as error:
            raise HarnessError(
                f"the current folder cannot be used ({reason_of(error)}); change to another one"
            ) from None
        status = _harness.main(args=arguments, prog_name="harness", standalone_mode=False)
    except HarnessError as error:
        traced = shows_tracebacks()
        say("".join(format_exception(error)).rstrip() if traced else error, err=True, whole=traced)
        status = 2
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        if arguments is None:  # the process ends here: those that follow have nothing to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Click turns an interrupt of a command into an Abort, unless another one comes meanwhile;
        # a prompt raises an Abort of its own.
        running = isinstance(stop.__cause__ or stop, KeyboardInterrupt)
        advice = "; finished cells are kept: run again to resume" if running else ""
        say(f"interrupted{advice}", err=True)
        status = 130
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        # Its message is the help; old versions of Click print that themselves.
        bare = isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))
        if context is not None and not bare:
            say(context.get_usage(), err=True)
        # Click lists choices on lines of their own, with tabs.
        message = error.format_message()
        say(message if bare else f"Error: {' '.join(message.split())}", err=True)
        status = 2
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        code = getattr(error, "errno", None)
        text = reason_of(error)
        if code in OUTPUT_ERRORS and getattr(error, "filename", None) is None:
            _drop_output()
            say(f"standard output cannot be written ({text}); send it elsewhere", err=True)
        elif (
            isinstance(error, MemoryError)
            or code in LIMIT_ERRORS
            or any(message in str(error) for message in LIMIT_MESSAGES)
        ):
            advice = "raise its limit or use fewer workers"
            say(f"the system has no more room ({text}); {advice}", err=True)
        else:
            raise
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output() -> None:
    """Discard buffered output, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):
        streams.discard(sys.stdout.fileno())
