"""What data are like, and what each split of a config can answer, before anything is fitted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from harness import datasets
from harness.arguments import checked
from harness.datasets import Ratings
from harness.errors import DataError
from harness.experiment.data_description import describe_plan, describe_ratings
from harness.experiment.plan import Plan
from harness.files import RUN_FILE
from harness.notes import Note
from harness.results.description import DataDescription

DETECTED: tuple[Literal["decimal", "thousands", "encoding"], ...] = (
    "decimal", "thousands", "encoding",
)  # fmt: skip
"""What is found of a file without a config."""


@checked(DataError)
def describe(
    source: str | Path | Mapping[str, Any] | Ratings, *, ratings: Any = None
) -> list[DataDescription]:
    """Describe data, and each split of a config.

    Parameters
    ----------
    source : str, path, mapping or Ratings
        A name from ``harness list datasets``, a file of ratings, a config (YAML file, run's folder,
        or mapping with ``algorithms``), or loaded data.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Loaded data, in place of the data set of a config.

    Returns
    -------
    list of DataDescription
        One for each data set of a config, filtered as it says; otherwise one. ``print`` shows it.

    Raises
    ------
    DataError, ConfigError, SplitError
        If the data cannot be read or divided.

    Examples
    --------
    >>> import harness
    >>> (found,) = harness.describe("bundled")
    >>> found.n_users, found.n_items, round(found.gini_items, 2)
    (671, 9066, 0.72)
    """
    if isinstance(source, Ratings):
        return [describe_ratings(source)]
    if isinstance(source, os.PathLike):
        source = Path(source)
    if isinstance(source, str | Path):
        path = Path(source)
        is_config = path.suffix in (".yaml", ".yml", ".json") or (path / RUN_FILE).is_file()
        if path.suffix == ".json" and path.is_file():
            from harness.datasets.readers.json_lines import holds_records

            is_config = not holds_records(path)
    else:
        is_config = isinstance(source, Mapping) and not {"algorithms", "dataset"}.isdisjoint(source)
    if not is_config:
        return [describe_ratings(_loaded(source))]
    if isinstance(ratings, str | os.PathLike | Mapping):
        ratings = datasets.load(ratings)
    return describe_plan(Plan.from_config(source, ratings=ratings))


def _loaded(source: str | Path | Mapping[str, object]) -> Ratings:
    """Load data; of a plain file, find what a config would have to name: decimal mark, encoding."""
    try:
        return datasets.load(source)
    except DataError as error:
        if not isinstance(source, str | Path) or not Path(source).is_file():
            raise
        from harness.datasets.detection import Description, find_section

        section = Description()
        with suppress(DataError):  # which would say less
            section = find_section(Path(source))
        named = [f"{key}: {section[key]!r}" for key in DETECTED if key in section]
        if not named:
            raise error from None
    ratings = datasets.load(section)
    note = Note("layout-found", {"settings": named})
    return replace(ratings, notes=(*ratings.notes, note))
