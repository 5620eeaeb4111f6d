"""Any number of metrics computed together, each at all its ranks in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from harness._util.arguments import checked, is_called_from_outside
from harness.errors import MetricError, PluginError, reason_of
from harness.metrics.arrays import Pairs, Rankings, Scores, filled_rating, warn_of_filled
from harness.metrics.definition import Chosen
from harness.metrics.exposure import check_exposure
from harness.metrics.labels import Metric, definition
from harness.plugins import registry as plugins

if TYPE_CHECKING:
    from harness.metrics.exposure import Exposure


@checked(MetricError, leaving={"exposure"})
def score(
    metrics: Iterable[Metric],
    rankings: Rankings | None = None,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> dict[Metric, Scores]:
    """Compute metrics.

    Parameters
    ----------
    metrics : iterable of Metric
    rankings : Rankings, optional
        Input of ranking metrics.
    pairs : Pairs, optional
        Input of rmse and similar metrics.
    exposure : Exposure, optional
        The training ratings, for metrics of which items are recommended.

    Returns
    -------
    dict of Metric to Scores
        In the given order, each once.

    Raises
    ------
    MetricError
        If what a metric needs is missing, or holds values that it does not define.

    Warns
    -----
    UserWarning
        If all ratings of the pairs are one number that nobody gives, as in an anti-test set.
    """
    if exposure is not None:
        check_exposure("score", exposure)
    if pairs is not None and filled_rating(pairs.ratings) is not None and is_called_from_outside():
        warn_of_filled(pairs.ratings)
    metrics = list(metrics)
    if labels := [label for label in metrics if not isinstance(label, Metric)]:
        raise MetricError(f"{labels[0]!r:.60}: not a Metric; make one from its label with parse")
    alike: dict[tuple[str, Chosen], list[Metric]] = {}  # that differ only in k
    for metric in dict.fromkeys(metrics):
        alike.setdefault((metric.name, metric.chosen), []).append(metric)
    computed: dict[Metric, Scores] = {}
    for (name, chosen), group in alike.items():
        scores = definition(name).scores(chosen, [m.k for m in group], rankings, pairs, exposure)
        computed |= zip(group, scores, strict=True)
    return {metric: computed[metric] for metric in metrics}


def score_apart(
    metrics: Iterable[Metric],
    rankings: Rankings,
    pairs: Pairs | None = None,
    exposure: Exposure | None = None,
) -> tuple[dict[str, Scores], dict[str, str]]:
    """Compute metrics of which one that fails leaves the others, whatever it raises.

    Returns
    -------
    scores : dict of str to Scores
        By label, in the given order; NaN for all users where a metric fails.
    reasons : dict of str to str
        By label, why metrics failed.
    """
    metrics = list(dict.fromkeys(metrics))
    with suppress(Exception, SystemExit):  # a function of somebody else's can call sys.exit
        together = score(metrics, rankings, pairs, exposure)
        return {str(metric): scores for metric, scores in together.items()}, {}
    apart, reasons = dict[str, Scores](), dict[str, str]()
    for metric in metrics:
        label = str(metric)
        try:
            apart[label] = score([metric], rankings, pairs, exposure)[metric]
        except (Exception, SystemExit) as error:
            apart[label] = Scores(np.full(rankings.n_users, np.nan), np.nan, 0)
            reasons[label] = reason(metric, error)
    return apart, reasons


@checked(MetricError)
def check_relevance(metric: Metric, relevance: ArrayLike) -> None:
    """Refuse relevances that a metric does not define, with what to change in the label."""
    metric.definition.check_relevance(metric.chosen, relevance)


def reason(metric: Metric, error: BaseException) -> str:
    """Return why a metric failed, with the package that it is of."""
    if isinstance(error, MemoryError):
        said = "out of memory; use a smaller data set or fewer users"
    elif isinstance(error, MetricError):
        said = error.reason
    else:
        said = f"{type(error).__name__}: {reason_of(error)}"
    try:
        plugin = plugins.find("metrics", metric.name)
    except PluginError:
        return said
    return said if plugin.is_builtin or not plugin.version else f"{said} ({plugin.origin})"
