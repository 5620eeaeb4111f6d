"""``harness similar``: the items or users that a row takes for most alike."""

from __future__ import annotations

from pathlib import Path

import click

import harness
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.fitted import fitted
from harness.console.screen import documents, give_result, say
from harness.errors import HarnessError
from harness.extras.explain.similarities import place_of


@command(
    "similar quickstart --algorithm SVDpp --item 1",
    "similar my.yaml --user 42 --top 5 > near.csv",
    group="Use a model",
)
@click.argument("source", metavar="CONFIG|RUN", shell_complete=words.configs_and_runs)
@options.row
@options.overrides
@click.option("--item", help="The id of an item.")
@click.option("--user", help="The id of a user, in place of an item.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many.")
def similar(
    source: str,
    results: Path,
    overrides: tuple[str, ...],
    item: str | None,
    user: str | None,
    top: int,
    **choice: str | None,
) -> int:
    """Fit one row on all ratings and show the items, or users, most similar to one.

    Of neighbour methods these are their similarities, of items with `user_based: false`; of SVD,
    SVDpp, NMF and PureSVD the cosines of factors. The table is CSV.
    """
    if (item is None) == (user is None):
        raise HarnessError("similar: give one of --item and --user")

    side, asked = ("item", item) if user is None else ("user", user)
    model, _ = fitted(
        source, results, choice, lambda train: place_of(train, side, asked), overrides=overrides
    )
    table = harness.similar(model, item=item, user=user, n=top)
    if documents:
        give_result(table)
        return 0
    say(table.to_csv(index=False, lineterminator="\n").rstrip())
    return 0
