"""Commands that show what there is: results, algorithms, data, finished cells."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import harness
from harness.cli import options
from harness.cli.screen import plain, print_run, say, show_groups, show_run, show_table
from harness.errors import HarnessError, ResultsError, counted

if TYPE_CHECKING:
    from harness.report.drawing import Plot
    from harness.results import Run
    from harness.results.across import AcrossDataSets

PLOTS = ("tradeoff", "ndcg-over-k", "distribution", "differences", "groups", "spread")
NUMBERS = frozenset({"ratings", "users", "items", "algorithms", "failed cells"})
"""Columns of lists that are aligned to the right."""
ENDINGS = {
    ".md": "markdown",
    ".csv": "csv",
    ".tex": "latex",
    ".json": "json",
    ".png": "png",
    ".svg": "svg",
}
"""What a file with such a name holds."""


@click.command()
@options.runs
@options.results
@options.baseline
@options.anyway
@click.option(
    "-o",
    "--output",
    type=options.output,
    help="The file; by default report.html in the run's folder, comparison.html for several runs.",
)
@options.force
def report(
    runs: tuple[str, ...], results: Path, baseline: str | None, anyway: bool, output: Path | None
) -> int:
    """Write a page about a run, or about several runs.

    RUN is a folder, or the name of a run in the results folder. The page is one file that loads
    nothing from elsewhere; index.html beside the runs lists them all.
    """
    from harness.report import write_index, write_page

    opened = options.opened(runs, results)
    path = results / "comparison.html"
    if len(opened) == 1:
        path = (opened[0].folder or results / opened[0].name) / "report.html"
    path = _page_path(output, path)
    say(f"written to {write_page(opened, path, baseline=baseline, anyway=anyway)}")
    if output is None:
        for folder in sorted({run.folder.parent for run in opened if run.folder is not None}):
            say(f"written to {write_index(folder)}")
    return 0


def _page_path(output: Path | None, default: Path) -> Path:
    """Return where a page goes; the ending of another format is refused."""
    from harness.files import refuse_link

    if output is None:
        return refuse_link(default)
    if output.suffix.lower() not in ("", ".html", ".htm"):
        page = f"{output.stem if output.suffix[1:].isalpha() else output.name}.html"
        raise ResultsError(f"{output}: the page is HTML; call it {page}")
    return output


@click.command()
@options.runs
@options.results
@options.baseline
@options.anyway
@click.option(
    "--kind",
    "kinds",
    type=options.Choice((*PLOTS, "all")),
    multiple=True,
    default=("all",),
    show_default=True,
    help="Kind of plot; can be repeated.",
)
@click.option("--metric", metavar="LABEL", help="Plotted; by default the headline metric.")
@click.option("--table", "place", type=int, help="Which table of the run, from 1; by default all.")
@options.formats("svg", "png")
@click.option(
    "-o",
    "--output",
    type=options.folder,
    help="Folder for the files; by default plots in the run's folder.",
)
@options.force
def plot(
    runs: tuple[str, ...],
    results: Path,
    baseline: str | None,
    anyway: bool,
    kinds: tuple[str, ...],
    metric: str | None,
    place: int | None,
    form: str,
    output: Path | None,
) -> int:
    """Draw plots of a run, or of several runs together.

    Each plot is one file; for a run with several tables, its name contains the table.
    """
    from harness.report import join, plots
    from harness.report.summary import summarise

    summary = summarise(join(options.opened(runs, results), anyway=anyway), baseline=baseline)
    if output and output.suffix.lower() in (".svg", ".png", ".pdf") and not output.is_dir():
        advice = "name a folder, and use --format svg or png"
        raise ResultsError(f"{output}: plots are files in a folder; {advice}")
    folder = output or (summary.run.folder or results) / "plots"
    label = summary.metric(metric)
    numbers = range(1, len(summary.tables) + 1) if place is None else [place]
    every = [kind for kind in PLOTS if kind != "groups" or summary.info.groups]
    chosen = every if "all" in kinds else dict.fromkeys(kinds)
    made: list[Plot] = []
    missing = []
    for number, kind in itertools.product(numbers, chosen):
        title = summary.table(number).title
        try:
            made += plots.KINDS[kind].each(summary, label, number)
        except ResultsError as error:
            if kind in kinds:
                raise  # it was asked for
            missing.append(f"no {kind} of {title}: {error}")
    if not made:
        raise ResultsError("\n".join(missing))
    for each in made if output else ():
        options.unused(each.path(form, folder))
    for each in made:
        say(f"written to {each.write(form, folder)}")
    for reason in missing:
        say(reason, err=True)
    return 0


@click.command()
@options.runs
@options.results
@options.anyway
@options.formats(*options.TABLES)
@click.option("--groups", is_flag=True, help="The values in groups of users and items.")
@click.option("--metric", metavar="LABEL", help="With --groups: by default the headline metric.")
def table(
    runs: tuple[str, ...], results: Path, anyway: bool, form: str, groups: bool, metric: str | None
) -> int:
    """Print the table of a run, or of several runs together.

    With --groups, the tables of a run by groups of its users and items; as CSV, of all metrics.
    """
    from harness.report import join

    opened = options.opened(runs, results)
    if groups:
        return _show_groups(opened, form, metric)
    if metric is not None:
        raise HarnessError("--metric: needs --groups; add it, or leave the option out")
    print_run(join(opened, anyway=anyway), form)
    return 0


def _show_groups(runs: list[Run], form: str, label: str | None) -> int:
    """Print the groups of a run."""
    from harness import metrics
    from harness.results.display import frame_to_csv, group_tables

    if len(runs) > 1:
        raise ResultsError("--groups: the groups of one run at a time; name one run")
    (run,) = runs
    tables = group_tables(run.info, label)
    if not tables:
        raise ResultsError(f"{run.name}: no groups; add `groups` to its config and run it again")
    if form == "text":
        for each in tables:
            show_groups(each)
    elif form == "csv":
        chosen = run.groups
        if label is not None:
            chosen = chosen[chosen["metric"] == str(metrics.parse(label))]
        say(frame_to_csv(chosen, "%.8f").removesuffix("\n"), whole=True)
    else:
        texts = (each.latex if form == "latex" else each.markdown for each in tables)
        say("\n".join(texts).removesuffix("\n"), whole=True)
    return 0


@click.command()
@options.runs
@options.results
@options.anyway
@click.option("--across", is_flag=True, help="One verdict over the data sets of the runs.")
@click.option("--metric", metavar="LABEL", help="With --across: by default the headline metric.")
@click.option("--split", metavar="NAME", help="With --across: choose the tables with this split.")
@click.option("--candidates", metavar="NAME", help="With --across: ... with these candidates.")
@click.option(
    "--post-hoc",
    type=options.Choice(("nemenyi", "holm")),
    default="nemenyi",
    show_default=True,
    help="With --across: how pairs are compared.",
)
@click.option(
    "--rope",
    type=float,
    default=0.01,
    show_default=True,
    help="With --across: differences that are as good as none, in units of the metric.",
)
@options.formats(
    "text",
    "markdown",
    "csv",
    "latex",
    "json",
    help="With --across; by default what the ending of --output says.",
)
@click.option(
    "-o",
    "--output",
    type=options.output,
    help="The page's file; by default comparison.html in the results folder. With --across: a file "
    "for the table (.md, .csv, .tex, .json) or the diagram (.png, .svg).",
)
@options.force
def compare(
    runs: tuple[str, ...],
    results: Path,
    anyway: bool,
    across: bool,
    form: str,
    output: Path | None,
    **settings: Any,
) -> int:
    """Put several runs into one table and one page.

    RUN is a folder, or the name of a run in the results folder. Runs on other data, another split
    or other candidates are refused. The page is that of `harness report`, for all of them.

    With --across, runs of different data sets become one verdict: mean ranks and wins of the rows
    that all have, Friedman's test, Nemenyi's or Holm's for each pair, and the Bayesian signed-rank
    test of practical equivalence. Runs that ask different questions are refused.
    """
    opened = options.opened(runs, results)
    if across:
        found = harness.across(opened, anyway=anyway, **settings)
        return _show_across(found, form, output)
    if given := options.given(*settings, "form"):
        option = given[0].replace("form", "format").replace("_", "-")
        raise HarnessError(f"--{option}: needs --across; add it, or leave the option out")
    from harness.report import join, write_page

    path = _page_path(output, results / "comparison.html")
    joined = join(opened, anyway=anyway)
    show_run(joined)
    say(f"\nwritten to {write_page(opened, path, joined=joined)}")
    return 0


def _show_across(found: AcrossDataSets, form: str, output: Path | None) -> int:
    """Print a comparison over data sets, or write it to a file."""
    from harness.files import write_output
    from harness.report import rank_tables

    if output is None and form == "text":
        say(f"\n{plain(rank_tables.headline(found))}\n")
        ranks, probable = rank_tables.as_texts(found), rank_tables.probabilities(found)
        *tests, bayes = rank_tables.verdict(found)
        show_table([*ranks.columns], ranks.to_numpy().tolist(), ["algorithm"])
        say()
        for text in (*tests, bayes):
            say(text)
        say()
        show_table([*probable.columns], probable.to_numpy().tolist(), [probable.columns[0]])
        for number, note in enumerate(found.notes):
            say("\n" * (not number) + f"note: {plain(note)}")
        return 0
    ending = "" if output is None else output.suffix.lower()
    form = ENDINGS.get(ending, "") if form == "text" else form
    if not form:
        known = ", ".join(ENDINGS)
        raise HarnessError(f"{output}: a file of an unknown kind; use one of {known}, or --format")
    made = (
        rank_tables.render(found, form)
        if form in ("png", "svg")
        else rank_tables.FORMATS[form](found)
    )
    data = made if isinstance(made, bytes) else made.encode("utf-8", "replace")
    if output is None:
        say(data.decode().removesuffix("\n"), whole=True)
    else:
        say(f"written to {write_output(output, data)}")
    return 0


@click.command()
@click.argument("run", metavar="RUN")
@options.results
@click.option("--checklist", is_flag=True, help="What reviewers ask, with the answers of the run.")
@click.option("-o", "--output", type=options.output, help="A file; by default it is printed.")
@options.force
def methods(run: str, results: Path, checklist: bool, output: Path | None) -> int:
    """Print the methods of a run for a paper, or a checklist for its reviewers, as Markdown.

    The methods come with references and BibTeX. In the checklist, what the run does not answer is
    not ticked.
    """
    from harness.files import write_output
    from harness.report import methods as accounts

    (opened,) = options.opened((run,), results)
    text = (accounts.checklist if checklist else accounts.to_markdown)(opened.info)
    if output is None:
        say(text.removesuffix("\n"), whole=True)
    else:
        say(f"written to {write_output(output, text)}")
    return 0


@click.command("list")
@click.argument(
    "what",
    type=options.Choice(["algorithms", "libraries", "datasets", "metrics", "runs", "configs"]),
)
@options.results
def list_(what: str, results: Path) -> int:
    """List algorithms, models of other libraries, data sets, metrics, runs or configs."""
    notes: list[str] = []
    listings: dict[str, Callable[[], Iterator[list[str]]]] = {
        "algorithms": _algorithms,
        "libraries": _libraries,
        "datasets": _datasets,
        "metrics": _metrics,
        "configs": _listed_configs,
        "runs": lambda: _listed_runs(results, notes),
    }
    columns, *rows = listings[what]()
    if rows:
        show_table(columns, rows, set(columns) - NUMBERS)
    else:
        say(f"no {what} here")
    for note in notes:
        say(f"note: {note}")
    return 0


def _algorithms() -> Iterator[list[str]]:
    from harness.algorithms import registry

    yield ["algorithm", "what it does", "parameters"]
    for entry in registry.algorithms().values():
        parameters = [f"{name}={value!r}" for name, value in entry.parameters().items()]
        yield [entry.name, entry.summary, ", ".join(parameters) or "none"]


def _libraries() -> Iterator[list[str]]:
    from harness.algorithms.libraries import libraries

    yield ["library", "model", "scores", "parameters"]
    for name, library in libraries().items():
        for model, declared in library.models.items():
            scores = "ratings" if declared.ratings else "preferences"
            yield [name, model, scores, ", ".join(declared.params)]


def _datasets() -> Iterator[list[str]]:
    from harness import datasets

    yield ["dataset", "ratings", "users", "items", "scale", "here", "licence"]
    for each in datasets.available():
        yield [
            f"{each.name} or {each.alias}" if each.alias else each.name,
            f"{each.n_ratings:,}" if each.n_ratings else "as asked",
            f"{each.n_users:,}" if each.n_users else "",
            f"{each.n_items:,}" if each.n_items else "",
            "{:g} to {:g}".format(*each.scale) if each.scale else "",
            "yes" if each.is_here() else "no",
            each.licence,
        ]


def _metrics() -> Iterator[list[str]]:
    yield ["metric", "what it measures", "range", "source"]
    for each in harness.metrics.describe():
        yield [each.name, each.summary, "{:g} to {:g}".format(*each.range), each.source]


def _listed_configs() -> Iterator[list[str]]:
    from harness.config.load import bundled, read

    yield ["config", "what it answers"]
    for name, path in bundled().items():
        yield [name, " ".join(str(read(path).data.get("description", "")).split())]


def _listed_runs(results: Path, notes: list[str]) -> Iterator[list[str]]:
    from harness.results.runs import find_runs, read_run

    yield ["run", "made", "data", "algorithms", "failed cells", "metrics"]
    for folder in find_runs(results):
        try:
            info = read_run(folder).info
        except ResultsError as error:
            yield [folder.name, "cannot be read", "", "", "", ""]
            notes.append(str(error))
            continue
        yield [
            folder.name,
            info.started.replace("T", " ")[:16],
            ", ".join(each.name for each in info.datasets),
            str(len(info.algorithms)),
            str(len(info.failed)),
            ", ".join(info.metrics),
        ]


@click.group()
def cache() -> None:
    """Manage the finished cells that runs share."""


@cache.command("list")
def cache_list() -> int:
    """List finished cells: key, megabytes, when."""
    rows = [
        [entry.key[:16], f"{entry.n_bytes / 1e6:.2f}", entry.written.isoformat(" ", "minutes")]
        for entry in options.store().entries()
    ]
    show_table(["cell", "MB", "written"], rows, ["cell", "written"])
    return 0


@cache.command("size")
def cache_size() -> int:
    """Print the number of cells and their size."""
    sizes = [entry.n_bytes for entry in options.store().entries()]
    say(f"{counted(len(sizes), 'cell')}, {sum(sizes) / 1e6:.1f} MB")
    return 0


@cache.command("verify")
def cache_verify() -> int:
    """Read every cell against its checksum; broken ones are named and removed."""
    store = options.store()
    broken = 0
    for entry in store.entries():
        if message := store.fault(entry.key):
            broken += 1
            say(message)
            store.discard(entry.key)
    say(f"{counted(broken, 'broken cell')} removed" if broken else "every cell is complete")
    return 1 if broken else 0


@cache.command("prune")
@click.option(
    "--older-than",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="DAYS",
    help="Remove cells that were written more days ago than this.",
)
def cache_prune(older_than: float) -> int:
    """Remove old cells; a run that needs them again computes them again."""
    say(f"{counted(options.store().prune(older_than), 'cell')} removed")
    return 0
