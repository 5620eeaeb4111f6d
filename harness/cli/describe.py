"""``harness describe``: what data are like, and what splits can answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import harness
from harness._util.files import PATTERN
from harness.config.yaml import bundled
from harness.console import answers
from harness.console import options as words
from harness.console.answers import as_typed, keys_set, named_columns
from harness.console.command import command
from harness.console.screen import documents, give_result, plain, say, screen_width, show_table
from harness.datasets.inspection import ROLES, candidates_of
from harness.datasets.section import DatasetSection
from harness.errors import DataError, HarnessError
from harness.experiment.describe import is_config
from harness.results.description import WIDTH


@command(
    "describe ratings.csv --columns user=who,item=what,rating=stars",
    "describe quickstart",
    group="Start here",
)
@click.argument("source", metavar="DATASET|FILE|CONFIG", shell_complete=words.config_names)
@answers.columns("--columns")
@words.overrides
@click.option(
    "--candidates",
    is_flag=True,
    help="Show what each column of a file holds, and why harness reads it as the user, the item, "
    "the rating or the time, or ignores it.",
)
def describe(
    source: str, data_columns: str | None, overrides: tuple[str, ...], candidates: bool
) -> int:
    """Describe data, and what the splits of a config can answer.

    It shows counts, density, scale, histogram, ratings per user and per item, and the time span.
    For each split it shows the size of the test set and the unknown users and items. Warnings
    report questions that the data or the split cannot answer.
    """
    described: Any = bundled().get(source, source)
    if data_columns is not None or overrides:
        described = _section(source, data_columns, overrides)
    if candidates:
        keys = _section(source, data_columns, overrides)
        rows = [
            [plain(word) for word in (str(one.column), one.role or "-", one.holds, one.why)]
            for one in candidates_of(DatasetSection(**keys))
        ]
        show_table(["column", "role", "holds", "why"], rows, ["column", "role", "holds", "why"])
        say()
    try:
        descriptions = harness.describe(described)
    except DataError as error:
        if not Path(source).is_file() or is_config(source):
            raise
        raise as_typed(error, "--columns") from None
    if documents:
        give_result([json.loads(data.to_json()) for data in descriptions])
        return 0
    for number, data in enumerate(descriptions):
        say("\n" * (number > 0) + data.text(min(screen_width() or WIDTH, WIDTH)))
    return 0


def _section(source: str, columns: str | None, overrides: Sequence[str]) -> dict[str, Any]:
    """Return a file of ratings with the keys that options name, as a part of a config."""
    if is_config(source) or (not Path(source).exists() and not PATTERN.search(source)):
        option = "--columns" if columns else "--set" if overrides else "--candidates"
        raise HarnessError(f"{option}: {source} is not a file of ratings; leave the option out")
    keys = keys_set(overrides, of_config=False)
    if columns is not None:
        keys["columns"] = named_columns(columns, ROLES, "--columns") | keys.get("columns", {})
    return {"path": source, **keys}
