"""Commands that compute; each is a thin layer over the Python interface, imported when called."""

from __future__ import annotations

import itertools
import math
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import harness
from harness.cli import options
from harness.cli.screen import plain, print_run, say, screen_width, show_run, show_table
from harness.errors import ConfigError, Fault, ResultsError, counted, joined, listed
from harness.lazy import pd

if TYPE_CHECKING:
    from harness.metrics import Metric
    from harness.results.record import FailedCell, RowResult, RunInfo

LONG = 24
"""Longer values of `harness reproduce` are shown as text."""
ROUNDING = 1e-12
"""Relative difference of means that are summed in another order of users."""


class Found(NamedTuple):
    """What `harness evaluate` shows and writes."""

    rows: list[list[object]]
    users: list[pd.DataFrame]
    notes: list[str]


@click.command()
@options.configs
@options.overrides
@options.results
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=None,
    help="Processes at the same time; the numbers are the same for any number.",
)
@click.option(
    "--fresh", is_flag=True, help="Compute every cell and trial again, even finished ones."
)
@click.option(
    "--trust-cache",
    is_flag=True,
    help="Take finished cells of a class of your own although not all of its code is in their key.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Repeat the run of a folder although it names code, which is then imported and run.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print only the tables.")
def run(configs: tuple[str, ...], overrides: tuple[str, ...], quiet: bool, **settings: Any) -> int:
    """Run experiments and print their tables.

    Finished cells are kept: a second run computes only what is missing.
    """
    from harness import kernels
    from harness.cli.progress import display
    from harness.config.load import load

    # Every config is checked before the first is run.
    names: dict[str, str] = {}
    for config in configs:
        loaded, document = load(config, overrides=overrides, trust=settings["trust"])
        if loaded.name in names:
            message = (
                f"{loaded.name!r} is also the name of {names[loaded.name]}, whose place "
                "it would take; change one, or run them with two commands and two --results"
            )
            raise ConfigError(config, [Fault(document.line(("name",)), "name", message)])
        names[loaded.name] = config
    if not quiet and not kernels.compiled_before():
        say("first run on this machine: compiling the loops takes about five seconds", err=True)
    failed = 0
    for config in configs:
        with display(quiet) as watch:
            done = harness.run(config, overrides=overrides, watch=watch, **settings)
        show_run(done)
        say(f"\nwritten to {plain(done.folder)}")
        if done.earlier is not None:
            say(
                f"note: {plain(done.folder)} held another run ({joined(done.changed)}); it is kept "
                f"as {plain(done.earlier)}",
                err=True,
            )
        for sentence in missing(done.info):
            say(plain(sentence))
        failed += len(done.failed)
    return 1 if failed else 0


def missing(info: RunInfo) -> Iterator[str]:
    """Yield a sentence for each reason for which cells are missing, and what is missing."""
    reasons: dict[str, list[FailedCell]] = {}
    for cell in info.failed:
        reasons.setdefault(cell.error, []).append(cell)
    for reason, cells in reasons.items():
        tables = dict.fromkeys(cell.names for cell in cells)
        rows = dict.fromkeys(cell.algorithm for cell in cells)
        where = "; ".join(", ".join(names) for names in tables) if len(info.tables) > 1 else ""
        of = f" of {where}" if where else ""
        yield f"missing: {counted(len(cells), 'cell')}{of} ({listed([*rows], 4)}): {reason}"


