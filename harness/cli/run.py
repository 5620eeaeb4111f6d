"""``harness run``: experiments and their tables."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import harness
from harness._util import kernels
from harness.config.document import line_of
from harness.config.load import load
from harness.config.trackers import refuse_missing, with_names
from harness.config.yaml import bundled
from harness.console import answers, options
from harness.console import options as words
from harness.console import screen as table_columns
from harness.console.answers import show_choices, write_config
from harness.console.command import command
from harness.console.progress import display
from harness.console.screen import fail, plain, say, say_written
from harness.console.tables import check_columns, show_run
from harness.errors import ConfigError, Fault, counted, joined, listed, masked

if TYPE_CHECKING:
    from harness.results.cells import FailedCell
    from harness.results.record import RunInfo


FAILED_PARTS = ("metric-failed", "metric-failed-in-groups", "analysis-failed")
"""Codes of notes on what a run was asked for and does not have, beside cells."""


@command(
    "run quickstart",
    "run --dataset ratings.csv --algorithms SVD,KNNBasic --metrics ndcg@10,rmse",
    group="Start here",
    of_config=answers.OF_A_CONFIG,
)
@options.some_configs
@answers.options
@answers.columns("--data-columns")
@options.overrides
@options.results
@options.workers
@click.option(
    "--fresh", is_flag=True, help="Compute every cell and trial again, even if it is cached."
)
@click.option(
    "--trust-cache",
    is_flag=True,
    help="Reuse cached cells of your code even if not all that affects them could be recorded.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Repeat the run of a folder that names code: import and run that code.",
)
@click.option(
    "--track",
    metavar="NAME,...",
    multiple=True,
    shell_complete=words.of_kind("trackers"),
    help="Also log the run with csv, mlflow, wandb or your own tracker; if one fails, a note "
    "reports it; one that is not installed is refused.",
)
@click.option("--track-strict", is_flag=True, help="Exit with 1 if a tracker fails.")
@table_columns.option
@click.option("--quiet", "-q", is_flag=True, help="Print only the tables.")
def run(
    configs: tuple[str, ...],
    overrides: tuple[str, ...],
    track: tuple[str, ...],
    track_strict: bool,
    columns: str | None,
    quiet: bool,
    **settings: Any,
) -> int:
    """Run experiments and print their tables.

    CONFIG is a YAML file, a config of the package (`harness list configs`), or the folder of a run.
    Without one, --dataset, --algorithms and --metrics name what to run; harness writes them as a
    config beside the results, which you can edit and run again.

    Computed cells are cached: a second run computes only what is missing.
    """
    stated = {key: settings.pop(key) for key in (*answers.KEYS, "data_columns")}
    written = None
    check_columns(columns)
    if stated_keys := options.in_the_call(*stated):
        if configs:
            check_commas(configs, stated)
            key = stated_keys[0]
            raise click.UsageError(
                f"--{key.replace('_', '-')}: is for a run without a config; leave out "
                f"{configs[0]}, or change it: {answers.as_set(key, str(stated[key]))}"
            )

        written = write_config(stated, overrides, settings["results"], shows_rows=not quiet)
        configs, overrides = (str(written),), ()
        if masked(dataset := str(stated["dataset"])) != dataset:  # the written config has it masked
            overrides = (f"dataset.path={json.dumps(dataset)}",)
    elif not configs:
        show_choices()
        fail("usage", "name a config, or data and algorithms; `harness list configs` lists configs")
        return 2
    # Every config is checked before the first is run.
    trackers = [name.strip() for names in track for name in names.split(",") if name.strip()]
    names: dict[str, str] = {}
    for config in configs:
        loaded, document = load(config, overrides=overrides, trust=settings["trust"])
        refuse_missing(with_names(loaded.trackers, trackers), loaded.trackers)
        check_columns(columns, loaded)
        if loaded.name in names:
            message = (
                f"{loaded.name!r} is also the name of {names[loaded.name]}, whose place "
                "it would take; change one, or run them with two commands and two --results"
            )
            raise ConfigError(config, [Fault(line_of(document, ("name",)), "name", message)])
        names[loaded.name] = config
    if not quiet and not kernels.compiled_before():
        say("first run on this machine: compiling the loops takes about five seconds", err=True)
    failed = 0
    for config in configs:
        with display(quiet) as watch:
            result = harness.run(
                config, overrides=overrides, track=trackers, watch=watch, **settings
            )
        show_run(result, columns)
        say()
        say_written(result.folder)
        if written is not None:
            call = f"harness run {shlex.quote(str(written))}"
            say(f"its config: {plain(written)}; edit it, then `{plain(call)}`")
        if result.earlier is not None:
            say(
                f"note: {plain(result.folder)} held another run ({joined(result.changed)}); it is "
                f"kept as {plain(result.earlier)}",
                err=True,
            )
        if result.outdated:
            call = shlex.join(["harness", "report", str(result.folder)])
            say(
                f"note: {joined(result.outdated)} of the earlier run of this name removed; "
                f"write it again: {plain(call)}",
                err=True,
            )
        if result.removed:
            keep = result.info.experiment.results.keep
            runs = counted(len(result.removed), "earlier run")
            say(f"note: {runs} removed, because of `results: {{keep: {keep}}}`", err=True)
        for sentence in missing(result.info):
            say(plain(sentence))
            failed += 1
        lost = [note for note in result.info.notes if note.code == "tracker-failed"]
        for note in lost if track_strict else ():
            failed += 1
            say(f"{plain(note)}; --track-strict makes the exit code 1", err=True)
    return 1 if failed else 0


def check_commas(configs: tuple[str, ...], stated: dict[str, Any]) -> None:
    """Refuse names that stand with spaces after an option, where they look like configs."""
    if any(Path(name).exists() or name in bundled() for name in configs):
        return
    known = {"algorithms": options.algorithm_of, "metrics": answers.is_label}
    for key, is_name in known.items():
        if stated[key] and all(map(is_name, configs)):
            joined_names = ",".join((str(stated[key]), *configs))
            raise click.UsageError(
                f"--{key}: names are separated by commas, without spaces: --{key} {joined_names}"
            )


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
    failed = [note for note in info.notes if note.code in FAILED_PARTS]
    for part, title in (("metric", "values of"), ("analysis", "the analysis")):
        names = dict.fromkeys(note.values[part] for note in failed if part in note.values)
        whys = dict.fromkeys(note.values["reason"] for note in failed if part in note.values)
        if names:
            why = f": {next(iter(whys))}"
            if len(whys) > 1:
                why = "; the notes say why (harness notes)"
            yield f"missing: {title} {listed([*names], 4)}{why}"
