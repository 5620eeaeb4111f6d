"""Settings of intervals and tests."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from harness.sections import Section

__all__ = ["Inference"]


class Inference(Section):
    """Intervals and tests over users, for every metric that is a mean of users' scores.

    A user's scores in several folds or seeds are averaged first: they are not independent.
    """

    baseline: str | None = None
    """Label of the algorithm that the others are compared with, in addition to all pairs."""
    test: Literal["randomisation", "t", "wilcoxon"] = "randomisation"
    """Paired test: sign-flip randomisation, Student's t or Wilcoxon's signed ranks."""
    correction: Literal["holm", "benjamini-hochberg", "none"] = "holm"
    """For the number of comparisons."""
    interval: Literal["bca", "percentile"] = "bca"
    """How bootstrap intervals are drawn from the resamples."""
    resamples: int | None = Field(default=None, ge=100, le=1_000_000)
    """Of the randomisation test and of the bootstrap; null: 10,000, and as many as the number of
    comparisons needs where none of these is as extreme as the scores."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1.0)
    """Of the intervals; a difference is significant at one minus this."""
