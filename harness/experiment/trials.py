"""A trial of a search is scored at once, and its score kept in place of its lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness import evaluation
from harness.metrics import Metric
from harness.results.scores import or_none
from harness.results.store import CellRecord
from harness.results.trials import no_lists
from harness.splits import Split


def judged(record: CellRecord, deciding: Sequence[Metric], split: Split) -> CellRecord:
    """Return the record of a trial, with its score by label."""
    exposure = evaluation.exposure_for(deciding, split, record.users)
    scores = evaluation.evaluate(deciding, record.rankings, record.pairs, exposure)
    means = {label: or_none(each.mean) for label, each in scores.items()}
    facts = record.facts.model_copy(update={"judged": means})
    return replace(record, facts=facts, **no_lists())
