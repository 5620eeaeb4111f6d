"""The settings that a search tries next: random, listed or modelled, always from a seed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from harness import seeds
from harness.config.experiment import Tuning
from harness.config.spaces import Range, SearchSpace
from harness.errors import AlgorithmError

__all__ = ["Setting", "Study", "grid_size", "make_study"]

MOST_REPEATED = 10_000
"""Repeated draws in a row after which the settings that are left are listed."""

Setting = dict[str, Any]
"""Values by the dotted names of a space."""


class Study(Protocol):
    """A search over one space.

    Attributes
    ----------
    learns : bool
        Whether a setting depends on how good the ones before it were.
    """

    learns: bool

    def ask(self) -> Setting | None:
        """Return the next setting, None when there is none left."""

    def tell(self, setting: Setting, value: float) -> None:
        """Report how good a setting was; larger is better, NaN for one that failed."""


def make_study(tuning: Tuning, space: SearchSpace, seed: int, *names: object) -> Study:
    """Return a search over a space.

    Parameters
    ----------
    tuning : Tuning
    space : dict
    seed : int
        The run's seed.
    *names : object
        What the search is for; its stream depends on them.

    Examples
    --------
    >>> study = make_study(Tuning(), {"k": [1, 2]}, 0, "KNNBasic")
    >>> sorted([study.ask()["k"], study.ask()["k"]]), study.ask()
    ([1, 2], None)
    """
    if tuning.method == "tpe":
        return _Parzen(space, seeds.derive(seed, "search", *names))
    rng = seeds.generator(seed, "search", *names)
    if tuning.method == "random":
        return _Listed(_draws(space, rng))
    points: SearchSpace = {name: _points(values) for name, values in space.items()}
    if tuning.trials is not None and grid_size(space) > tuning.trials:
        return _Listed(_draws(points, rng))
    return _Listed(_product(points))


def grid_size(space: SearchSpace) -> int:
    """Return how many settings a grid over a space has.

    Examples
    --------
    >>> grid_size({"k": [1, 2, 3], "min_k": Range(low=1, high=9, points=5)}), grid_size({})
    (15, 0)
    """
    return math.prod(len(_points(values)) for values in space.values()) if space else 0


class _Listed:
    """Settings that do not depend on how good the earlier ones were."""

    learns = False

    def __init__(self, settings: Iterator[Setting]) -> None:
        self.settings = settings

    def ask(self) -> Setting | None:
        return next(self.settings, None)

    def tell(self, setting: Setting, value: float) -> None:
        """Ignore the value."""


class _Parzen:
    """Optuna's tree-structured Parzen estimators (doi:10.5555/2986459.2986743)."""

    learns = True

    def __init__(self, space: SearchSpace, seed: int) -> None:
        try:
            import optuna
        except ImportError:
            raise AlgorithmError(
                "tuning.method: tpe needs Optuna; pip install 'surprise-harness[tpe]'"
            ) from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space = space
        self.study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed)
        )
        self.failed = optuna.trial.TrialState.FAIL
        self.trials: list[tuple[Setting, Any]] = []

    def ask(self) -> Setting | None:
        trial = self.study.ask()
        setting: Setting = {}
        for name, values in self.space.items():
            if not isinstance(values, Range):
                setting[name] = trial.suggest_categorical(name, values)
            elif values.whole:
                setting[name] = trial.suggest_int(
                    name, int(values.low), int(values.high), log=values.log
                )
            else:
                setting[name] = trial.suggest_float(
                    name, float(values.low), float(values.high), log=values.log
                )
        self.trials.append((setting, trial))
        return setting

    def tell(self, setting: Setting, value: float) -> None:
        for own, trial in self.trials:
            if own is setting:
                state = self.failed if math.isnan(value) else None
                self.study.tell(trial, None if math.isnan(value) else value, state=state)


def _draws(space: SearchSpace, rng: np.random.Generator) -> Iterator[Setting]:
    """Yield random settings, each once; end when there is no other."""
    size = math.prod(_n_values(values) for values in space.values()) if space else 0
    seen: set[str] = set()
    n_repeated = 0
    while len(seen) < size and n_repeated < MOST_REPEATED:
        setting = {name: _draw(values, rng) for name, values in space.items()}
        if repr(setting) in seen:  # the text distinguishes True from 1, a set does not
            n_repeated += 1
            continue
        seen.add(repr(setting))
        n_repeated = 0
        yield setting
    if len(seen) < size:  # a few settings are left that are drawn seldom
        whole = {name: _whole_values(values) for name, values in space.items()}
        yield from (each for each in _product(whole) if repr(each) not in seen)


def _n_values(values: Any) -> float:
    """Return how many values may be drawn."""
    if isinstance(values, Range) and not values.whole:
        return math.inf
    return len(_whole_values(values))


def _whole_values(values: Any) -> Sequence[Any]:
    if isinstance(values, Range):
        return range(int(values.low), int(values.high) + 1)
    return _distinct(values)


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _draw(values: Any, rng: np.random.Generator) -> Any:
    if not isinstance(values, Range):
        return values[int(rng.integers(len(values)))]
    if values.whole and not values.log:
        return int(rng.integers(int(values.low), int(values.high) + 1))
    # A whole number is the middle of a unit interval, so that both ends are as likely as others.
    low, high = (values.low - 0.5, values.high + 0.5) if values.whole else (values.low, values.high)
    if values.log:
        drawn = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        drawn = float(rng.uniform(low, high))
    if not values.whole:
        return drawn
    return min(max(round(drawn), int(values.low)), int(values.high))


def _product(space: Mapping[str, Iterable[Any]]) -> Iterator[Setting]:
    if space:
        for combination in itertools.product(*space.values()):
            yield dict(zip(space, combination, strict=True))


def _points(values: Any) -> list[Any]:
    """Return the values that a grid takes."""
    if not isinstance(values, Range):
        return _distinct(values)
    spread = np.geomspace if values.log else np.linspace
    points = spread(values.low, values.high, values.points)
    if values.whole:
        return sorted({round(point) for point in points.tolist()})
    return _distinct(float(point) for point in points)
