"""The algorithms by name: what is known of each, and the models that names stand for."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from harness._util.arguments import signature
from harness.algorithms import own, surprise
from harness.algorithms.base import ENTRIES, Algorithm, Counts, Size, Work
from harness.algorithms.parameters import (
    NEEDED,
    OPTIONS,
    Fault,
    Params,
    accepted,
    check_params,
    check_search,
)
from harness.algorithms.sources import source_of
from harness.errors import AlgorithmError, PluginError
from harness.plugins import registry as plugins
from harness.plugins.registry import folded

if TYPE_CHECKING:
    from harness.schema.sections import SearchSpace


COLUMNS_ROW = 40
"""Both groupings of the ratings, with two ids of 4 bytes and two ratings of 8; and while they are
made, keys and places of 8 bytes each."""
LISTS_ROW = 250  # a rating in the lists of tuples that a class of your own walks
BLOCK = 64 << 20  # estimates under way
LEAST_SAMPLE = 100  # users; with fewer, a cell that fits says little


def algorithms() -> dict[str, type[Algorithm]]:
    """Return every algorithm that has a name and can be used, this package's first."""
    usable = [plugin for plugin, reason in plugins.declared("algorithms") if not reason]
    entries = [
        named(plugin.name) for plugin in usable if plugin.is_spine or not plugins.problem(plugin)
    ]
    return {entry.name: entry for entry in entries}


def names(kind: str) -> list[str]:
    """Return the algorithms of a kind: ``surprise``, ``baseline`` or ``library``."""
    return [name for name, entry in algorithms().items() if entry.kind == kind]


@cache
def named(name: str) -> type[Algorithm]:
    """Return what is known of an algorithm by the exact name of its plug-in."""
    try:
        declared = plugins.find("algorithms", name).load()
    except PluginError as error:
        raise AlgorithmError(str(error)) from error.__cause__
    if isinstance(declared, type) and issubclass(declared, Algorithm):
        return declared

    return own.entry_of_class(name, declared)


def entry(name: str) -> type[Algorithm]:
    """Return what is known of an algorithm by its name; little of one at an import path."""
    if "/" in name:  # the model of another library
        return source_of(name).entry(name)
    if ":" in name:
        return ENTRIES.get(find(name), Algorithm)
    return named(canonical(name))


def is_own(name: str) -> bool:
    """Return whether an algorithm is code from elsewhere that runs in this process."""
    return "/" not in name and not plugins.find("algorithms", canonical(name)).is_builtin


def entry_of(kind: type) -> type[Algorithm] | None:
    """Return what is known of a class, or of the first that it derives from."""
    for base in kind.__mro__:
        if base in ENTRIES:
            return ENTRIES[base]
        of_surprise = base.__module__.startswith("surprise.")
        if of_surprise and base.__name__ in plugins.builtin_names("algorithms"):
            return named(base.__name__)
    return None


def canonical(name: str) -> str:
    """Return the spelling of a name that its plug-in uses; an import path stays as it is.

    >>> canonical("slope one")
    'SlopeOne'
    """
    if ":" in name or name in plugins.builtin_names("algorithms"):
        return name
    if "/" in name:
        return source_of(name).canonical(name)
    for names_of in (plugins.builtin_names, plugins.names):  # other packages only where it has to
        by_spelling = {folded(declared): declared for declared in names_of("algorithms")}
        if folded(name) in by_spelling:
            return by_spelling[folded(name)]
    meant = _meant(name, plugins.names("algorithms"))
    raise AlgorithmError(f"unknown algorithm {name!r}; {meant}")


def _meant(name: str, choices: Collection[str]) -> str:
    """Return the end of a message about an unknown name: what was probably meant.

    >>> _meant("mine.MyALS", ["SVD"]), _meant("KNN", ["KNNBasic", "KNNBaseline"])
    ('for your own class, write `mine:MyALS`', 'did you mean one of KNNBasic, KNNBaseline?')
    """
    module, dot, kind = name.rpartition(".")
    if dot and all(part.isidentifier() for part in (*module.split("."), kind)):
        return f"for your own class, write `{module}:{kind}`"
    family = [choice for choice in choices if folded(choice).startswith(folded(name))]
    if len(family) == 1 and folded(name):
        return f"did you mean {family[0]!r}?"
    if family and folded(name):
        return f"did you mean one of {', '.join(family)}?"
    return plugins.absent("algorithms", name, choices)


def find(name: str) -> type:
    """Return the class of an algorithm by its name in any spelling, or ``package.module:Class``."""
    return own.load(name) if ":" in name else entry(name).model_class


