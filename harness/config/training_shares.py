"""The splits of a config whose models see shares of each training part."""

from __future__ import annotations

from collections.abc import Sequence

from harness.config.settings import TrainingShares
from harness.splits import SplitSection
from harness.splits.training_share import TrainingShare


def with_shares(sections: Sequence[SplitSection], curve: TrainingShares) -> list[SplitSection]:
    """Return a split for each share in place of each split, which stands for the whole."""
    return [
        section
        if share == 1
        else TrainingShare(
            of=section.model_copy(update={"validation": None}),
            share=share,
            by=curve.by,
            validation=section.validation,
        )
        for section in sections
        for share in curve.shares
    ]