@click.command()
@options.configs
@options.overrides
@click.option(
    "--no-code",
    is_flag=True,
    help="List the files and modules that a config names, and import none of them.",
)
def check(configs: tuple[str, ...], overrides: tuple[str, ...], no_code: bool) -> int:
    """Show what a run would do and what would stop it.

    Reads and splits the data, counts cells and trials, estimates memory, and looks for missing
    packages. The exit code is 2 if there is a fault.
    """
    if no_code:
        return _list_code(configs)
    from harness.experiment.dry_run import dry_run

    n_faults = 0
    for number, config in enumerate(configs):
        if number:
            say()
        plan = dry_run(config, overrides=overrides)
        say(f"{plain(plan.name)}\n")
        for what, fact in plan.facts:
            say(f"{what:<12}{plain(fact)}")
        say()
        columns = ["algorithm", "cells", "trials", "memory of one", "parameters"]
        kept = [j for j in range(5) if j != 2 or any(row[2] != "0" for row in plan.rows)]
        rows = [[row[j] for j in kept] for row in plan.rows]
        show_table([columns[j] for j in kept], rows, ("algorithm", "parameters"))
        for lines, err in (
            ([f"note: {plain(note)}" for note in plan.notes], False),
            (plan.faults, True),
        ):
            if lines:
                say()
            for line in lines:
                say(line, err=err)
        n_faults += len(plan.faults)
    return 2 if n_faults else 0


def _list_code(configs: Sequence[str]) -> int:
    from harness.config.load import code_named, read

    for config in configs:
        names = sorted(code_named(read(Path(config)).data))
        for name in names:
            say(f"{plain(config)}: {plain(name)}")
        if not names:
            say(f"{plain(config)}: names no code of its own")
    return 0


@click.command()
@click.argument("source", metavar="DATASET|FILE|CONFIG")
@options.as_json
def describe(source: str, as_json: bool) -> int:
    """Show what data are like, and what the splits of a config can answer.

    Counts, density, scale and histogram, ratings a user and an item, time span; of each split, test
    sizes and unknown users and items. Warnings say where data or split cannot answer the question.
    """
    from harness.config.load import bundled
    from harness.results.description import WIDTH

    found = harness.describe(bundled().get(source, source))
    if as_json:
        say("[" + ",\n".join(each.to_json() for each in found) + "]", whole=True)
        return 0
    for number, each in enumerate(found):
        say("\n" * (number > 0) + each.text(min(screen_width() or WIDTH, WIDTH)))
    return 0


