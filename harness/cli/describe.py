"""``harness describe``: what data are like, and what splits can answer."""

from __future__ import annotations

import json

import click

import harness
from harness.cli import words
from harness.cli.command import command
from harness.cli.screen import documents, give_result, say, screen_width


@command("describe ratings.csv", "describe quickstart")
@click.argument("source", metavar="DATASET|FILE|CONFIG", shell_complete=words.configs)
def describe(source: str) -> int:
    """Show what data are like, and what the splits of a config can answer.

    Counts, density, scale and histogram, ratings a user and an item, time span; of each split, test
    sizes and unknown users and items. Warnings say where data or split cannot answer the question.
    """
    from harness.config.files import bundled
    from harness.results.description import WIDTH

    descriptions = harness.describe(bundled().get(source, source))
    if documents:
        give_result([json.loads(data.to_json()) for data in descriptions])
        return 0
    for number, data in enumerate(descriptions):
        say("\n" * (number > 0) + data.text(min(screen_width() or WIDTH, WIDTH)))
    return 0
