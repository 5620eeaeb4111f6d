"""What a metric declares, and how the function behind it scores lists or pairs.

A metric is one function in the module of its family, decorated by `metric`, and an entry point of
the group ``harness.metrics``: labels, lists, documentation and scoring read that declaration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import as_array, is_called_from_outside
from harness.errors import MetricError, suggestion
from harness.metrics.arrays import Floats, Pairs, Rankings, Scores, warn_of_filled
from harness.metrics.parameters import (
    WEIGHTED,
    Parameter,
    Params,
    Value,
    fault_of_weights,
    is_weighted,
)
from harness.metrics.ties import AVERAGE, as_shown, cut_rule, neutral, resolve_ties
from harness.metrics.weights import weighted_lists, weighted_pairs

if TYPE_CHECKING:
    from harness.metrics.exposure import Exposure
    from harness.metrics.weights import Worth


T = TypeVar("T")
Chosen = tuple[tuple[str, Value], ...]
"""The parameters that differ from their defaults, in the order of the definition."""

GREATEST_K, DIGITS_OF_K = 10_000_000, 8


@dataclass(eq=False)
class Definition:
    """The declaration of a metric, in place of the function that computes it.

    The function's name is the metric's, the first paragraph of its docstring the summary.

    Parameters
    ----------
    compute : callable
        From rankings, ranks and parameters (and exposure), the scores of shape (n_users, n_k), nan
        where nothing is relevant, or without `per_user` one value at each rank; from pairs and
        parameters, the users' scores and the pooled value.
    formula : str
        ``i`` is a rank from 1, ``rel_i`` the relevance there, ``R`` the relevant items.
    source : str
        With a DOI where there is one.
    parameters : tuple of Parameter
        In the order in which labels print them.
    range : (float, float)
    higher_is_better : bool
    needs : {'rankings', 'pairs', 'items', 'genres'}
        Ranked lists, pairs of estimate and rating, or the items at the top of each list together
        with the training ratings, and for some with the items' genres.
    needs_training : bool
        Of a metric of items, whether it needs the training ratings too.
    cut : {'optional', 'required', 'none'}
        Whether labels have ``@k``; without, the whole list counts.
    pooled : bool
        Whether the table value is over all users at once, not the mean of their scores.
    per_user : bool
    weight : callable
        What a list counts with ``average=pooled``, by its length.
    synonyms : tuple of str
        For messages only: a label has one spelling.
    fault, fault_of_relevance : callable, optional
        What is wrong with parameters and the rank together, and why a relevance has no gain; or "".
    has_bounds : bool
        Whether the best order of a list is that by relevance, and ``ties=average`` the mean over
        orders, so that a table can show the best and the expected score.
    value_needs : str
        Of a pooled metric, what the ratings must have so that there is a value.
    name : str
        In labels; by default the name of the function.

    Examples
    --------
    >>> from harness import metrics
    >>> metrics.parse("hit@10").definition.formula
    '1 if hits@k > 0 else 0'
    """

    compute: Callable[..., Any]
    formula: str
    source: str
    parameters: tuple[Parameter, ...] = ()
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: Literal["rankings", "pairs", "items", "genres"] = "rankings"
    needs_training: bool = True
    cut: Literal["optional", "required", "none"] = "optional"
    pooled: bool = False
    per_user: bool = True
    weight: Callable[[Floats], Floats] = lambda length: length
    synonyms: tuple[str, ...] = ()
    fault: Callable[[Params, int | None], str] | None = None
    fault_of_relevance: Callable[[Params, Floats], str] | None = None
    has_bounds: bool = True
    value_needs: str = ""
    name: str = ""
    api: int = 1
    """The version of the interface that it is written for, see `harness.plugins.registry`."""
    needs_items: bool = field(init=False)
    """Whether it needs the items at the top of lists and the training ratings."""
    is_ranking: bool = field(init=False)
    """Whether it measures how items are ordered, by their relevance."""
    needs_ratings: bool = field(init=False)
    """Whether estimates must be ratings: it compares them with ratings or with a threshold."""
    needs_genres: bool = field(init=False)
    """Whether it needs the genres of items too."""
    takes_weights: bool = field(init=False)
    """Whether ``weights`` are of exposure; a user's metric may mean others."""

    def __post_init__(self) -> None:
        name = self.name
        update_wrapper(self, self.compute)
        self.name = name or self.compute.__name__
        self.needs_items = self.needs in ("items", "genres")
        self.is_ranking = self.needs == "rankings"
        # fcp compares estimates with each other.
        self.needs_ratings = self.needs == "pairs" and self.name != "fcp"
        self.needs_genres = self.needs == "genres"
        self.takes_weights = WEIGHTED[0] in self.parameters

    @property
    def summary(self) -> str:
        """What it measures, in a sentence or two."""
        return " ".join((self.compute.__doc__ or "").partition("\n\n")[0].split())

    def __call__(
        self,
        evidence: Rankings | Pairs,
        k: int | None = None,
        *,
        exposure: Exposure | None = None,
        **params: object,
    ) -> Scores:
        """Score rankings, or pairs, at one rank or as a whole, with parameters as in a label.

        Warns of pairs whose ratings are all one number that nobody gives.
        """
        label = label_of(self.name, params, k)
        try:
            chosen = self.choose({name: Value(str(value)) for name, value in params.items()})
            rank = self.checked_rank(None if k is None else str(k), chosen, label)
        except MetricError as error:
            raise MetricError(f"{label}: {error}", error.reason) from None
        if isinstance(evidence, Pairs) and is_called_from_outside():
            warn_of_filled(evidence.ratings)
        rankings, pairs = (None, evidence) if isinstance(evidence, Pairs) else (evidence, None)
        (scores,) = self.scores(chosen, [rank], rankings, pairs, exposure)
        return scores

    def values(self, chosen: Chosen) -> dict[str, Value]:
        """Return every parameter with its value, defaults included."""
        return self._defaults | dict(chosen)

    @cached_property
    def _defaults(self) -> dict[str, Value]:
        return {parameter.name: parameter.standard for parameter in self.parameters}

    def choose(self, written: Mapping[str, Value]) -> Chosen:
        """Return the parameters that differ from their defaults, or raise a MetricError."""
        if foreign := [name for name in written if name not in self._defaults]:
            hint = suggestion(foreign[0], self._defaults)
            raise MetricError(f"{self.name} has no parameter {foreign[0]!r}; {hint}")
        checked = [(p, p.check(written[p.name])) for p in self.parameters if p.name in written]
        return tuple((each.name, value) for each, value in checked if value != each.default)

    def checked_rank(self, text: str | None, chosen: Chosen, label: str) -> int | None:
        """Return the rank that a label states.

        A MetricError is raised where there is no such rank, or values exclude it or each other.
        """
        k = None
        if text is not None:
            text = text.strip()
            if self.cut == "none":
                raise MetricError(f"{self.name} has no rank; leave @{text} out")
            k = int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS_OF_K else 0
            if not 0 < k <= GREATEST_K:
                raise MetricError(f"k is {text!r}; use a whole number from 1 to {GREATEST_K:,}")
        elif self.cut == "required":
            raise MetricError(f"{self.name} needs a rank; write {label}@10")
        params = self.values(chosen)
        fault = self.fault(params, k) if self.fault else ""
        if fault := fault or (fault_of_weights(params) if self.takes_weights else ""):
            raise MetricError(fault.format(label=label))
        return k

    def check_relevance(self, chosen: Chosen, relevance: ArrayLike) -> None:
        """Refuse relevances that the metric does not define, with what to change in the label."""
        grades = as_array("relevance", relevance, error=MetricError)
        fault_of = self.fault_of_relevance if len(grades) else None
        if fault_of and (fault := fault_of(self.values(chosen), grades)):
            raise MetricError(f"{label_of(self.name, dict(chosen), None)}: {fault}", fault)

    def scores(
        self,
        chosen: Chosen,
        ranks: Sequence[int | None],
        rankings: Rankings | None,
        pairs: Pairs | None,
        exposure: Exposure | None,
    ) -> Iterator[Scores]:
        """Yield the scores at each rank, all ranks in one pass."""
        params, label = self.values(chosen), label_of(self.name, dict(chosen), ranks[0])
        worth = None
        if self.needs == "pairs":
            columns = _there(pairs, "pairs of estimate and rating", label)
            if self.takes_weights and is_weighted(params):
                columns, worth = weighted_pairs(columns, params, _training(exposure, label), label)
            for k in ranks:
                per_user, pooled = self.compute(
                    columns, params, *([] if self.cut == "none" else [k])
                )
                yield Scores(per_user, pooled, int(np.isnan(per_user).sum()), worth)
            return
        lists = _there(rankings, "rankings", label)
        self.check_relevance(chosen, lists.pool)
        as_they_are = self.needs_items or params.get("ties", "average") == "average"
        if not as_they_are and cut_rule(params) == AVERAGE:  # else the metric orders them itself
            lists = resolve_ties(lists, params["ties"], neutral(params))
        if self.takes_weights and is_weighted(params):
            lists, worth = weighted_lists(lists, params, _training(exposure, label), label)
        cuts = np.array([k or lists.longest for k in ranks], dtype=np.int64)
        cuts, columns_of_ranks = np.unique(cuts, return_inverse=True)
        if self.needs_items:
            if self.needs_training:
                exposure = _training(exposure, label)
            if self.needs == "genres":
                _there(exposure and exposure.genres, "genres of items", label)
            try:
                if "ties" in params:
                    lists = as_shown(lists)
                values = self.compute(lists, cuts, params, exposure)
            except MetricError as error:
                raise MetricError(f"{self.name}@{cuts.max()}: {error}", error.reason) from None
        else:
            values = self.compute(lists, cuts, params)
        for k, column in zip(ranks, columns_of_ranks, strict=True):
            if self.per_user:
                yield self._average(params, k, values[:, column].copy(), lists, worth)
            else:
                yield Scores(np.full(lists.n_users, np.nan), float(values[column]), 0)

    def _average(
        self, params: Params, k: int | None, values: Floats, lists: Rankings, worth: Worth | None
    ) -> Scores:
        """Apply the rules for users without relevant items, lists or enough items, and average."""
        undefined = np.isnan(values)
        if "undefined" in params:
            values[undefined] = float(params["undefined"])
        if "empty" in params:
            stays = undefined & (params["empty"] != "nan")
            values[(lists.n_ranked == 0) & ~stays] = float(params["empty"])
            if "undefined" not in params:  # as of dcg, a sum of no gains
                values[stays] = 0.0
        if params.get("short") == "skipped" and k is not None:
            values[lists.n_ranked < k] = np.nan
        is_defined = ~np.isnan(values)
        defined, weights = values[is_defined], None
        if params.get("average") == "pooled":
            shown = np.minimum(lists.n_ranked[is_defined], k or lists.longest)
            weights = self.weight(shown.astype(np.float64))
        mean = float(np.average(defined, weights=weights)) if len(defined) else math.nan
        return Scores(values, mean, len(values) - len(defined), worth)


def metric(formula: str, source: str, **more: Any) -> Callable[[Callable[..., Any]], Definition]:
    """Declare the decorated function as a metric, with what `Definition` takes."""

    def declare(compute: Callable[..., Any]) -> Definition:
        return Definition(compute, formula, source, **more)

    return declare


def label_of(name: str, params: Mapping[str, object], k: int | None) -> str:
    """Return the label of a metric with these parameters.

    >>> label_of("ndcg", {"gain": "linear"}, 10)
    'ndcg(gain=linear)@10'
    """
    inside = ", ".join(f"{parameter}={value}" for parameter, value in params.items())
    return name + (f"({inside})" if inside else "") + ("" if k is None else f"@{k}")


def _there(evidence: T | None, content: str, label: str) -> T:
    if evidence is None:
        reason = f"it needs {content}, but there are none; give them or leave the metric out"
        raise MetricError(f"{label}: {reason}", reason)
    return evidence


def _training(exposure: Exposure | None, label: str) -> Exposure:
    return _there(exposure, "training ratings (exposure, --training)", label)
