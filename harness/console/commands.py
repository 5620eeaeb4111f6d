"""The command line: the only part that prints or exits."""

from __future__ import annotations

import errno
import gc
import itertools
import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

import harness
from harness._util import names
from harness._util import terminal as streams
from harness.console.command import Command, write_examples
from harness.console.json import JsonDocument
from harness.console.screen import TRACEBACK, documents, listeners, log_to, say, shows_tracebacks
from harness.errors import (
    HarnessError,
    PluginError,
    Terminated,
    masked_text,
    reason_of,
    suggestion,
)
from harness.plugins import registry as plugins

EXAMPLES = ("harness run quickstart", "harness new my.yaml --dataset ratings.csv")
OUTPUT_ERRORS = (errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EBADF, errno.EDQUOT)
"""Errors of a standard output that cannot be written."""
SHOWN = 60
"""Characters of a path that is too long for the system, in its message."""
SUMMARIES_FILE = Path(__file__).with_name("summaries.json")
"""What the commands of this package are for, so that a list of them imports none."""
LIMIT_ERRORS = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
LIMIT_MESSAGES = ("failed to map segment", "annot allocate memory", "can't start new thread")
"""What Python and libraries say where memory, processes or threads are limited."""


class _Commands(click.Group):
    """The commands of this package and of plug-ins, each imported when it is called.

    The help lists the commands of this package in groups. For a plug-in it names the package that
    it is from: its code is not imported.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*itertools.chain(*_summaries().values()), *self._foreign()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.commands:
            known = plugins.names("commands")
            if cmd_name not in plugins.builtin_names("commands") and cmd_name not in known:
                if ctx.resilient_parsing:  # completion in a shell
                    return None
                hint = f"{suggestion('', known)}, or install the package that has it"
                if call := _call_of_file(cmd_name):
                    hint = f"use `{call}`"
                elif said := names.meant("commands", cmd_name):
                    hint = f"use {said}"
                elif names.near("commands", cmd_name, known):
                    hint = plugins.absent("commands", cmd_name)
                ctx.fail(f"No such command {cmd_name!r}; {hint}")
            command = _loaded(cmd_name)
            if cmd_name not in plugins.builtin_names("commands"):
                return command
            self.add_command(command, cmd_name)
        return self.commands[cmd_name]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their groups, plug-ins last."""
        lines = _summaries() | {"From installed packages": self._foreign()}
        width = max(map(len, itertools.chain(*lines.values())))
        groups = {title: [*of_group.items()] for title, of_group in lines.items()}
        for title, rows in groups.items():
            if rows:
                rows[0] = (f"{rows[0][0]:<{width}}", rows[0][1])  # equal columns in all groups
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, EXAMPLES)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands by the beginning of their names; of plug-ins nothing is imported."""
        lines = {name: line for each in _summaries().values() for name, line in each.items()}
        lines |= self._foreign()
        items = [CompletionItem(name, help=lines[name]) for name in self.list_commands(ctx)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [item for item in items if item.value.startswith(incomplete)] + options

    def invoke(self, ctx: click.Context) -> object:
        """Carry out a command; what goes wrong in one of a plug-in names it and its package."""
        try:
            return super().invoke(ctx)
        except (HarnessError, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            name = str(ctx.invoked_subcommand)
            is_builtin = name in plugins.builtin_names("commands")
            if is_builtin or getattr(error, "errno", None) in (*OUTPUT_ERRORS, errno.EPIPE):
                raise
            fault = f"{type(error).__name__}: {reason_of(error)}"
            raise PluginError(
                f"commands: {name!r} of {plugins.find('commands', name).origin}: it failed "
                f"({fault}); tell its author, with what --traceback shows"
            ) from error

    def _foreign(self) -> dict[str, str]:
        """Return the commands of plug-ins with the packages that they are from."""
        return {
            plugin.name: f"From {plugin.origin}." + (f" Not usable: {reason}." if reason else "")
            for plugin, reason in plugins.declared("commands")
            if not plugin.is_builtin and plugin.name not in plugins.builtin_names("commands")
        }


def _call_of_file(name: str) -> str:
    """Return the call that was probably meant where a file was given in the place of a command.

    >>> _call_of_file("my.yaml"), _call_of_file("ratings.csv"), _call_of_file("tabel")
    ('harness run my.yaml', 'harness run --dataset ratings.csv', '')
    """
    ending = Path(name).suffix.lower()
    calls = {
        ".yaml": "harness run",
        ".yml": "harness run",
        ".json": "harness run",
        ".py": "python -m harness.accelerate",
    }
    is_file = os.path.lexists(name) or ending in (".csv", ".tsv", ".dat", ".parquet")
    before = calls.get(ending, "harness run --dataset" if ending and is_file else "")
    return f"{before} {shlex.quote(name)}" if before else ""


def _loaded(name: str) -> click.Command:
    """Import a command, and let it understand the option of the program after its name."""
    plugin = plugins.find("commands", name)
    command = plugin.load()
    if not isinstance(command, click.Command):
        raise PluginError(
            f"commands: {name!r} of {plugin.origin}: {plugin.target} is of type "
            f"{type(command).__name__}, not a command; decorate a function with `click.command()`"
        )
    _add_options(command, is_ours=plugin.is_builtin)
    return command


def _add_options(command: click.Command, *, is_ours: bool) -> None:
    """Let a command, and those that it consists of, understand what every command has.

    A command of a plug-in prints by itself, so that it has ``--json`` only if it declares that.
    """
    members = command.commands.values() if isinstance(command, click.Group) else ()
    options = [_traceback_option(hidden=True), _log_option(hidden=True)]
    for option in [*options, _json_option()] if is_ours and not members else options:
        if not any(option.opts[0] in parameter.opts for parameter in command.params):
            command.params.append(option)
    for member in members:
        _add_options(member, is_ours=is_ours)


def _summaries() -> dict[str, dict[str, str]]:
    """Return the first sentence of each command's help by group, as its declaration has them."""
    summaries: dict[str, dict[str, str]] = json.loads(SUMMARIES_FILE.read_text(encoding="utf-8"))
    return summaries


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