@click.command()
@click.argument("config", metavar="CONFIG")
@options.overrides
@click.option(
    "-o",
    "--output",
    type=options.folder,
    help="Folder for the files, one for each data set, split and seed; by default splits.",
)
@click.option(
    "--export",
    type=options.folder,
    help="Write the ratings of every fold as CSV to this new folder, for another program.",
)
@options.force
def split(config: str, overrides: tuple[str, ...], output: Path | None, export: Path | None) -> int:
    """Save the splits that a run would use.

    `split: {kind: file, path: FILE}` reads one back and refuses other data. With --export, a
    folder for each fold holds its training and test ratings, and split.json names them;
    `harness evaluate FILE --against RUN` takes back what another program made of them.
    """
    from harness import splits
    from harness.experiment import exchange
    from harness.experiment.plan import Plan
    from harness.files import report_os_error

    plan = Plan.from_config(config, overrides=overrides)
    folder = output or Path("splits")
    datasets, kinds = (
        range(len(part)) for part in (plan.experiment.dataset, plan.experiment.split)
    )
    files: dict[Path, tuple[list[splits.Split], str]] = {}
    for dataset, kind, seed in itertools.product(datasets, kinds, plan.experiment.split_seeds):
        folds, title = plan.splits(dataset, kind, seed), plan.names["split"][kind]
        words = f"{plan.names['dataset'][dataset]} {title} seed {seed}"
        # A file name on every system: "ml-100k holdout 25% seed 0" is ml-100k-holdout-25-seed-0.
        name = re.sub(r"[^.\w]+", "-", words).strip("-.")
        path, numbers = folder / f"{name}.parquet", itertools.count(2)
        while path in files:  # names that differ in other characters only
            path = folder / f"{name}-{next(numbers)}.parquet"
        files[path if output is None else options.unused(path)] = folds, f"{title}, seed {seed}"
    if export is not None:
        for line in exchange.export(plan, export):
            say(line)
        if output is None:
            return 0
    with report_os_error(folder, "cannot be made", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
    for path, (folds, title) in files.items():
        splits.save(folds, path)
        say(path)
        for fold in folds:
            say(
                f"  {title}, fold {fold.fold + 1} of {len(folds)}: "
                f"{len(fold.train):,} training and {counted(len(fold.test), 'test rating')}, "
                f"fingerprint {fold.fingerprint[:12]}"
            )
    return 0


@click.command()
@click.argument("files", nargs=-1, required=True, type=Path, metavar="FILE|RUN...")
@click.option(
    "--metrics",
    "labels",
    metavar="LABELS",
    help="Metrics to compute, for example 'ndcg@5,10,rmse'; of a run, by default its own.",
)
@options.truth
@click.option("--training", type=options.file, help="Training pairs, for metrics beyond accuracy.")
@click.option("--per-user", type=options.output, help="Write each user's scores to this CSV file.")
@options.force
@click.option(
    "--against",
    metavar="RUN",
    help="Score as this run did, and show the row in its table: a FILE for each fold that "
    "`harness split --export` wrote, with the estimates or the lists of another program.",
)
@click.option("--name", help="With --against: name of the row; by default that of the file.")
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
    per_user: Path | None,
    against: str | None,
    name: str | None,
    output: Path | None,
    form: str,
    results: Path,
) -> int:
    """Score predictions or recommendations of any program.

    FILE is a table (CSV, TSV or Parquet) of user, item, estimate and rating; or, with --truth, of
    user, item and rank or estimate, or a TREC run, and the truth a table of user, item and rating
    or TREC qrels. Several files give a row each.

    A RUN whose config has `outputs: {estimates: true}` is scored again from its files, and so is
    its estimates.parquet.
    """
    from harness.files import write_output
    from harness.results.display import frame_to_csv
    from harness.results.outputs import NO_TRAINING, evaluates
    from harness.results.record import distinct_names
    from harness.results.runs import ESTIMATES_FILE, is_run

    decided = {"--metrics": labels, "--truth": truth, "--training": training}
    wrong = ", ".join(option for option, value in decided.items() if value is not None)
    if against is not None:
        from harness.experiment import exchange
        from harness.results.compare import join

        if wrong:
            raise click.UsageError(f"{wrong}: the run {against} decides it; remove it")
        opened = options.opened((against,), results)
        row = exchange.against(opened[0], files, name or files[0].stem)
        joined = join([*opened, row])
        # Before anything is printed: a reader of the table, as `head`, may close the output.
        folder = exchange.write(joined, output) if output is not None else None
        print_run(joined, form)
        if folder is not None:
            say(f"\nwritten to {folder}")
        if per_user is not None:
            write_output(per_user, frame_to_csv(row.users))
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
    if name is not None or output is not None or form != "text":
        raise click.UsageError("--name, --output, --format: need --against RUN; add it")
    if labels is None and len(runs) < len(files):
        raise click.UsageError("give --metrics LABELS; or --against RUN")
    if runs and (truth or training):
        raise click.UsageError("--truth, --training: a run has its own; leave them out")
    labels_of_runs = [label for run in runs.values() for label in run.info.metrics]
    wanted = harness.metrics.parse_many(labels or labels_of_runs)
    names = distinct_names([path.name for path in files], [{"path": str(path)} for path in files])
    shown = dict(zip(files, names, strict=True))
    found = Found([], [], [])
    for each in wanted if labels is None else ():
        if each.needs_items:
            found.notes.append(f"{each} is left out: {NO_TRAINING}")
            wanted = tuple(metric for metric in wanted if metric != each)
    for path in files:
        run = runs.get(path)
        if run is not None:
            _rescore(found, run.path(ESTIMATES_FILE), wanted, run.info.rows)
        elif evaluates(path):
            _rescore(found, path, wanted)
        else:
            _score(found, path, shown[path], wanted, truth, training)
    of_files = {*names}.issuperset(row[0] for row in found.rows)
    first = "file" if of_files else "row"
    show_table([first, *map(str, wanted), "users", "seconds"], found.rows, [first])
    for note in found.notes:
        say(f"note: {note}")
    if per_user is not None:
        write_output(per_user, frame_to_csv(pd.concat(found.users)))
    return 0


