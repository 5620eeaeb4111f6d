"""``harness split``: the splits of a config as files."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import click

from harness import splits
from harness._util.files import report_os_error
from harness.console import options
from harness.console import options as words
from harness.console.command import command
from harness.console.screen import documents, say
from harness.errors import counted
from harness.experiment.plan import Plan
from harness.extras.exchange import folds as exchange


@command("split my.yaml -o splits", "split my.yaml --export folds", group="Tools")
@click.argument("config", metavar="CONFIG", shell_complete=words.config_names)
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
        if documents:
            documents[0].files += map(str, sorted(filter(Path.is_file, export.rglob("*"))))
        if output is None:
            return 0
    with report_os_error(folder, "cannot be made", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
    for path, (folds, title) in files.items():
        splits.save(folds, path)
        say(path)
        if documents:
            documents[0].files.append(str(path))
        for fold in folds:
            say(
                f"  {title}, fold {fold.fold + 1} of {len(folds)}: "
                f"{len(fold.train):,} training and {counted(len(fold.test), 'test rating')}, "
                f"fingerprint {fold.fingerprint[:12]}"
            )
    return 0
