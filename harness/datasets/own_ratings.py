"""Load ratings from files of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from harness.datasets.places import found, name_of
from harness.datasets.ratings import Ratings
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.datasets.section import DatasetSection
from harness.datasets.several import joined

if TYPE_CHECKING:
    from harness.datasets.archives import Progress


def load_file(section: DatasetSection, base: Path | None, progress: Progress | None) -> Ratings:
    """Load the file, or the files, that a config names."""
    columns = section.columns.model_dump(exclude_unset=True) if section.columns else {}
    options = ReadOptions(
        section.format,
        section.separator,
        section.header,
        section.encoding,
        {role: column for role, column in columns.items() if column or role == "timestamp"},
        section.decimal,
        section.thousands or "",
        section.time_format or "",
        section.id_spellings,
        section.skip,
        section.comment,
        table=section.table,
        query=section.query,
        limits=section.limits,
    )
    with found(section.paths, base, section.sha256, section.limits) as places:
        tables = [read_file(place.path, options, place.where, progress) for place in places]
    name = name_of(section.paths)
    return Ratings.from_table(joined(tables, name), name, **section.policies)