def _score(
    found: Found,
    path: Path,
    name: str,
    wanted: Sequence[Metric],
    truth: Path | None,
    training: Path | None,
) -> None:
    """Score a file of another program: one row."""
    from harness import rankings
    from harness.evaluation import cannot_distinguish
    from harness.notes import Note

    begun = time.perf_counter()
    evidence = rankings.read(path, truth, training)
    scores = harness.metrics.score(wanted, *evidence)
    seconds = time.perf_counter() - begun
    values = [_shown(each.mean, ".6f") for each in scores.values()]
    found.rows.append([name, *values, evidence.rankings.n_users, f"{seconds:.2f}"])
    unknown = not len(evidence.rankings.relevance)
    if unknown:
        found.notes.append(
            f"{name}: no listed item is among the ratings of its user; are the ids those "
            "of the same data set, and of one type?"
        )
    for metric, s in scores.items():
        if s.n_undefined and not metric.definition.pooled:  # else it is over all users
            users = counted(s.n_undefined, "user")
            found.notes.append(
                f"{name}: {metric} is undefined for {users}; its mean is over the others"
            )
        elif not unknown and (reason := cannot_distinguish(metric, evidence.rankings)):
            note = Note("indistinct", {"metric": str(metric), "reason": str(reason)})
            found.notes.append(f"{name}: {note}")
    own = {str(metric): s.per_user for metric, s in scores.items() if metric.per_user}
    users_of = {"file": name, "user": evidence.rankings.users}
    found.users.append(pd.DataFrame(users_of | own))


def _rescore(
    found: Found, path: Path, wanted: Sequence[Metric], known: Sequence[RowResult] = ()
) -> None:
    """Score the rows of a run again; values of the run that are known must be equal."""
    from harness.results.display import GROUP
    from harness.results.outputs import rescore
    from harness.results.scores import notes_on_undefined

    begun = time.perf_counter()
    rows = [*rescore(path, wanted)]
    seconds = f"{(time.perf_counter() - begun) / len(rows):.2f}"
    differing = [key for key in GROUP if len({row.names[key] for row in rows}) > 1]
    scores, n_equal = {row.row: row.scores for row in known}, 0
    for row in rows:
        name = " · ".join(row.names[key] for key in ("algorithm", *differing))
        there = scores.get(row.names["row"], {})
        values = {  # blank where it is in the run: estimates may be preferences
            label: None if there.get(label, here) is None else here
            for label, here in row.values.items()
        }
        cells = (_shown(value, ".6f") for value in values.values())
        found.rows.append([name, *cells, row.n_users, seconds])
        row.users.insert(0, "file", name)
        found.users.append(row.users)
        for label in values.keys() & there.keys():
            here, other = values[label], there[label]
            if here != other and not math.isclose(here or 0, other or 0, rel_tol=ROUNDING):
                raise ResultsError(
                    f"{path}: {name}: {label} is {here}, and {other} in the table of the run; "
                    "run its config again"
                )
            n_equal += 1
    found.notes.extend(map(str, notes_on_undefined((row.n_users, row.n_undefined) for row in rows)))
    if n_equal:
        compared = counted(n_equal, "value")
        found.notes.append(f"{compared} compared with the table of the run: equal")


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="RUN|FILE...")
@options.truth
@click.option("--train", "--training", "train", type=options.file, help="Training pairs of FILE.")
@click.option(
    "--metric", metavar="LABEL", help="With a cut-off rank; by default ndcg@10, or that of the run."
)
@options.as_json
@options.results
def audit(sources: tuple[str, ...], as_json: bool, **given: Any) -> int:
    """Search a run, or what any program wrote, for errors that published tables contain.

    FILE is what `harness evaluate` reads: predictions, or recommendations with --truth. Each
    finding has its size here and a published case; what cannot be checked is listed. The exit code
    is 0 whether or not something is found.
    """
    files = [source for source in sources if Path(source).is_file()]
    audits = [harness.audit(source, beside=files, **given) for source in sources]
    if as_json:
        say("[" + ",\n".join(audit.to_json() for audit in audits) + "]", whole=True)
        return 0
    say("\n\n".join(map(str, audits)))
    return 0


