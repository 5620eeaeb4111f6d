"""The algorithms with a name, and the classes and models that names stand for."""

from __future__ import annotations

import copy
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.algorithms import compiled, own
from harness.algorithms.algorithm import ENTRIES, Algorithm, Size
from harness.algorithms.parameters import Fault, accepted, check_params, check_search
from harness.algorithms.surprise_import import surprise
from harness.errors import AlgorithmError, suggestion
from harness.sections import folded

if TYPE_CHECKING:
    from harness.config.experiment import AlgorithmConfig

__all__ = [
    "advance",
    "algorithms",
    "canonical",
    "check",
    "create",
    "entry",
    "entry_of",
    "find",
    "library_versions",
    "memory",
    "names",
    "takes_seed",
]

KINDS = ("surprise", "baseline", "library")
COLUMNS_ROW = 24  # both groupings of the ratings: two ids of 4 bytes, two ratings of 8
LISTS_ROW = 250  # a rating in the lists of tuples that a class of your own walks
BLOCK = 64 << 20  # estimates under way


@cache
def algorithms() -> dict[str, type[Algorithm]]:
    """Return every algorithm that has a name: Surprise's, baselines, those of other libraries.

    Examples
    --------
    >>> algorithms()["SVD"].summary
    'biased matrix factorisation by stochastic gradient descent'
    """
    import_module("harness.algorithms.baselines")
    for module in pkgutil.iter_modules(compiled.__path__, f"{compiled.__name__}."):
        import_module(module.name)
    import_module("harness.algorithms.als")
    # By module: the order must not depend on which of them was imported first.
    found = sorted(ENTRIES.values(), key=lambda each: (KINDS.index(each.kind), each.__module__))
    return {each.name: each for each in found}


def names(kind: str) -> list[str]:
    """Return the algorithms of a kind: ``surprise``, ``baseline`` or ``library``."""
    return [name for name, each in algorithms().items() if each.kind == kind]


def entry(name: str) -> type[Algorithm]:
    """Return what is known of an algorithm by its name; nothing in particular of an import path.

    Examples
    --------
    >>> entry("svd++").citation, entry("surprise:SVD").citation
    ('koren2008factorization', '')
    """
    return Algorithm if ":" in name else algorithms()[canonical(name)]


def entry_of(kind: type) -> type[Algorithm] | None:
    """Return what is known of a class, or of the first that it derives from."""
    entries = {each.model_class: each for each in algorithms().values()}
    return next((entries[base] for base in kind.__mro__ if base in entries), None)


def canonical(name: str) -> str:
    """Return the spelling of a name that Surprise uses; an import path stays as it is.

    Raises
    ------
    AlgorithmError
        If there is no such algorithm.

    Examples
    --------
    >>> canonical("slope one")
    'SlopeOne'
    """
    if ":" in name:
        return name
    known = {folded(each): each for each in algorithms()}
    found = known.get(folded(name))
    if found is None:
        raise AlgorithmError(f"unknown algorithm {name!r}; {suggestion(name, known.values())}")
    return found


def find(name: str) -> type:
    """Return the class of an algorithm.

    Parameters
    ----------
    name : str
        A name of Surprise's, spelled with or without capitals, hyphens and spaces (``SVD++`` is
        ``SVDpp``), a baseline, one that another library fits, or ``package.module:Class``.

    Raises
    ------
    AlgorithmError
        If there is no such algorithm, or the class is not a subclass of ``AlgoBase`` that can
        estimate.

    Examples
    --------
    >>> find("SVD++").__name__
    'SVDpp'
    """
    return own.load(name) if ":" in name else entry(name).model_class


