"""Make `Ratings` of what a config or a caller names: a data set, a file or loaded data."""

from __future__ import annotations

import io
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness._util import names
from harness._util.arguments import as_array, check_path, checked
from harness._util.files import cache_folder, hold, placed
from harness._util.libraries import pd
from harness.datasets import features
from harness.datasets.catalogue import DataSet, FeatureFile, dataset_names, is_archive
from harness.datasets.cleaning import refuse_faults
from harness.datasets.download import fetch, find_local
from harness.datasets.download import inspect as inspect_copy
from harness.datasets.frames import SOURCES, is_loaded, no_ratings, of_anything, of_loaded
from harness.datasets.inspection import inspect
from harness.datasets.places import find_file
from harness.datasets.plays import read_plays, read_plays_as_pandas
from harness.datasets.policies import Policies, ValueFormat
from harness.datasets.ratings import Ratings
from harness.datasets.readers import read_file
from harness.datasets.readers.base import ReadOptions
from harness.datasets.readers.packed import BUFFER, CountedStream, Progress, open_member
from harness.datasets.readers.text import read_text
from harness.datasets.section import (
    OF_LOADED,
    OF_VALUES,
    DatasetSection,
    FeaturesSection,
    SyntheticSection,
    as_path,
)
from harness.datasets.synthetic import make_up
from harness.datasets.tables import table_of_frame
from harness.errors import DataError, HarnessError, PluginError, reason_of
from harness.notes.note import Note
from harness.plugins import registry as plugins
from harness.plugins.own_modules import search_in
from harness.schema.sections import validated


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
        Ratings of items that were sampled at random for their users.
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
    if isinstance(source, DatasetSection | str | Path | Mapping) and not hasattr(source, "tocoo"):
        if isinstance(source, str | Path):
            check_path(f"{source!s:.60}", source, DataError)
        section = source if isinstance(source, DatasetSection) else section_of(source, base)
        users = section.users if users is None else users
        items = section.items if items is None else items
        at_random = section.at_random if at_random is None else at_random
        for description in (users, items):
            if isinstance(description, FeaturesSection):  # said before much is read, or fetched
                find_file(description.path, base)
        if section.synthetic is not None or section.name == "synthetic":
            ratings = make_up(section.synthetic or SyntheticSection())
        elif section.name is None:
            with inspect(section, base) as found:
                ratings = Ratings.from_table(found.table(progress), found.name, section=section)
        elif (data_set := section.data_set) is not None:
            ratings = load_named(data_set, section, cache, base, progress)
        else:
            ratings = load_under(load_plugin(section.name, base), section, base)
    elif isinstance(source, Ratings):
        ratings = source
    elif hasattr(source, "raw_ratings") or hasattr(source, "folds_files"):
        ratings = Ratings.from_surprise(source)
    else:
        ratings = of_anything(source)
    for role, description in (("user", users), ("item", items)):
        if description is not None:
            ratings = features.add(ratings, role, description, base)
    if at_random is not None:
        ratings = add(ratings, at_random, base)
    return ratings


@checked(DataError)
def load_under(source: Any, section: DatasetSection, base: Path | None = None) -> Ratings:
    """Return loaded data under the options of a config's ``dataset`` part, like data of a file.

    Options that the section does not set leave the data as `load` gives them; the options in
    `harness.datasets.section.OF_LOADED` are used.
    """
    return load(
        under_options(source, section),
        users=section.users,
        items=section.items,
        at_random=section.at_random,
        base=base,
    )


LOCK_PATIENCE = 3600.0


