"""Data sets and splits that cannot be had: the rest of a run goes on, and their rows say why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.errors import ConfigError, HarnessError
from harness.results.cells import FailedCell
from harness.results.names import RowName, TableName
from harness.results.statistics import RowResult
from harness.results.store import key_of, short_key

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
        add_absent_rows(plan, evaluation)


def add_absent_rows(plan: Plan, evaluation: Evaluation) -> None:
    """Add a failed row for each algorithm of what is absent, in the order of the config."""
    order = {table.table: place for place, table in enumerate(_tables(plan))}
    for (dataset, split), reason in plan.absent.items():
        for candidates in range(len(plan.experiment.candidates)):
            table = _absent_table(plan, dataset, split, candidates)
            for cell in _failed_cells(plan, table, reason):
                if cell.seed == plan.experiment.seed[0]:
                    empty = dict.fromkeys(map(str, plan.metrics))
                    evaluation.rows.append(RowResult(**cell.only(RowName), scores=empty))
                evaluation.cells.append(cell)
    evaluation.rows.sort(key=lambda row: order[row.table])
    evaluation.cells.sort(key=lambda cell: order[cell.table])


def _tables(plan: Plan) -> Iterator[TableName]:
    """Yield the tables of a plan in the order of its config, those that are absent too."""
    experiment = plan.experiment
    for dataset, split, candidates in itertools.product(
        range(len(experiment.dataset)),
        range(len(experiment.split)),
        range(len(experiment.candidates)),
    ):
        table = plan.tables.get((dataset, split, candidates))
        yield table or _absent_table(plan, dataset, split, candidates)


def _absent_table(plan: Plan, dataset: int, split: int, candidates: int) -> TableName:
    """Return the name of a table without data, whose identity is that of its config."""
    parts = {"dataset": dataset, "split": split, "candidates": candidates}
    stated = {key: getattr(plan.experiment, key)[n].stated() for key, n in parts.items()}
    names = {key: plan.names[key][n] for key, n in parts.items()}
    return TableName(**names, table=short_key({"absent": stated}))


def _failed_cells(plan: Plan, table: TableName, reason: str) -> Iterator[FailedCell]:
    for number, algorithm in enumerate(plan.experiment.algorithms):
        row = {"table": table.table, "algorithm": number, "name": algorithm.name}
        for seed in plan.experiment.draws:
            yield FailedCell(
                **table.only(TableName),
                row=short_key(row),
                algorithm=algorithm.title,
                seed=seed,
                fold=0,
                n_folds=1,
                key=key_of({"absent": row, "seed": seed}),
                split_fingerprint="not divided",
                params=dict(algorithm.params),
                error=reason,
            )
