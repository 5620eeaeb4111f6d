"""Whether a data set keeps what is expected of one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from harness.datasets import Ratings, load
from harness.datasets.catalogue import DataSet
from harness.plugins import registry as plugins

MOST_RATINGS = 200_000
"""The most ratings of a data set of the catalogue that is loaded to try it."""


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a data set in this process, and its fingerprint.

    Entries of the catalogue are read; a large data set, or one that is not on this machine, is not
    loaded.
    """
    declared = plugins.find("datasets", name).load()
    if isinstance(declared, DataSet):
        yield from _entry(declared)
        if not declared.is_here() or declared.n_ratings > MOST_RATINGS:
            return
    first, second = load(name), load(name)
    yield from _ratings(first)
    if first.fingerprint != second.fingerprint:
        yield "it gives different ratings when it is asked again; draw from its own seed"
    yield first.fingerprint.encode()


def _entry(entry: DataSet) -> Iterator[str]:
    """Yield what is wrong with an entry of the catalogue."""
    if not (entry.title and entry.licence):
        yield "no title or no licence; write both"
    if entry.is_published and not (entry.url or entry.wheel):
        yield "no address; write where it is published"
    if min(entry.n_ratings, entry.n_users, entry.n_items) < (not entry.is_made_up):
        yield "no counts; write how many ratings, users and items there are"


def _ratings(data: Ratings) -> Iterator[str]:
    """Yield what is wrong with ratings that a data set gives."""
    low, high = data.scale
    if not len(data):
        yield "it gives no ratings; return some"
        return
    if not (np.isfinite(data.ratings).all() and math.isfinite(low) and low < high):
        yield "ratings or the ends of their scale are not finite; return numbers"
    elif data.ratings.min() < low or data.ratings.max() > high:
        yield f"ratings outside their scale, {low:g} to {high:g}; return the right scale"
    pairs = data.users.astype(np.int64) * data.n_items + data.items
    if len(np.unique(pairs)) < len(pairs):
        yield "a user rates an item twice; return one rating of each pair"
