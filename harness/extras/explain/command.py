"""``harness similar`` and ``explain``: what a row takes for alike, and why it estimates so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import harness
from harness.algorithms import surprise
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.fitted import fitted
from harness.console.screen import documents, give_result, number, plain, say, show_table
from harness.errors import HarnessError, joined
from harness.extras.explain.explanations import FACTOR_METHODS, check_terms, in_words
from harness.extras.explain.similarities import check_similarities, place_of

if TYPE_CHECKING:
    from harness.algorithms.trainset import ColumnTrainset


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

    For neighbour methods these are their similarities, between items with `user_based: false`. For
    SVD, SVDpp, NMF and PureSVD they are the cosines of factors. The table is CSV.
    """
    if (item is None) == (user is None):
        raise HarnessError("similar: give one of --item and --user")

    side, asked = ("item", item) if user is None else ("user", user)
    model, _ = fitted(
        source,
        results,
        choice,
        lambda train, clip: place_of(train, side, asked),
        lambda model: check_similarities(model, side),
        overrides=overrides,
    )
    table = harness.similar(model, item=item, user=user, n=top)
    if documents:
        give_result(table)
        return 0
    say(table.to_csv(index=False, lineterminator="\n").rstrip())
    return 0


@command(
    "explain quickstart --algorithm SVDpp --user 1 --item 31",
    "explain my.yaml --user 42 --item 7 --factors",
    group="Use a model",
)
@click.argument("source", metavar="CONFIG|RUN", shell_complete=words.configs_and_runs)
@options.row
@options.overrides
@click.option("--user", required=True, help="The id of a user.")
@click.option("--item", required=True, help="The id of an item.")
@click.option("--factors", is_flag=True, help="Show each factor of SVD, SVDpp and NMF by itself.")
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Items or users named."
)
def explain(
    source: str,
    results: Path,
    overrides: tuple[str, ...],
    user: str,
    item: str,
    factors: bool,
    top: int,
    **choice: str | None,
) -> int:
    """Fit one row on all ratings and show why it estimates a rating as it does.

    The lines add up to the estimate: means and biases, what the factors add, and which rated items,
    or similar users, pull it up or down. Their share is the fraction of all that such lines add and
    take.
    """

    def are_known(train: ColumnTrainset, clip: bool) -> None:
        place_of(train, "user", user, "explain")
        place_of(train, "item", item, "explain")

    def has_terms(model: surprise.AlgoBase) -> None:
        check_terms(model)
        if factors and type(model).__name__ not in FACTOR_METHODS:
            raise HarnessError(
                f"--factors: {type(model).__name__} has no factors to show; leave it out, or use "
                f"one of {joined(FACTOR_METHODS, 'or')}"
            )

    model, _ = fitted(source, results, choice, are_known, has_terms, overrides=overrides)
    known = [
        next(raw for raw in raws if str(raw) == asked)
        for raws, asked in (
            (model.trainset.raw_users(model.trainset.user_codes), user),
            (model.trainset.raw_items(model.trainset.item_codes), item),
        )
    ]
    terms = harness.explain(model, *known, factors=factors)
    if documents:
        give_result(terms)
    estimate = float(terms["value"].sum())
    say(
        f"{terms.attrs['algorithm']} estimates {estimate:.3f} for user {plain(user)}, item "
        f"{plain(item)}:"
    )
    rows = [
        [text, f"{value:+.3f}", number(share * 100, ".0f") + "%" if share == share else ""]
        for text, value, share in in_words(terms, top)
    ]
    rows.append(["estimate", f"{estimate:.3f}", ""])
    show_table(["what", "adds", "share"], rows, ["what"], below=[len(rows) - 1])
    return 0
