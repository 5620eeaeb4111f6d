"""The algorithms with a name: all that is known of each, and the models that names stand for."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import math
import pkgutil
import sys
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from harness.algorithms import compiled, own, surprise
from harness.errors import AlgorithmError, suggestion
from harness.kernels import cached_rows
from harness.sections import Range, SearchSpace, folded

if TYPE_CHECKING:
    from harness.algorithms.trainset import Bools, Codes, ColumnTrainset, Floats
    from harness.config.experiment import AlgorithmConfig

Params = Mapping[str, Any]  # arguments of a constructor, or options among them
Progress = Callable[[int, int], object]  # called with steps done and steps in all
Estimates = tuple["Floats", "Bools | bool"]  # unclipped estimates, and which are impossible
Fault = tuple[tuple[str | int, ...], str]
"""Where in an algorithm of a config, and what was found and what to do."""

MEAN = "the mean of all ratings"
MEAN_AND_BIAS = f"{MEAN} plus the item's bias"
DOUBLE = 8
KINDS = ("surprise", "top-n", "baseline", "library")
COLUMNS_ROW = 40
"""Both groupings of the ratings, with two ids of 4 bytes and two ratings of 8; and while they are
made, keys and places of 8 bytes each."""
LISTS_ROW = 250  # a rating in the lists of tuples that a class of your own walks
BLOCK = 64 << 20  # estimates under way
LEAST_SAMPLE = 100  # users; with fewer, a cell that fits says little

_FROM_ZERO = "alpha damping init_high init_low init_std_dev reg reg_all reg_i reg_u shrinkage"
_COUNTS = "k k_core min_k min_support n_cltr_i n_cltr_u n_factors"
LEAST: Mapping[str, float] = {
    **dict.fromkeys(_FROM_ZERO.split(), 0.0),
    **dict.fromkeys(_COUNTS.split(), 1),
    **dict.fromkeys(("n_epochs", "random_state"), 0),
}
"""The least legal value; Surprise itself fails late or divides by zero below it. Where it is an
integer, the parameter is a count; others are numbers, even if Surprise's default is an integer."""
MOST_EPOCHS = 1_000_000
"""Of a config or a saved model: with more, even one user's ratings would take for ever."""
SIMILARITIES = ("cosine", "msd", "pearson", "pearson_baseline")
OPTIONS = ("sim_options", "bsl_options")
SIM_OPTIONS: Params = {"name": "msd", "user_based": True, "min_support": 1, "shrinkage": 100.0}
BSL_OPTIONS: Mapping[str, Params] = {
    "als": {"method": "als", "reg_i": 10.0, "reg_u": 15.0, "n_epochs": 10},
    "sgd": {"method": "sgd", "reg": 0.02, "learning_rate": 0.005, "n_epochs": 20},
}


class Size(NamedTuple):
    """The size of a training set."""

    n_users: int
    n_items: int
    n_ratings: int


class FitOptions(NamedTuple):
    """How to fit, beside the parameters of the model."""

    progress: Progress
    as_surprise: bool = False  # whether ratings are cut to whole numbers where Surprise does so


class NeedsSurprise(Exception):  # noqa: N818 - not an error: the way round is always open
    """Raised within the package if only Surprise's own code gives the result."""


