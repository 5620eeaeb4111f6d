"""Warnings of what Surprise does without a word; the numbers stay Surprise's."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from numbers import Real
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.algorithms import surprise
from harness.extras.accelerate.worth import held

if TYPE_CHECKING:
    from harness.algorithms.trainset import Floats

LOOKED_AT = 100  # unknown ids of a test set


class SurpriseWarning(UserWarning):
    """Something that Surprise accepts and that is probably not meant."""


def _warn(text: str) -> None:
    """Warn at the first line outside this package and Surprise."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, SurpriseWarning, stacklevel=depth)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in ("surprise", "joblib") or module.startswith(__package__)


def warn_of_ratings(ratings: Floats, scale: tuple[Any, Any]) -> None:
    """Warn of ratings that are not numbers, or outside the scale."""
    lowest, highest = scale
    if not all(isinstance(bound, Real) for bound in scale):
        return
    n_missing = int(np.isnan(ratings).sum())
    if n_missing:
        _warn(
            f"ratings: {n_missing:,} of {len(ratings):,} are NaN; Surprise fits them, and most "
            f"estimates become {highest}; drop them"
        )
    n_outside = int(((ratings < lowest) | (ratings > highest)).sum())
    if n_outside:
        least, most = np.nanmin(ratings), np.nanmax(ratings)
        _warn(
            f"ratings: {n_outside:,} of {len(ratings):,} are outside the scale {lowest} to "
            f"{highest}, to which estimates are cut; give rating_scale=({least:g}, {most:g})"
        )


def warn_of_raw_ratings(rows: list[Any], reader: Any) -> None:
    """Warn of the ratings of a data set, if they are numbers and have a scale."""
    try:
        ratings = np.array([row[2] for row in rows], np.float64)
        scale = reader.rating_scale
        warn = ratings.size > 0 and len(scale) == 2
    except (TypeError, ValueError, AttributeError, IndexError):
        return
    if warn:
        warn_of_ratings(ratings, scale)


def warn_of_rows(model: Any, rows: Sequence[Any]) -> None:
    """Warn of unknown ids of a test set that Surprise's own code estimates."""
    trainset = held(model, "trainset")
    if type(trainset) is not surprise.Trainset:
        return
    inner_ids = trainset._raw2inner_id_users, trainset._raw2inner_id_items
    with suppress(Exception):  # of odd rows, which come to an error of their own
        for side, place, known in zip(("user", "item"), (0, 1), inner_ids, strict=True):
            unknown = set(map(itemgetter(place), rows)).difference(known)
            if any(_as_other_type(name) in known for name in unknown):  # of few, beside the rows
                names = (row[place] for row in rows if row[place] in unknown)
                warn_of_types(side, [*islice(names, LOOKED_AT)], known)


def warn_of_types(side: str, unknown: Sequence[Any], inner_ids: Mapping[Any, int]) -> None:
    """Warn of unknown ids that the training set has as another type."""
    for name in unknown:
        other = _as_other_type(name)
        if other is not None and other in inner_ids:
            _warn(
                f"{side} {name!r} ({type(name).__name__}) is unknown to the model, which has "
                f"{other!r} ({type(other).__name__}); Surprise estimates as for an unknown {side}; "
                "give ids of one type"
            )
            return


def _as_other_type(name: Any) -> Any:
    """Return an id as the other of text and number."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        return str(name)
    if isinstance(name, float | np.floating) and float(name).is_integer():
        return str(int(name))
    if isinstance(name, str):
        try:
            return int(name)
        except ValueError:
            return None
    return None


def warn_of_ratings_to_fit(owner: type, trainset: Any) -> None:
    """Warn of what a fit by Surprise's own code makes of ratings."""
    if owner in TRUNCATING and type(trainset) is surprise.Trainset:
        with suppress(Exception):
            rated = chain.from_iterable(trainset.ur.values())
            warn_of_truncation(owner, np.array([rating for _, rating in rated], np.float64))


def warn_of_divergence(model: surprise.AlgoBase, trainset: Any) -> None:
    """Warn if what a model learnt is not finite although all ratings are."""
    if type(trainset) is not surprise.Trainset:
        return
    for name in ("pu", "qi", "bu", "bi", "yj"):
        values = held(model, name)
        is_array = isinstance(values, np.ndarray) and values.dtype.kind == "f"
        if is_array and not np.isfinite(values).all():
            break
    else:
        return
    mean, scale = trainset._global_mean, trainset.rating_scale
    if type(mean) is np.float64 and np.isfinite(mean) and type(scale) is tuple and len(scale) == 2:
        _warn(  # of a mean that is not finite, the ratings had a warning
            f"{type(model).__name__}: the fit diverged ({name} is not finite), and estimates "
            f"become {scale[1]}; lower the learning rate or raise the regularisation"
        )


_told: set[str] = set()


TRUNCATING = surprise.SlopeOne, surprise.CoClustering
"""Algorithms that read half stars as whole ones."""


def warn_of_truncation(owner: type, ratings: Floats) -> None:
    """Warn once that an algorithm reads half stars as whole ones."""
    name = owner.__name__
    if owner not in TRUNCATING or name in _told:
        return
    ratings = ratings[np.isfinite(ratings)]
    if (ratings == np.trunc(ratings)).all():
        return
    _told.add(name)
    _warn(
        f"{name}: Surprise reads ratings as whole numbers here, 4.5 stars as 4, and so does "
        "the accelerated fit; harness.fit(model, trainset) uses the true ratings"
    )