def _log_option(*, hidden: bool = False) -> click.Option:
    def begin(context: click.Context, option: click.Parameter, value: Path | None) -> None:
        if value is not None and not context.resilient_parsing:
            log_to(value)

    return click.Option(
        ["--log-file"],
        type=click.Path(path_type=Path, dir_okay=False),
        is_eager=True,  # it has the errors of the other options too
        hidden=hidden,
        expose_value=False,
        callback=begin,
        help="Append progress, notes and errors to this file, with the time of each line.",
    )


def _json_option() -> click.Option:
    def begin(context: click.Context, option: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            _begin_document(context.command_path.partition(" ")[2])

    return click.Option(
        ["--json"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=begin,
        help="Print one JSON document in place of text, errors too.",
    )


def _begin_document(command: str) -> None:
    """Begin the document of a command, or give the one that has begun its full name."""
    if documents:
        documents[0].command = command
    else:
        documents[:] = [JsonDocument(command)]


def command_named(arguments: Sequence[str]) -> str:
    """Return the command that the arguments of the program name; empty if they name none.

    >>> command_named(["--log-file", "run.log", "table", "quickstart"])
    'table'
    """
    words = iter(arguments)
    for word in words:
        if word in ("--log-file",):
            next(words, None)  # the option's value
        elif not word.startswith("-"):
            return word
    return ""


def wants_document(arguments: Sequence[str]) -> bool:
    """Return whether the arguments ask a command of this package for a JSON document.

    A command of a plug-in prints by itself.
    """
    if "--json" not in [*itertools.takewhile(lambda word: word != "--", arguments)]:
        return False
    name = command_named(arguments)
    return name in plugins.builtin_names("commands") or name not in plugins.names("commands")


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[_traceback_option(), _log_option()],
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
    interrupted; 143 ended by SIGTERM. A reader of the output that leaves (`harness table NAME |
    head -1`) changes none.
    """
    gc.set_threshold(50_000)  # what imports and compilation make lasts: collecting took a tenth
    streams.prepare()
    listeners.clear()
    documents.clear()
    words = sys.argv[1:] if arguments is None else [*arguments]
    failure: tuple[str, str, BaseException] | None = None
    try:
        if wants_document(words):
            _begin_document(command_named(words))
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
        say(_with_traceback(error) if traced else error, err=True, is_data=traced)
        status, failure = 2, (type(error).__name__, str(error), error)
    except (click.exceptions.Abort, KeyboardInterrupt) as stop:
        if arguments is None:  # the process ends here: those that follow have nothing to stop
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)
        # Click turns an interrupt of a command into an Abort, unless another one comes meanwhile;
        # a prompt raises an Abort of its own.
        cause = stop.__cause__ or stop
        running = isinstance(cause, KeyboardInterrupt)
        advice = "; computed cells are cached: run again to resume" if running else ""
        ended = isinstance(cause, Terminated)
        status, said = (Terminated.code, Terminated.said) if ended else (130, "interrupted")
        message = f"{said}{advice}"
        say(message, err=True)
        failure = ("interrupted", message, stop)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        # Its message is the help; old versions of Click print that themselves.
        bare = isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ()))
        if context is not None and not bare:
            say(context.get_usage(), err=True)
        # Click lists choices on lines of their own, with tabs.
        message = _usage_error(error)
        say(message if bare else f"Error: {' '.join(message.split())}", err=True)
        status, failure = 2, ("usage", " ".join(message.split()), error)
    except Exception as error:
        text = _system_fault(error)
        if not text:
            _print_document(1, _unforeseen(error))
            raise
        say(text, err=True)
        status, failure = 2, (type(error).__name__, text, error)
    finally:
        if arguments is not None:
            streams.restore()
    status = status if isinstance(status, int) else 0
    _print_document(status, failure)
    for hear in listeners:
        hear(f"exit code {status}")
    listeners.clear()
    sys.exit(status)


def _usage_error(error: click.ClickException) -> str:
    """Return what is wrong with a call, and which option or example the command has."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.MissingParameter) and isinstance(error.cmd, Command):
        return f"{error.format_message().rstrip('.')}; for example `{error.cmd.examples[0]}`"
    command = getattr(context, "command", None)
    if error.message.startswith("Got unexpected extra arg") and isinstance(command, Command):
        return f"{error.format_message().rstrip('.')}; for example `{command.examples[0]}`"
    if not isinstance(error, click.NoSuchOption) or context is None:
        return error.format_message()

    params = {option: each.name for each in context.command.params for option in each.opts}
    known = [option for option in params if option.startswith("-")]
    word = f"{context.info_name}.{error.option_name}"
    said = names.meant("options-of-commands", word, known)
    hint = f"use {said}" if said else names.near("options", error.option_name, known)
    meant = next((each for each in known if f"`{each}`" in hint or repr(each) in hint), "")
    of_config = getattr(context.command, "of_config", {})
    if example := of_config.get(params.get(meant)):
        hint += f", or with a config `--set {example}`"
    hint = hint or f"`{context.command_path} --help` lists them"
    return f"No such option {error.option_name!r}; {hint}"


def _system_fault(error: Exception) -> str:
    """Return what is wrong with the system, not with this package; empty for all else."""
    if not isinstance(error, MemoryError | OSError | ImportError | RuntimeError):
        return ""
    code, text = getattr(error, "errno", None), reason_of(error)
    if code in OUTPUT_ERRORS and getattr(error, "filename", None) is None:
        _drop_output()
        documents.clear()  # there is no place for one
        return f"standard output cannot be written ({text}); send it elsewhere"
    if (
        isinstance(error, MemoryError)
        or code in LIMIT_ERRORS
        or any(message in str(error) for message in LIMIT_MESSAGES)
    ):
        return f"the system has no more room ({text}); raise its limit or use fewer workers"
    if code == errno.ENAMETOOLONG:
        name = str(getattr(error, "filename", None) or "a path")
        short = name if len(name) <= SHOWN else f"{name[:SHOWN]} …"
        return f"{short}: is not a path ({text}); give a shorter name"
    return ""


def _unforeseen(error: Exception) -> tuple[str, str, BaseException]:
    """Return what a document says of an error that is a mistake of this package."""
    return type(error).__name__, f"{type(error).__name__}: {reason_of(error)}", error


def _print_document(status: int, failure: tuple[str, str, BaseException] | None) -> None:
    """With ``--json``, print the document of the command, or of what stopped it."""
    if not documents:
        return
    document, *_ = documents
    documents.clear()
    if failure:
        document.fail(*failure)
    say(document.to_json(status), is_data=True)


def _with_traceback(error: Exception) -> str:
    from traceback import format_exception  # which takes time that `harness --help` has not

    return masked_text("".join(format_exception(error)).rstrip())


def _drop_output() -> None:
    """Discard buffered output, so that Python does not fail on it at exit."""
    with suppress(OSError, ValueError):
        streams.discard(streams.answers().fileno())
