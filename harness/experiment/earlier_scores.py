"""The scores of an earlier run of the same cells, read back; imported where a file has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.config.experiment import DEFAULT_ANALYSES
from harness.experiment.evaluate import Evaluation, users_of
from harness.lazy import pd
from harness.results.cell_file import Arrays

if TYPE_CHECKING:
    from harness.experiment.plan import Cell, Plan
    from harness.experiment.stored_scores import Header

PARTS = (*DEFAULT_ANALYSES, "groups", "undistinguished")


def evaluation_of(header: Header, arrays: Arrays, plan: Plan, cells: Sequence[Cell]) -> Evaluation:
    """Return what an earlier run found for the cells of a plan."""
    for cell in header.cells:
        cell.found = True
    ends = np.cumsum([0, *(cell.n_users for cell in header.cells)])
    labels = [str(metric) for metric in plan.metrics]
    frames = []
    for number, (cell, low, high) in enumerate(zip(header.cells, ends, ends[1:], strict=False)):
        ratings = plan.split(cells[number]).ratings
        scores = dict(zip(labels, arrays["scores"][:, low:high], strict=True))
        frames.append(users_of(cell, ratings, arrays["users"][low:high], scores))
    return Evaluation(
        pd.concat(frames, ignore_index=True),
        cells=[*header.cells],
        rows=header.rows,
        parts={name: getattr(header, name) for name in PARTS},
        notes=header.notes,
        statistics=header.statistics,
        not_compared=header.not_compared,
        is_found=True,
    )
