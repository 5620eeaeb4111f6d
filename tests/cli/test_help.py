"""The help: commands in groups, examples that can be given, and commands of other packages."""

import shlex
import subprocess
import sys

import click
import pytest

from harness.console.command import GROUPS
from harness.console.commands import _harness
from harness.console.screen import TRACEBACK
from harness.plugins import registry as plugins
from tests.plugins.test_plugins import install, site

__all__ = ["site"]
HELLO = """
import click

@click.command()
@click.option("--name", default="you")
def hello(name):
    "Say hello."
    click.echo(f"hello {name}")
"""


def commands(command=_harness, names=("harness",)):
    """Yield every command of this package with the words that call it."""
    yield names, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*names, name))


def test_every_command_stands_in_one_group():
    for (_, *names), command in commands():
        if len(names) == 1:
            assert command.help_group in GROUPS, names


def test_groups_stand_in_their_order_with_the_first_hour_first(cli):
    out = cli.done("--help")
    places = [out.index(f"\n{title}:\n") for title in (*GROUPS, "Examples")]
    assert places == sorted(places)
    assert out.index("\n  run ") < out.index("\n  table ") < out.index("\n  cache ")


@pytest.mark.parametrize("names", [names for names, _ in commands()], ids=" ".join)
def test_every_help_ends_with_two_examples_that_can_be_given(cli, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, _, examples = cli.done(*names[1:], "--help").rpartition("\nExamples:\n")
    lines = [line.strip() for line in examples.strip().splitlines()]
    assert before
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line.partition(">")[0])
        assert words[: 1 + (len(names) > 1)] == [*names[: 1 + (len(names) > 1)]]
        for word in words:
            if word.rpartition(".")[2] in ("csv", "txt"):
                (tmp_path / word).touch()
        command = _harness
        words = words[1:]
        while isinstance(command, click.Group) and words:
            command = command.get_command(click.Context(command), words.pop(0))
        command.make_context("harness", words, **_harness.context_settings)  # runs nothing


def test_a_command_of_another_package_is_listed_without_its_code_and_runs(site, cli):
    install(site, "greetings", "2.1", {"commands": {"hello": "hello_command:hello"}})
    (site / "hello_command.py").write_text(HELLO)
    assert "\nFrom installed packages:\n  hello        From greetings 2.1.\n" in cli.done("--help")
    assert "hello_command" not in sys.modules
    assert cli.done("hello", "--name", "Ada") == "hello Ada\n"
    assert "did you mean 'hello' of greetings 2.1?" in cli.refused("helo")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import not_there_at_all", "commands: 'hello' of greetings 2.1: 'hello_command' cannot"),
        ("hello = 7", "hello_command:hello is of type int, not a command; decorate"),
        ("raise SystemExit(3)", "importing 'hello_command' failed (SystemExit: 3); fix the module"),
    ],
)
def test_a_command_that_cannot_be_imported_stops_only_itself(site, cli, code, said):
    install(site, "greetings", "2.1", {"commands": {"hello": "hello_command:hello"}})
    (site / "hello_command.py").write_text(code)
    assert said in cli.refused("hello")
    assert said in cli.refused("hello", "--help")
    assert "From greetings 2.1." in cli.done("--help")
    assert "0 cells" in cli.done("cache", "size")


def test_a_command_of_this_package_cannot_be_taken(site, cli):
    install(site, "thief", "3", {"commands": {"run": "thief:run"}}, thief="raise SystemExit(9)")
    assert "thief" not in cli.done("--help")
    assert "Run experiments" in cli.done("run", "--help")


@pytest.mark.parametrize("command", ["run", "cache"])
def test_a_command_imports_no_other_command(command):
    code = (
        "import sys\n"
        "from harness.console.commands import main\n"
        "try: main([sys.argv[1], '--help'])\n"
        "except SystemExit: pass\n"
        "print([n for n in sys.modules if n.startswith('harness.cli.')])"
    )
    called = [sys.executable, "-c", code, command]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1]
    assert f"harness.cli.{command}'" in modules
    for name in {*plugins.builtin_names("commands")} - {command}:
        assert f"harness.cli.{name}'" not in modules


FAILS = """
import click
from harness.errors import DataError

@click.command()
@click.argument("how")
def hello(how):
    '''Fail.'''
    if how == "known":
        raise DataError("ratings.csv: nothing in it; give another")
    if how == "group":
        raise click.UsageError("not like this")
    if how == "exit":
        raise SystemExit(7)
    raise OSError("gone") if how == "system" else KeyError(how)
"""


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [
        ("known", 2, "ratings.csv: nothing in it; give another"),
        ("group", 2, "Error: not like this"),
        ("system", 2, "commands: 'hello' of greetings 2.1: it failed (OSError: gone); tell its"),
        ("other", 2, "commands: 'hello' of greetings 2.1: it failed (KeyError: 'other'); tell its"),
        ("exit", 7, ""),
    ],
)
def test_a_command_of_another_package_that_fails_is_named_with_it(
    site, cli, monkeypatch, how, code, said
):
    install(site, "greetings", "2.1", {"commands": {"hello": "hello_fails:hello"}})
    (site / "hello_fails.py").write_text(FAILS)
    found, _, err = cli("hello", how)
    assert (found, said in err, "Traceback" in err) == (code, True, False)
    monkeypatch.setenv(TRACEBACK, "1")
    assert ("Traceback" in cli("hello", how)[2]) == (how in ("known", "system", "other"))