def load_named(
    data_set: DataSet,
    section: DatasetSection,
    cache: Path | None,
    base: Path | None,
    progress: Progress | None,
) -> Ratings:
    """Load a data set from the package, from a copy on this machine, or from the network."""
    policies = section.policies
    if "duplicates" not in section.model_fields_set:
        policies["duplicates"] = data_set.duplicates
    if section.not_rated is None:
        policies["not_rated"] = []  # what its numbers mean is known
    if section.scale is None and math.isfinite(data_set.scale[1]):
        policies["scale"] = data_set.scale
    if data_set.bundled:
        path = Path(__file__).parent / data_set.bundled
        table = read_file(path, ReadOptions(), data_set.name)
        return Ratings.from_table(table, data_set.name, data_set, **policies)
    notes: list[Note] = []
    with ExitStack() as held:
        if section.path is not None:
            path = inspect_copy(placed(section.paths[0], base), data_set)
        else:
            downloads = (cache or cache_folder()) / "datasets"
            path = _copy(data_set, downloads, base, progress, notes, held)
        where = str(path)
        if is_archive(path):
            where = f"{path}!{data_set.member}"
            stream = held.enter_context(
                open_member(path, data_set.member, data_set.member_bytes, progress)
            )
        else:
            file = held.enter_context(path.open("rb"))
            counted = CountedStream(file, progress, path.stat().st_size)
            stream = io.BufferedReader(counted, BUFFER)
        if section.like == "pandas":
            table = read_plays_as_pandas(stream, where)
        elif data_set.content == "plays":
            table = read_plays(stream, where)
        else:
            options = ReadOptions(separator=data_set.separator, encoding="utf-8")
            table = read_text(stream, options, where)
        published = list(_features(data_set, path))
    known = [note for note in table.notes if note.code != "columns-assumed"]
    table = replace(table, notes=tuple(known))
    ratings = Ratings.from_table(table, data_set.name, data_set, **policies)
    for role, described, data in published:
        ratings = features.add_published(ratings, role, described, data)
    if not is_archive(path) and data_set.known_hash and data_set.hash_of(path) is None:
        size = (len(ratings), ratings.n_users)
        if size != (data_set.n_ratings, data_set.n_users):
            raise DataError(
                f"{path}: {size[0]:,} ratings by {size[1]:,} users, but {data_set.name} has "
                f"{data_set.n_ratings:,} by {data_set.n_users:,}; leave out name "
                "to read it as your own"
            )
    return replace(ratings, notes=(*ratings.notes, *notes))


def _features(data_set: DataSet, path: Path) -> Iterator[tuple[str, FeatureFile, bytes]]:
    """Yield for users and items the first file that a copy holds: an archive, or loose files."""
    for role, files in (("user", data_set.users), ("item", data_set.items)):
        for file in files:
            with suppress(DataError, OSError):
                if is_archive(path):
                    with open_member(path, file.member, file.member_bytes) as stream:
                        data = stream.read()
                else:
                    data = path.with_name(file.name).read_bytes()
                yield role, file, data
                break


def _copy(
    data_set: DataSet,
    downloads: Path,
    base: Path | None,
    progress: Progress | None,
    notes: list[Note],
    held: ExitStack,
) -> Path:
    """Return a copy of a data set, which one process at a time may fetch."""
    folder = downloads / data_set.name
    with ExitStack() as lock:
        try:
            lock.enter_context(hold(folder / ".lock", LOCK_PATIENCE))
        except TimeoutError:
            raise DataError(
                f"{folder}: another process has held it for {LOCK_PATIENCE:.0f} s; "
                "wait for it or end it"
            ) from None
        except OSError:  # no process writes to a folder to read only; a disk without locks
            pass
        path, skipped = find_local(data_set, downloads, base)
        notes += skipped
        if path is not None:
            return path
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            notes.append(Note("download-not-kept", {"reason": str(error)}))
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="harness-")))
        return fetch(data_set, folder, progress)


