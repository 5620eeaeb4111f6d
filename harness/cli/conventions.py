"""``harness conventions``: one run by the definition of each library."""

from __future__ import annotations

from pathlib import Path

import click

from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import documents, give_result, number, say, show_table
from harness.experiment.analyses.conventions import under_conventions
from harness.results.table import GROUP


@command(
    "conventions quickstart",
    "conventions quickstart --metric ap -k 5 --threshold 4",
    group="Check others' numbers",
)
@click.argument("run", metavar="RUN", shell_complete=words.run_names)
@options.results
@click.option(
    "--metric", "role", default="ndcg", show_default=True, help="ndcg, ap, recall, rr, ..."
)
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="Cut-off rank.")
@click.option(
    "--threshold", type=float, help="Smallest rating of a relevant item, for metrics that need it."
)
def conventions(run: str, results: Path, role: str, k: int, threshold: float | None) -> int:
    """Score one run by the definition of each library.

    All rows score the same rankings and ratings; only the definition differs.
    """
    (opened,) = options.opened((run,), results)
    scored = under_conventions(opened, options.store(), role=role, k=k, threshold=threshold)
    if documents:
        give_result(scored)
    for names, rows in scored.groupby(list(GROUP), sort=False):
        say(f"\n{run} · {role}@{k} · {', '.join(map(str, names))}\n")
        shown = rows.drop(columns=list(GROUP)).dropna(axis=1, how="all")
        cells = [[number(value, ".4f") for value in row] for row in shown.to_numpy(object)]
        show_table(list(shown.columns), cells, ["convention", "label", "note"])
    return 0
