"""``harness evaluate``, ``conventions`` and ``reproduce``: other programs, other definitions."""

from __future__ import annotations

import math
import time
from pathlib import Path

import click

from harness.cli import options

__all__ = ["conventions_command", "evaluate_command", "reproduce_command"]

LONG = 24
"""Longer values are shown as text."""

_file = click.Path(path_type=Path, dir_okay=False)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=_file, metavar="FILE...")
@click.option(
    "--metrics",
    "labels",
    required=True,
    metavar="LABELS",
    help="Metrics to compute, for example 'ndcg@5,10,rmse'.",
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
    import numpy as np
    import pandas as pd

    from harness import metrics, rankings
    from harness.cli.screen import say, show_table
    from harness.errors import ResultsError, counted
    from harness.files import write_output
    from harness.results.runs import frame_to_csv

    wanted = metrics.parse_many(labels)
    columns = ["file", *(str(metric) for metric in wanted), "users", "seconds"]
    rows: list[list[str]] = []
    frames: list[pd.DataFrame] = []
    notes: list[str] = []
    for path in files:
        begun = time.perf_counter()
        evidence = rankings.read(path, truth, training)
        scores = metrics.score(wanted, *evidence)
        seconds = time.perf_counter() - begun
        values = ["" if s.mean != s.mean else f"{s.mean:.6f}" for s in scores.values()]
        rows.append([path.name, *values, str(evidence.rankings.n_users), f"{seconds:.2f}"])
        for metric, s in scores.items():
            if s.n_undefined:
                users = counted(s.n_undefined, "user")
                notes.append(
                    f"{path.name}: {metric} is undefined for {users}; its mean is over the others"
                )
            elif metric.per_user and len(s.per_user) > 1 and np.ptp(s.per_user) == 0:
                notes.append(
                    f"{path.name}: {metric} is {s.mean:g} for every user, so it cannot tell lists "
                    "apart here; a `threshold=` says which ratings are relevant"
                )
        frames.append(
            pd.DataFrame(
                {"file": path.name, "user": evidence.rankings.users}
                | {str(metric): s.per_user for metric, s in scores.items() if metric.per_user}
            )
        )
    show_table(columns, rows, ["file"])
    for note in notes:
        say(f"note: {note}")
    if per_user is not None:
        try:
            write_output(per_user, frame_to_csv(pd.concat(frames)).encode("utf-8", "replace"))
        except OSError as error:
            raise ResultsError(
                f"{per_user}: cannot be written ({error.strerror}); use --per-user FILE"
            ) from None
    return 0


@click.command("conventions")
@click.argument("run", metavar="RUN")
@options.results
@click.option(
    "--metric", "role", default="ndcg", show_default=True, help="ndcg, ap, recall, rr, ..."
)
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="Cut-off rank.")
@click.option(
    "--threshold", type=float, help="Smallest rating of a relevant item, for metrics that need it."
)
def conventions_command(run: str, results: Path, role: str, k: int, threshold: float | None) -> int:
    """Score one run by the definition of each library.

    All rows score the same lists and ratings; only the definition differs.
    """
    from harness.cli.screen import say, show_table
    from harness.results.runs import open_run
    from harness.results.scores import under_conventions
    from harness.results.store import CellStore

    table = under_conventions(
        open_run(run, results), CellStore.default(), role=role, k=k, threshold=threshold
    )
    for place, rows in table.groupby(["dataset", "split", "candidates"], sort=False):
        where = ", ".join(str(part) for part in place) if isinstance(place, tuple) else str(place)
        say(f"\n{run} · {role}@{k} · {where}\n")
        shown = rows.drop(columns=["dataset", "split", "candidates"]).dropna(axis=1, how="all")
        cells = [[_rounded(value) for value in row] for row in shown.itertuples(index=False)]
        show_table(list(shown.columns), cells, ["convention", "label", "note"])
    return 0


@click.command("reproduce")
@click.argument("source", required=False)
@click.option("--quiet", "-q", is_flag=True, help="Print only the table.")
@click.option(
    "--no-runs", is_flag=True, help="Compute only numbers that need no data and no training."
)
def reproduce_command(source: str | None, quiet: bool, no_runs: bool) -> int:
    """Compute published numbers again and compare them.

    SOURCE is vincent-2018, rectools-docs, singh-2025, nicolas-2022, bellei-2017, microsoft or
    surprise; all of them without it. The exit code is 1 if a number differs that no note explains.
    """
    from harness.cli.progress import display
    from harness.cli.screen import say, show_table
    from harness.reproduce import Band, reproduce, sources, trained_runs

    with display(quiet) as watch:
        findings = reproduce(source, {} if no_runs else trained_runs(watch))
    for key, title in sources().items():
        own = [finding for finding in findings if finding.source == key]
        if not own:
            continue
        say(f"\n{title} [{key}]\n")
        rows = [
            [
                finding.quantity,
                _short(finding.published),
                _short(finding.here),
                "" if finding.difference is None else f"{finding.difference:.1e}",
                finding.verdict,
            ]
            for finding in own
        ]
        columns = ["quantity", "published", "here", "difference", "verdict"]
        long = any(len(value) > LONG for row in rows for value in row[1:3])
        show_table(columns, rows, columns if long else ["quantity", "verdict"])
        notes: dict[str, list[str]] = {}
        for finding in own:
            if finding.note and finding.verdict not in ("equal", "equal as printed"):
                notes.setdefault(finding.note, []).append(finding.quantity)
        for note, quantities in notes.items():
            few = ", ".join(quantities) if len(quantities) < 4 else f"{len(quantities)} values"
            say(f"note: {few}: {note}")
    if any(isinstance(finding.here, Band) for finding in findings):
        say(
            "\nBand: the source set no seed. Its value is compared with the 99% prediction "
            "interval of one more seed."
        )
    counts: dict[str, int] = {}
    for finding in findings:
        counts[finding.verdict] = counts.get(finding.verdict, 0) + 1
    say("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts.get("differs") else 0


def _rounded(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4f}"
    return str(value)


def _short(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)
