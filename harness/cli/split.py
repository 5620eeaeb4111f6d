"""``harness split``: save the splits of a config in files."""

from __future__ import annotations

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
    from harness.cli.screen import say
    from harness.experiment.splitting import keep_splits

    for kept in keep_splits(config, output, overrides=overrides):
        say(kept.path)
        for fold in kept.folds:
            say(
                f"  {fold.name}, seed {kept.seed}, fold {fold.fold + 1} of {len(kept.folds)}: "
                f"{len(fold.train):,} training and {len(fold.test):,} test ratings, "
                f"fingerprint {fold.fingerprint[:12]}"
            )
    return 0
