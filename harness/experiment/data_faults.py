"""What is wrong with the data of a plan: files that are not there, splits, candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.candidates import CandidatesSection
from harness.config.places import fault_at, key_at
from harness.datasets.section import DatasetSection
from harness.errors import ConfigError, DataError, SplitError
from harness.named_paths import are_there
from harness.results.names import distinct_names

if TYPE_CHECKING:
    from harness.experiment.data import PlanData


def of_missing_file(plan: PlanData, dataset: int, error: DataError) -> ConfigError | None:
    """Return the error of the key of a data set that names a missing file, if one does."""
    section, document = plan.experiment.dataset[dataset], plan.document
    # Files are looked for in this order, before the first is read.
    besides = {"users": section.users, "items": section.items}
    parts = {name: part.paths for name, part in besides.items() if part}
    parts |= {"at_random": [section.at_random or ""], "path": section.paths}
    for name, paths in parts.items():
        if any(paths) and not are_there(paths, document.folder):
            key = key_at(document, ("dataset", dataset, name, "path"))
            return ConfigError(document.source, [fault_at(document, key, str(error))])
    return None


def with_data_set(
    error: SplitError, sections: Sequence[DatasetSection], dataset: int
) -> SplitError:
    """Return an error that says of which data set it is, where there are several."""
    known = [each.describe() for each in sections], [each.stated() for each in sections]
    where = f"{distinct_names(*known)[dataset]}: " if len(sections) > 1 else ""
    return SplitError(f"{where}{error}")


def of_other_items(section: CandidatesSection) -> SplitError:
    """Return the error of a function that does not list the same candidates again."""
    return SplitError(
        f"{section.describe()}: it lists other items in another call, so that rows "
        "would have different candidates; draw with the `rng` that it is given"
    )
