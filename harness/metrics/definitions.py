"""Every metric: its meaning, formula, range and source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from harness.metrics import parameters as p
from harness.metrics.parameters import Parameter

__all__ = ["DEFINITIONS", "SYNONYMS", "Definition"]

_INF = math.inf


@dataclass(frozen=True)
class Definition:
    """The definition of one metric.

    Parameters
    ----------
    name : str
        Its name in labels.
    summary, formula, source : str
        One line each; the source with a DOI where there is one. In formulas ``i`` is a rank from
        1, ``rel_i`` the relevance found there, ``R`` the user's relevant items.
    range : (float, float)
        Least and greatest value.
    higher_is_better : bool
    needs : {"rankings", "pairs", "items"}
        Its input: ranked lists, pairs of estimate and rating, or the items at the top of each list
        together with the training ratings.
    parameters : tuple of Parameter
        In the order in which labels print them.
    cut : {"optional", "required", "none"}
        Whether a label has ``@k``; without it the whole list counts.
    pooled : bool
        Whether its table value is computed over all users at once instead of as the mean of their
        scores.
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


_GRADED = (p.GAIN, p.LEAST, p.OFFSET, p.NEGATIVE, p.GRADES)
_DISCOUNTED = (*_GRADED, p.BASE, p.DISCOUNT)
_LISTS = (p.TIES, p.UNDEFINED, p.EMPTY, p.SHORT)

_JARVELIN = "Järvelin and Kekäläinen 2002, doi:10.1145/582415.582418"
_MANNING = "Manning, Raghavan and Schütze 2008, doi:10.1017/CBO9780511809071"

