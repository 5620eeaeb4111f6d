"""Whether an algorithm keeps what the harness expects of one, tried on small made data.

All of it runs in two processes of their own, so that code which ends its process, or which gives
other numbers in the next one, is found and harms nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from harness.algorithms import model_files, models, registry, surprise
from harness.algorithms.arrays import ArrayModel
from harness.algorithms.trainset import Codes, ColumnTrainset, Floats
from harness.datasets.ratings import Ratings
from harness.errors import HarnessError, reason_of

T = TypeVar("T")

N_USERS, N_ITEMS, N_RATINGS = 40, 30, 500
"""Of the made data; beside them are two users and two items without a training rating."""
PATIENCE = 600.0
"""Seconds that an algorithm may take in a process."""
CLOSE = 1e-9
"""Largest relative difference of sums in another order, as in a product of matrices."""
SEED = 7
N_PREDICTED = 50
"""Pairs that ``predict`` is asked for."""


class Examined(NamedTuple):
    """What a process says of an algorithm."""

    problems: list[str]
    digest: str
    """Of the estimates; '' where there are none."""


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
    """Return what is wrong with each algorithm, as `check_algorithm` does, in two processes."""
    first, second = _in_process(names, 1), _in_process(names, 2)
    problems = {}
    for name in names:
        problems[name] = list(dict.fromkeys(first[name].problems + second[name].problems))
        digests = {first[name].digest, second[name].digest} - {""}
        if len(digests) > 1:
            problems[name].append(
                "its estimates are others in another process; draw from `random_state` alone, and "
                "depend on no order of sets"
            )
    return problems


def _in_process(names: Sequence[str], number: int) -> dict[str, Examined]:
    """Return what a process says of algorithms; where one ends it, another takes the rest."""
    results: dict[str, Examined] = {}
    folders = [str(Path(folder).resolve()) for folder in sys.path]
    variables = {"PYTHONPATH": os.pathsep.join(folders), "PYTHONHASHSEED": str(number)}
    with tempfile.TemporaryDirectory(prefix="harness-") as scratch:
        file = Path(scratch, "results.txt")
        while rest := [name for name in names if name not in results]:
            file.write_bytes(b"")
            command = [sys.executable, "-m", __name__, str(file), str(number), *rest]
            try:
                completed = subprocess.run(  # noqa: S603 - this module
                    command,
                    env=os.environ | variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=PATIENCE * len(rest),
                    text=True,
                    errors="replace",
                )
                said = (completed.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
                end = f"its process ended with exit code {completed.returncode} ({said})"
            except subprocess.TimeoutExpired:
                end = f"it did not end within {PATIENCE:g} seconds"
            for line in file.read_text(encoding="utf-8").splitlines():
                name, problems, digest = json.loads(line)
                results[name] = Examined(problems, digest)
            for name in rest:
                if name not in results:  # the one that was under way
                    results[name] = Examined([f"{end}; correct its code"], "")
                    break
    return results


def main(path: str, number: str, *names: str) -> None:
    """Examine algorithms in this process, and write a line of JSON for each."""
    with Path(path).open("a", encoding="utf-8") as file:
        for name in names:
            # What does not come from the seed of a model differs between the two processes.
            random.seed(int(number))
            np.random.seed(int(number))  # noqa: NPY002
            file.write(json.dumps([name, *examine(name)]) + "\n")
            file.flush()


def examine(name: str) -> Examined:
    """Return what is wrong with an algorithm in this process."""
    problems: list[str] = []
    digest = ""
    try:
        for problem_or_digest in _steps(name):
            if isinstance(problem_or_digest, bytes):
                digest = hashlib.sha256(problem_or_digest).hexdigest()
            else:
                problems.append(problem_or_digest)
    except _StepError as stopped:
        problems.append(str(stopped))
    return Examined(problems, digest)


class _StepError(Exception):
    """What went wrong, after which nothing else can be tried."""


def _attempt(step: str, call: Callable[[], T]) -> T:
    try:
        return call()
    except HarnessError as error:
        raise _StepError(str(error)) from error
    except Exception as error:
        said = f"{type(error).__name__}: {reason_of(error)}"
        raise _StepError(f"{step} failed ({said}); correct its code") from error


def _steps(name: str) -> Iterator[str | bytes]:
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
        yield "a second fit gives other estimates; draw from `random_state` alone"
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
            yield "a saved model gives other estimates; let `state` return all that `fit` learns"


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
        yield "predict gives other estimates than many pairs at once; let both compute the same"
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
        yield "rows are other estimates than those of pairs; let both compute the same"


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


if __name__ == "__main__":
    main(*sys.argv[1:])
