"""What a command of this package is: its group in the help, and two examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import click
from click.core import ParameterSource

from harness._util import names
from harness._util import terminal as streams
from harness.console.screen import documents
from harness.errors import ConfigError, HarnessError

GROUPS = (
    "Start here",
    "Look at results",
    "Use a model",
    "Check others' numbers",
    "Tools",
)
"""The groups of the help in their order, the group of a first hour first."""


class Command(click.Command):
    """A command whose help ends with examples.

    Parameters
    ----------
    examples : sequence of str
        Two calls that can be typed as they are, with the name of the program.
    help_group : str
        One of `GROUPS`, under which the help of the program lists it; "" for a command of a
        command.
    of_config : mapping, optional
        By parameter, what ``--set`` takes in its place where the command has a config.
    """

    def __init__(
        self,
        *arguments: Any,
        examples: tuple[str, str],
        help_group: str,
        of_config: Mapping[str, str] = MappingProxyType({}),
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.examples, self.help_group, self.of_config = examples, help_group, of_config

    def invoke(self, ctx: click.Context) -> Any:
        """Carry out the command; what plug-ins and libraries print goes to standard error."""
        if not isinstance(self, click.Group):  # whose commands may show their help yet
            streams.divert()
        try:
            return super().invoke(ctx)
        except HarnessError as error:
            name_option(error, ctx)
            raise

    def get_help(self, ctx: click.Context) -> str:
        """Return the help; with ``--json`` it is the result of the document."""
        text = super().get_help(ctx)
        if not documents:
            return text
        streams.divert()
        documents[0].add_text(text, is_data=True)
        return ""

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the first paragraph of the help, which click would cut."""
        return first_paragraph(self.help)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples below the options."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)


class CommandGroup(Command, click.Group):
    """A command that consists of commands, such as `harness cache`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, or fail with what its name means here."""
        found = super().get_command(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            hint = names.advice("commands-of-cache", cmd_name, self.commands)
            ctx.fail(f"No such command {cmd_name!r}; {hint}")
        return found


def command(
    *examples: str, group: str = "", cls: type[Command] = Command, **settings: Any
) -> Callable[[Callable[..., int | None]], Any]:
    """Make a function a command whose help ends with these two examples.

    Parameters
    ----------
    *examples : str
        Without the name of the program.
    group : str
        One of `GROUPS`.
    cls : type
        A subclass of `Command`.
    **settings
        As of `click.command`.
    """
    calls = tuple(f"harness {example}" for example in examples)
    return click.command(cls=cls, examples=calls, help_group=group, **settings)


def name_option(error: HarnessError, ctx: click.Context) -> None:
    """Let an error begin with the option of the call whose value its message is about.

    What finds the error has the value only: it is called from Python too.
    """
    text = str(error)
    if isinstance(error, ConfigError) or error.args != (text,):
        return
    for parameter in ctx.command.params:
        name = parameter.name or ""
        value = ctx.params.get(name)
        is_typed = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not isinstance(parameter, click.Option) or not is_typed or name == "results":
            continue
        values = value if isinstance(value, tuple) else (value,)
        names = [
            part for each in values if isinstance(each, str) for part in (each, *each.split(","))
        ]
        found = text.partition(";")[0]
        is_about = any(repr(each.strip()) in found for each in names if each.strip())
        if type(value) in (int, float):
            begins = (f"{name}: {value}", f"{name}: {value:.16g}")
            is_about = f"{name} {value}" in text or text.startswith(begins)
        if is_about:
            option = max(parameter.opts, key=len)
            if option not in text:
                for known in (name, ctx.info_name):
                    text = text.removeprefix(f"{known}: ")
                error.args = (f"{option}: {text}",)
            return


def first_paragraph(text: str | None) -> str:
    """Return the first paragraph of a help on one line."""
    return " ".join((text or "").partition("\n\n")[0].split())


def write_examples(formatter: click.HelpFormatter, examples: tuple[str, ...]) -> None:
    """Write examples as the last section of a help, each on its own line."""
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")
