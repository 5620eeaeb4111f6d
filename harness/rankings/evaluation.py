"""Rankings and pairs become one score per user and metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness.errors import MetricError
from harness.metrics import Metric, Pairs, Rankings, Scores, Value, number
from harness.metrics.arrays import Floats, filled_rating
from harness.metrics.gains import is_steep
from harness.metrics.scoring import score_apart
from harness.metrics.ties import resolve_ties
from harness.notes.note import Note
from harness.rankings.exposure import exposure_of

if TYPE_CHECKING:
    from harness.metrics import Exposure
    from harness.splits import Split


OF_CONFIG = "`candidates: catalogue` or `sampled`"
"""The keys that give lists of more items in a run."""


def reason(
    metric: Metric,
    rankings: Rankings,
    cannot_distinguish: Callable[[Metric, Rankings], Note | None],
    candidates: str = OF_CONFIG,
) -> Note:
    """Return the reason for lists that a metric cannot distinguish, which is asked for k of 1.

    `candidates` are what to use for lists of more items.
    """
    longest, more = int(rankings.n_ranked.max(initial=0)), {"candidates": candidates}
    if longest <= 1:
        return Note("lists-of-one", more)
    if metric.name in ("idcg", "user_coverage"):
        return Note("lists-alone")
    judged_only = len(rankings.relevance) == int(rankings.n_ranked.sum())
    gain = metric.params.get("gain")
    binary = "threshold" in metric.params if gain is None else gain.word == "binary"
    if binary and judged_only:
        grades = rankings.pool
        if grades.min() >= metric.neutral:
            # The least grade above the mean, or the greatest.
            least = number(float(grades[grades > grades.mean()].min(initial=grades.max())))
            name, value = ("threshold", least) if gain is None else ("gain", f"binary({least})")
            suggested = metric.having(**{name: value})
            return Note("all-relevant", {"metric": str(suggested)})
        if grades.max() < metric.neutral:
            return Note("none-relevant")
    shorter = metric.k is not None and longest <= metric.k
    if shorter and not cannot_distinguish(replace(metric, k=1), rankings):
        return Note("lists-within-k", {"k": metric.k} | more)
    if judged_only:
        return Note("equally-relevant", more)
    return Note("orders-equal")


NO_DIFFERENCE = 1e-9
"""Scores of a user that differ by less are equal except for rounding: of scores below 1, by less
than this proportion of the greatest.
"""


def evaluate(
    scored: Sequence[Metric],
    rankings: Rankings,
    pairs: Pairs,
    exposure: Exposure | None = None,
) -> dict[str, Scores]:
    """Score the users of a cell, who have a list and pairs each, by every metric."""
    scores = metrics.score(scored, rankings, pairs, exposure)
    return {str(metric): of_metric for metric, of_metric in scores.items()}


def exposure_for(
    metrics: Iterable[Metric], split: Split, users: NDArray[np.int32]
) -> Exposure | None:
    """Return the training ratings, and the test ratings of users, if one of the metrics needs them.

    `users` are the codes of those who have a list, in the order of the lists.
    """
    needing = [metric for metric in metrics if metric.needs_exposure]
    return exposure_of(split, users, needing) if needing else None


def bound_scores(scored: Sequence[Metric], rankings: Rankings) -> dict[str, dict[str, Scores]]:
    """Return the scores of the best and, as a mean, of a random order, for metrics of lists.

    By label and ``best`` or ``random``, which is undefined where `random_order` gives a reason.
    Metrics that fail are left out.
    """
    high = np.repeat(rankings.n_ranked, np.diff(rankings.offsets)).astype(np.int32)
    tied = replace(rankings, tie_low=np.ones_like(high), tie_high=high)
    bounds: dict[str, dict[str, Scores]] = {}
    for metric in scored:
        if not metric.has_bounds:
            continue
        best, averaged = resolve_ties(tied, Value("best"), metric.neutral), random_order(metric)
        of_best, reasons = score_apart([metric], best)
        random = Scores(np.full(tied.n_users, np.nan), np.nan, tied.n_users)
        if not isinstance(averaged, Note):
            of_random, more = score_apart([averaged], tied)
            random, reasons = of_random[str(averaged)], reasons | more
        if not reasons:
            bounds[str(metric)] = {"best": of_best[str(metric)], "random": random}
    return bounds


def random_order(metric: Metric) -> Metric | Note:
    """Return the metric that with a whole list tied is the mean over its orders, or why none is.

    >>> str(random_order(metrics.parse("ndcg(ties=worst)@5")))
    'ndcg@5'
    >>> print(random_order(metrics.parse("ndcg(ideal=retrieved, ties=first)@5")))
    ideal=retrieved with a gain of exp2 has no average over ties
    """
    try:
        return metric.having(ties=None)
    except MetricError:  # the only values that exclude an average
        ideal, gain = (str(metric.params[name]) for name in ("ideal", "gain"))
        return Note("no-average-over-ties", {"ideal": ideal, "gain": gain})


def cannot_distinguish(
    metric: Metric,
    rankings: Rankings,
    limits: Mapping[str, Scores] | None = None,
    candidates: str = OF_CONFIG,
) -> Note | None:
    """Return why every order of these lists scores the same; None if orders differ or may do so.

    That is true of all algorithms only where all have lists of the same items: of all candidates,
    not of the first k that another program chose. `candidates` are what to use for longer lists.

    >>> lists = Rankings([0, 2], [1.0, 5.0], [1, 2], [1, 2], [1, 2], [2])
    >>> print(cannot_distinguish(metrics.parse("precision@1"), lists))
    every test item is relevant; set a threshold, for example precision(threshold=5)@1
    >>> cannot_distinguish(metrics.parse("precision(threshold=5)@1"), lists)
    """
    limits = limits or bound_scores([metric], rankings).get(str(metric))
    if limits is None or isinstance(random_order(metric), Note):  # no bounds, or it fails
        return None
    # A mean over orders as great as the greatest value: all orders have that value.
    best = limits["best"].per_user
    if (best - limits["random"].per_user > _no_difference(best)).any():
        return None
    return reason(metric, rankings, cannot_distinguish, candidates)


def notes_on_labels(scored: Sequence[Metric], least: float, most: float) -> Iterator[Note]:
    """Yield what labels mean for relevances from `least` to `most` that their reader may not know.

    >>> for note in notes_on_labels(metrics.parse_many("ndcg@10, ndcg(gain=linear)@10"), 1, 100):
    ...     print(note.values["metrics"], note.values["metric"])
    ['ndcg@10'] ndcg(gain=linear)@10
    """
    if steep := [metric for metric in scored if is_steep(metric.params, least, most)]:
        instead = str(steep[0].having(gain="linear"))
        values = {"metrics": [str(metric) for metric in steep], "most": most, "metric": instead}
        yield Note("steep-gains", values)
    for metric in scored:
        if "ties" in dict(metric.chosen) and metric.needs_items:
            yield Note("ties-as-shown", {"metric": str(metric)})


def note_on_filled(scored: Iterable[Metric], ratings: Floats) -> Note | None:
    """Return a note if a metric reads ratings, or relevances, that are all one filled-in number."""
    number = filled_rating(ratings)
    if number is None or all(metric.needs_items for metric in scored):
        return None
    return Note("filled-ratings", {"n": len(ratings), "rating": number})


def tied_shares(scored: Sequence[Metric], rankings: Rankings) -> dict[str, float]:
    """Return by label the proportion of users whose score depends on the order of equal estimates.

    That is where the best and the worst order of a user's ties differ in a metric of lists. One
    that fails for such an order is left out.

    >>> lists = Rankings([0, 2], [1.0, 5.0], [1, 1], [1, 2], [2, 2], [2])
    >>> tied_shares(metrics.parse_many("ndcg@2, recall@2"), lists)
    {'ndcg@2': 1.0, 'recall@2': 0.0}
    """
    listed = [m for m in scored if m.definition.is_ranking and not m.is_weighted]
    shares = dict.fromkeys(map(str, listed), 0.0)
    if np.array_equal(rankings.tie_low, rankings.tie_high):
        return shares
    for neutral in {metric.neutral for metric in listed}:
        alike = [metric for metric in listed if metric.neutral == neutral]
        orders = (resolve_ties(rankings, Value(rule), neutral) for rule in ("best", "worst"))
        (best, of_best), (worst, of_worst) = (score_apart(alike, order) for order in orders)
        for label in best:
            if label in of_best or label in of_worst:
                del shares[label]
                continue
            highest = best[label].per_user
            gaps = np.abs(highest - worst[label].per_user)
            shares[label] = float((gaps > _no_difference(highest)).mean())
    return shares


def _no_difference(scores: Floats) -> float:
    """Return the difference of scores that is rounding."""
    greatest = max(np.fmax.reduce(scores, initial=0.0), -np.fmin.reduce(scores, initial=0.0))
    return NO_DIFFERENCE * min(1.0, float(greatest))
