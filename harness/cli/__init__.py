"""The command line: the only part that prints or exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

import harness
from harness.cli.screen import printable
from harness.errors import HarnessError

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
    """Commands that are imported when they are asked for, so that help is instant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        from importlib import import_module

        module, attribute = _COMMANDS[name]
        return getattr(import_module(module), attribute)  # type: ignore[no-any-return]


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(harness.__version__, prog_name="harness")
def _harness() -> None:
    """Compare Surprise's algorithms by how well they rank.

    A config names data, split, algorithms and metrics; `harness run` trains the models and prints
    a table of NDCG@k and runtime.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line.

    Exit codes: 0 all well; 1 a cell failed; 2 something to mend in config, data or call; 130
    interrupted.
    """
    try:
        status = _harness.main(args=arguments, prog_name="harness", standalone_mode=False)
    except HarnessError as error:
        click.echo(printable(str(error)), err=True)
        sys.exit(2)
    except click.exceptions.Abort as stop:
        # Click turns an interrupt of a command into an Abort; a prompt raises one of its own.
        running = isinstance(stop.__cause__, KeyboardInterrupt)
        kept = "; what is finished is kept: run again to go on" if running else ""
        click.echo(f"interrupted{kept}", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except BrokenPipeError:
        # The reader of a pipe went away (`harness list ... | head`): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)