_RANKING = (
    Definition(
        "ndcg",
        "Normalised discounted cumulative gain: the discounted gain as a share of that "
        "of the best order.",
        "dcg@k / idcg@k",
        f"{_JARVELIN}; gain 2**rel - 1 and discount log2(i + 1) from Burges et al. 2005, "
        "doi:10.1145/1102351.1102363; "
        "average ties from McSherry and Najork 2008, doi:10.1007/978-3-540-78646-7_38",
        parameters=(*_DISCOUNTED, p.IDEAL, *_LISTS),
    ),
    Definition(
        "dcg",
        "Discounted cumulative gain: the sum of the gains, each discounted by its rank.",
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
    Definition(
        "precision",
        "Share of the first k that is relevant.",
        "hits@k / k",
        _MANNING,
        parameters=(p.THRESHOLD, p.PRECISION_DENOMINATOR, *_LISTS),
    ),
    Definition(
        "recall",
        "Share of the relevant items that is among the first k.",
        "hits@k / |R|",
        _MANNING,
        parameters=(p.THRESHOLD, p.RECALL_DENOMINATOR, *_LISTS),
    ),
    Definition(
        "fbeta",
        "Weighted harmonic mean of precision and recall; F1 unless beta says otherwise.",
        "(1 + beta**2) * precision * recall / (beta**2 * precision + recall)",
        "van Rijsbergen 1979, Information Retrieval, chapter 7; " + _MANNING,
        parameters=(p.BETA, p.THRESHOLD, p.PRECISION_DENOMINATOR, *_LISTS),
    ),
    Definition(
        "ap",
        "Average precision: mean of the precisions at the ranks of relevant items; its mean over "
        "users is MAP.",
        "sum over relevant ranks i <= k of precision@i, divided by |R|",
        "Buckley and Voorhees 2000, doi:10.1145/345508.345543; average ties from McSherry and "
        "Najork 2008, doi:10.1007/978-3-540-78646-7_38",
        parameters=(p.THRESHOLD, p.AP_DENOMINATOR, p.AP_TIES, *_LISTS[1:]),
    ),
    Definition(
        "rr",
        "Reciprocal rank of the first relevant item; its mean over users is MRR.",
        "1 / min{i <= k: rel_i > 0}, 0 where there is none",
        "Voorhees 1999, TREC-8 question answering track report, NIST SP 500-246",
        parameters=(p.THRESHOLD, *_LISTS),
    ),
    Definition(
        "hit",
        "Hit rate: whether anything relevant is among the first k.",
        "1 if hits@k > 0 else 0",
        "Deshpande and Karypis 2004, doi:10.1145/963770.963776",
        parameters=(p.THRESHOLD, *_LISTS),
    ),
    Definition(
        "hitrate_ndcg",
        "Hit-rate NDCG: a blend of hit and rank for one held-out item, 1/log2(rank + 1) if it is "
        "among the first k. Of several relevant items the first counts.",
        "1 / log2(min{i <= k: rel_i > 0} + 1), 0 where there is none",
        "He et al. 2017, doi:10.1145/3038912.3052569",
        parameters=(p.THRESHOLD, *_LISTS),
    ),
    Definition(
        "err",
        "Expected reciprocal rank of the item at which a reader stops, satisfied.",
        "sum over i <= k of (1/i) R_i prod over j < i of (1 - R_j), R = (2**rel - 1) / 2**max",
        "Chapelle et al. 2009, doi:10.1145/1645953.1646033",
        parameters=(p.MAX, p.OFFSET, p.NEGATIVE_OR_ZERO, p.GRADES, *_LISTS),
    ),
    Definition(
        "rbp",
        "Rank-biased precision: relevant items weighted by the probability that a "
        "reader who continues with probability p reaches them.",
        "(1 - p) * sum over relevant ranks i <= k of p**(i - 1)",
        "Moffat and Zobel 2008, doi:10.1145/1416950.1416952",
        parameters=(p.PERSISTENCE, p.THRESHOLD, *_LISTS),
    ),
    Definition(
        "auc",
        "Area under the ROC curve: share of relevant items above irrelevant ones, pair by pair.",
        "P(a relevant item is above one that is not) + P(equal estimates) / 2",
        "Hanley and McNeil 1982, doi:10.1148/radiology.143.1.7063747",
        parameters=(p.THRESHOLD, p.TIES, p.UNDEFINED),
        cut="none",
    ),
)

_HERLOCKER = "Herlocker et al. 2004, doi:10.1145/963770.963772"


def _of_estimates(
    name: str, summary: str, formula: str, source: str, better: bool, *parameters: Parameter
) -> Definition:
    return Definition(
        name,
        summary,
        formula,
        source,
        ((-_INF, 1.0) if better and not parameters else (0.0, 1.0 if better else _INF)),
        better,
        "pairs",
        parameters,
        cut="none",
        pooled=True,
    )


_ESTIMATES = (
    _of_estimates(
        "rmse",
        "Root mean squared error of the estimates.",
        "sqrt(mean((estimate - rating)**2))",
        _HERLOCKER,
        False,
    ),
    _of_estimates(
        "mae",
        "Mean absolute error of the estimates.",
        "mean(abs(estimate - rating))",
        _HERLOCKER,
        False,
    ),
    _of_estimates(
        "mse",
        "Mean squared error of the estimates.",
        "mean((estimate - rating)**2)",
        _HERLOCKER,
        False,
    ),
    _of_estimates(
        "r2",
        "Coefficient of determination: share of the ratings' variance that the estimates explain.",
        "1 - sum((rating - estimate)**2) / sum((rating - mean(rating))**2)",
        "Draper and Smith 1998, doi:10.1002/9781118625590",
        True,
    ),
    _of_estimates(
        "explained_variance",
        "As r2, but a constant error has no effect.",
        "1 - var(rating - estimate) / var(rating)",
        "Draper and Smith 1998, doi:10.1002/9781118625590",
        True,
    ),
    _of_estimates(
        "fcp",
        "Fraction of concordant pairs: how often the better rated of two items of a user has the "
        "greater estimate.",
        "c / (c + d), c the mean number of concordant pairs of the users who have any, d that of "
        "discordant or tied pairs; with pooling=pairs, sums instead of means",
        "as Surprise computes it, Hug 2020, doi:10.21105/joss.02174; pooling=pairs from Koren and "
        "Sill 2013, Collaborative filtering on ordinal user feedback, IJCAI",
        True,
        p.POOLING,
    ),
)


def _of_items(name: str, summary: str, formula: str, source: str, **more: Any) -> Definition:
    return Definition(name, summary, formula, source, needs="items", cut="required", **more)


_VARGAS = "Vargas and Castells 2011, doi:10.1145/2043932.2043955"

_RECOMMENDED = (
    Definition(
        "user_coverage",
        "Share of the users whose list has at least k items.",
        "1 if the list has at least k items else 0",
        "user space coverage of Shani and Gunawardana 2011, doi:10.1007/978-0-387-85820-3_8",
        cut="required",
    ),
    _of_items(
        "item_coverage",
        "Share of the items with a training rating that are in the first k of some list.",
        "|union of the first k of all lists| / |catalogue|",
        "Ge, Delgado-Battenfeld and Jannach 2010, doi:10.1145/1864708.1864761",
        pooled=True,
        per_user=False,
    ),
    _of_items(
        "gini",
        "Gini index of how often items are shown: 0 if all equally often, near 1 if only a few.",
        "sum over j of (2 j - n - 1) x_j / (n sum x), counts x rising",
        "Fleder and Hosanagar 2009, doi:10.1287/mnsc.1080.0974",
        higher_is_better=False,
        pooled=True,
        per_user=False,
    ),
    _of_items(
        "entropy",
        "Shannon entropy, in bits, of which items are shown.",
        "-sum p log2 p, p an item's share of all that is shown",
        "Shannon 1948, doi:10.1002/j.1538-7305.1948.tb01338.x",
        range=(0.0, _INF),
        pooled=True,
        per_user=False,
    ),
    _of_items(
        "popularity",
        "Average recommended popularity: mean number of training ratings of the first k.",
        "mean over i <= k of n_i",
        "Yin et al. 2012, doi:10.14778/2311906.2311916",
        range=(0.0, _INF),
        higher_is_better=False,
    ),
    _of_items(
        "novelty",
        "Mean self-information of the first k, in bits: rarely rated items have more.",
        "mean over i <= k of -log2(max(n_i, 1) / n_users)",
        f"Zhou et al. 2010, doi:10.1073/pnas.1000488107; {_VARGAS}",
        range=(0.0, _INF),
        parameters=(p.OF,),
    ),
    _of_items(
        "diversity",
        "Intra-list diversity: mean dissimilarity of pairs of the first k, by the training "
        "users who rated both.",
        "1 - mean over pairs of n_ij / sqrt(n_i n_j)",
        "Ziegler et al. 2005, doi:10.1145/1060745.1060754; cosine of co-ratings from Zhang et al. "
        "2012, doi:10.1145/2124295.2124300",
    ),
    _of_items(
        "serendipity",
        "Relevant items among the first k that are unlike what the user rated in training.",
        "mean over i <= k of [rel_i > 0] * (1 - mean over the user's training items j of "
        "n_ij / sqrt(n_i n_j))",
        "relevance times unexpectedness as user_serendipity of Microsoft's recommenders has it, "
        "where the mean cosine is the unserendipity of Zhang et al. 2012, "
        "doi:10.1145/2124295.2124300, who leave relevance out",
        parameters=(p.THRESHOLD,),
    ),
)

DEFINITIONS: dict[str, Definition] = {
    each.name: each for each in (*_RANKING, *_ESTIMATES, *_RECOMMENDED)
}
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
"""Other names of a metric, for messages only: a label has one spelling."""
