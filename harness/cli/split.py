"""``harness split``: save the splits of a config in files."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import click

from harness.cli import options

__all__ = ["split_command"]


@click.command("split")
@click.argument("config", metavar="CONFIG")
@options.overrides
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("splits"),
    show_default=True,
    help="Output folder; one file for each data set, split and seed.",
)
def split_command(config: str, overrides: tuple[str, ...], output: Path) -> int:
    """Save the splits that a run would use.

    `split: {kind: file, path: FILE}` reads one back and refuses other data.
    """
    from harness import splits
    from harness.cli.screen import say
    from harness.errors import SplitError
    from harness.experiment.plan import Plan

    plan = Plan.from_config(config, overrides=overrides)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SplitError(
            f"{output}: cannot be made ({error.strerror}); choose another folder"
        ) from None
    experiment = plan.experiment
    written: set[Path] = set()
    for dataset, split, seed in itertools.product(
        range(len(experiment.dataset)), range(len(experiment.split)), experiment.seed
    ):
        folds = plan.splits(dataset, split, seed)
        words = f"{folds[0].ratings.name} {folds[0].name} seed {seed}"
        # A file name on every system: "ml-100k holdout 25% seed 0" is ml-100k-holdout-25-seed-0.
        name = re.sub(r"[^.\w]+", "-", words).strip("-.")
        path = output / f"{name}.parquet"
        if path in written:  # two splits of one name, as holdouts of two random states
            path = path.with_stem(f"{path.stem}-{folds[0].fingerprint[:8]}")
        written.add(path)
        splits.save(folds, path)
        say(path)
        for fold in folds:
            say(
                f"  {fold.name}, seed {seed}, fold {fold.fold + 1} of {len(folds)}: "
                f"{len(fold.train):,} training and {len(fold.test):,} test ratings, "
                f"fingerprint {fold.fingerprint[:12]}"
            )
    return 0
