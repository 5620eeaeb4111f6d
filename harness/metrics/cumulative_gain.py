"""dcg and idcg: the sums of discounted gains themselves, not their ratio.

>>> lists = Rankings([0, 2], [1.0, 3.0], [1, 2], [1, 2], [1, 2], [2])
>>> [round(metric(lists, 2).mean, 4) for metric in (dcg, idcg)]   # 1 + 7 / log2(3), ...
[5.4165, 7.6309]
"""

from __future__ import annotations

import math

import numpy as np

from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.dcg import (
    DISCOUNTED,
    IDEAL,
    JARVELIN,
    against_retrieved,
    excluded,
    of_best_order,
    of_full_lists,
    of_lists,
)
from harness.metrics.definition import metric
from harness.metrics.gains import without_gain
from harness.metrics.parameters import EMPTY, SHORT, TIES, WEIGHTED, Params


@metric(
    "sum over i <= k of (2**rel_i - 1) / log2(i + 1)",
    f"{JARVELIN}; Burges et al. 2005, doi:10.1145/1102351.1102363",
    parameters=(*DISCOUNTED, TIES, EMPTY, SHORT, *WEIGHTED),
    range=(0.0, math.inf),
    fault=excluded,
    fault_of_relevance=without_gain,
)
def dcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Discounted cumulative gain: the sum of the gains, each discounted by its rank."""
    scores = of_lists(lists, ks, params)
    empty = lists.n_ranked == 0
    if params["empty"] == "1" and empty.any():  # of users who have relevant items
        scores[empty & ~of_best_order(lists, ks, params).any(axis=1)] = np.nan
    return scores


@metric(
    "sum over i <= k of (2**rel_(i) - 1) / log2(i + 1), rel_(1) >= rel_(2) >= ...",
    JARVELIN,
    parameters=(*DISCOUNTED, IDEAL, TIES, *WEIGHTED),
    range=(0.0, math.inf),
    fault=excluded,
    fault_of_relevance=without_gain,
)
def idcg(lists: Rankings, ks: Ints, params: Params) -> Floats:
    """Ideal discounted cumulative gain: the dcg of the user's items in the best order."""
    if params["ideal"] == "retrieved":
        return against_retrieved(lists, ks, params, ratio=False)
    if params["ideal"] == "full":
        return of_full_lists(lists, ks, params)
    return of_best_order(lists, ks, params)