class Algorithm(ABC):
    """One algorithm: a subclass with a `model_class` declares all that the harness knows of it.

    The class fits a model in place of its own ``fit``; an instance estimates in place of
    ``predict``, where users and items are inner ids, -1 for an unknown one.
    """

    model_class: ClassVar[type]
    name: ClassVar[str]  # in a config; by default the name of the class
    kind: ClassVar[Literal["surprise", "top-n", "baseline", "library"]] = "surprise"
    summary: ClassVar[str]
    citation: ClassVar[str] = ""  # a key of ``sources.bib``
    package: ClassVar[str] = ""  # what has to be installed for an algorithm of another library
    extra: ClassVar[str] = ""  # the extra of this package that brings it
    note: ClassVar[str] = ""  # the code of what every run with this algorithm notes
    not_ratings: ClassVar[str] = ""  # what estimates are if they are not estimates of ratings
    style: ClassVar[tuple[str, str, str, bool] | None] = None
    """Hue, marker, line and whether the marker is filled; where there is none, by its label."""
    space: ClassVar[SearchSpace] = {}
    """What ``search: recommended`` stands for; wide enough for MovieLens from 100K to 25M."""
    unknown_user: ClassVar[str] = "what its own code says"
    """Its estimate for a user without training ratings; of a known item, where that matters."""
    truncates: ClassVar[bool] = False
    """Whether Surprise reads ratings into C integers: 4.5 stars count as 4."""
    items_alone: ClassVar[bool] = False
    """Whether it learns of items alone: of a user, estimates need nothing but the ratings."""
    draws_in_order: ClassVar[bool] = False
    """Whether it draws a number for each estimate, one after the other."""
    takes_codes: ClassVar[bool] = False
    """Whether estimates are of codes of the data set, not of inner ids."""
    fit_methods: ClassVar[tuple[str, ...]] = ("fit",)
    """Methods that the model's ``fit`` calls: a subclass that overrides one fits by itself."""
    score_methods: ClassVar[tuple[str, ...]] = ("predict", "estimate", "default_prediction")
    """The same for ``predict``."""
    block_bytes = 0
    """Of the estimates of a catalogue that `rows` had better make at a time, at least."""

    def __init_subclass__(cls) -> None:
        if "model_class" in vars(cls):
            if "name" not in vars(cls):
                cls.name = cls.model_class.__name__
            ENTRIES[cls.name] = cls

    def __init__(self, model: surprise.AlgoBase) -> None:
        self.model = model
        self.trainset: ColumnTrainset = model.trainset

    @classmethod
    def parameters(cls) -> Params:
        """Return what a config may set, with the defaults."""
        known, _ = accepted(cls.model_class)
        return {name: default for name, default in known.items() if name != "verbose"}

    @classmethod
    def count(cls, params: Params, name: str) -> int:
        """Return the value of a parameter that counts something, given or by default."""
        return int(params.get(name, cls.parameters()[name]))

    @classmethod
    def memory(cls, params: Params, size: Size) -> int:
        """Return the bytes that fitting and scoring need beside the columns of the ratings."""
        return DOUBLE * (size.n_ratings + 8 * (size.n_users + size.n_items))

    @classmethod
    def missing(cls) -> str:
        """Return what this machine lacks, and how to install it; empty if nothing."""
        if not cls.package or importlib.util.find_spec(cls.package):
            return ""
        return f"{cls.name}: needs {cls.package}; pip install 'surprise-harness[{cls.extra}]'"

    @classmethod
    def gives_preferences(cls, params: Params) -> bool:
        """Return whether estimates are preferences instead of ratings."""
        return False

    @classmethod
    def may_fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        """Return whether `fit` would do what ``model.fit`` does."""
        return cls._unchanged(model, cls.fit_methods) and cls.accepts(model, trainset)

    @classmethod
    def may_score(cls, model: surprise.AlgoBase) -> bool:
        """Return whether an instance would do what ``model.predict`` does."""
        return cls._unchanged(model, cls.score_methods)

    @classmethod
    def _unchanged(cls, model: surprise.AlgoBase, methods: Iterable[str]) -> bool:
        return all(
            name not in vars(model)
            and getattr(type(model), name, None) is getattr(cls.model_class, name)
            for name in methods
        )

    @classmethod
    def accepts(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> bool:
        """Return whether the parameters are ordinary; Surprise answers for the others."""
        known, _ = accepted(cls.model_class)
        given = ((name, value) for name, value in vars(model).items() if name in known)
        return all(is_ordinary(*each) for each in given)

    @classmethod
    def fit(cls, model: surprise.AlgoBase, trainset: ColumnTrainset, how: FitOptions) -> None:
        """Set on the model the attributes that ``model.fit(trainset)`` would set."""
        model.fit(trainset)

    @classmethod
    def fold_in(cls, model: surprise.AlgoBase, trainset: ColumnTrainset) -> dict[str, object]:
        """Return the attributes of a model of the users of `trainset`, with the same items."""
        if cls.items_alone:
            return {}
        raise AlgorithmError(
            f"{cls.name}: it cannot take new users; SVD, SVDpp, NMF, BaselineOnly, SlopeOne, the "
            "neighbour methods with `user_based: false`, Popularity, ItemMean, EASE, PureSVD and "
            "BinaryItemKNN can"
        )

    def estimates(self, users: Codes, items: Codes) -> Estimates:
        """Return the unclipped estimates, and which are impossible; both broadcast."""
        raise NeedsSurprise

    def pairs(self, users: Codes, items: Codes) -> Estimates:
        """Return what `estimates` does, for users and items of one shape (n,)."""
        return self.estimates(users, items)

    def rows(self, users: Codes) -> Estimates:
        """Return what `estimates` does, for each user with all items, shape (n, n_items)."""
        items = self.items
        estimates = np.empty((len(users), len(items)))
        impossible, some = np.zeros(estimates.shape, np.bool_), False
        for part in cached_rows(estimates):
            estimates[part], none = self.estimates(users[part, None], items)
            if np.any(none):
                impossible[part], some = none, True
        return estimates, impossible if some else False

    @property
    def items(self) -> Codes:
        """All items of the training set."""
        if self.takes_codes:
            return self.trainset.item_codes
        return np.arange(self.trainset.n_items, dtype=np.int32)

    def baselines(self, users: Codes, items: Codes) -> Floats:
        """Return ``mean + b_u + b_i`` of a model with biases; an unknown side adds nothing."""
        of_users = np.where(users >= 0, self.model.bu[users], 0.0) + self.trainset.global_mean
        estimates: Floats = of_users + np.where(items >= 0, self.model.bi[items], 0.0)
        return estimates


ENTRIES: dict[str, type[Algorithm]] = {}
"""The algorithms of all modules that are loaded; `algorithms` loads them all."""


def is_ordinary(name: str, value: object) -> bool:
    """Return whether Surprise would take a parameter for a C number, or knows what it names."""
    if name in OPTIONS:
        return isinstance(value, dict) and all(is_ordinary(*each) for each in value.items())
    if name == "name":
        return isinstance(value, str) and value.lower() in SIMILARITIES
    if name == "method":
        return isinstance(value, str) and value in BSL_OPTIONS
    if name in ("random_state", "min_rating"):  # a generator, or none, is as good as a number
        return True
    if isinstance(LEAST.get(name), int):
        return isinstance(value, Integral) and abs(int(value)) <= _most(name)
    return isinstance(value, Real | np.bool_)


def _most(name: str) -> int:
    """Return the greatest value of a number that Surprise or a loop takes."""
    return MOST_EPOCHS if name == "n_epochs" else 2**31 - 1


@cache
def algorithms() -> dict[str, type[Algorithm]]:
    """Return every algorithm that has a name: Surprise's, baselines, those of other libraries."""
    import_module("harness.algorithms.baselines")
    for module in pkgutil.iter_modules(compiled.__path__, f"{compiled.__name__}."):
        import_module(module.name)
    for other in ("als", "top_n"):
        import_module(f"harness.algorithms.{other}")
    # By module: the order must not depend on which of them was imported first.
    found = sorted(ENTRIES.values(), key=lambda each: (KINDS.index(each.kind), each.__module__))
    return {each.name: each for each in found}


def names(kind: str) -> list[str]:
    """Return the algorithms of a kind: ``surprise``, ``baseline`` or ``library``."""
    return [name for name, each in algorithms().items() if each.kind == kind]


def entry(name: str) -> type[Algorithm]:
    """Return what is known of an algorithm by its name; nothing in particular of an import path."""
    if "/" in name:  # the model of another library
        return cast("type[Algorithm]", libraries().entry(name))
    return Algorithm if ":" in name else algorithms()[canonical(name)]


def libraries() -> ModuleType:
    """Return the module of other libraries' models, which needs this one."""
    return import_module("harness.algorithms.libraries")


def entry_of(kind: type) -> type[Algorithm] | None:
    """Return what is known of a class, or of the first that it derives from."""
    entries = {each.model_class: each for each in algorithms().values()}
    if "harness.algorithms.libraries" in sys.modules:
        entries[libraries().LibraryModel] = libraries().LibraryEntry
    return next((entries[base] for base in kind.__mro__ if base in entries), None)


def canonical(name: str) -> str:
    """Return the spelling of a name that Surprise uses; an import path stays as it is.

    >>> canonical("slope one")
    'SlopeOne'
    """
    if ":" in name:
        return name
    if "/" in name:
        library, _, model, _ = libraries().resolve(name)
        return f"{library}/{model}"
    found = _by_spelling().get(folded(name))
    if found is None:
        raise AlgorithmError(f"unknown algorithm {name!r}; {suggestion(name, algorithms())}")
    return found


@cache
def _by_spelling() -> dict[str, str]:
    return {folded(each): each for each in algorithms()}


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
    seeded_later = "random_state" in allowed and "random_state" not in signature(kind).parameters
    state = arguments.pop("random_state") if seeded_later else None
    if "verbose" in allowed:
        arguments.setdefault("verbose", False)
    for options in OPTIONS:
        # Surprise's defaults are one shared, mutable dict; every model gets its own.
        if options in allowed:
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
    known = entry_of(find(name))
    size = Size(n_users, n_items, n_ratings)
    needed = known.memory(params, size) if known else LISTS_ROW * n_ratings
    return COLUMNS_ROW * n_ratings + BLOCK + needed


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


signature = cache(inspect.signature)


@cache
def accepted(kind: type) -> tuple[Params, bool]:
    """Return the parameters of a class with their defaults, and whether it takes any others."""
    every = signature(kind).parameters.values()
    defaults = {p.name: p.default for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in every)
    if not kind.__module__.startswith("surprise."):
        return defaults, open_ended
    if open_ended:  # the neighbour methods pass baseline options through
        defaults["bsl_options"] = {}
    if kind.__name__ == "NormalPredictor":  # seeded here, though not by Surprise
        defaults["random_state"] = None
    return defaults, False


def check(algorithm: AlgorithmConfig) -> list[Fault]:
    """Return what is wrong with an algorithm of a config, without building it."""
    try:
        canonical(algorithm.name)
        kind = find(algorithm.name)
    except AlgorithmError as error:
        return [(("name",), str(error))]
    params, space = algorithm.params, algorithm.search
    if "/" in algorithm.name:
        return [*libraries().check(algorithm.name, params)]
    faults = [(("params", *path), text) for path, text in check_params(kind, params)]
    if isinstance(space, dict):
        found = _check_search(kind, params, space)
        faults += [(("search", *path), text) for path, text in found]
    return faults


def with_params(params: Params, setting: Params) -> dict[str, Any]:
    """Return constructor arguments with a setting of a search written into them.

    >>> with_params({"k": 5, "sim_options": {"name": "msd"}}, {"sim_options.user_based": False})
    {'k': 5, 'sim_options': {'name': 'msd', 'user_based': False}}
    """
    merged = dict(params)
    for path, value in setting.items():
        outer, _, inner = path.partition(".")
        merged[outer] = {**merged.get(outer, {}), inner: value} if inner else value
    return merged


def check_params(kind: type, params: Params) -> Iterator[Fault]:
    """Yield parameters that would fail in the constructor or, of a class with a name, in a run."""
    allowed, _ = accepted(kind)
    for name, value in params.items():
        options: dict[tuple[str, ...], object] = {(name,): value}
        if isinstance(value, dict) and name in OPTIONS and name in allowed:
            options = {(name, option): inner for option, inner in value.items()}
        for path, inner in options.items():
            if message := _fault(kind, path, inner, _method(params)):
                yield path, message
    for name, default in allowed.items():
        if default is inspect.Parameter.empty and name not in params:
            yield (), f"{kind.__name__} needs the parameter {name!r}; add it under `params`"


def _check_search(kind: type, params: Params, space: SearchSpace) -> Iterator[Fault]:
    """Yield what is wrong with a search space: each value is checked as one in `params` is."""
    searched = space.get("bsl_options.method")
    methods = searched if isinstance(searched, list) else [_method(params)]
    for name, values in space.items():
        path = tuple(name.split(".", 1))
        if path[1:] and path[0] in OPTIONS and not isinstance(params.get(path[0], {}), dict):
            continue  # a fault of `params`
        ends = values.model_dump(include={"low", "high"}) if isinstance(values, Range) else values
        found = {}
        for key, value in ends.items() if isinstance(ends, dict) else enumerate(ends):
            messages = [_fault(kind, path, value, method) for method in methods]
            found[key] = messages[0] if all(messages) else ""
        if len({*found.values()}) == 1:  # of the name, not of a value
            yield from (((name,), message) for message in {*found.values()} if message)
        else:
            yield from (((name, key), message) for key, message in found.items() if message)


def _method(params: Params) -> object:
    """Return the method of the baselines, which decides what options they have."""
    options = params.get("bsl_options")
    return options.get("method", "als") if isinstance(options, dict) else "als"


def _fault(kind: type, path: tuple[str, ...], value: object, method: object) -> str:
    """Return what is wrong with a parameter or an option; of a class of your own, only its name."""
    (name, *inner), (allowed, open_ended), known = path, accepted(kind), entry_of(kind)
    has_name = known is not None and known.model_class is kind
    if name not in allowed and (has_name or not open_ended):
        return f"{kind.__name__} has no such parameter; {suggestion(name, allowed)}"
    if not has_name:
        return ""
    if name not in OPTIONS:
        return _wrong(name, {inner[0]: value} if inner else value, allowed[name])
    if inner:
        return _option_fault(name, inner[0], value, method)
    what = "similarity" if name == "sim_options" else "baseline"
    return f"found {value!r}; it must be a mapping of {what} options"


def _option_fault(options: str, name: str, value: object, method: object) -> str:
    """Return what is wrong with one of the `sim_options` or `bsl_options`."""
    if options == "sim_options":
        if name == "name":
            return _unknown("similarity", value, str(value).lower(), [*SIMILARITIES])
        known, what = SIM_OPTIONS, "similarity option"
    elif name == "method":
        return _unknown("method", value, value, [*BSL_OPTIONS])
    elif method in [*BSL_OPTIONS]:  # a list, as a method may be what has no hash
        known, what = BSL_OPTIONS[str(method)], f"option of the {method} baseline"
    else:  # the unknown method is the fault
        return ""
    if name not in known:
        return f"no such {what}; {suggestion(name, known)}"
    return _wrong(name, value, known[name])


def _unknown(what: str, given: object, value: object, known: list[str]) -> str:
    return "" if value in known else f"unknown {what} {given!r}; {suggestion(given, known)}"


def _wrong(name: str, value: object, default: object) -> str:
    """Return what is wrong with a value; the default says whether it may be null or is a switch."""
    if value is None and default is None:
        return ""
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else f"found {value!r}; it must be true or false"
    least = LEAST.get(name)
    whole = isinstance(least, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        return f"found {value!r}; it must be a {'whole ' * whole}number"
    if isinstance(value, float) and not math.isfinite(value):
        return f"found {value!r}; it must be finite"
    if abs(value) > _most(name) and name != "random_state":
        return f"found {value!r}; it is larger than any sensible setting"
    if least is not None and value < least:
        return f"found {value!r}; it must be {least:g} or more"
    if name == "random_state" and value >= 2**32:
        return f"found {value!r}; it must be below {2**32}"
    return ""
