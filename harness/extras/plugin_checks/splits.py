"""Whether a kind of split or filter keeps what is expected of one, tried on small random data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from pydantic import ValidationError

from harness.datasets import Ratings
from harness.errors import SplitError
from harness.extras.plugin_checks import checks as conformance
from harness.plugins import registry as plugins
from harness.schema.sections import Kind
from harness.splits.base import FilterSection, Fold, SplitSection

N_USERS, N_ITEMS, N_RATINGS, N_DAYS = 40, 30, 600, 90
"""Sizes of the random data."""
SEED = 7
GUESSES = (2, 0.2, "90 days", "2001-10-01", True)
"""For keys without a default."""


def check_splits(names: Sequence[str]) -> dict[str, list[str]]:
    """Return what is wrong with kinds of splits and filters; nothing for those that can be used.

    A kind of split has folds whose rows are those that it divides, none of them empty and, of a
    `harness.Split`, none in both parts, also of a part of the data; a name and a sentence.
    A filter marks rows. Both leave the ratings as they were, and give the same rows from the same
    seed again, in this process and in another one.

    Parameters
    ----------
    names : sequence of str
        Of kinds or their plug-ins, or ``module:Class``.

    Returns
    -------
    dict of str to list of str

    Notes
    -----
    The code is imported and run, in their own processes.

    Examples
    --------
    >>> check_splits(["holdout", "k-core"])
    {'holdout': [], 'k-core': []}
    """
    return conformance.problems_of(__name__, names)


def steps(name: str) -> Iterator[str | bytes]:
    """Yield what is wrong with a kind in this process, and the bytes of its rows."""
    kind = plugins.find("splits", name).load()
    if not (isinstance(kind, type) and issubclass(kind, SplitSection | FilterSection)):
        yield (
            "it is not a kind of split or filter; make it a subclass of `harness.Split` or "
            "`harness.Filter`"
        )
        return
    section = made(kind, name)
    if section is None:
        yield "no values of its keys can be guessed; give keys defaults, so that it can be tried"
        return
    ratings = random_ratings()
    before = bytes_of(ratings)
    yield from (
        _filter(section, ratings)
        if isinstance(section, FilterSection)
        else _split(section, ratings)
    )
    if bytes_of(ratings) != before:
        yield "it changes the ratings; work on a copy"


def made(kind: type[Kind], name: str) -> Any:
    """Return a section with a guess for each key without a default; None where none is valid."""
    of_files = issubclass(kind, SplitSection) and kind.from_files is True
    if kind.example and not of_files:
        return kind.model_validate({"kind": name, **kind.example})
    required = [key for key, field in kind.model_fields.items() if field.is_required()]
    for guess in GUESSES:
        with suppress(ValidationError):
            return kind.model_validate({"kind": name} | dict.fromkeys(required, guess))
    return None


def random_ratings() -> Ratings:
    """Return ratings with times, of pairs of user and item that occur once."""
    rng = np.random.default_rng(SEED)
    pairs = rng.choice(N_USERS * N_ITEMS, N_RATINGS, replace=False)
    return Ratings.from_columns(
        [f"{pair // N_ITEMS + 1}" for pair in pairs],
        [f"{pair % N_ITEMS + 1}" for pair in pairs],
        rng.integers(1, 6, N_RATINGS),
        timestamps=10**9 + rng.integers(0, N_DAYS * 86_400, N_RATINGS),
        scale=(1, 5),
    )


def _split(section: SplitSection, ratings: Ratings) -> Iterator[str | bytes]:
    half = np.arange(0, len(ratings), 2)
    for title, part in (("", None), ("of a training set: ", half)):
        splits = section.splits(ratings, part, SEED, None)
        if not splits:
            raise SplitError(f"{title}no fold; give one at least")
        again = section.splits(ratings, part, SEED, None)
        if _rows(splits) != _rows(again):
            yield f"{title}the same seed gives different rows; draw only from `rng`"
        allowed = np.arange(len(ratings)) if part is None else part
        for split in splits:
            if len(np.setdiff1d([*split.train, *split.test], allowed)):
                yield f"{title}rows that are not in what it splits; give only rows of that"
        yield _rows(splits)
    for name, text in (("describe", section.describe()), ("sentence", section.sentence())):
        if not (isinstance(text, str) and text.strip()):
            yield f"`{name}` returns {text!r}; return text"


def _filter(section: FilterSection, ratings: Ratings) -> Iterator[str | bytes]:
    mask = np.asarray(section.keep(ratings, SEED))
    if mask.shape != (len(ratings),) or mask.dtype != np.bool_:
        yield (
            f"`keep` returns {mask.dtype} of shape {mask.shape}; mark each row, with bool of shape "
            f"({len(ratings)},)"
        )
        return
    if not np.array_equal(mask, section.keep(ratings, SEED)):
        yield "the same seed keeps different rows; draw only from `state`"
    if not section.describe().strip():
        yield "`describe` returns no text; return a name"
    yield mask.tobytes()


def _rows(splits: Sequence[Fold]) -> bytes:
    return b"|".join(part.tobytes() for split in splits for part in (split.train, split.test))


def bytes_of(ratings: Ratings) -> list[bytes]:
    """Return the columns of ratings, to be compared."""
    columns = (ratings.users, ratings.items, ratings.ratings, ratings.timestamps)
    return [column.tobytes() for column in columns if column is not None]
