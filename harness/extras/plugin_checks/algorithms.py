"""Whether an algorithm keeps what the harness expects of one, tried on small made data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from harness.algorithms import registry, surprise
from harness.algorithms.own import ArrayModel
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.datasets.ratings import Ratings
from harness.errors import AlgorithmError, HarnessError, reason_of
from harness.extras.plugin_checks import checks as conformance
from harness.models import estimates as models
from harness.models import files as model_files

T = TypeVar("T")

N_USERS, N_ITEMS, N_RATINGS = 40, 30, 500
"""Sizes of the made data; beside them are two users and two items without a training rating."""
CLOSE = 1e-9
"""Largest relative difference of sums in another order, as in a product of matrices."""
SEED = 7
N_PREDICTED = 50
"""Pairs that ``predict`` is asked for."""


def check_algorithm(name: str) -> list[str]:
    """Return what is wrong with an algorithm, as sentences; none if it can be used.

    Parameters
    ----------
    name : str
        Of an algorithm or its plug-in, or ``module:Class``.

    Returns
    -------
    list of str
        Empty for an algorithm that can be made without parameters; fits; does not change the
        training set; gives finite estimates of the right shape, of unknown users and items too;
        whose estimates are the same whatever other pairs are asked
        for, in whole rows, and by ``predict``; and which gives the same numbers from the same seed
        again, in this process, in another one, and from a file where it has ``state``.

    Notes
    -----
    The code is imported and run. Estimates that are drawn one after the other, as of a
    NormalPredictor, may differ between calls.

    Examples
    --------
    >>> check_algorithm("ItemMean")
    []
    """
    return check_algorithms([name])[name]


def check_algorithms(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the problems of each algorithm; see `check_algorithm`."""
    return conformance.problems_of(__name__, names)


class _StepError(AlgorithmError):
    """What went wrong, after which nothing else can be tried."""


def _attempt(step: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except HarnessError as error:
        raise _StepError(str(error)) from error
    except Exception as error:
        said = f"{type(error).__name__}: {reason_of(error)}"
        raise _StepError(f"{step} failed ({said}); correct its code") from error


def steps(name: str) -> Iterator[str | bytes]:
    """Yield problems, and the bytes of the estimates."""
    entry = _attempt("the import", lambda: registry.entry(name))
    if missing := entry.missing():
        yield missing
        return
    data, trainset = made_data()
    columns = _bytes_of(trainset)
    model = _attempt("fit", lambda: _fitted(name, trainset))
    if _bytes_of(trainset) != columns:
        yield "fit changes the training set; work on a copy"
        return
    users, items = (codes.ravel() for codes in np.indices((data.n_users, data.n_items), np.int32))
    estimates = _attempt("estimate", lambda: _estimates(model, users, items))
    if n_wrong := int((~np.isfinite(estimates)).sum()):
        yield f"{n_wrong:,} of {estimates.size:,} estimates are not finite; return numbers"
        return
    again = _attempt("a second fit", lambda: _fitted(name, made_data()[1]))
    of_again = _attempt("estimate", lambda: _estimates(again, users, items))
    if of_again.tobytes() != estimates.tobytes():
        yield "a second fit gives different estimates; draw only from `random_state`"
        return
    yield estimates.tobytes()
    if not entry.draws_in_order:
        yield from _calls(model, data, users, items, estimates)
    if _bytes_of(trainset) != columns:
        yield "its estimates change the training set; work on a copy"
        return
    if isinstance(model, ArrayModel) and hasattr(model.inner, "state"):
        loaded = _attempt("saving", lambda: _saved_and_loaded(model))
        of_loaded = _attempt("after `restore`, estimate", lambda: _estimates(loaded, users, items))
        if of_loaded.tobytes() != estimates.tobytes():
            yield "a saved model gives different estimates; let `state` return what `fit` learns"


def _calls(
    model: surprise.AlgoBase, data: Ratings, users: Codes, items: Codes, estimates: Floats
) -> Iterator[str]:
    """Yield where the same pair has another estimate in another call."""
    order = np.random.default_rng(SEED).permutation(len(users))
    shuffled = _attempt("estimate", lambda: _estimates(model, users[order], items[order]))
    if not _are_close(shuffled, estimates[order]):
        yield "the estimate of a pair depends on the order of the pairs; estimate each by itself"
    few = order[:N_PREDICTED]
    part = _attempt("estimate", lambda: _estimates(model, users[few], items[few]))
    if not _are_close(part, estimates[few]):
        yield "the estimate of a pair depends on how many are asked for; estimate each by itself"
    raw = zip(data.user_ids[users[few]], data.item_ids[items[few]], strict=True)
    predicted = _attempt(
        "predict", lambda: np.array([float(model.predict(*ids, clip=False).est) for ids in raw])
    )
    if not _are_close(predicted, estimates[few]):
        yield "predict gives different estimates from many pairs at once; let both compute the same"
    trainset: ColumnTrainset = model.trainset
    every_user = np.arange(data.n_users, dtype=np.int32)
    rows = _attempt(
        "rows",
        lambda: np.concatenate(
            [block for _, _, block in models.catalogue(model, every_user, clip=False, block=7)]
        ),
    )
    if not np.isfinite(rows).all():
        yield "rows are not finite; return numbers"
    elif not _are_close(rows, estimates.reshape(data.n_users, -1)[:, trainset.item_codes]):
        yield "rows are different estimates from pairs; let both compute the same"


def _fitted(name: str, trainset: ColumnTrainset) -> surprise.AlgoBase:
    model = registry.create(name, {}, SEED)
    models.fit(model, trainset)
    return model


def _estimates(model: surprise.AlgoBase, users: Codes, items: Codes) -> Floats:
    return models.estimate(model, users, items, clip=False)[0]


def _saved_and_loaded(model: surprise.AlgoBase) -> surprise.AlgoBase:
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        model_files.save_model(model, Path(scratch, "model.zip"))
        return model_files.load_model(Path(scratch, "model.zip"), trust=True)


def _are_close(estimates: Floats, expected: Floats) -> bool:
    return bool(np.allclose(estimates, expected, rtol=CLOSE, atol=CLOSE))


def made_data() -> tuple[Ratings, ColumnTrainset]:
    """Return ratings by chance with times, and the training set of all users and items but two."""
    rng = np.random.default_rng(SEED)
    cells = np.sort(rng.choice(N_USERS * N_ITEMS, N_RATINGS, replace=False))
    users, items = np.divmod(cells, N_ITEMS)
    unknown = [N_USERS, N_USERS + 1], [N_ITEMS, N_ITEMS + 1]
    data = Ratings.from_columns(
        [f"u{user}" for user in np.append(users, unknown[0])],
        [f"i{item}" for item in np.append(items, unknown[1])],
        rng.integers(2, 11, N_RATINGS + 2) / 2,
        timestamps=rng.integers(10**9, 2 * 10**9, N_RATINGS + 2),
        scale=(1, 5),
    )
    rows = np.flatnonzero((data.users < N_USERS) & (data.items < N_ITEMS))
    return data, ColumnTrainset.of_ratings(data, rows)


def _bytes_of(trainset: ColumnTrainset) -> list[bytes]:
    codes = trainset.user_codes, trainset.item_codes
    return [array.tobytes() for array in (*trainset.by_user, *trainset.by_item, *codes)]