@click.command()
@click.argument("run", metavar="RUN")
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

    All rows score the same lists and ratings; only the definition differs.
    """
    from harness.analyses.conventions import under_conventions
    from harness.results.display import GROUP

    (opened,) = options.opened((run,), results)
    scored = under_conventions(opened, options.store(), role=role, k=k, threshold=threshold)
    for names, rows in scored.groupby(list(GROUP), sort=False):
        say(f"\n{run} · {role}@{k} · {', '.join(map(str, names))}\n")
        shown = rows.drop(columns=list(GROUP)).dropna(axis=1, how="all")
        cells = [[_shown(value, ".4f") for value in row] for row in shown.to_numpy(object)]
        show_table(list(shown.columns), cells, ["convention", "label", "note"])
    return 0


class _Sources(click.Command):
    """A command whose help names the published sources."""

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the keys of the sources below the options."""
        from harness.reproduce import sources

        formatter.write_paragraph()
        with formatter.section("Sources"):
            formatter.write_dl(list(sources().items()))


@click.command(cls=_Sources)
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option("--quiet", "-q", is_flag=True, help="Print only the table.")
@click.option(
    "--no-runs", is_flag=True, help="Compute only numbers that need no data and no training."
)
@options.as_json
def reproduce(sources: tuple[str, ...], quiet: bool, no_runs: bool, as_json: bool) -> int:
    """Compute published numbers again and compare them.

    All sources without SOURCE. The exit code is 1 if a number differs.
    """
    from harness import reproduce as published
    from harness.cli.progress import display

    with display(quiet) as watch:
        runs = {} if no_runs else published.trained_runs(watch)
        done = published.Reproduction.of(*sources, runs=runs)
    if as_json:
        say(done.to_json(), whole=True)
        return 1 if done.counts["differs"] else 0
    columns = ["quantity", "published", "here", "difference", "verdict"]
    for key, own in done.findings.items():
        rows = [
            [
                finding.quantity,
                _shown(finding.published, ".10g"),
                _shown(finding.here, ".10g"),
                _shown(finding.difference, ".1e"),
                finding.verdict,
            ]
            for finding in own
        ]
        long = any(len(value) > LONG for row in rows for value in row[1:3])
        took = "" if no_runs else f", {done.seconds[key]:.1f} s"
        say(f"\n{published.sources()[key]} [{key}]{took}\n")
        show_table(columns, rows, columns if long else ["quantity", "verdict"])
        notes: dict[str, list[str]] = {}
        for finding in own:
            if finding.note and finding.verdict not in ("equal", "equal as printed"):
                notes.setdefault(finding.note, []).append(finding.quantity)
        for note, quantities in notes.items():
            few = ", ".join(quantities) if len(quantities) < 4 else f"{len(quantities)} values"
            say(f"note: {few}: {note}")
    if any(isinstance(each.here, published.Band) for own in done.findings.values() for each in own):
        say(
            "\nBand: the source set no seed. Its value is compared with the 99% prediction "
            "interval of one more seed."
        )
    agree, printed = done.digits
    say(
        f"\n{', '.join(f'{count} {verdict}' for verdict, count in done.counts.items())}; "
        f"{agree:,} of {printed:,} printed digits agree"
    )
    return 1 if done.counts["differs"] else 0


def _shown(value: object, form: str) -> str:
    """Return a cell of a table: a number by its format, nothing for none."""
    if value is None or value != value:  # NaN
        return ""
    return format(value, form) if isinstance(value, float) else str(value)
