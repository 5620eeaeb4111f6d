"""Arguments and options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

import harness.config
import harness.results
from harness._util import names
from harness._util.arguments import check_path
from harness._util.files import refuse_below_file, refuse_link, refuse_other_page
from harness.errors import ResultsError, nearest
from harness.plugins import registry as plugins
from harness.plugins.registry import folded

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def config_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the configs of the package and the YAML files here; elsewhere the shell looks."""
    files = (path.name for pattern in ("*.yaml", "*.yml") for path in Path().glob(pattern))
    return _or_files([*sorted(files), *harness.config.bundled()], incomplete)


def run_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the runs in the folder of `--results`, or by default in `runs`."""
    folder = Path(context.params.get("results") or "runs")
    return _or_files([run.name for run in harness.results.find_runs(folder)], incomplete)


def datasets(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the names of data sets; elsewhere the shell looks for files."""
    return _or_files(sorted(plugins.names("datasets")), incomplete)


def configs_and_runs(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the runs and the configs."""
    items = run_names(context, parameter, incomplete) + config_names(context, parameter, incomplete)
    names = [item for item in items if item.type == "plain"]
    return names or items[:1]


def of_kind(kind: str) -> Completion:
    """Return what completes the names of plug-ins of a kind, the last one of a list with commas."""

    def complete(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        names = sorted(plugins.names(kind))
        return [CompletionItem(before + comma + name) for name in names if _begins(name, last)]

    return complete


def _or_files(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return the names that begin so, or where there are none what asks the shell for files."""
    items = [CompletionItem(name) for name in dict.fromkeys(names) if name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


def _begins(name: str, incomplete: str) -> bool:
    return name.casefold().startswith(incomplete.casefold())


if TYPE_CHECKING:
    from harness.results.runs import Run
    from harness.results.store import MaintainedStore

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice

FORCE = "harness.force"
"""The key of a command's context that says whether a file may be replaced."""
TABLES = ("text", "markdown", "csv", "latex")
"""Forms of a run's table."""
file = click.Path(path_type=Path, dir_okay=False)
folder = click.Path(path_type=Path, file_okay=False)


def unused(path: Path) -> Path:
    """Return a path that the user has named, or refuse it: a file without `force`, below a file."""
    check_path("file", path, ResultsError)
    # As in `refuse_below_file`, not Path.is_file.
    if os.path.isfile(path) and not click.get_current_context().meta.get(FORCE):  # noqa: PTH113
        raise ResultsError(f"{path}: exists; choose another name, or replace it with --force")

    refuse_below_file(path)
    return path


class _Output(click.Path):
    """A file to write, with the option `force`; without it, one that exists is refused."""

    def __init__(self, *, is_printed: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=False, allow_dash=True)
        self.is_printed = is_printed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, None for standard output, or fail before any work is done."""
        if os.fspath(value) == "-":
            if self.is_printed:
                return None
            self.fail("'-': the output needs a file; name one", param, ctx)
        return unused(Path(os.fsdecode(super().convert(value, param, ctx))))


output = _Output()
printed = _Output(is_printed=True)
"""A file for what is printed without it, and for `-`."""


class Choice(_Choice):
    """A choice whose message suggests the nearest word.

    Parameters
    ----------
    choices : sequence of str
    kind : str, optional
        The section of ``names.toml`` with words that people use in their place.
    """

    def __init__(self, choices: Sequence[str], kind: names.Kind | None = None) -> None:
        super().__init__(choices)
        self.kind = kind

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word, or fail."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            meant = nearest(value, self.choices)
            hint = "" if meant is None else f"did you mean {meant!r}?"
            if self.kind:
                hint = names.near(self.kind, value, self.choices)
            if not hint:
                raise
            self.fail(f"{error.message.rstrip('.')}; {hint}", param, ctx)


configs = click.argument(
    "configs", nargs=-1, required=True, metavar="CONFIG...", shell_complete=config_names
)
some_configs = click.argument(
    "configs", nargs=-1, metavar="[CONFIG]...", shell_complete=config_names
)
runs = click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=run_names)
results = click.option(
    "--results",
    type=folder,
    default=Path("runs"),
    show_default=True,
    help="Folder of the runs; each run has its own folder in it.",
)
anyway = click.option(
    "--anyway", is_flag=True, help="Show runs that cannot be compared, with a note on the reason."
)
overrides = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    help="Override a key of the config, for example split.test_size=0.1; can be repeated.",
)
force = click.option(
    "--force",
    is_flag=True,
    is_eager=True,  # read before the files
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({FORCE: value}),
    help="Replace a file that exists.",
)
truth = click.option(
    "--truth", type=file, help="The relevant items, if FILE holds recommendations."
)
workers = click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=None,
    help="Processes at the same time; the numbers are the same for any number.",
)
baseline = click.option(
    "--baseline", metavar="LABEL", help="The algorithm that the others are compared with."
)


def row(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that choose a row of a run."""
    for name, kind, text in (
        ("--candidates", None, "Choose the table with these candidates."),
        ("--split", "splits", "Choose the table with this split."),
        ("--dataset", "datasets", "Choose the table of this data set."),
        ("--metric", "metrics", "Best by this metric; by default the headline metric of the run."),
        ("--algorithm", "algorithms", "A row by its name, in place of the best row."),
    ):
        complete = of_kind(kind) if kind else None
        option = click.option(name, metavar="NAME", help=text, shell_complete=complete)
        function = option(function)
    return results(function)


def formats(
    first: str, *alternatives: str, help: str = "The form of what is written."
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return the option ``--format``, whose default is the first of some names."""
    return click.option(
        "--format",
        "form",
        type=Choice((first, *alternatives), "forms"),
        default=first,
        show_default=True,
        help=help,
    )


def in_the_call(*names: str) -> list[str]:
    """Return the parameters among some names that the call of the current command has."""
    source = click.get_current_context().get_parameter_source
    return [name for name in names if source(name) is ParameterSource.COMMANDLINE]


def page(path: Path | None, default: Path) -> Path:
    """Return where a page goes; the ending of another format is refused."""
    if path is None:
        return refuse_link(default)
    return refuse_other_page(path)


def opened(runs: tuple[str, ...], results: Path) -> list[Run]:
    """Return runs by their folders or, within `results`, by their names."""
    try:
        return [harness.results.open_run(name, results) for name in runs]
    except ResultsError:
        if kinds := [name for name in runs if name in plugins.names("plots")]:
            raise ResultsError(
                f"{kinds[0]}: a kind of plot, not a run; use `harness plot RUN --kind {kinds[0]}`"
            ) from None
        if all(map(algorithm_of, runs)):
            meant = ",".join(dict.fromkeys(map(algorithm_of, runs)))
            raise ResultsError(
                f"{', '.join(runs)}: these are algorithms, not runs; to compare them, run them "
                f"together: `harness run --dataset ratings.csv --algorithms {meant}`"
            ) from None
        raise


def algorithm_of(name: str) -> str:
    """Return the algorithm that a word names, or the first whose name it begins; else nothing."""
    word = folded(name)
    names = {folded(name): name for name in plugins.names("algorithms") if word}
    family = (name for key, name in names.items() if key.startswith(word))
    return names.get(word) or next(family, "")


def store() -> MaintainedStore:
    """Return the cached cells that runs share."""
    from harness.results.store import MaintainedStore

    return MaintainedStore.default()
