"""The ``dataset`` part of a config that a name, a path or a mapping stands for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.datasets.loaded import no_ratings
from harness.datasets.plugin_names import dataset_names
from harness.datasets.section import DatasetSection
from harness.errors import DataError, is_url, suggestion
from harness.named_paths import placed
from harness.section_faults import validated


def section_of(source: object, base: Path | None) -> DatasetSection:
    """Return the section, or raise a DataError where it is none and no ratings."""
    if isinstance(source, Path):
        source = {"path": str(source)}
    is_name = not isinstance(source, str) or source in dataset_names()
    # A file without a usual ending; one that is called as a data set is not looked for.
    if not is_name and (is_url(str(source)) or placed(str(source), base).exists()):
        source = {"path": source}
    if not isinstance(source, str | Mapping):
        raise no_ratings(source)
    try:
        return validated(DatasetSection, source, "dataset")
    except DataError:
        if not isinstance(source, str):
            raise
        names = suggestion(source, dataset_names())
        raise DataError(
            f"dataset: no data set is called {source!r}, and no file in "
            f"{(base or Path()).resolve()}; {names}"
        ) from None
