"""``harness save``: the model of a row as a file."""

from __future__ import annotations

from pathlib import Path

import click

import harness
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.fitted import fitted
from harness.console.screen import say_written
from harness.models.files import check_savable


@command(
    "save quickstart model.harness",
    "save quickstart svd.harness --algorithm SVD",
    group="Use a model",
)
@click.argument("source", metavar="CONFIG|RUN", shell_complete=words.configs_and_runs)
@click.argument("file", type=options.output, metavar="FILE")
@options.row
@options.overrides
@options.force
def save(
    source: str,
    file: Path,
    results: Path,
    overrides: tuple[str, ...],
    **choice: str | None,
) -> int:
    """Fit one row on all ratings and save the model to FILE.

    `harness.load_model` reads it in Python and returns a Surprise object. The file holds arrays,
    JSON and checksums, but no pickle. It contains the ratings.
    """
    model, _ = fitted(source, results, choice, check_model=check_savable, overrides=overrides)
    harness.save_model(model, file)
    size = file.stat().st_size / 1e6
    say_written(file, f' ({size:.1f} MB); read it with harness.load_model("{file}")')
    return 0
