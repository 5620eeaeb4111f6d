"""Names of algorithms, and the classes and constructors behind them."""

from __future__ import annotations

import copy
import importlib
import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.algorithms.memory import memory
from harness.algorithms.parameters import KeyPath, check_params, check_search
from harness.config.spaces import RECOMMENDED, SearchSpace
from harness.errors import AlgorithmError, suggestion

__all__ = [
    "AlgorithmInfo",
    "advance",
    "builtin_of",
    "canonical",
    "check",
    "create",
    "describe",
    "draws_in_order",
    "find",
    "gives_preferences",
    "library_versions",
    "memory",
    "search_space",
    "takes_seed",
]

SURPRISE = {
    "NormalPredictor": "draws from a normal distribution fitted to the training ratings",
    "BaselineOnly": "global mean plus a bias for the user and one for the item",
    "KNNBasic": "mean of the neighbours' ratings, weighted by similarity",
    "KNNWithMeans": "KNNBasic on ratings less each neighbour's mean",
    "KNNWithZScore": "KNNBasic on ratings standardised by each neighbour",
    "KNNBaseline": "KNNBasic on ratings less a baseline estimate",
    "SVD": "biased matrix factorisation by stochastic gradient descent",
    "SVDpp": "SVD that also learns from which items a user rated (SVD++)",
    "NMF": "non-negative matrix factorisation",
    "SlopeOne": "mean deviation between pairs of items",
    "CoClustering": "means of user clusters, item clusters and co-clusters",
}
TRUNCATING = ("SlopeOne", "CoClustering")
"""Algorithms of Surprise that read ratings into C integers: 4.5 stars count as 4."""

FLOORS = {
    "Random": "a random number for each user and item",
    "Popularity": "how often the item was rated in training",
    "ItemMean": "the item's mean rating in training",
}


LIBRARIES = {
    "spark-als": "alternating least squares of Spark's MLlib, for ratings or counts",
    "implicit-als": "alternating least squares of the library implicit, for counts",
}
DISTRIBUTIONS = {"spark-als": "pyspark", "implicit-als": "implicit"}
"""What has to be installed for an algorithm of another library."""


@dataclass(frozen=True)
class AlgorithmInfo:
    """What `harness list algorithms` shows of one algorithm.

    Parameters
    ----------
    name : str
    summary : str
    kind : str
        ``surprise``, ``floor`` (a baseline) or ``library`` for one that another library fits.
    params : dict of str to object
        Arguments of the constructor with their defaults.
    """

    name: str
    summary: str
    kind: str
    params: dict[str, Any]


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
        If there is no such algorithm, or the class is not a subclass of ``AlgoBase``.

    Examples
    --------
    >>> find("SVD++").__name__
    'SVDpp'
    """
    if ":" in name:
        return _imported(name)
    found = canonical(name)
    if found in FLOORS:
        from harness.algorithms import baselines

        return getattr(baselines, found)  # type: ignore[no-any-return]
    if found in LIBRARIES:
        from harness.algorithms import als

        return als.ALGORITHMS[found]
    from harness.algorithms.surprise_import import surprise

    return getattr(surprise, found)  # type: ignore[no-any-return]


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
    known = {_folded(each): each for each in (*SURPRISE, *FLOORS, *LIBRARIES)}
    found = known.get(_folded(name))
    if found is None:
        raise AlgorithmError(f"unknown algorithm {name!r}; {suggestion(name, known.values())}")
    return found


def check(algorithm: Any) -> list[tuple[KeyPath, str]]:
    """Return what is wrong with an algorithm of a config, without building it.

    Parameters
    ----------
    algorithm : AlgorithmConfig
        Its ``name``, ``params`` and ``search`` are checked.

    Returns
    -------
    list of (tuple, str)
        The key inside the algorithm, and the message; empty when all is well.
    """
    try:
        kind = find(algorithm.name)
    except AlgorithmError as error:
        return [(("name",), str(error))]
    faults = [
        (("params", *path), message) for path, message in check_params(kind, algorithm.params)
    ]
    if isinstance(algorithm.search, dict):
        faults += [
            (("search", *path), message)
            for path, message in check_search(kind, algorithm.params, algorithm.search)
        ]
    return faults


def create(name: str, params: dict[str, Any], seed: int) -> Any:
    """Build a model, seeded unless its parameters say otherwise.

    Parameters
    ----------
    name : str
        As `find` takes it.
    params : dict
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
    accepted = inspect.signature(kind).parameters
    arguments = copy.deepcopy(params)
    # NormalPredictor has no parameter for its seed; the fit takes it from an attribute.
    seeded_later = kind.__name__ == "NormalPredictor" and "random_state" not in accepted
    state = arguments.pop("random_state", None) if seeded_later else None
    if "random_state" in accepted and arguments.get("random_state") is None:
        arguments["random_state"] = seed
    if "verbose" in accepted:
        arguments.setdefault("verbose", False)
    for options in ("sim_options", "bsl_options"):
        # Surprise's defaults are one shared, mutable dict; every model gets its own.
        if options in accepted:
            arguments.setdefault(options, {})
    try:
        model = kind(**arguments)
    except Exception as error:
        raise AlgorithmError(
            f"{name}: the constructor refused ({type(error).__name__}: {error}); check `params`"
        ) from error
    if seeded_later:
        model.random_state = seed if state is None else state
    return model


