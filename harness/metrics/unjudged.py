"""How much of a list nobody has judged.

A judgement of grade 0 is one: the item is judged, and not relevant. In the example the first and
the third of three items were judged, the first as relevant:

>>> lists = Rankings([0, 2], [1.0, 0.0], [1, 3], [1, 3], [1, 3], [3], top_items=[[7, 8, 9]])
>>> unjudged(lists, 1).mean, unjudged(lists, 2).mean, round(unjudged(lists, 3).mean, 4)
(0.0, 0.5, 0.3333)
"""

from __future__ import annotations

import math

import numpy as np

from harness.metrics.arrays import Floats, Ints, Rankings
from harness.metrics.definition import metric
from harness.metrics.exposure import Exposure
from harness.metrics.parameters import Params
from harness.metrics.shown_items import is_relevant, means_at, top_items


@metric(
    "|first k without a judgement| / |first k|",
    "what condensed lists leave out: Sakai 2007, doi:10.1145/1277741.1277756",
    higher_is_better=False,
    needs="items",
    needs_training=False,
    cut="required",
    synonyms=("judged",),
)
def unjudged(lists: Rankings, ks: Ints, params: Params, exposure: Exposure | None) -> Floats:
    """Share of the first k without a judgement or test rating, which count as not relevant."""
    top = top_items(lists, ks, exposure)
    is_judged = is_relevant(lists, top, -math.inf, exposure)
    return means_at(np.where((top >= 0) & ~is_judged, 1.0, 0.0), top, ks)
