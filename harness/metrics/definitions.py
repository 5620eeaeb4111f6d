"""Every metric there is: what it means, its formula, its range and where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from harness.metrics import parameters as p
from harness.metrics.parameters import Parameter

__all__ = ["DEFINITIONS", "SYNONYMS", "Definition"]

_INF = math.inf


@dataclass(frozen=True)
class Definition:
    """What one metric is.

    Parameters
    ----------
    name : str
        As labels write it.
    summary, formula, source : str
        One line each; the source with a DOI where there is one. In formulas ``i`` is a rank from
        1, ``rel_i`` the relevance found there, ``R`` the user's relevant items.
    range : (float, float)
        Least and greatest value.
    higher_is_better : bool
    needs : {"rankings", "pairs", "items"}
        What it is computed from: ranked lists, pairs of estimate and rating, or the items at the
        top of each list together with what training showed.
    parameters : tuple of Parameter
        In the order in which labels print them.
    cut : {"optional", "required", "none"}
        Whether a label says ``@k``; without it the whole list counts.
    pooled : bool
        Whether its table value is computed over everything at once instead of as the mean of the
        users' scores.
    per_user : bool
        Whether it has scores per user at all.
    """

    name: str
    summary: str
    formula: str
    source: str
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: Literal["rankings", "pairs", "items"] = "rankings"
    parameters: tuple[Parameter, ...] = ()
    cut: Literal["optional", "required", "none"] = "optional"
    pooled: bool = False
    per_user: bool = True

    @property
    def parameter(self) -> dict[str, Parameter]:
        """The parameters by name."""
        return {each.name: each for each in self.parameters}


_GRADED = (p.GAIN, p.OFFSET, p.NEGATIVE, p.GRADES)
_DISCOUNTED = (*_GRADED, p.BASE, p.DISCOUNT)
_LISTS = (p.TIES, p.UNDEFINED, p.EMPTY, p.SHORT)

_JARVELIN = "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418"
_MANNING = "Manning, Raghavan and Schütze 2008, doi:10.1017/CBO9780511809071"

_RANKING = (
    Definition(
        "ndcg",
        "Normalised discounted cumulative gain: the gain found near the top, as a share of the "
        "best order's.",
        "dcg@k / idcg@k",
        f"{_JARVELIN}; gain 2**rel - 1 from Burges et al. 2005, doi:10.1145/1102351.1102363; "
        "average ties from McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38",
        parameters=(*_DISCOUNTED, p.IDEAL, *_LISTS),
    ),
    Definition(
        "dcg",
        "Discounted cumulative gain: what the list is worth, each item less the lower it stands.",
        "sum over i <= k of (2**rel_i - 1) / log2(i + 1)",
        f"{_JARVELIN}; Burges et al. 2005, doi:10.1145/1102351.1102363",
        (0.0, _INF),
        parameters=(*_DISCOUNTED, p.TIES, p.EMPTY, p.SHORT),
    ),
    Definition(
        "idcg",
        "Ideal discounted cumulative gain: the dcg of the user's items in the best order.",
        "sum over i <= k of (2**rel_(i) - 1) / log2(i + 1), rel_(1) >= rel_(2) >= ...",
        _JARVELIN,
        (0.0, _INF),
        parameters=(*_DISCOUNTED, p.IDEAL, p.TIES),
    ),
)

_ESTIMATES = (
    Definition(
        "rmse",
        "Root mean squared error of the estimates.",
        "sqrt(mean((estimate - rating)**2))",
        "Herlocker et al. 2004, doi:10.1145/963770.963772",
        (0.0, _INF),
        higher_is_better=False,
        needs="pairs",
        cut="none",
        pooled=True,
    ),
    Definition(
        "mae",
        "Mean absolute error of the estimates.",
        "mean(abs(estimate - rating))",
        "Herlocker et al. 2004, doi:10.1145/963770.963772",
        (0.0, _INF),
        higher_is_better=False,
        needs="pairs",
        cut="none",
        pooled=True,
    ),
    Definition(
        "mse",
        "Mean squared error of the estimates.",
        "mean((estimate - rating)**2)",
        "Herlocker et al. 2004, doi:10.1145/963770.963772",
        (0.0, _INF),
        higher_is_better=False,
        needs="pairs",
        cut="none",
        pooled=True,
    ),
)

DEFINITIONS: dict[str, Definition] = {each.name: each for each in (*_RANKING, *_ESTIMATES)}
"""The metrics by name, in the order in which lists show them."""

SYNONYMS = {
    "map": "ap",
    "average_precision": "ap",
    "mrr": "rr",
    "reciprocal_rank": "rr",
    "hit_rate": "hit",
    "hitrate": "hit",
    "hr": "hit",
    "success": "hit",
    "f1": "fbeta",
    "f": "fbeta",
    "p": "precision",
    "r": "recall",
    "coverage": "item_coverage",
    "ild": "diversity",
}
"""Other words for a metric, for messages only: a label has one spelling."""
