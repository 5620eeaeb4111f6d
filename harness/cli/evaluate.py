"""``harness evaluate``: the same table for what another program predicted or recommended."""

from __future__ import annotations

import time
from pathlib import Path

import click

__all__ = ["evaluate_command"]

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=_file, metavar="FILE...")
@click.option(
    "--metrics",
    "labels",
    required=True,
    metavar="LABELS",
    help="What to compute, as 'ndcg@5,10,rmse'.",
)
@click.option("--truth", type=_file, help="The relevant items, where FILE holds recommendations.")
@click.option("--training", type=_file, help="Training pairs, for metrics beyond accuracy.")
@click.option("--per-user", type=_file, help="Write each user's scores to this CSV file.")
def evaluate_command(
    files: tuple[Path, ...],
    labels: str,
    truth: Path | None,
    training: Path | None,
    per_user: Path | None,
) -> int:
    """Score predictions or recommendations of any program.

    FILE is a table (CSV, TSV or Parquet) of user, item, estimate and rating; or, with --truth, of
    user, item and rank or estimate, or a TREC run, and the truth a table of user, item and rating
    or TREC qrels. Several files give a row each.
    """
    import pandas as pd

    from harness import metrics, rankings
    from harness.cli.screen import show_table

    wanted = metrics.parse_many(labels)
    columns = ["file", *(str(metric) for metric in wanted), "users", "seconds"]
    rows, frames, undefined = [], [], {}
    for path in files:
        begun = time.perf_counter()
        evidence = rankings.read(path, truth, training)
        scores = metrics.score(wanted, *evidence)
        seconds = time.perf_counter() - begun
        values = ["" if s.mean != s.mean else f"{s.mean:.6f}" for s in scores.values()]
        rows.append([path.name, *values, str(evidence.rankings.n_users), f"{seconds:.2f}"])
        undefined |= {
            (path.name, str(metric)): s.n_undefined for metric, s in scores.items() if s.n_undefined
        }
        frames.append(
            pd.DataFrame(
                {"file": path.name, "user": evidence.rankings.users}
                | {str(metric): s.per_user for metric, s in scores.items() if metric.per_user}
            )
        )
    show_table(columns, rows, ["file"])
    for (name, label), count in undefined.items():
        click.echo(f"note: {name}: {label} is undefined for {count:,} users, who are left out")
    if per_user is not None:
        pd.concat(frames).to_csv(per_user, index=False)
    return 0
