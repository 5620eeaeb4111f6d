"""``harness new``: a commented config to start from."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from harness._util.files import read_regular, refuse_below_file, report_os_error, write_output
from harness.cli.schema import make_schema, to_text
from harness.config.document import Document
from harness.config.load import load, set_key
from harness.config.yaml import refuse_ratings
from harness.console import answers
from harness.console.answers import DatasetAnswer, config_text
from harness.console.command import command
from harness.console.options import file, folder, force, in_the_call, overrides, unused
from harness.console.screen import documents, printable, say, say_written
from harness.errors import HarnessError, ResultsError

SCHEMA_FILE = "schema.json"
FIRST_LINE = f"# yaml-language-server: $schema={SCHEMA_FILE}"
BEGINNING = (
    f"{FIRST_LINE}\n# The line above lets editors complete and check this file; all keys are "
    "described by\n# `harness schema --format markdown`.\n"
)


@command(
    "new my.yaml --dataset ratings.csv",
    "new my.yaml --dataset ml-100k --algorithms SVD,KNNBasic -y",
    group="Start here",
)
@click.argument("path", type=file, metavar="FILE", required=False)
@click.option(
    "--plugin",
    type=folder,
    metavar="DIR",
    help="Write to this folder a package with a plug-in of each kind, in place of a config.",
)
@answers.options
@answers.columns("--columns", "--data-columns")
@overrides
@click.option("--description", default=None, help="A sentence for the report.")
@click.option("--yes", "-y", is_flag=True, help="Use defaults without asking.")
@force
def new(
    path: Path | None,
    plugin: Path | None,
    data_columns: str | None,
    overrides: tuple[str, ...],
    yes: bool,
    **stated: str | int | None,
) -> int:
    """Write a commented config to start from.

    The command reads the file of ratings and writes its columns and scale into the config. On a
    terminal, it asks for each option that is missing, and checks the answers.

    With --plugin, a package that adds an algorithm, a metric, a split and others, with its tests.
    """
    if plugin is not None:
        if path is not None or in_the_call("data_columns", "overrides", "yes", *stated):
            raise click.UsageError(
                "--plugin: writes only a package; leave out FILE and the other options"
            )
        return _write_plugin(plugin)
    if path is None:
        raise click.UsageError("name the FILE to write, such as my.yaml; or --plugin DIR")

    if not path.name:  # an empty text is the current folder
        raise click.UsageError("FILE: the name is empty; give one, such as my.yaml")
    refuse_ratings(path)  # first: --force would replace the data
    unused(path)
    asks = not yes and not documents and sys.stdin.isatty()
    keys = answers.keys_set(overrides)
    data = DatasetAnswer(path.parent, data_columns, asks, keys=keys)
    named: dict[str, object] = {}
    questions: tuple[tuple[str, str, object, Callable[..., object]], ...] = (
        ("description", "Description for the report (Enter for none)", "", str),
        ("dataset", "Data set, or a file of ratings", answers.DATASET, data.section),
        ("split", "Split", "holdout", answers.split),
        ("candidates", "Candidates", "rated", answers.candidates),
        (
            "algorithms",
            "Algorithms, with commas, or all",
            answers.ALGORITHMS,
            answers.answered_names,
        ),
        ("metrics", "Metrics", answers.METRICS, answers.labels),
        ("seed", "Seed", 0, answers.seed),
    )
    for key, question, default, convert in questions:
        if stated[key] is None and asks:
            named[key] = _ask(key, question, default, convert)
        else:
            named[key] = convert(default if stated[key] is None else stated[key])
    named["split"] = {**answers.SPLITS[str(named["split"])]}  # `--set` may change it
    document = Document("config", named)
    for override in overrides:
        if not (override.startswith("dataset.") and isinstance(named["dataset"], dict)):
            set_key(document, override)
    for written in _write(path, named, data.note):
        say_written(written)
    if data.faults:
        say(f"\nDecide what to do with these rows before a run:\n{data.faults}")
    say(f"next: harness {'check' if data.faults else 'run'} {shlex.quote(str(path))}")
    return 0


def _write_plugin(folder: Path) -> int:
    for path in write_template(folder):
        say_written(path)
    name = shlex.quote(str(folder))
    commands = (
        f"pip install -e {name}, harness list plugins --check, harness run {name}/config.yaml"
    )
    say(f"next: {commands}")
    return 0


def _ask(key: str, question: str, default: object, convert: Callable[..., object]) -> object:
    """Ask until an answer is valid; options and defaults are checked later, all at once."""
    kind = convert if isinstance(convert, click.ParamType) else None

    def checked(text: str) -> object:
        try:
            value = convert(text)
            if kind is None:
                load({"dataset": "bundled", "algorithms": ["SVD"], "metrics": ["mae"], key: value})
        except HarnessError as error:
            raise click.BadParameter(printable(str(error).removeprefix("config: "))) from None
        return value

    answer: object = click.prompt(
        question, default, type=kind, value_proc=checked, show_default=default != ""
    )
    return answer


def _write(path: Path, named: dict[str, object], note: str) -> list[Path]:
    """Write a config with its comments, and the schema that it names beside it; return the files.

    Its folder is made when it is missing. Nothing is written where an answer is not valid. Another
    program's schema is kept; an older one of this package is replaced.
    """
    data = {key: value for key, value in named.items() if value != ""}
    load({"name": "new", **data})
    files = {path: config_text(data, BEGINNING, note)}
    schema = make_schema()
    beside = path.with_name(SCHEMA_FILE)
    if _is_ours(beside, schema["title"]):
        files[beside] = to_text(schema) + "\n"
    return [write_output(file, text) for file, text in files.items()]


def _is_ours(path: Path, title: str) -> bool:
    """Return whether a schema may be written: nothing there, or an older one of this package."""
    if not path.exists():
        return True
    try:
        return bool(json.loads(read_regular(path))["title"] == title)
    except (OSError, ValueError, KeyError, TypeError):
        return False


ENDINGS = (".md", ".py", ".slips", ".toml", ".yaml")
"""Endings of the files that make up the template; caches of tools are not part of it."""


def template() -> Path:
    """Return the folder of the template: in the installed package, or in a checkout."""
    top = Path(__file__).parents[1]
    installed = top / "plugin_template"
    return installed if installed.is_dir() else top.parent / "examples" / "plugin"


def write_template(folder: Path) -> list[Path]:
    """Copy the template to a folder, and return its files.

    Raises
    ------
    ResultsError
        If the folder has something in it, or cannot be written.
    """
    refuse_below_file(folder)
    with report_os_error(folder, "cannot be read", "choose another folder"):
        if folder.exists() and any(folder.iterdir()):
            raise ResultsError(f"{folder}: has something in it; name a new folder")
    source = template()
    files = []
    for path in sorted(source.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            target = folder / path.relative_to(source)
            files.append(write_output(target, path.read_bytes()))
    return files
