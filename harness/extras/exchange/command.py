"""``harness evaluate``: predictions and recommendations of any program, scored."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
import numpy as np

import harness
from harness._util.files import write_output
from harness._util.libraries import pd
from harness.comparison.runs import join
from harness.console import options
from harness.console import options as words
from harness.console.answers import named_columns
from harness.console.command import command
from harness.console.screen import documents, give_result, number, say, say_written, show_table
from harness.console.tables import print_run
from harness.datasets.exchanged import KINDS, Written
from harness.errors import ResultsError, counted, joined
from harness.extras.exchange import folds as exchange
from harness.notes.note import Note
from harness.rankings.evaluation import cannot_distinguish, note_on_filled, notes_on_labels
from harness.results.cells import distinct_names
from harness.results.folder import ESTIMATES_FILE
from harness.results.outputs import NO_TRAINING, evaluates, rescore
from harness.results.reading import is_run
from harness.results.scores import notes_on_undefined, notes_without_value
from harness.results.table import GROUP, frame_to_csv

if TYPE_CHECKING:
    from harness.metrics import Metric
    from harness.rankings import Evidence
    from harness.results.statistics import RowResult


LONGER_LISTS = "lists of more items with --truth"
"""What distinguishes algorithms where every order of the rated items scores the same."""
ROUNDING = 1e-12
"""Relative difference of means that are summed in another order of users."""


class _Scored(NamedTuple):
    """The output on the screen and in files."""

    rows: list[list[object]]
    users: list[pd.DataFrame]
    notes: list[str]
    values: list[dict[str, Any]]
    """For each row its name, its values by metric, users and seconds; not rounded."""
    indistinct: dict[str, list[str]]
    """By metric, notes on files whose every order scores the same."""


def _by_role(
    context: click.Context, option: click.Parameter, text: str | None
) -> dict[str, str | int]:
    """Return the columns that an option names."""
    if text is None:
        return {}

    return named_columns(text, [role for role in KINDS if role != "timestamp"], option.opts[0])


@command(
    "evaluate lists.csv --truth test.csv --metrics ndcg@10",
    "evaluate quickstart",
    group="Check others' numbers",
)
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=Path,
    metavar="FILE|RUN...",
    shell_complete=words.run_names,
)
@click.option(
    "--metrics",
    "labels",
    metavar="LABELS",
    shell_complete=words.of_kind("metrics"),
    help="Metrics to compute, for example 'ndcg@5,10,rmse'; of a run, by default its own.",
)
@options.truth
@click.option("--training", type=options.file, help="Training pairs, for metrics beyond accuracy.")
@click.option(
    "--columns",
    metavar="ROLE=COLUMN,...",
    callback=_by_role,
    help="Columns of FILE, by name or by position from 1, for example user=1,item=2,estimate=4; "
    "the roles are user, item, estimate, rank and rating.",
)
@click.option(
    "--truth-columns",
    metavar="ROLE=COLUMN,...",
    callback=_by_role,
    help="Columns of the file of --truth, likewise.",
)
@click.option(
    "--decimal",
    type=options.Choice((".", ",")),
    default=".",
    show_default=True,
    help="The decimal mark of numbers in text.",
)
@click.option(
    "--missing",
    type=options.Choice(("error", "drop")),
    default="error",
    show_default=True,
    help="What to do with rows of FILE without a value, as an estimate that is NaN.",
)
@click.option("--per-user", type=options.output, help="Write each user's scores to this CSV file.")
@options.force
@click.option(
    "--against",
    metavar="RUN",
    help="Score as this run did, and show the row in its table: a FILE for each fold that "
    "`harness split --export` wrote, with the estimates or the lists of another program.",
)
@click.option(
    "--costs",
    type=options.file,
    help="With --against: a JSON file with fit_seconds, score_seconds and peak_mb, or a list of "
    "them for each fold.",
)
@click.option("--name", help="With --against: name of the row; by default the name of the file.")
@click.option(
    "-o",
    "--output",
    type=options.folder,
    metavar="DIR",
    help="With --against: write the run with the row to this folder, for `harness report`, "
    "`table`, `compare` and others.",
)
@options.formats(*options.TABLES, help="With --against: how the table is printed.")
@options.results
def evaluate(
    files: tuple[Path, ...],
    labels: str | None,
    truth: Path | None,
    training: Path | None,
    columns: dict[str, str | int],
    truth_columns: dict[str, str | int],
    decimal: Literal[".", ","],
    missing: Literal["error", "drop"],
    per_user: Path | None,
    against: str | None,
    costs: Path | None,
    name: str | None,
    output: Path | None,
    form: str,
    results: Path,
) -> int:
    """Score predictions or recommendations of any program.

    FILE is a table of any format of ratings, of user, item, estimate and rating; or, with --truth,
    of user, item and rank or estimate, and the truth a table of user, item and rating. Without a
    header, columns come in that order. TREC's runs and qrels and the JSON of ranx are recognised
    under any name. Several files give a row each.

    A RUN whose config has `outputs: {estimates: true}` is scored again from its files, and so is
    its estimates.parquet.
    """
    written = Written(columns, decimal)
    decided: dict[str, object] = {"--metrics": labels, "--truth": truth, "--training": training}
    decided["--truth-columns"] = truth_columns or None
    decided["--missing drop"] = True if missing == "drop" else None
    superfluous = ", ".join(option for option, value in decided.items() if value is not None)
    if against is not None:
        if superfluous:
            raise click.UsageError(f"{superfluous}: the run {against} decides it; remove it")
        users = _score_against(files, against, name, output, form, results, written, costs)
        if per_user is not None:
            write_output(per_user, frame_to_csv(users))
        return 0
    runs = {
        path: options.opened((str(path),), results)[0] for path in files if is_run(path, results)
    }
    # Path.resolve raises an error for a link that leads to itself.
    folders = {path: run.folder for path, run in runs.items()}
    places = [os.path.realpath(folders.get(path) or path) for path in files]
    for path, place in zip(files, places, strict=True):
        if path is not (same := files[places.index(place)]):
            raise click.UsageError(f"{path}: is the same as {same}; remove one of them")
    if (name, output, costs) != (None, None, None) or form != "text":
        raise click.UsageError("--name, --output, --costs, --format: need --against RUN; add it")
    if labels is None and len(runs) < len(files):
        raise click.UsageError(
            "give --metrics LABELS, for example --metrics ndcg@10, or --against RUN; to run "
            "algorithms on ratings, use `harness run --dataset FILE`"
        )
    if runs and (truth or training):
        raise click.UsageError("--truth, --training: a run has its own; leave them out")
    labels_of_runs = [label for run in runs.values() for label in run.info.metrics]
    metrics = harness.metrics.parse_many(labels or labels_of_runs)
    scored = _Scored([], [], [], [], {})
    if labels is None:
        metrics = _of_estimates(scored, metrics)
    names = _names(files)
    for path in files:
        run = runs.get(path)
        if run is not None or evaluates(path):
            _rescore(scored, path, metrics, run)
        else:
            read = partial(
                harness.rankings.read, path, truth, training,
                columns=columns, truth_columns=truth_columns, decimal=decimal, missing=missing,
            )  # fmt: skip
            _score(scored, names[path], metrics, read, has_truth=truth is not None)
    scored.notes.extend(_indistinct(scored))
    of_files = {*names.values()}.issuperset(row[0] for row in scored.rows)
    first = "file" if of_files else "row"
    if documents:
        give_result({"rows": scored.values})
    show_table([first, *map(str, metrics), "users", "seconds"], scored.rows, [first])
    for note in scored.notes:
        say(f"note: {note}")
    if per_user is not None:
        write_output(per_user, frame_to_csv(pd.concat(scored.users)))
    return 0


def _score_against(
    files: tuple[Path, ...],
    against: str,
    name: str | None,
    output: Path | None,
    form: str,
    results: Path,
    written: Written,
    costs: Path | None,
) -> pd.DataFrame:
    """Show the row of another program in the table of a run; return the scores of its users."""
    opened = options.opened((against,), results)
    row = exchange.against(opened[0], files, name or files[0].stem, written, costs)
    joined = join([*opened, row])
    # Before anything is printed: a reader of the table, as `head`, may close the output.
    folder = exchange.write(joined, output) if output is not None else None
    print_run(joined, form)
    if folder is not None:
        say()
        say_written(folder)
    return row.users


def _names(files: Sequence[Path]) -> dict[Path, str]:
    """Return what the rows of files are called, each by its own name."""
    names = distinct_names([path.name for path in files], [{"path": str(path)} for path in files])
    return dict(zip(files, names, strict=True))


def _of_estimates(scored: _Scored, metrics: tuple[Metric, ...]) -> tuple[Metric, ...]:
    """Return the metrics of runs that their estimates are enough for; notes name the rest."""
    scored.notes.extend(
        f"{metric} is left out: {NO_TRAINING}" for metric in metrics if metric.needs_exposure
    )
    return tuple(metric for metric in metrics if not metric.needs_exposure)


def _score(
    scored: _Scored,
    name: str,
    metrics: Sequence[Metric],
    read: Callable[[], Evidence],
    *,
    has_truth: bool,
) -> None:
    """Score a file of another program: one row."""
    begun = time.perf_counter()
    evidence = read()
    scores = harness.metrics.score(metrics, *evidence)
    seconds = time.perf_counter() - begun
    values = [number(score.mean, ".6f") for score in scores.values()]
    scored.rows.append([name, *values, evidence.rankings.n_users, f"{seconds:.2f}"])
    means = {str(metric): score.mean for metric, score in scores.items()}
    scored.values.append(
        {
            "name": name,
            "values": means,
            "users": evidence.rankings.n_users,
            "seconds": seconds,
        }
    )
    scored.notes.extend(map(str, evidence.notes))
    scored.notes.extend(f"{name}: {note}" for note in notes_without_value([means]))
    scored.notes.extend(f"{name}: {note}" for note in _notes_on_evidence(metrics, evidence))
    if evidence.pairs is not None and any(m.definition.needs == "pairs" for m in metrics):
        n_judged, n_paired = len(evidence.rankings.pool), len(evidence.pairs.ratings)
        if n_paired < n_judged:
            errors = joined(str(m) for m in metrics if m.definition.needs == "pairs")
            scored.notes.append(
                f"{name}: {errors}: over {n_paired:,} of {counted(n_judged, 'rating')} of the "
                "truth, those with an estimate"
            )
    unknown = not len(evidence.rankings.relevance)
    if unknown:
        scored.notes.append(
            f"{name}: no listed item is among the ratings of its user; are the ids from "
            "the same data set, and of one type?"
        )
    for metric, s in scores.items():
        if s.worth is not None:
            scored.notes.append(f"{name}: {metric}: {s.worth}")
        if s.n_undefined and not metric.definition.pooled:  # else it is over all users
            users = counted(s.n_undefined, "user")
            scored.notes.append(
                f"{name}: {metric} is undefined for {users}; its mean is over the others"
            )
        # The items that a list of another program leaves out are not known.
        elif not (unknown or has_truth) and (
            reason := cannot_distinguish(metric, evidence.rankings, candidates=LONGER_LISTS)
        ):
            note = Note("indistinct", {"metric": str(metric), "reason": str(reason)})
            scored.indistinct.setdefault(str(metric), []).append(f"{name}: {note}")
    per_user = {str(metric): s.per_user for metric, s in scores.items() if metric.per_user}
    names = {"file": name, "user": evidence.rankings.users}
    scored.users.append(pd.DataFrame(names | per_user))


def _indistinct(scored: _Scored) -> Iterator[str]:
    """Yield the notes on metrics whose every order scores the same, where all files agree."""
    for label, notes in scored.indistinct.items():
        values = [row["values"][label] for row in scored.values]
        if np.ptp(values) <= ROUNDING * abs(values[0]):
            yield from notes


def _notes_on_evidence(metrics: Sequence[Metric], evidence: Evidence) -> Iterator[str | Note]:
    """Yield what is odd about the ratings, the users and the items of a file."""
    lists, exposure = evidence.rankings, evidence.exposure
    if filled := note_on_filled(metrics, lists.pool):
        yield filled
    if len(lists.pool):
        yield from notes_on_labels(metrics, float(lists.pool.min()), float(lists.pool.max()))
    others = np.flatnonzero((np.diff(lists.pool_offsets) == 0) & (lists.n_ranked > 0))
    if len(others) and len(lists.pool) and lists.users is not None:
        yield (
            f"{counted(len(others), 'user')} of the lists {'are' if len(others) > 1 else 'is'} not "
            f"in the truth, such as {str(lists.users[others[0]])!r}; metrics of relevance and "
            "user_coverage leave them out"
        )
    covering = [metric for metric in metrics if metric.name == "item_coverage"]
    if covering and exposure is not None and lists.top_items is not None:
        shown = np.unique(lists.top_items[:, : max(metric.k or 0 for metric in covering)])
        n_new = int((exposure.popularity[shown[shown >= 0]] == 0).sum())
        if n_new:
            yield (
                f"{joined(map(str, covering))}: {counted(n_new, 'item')} of the lists "
                f"{'have' if n_new > 1 else 'has'} no training rating and "
                f"{'are' if n_new > 1 else 'is'} left out"
            )


def _rescore(
    scored: _Scored, path: Path, metrics: Sequence[Metric], run: harness.Run | None
) -> None:
    """Score the rows of a run again; values that are in its table must be equal."""
    results: Sequence[RowResult] = ()
    if run is not None:
        path, results = run.path(ESTIMATES_FILE), run.info.rows
    begun = time.perf_counter()
    rows = [*rescore(path, metrics)]
    seconds = f"{(time.perf_counter() - begun) / len(rows):.2f}"
    differing = [key for key in GROUP if len({row.names[key] for row in rows}) > 1]
    scores, n_equal = {result.row: result.scores for result in results}, 0
    for row in rows:
        name = " · ".join(row.names[key] for key in ("algorithm", *differing))
        there = scores.get(row.names["row"], {})
        values = {  # blank where it is in the run: estimates may be preferences
            label: None if there.get(label, here) is None else here
            for label, here in row.values.items()
        }
        cells = (number(value, ".6f") for value in values.values())
        scored.rows.append([name, *cells, row.n_users, seconds])
        shown = {str(label): value for label, value in values.items()}
        scored.values.append(
            {"name": name, "values": shown, "users": row.n_users, "seconds": float(seconds)}
        )
        row.users.insert(0, "file", name)
        scored.users.append(row.users)
        for label in values.keys() & there.keys():
            here, other = values[label], there[label]
            if here != other and not math.isclose(here or 0, other or 0, rel_tol=ROUNDING):
                raise ResultsError(
                    f"{path}: {name}: {label} is {here}, and {other} in the table of the run; "
                    "run its config again"
                )
            n_equal += 1
    undefined = notes_on_undefined((row.n_users, row.n_undefined) for row in rows)
    scored.notes.extend(map(str, undefined))
    if n_equal:
        compared = counted(n_equal, "value")
        scored.notes.append(f"{compared} compared with the table of the run: equal")
