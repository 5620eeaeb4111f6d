"""Whether a kind of candidates keeps what is expected of one, tried on small random data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from harness import splits
from harness.candidates.base import Candidates, CandidatesSection
from harness.extras.plugin_checks.splits import SEED, bytes_of, made, random_ratings
from harness.plugins import registry as plugins
from harness.splits.random import Holdout


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a kind in this process, and the bytes of what it selects."""
    kind = plugins.find("candidates", name).load()
    if not (isinstance(kind, type) and issubclass(kind, CandidatesSection)):
        yield (
            "it is not a kind of candidates; make it a subclass of "
            "`harness.candidates.CandidatesSection`"
        )
        return
    section = made(kind, name)
    if section is None:
        yield "no values of its keys can be guessed; give keys defaults, so that it can be tried"
        return
    ratings = random_ratings()
    (split,) = splits.make(Holdout(test_size=0.25), ratings, SEED)
    before = bytes_of(ratings)
    selected = section.select(split, SEED)
    again = _bytes(section.select(split, SEED))
    yield from _shapes(selected, ratings.n_items)
    if _bytes(selected) != again:
        yield "the same seed gives different candidates; draw only from `seed`"
    if bytes_of(ratings) != before:
        yield "it changes the ratings; work on a copy"
    for method in ("describe", "sentence"):
        text = getattr(section, method)()
        if not (isinstance(text, str) and text.strip()):
            yield f"`{method}` returns {text!r}; return text"
    yield _bytes(selected)


def _shapes(selected: Candidates, n_items: int) -> Iterator[str]:
    """Yield which arrays do not fit the users and the test ratings that were selected."""
    n_users, n_ratings = selected.n_users, len(selected.items)
    lengths = {
        "offsets": n_users + 1,
        "extra_offsets": n_users + 1,
        **dict.fromkeys(("ratings", "order", "known", "judged"), n_ratings),
    }
    for field, length in lengths.items():
        if (found := len(getattr(selected, field))) != length:
            yield f"`{field}` has {found} values; give {length}"
    for offsets, items in (("offsets", "items"), ("extra_offsets", "extra_items")):
        edges, codes = getattr(selected, offsets), getattr(selected, items)
        if edges[0] != 0 or edges[-1] != len(codes) or (np.diff(edges) < 0).any():
            yield f"`{offsets}` does not divide `{items}`; let it rise from 0 to their number"
        if len(codes) and not 0 <= codes.min() <= codes.max() < n_items:
            yield f"`{items}` has codes that are not items; use codes of the data"


def _bytes(selected: Candidates) -> bytes:
    arrays = [value for value in vars(selected).values() if isinstance(value, np.ndarray)]
    return b"|".join(array.tobytes() for array in arrays)
