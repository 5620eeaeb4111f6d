"""Predictions as tables of any library, and as lists by user."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness._util.libraries import pd
from harness.datasets.columns import Roles, find_columns
from harness.datasets.exchanged import KINDS, NAMES
from harness.datasets.frames import arrow_of
from harness.errors import ColumnsError, DataError, MetricError
from harness.rankings.columns import refuse_repeats

if TYPE_CHECKING:
    from harness.rankings.pairs import Row


PREDICTIONS = Roles({role: KINDS[role] for role in ("user", "estimate", "rating")}, NAMES)
"""The columns that are read; an item only has to differ from the user's other items."""


def is_table(predictions: object) -> bool:
    """Return whether an object is a table or a mapping of columns, not one of lists by user."""
    if not isinstance(predictions, Mapping):
        return True
    names = [str(name) for name in predictions]
    return all(PREDICTIONS.positions(names, role) for role in ("estimate", "rating"))


def columns_of(predictions: Any) -> tuple[Any, Any, Any]:
    """Return the users, estimates and ratings of a table; items, if it has some, differ.

    Parameters
    ----------
    predictions : DataFrame, table or mapping of columns
        Of pandas, or of any library whose tables have ``__arrow_c_stream__`` (Polars, Arrow,
        DuckDB), ``__dataframe__`` or ``to_pandas``. Columns are found by their usual names, as
        in files: ``user``, ``estimate`` or ``est``, ``rating`` or ``r_ui``.

    Raises
    ------
    MetricError
        If a column is missing, the table cannot be read, or a user has an item twice.

    Examples
    --------
    >>> frame = pd.DataFrame({"user": ["a", "a"], "estimate": [3.5, 4.0], "rating": [3, 5]})
    >>> [column.tolist() for column in columns_of(frame)]
    [['a', 'a'], [3.5, 4.0], [3, 5]]
    """
    if isinstance(predictions, Mapping):
        names, column = list(predictions), predictions.__getitem__
    elif isinstance(predictions, pd.DataFrame):
        names, column = list(predictions.columns), lambda name: predictions[name].to_numpy()
    else:
        try:
            table = arrow_of(predictions, "predictions")
        except DataError as error:
            raise MetricError(str(error)) from error.__cause__
        names, column = table.column_names, lambda name: np.asarray(table[name].to_pandas())
    texts = [str(name) for name in names]
    try:
        places = find_columns(texts, {}, "predictions", PREDICTIONS)
    except ColumnsError as error:
        raise MetricError(
            f"{error}; a table has columns user, estimate and rating (of an index: "
            "frame.reset_index())"
        ) from None
    users, estimates, ratings = (column(names[places[role]]) for role in PREDICTIONS.kinds)
    for place in PREDICTIONS.positions(texts, "item"):
        refuse_repeats("predictions", users, column(names[place]))
    return users, estimates, ratings


def rows_by_user(
    predictions: Mapping[Hashable, Iterable[object]],
    row: Callable[[str, object], Row],
) -> list[Row]:
    """Return the rows of lists by user; `row` reads one, and gets its place.

    A row is a pair of estimate and rating, a triple of item, estimate and rating, or a prediction.
    """
    rows: list[Row] = []
    for user, listed in predictions.items():
        where = f"predictions[{user!r:.40}]"
        if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
            raise MetricError(f"{where}: {listed!r:.60}; give a list of (estimate, rating)")
        before = len(rows)
        for position, entry in enumerate(listed):
            read = row(f"{where}[{position}]", entry)
            item = read.user if read.form == "triple" else read.item
            rows.append(read._replace(user=user, item=item))
        if len(rows) == before:
            raise MetricError(f"{where}: empty; leave this user out")
    return rows
