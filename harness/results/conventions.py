"""One run under other definitions: those of a dozen libraries, and other rules for ties."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness.errors import MetricError, ResultsError
from harness.metrics.conventions import Convention, conventions
from harness.metrics.grammar import Value
from harness.results.cells import CellRecord, CellStore
from harness.results.run import Run
from harness.results.table import GROUP, grouped, primary_metric

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Redefinitions", "under_conventions", "with_redefinitions"]

ROLE = "ndcg"
USUAL_RANK = 10
TIE_RULES = ("average", "first", "last", "best", "worst")


class Redefinitions:
    """Collects what finished cells score under other definitions, one cell at a time.

    Parameters
    ----------
    labels : sequence of str
        The metrics of the run. The first of them for a headline gives the cut-off rank, and the
        metric whose ties are ordered in every way.
    role : str
        Which metric each library computes in its own way: ``ndcg``, ``ap``, ``recall``, ...
    k : int, optional
        Cut-off rank.
    threshold : float, optional
        Least rating of a relevant item for binary metrics; each library's own when left out.

    Raises
    ------
    MetricError
        If no library has such a metric.
    """

    def __init__(
        self,
        labels: Sequence[str],
        *,
        role: str = ROLE,
        k: int | None = None,
        threshold: float | None = None,
    ) -> None:
        primary = metrics.parse(primary_metric(labels))
        self.role = role
        self.k = k or primary.k or USUAL_RANK
        self.threshold = threshold
        self.named = _named(role)
        self.rules = _tie_rules(primary if "ties" in primary.params else None, self.k)
        self.places: dict[tuple[str, ...], dict[str, list[_CellScores]]] = {}

    def add(self, place: Mapping[str, Any], record: CellRecord) -> None:
        """Score one cell.

        Parameters
        ----------
        place : mapping
            With ``dataset``, ``split``, ``candidates`` and ``algorithm``.
        record : CellRecord
        """
        from harness.evaluation import tied_share

        found: _CellScores = {("tied", ""): tied_share(record.rankings, self.k)}
        for name, convention in self.named.items():
            metric = convention.metrics(self.k, self.threshold)[self.role]
            found["convention", name] = _mean(metric, record)
        for rule, metric in self.rules.items():
            found["ties", rule] = _mean(metric, record)
        where = tuple(place[key] for key in GROUP)
        self.places.setdefault(where, {}).setdefault(place["algorithm"], []).append(found)

    def described(self) -> dict[str, list[dict[str, Any]]]:
        """Return ``conventions`` and ``ties`` as ``run.json`` holds them, means over cells."""
        return {
            "conventions": [
                dict(zip(GROUP, place, strict=True))
                | {"metric": self.role, "k": self.k, "rows": self._conventions(by_algorithm)}
                for place, by_algorithm in self.places.items()
            ],
            "ties": [
                dict(zip(GROUP, place, strict=True))
                | {"metric": str(next(iter(self.rules.values()))), "rows": self._ties(by_algorithm)}
                for place, by_algorithm in self.places.items()
                if self.rules
            ],
        }

    def _conventions(self, by_algorithm: dict[str, list[_CellScores]]) -> list[dict[str, Any]]:
        rows = []
        for name, convention in self.named.items():
            scores = {
                algorithm: _average([cell["convention", name] for cell in cells])
                for algorithm, cells in by_algorithm.items()
            }
            notes = (
                each
                for cells in by_algorithm.values()
                for cell in cells
                if isinstance(each := cell["convention", name], str)
            )
            rows.append(
                {
                    "convention": name,
                    "label": str(convention.metrics(self.k, self.threshold)[self.role]),
                    "scores": scores,
                    "note": next(notes, ""),
                }
            )
        return rows

    def _ties(self, by_algorithm: dict[str, list[_CellScores]]) -> list[dict[str, Any]]:
        return [
            {
                "algorithm": algorithm,
                "tied": _average([cell["tied", ""] for cell in cells]),
                "scores": {
                    rule: _average([cell["ties", rule] for cell in cells]) for rule in self.rules
                },
            }
            for algorithm, cells in by_algorithm.items()
        ]


_CellScores = dict[tuple[str, str], float | str]
"""By kind and name the mean of a cell, or why there is none."""


def under_conventions(
    run: Run,
    store: CellStore,
    *,
    role: str = ROLE,
    k: int = USUAL_RANK,
    threshold: float | None = None,
) -> pd.DataFrame:
    """Score the finished cells of a run again, as each library would.

    Parameters
    ----------
    run : Run
    store : CellStore
        Holds the run's cells. Where it does not, what the run wrote down is taken, if it is the
        same metric at the same rank.
    role : str
        Which metric: ``ndcg``, ``ap``, ``recall``, ...
    k : int
        Cut-off rank.
    threshold : float, optional
        Least rating of a relevant item for binary metrics; each library's own when left out.

    Returns
    -------
    DataFrame
        For each convention and each table of the run: ``dataset``, ``split``, ``candidates``,
        ``convention``, ``label``, a column for each algorithm with its mean over cells, and
        ``note``, why there is none.

    Raises
    ------
    MetricError
        If no library has such a metric.
    ResultsError
        If a cell of the run is no longer kept.
    """
    import pandas as pd

    asked = Redefinitions(run.info["metrics"], role=role, k=k, threshold=threshold)
    try:
        told = _collect(run, store, asked)["conventions"]
    except ResultsError:
        told = [
            each
            for each in run.info.get("conventions", [])
            if (each["metric"], each["k"], threshold) == (role, k, None)
        ]
        if not told:
            raise
    rows = []
    for each in told:
        place = {key: each[key] for key in GROUP}
        for row in each["rows"]:
            scores = {name: _number(value) for name, value in row["scores"].items()}
            named = {"convention": row["convention"], "label": row["label"]}
            rows.append(place | named | scores | {"note": row["note"]})
    return pd.DataFrame(rows)


def with_redefinitions(run: Run, store: CellStore) -> Run:
    """Return a run that has ``conventions`` and ``ties``: itself, or scored again from its cells.

    Parameters
    ----------
    run : Run
    store : CellStore
        Where its cells may be; without them the run comes back as it is.
    """
    if "conventions" in run.info:
        return run
    try:
        told = _collect(run, store, Redefinitions(run.info["metrics"]))
    except ResultsError:
        return run
    users = run.users
    return Run(run.info | told, users, run.folder, run.trials)


def _collect(run: Run, store: CellStore, asked: Redefinitions) -> dict[str, list[dict[str, Any]]]:
    for cells in grouped(run.info).values():
        for cell in cells:
            if not cell.get("error"):
                asked.add(cell, _record(store, cell, run.name))
    return asked.described()


def _record(store: CellStore, cell: dict[str, Any], name: str) -> CellRecord:
    record = store.get(cell["key"])
    if record is None:
        raise ResultsError(
            f"{name}: its cell of {cell['algorithm']} is not in the cache; "
            "run the config again, which computes what is missing"
        )
    return record


def _named(role: str) -> dict[str, Convention]:
    named = {name: each for name, each in conventions().items() if role in each.roles}
    if not named:
        known = sorted({role for each in conventions().values() for role in each.roles})
        raise MetricError(f"{role}: no convention defines it; use one of {', '.join(known)}")
    return named


def _tie_rules(metric: metrics.Metric | None, k: int) -> dict[str, metrics.Metric]:
    """Return a metric under each rule for ties that it can have, the run's own rule aside."""
    metric = metric or metrics.parse(f"{ROLE}@{k}")
    others = tuple(each for each in metric.chosen if each[0] != "ties")
    found = {}
    for rule in TIE_RULES:
        written = metrics.Metric(metric.name, (*others, ("ties", Value(rule))), metric.k)
        try:
            found[rule] = metrics.parse(str(written))
        except MetricError:
            continue  # a metric that has no such rule
    return found


def _mean(metric: metrics.Metric, record: CellRecord) -> float | str:
    """Return the mean of a cell, or why there is none."""
    try:
        return float(metrics.score([metric], record.rankings)[metric].mean)
    except MetricError as error:
        return str(error).partition(": ")[2]


def _average(values: Sequence[float | str]) -> float | None:
    """Return a mean as JSON holds it; None where a value is missing."""
    numbers = [each for each in values if not isinstance(each, str)]
    if len(numbers) < len(values) or not numbers:
        return None
    mean = math.fsum(numbers) / len(numbers)
    return mean if math.isfinite(mean) else None


def _number(value: float | None) -> float:
    return math.nan if value is None else value
