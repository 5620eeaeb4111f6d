"""What a ``surprise.Dataset`` holds as columns, and columns as a ``surprise.Dataset``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from harness.errors import DataError
from harness.lazy import pd

if TYPE_CHECKING:
    import surprise


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
