"""A fitted model that goes on with new ratings, of known and of new users and items."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from harness._util import seeds
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness.algorithms import registry, surprise
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats, GroupedLists, group_lists
from harness.errors import AlgorithmError, DataError, listed
from harness.models import estimates as models
from harness.models import estimates as numerical_causes
from harness.models import estimates as numerical_faults
from harness.models.fitting import epochs_of, seed_of
from harness.models.new_users import in_columns, inner_ids, on_scale, rating_columns
from harness.rankings.columns import as_ids

PAIRS_OF_EPOCHS = 20
"""By default, two epochs for each so many of a fit. With more, SVD++ learns old ratings by heart,
and after an odd number NMF is worse than before (``dev/benchmarks/update.py``)."""


@checked(AlgorithmError)
def update(
    model: surprise.AlgoBase,
    ratings: Iterable[Sequence[Any]] | pd.DataFrame,
    *,
    epochs: int | None = None,
) -> surprise.AlgoBase:
    """Return a model that knows new ratings too, of known and of new users and items.

    Parameters
    ----------
    model : surprise.AlgoBase
        Fitted; it is not changed.
    ratings : iterable of (user, item, rating), or DataFrame
        Raw ids as in training; a DataFrame has columns ``user``, ``item`` and ``rating``. A new
        rating of a pair that training has takes the place of the old one.
    epochs : int, optional
        At least 1, of SVD, SVDpp, NMF and BaselineOnly with ``sgd``: how often the model descends
        over all ratings, old and new. By default a tenth of its ``n_epochs``, rounded up to an
        even number.

    Returns
    -------
    surprise.AlgoBase
        Of the class of the model, with all ratings in its ``trainset``.

    Raises
    ------
    AlgorithmError
        If the model is not fitted, belongs to your own class, or `epochs` is not for its class.
    DataError
        For a pair that is given twice, ratings that are not numbers or outside the scale, and ids
        that are numbers where the ids of training are text, or the reverse.

    Notes
    -----
    SVD, SVDpp, NMF and BaselineOnly with ``sgd`` go on from their biases and factors; biases and
    factors of new users and items are drawn as at the beginning of a fit. All other algorithms are
    fitted to all ratings: they have no random start, but for CoClustering, and are what a fit on
    all gives.

    Examples
    --------
    >>> import harness, surprise
    >>> model = harness.fit(surprise.SVD(random_state=0), harness.load("bundled").to_surprise())
    >>> new = harness.update(model, [("1", "50", 5.0), ("somebody", "50", 4.0)])
    >>> new.trainset.n_ratings - model.trainset.n_ratings, new.trainset.knows_user(671)
    (2, True)
    """
    fitted = in_columns(model)
    entry = registry.entry_of(type(model))
    if entry is None:
        raise AlgorithmError(
            f"{type(model).__name__}: your own class cannot continue training; fit it again"
        )
    if epochs is not None and epochs < 1:
        raise AlgorithmError(f"update: epochs is {epochs!r}; give a whole number from 1")
    trainset = _joined(fitted.trainset, _columns_of(fitted.trainset, ratings))
    numerical_faults.check_ratings(trainset)
    updated = copy.copy(fitted)
    vars(updated).pop("error_by_epoch", None)  # of the fit, not of what goes on from it
    with numerical_faults.report_division_by_zero(updated), np.errstate(all="ignore"):
        rng = seeds.generator(seed_of(fitted), "update", trainset.n_ratings)
        n_epochs = epochs or 2 * -(-epochs_of(fitted) // PAIRS_OF_EPOCHS)
        updated.trainset = trainset
        if not (entry.may_fit(updated, trainset) and entry.go_on(updated, trainset, n_epochs, rng)):
            if epochs is not None:
                raise AlgorithmError(
                    f"{type(model).__name__}: it has no epochs to go on with; leave `epochs` out"
                )
            models.fit(updated, trainset)
    numerical_causes.check_fitted(updated)
    return updated


def _columns_of(
    trainset: ColumnTrainset, ratings: Iterable[Sequence[Any]] | pd.DataFrame
) -> pd.DataFrame:
    """Return new ratings with raw ids, checked."""
    if isinstance(ratings, pd.DataFrame):
        frame = rating_columns(ratings)
    else:
        rows = [tuple(row) if isinstance(row, list | tuple) else row for row in ratings]
        for place, row in enumerate(rows):
            if not isinstance(row, tuple) or len(row) < 3:
                raise DataError(f"ratings[{place}]: {row!r:.60}; give (user, item, rating)")
        users, items = (as_ids([row[side] for row in rows]) for side in (0, 1))
        frame = pd.DataFrame({"user": users, "item": items, "rating": [row[2] for row in rows]})
    if frame.empty:
        raise DataError("ratings: none; give some, such as [(user, item, rating)]")
    if frame[["user", "item"]].isna().any(axis=None):
        raise DataError("ratings: a user or an item without an id; give one, or drop the rating")
    values = on_scale(trainset, frame)
    if (repeated := frame.duplicated(["user", "item"])).any():
        some = listed(
            [
                str(pair)
                for pair in zip(frame["user"][repeated], frame["item"][repeated], strict=True)
            ],
            3,
        )
        raise DataError(f"ratings: a pair is given twice ({some}); keep one")
    return frame.assign(rating=values)


def _joined(trainset: ColumnTrainset, frame: pd.DataFrame) -> ColumnTrainset:
    """Return a training set with new ratings behind the old ones, of new users and items too."""
    sides, names = [], []
    for side, known, raw in (
        ("user", trainset._raw2inner_id_users, trainset.raw_users(trainset.user_codes)),
        ("item", trainset._raw2inner_id_items, trainset.raw_items(trainset.item_codes)),
    ):
        ids = frame[side].tolist()
        _check_kind(side, ids, raw)
        inner = inner_ids(f"ratings: {side}s", ids, known)
        new = {name: None for name, place in zip(ids, inner.tolist(), strict=True) if place < 0}
        places = {name: len(raw) + number for number, name in enumerate(new)}
        sides.append(
            np.array(
                [
                    places[name] if place < 0 else place
                    for name, place in zip(ids, inner.tolist(), strict=True)
                ],
                dtype=np.int32,
            )
        )
        names.append([*raw, *new])
    users, items = sides
    values = frame["rating"].to_numpy(np.float64)
    by_user = _with(trainset.by_user, users, items, values, len(names[0]))
    by_item = _with(trainset.by_item, items, users, values, len(names[1]))
    codes = tuple(np.arange(len(raw), dtype=np.int32) for raw in names)
    return ColumnTrainset(
        by_user, by_item, (codes[0], codes[1]), (names[0], names[1]), trainset.rating_scale
    )


def _check_kind(side: str, ids: list[object], trained: Sequence[object]) -> None:
    """Raise an error for numbers where training has text, and the reverse: 1 is not "1"."""
    if len(kinds := {isinstance(name, str) for name in trained}) != 1:
        return
    for name in ids:
        if isinstance(name, str) not in kinds:
            raise DataError(
                f"ratings: {side} {name!r:.60}; ids of the training set are like {trained[0]!r}: "
                "give ids of that type"
            )


def _with(
    lists: GroupedLists, owners: Codes, others: Codes, ratings: Floats, n_owners: int
) -> GroupedLists:
    """Return lists with more ratings behind each owner's; a known pair has the new one."""
    before = np.repeat(np.arange(len(lists.offsets) - 1, dtype=np.int64), np.diff(lists.offsets))
    span = int(max(lists.ids.max(initial=0), others.max(initial=0))) + 1
    old_pairs = pd.Index(before * span + lists.ids)
    places = old_pairs.get_indexer(owners.astype(np.int64) * span + others)
    values = lists.ratings.copy()
    values[places[places >= 0]] = ratings[places >= 0]
    added = places < 0
    return group_lists(
        np.concatenate([before.astype(np.int32), owners[added]]),
        np.concatenate([lists.ids, others[added]]),
        np.concatenate([values, ratings[added]]),
        n_owners,
    )
