"""``harness describe``: what data are like, and what splits can answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import harness
from harness.config.yaml import bundled
from harness.console import answers
from harness.console import options as words
from harness.console.answers import DatasetAnswer, unnamed_columns
from harness.console.command import command
from harness.console.screen import documents, give_result, say, screen_width
from harness.errors import ColumnsError, HarnessError
from harness.results.description import WIDTH


@command(
    "describe ratings.csv --columns user=who,item=what,rating=stars",
    "describe quickstart",
    group="Start here",
)
@click.argument("source", metavar="DATASET|FILE|CONFIG", shell_complete=words.config_names)
@answers.columns("--columns")
def describe(source: str, data_columns: str | None) -> int:
    """Show what data are like, and what the splits of a config can answer.

    Counts, density, scale and histogram, ratings a user and an item, time span; of each split, test
    sizes and unknown users and items. Warnings say where data or split cannot answer the question.
    """
    described: Any = bundled().get(source, source)
    if data_columns is not None:
        described = _section(source, data_columns)
    try:
        descriptions = harness.describe(described)
    except ColumnsError as error:
        if not (error.roles and Path(source).is_file()):
            raise
        raise unnamed_columns(error, "--columns") from None
    if documents:
        give_result([json.loads(data.to_json()) for data in descriptions])
        return 0
    for number, data in enumerate(descriptions):
        say("\n" * (number > 0) + data.text(min(screen_width() or WIDTH, WIDTH)))
    return 0


def _section(source: str, columns: str) -> object:
    """Return a file whose columns an option names, as the ``dataset`` part of a config."""
    if not Path(source).is_file() or Path(source).suffix in (".yaml", ".yml"):
        raise HarnessError(f"--columns: {source} is no file of ratings; leave the option out")
    return DatasetAnswer(Path.cwd(), columns, asks=False, shows_rows=False).section(source)
