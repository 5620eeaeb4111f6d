"""Make `Ratings` of what a config or a caller names: a data set, a file or loaded data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness.arguments import check_path, checked
from harness.datasets.ratings import Ratings, of_frame
from harness.datasets.section import (
    OF_LOADED,
    OF_VALUES,
    DatasetSection,
    FeaturesSection,
    dataset_names,
)
from harness.datasets.synthetic_section import SyntheticSection
from harness.datasets.value_format import Policies, ValueFormat
from harness.errors import DataError, suggestion
from harness.files import is_url, placed
from harness.lazy import pd

if TYPE_CHECKING:
    from harness.datasets.archives import Progress


@checked(DataError)
def load(
    source: Any,
    *,
    users: Any = None,
    items: Any = None,
    at_random: Any = None,
    cache: Path | None = None,
    base: Path | None = None,
    progress: Progress | None = None,
) -> Ratings:
    """Return the ratings of a config, a name, a path or an object.

    Parameters
    ----------
    source : str, Path, dict, DatasetSection, table, matrix, list, surprise.Dataset or Ratings
        A name of the catalogue, a path, the ``dataset`` part of a config, or loaded data: a table
        of pandas, Polars, Arrow or DuckDB (or with ``__arrow_c_stream__`` or ``__dataframe__``),
        a scipy.sparse matrix of users and items, of which what is stored is rated, or a list of
        tuples of user, item, rating and perhaps time.
    users, items : DataFrame, path or dict, optional
        What else is known of users and items, with a row for each, as in the ``dataset`` part of a
        config; of a DataFrame, the first column holds the ids. See `Ratings.item_features`.
    at_random : path or array_like of float, shape (m,), optional
        Ratings of items that were drawn at random for their users.
    cache : Path, optional
        Where downloads are kept; `cache_folder()` when left out.
    base : Path, optional
        Where relative paths start; the working directory when left out.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes while something is downloaded or read.

    Raises
    ------
    DataError
        If there is no such data set or file, or it holds rows that cannot be used.
    DownloadError
        If a data set is not on this machine and no source provides it.

    Examples
    --------
    >>> load("bundled")
    <Ratings ml-latest-small-2016: 100,004 ratings of 9,066 items by 671 users, 0.5 to 5>
    >>> import pandas as pd
    >>> items = pd.DataFrame({"movie": ["31", "318"], "genres": ["Drama", "Crime|Drama"]})
    >>> load("bundled", items=items).item_features["genres"].dropna().to_dict()
    {'31': 'Drama', '318': 'Crime|Drama'}
    """
    if isinstance(source, str | Path):
        check_path(f"{source!s:.60}", source, DataError)
    if isinstance(source, Ratings):
        ratings = source
    elif hasattr(source, "raw_ratings") or hasattr(source, "folds_files"):
        ratings = Ratings.from_surprise(source)
    elif hasattr(source, "tocoo") or not isinstance(source, DatasetSection | str | Path | Mapping):
        ratings = _of_loaded(source, {}, ValueFormat(""), {}, ())
    else:
        section = source if isinstance(source, DatasetSection) else _section(source, base)
        users = section.users if users is None else users
        items = section.items if items is None else items
        at_random = section.at_random if at_random is None else at_random
        for description in (users, items):
            if isinstance(description, FeaturesSection):  # said before much is read, or fetched
                from harness.datasets.own_files import find_file

                find_file(description.path, base)
        ratings = _load(section, cache, base, progress)
    for role, description in (("user", users), ("item", items)):
        if description is not None:
            from harness.datasets import features

            ratings = features.add(ratings, role, description, base)
    if at_random is not None:
        from harness.datasets.at_random import add

        ratings = add(ratings, at_random, base)
    return ratings


@checked(DataError)
def load_under(source: Any, section: DatasetSection, base: Path | None = None) -> Ratings:
    """Return loaded data under the options of a config's ``dataset`` part, as those of a file.

    Options that the section does not set leave the data as `load` gives them; those of
    `harness.datasets.section.OF_LOADED` are used.
    """
    chosen = section.model_dump(include={*OF_LOADED}, exclude_defaults=True)
    besides: dict[str, Any] = {
        "users": section.users, "items": section.items, "at_random": section.at_random,
    }  # fmt: skip
    if not chosen.keys() - besides.keys():
        return load(source, base=base, **besides)
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
        ratings = of_frame(source.to_frame(), named, source.name, values, policies)
        ratings = replace(
            ratings,
            licence=source.licence,
            citation=source.citation,
            notes=(*source.notes, *ratings.notes),
            user_features=_aligned(source.user_features, ratings.user_ids),
            item_features=_aligned(source.item_features, ratings.item_ids),
            at_random=source.at_random,
        )
    elif hasattr(source, "raw_ratings") or hasattr(source, "folds_files"):
        if key := next((key for key in OF_VALUES if key in chosen), None):
            raise DataError(
                f"dataset.{key}: a surprise.Dataset has columns and values of its own; leave "
                f"`{key}` out"
            )
        ratings = Ratings.from_surprise(source, **policies)
    else:
        written = [key for key in OF_VALUES if key in chosen]
        ratings = _of_loaded(source, named, values, policies, written)
    return load(ratings, base=base, **besides)


def _of_loaded(
    source: Any,
    named: Mapping[str, str | int | None],
    values: ValueFormat,
    policies: Policies,
    written: Sequence[str],
) -> Ratings:
    from harness.datasets import loaded

    if not loaded.is_loaded(source):
        raise _no_ratings(source)
    return loaded.of_loaded(source, named, loaded.name_of(source), values, policies, written)


def _value_format(section: DatasetSection, chosen: Mapping[str, object]) -> ValueFormat:
    """Return how values of loaded data are written; a decimal point is not assumed."""
    decimal = section.decimal if "decimal" in chosen else ""
    return ValueFormat(
        decimal, section.thousands or "", section.time_format or "", section.id_spellings
    )


def _load(
    section: DatasetSection, cache: Path | None, base: Path | None, progress: Progress | None
) -> Ratings:
    if section.synthetic is not None or section.name == "synthetic":
        from harness.datasets.synthetic import make_up  # imports Numba

        return make_up(section.synthetic or SyntheticSection())
    data_set = section.data_set
    if data_set is None and section.name is not None:
        from harness.datasets.plugin import load_plugin

        return load_under(load_plugin(section.name, base), section, base)
    if data_set is None:
        return _load_file(section, base, progress)
    from harness.datasets.named import load_named

    return load_named(data_set, section, cache, base, progress)


def _load_file(section: DatasetSection, base: Path | None, progress: Progress | None) -> Ratings:
    """Load a file of one's own."""
    from harness.datasets.places import found, name_of
    from harness.datasets.readers import read_file
    from harness.datasets.readers.base import ReadOptions
    from harness.datasets.several import joined

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
    )
    with found(section.paths, base, section.sha256) as places:
        tables = [read_file(place.path, options, place.where, progress) for place in places]
    name = name_of(section.paths)
    return Ratings.from_table(joined(tables, name), name, **section.policies)


def _section(source: object, base: Path | None) -> DatasetSection:
    if isinstance(source, Path):
        source = {"path": str(source)}
    is_name = not isinstance(source, str) or source in dataset_names()
    # A file without a usual ending; one that is called as a data set is not looked for.
    if not is_name and (is_url(str(source)) or placed(str(source), base).exists()):
        source = {"path": source}
    if not isinstance(source, str | Mapping):
        raise _no_ratings(source)
    from harness.section_faults import validated

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


def _aligned(features: pd.DataFrame | None, ids: NDArray[np.object_]) -> pd.DataFrame | None:
    return None if features is None else features.reindex(ids)


def _no_ratings(source: object) -> DataError:
    from harness.datasets.loaded import SOURCES

    return DataError(
        f"dataset: {repr(source)[:60]} is not ratings; give the name of a data set, a path, "
        f"the dataset part of a config, {SOURCES}, a surprise.Dataset or Ratings"
    )