def builtin_of(name: str, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the algorithm with a name whose compiled code a class may run, and its parameters.

    Parameters
    ----------
    name : str
        As `find` takes it.
    params : dict

    Returns
    -------
    name : str
        Of the algorithm itself; for a class of your own, of Surprise's algorithm that it derives
        from, ``Random`` where it derives from none.
    params : dict
        Those that this algorithm has.

    Examples
    --------
    >>> builtin_of("SVD", {"n_factors": 5})
    ('SVD', {'n_factors': 5})
    >>> builtin_of("surprise:KNNBasic", {"k": 5, "verbose": True})
    ('KNNBasic', {'k': 5, 'verbose': True})
    """
    if ":" not in name:
        return name, params
    bases = (
        kind.__name__ for kind in find(name).__mro__ if kind.__module__.startswith("surprise.")
    )
    found = next((base for base in bases if base in SURPRISE), "Random")
    accepted = inspect.signature(find(found)).parameters
    return found, {key: value for key, value in params.items() if key in accepted}


def draws_in_order(name: str) -> bool:
    """Return whether an algorithm draws a number for each estimate, one after the other.

    Examples
    --------
    >>> draws_in_order("NormalPredictor"), draws_in_order("SVD")
    (True, False)
    """
    return canonical(name) == "NormalPredictor"


def advance(model: Any, n_draws: int) -> None:
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
    kind = find(name)
    return draws_in_order(name) or "random_state" in inspect.signature(kind).parameters


def gives_preferences(name: str, params: dict[str, Any]) -> bool:
    """Return whether estimates are preferences instead of ratings.

    Examples
    --------
    >>> gives_preferences("spark-als", {"implicit": True}), gives_preferences("SVD", {})
    (True, False)
    """
    found = canonical(name)
    return found == "implicit-als" or (found == "spark-als" and bool(params.get("implicit")))


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the libraries that fit some of these algorithms.

    Examples
    --------
    >>> library_versions(["SVD", "Random"])
    {}
    """
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in names:
        package = DISTRIBUTIONS.get(canonical(name))
        if package is not None:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = "missing"
    return found


def search_space(name: str) -> SearchSpace:
    """Return what `search: recommended` stands for; empty where there is nothing to tune.

    Examples
    --------
    >>> list(search_space("ItemMean"))
    ['damping']
    """
    return RECOMMENDED.get(canonical(name), {})


def describe() -> list[AlgorithmInfo]:
    """Return every algorithm that has a name, with its parameters and their defaults.

    Examples
    --------
    >>> len(describe())
    16
    """
    rows = []
    for kind, table in (("surprise", SURPRISE), ("floor", FLOORS), ("library", LIBRARIES)):
        for name, summary in table.items():
            parameters = inspect.signature(find(name)).parameters.values()
            defaults = {
                each.name: each.default
                for each in parameters
                if each.kind is not inspect.Parameter.VAR_KEYWORD and each.name != "verbose"
            }
            rows.append(AlgorithmInfo(name, summary, kind, defaults))
    return rows


def _folded(name: str) -> str:
    return "".join(c for c in name.casefold().replace("+", "p") if c.isalnum())


def _own_folders() -> list[str]:
    """Return the folders from which modules can be imported that do not belong to Python."""
    python = [Path(each).resolve() for each in {sys.prefix, sys.base_prefix, sys.exec_prefix}]
    places = dict.fromkeys(Path(each).resolve() for each in reversed(sys.path))
    return [str(p) for p in places if p.is_dir() and not any(map(p.is_relative_to, python))]


def _imported(name: str) -> type:
    """Return the class at an import path."""
    from harness.algorithms.surprise_import import surprise

    module_name, _, class_name = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        looked = f"; looked in {', '.join(_own_folders())} and among the installed packages"
        missing = getattr(error, "name", None) == module_name.partition(".")[0]
        raise AlgorithmError(
            f"cannot import {module_name!r} ({error}){looked if missing else ''}; "
            "put the module beside the config, or install it"
        ) from None
    except BaseException as error:  # a script that is imported can call sys.exit
        if isinstance(error, KeyboardInterrupt):
            raise
        raise AlgorithmError(
            f"importing {module_name!r} failed ({type(error).__name__}: {error}); fix the module"
        ) from error
    found = getattr(module, class_name, None)
    if not (isinstance(found, type) and issubclass(found, surprise.AlgoBase)):
        classes = [
            each
            for each, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, surprise.AlgoBase)
        ]
        hint = suggestion(class_name, classes) if classes else "derive a class from it"
        where = getattr(module, "__file__", module_name)
        raise AlgorithmError(f"{name!r} is not a subclass of surprise.AlgoBase in {where}; {hint}")
    return found
