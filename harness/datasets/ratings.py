"""Ratings in columns: the data structure of the whole harness."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.arguments import checked
from harness._util.libraries import pd
from harness._util.names import Named
from harness.datasets import features
from harness.datasets.cleaning import clean
from harness.datasets.columns import RATINGS
from harness.datasets.conversion import convert
from harness.datasets.policies import Policies, ValueFormat
from harness.datasets.section import DatasetSection
from harness.datasets.tables import table_of_frame
from harness.errors import DataError, counted
from harness.notes.note import Note
from harness.schema.sections import validated

if TYPE_CHECKING:
    import surprise

    from harness.datasets.catalogue import DataSet
    from harness.datasets.conversion import Table


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(Named):
    """User, item and rating of each row, in the order of the source.

    Made by `harness.datasets.load` or by one of the ``from_`` methods, which check their input; the
    constructor itself does not.

    Attributes
    ----------
    users, items : ndarray of int32, shape (n,)
        Codes, numbered by first appearance; no pair occurs twice.
    ratings : ndarray of float64, shape (n,)
        Finite and, unless ratings outside it are kept, within `scale`.
    timestamps : ndarray of int64, shape (n,), or None
        Seconds since 1970.
    user_ids, item_ids : ndarray, shape (n_users,) and (n_items,)
        The id of each code: text, as Surprise reads it from files.
    scale : (float, float)
        The lowest and the highest rating that can be given.
    name : str
        Name of the data in tables.
    licence, citation : str or None
        What the source asks of those who use it.
    notes : tuple of Note
        What was done to the rows, such as ``12 duplicate pairs: the last kept, 13 rows dropped``.
    user_features, item_features : DataFrame or None
        What else is known: columns of text, with a row for each code, NaN where nothing is known,
        and the raw ids as index. A column ``genres`` of items has several separated by ``|``.
        They are not part of the fingerprint.
    at_random : ndarray of float64, shape (m,), or None
        Other ratings, of items that were sampled at random for their users; no part of it either.

    Examples
    --------
    >>> r = Ratings.from_columns(["ann", "ann", "bob"], ["x", "y", "x"], [5, 3, 4], scale=(1, 5))
    >>> r
    <Ratings columns: 3 ratings of 2 items by 2 users, 1 to 5>
    >>> r.users.tolist(), r.user_ids.tolist()
    ([0, 0, 1], ['ann', 'bob'])
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    ratings: NDArray[np.float64]
    timestamps: NDArray[np.int64] | None
    user_ids: NDArray[np.object_]
    item_ids: NDArray[np.object_]
    scale: tuple[float, float]
    name: str = "ratings"
    licence: str | None = None
    citation: str | None = None
    notes: tuple[Note, ...] = ()
    user_features: pd.DataFrame | None = None
    item_features: pd.DataFrame | None = None
    at_random: NDArray[np.float64] | None = None

    _guessed = ("ratings", "ratings")

    def __len__(self) -> int:
        return len(self.ratings)

    def __repr__(self) -> str:
        n_users, n_items, n_ratings = self.counts
        return (
            f"<Ratings {self.name}: {counted(n_ratings, 'rating')} of {counted(n_items, 'item')} "
            f"by {counted(n_users, 'user')}, {self.scale[0]:.16g} to {self.scale[1]:.16g}>"
        )

    @property
    def n_users(self) -> int:
        """Number of users, including those without a row after `take`."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items, including those without a row after `take`."""
        return len(self.item_ids)

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Users and items that have a rating, and ratings."""
        users, items = np.zeros(self.n_users, bool), np.zeros(self.n_items, bool)
        users[self.users] = items[self.items] = True
        return int(users.sum()), int(items.sum()), len(self)

    @property
    def density(self) -> float:
        """The rated part of all pairs of user and item that have a rating, in [0, 1]."""
        n_users, n_items, n_ratings = self.counts
        return n_ratings / (n_users * n_items) if n_ratings else 0.0

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over columns, raw ids and scale, as 64 hexadecimal digits.

        The identity of the data in results: equal for equal data on every machine, whatever the
        name or the file they came from.
        """
        digest = hashlib.sha256()
        columns = (self.users, self.items, self.ratings, self.timestamps)
        for column, kind in zip(columns, ("<i4", "<i4", "<f8", "<i8"), strict=True):
            if column is not None:
                digest.update(f"{kind}{len(column)}:".encode())
                digest.update(np.ascontiguousarray(column, dtype=kind).data)
        for ids in (self.user_ids, self.item_ids):
            texts = [str(raw_id).encode("utf-8", "surrogatepass") for raw_id in ids]
            kind = "text" if ids.dtype == object else "number"
            digest.update(f"{kind}{','.join(str(len(text)) for text in texts)}:".encode())
            digest.update(b"".join(texts))
        digest.update(f"{self.scale[0]!r},{self.scale[1]!r}".encode())
        return digest.hexdigest()

    def take(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> Ratings:
        """Return some of the rows, in the order given, with the same codes and ids.

        Parameters
        ----------
        rows : ndarray of int, shape (m,), or of bool, shape (n,)

        Examples
        --------
        >>> r = Ratings.from_columns([7, 8], [1, 1], [2, 4], scale=(1, 5))
        >>> part = r.take(np.array([1]))
        >>> part.users.tolist(), part.n_users
        ([1], 2)
        """
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            ratings=self.ratings[rows],
            timestamps=None if self.timestamps is None else self.timestamps[rows],
        )

    @cached_property
    def genres(self) -> NDArray[np.bool_]:
        """Which genres each item has, of shape (n_items, n_genres); a DataError without any."""
        return features.genres(self)

    def bare(self) -> Ratings:
        """Return the ratings without what else is known: features, and ratings at random."""
        if self.user_features is None and self.item_features is None and self.at_random is None:
            return self
        return replace(self, user_features=None, item_features=None, at_random=None)

    @classmethod
    def from_table(
        cls,
        table: Table,
        name: str,
        data_set: DataSet | None = None,
        section: DatasetSection | None = None,
        **policies: Unpack[Policies],
    ) -> Ratings:
        """Check the rows of a table and number their ids; `data_set` is theirs, if any.

        The policies come from a section of a config, if there is one.
        """
        licence, citation = (data_set.licence, data_set.citation) if data_set else (None, None)
        if section is None:
            section = validated(DatasetSection, {"path": "-", **policies}, table.at(-1))
        table, scale = clean(table, section)
        users, items = table.ids["user"], table.ids["item"]
        values, times = table.numbers["rating"], table.times.get("timestamp")
        columns = users.codes, items.codes, values, times, users.ids, items.ids
        return cls(*columns, scale, name, licence, citation, table.notes)

    @classmethod
    @checked(DataError)
    def from_columns(
        cls,
        users: ArrayLike,
        items: ArrayLike,
        ratings: ArrayLike,
        timestamps: ArrayLike | None = None,
        *,
        name: str = "columns",
        **policies: Unpack[Policies],
    ) -> Ratings:
        """Make ratings from raw columns.

        Parameters
        ----------
        users, items : array_like, shape (n,)
            Ids, of one type each: text or whole numbers, which become text.
        ratings : array_like of float, shape (n,)
        timestamps : array_like, shape (n,), optional
            Seconds since 1970, or dates.
        name : str
            What to call the data.
        **policies
            As in the ``dataset`` part of a config: ``scale``, the lowest and the highest rating, by
            default of the data, with 0 if all are the same; ``duplicates`` (``"error"``,
            ``"first"``, ``"last"``, ``"latest"``, ``"mean"``, ``"sum"`` or ``"count"``),
            ``missing`` and ``unreadable`` (``"error"`` or ``"drop"``), ``out_of_scale``
            (``"error"``, ``"clip"``, ``"drop"`` or ``"keep"``), ``not_rated``, numbers that mean
            "not rated", ``no_id``, texts that stand for no user or item, and ``values``, the
            numbers of words that stand for ratings.

        Raises
        ------
        DataError
            If the columns differ in length, contain something other than ids and numbers, or have
            rows that the policies refuse.

        Examples
        --------
        >>> made = Ratings.from_columns([1, 1], ["x", "x"], [2, 4], scale=(1, 5), duplicates="mean")
        >>> str(made.notes[0])
        '1 duplicate pair: the mean kept, 1 row dropped'
        """
        columns = {"user": users, "item": items, "rating": ratings}
        if timestamps is not None:
            columns["timestamp"] = timestamps

        section = validated(DatasetSection, {"path": "-", **policies}, name)
        table = convert(columns, RATINGS.kinds, name, values=_value_format(section))
        return cls.from_table(table, name, section=section)

    @classmethod
    @checked(DataError)
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        timestamp: str | None = None,
        name: str = "frame",
        decimal: str = "",
        **policies: Unpack[Policies],
    ) -> Ratings:
        """Make ratings from a pandas DataFrame.

        Parameters
        ----------
        frame : DataFrame
        user, item, rating, timestamp : str, optional
            Names of the columns; found by their usual names when left out.
        decimal : str
            The decimal mark of ratings that are text: ``","`` for 4,5.
        name, **policies
            See `from_columns`.

        Raises
        ------
        DataError
            If a column is missing, or as in `from_columns`.
        """
        roles = {"user": user, "item": item, "rating": rating, "timestamp": timestamp}
        named = {role: column for role, column in roles.items() if column is not None}

        section = validated(DatasetSection, {"path": "-", **policies}, name)
        table = table_of_frame(frame, named, name, _value_format(section, decimal))
        return cls.from_table(table, name, section=section)

    @classmethod
    @checked(DataError)
    def from_surprise(
        cls, dataset: surprise.Dataset, *, name: str = "surprise", **policies: Unpack[Policies]
    ) -> Ratings:
        """Make ratings from a ``surprise.Dataset``, in its order, with its scale.

        Parameters
        ----------
        dataset : surprise.Dataset
            As made by ``load_from_df``, ``load_from_file`` or ``load_builtin``.
        name, **policies
            See `from_columns`.

        Raises
        ------
        DataError
            If the dataset holds folds instead of ratings, or as in `from_columns`.
        """
        columns = columns_of(dataset, name)
        policies = {"scale": dataset.reader.rating_scale, **policies}
        return cls.from_columns(*columns, name=name, **policies)

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame with the columns user, item, rating and, where known, timestamp."""
        columns: dict[str, NDArray[np.generic]] = {
            "user": self.user_ids[self.users],
            "item": self.item_ids[self.items],
            "rating": self.ratings,
        }
        if self.timestamps is not None:
            columns["timestamp"] = self.timestamps
        return pd.DataFrame(columns)

    def to_surprise(self) -> surprise.Dataset:
        """Return a ``surprise.Dataset`` with the same rows, raw ids and scale.

        Surprise keeps a Python tuple for each rating: some 200 bytes a row.
        """
        return dataset_of(self.to_frame(), self.scale)


def _value_format(section: DatasetSection, decimal: str = "") -> ValueFormat:
    return ValueFormat(decimal=decimal, no_id=section.no_id, values=section.values)


class Columns(NamedTuple):
    """The raw ratings of a data set; `timestamps` are None unless each row has one."""

    users: list[Any]
    items: list[Any]
    ratings: list[float]
    timestamps: list[Any] | None


def columns_of(dataset: surprise.Dataset, name: str) -> Columns:
    """Return the columns of a data set, or raise a DataError for one that holds folds."""
    raw = getattr(dataset, "raw_ratings", None)
    if raw is None:
        raise DataError(
            f"{name}: a surprise.Dataset without raw_ratings; "
            "load the whole of it with load_from_df or load_from_file"
        )
    users, items, ratings, times = map(list, zip(*raw, strict=True)) if raw else ([], [], [], [])
    dated = times if raw and all(time is not None for time in times) else None
    return Columns(users, items, ratings, dated)


def dataset_of(frame: pd.DataFrame, scale: tuple[float, float]) -> surprise.Dataset:
    """Return a data set of the columns user, item, rating and, where it is there, timestamp."""
    from surprise import Dataset, Reader

    columns = frame[["user", "item", "rating"]]
    dataset = Dataset.load_from_df(columns, Reader(rating_scale=scale))
    if "timestamp" in frame:
        times = frame["timestamp"].tolist()
        dataset.raw_ratings = [
            (user, item, rating, time)
            for (user, item, rating, _), time in zip(dataset.raw_ratings, times, strict=True)
        ]
    return dataset
