"""Data sets and splits that cannot be had: the rest of a run goes on, and their rows say why."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from harness.errors import ConfigError, HarnessError

if TYPE_CHECKING:
    from harness.experiment.evaluate import Evaluation
    from harness.experiment.plan import Plan


def find_absent(plan: Plan) -> None:
    """Load and divide all data of a plan, and note which parts fail.

    The error of a part is raised where nothing else is left to compute.
    """
    experiment, errors = plan.experiment, list[HarnessError]()
    parts = list(itertools.product(range(len(experiment.dataset)), range(len(experiment.split))))
    unloaded: dict[int, HarnessError] = {}
    for dataset, split in parts:
        try:
            if dataset in unloaded:  # which is not tried to be reached once more
                raise unloaded[dataset]
            try:
                plan.ratings(dataset)
            except HarnessError as error:
                unloaded[dataset] = error
                raise
            for seed in experiment.draws:
                plan.splits(dataset, split, seed)
        except HarnessError as error:
            errors.append(error)
            plan.absent[dataset, split] = _reason(error)
    if len(errors) == len(parts):
        raise errors[0]


def _reason(error: HarnessError) -> str:
    if isinstance(error, ConfigError):
        return "; ".join(fault.message for fault in error.faults)
    return " ".join(str(error).split())


def add_absent(plan: Plan, evaluation: Evaluation) -> None:
    """Add a failed row for each algorithm of what is absent, in the order of the config."""
    if plan.absent:
        from harness.experiment import absent_rows

        absent_rows.add_absent(plan, evaluation)
