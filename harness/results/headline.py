"""The metric of results that a caller names, or else their headline."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from harness import metrics
from harness.config.experiment import headline_of
from harness.errors import MetricError, ResultsError, suggestion


def chosen_metric(
    label: str | None, known: Collection[str], lacks: str, headline: str | None = None
) -> str:
    """Return a label as a run writes it, the headline for None, or raise a ResultsError.

    `lacks` begins the message: what has no such metric. A headline that is not known gives way to
    the first ranking metric that is.
    """
    if label is None:
        return headline_of(known, headline)
    with suppress(MetricError):  # as NDCG@10 for ndcg@10; what is no label is not known either
        label = str(metrics.parse(label))
    if label not in known:
        raise ResultsError(f"{lacks} {label!r}; {suggestion(label, known)}")
    return label
