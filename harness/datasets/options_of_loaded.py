"""Options of a config's ``dataset`` part for loaded data, as those of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.datasets.conversion import table_of_frame
from harness.datasets.loaded import of_anything
from harness.datasets.ratings import Ratings
from harness.datasets.section import OF_LOADED, OF_VALUES, DatasetSection
from harness.datasets.value_format import Policies, ValueFormat
from harness.errors import DataError
from harness.lazy import pd


def under_options(source: Any, section: DatasetSection) -> Any:
    """Return ratings made of loaded data; the data as they are where no option is set."""
    chosen = section.model_dump(include={*OF_LOADED}, exclude_defaults=True)
    if not chosen.keys() - {"users", "items", "at_random"}:
        return source
    policies: Policies = {key: chosen[key] for key in chosen.keys() & Policies.__annotations__}  # type: ignore[assignment]
    named = section.columns.model_dump(exclude_unset=True) if section.columns else {}
    named = {role: at for role, at in named.items() if at is not None or role == "timestamp"}
    values = _value_format(section, chosen)
    if isinstance(source, Ratings):
        if "scale" not in policies:
            policies = {"out_of_scale": "keep", **policies, "scale": source.scale}
        if values.time_format or values.thousands:
            unused = "time_format" if values.time_format else "thousands"
            raise DataError(f"dataset.{unused}: Ratings hold numbers; leave `{unused}` out")
        values = replace(values, time_format="seconds")
        table = table_of_frame(source.to_frame(), named, source.name, values)
        ratings = Ratings.from_table(table, source.name, **policies)
        return replace(
            ratings,
            licence=source.licence,
            citation=source.citation,
            notes=(*source.notes, *ratings.notes),
            user_features=_aligned(source.user_features, ratings.user_ids),
            item_features=_aligned(source.item_features, ratings.item_ids),
            at_random=source.at_random,
        )
    if hasattr(source, "raw_ratings") or hasattr(source, "folds_files"):
        if key := next((key for key in OF_VALUES if key in chosen), None):
            raise DataError(
                f"dataset.{key}: a surprise.Dataset has columns and values of its own; leave "
                f"`{key}` out"
            )
        return Ratings.from_surprise(source, **policies)
    written = [key for key in OF_VALUES if key in chosen]
    return of_anything(source, named, values, policies, written)


def _value_format(section: DatasetSection, chosen: Mapping[str, object]) -> ValueFormat:
    """Return how values of loaded data are written; a decimal point is not assumed."""
    decimal = section.decimal if "decimal" in chosen else ""
    return ValueFormat(
        decimal, section.thousands or "", section.time_format or "", section.id_spellings
    )


def _aligned(features: pd.DataFrame | None, ids: NDArray[np.object_]) -> pd.DataFrame | None:
    return None if features is None else features.reindex(ids)
