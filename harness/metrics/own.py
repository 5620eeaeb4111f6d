"""Your own metrics: a function of the lists at one cut-off rank becomes a metric.

::

    @harness.metric("proportion of the first k items from small publishers", needs="items")
    def small_share(lists, k, *, threshold=0.1):
        rare = lists.popularity <= threshold * lists.popularity.max()
        return lists.mean(rare[lists.items(k)], k)
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness._util.arguments import MOST_SCORE, parameters_by_kind, returned_numbers, unit_fault
from harness.errors import MetricError, counted, raised_where
from harness.metrics.arrays import Floats, Ints, Pairs, Rankings, Ranks
from harness.metrics.definition import Definition
from harness.metrics.exposure import Exposure
from harness.metrics.parameters import (
    ANY,
    OPTIONAL,
    UNDEFINED,
    Parameter,
    Params,
    Value,
    number,
    words,
)

Evidence = TypeVar("Evidence")


def locked(evidence: Evidence) -> Evidence:
    """Return an array, or an object of arrays, as views that code of somebody else's cannot change.

    >>> from harness.metrics import Rankings
    >>> lists = locked(Rankings([0, 1], [3.0], [1], [1], [1], [5]))
    >>> lists.n_ranked[0] = 9
    Traceback (most recent call last):
    ValueError: assignment destination is read-only
    """
    if isinstance(evidence, np.ndarray):
        view = evidence.view()
        view.flags.writeable = False
        return cast("Evidence", view)
    if isinstance(evidence, tuple):
        return cast("Evidence", tuple(map(locked, evidence)))
    if type(evidence).__module__.partition(".")[0] != __name__.partition(".")[0]:
        return evidence
    views: Any = copy(evidence)
    for name, value in vars(evidence).items():
        object.__setattr__(views, name, locked(value))
    return cast("Evidence", views)


Function = Callable[..., ArrayLike]
Needs = Literal["lists", "items", "genres", "pairs"]

TIES = Parameter(
    "ties",
    "order of equal estimates: random with a seed, input order, reversed input order, or the best "
    "or worst by relevance; a metric that needs items has lists as they are shown, whatever it is",
    words(random=OPTIONAL) | words("first", "last", "best", "worst"),
)
SWITCH = {"yes": True, "no": False}
TOLERANCE = 1e-9
"""Values that are out of range by less are rounded ones."""


class Lists:
    """The ranked lists of all users, as your own function sees them.

    Parameters
    ----------
    rankings : Rankings
        Without equal estimates. A metric that needs items or genres has each list in the order in
        which it is shown and stored; another has equal estimates as the label's ``ties`` says.
    exposure : Exposure, optional
        The training ratings, where a metric needs items.

    Examples
    --------
    One user; of five items the first and the fourth were judged:

    >>> lists = Lists(Rankings([0, 2], [3.0, 5.0], [1, 4], [1, 4], [1, 4], [5]))
    >>> lists.relevance(4), lists.ideal(2)
    (array([[ 3., nan, nan,  5.]]), array([[5., 3.]]))
    """

    def __init__(self, rankings: Rankings, exposure: Exposure | None = None) -> None:
        self.rankings = rankings
        self._exposure = exposure

    @property
    def n_users(self) -> int:
        """How many lists there are."""
        return self.rankings.n_users

    @property
    def lengths(self) -> Ints:
        """Number of items in each list, shape (n_users,)."""
        return self.rankings.n_ranked

    def relevance(self, k: int) -> Floats:
        """Return the grade of the item at each rank, shape (n_users, k).

        NaN where nobody judged the item, or the list is shorter.
        """
        ranks = self.rankings.rank
        return self._at(ranks <= k, ranks - 1, self.rankings.relevance, k, self.rankings.offsets)

    def ideal(self, k: int) -> Floats:
        """Return the grades of each user's judged items, greatest first, shape (n_users, k).

        NaN where a user has fewer.
        """
        offsets = self.rankings.pool_offsets
        places = np.arange(len(self.rankings.pool)) - np.repeat(offsets[:-1], np.diff(offsets))
        return self._at(places < k, places, self.rankings.pool, k, offsets)

    def items(self, k: int) -> Ranks:
        """Return the code of the item at each rank, shape (n_users, k); -1 behind a list's end."""
        top = self.rankings.top_items
        if top is None:
            raise MetricError("the lists have no items; declare the metric with needs='items'")
        if top.shape[1] >= k:
            first: Ranks = np.asarray(top[:, :k])
            return first
        missing = np.full((self.n_users, k - top.shape[1]), -1, dtype=np.int32)
        padded: Ranks = np.concatenate([top, missing], axis=1)
        return padded

    def mean(self, values: ArrayLike, k: int) -> Floats:
        """Return the mean of the values at the first k ranks of each list that it has.

        Parameters
        ----------
        values : array_like, shape (n_users, k)
        k : int

        Returns
        -------
        ndarray of float64, shape (n_users,)
            NaN for an empty list.
        """
        shown = np.arange(k) < self.lengths[:, np.newaxis]
        sums = np.where(shown, np.asarray(values, np.float64), 0.0).sum(axis=1)
        counts = shown.sum(axis=1)
        means: Floats = np.full(self.n_users, np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    @property
    def training(self) -> Exposure:
        """The training ratings, with ``users``, ``items``, ``ratings`` and ``genres``."""
        if self._exposure is None:
            raise MetricError("no training ratings; declare the metric with needs='items'")
        return self._exposure

    @property
    def popularity(self) -> Ints:
        """Number of training ratings of each item by its code, shape (n_items,)."""
        return self.training.popularity

    def _at(
        self,
        inside: NDArray[np.bool_],
        columns: NDArray[np.integer[Any]],
        values: Floats,
        k: int,
        offsets: Ints,
    ) -> Floats:
        table = np.full((self.n_users, k), np.nan)
        rows = np.repeat(np.arange(self.n_users), np.diff(offsets))
        table[rows[inside], columns[inside]] = values[inside]
        return table


def metric(
    summary: str = "",
    *,
    higher_is_better: bool = True,
    needs: Needs = "lists",
    range: tuple[float, float] = (0.0, 1.0),
    formula: str = "",
    source: str = "",
    api: int = 1,
) -> Callable[[Function], Definition]:
    """Declare your own function as a metric.

    Parameters
    ----------
    summary : str
        What it measures; by default the first paragraph of the function's docstring.
    higher_is_better : bool
    needs : {'lists', 'items', 'genres', 'pairs'}
        What the function is given first. `Lists`, also with the items at the top of lists and the
        training ratings, or with the items' genres too; or `Pairs` of estimate and rating, where a
        label has no ``@k``.
    range : (float, float)
        Least and greatest value; a value outside is an error.
    formula, source : str
        For `harness list metrics` and the methods of a run.
    api : int
        The version of the interface that the function is written for.

    Returns
    -------
    callable
        Makes a `Definition` of a function ``(lists, k, *, parameter=default, ...)`` that returns
        one number a user, NaN where the metric is undefined. Its keyword-only arguments are the
        parameters of labels: a number, True or False, or one of the words of a `Literal`.

    Raises
    ------
    MetricError
        If the function has arguments that a label cannot state.

    Examples
    --------
    >>> @metric("proportion of the first k items that were judged")
    ... def judged(lists, k, *, least=0.0):
    ...     return (lists.relevance(k) >= least).mean(axis=1)
    >>> lists = Rankings([0, 2], [3.0, 5.0], [1, 4], [1, 4], [1, 4], [5])
    >>> judged(lists, 4).mean, judged(lists, 4, least=4).mean
    (0.5, 0.25)
    """

    def declare(function: Function) -> Definition:
        if not callable(function):
            raise MetricError("harness.metric: write it with brackets: @harness.metric()")
        if needs not in typing.get_args(Needs):
            choices = ", ".join(typing.get_args(Needs))
            raise MetricError(f"{function.__name__}: needs={needs!r}; use one of {choices}")
        parameters, convert = _parameters(function, takes_k=needs != "pairs")
        about = summary or " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        computing = _of_pairs if needs == "pairs" else _of_lists
        compute = computing(function, convert, range)
        compute.__name__, compute.__doc__ = function.__name__, about
        compute.__module__, compute.__wrapped__ = function.__module__, function
        definition = Definition(
            compute,
            formula or about,
            source or f"{function.__module__}.{function.__name__}",
            parameters=parameters if needs == "pairs" else (*parameters, TIES, UNDEFINED),
            range=range,
            higher_is_better=higher_is_better,
            needs="rankings" if needs == "lists" else needs,
            cut="none" if needs == "pairs" else "required",
            has_bounds=False,
        )
        definition.api = api
        return definition

    return declare


def _of_lists(
    function: Function, convert: Callable[[Params], dict[str, object]], limits: tuple[float, float]
) -> Any:
    def compute(
        rankings: Rankings, ks: Ints, params: Params, exposure: Exposure | None = None
    ) -> Floats:
        if exposure is None:  # their order is not that of `ties`
            rankings = replace(rankings, top_items=None, top_estimates=None, items=None)
        lists, arguments = Lists(locked(rankings), locked(exposure)), convert(params)
        columns = [
            _checked(function, lists.n_users, limits, lists, int(k), **arguments) for k in ks
        ]
        return np.stack(columns, axis=1)

    return compute


def _of_pairs(
    function: Function, convert: Callable[[Params], dict[str, object]], limits: tuple[float, float]
) -> Any:
    def compute(pairs: Pairs, params: Params) -> tuple[Floats, float]:
        scores = _checked(function, pairs.n_users, limits, locked(pairs), **convert(params))
        defined = scores[~np.isnan(scores)]
        return scores, float(defined.mean()) if len(defined) else math.nan

    return compute


def _checked(
    function: Function,
    n_users: int,
    limits: tuple[float, float],
    *positional: object,
    **arguments: object,
) -> Floats:
    """Call your own function, and refuse what is not one number in range a user."""
    name = f"{function.__module__}.{function.__name__}"
    try:
        returned = function(*positional, **arguments)
    except (MetricError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        said = raised_where(error)
        raise MetricError(f"{name} failed ({said}); correct the function") from error
    scores = returned_numbers(name, returned, MetricError)
    if scores.shape != (n_users,):
        raise MetricError(
            f"{name} returned shape {scores.shape} for {counted(n_users, 'user')}; return one "
            f"number a user, shape ({n_users},)"
        )
    if fault := unit_fault(MOST_SCORE, scores[np.isfinite(scores)]):
        raise MetricError(f"{name}: {fault}")
    low, high = limits
    slack = TOLERANCE * max(1.0, *(abs(end) for end in limits if math.isfinite(end)), 0.0)
    outside = np.isinf(scores) | (scores < low - slack) | (scores > high + slack)
    if outside.any():
        raise MetricError(
            f"{name} returned {scores[outside][0]:g} for a user, outside of its range from "
            f"{number(low)} to {number(high)}; correct the function, or declare the `range` of its "
            "values"
        )
    return scores


def _parameters(
    function: Function, *, takes_k: bool
) -> tuple[tuple[Parameter, ...], Callable[[Params], dict[str, object]]]:
    """Return a function's parameters for labels, and what turns values into arguments."""
    name, shape = function.__name__, "(lists, k, *, threshold=0.1)" if takes_k else "(pairs)"
    by_kind = parameters_by_kind(function)
    plain = by_kind.pop(inspect.Parameter.POSITIONAL_OR_KEYWORD, {})
    options = by_kind.pop(inspect.Parameter.KEYWORD_ONLY, {})
    if len(plain) != 1 + takes_k or any(by_kind.values()):
        raise MetricError(f"{name}{inspect.signature(function)}: write it as {name}{shape}")
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # of names that exist for type checkers alone
        hints = {}
    parameters, turns = [], {}
    for key, option in options.items():
        parameter, turn = _parameter(name, option, hints.get(key))
        parameters.append(parameter)
        turns[key] = turn

    def convert(params: Params) -> dict[str, object]:
        return {key: turn(params[key]) for key, turn in turns.items()}

    return tuple(parameters), convert


def _parameter(
    function: str, option: inspect.Parameter, hint: object
) -> tuple[Parameter, Callable[[Value], object]]:
    name, default = option.name, option.default
    choices: Sequence[object] = ()
    if typing.get_origin(hint) is Literal:
        choices = typing.get_args(hint)
    if isinstance(default, bool):
        chosen = "yes" if default else "no"
        return Parameter(name, "", words(*SWITCH), default=chosen), lambda value: SWITCH[value]
    if isinstance(default, int | float) and not choices:
        is_whole = isinstance(default, int) and hint is not float

        def turn(value: Value) -> float:
            return int(float(value)) if is_whole and float(value).is_integer() else float(value)

        return Parameter(name, "", limits=ANY, default=number(default)), turn
    if isinstance(default, str) and default in choices:
        return Parameter(name, "", words(*map(str, choices)), default=default), str
    raise MetricError(
        f"{function}: the default of {name!r} is {default!r}; give a number, True, False, or a "
        "text with an annotation as Literal['sum', 'mean']"
    )
