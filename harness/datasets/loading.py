"""Make `Ratings` of what a config or a caller names: a data set, a file or loaded data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.arguments import check_path, checked
from harness.datasets.ratings import Ratings
from harness.datasets.section import DatasetSection, FeaturesSection
from harness.datasets.synthetic_section import SyntheticSection
from harness.errors import DataError

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
        from harness.datasets.loaded import of_anything

        ratings = of_anything(source)
    else:
        if not isinstance(source, DatasetSection):
            from harness.datasets.sources import section_of

            source = section_of(source, base)
        section: DatasetSection = source
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
    from harness.datasets.options_of_loaded import under_options

    return load(
        under_options(source, section),
        users=section.users,
        items=section.items,
        at_random=section.at_random,
        base=base,
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
        from harness.datasets.own_ratings import load_file

        return load_file(section, base, progress)
    from harness.datasets.named import load_named

    return load_named(data_set, section, cache, base, progress)
