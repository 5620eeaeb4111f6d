"""A config and its data become cells: one fit and one scoring each, with a key."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import harness
from harness import metrics, seeds
from harness.algorithms import registry
from harness.algorithms.own import code_digest
from harness.candidates import Sampled
from harness.config.algorithm import AlgorithmConfig
from harness.config.experiment import Experiment
from harness.experiment.workspace import Workspace
from harness.metrics import Metric
from harness.results.store import key_of, short_key
from harness.splits import Split

__all__ = ["Cell", "make_cells", "rekeyed", "requested_metrics", "row_key"]

NUMBERS_VERSION = 4
"""Raised whenever a change of the code changes what a cell computes."""


@dataclass(frozen=True)
class Cell:
    """One algorithm on one fold of one split of one data set, under one seed.

    The integers are positions in the lists of the config.

    Parameters
    ----------
    dataset, split, candidates, algorithm : int
    seed : int
        The run's seed itself, not a position.
    fold : int
        From 0.
    n_folds : int
    title : str
        What progress lines call it.
    params : dict
        Arguments of the constructor, `random_state` included where there is one.
    inner : bool
        Whether it is a trial: fitted on the inner training part and scored on the validation part.
    key : str
        Identity of the cell's numbers.
    """

    dataset: int
    split: int
    candidates: int
    algorithm: int
    seed: int
    fold: int
    n_folds: int
    title: str
    params: dict[str, Any] = field(hash=False)
    inner: bool = False
    key: str = ""


def requested_metrics(experiment: Experiment) -> tuple[Metric, ...]:
    """Return the metrics of a config in its order, each once."""
    return tuple(dict.fromkeys(metrics.parse_many(experiment.metrics)))


def make_cells(experiment: Experiment, workspace: Workspace) -> Iterator[Cell]:
    """Yield the cells of an experiment in the order in which they are best run.

    Loads the data and makes the splits, because a cell's key depends on both.

    Yields
    ------
    Cell
        All algorithms of a fold after each other, so that what they share stays in memory.
    """
    places = itertools.product(
        range(len(experiment.dataset)), range(len(experiment.split)), experiment.seed
    )
    for dataset, split, seed in places:
        for made in workspace.splits(dataset, split, seed):
            for candidates, algorithm in itertools.product(
                range(len(experiment.candidates)), range(len(experiment.algorithms))
            ):
                chosen = experiment.algorithms[algorithm]
                cell = Cell(
                    dataset=dataset,
                    split=split,
                    candidates=candidates,
                    algorithm=algorithm,
                    seed=seed,
                    fold=made.fold,
                    n_folds=made.n_folds,
                    title=_title(
                        experiment,
                        workspace,
                        chosen.title,
                        (dataset, split, candidates),
                        made,
                        seed,
                    ),
                    params=seeded_params(chosen.name, chosen.params, seed, made.fold),
                )
                yield rekeyed(experiment, workspace, cell)


def rekeyed(experiment: Experiment, workspace: Workspace, cell: Cell) -> Cell:
    """Return a cell with the key for its contents."""
    return replace(cell, key=key_of(inputs_of(experiment, workspace, cell)))


def inputs_of(experiment: Experiment, workspace: Workspace, cell: Cell) -> dict[str, Any]:
    """Return everything that decides the numbers of a cell, from the loaded data and code."""
    section = experiment.candidates[cell.candidates]
    chosen = experiment.algorithms[cell.algorithm]
    decisive = {
        "numbers": NUMBERS_VERSION,
        "versions": versions_that_count() | registry.library_versions([chosen.name]),
        "data": workspace.ratings(cell.dataset)[0].fingerprint,
        "split": workspace.split(cell).fingerprint,
        "candidates": section.model_dump(),
        "sample": (cell.seed, cell.fold) if isinstance(section, Sampled) else None,
        "algorithm": identity(chosen.name),
        "params": cell.params,
        "global_seed": global_seed(chosen.name, cell),
        "as_surprise": chosen.as_surprise,
        "clip": experiment.clip,
        "accelerate": experiment.accelerate,
        "depth": depth_of(requested_metrics(experiment)),
    }
    if cell.inner:  # of a trial, only the metric that decides is kept
        decisive["judged"] = experiment.tuning.metric
    return decisive


def depth_of(wanted: tuple[Metric, ...]) -> int:
    """Return how many items at the top of each list have to be known by name."""
    return max((m.k or 0 for m in wanted if m.needs_items), default=0)


def seeded_params(name: str, params: dict[str, Any], seed: int, fold: int) -> dict[str, Any]:
    """Return the constructor's arguments with the seed of this use among them.

    The stream depends on the algorithm and the fold but not on the label or the other parameters,
    so two settings of one algorithm start from the same random numbers.

    Examples
    --------
    >>> seeded_params("SlopeOne", {}, seed=0, fold=0)
    {}
    >>> seeded_params("SVD", {"random_state": 3}, seed=0, fold=0)
    {'random_state': 3}
    """
    if not registry.takes_seed(name) or params.get("random_state") is not None:
        return dict(params)
    return {**params, "random_state": seeds.derive(seed, "fit", registry.canonical(name), fold)}


def global_seed(name: str, cell: Cell) -> int | None:
    """Return what the global generators start from in a cell of a class of your own."""
    return seeds.derive(cell.seed, "global", name, cell.fold) if ":" in name else None


def identity(name: str) -> str:
    """Return an algorithm's identity in a cell's key; for a class of your own, its code too."""
    if ":" not in name:
        return registry.canonical(name)
    return f"{name} {code_digest(registry.find(name))}"


def versions_that_count() -> dict[str, str]:
    """Return the versions of the packages whose code decides the numbers."""
    from importlib.metadata import version

    return {"harness": harness.__version__, "surprise": version("scikit-surprise")}


def row_key(experiment: Experiment, table: str, cell: Cell) -> str:
    """Return the identity of a row: its table, and all that a config says of its algorithm.

    The label and the run's seed do not count, so that runs which share a row are known to. A
    config may list one algorithm twice under two labels; these are counted, to be two rows.
    """

    def described(chosen: AlgorithmConfig) -> dict[str, Any]:
        return chosen.model_dump(mode="json", exclude={"label"}) | {"name": identity(chosen.name)}

    own = described(experiment.algorithms[cell.algorithm])
    earlier = experiment.algorithms[: cell.algorithm]
    tuning = None
    if own["search"] is not None:
        section = experiment.tuning.validation_of(experiment.split[cell.split])
        tuning = experiment.tuning.model_dump(mode="json") | {
            "validation": section.model_dump(mode="json")
        }
    return short_key(
        {
            "table": table,
            "algorithm": own,
            "copy": sum(described(each) == own for each in earlier),
            "tuning": tuning,
            "clip": experiment.clip,
        }
    )


def _title(
    experiment: Experiment,
    workspace: Workspace,
    label: str,
    place: tuple[int, int, int],
    made: Split,
    seed: int,
) -> str:
    names = workspace.names
    parts = [label]
    if len(experiment.dataset) > 1:
        parts.append(names.datasets[place[0]])
    if len(experiment.split) > 1:
        parts.append(names.splits[place[1]])
    if made.n_folds > 1:
        parts.append(f"fold {made.fold + 1}/{made.n_folds}")
    if len(experiment.seed) > 1:
        parts.append(f"seed {seed}")
    if len(experiment.candidates) > 1:
        parts.append(names.candidates[place[2]])
    return " · ".join(parts)