def load_plugin(name: str, base: Path | None = None) -> Ratings:
    """Return the ratings of a function, called without arguments, under the name of the plug-in.

    A function returns `harness.Ratings`, or loaded data as `harness.load` takes them. Results
    keep the fingerprint of the ratings, as for files.

    Parameters
    ----------
    name : str
        A name that a package declares in the group ``harness.datasets``, or ``module:function``.
    base : Path, optional
        A folder that may have your own module, beside the working directory.

    Raises
    ------
    DataError
        If there is no such function, if it fails, or if it returns something else; the message
        names the plug-in and its package.

    Examples
    --------
    >>> import sys, types, pandas as pd
    >>> sys.modules["shops"] = shops = types.ModuleType("shops")
    >>> shops.visits = lambda: pd.DataFrame({"user": [1, 1], "item": [7, 8], "rating": [2, 5]})
    >>> load_plugin("shops:visits")
    <Ratings shops:visits: 2 ratings of 2 items by 1 user, 2 to 5>
    >>> del sys.modules["shops"]
    """
    if ":" in name:
        search_in((base or Path(), Path()))
    try:
        plugin = plugins.find("datasets", name)
        function = plugin.load()
    except PluginError as error:
        raise DataError(str(error)) from error.__cause__
    where = f"datasets: {name!r}" + (f" of {plugin.origin}" if plugin.version else "")
    if not callable(function):
        raise DataError(f"{where}: {type(function).__name__} is not a function; name one")
    try:
        data = function()
    except HarnessError as error:
        raise DataError(f"{where}: {error}") from error
    except (Exception, SystemExit) as error:
        fault = f"{type(error).__name__}: {reason_of(error)}"
        raise DataError(f"{where}: it failed ({fault}); mend the function") from error
    if isinstance(data, Ratings):
        return replace(data, name=name)
    if is_loaded(data):
        try:
            return of_loaded(data, {}, name, ValueFormat(), {})
        except DataError as error:
            raise DataError(f"{where}: {error}") from error
    raise DataError(
        f"{where}: it returned a {type(data).__name__}; return harness.Ratings or {SOURCES}"
    )


def add(ratings: Ratings, source: Any, base: Path | None = None) -> Ratings:
    """Return ratings with those at random of a path, or of an array."""
    if isinstance(source, str | os.PathLike):
        where = os.fspath(source)
        table = read_file(find_file(where, base), ReadOptions(decimal=".", in_config=False), where)
        refuse_faults(table)
        values = table.numbers["rating"]
    else:
        where = "at_random"
        values = as_array(where, source, np.float64, DataError)
    if values.ndim != 1 or not len(values):
        raise DataError(f"{where}: no list of ratings at random; give one rating at least")
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a rating that is not a finite number; leave it out")
    return replace(ratings, at_random=values)


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
        for unused in (key for key in ("time_format", "thousands") if key in chosen):
            raise DataError(f"dataset.{unused}: Ratings hold numbers; leave `{unused}` out")
        values = replace(values, time_format="seconds", no_id=values.no_id or ())
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
        own = [key for key in OF_VALUES if key in chosen and key not in policies]
        for key in own:
            raise DataError(
                f"dataset.{key}: a surprise.Dataset has its own columns and values; leave "
                f"`{key}` out"
            )
        return Ratings.from_surprise(source, **policies)
    written = [key for key in OF_VALUES if key in chosen]
    return of_anything(source, named, values, policies, written)


def _value_format(section: DatasetSection, chosen: Mapping[str, object]) -> ValueFormat:
    """Return how values of loaded data are written."""
    keys = {*OF_VALUES} - {"columns"}
    return ValueFormat(**section.model_dump(include=keys, exclude_none=True))


def _aligned(features: pd.DataFrame | None, ids: NDArray[np.object_]) -> pd.DataFrame | None:
    return None if features is None else features.reindex(ids)


def section_of(source: object, base: Path | None) -> DatasetSection:
    """Return the section, or raise a DataError where it is none and no ratings."""
    if isinstance(source, Path):
        source = {"path": str(source)}
    source = as_path(source, base)
    if not isinstance(source, str | Mapping):
        raise no_ratings(source)
    try:
        return validated(DatasetSection, source, "dataset", base or Path())
    except DataError:
        if not isinstance(source, str):
            raise
        hint = names.advice("data-sets", source, dataset_names(), None)
        raise DataError(
            f"dataset: no data set is called {source!r}, and no file in "
            f"{(base or Path()).resolve()}; {hint}"
        ) from None