def create(name: str, params: Params, seed: int) -> surprise.AlgoBase:
    """Build a model from a copy of its parameters, seeded unless they say otherwise.

    >>> create("SVD", {"n_factors": 5}, seed=7).random_state
    7
    """
    kind = find(name)
    allowed, _ = accepted(kind)
    arguments = dict(copy.deepcopy(params))
    if "/" in name:
        arguments["name"] = name
    if "random_state" in allowed and arguments.get("random_state") is None:
        arguments["random_state"] = seed
    # NormalPredictor has no parameter for its seed; the fit takes it from an attribute.
    state = arguments.pop("random_state") if kind is surprise.NormalPredictor else None
    # Surprise's default options are one shared, mutable dict; every model gets its own.
    ours = {"verbose": False, **{options: {} for options in OPTIONS}}
    arguments |= {key: ours[key] for key in ours if key in allowed and key not in arguments}
    try:
        model = kind(**arguments)
    except (Exception, SystemExit) as error:
        raise AlgorithmError(
            f"{name}: the constructor refused ({type(error).__name__}: {error}); check `params`"
        ) from error
    if state is not None:
        model.random_state = state
    return model


def advance(model: surprise.AlgoBase, n_draws: int) -> None:
    """Let a model that draws in order start after so many draws.

    A `random_state` in the config means one stream through all folds, as in a script.
    """
    stream = np.random.RandomState(model.random_state)
    stream.normal(size=n_draws)
    model.random_state = stream


def takes_seed(name: str) -> bool:
    """Return whether an algorithm takes a ``random_state``."""
    return entry(name).draws_in_order or "random_state" in signature(find(name)).parameters


def memory(name: str, params: Params, n_users: int, n_items: int, n_ratings: int) -> int:
    """Estimate the bytes that fitting and scoring need at their peak, training set included."""
    of_class = entry_of(find(name))
    size = Size(n_users, n_items, n_ratings)
    needed = of_class.memory(params, size) if of_class else LISTS_ROW * n_ratings
    return COLUMNS_ROW * n_ratings + BLOCK + needed


def work(name: str, params: Params, counts: Counts) -> Work:
    """Return the work of a cell; your own class counts as if each epoch read all ratings.

    Its epochs count if it calls them ``n_epochs``.
    """
    of_class = entry_of(find(name))
    if of_class is None:
        defaults, _ = accepted(find(name))
        of_class, params = named("Random"), {"n_epochs": defaults.get("n_epochs"), **params}
    return of_class.work(params, counts)


def what_fits(name: str, params: Params, size: tuple[int, int, int], room: float) -> str:
    """Say what to do so that a cell fits in `room`, in bytes: sample users where that is enough."""
    n_users, n_items, n_ratings = size
    sample = ""
    for n in (n_users >> halvings for halvings in range(1, n_users.bit_length())):
        if n >= LEAST_SAMPLE and memory(name, params, n, n_items, n_ratings * n // n_users) <= room:
            sample = f" (a sample of {n:,} users would fit)"
            break
    return f"choose smaller parameters, filter the data{sample}, or leave it out"


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of the libraries that fit some of these algorithms."""
    packages = filter(None, (entry(name).package for name in names))
    return {package: package_version(package) for package in packages}


@cache
def package_version(package: str) -> str:
    """Return the version of a package, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


class Configured(Protocol):
    """What a config says of an algorithm."""

    @property
    def name(self) -> str: ...

    @property
    def params(self) -> Params: ...

    @property
    def search(self) -> SearchSpace | Literal["recommended"] | None: ...


def space_of(algorithm: Configured) -> SearchSpace:
    """Return the space that an algorithm of a config is searched over; empty when it is not."""
    if algorithm.search == "recommended":
        return entry(algorithm.name).space
    return algorithm.search or {}


def check(algorithm: Configured) -> list[Fault]:
    """Return what is wrong with an algorithm of a config, without building it."""
    try:
        kind = find(canonical(algorithm.name))
    except AlgorithmError as error:
        return [(("name",), str(error))]
    params, space = algorithm.params, algorithm.search
    if "/" in algorithm.name:
        return [*source_of(algorithm.name).check(algorithm.name, params)]
    if space == "recommended" and is_own(algorithm.name):
        space = entry(algorithm.name).space
    is_plain = not params and not isinstance(space, dict)
    if is_plain and not any(default is NEEDED for default in accepted(kind)[0].values()):
        return []

    known = entry_of(kind)
    has_name = known is not None and known.model_class is kind and not known.takes_arrays
    faults = [
        (("params", *path), text) for path, text in check_params(kind, params, has_name=has_name)
    ]
    if isinstance(space, dict):
        of_space = check_search(kind, params, space, has_name=has_name)
        if algorithm.search == "recommended":
            faults += [(("search",), f"`space`: {path[0]}: {text}") for path, text in of_space]
        else:
            faults += [(("search", *path), text) for path, text in of_space]
    return faults