def check(algorithm: AlgorithmConfig) -> list[Fault]:
    """Return what is wrong with an algorithm of a config, without building it.

    Returns
    -------
    list of (tuple, str)
        The key inside the algorithm, and the message; empty when all is well.
    """
    try:
        kind = find(algorithm.name)
    except AlgorithmError as error:
        return [(("name",), str(error))]
    known, params = entry_of(kind), algorithm.params
    faults = [(("params", *path), text) for path, text in check_params(kind, params, known)]
    if isinstance(algorithm.search, dict):
        found = check_search(kind, params, algorithm.search, known)
        faults += [(("search", *path), text) for path, text in found]
    return faults


def create(name: str, params: Mapping[str, Any], seed: int) -> surprise.AlgoBase:
    """Build a model, seeded unless its parameters say otherwise.

    Parameters
    ----------
    name : str
        As `find` takes it.
    params : mapping
        Arguments of the constructor; copied, because Surprise writes into `sim_options`.
    seed : int
        Becomes ``random_state`` where the constructor takes one and `params` names none.

    Returns
    -------
    surprise.AlgoBase
        Not fitted.

    Raises
    ------
    AlgorithmError
        If the constructor refuses.

    Examples
    --------
    >>> create("SVD", {"n_factors": 5}, seed=7).random_state
    7
    """
    kind = find(name)
    parameters = inspect.signature(kind).parameters
    arguments = dict(copy.deepcopy(params))
    # NormalPredictor has no parameter for its seed; the fit takes it from an attribute.
    seeded_later = "random_state" in accepted(kind)[0] and "random_state" not in parameters
    if (seeded_later or "random_state" in parameters) and arguments.get("random_state") is None:
        arguments["random_state"] = seed
    state = arguments.pop("random_state") if seeded_later else None
    if "verbose" in parameters:
        arguments.setdefault("verbose", False)
    for options in ("sim_options", "bsl_options"):
        # Surprise's defaults are one shared, mutable dict; every model gets its own.
        if options in parameters:
            arguments.setdefault(options, {})
    try:
        model = kind(**arguments)
    except Exception as error:
        raise AlgorithmError(
            f"{name}: the constructor refused ({type(error).__name__}: {error}); check `params`"
        ) from error
    if seeded_later:
        model.random_state = state
    return model


def memory(name: str, params: Mapping[str, Any], n_users: int, n_items: int, n_ratings: int) -> int:
    """Estimate the bytes that fitting and scoring need at their peak.

    Parameters
    ----------
    name : str
        As `find` takes it.
    params : mapping
        Parameters that differ from the defaults.
    n_users, n_items, n_ratings : int
        Size of the training set.

    Returns
    -------
    int
        Bytes, the columns of the training set and what another library takes included. For a class
        that derives from none with a name, the training set as Python lists.

    Examples
    --------
    >>> memory("SlopeOne", {}, 162_541, 59_047, 25_000_095) // 2**30
    26
    >>> memory("SVD", {"n_factors": 100}, 162_541, 59_047, 25_000_095) // 2**20
    974
    """
    known = entry_of(find(name))
    size = Size(n_users, n_items, n_ratings)
    needed = known.memory(params, size) if known else LISTS_ROW * n_ratings
    return COLUMNS_ROW * n_ratings + BLOCK + needed


def advance(model: surprise.AlgoBase, n_draws: int) -> None:
    """Let a model that draws in order start after so many draws.

    A script that seeds NumPy once and then cross-validates a NormalPredictor draws one stream
    through all folds. A `random_state` in the config means that stream, so that such a script can
    be reproduced.
    """
    stream = np.random.RandomState(model.random_state)
    stream.normal(size=n_draws)
    model.random_state = stream


def takes_seed(name: str) -> bool:
    """Return whether an algorithm takes a ``random_state``.

    Examples
    --------
    >>> takes_seed("SVD"), takes_seed("SlopeOne")
    (True, False)
    """
    return entry(name).draws_in_order or "random_state" in inspect.signature(find(name)).parameters


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the libraries that fit some of these algorithms.

    Examples
    --------
    >>> library_versions(["SVD", "Random"])
    {}
    """
    found = {}
    for name in names:
        if package := entry(name).package:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = "missing"
    return found
