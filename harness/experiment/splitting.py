"""The splits of a config, made and saved without fitting anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import splits
from harness.config.load import load
from harness.errors import SplitError
from harness.experiment.workspace import Workspace
from harness.splits import Split

__all__ = ["KeptSplit", "keep_splits"]


@dataclass(frozen=True)
class KeptSplit:
    """A split in a file of its own.

    Parameters
    ----------
    path : Path
        A Parquet file that ``split: {kind: file, path: …}`` reads.
    seed : int
        The seed that drew it.
    folds : tuple of Split
    """

    path: Path
    seed: int
    folds: tuple[Split, ...]


def keep_splits(
    config: str | Path | dict[str, Any], folder: Path, *, overrides: Iterable[str] = ()
) -> Iterator[KeptSplit]:
    """Write every split that a run of a config would use, a file for each data set, split and seed.

    Parameters
    ----------
    config : str, Path or dict
        As for `harness.run`.
    folder : Path
        Made if it is missing.
    overrides : iterable of str
        ``KEY=VALUE`` pairs.

    Yields
    ------
    KeptSplit
        Once its file is written.

    Raises
    ------
    HarnessError
        If the config or the data have faults, or a file cannot be written.
    """
    experiment, document = load(config, overrides=overrides)
    workspace = Workspace(experiment, document.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SplitError(
            f"{folder}: cannot be made ({error.strerror}); choose another folder"
        ) from None
    written: set[Path] = set()
    for dataset in range(len(experiment.dataset)):
        for place in range(len(experiment.split)):
            for seed in experiment.seed:
                folds = tuple(workspace.splits(dataset, place, seed))
                words = (folds[0].ratings.name, folds[0].name, "seed", str(seed))
                path = folder / f"{_file_name(' '.join(words))}.parquet"
                if path in written:  # two splits of one name, as holdouts of two random states
                    path = path.with_stem(f"{path.stem}-{folds[0].fingerprint[:8]}")
                written.add(path)
                splits.save(folds, path)
                yield KeptSplit(path, seed, folds)


def _file_name(words: str) -> str:
    """Return words as a valid file name on every system.

    Examples
    --------
    >>> _file_name("ml-100k holdout 25% seed 0")
    'ml-100k-holdout-25-seed-0'
    """
    return re.sub(r"[^\w.]+", "-", words).strip("-.")
