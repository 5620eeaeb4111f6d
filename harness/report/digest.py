"""A run's numbers as the report shows them: tables, rows, evidence for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import ResultsError, suggestion
from harness.report.evidence import Evidence, gather
from harness.report.styles import AlgorithmStyle, algorithm_styles
from harness.results.record import CellResult, RunInfo
from harness.results.run import Run
from harness.results.table import best_of, primary_metric
from harness.results.values import DEFAULT_DECIMALS, column_decimals

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Digest", "Place", "digest"]

BASELINES = ("BaselineOnly", "ItemMean", "Popularity", "Random")
"""Default baselines, used if neither config nor reader names one."""


@dataclass(frozen=True, eq=False)
class Place:
    """One table: a data set, a split and a kind of candidates.

    Parameters
    ----------
    key : str
        Identity of the table.
    names : tuple of str
        Data set, split, candidates.
    title : str
        What distinguishes it from the other tables of the run.
    rows : DataFrame
        Its algorithms, as `Run.table` has them.
    bounds : DataFrame
        The scores of the best and of a random order, in the same columns; may be empty.
    users : DataFrame
        Its rows of `Run.users`.
    cells : list of CellResult
        Its finished cells.
    evidence : dict of str to Evidence
        By metric, where users were compared.
    decimals : dict of str to int
        By metric, how many decimals its numbers get.
    """

    key: str
    names: tuple[str, str, str]
    title: str
    rows: pd.DataFrame
    bounds: pd.DataFrame
    users: pd.DataFrame
    cells: list[CellResult]
    evidence: dict[str, Evidence]
    decimals: dict[str, int]

    @property
    def about(self) -> str:
        """Data set, split and candidates, for people."""
        return " · ".join(self.names)

    def best(self, label: str) -> list[str]:
        """Return the algorithms with the best value of a metric: one, or several that are equal."""
        records: list[dict[Any, Any]] = self.rows.to_dict(orient="records")
        return [str(records[i]["algorithm"]) for i in best_of(records, label)]

    def ranked(self, label: str) -> list[str]:
        """Return the algorithms that have a value of a metric, best first.

        Algorithms with a failed cell are excluded: their values are of other folds.
        """
        ascending = not metrics.parse(label).higher_is_better
        rows = self.rows[self.rows["n_failed"] == 0].dropna(subset=[label])
        rows = rows.sort_values(label, ascending=ascending, kind="stable")
        return [str(name) for name in rows["algorithm"]]


@dataclass(frozen=True, eq=False)
class Digest:
    """A run, prepared for display.

    Parameters
    ----------
    run : Run
    places : list of Place
        In the order of the config.
    baseline : str
        What the other algorithms are compared with.
    """

    run: Run
    places: list[Place]
    baseline: str

    @property
    def info(self) -> RunInfo:
        """What ``run.json`` holds."""
        return self.run.info

    @property
    def labels(self) -> list[str]:
        """The metrics, as the config orders them."""
        return self.info.metrics

    @cached_property
    def primary(self) -> str:
        """The primary metric of headline and plots: nDCG at 10, or the nearest one."""
        return primary_metric(self.labels)

    @cached_property
    def several(self) -> bool:
        """Whether a row is a mean over several cells."""
        return len({(cell.seed, cell.fold) for cell in self.info.cells}) > 1

    @cached_property
    def algorithms(self) -> list[str]:
        """Every row's label, once."""
        return self.info.algorithms

    @cached_property
    def styles(self) -> dict[str, AlgorithmStyle]:
        """How each algorithm is drawn."""
        return algorithm_styles(self.algorithms)

    def metric(self, label: str | None) -> str:
        """Return a label of this run, the primary one for None.

        Raises
        ------
        ResultsError
            If the run has no such metric.
        """
        if label is not None and label not in self.labels:
            raise ResultsError(
                f"{self.run.name}: no metric {label!r}; {suggestion(label, self.labels)}"
            )
        return label or self.primary

    def place(self, number: int) -> Place:
        """Return a place by its number, from 1.

        Raises
        ------
        ResultsError
            If there are fewer.
        """
        if not 1 <= number <= len(self.places):
            known = "; ".join(f"{i}: {each.title}" for i, each in enumerate(self.places, 1))
            raise ResultsError(f"{self.run.name}: no table {number}; use one of {known}")
        return self.places[number - 1]


def digest(run: Run | Digest, *, baseline: str | None = None) -> Digest:
    """Prepare a run for display.

    Parameters
    ----------
    run : Run or Digest
        A digest is given back as it is.
    baseline : str, optional
        The algorithm to compare the others with; left out, the config's, else the first of
        BaselineOnly, ItemMean, Popularity and Random that the run has, else its first algorithm.

    Raises
    ------
    ResultsError
        If the run has no such baseline, or no cells.
    """
    if isinstance(run, Digest):
        return run
    info = run.info
    if not info.cells or not info.metrics:
        raise ResultsError(f"{run.name}: holds no cells; run the config again")
    names = info.algorithms
    if baseline is not None and baseline not in names:
        raise ResultsError(f"{run.name}: no baseline {baseline!r}; {suggestion(baseline, names)}")
    table, bounds = run.table, run.bounds
    evidence, digits = gather(info), column_decimals(info)
    titles = _titles(list(info.tables.values()))
    places = [
        Place(
            key,
            parts,
            title,
            table[table["table"] == key].reset_index(drop=True),
            bounds[bounds["table"] == key].reset_index(drop=True),
            run.users[run.users["table"] == key],
            [cell for cell in info.finished if cell.table == key],
            {label: each for (of, label), each in evidence.items() if of == key},
            {label: digits.get((key, label), DEFAULT_DECIMALS) for label in info.metrics},
        )
        for (key, parts), title in zip(info.tables.items(), titles, strict=True)
    ]
    return Digest(run, places, baseline or _default_baseline(info, names))


def _default_baseline(info: RunInfo, names: Sequence[str]) -> str:
    settings = info.config["statistics"] or {}
    wanted = (settings.get("baseline"), *BASELINES)
    return next((str(each) for each in wanted if each in names), names[0])


def _titles(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """Return the parts of each key that differ between keys, all of them where there is one."""
    if len(keys) == 1:
        return [" · ".join(keys[0])]
    varying = [part for part in range(3) if len({key[part] for key in keys}) > 1]
    return [" · ".join(key[part] for part in varying) for key in keys]
