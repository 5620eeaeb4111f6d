"""The command line: the only part that prints or exits."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from traceback import format_exception

import click

import harness
from harness.cli.screen import TRACEBACK, say, shows_tracebacks
from harness.errors import HarnessError, suggestion

__all__ = ["main"]

_COMMANDS = {
    "run": ("harness.cli.run", "run_command"),
    "check": ("harness.cli.run", "check_command"),
    "split": ("harness.cli.split", "split_command"),
    "new": ("harness.cli.new", "new_command"),
    "schema": ("harness.cli.schema", "schema_command"),
    "report": ("harness.cli.report", "report_command"),
    "plot": ("harness.cli.report", "plot_command"),
    "table": ("harness.cli.report", "table_command"),
    "compare": ("harness.cli.show", "compare_command"),
    "evaluate": ("harness.cli.evaluate", "evaluate_command"),
    "conventions": ("harness.cli.evaluate", "conventions_command"),
    "reproduce": ("harness.cli.evaluate", "reproduce_command"),
    "list": ("harness.cli.show", "list_command"),
    "cache": ("harness.cli.cache", "cache_command"),
}


class _Commands(click.Group):
    """Commands that are imported on first use, so that help is fast."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            if not context.resilient_parsing:  # completion in a shell
                context.fail(f"No such command {name!r}; {suggestion(name, _COMMANDS)}")
            return None
        from importlib import import_module

        module, attribute = _COMMANDS[name]
        command: click.Command = getattr(import_module(module), attribute)
        if all(each.name != "traceback" for each in command.params):
            # The option of the whole program is understood after the command as well.
            command.params.append(_traceback_option(hidden=True))
        return command


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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 all well; 1 a cell failed; 2 something to fix in config, data or call; 130
    interrupted.
    """
    if sys.stderr is None:  # closed by the caller
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    try:
        if sys.stdout is None:
            raise HarnessError("standard output is closed; send it to a file or to /dev/null")
        try:
            Path.cwd()
        except OSError as error:
            raise HarnessError(
                f"the current folder cannot be used ({error.strerror}); change to another one"
            ) from None
        status = _harness.main(args=arguments, prog_name="harness", standalone_mode=False)
    except HarnessError as error:
        if shows_tracebacks():
            say("".join(format_exception(error)).rstrip(), err=True, whole=True)
        else:
            say(error, err=True)
        status = 2
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        if arguments is None:  # the process ends here: those that follow have nothing to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Click turns an interrupt of a command into an Abort, unless another one comes meanwhile;
        # a prompt raises an Abort of its own.
        running = isinstance(stop.__cause__ or stop, KeyboardInterrupt)
        kept = "; finished cells are kept: run again to resume" if running else ""
        say(f"interrupted{kept}", err=True)
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
    except BrokenPipeError:
        _drop_output()  # the reader of a pipe has gone (`harness list ... | head`): no error
        status = 0
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        said = _limit(error)
        if isinstance(error, OSError) and error.errno in OF_OUTPUT and error.filename is None:
            _drop_output()
            said = f"standard output cannot be written ({error.strerror}); send it elsewhere"
        elif said is None:
            raise
        say(said, err=True)
        status = 2
    sys.exit(status if isinstance(status, int) else 0)


OF_OUTPUT = (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.EDQUOT)
"""What is wrong where standard output cannot be written."""


NO_ROOM = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""What Python and libraries say where memory, processes or threads are limited."""


def _limit(error: BaseException) -> str | None:
    """Return the message of an error that comes from a limit of the system; None of others.

    Examples
    --------
    >>> _limit(OSError(errno.EMFILE, "Too many open files"))
    'the system has no more room (Too many open files); raise its limit or use fewer workers'
    >>> _limit(OSError(errno.ENOENT, "No such file or directory"))
    """
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    reached = (
        isinstance(error, MemoryError)
        or getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
        or any(each in str(error) for each in NO_ROOM)
    )
    if not reached:
        return None
    return f"the system has no more room ({text}); raise its limit or use fewer workers"


def _drop_output() -> None:
    """Discard buffered output, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
