"""The search of one input: collects what is found, and what cannot be checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from harness import metrics
from harness._util.libraries import pd
from harness.errors import MetricError
from harness.extras.audit.findings import Audit, Finding, checks
from harness.metrics import Rankings
from harness.notes.note import plain, sentence
from harness.rankings.grouped import from_grouped
from harness.rankings.lists import ListedRows, match
from harness.rankings.pairs import group_pairs
from harness.results.scores import or_none

SHOWN = 0.001  # smaller differences by a definition are not reported
NEARLY_ALL, MOST, CLOSE = 0.9, 0.5, 0.05
"""Proportions of equal estimates that are a problem, and of a value that a random order is near."""
FEW, NEGATIVES, EXPECTED = 5, 20, 10
"""Estimates at one end that show a scale, or ids that show a cut; unrated items in every list that
look like a sample; rows expected by chance of which none is there by another cause."""
PAIR = ["user", "item"]
RMSE = metrics.parse("rmse")

One = Mapping[str, float | None]
Values = Mapping[str, One]
Tables = tuple["pd.DataFrame", "pd.DataFrame | None"]


class AuditSearch:
    """Collects what is found, and what cannot be checked."""

    def __init__(self, label: str) -> None:
        self.metric = metrics.parse(label)
        if self.metric.k is None or self.metric.needs_exposure or self.metric.needs_pairs:
            raise MetricError(f"{label}: not a metric of ranks with a cut; give one as ndcg@10")
        self.label, self.k = str(self.metric), self.metric.k
        self.findings: list[Finding] = []
        self.open: dict[str, str] = {}

    def found(self, code: str, effect: Values | None = None, **values: Any) -> None:
        """Add a finding, whose sentences are listed under its code in ``checks.toml``."""
        check, _, kind = code.partition(".")
        declared = {"where": ""} | checks()[check] | checks()[check][kind]
        values = plain(values | {"label": self.label, "k": self.k})
        finding = Finding(
            id=check,
            code=code,
            level=declared["level"],
            case=declared["case"],
            values=values,
            what=sentence(declared["what"], **values),
            where=sentence(declared["where"], **values),
            effect={
                label: {name: or_none(value) for name, value in size.items()}
                for label, size in (effect or {}).items()
            },
        )
        self.findings.append(finding)

    def depends(self, code: str, label: str, values: One, **said: Any) -> None:
        """Add a finding if the values under several definitions differ by enough."""
        numbers = [value for value in map(or_none, values.values()) if value is not None]
        if numbers and max(numbers) - min(numbers) >= SHOWN:
            self.found(code, {label: values}, **said)

    def skip(self, reason: str, ids: str) -> None:
        """Say why checks cannot be made; where another part of them finds something, it counts."""
        self.open |= dict.fromkeys(ids.split(), reason)

    def results(self, name: str, summary: str) -> Audit:
        """Return the findings, the most severe first, and what was checked."""
        order, ids = list(checks()), {finding.id for finding in self.findings}
        self.findings.sort(key=lambda finding: order.index(finding.id))
        unchecked = {id: self.open[id] for id in order if id in self.open and id not in ids}
        return Audit(
            input=name,
            summary=summary,
            findings=self.findings,
            checked=[id for id in order if id not in unchecked],
            not_checked=unchecked,
        )

    def scores(self, rows: pd.DataFrame, truth: pd.DataFrame | None = None) -> dict[str, float]:
        """Return the metric and, of predictions, RMSE; NaN where there is no row."""
        scored = [self.metric] if truth is not None else [self.metric, RMSE]
        if not len(rows):
            return dict.fromkeys(map(str, scored), math.nan)
        pairs = group_pairs(rows["user"], rows["key"], rows["rating"])[0] if truth is None else None
        scores = metrics.score(scored, lists_of(rows, truth), pairs)
        return {str(metric): of_metric.mean for metric, of_metric in scores.items()}

    def effect(self, *sides: tuple[pd.DataFrame, pd.DataFrame | None] | None) -> Values:
        """Return what changes from the tables as they are to the tables without a problem.

        None is for tables that cannot be scored.
        """
        before, after = ({} if side is None else self.scores(*side) for side in sides)
        return {
            label: {"as it is": before.get(label), "without the problem": value}
            for label, value in after.items()
            if value != before.get(label)
        }


def share(mask: Any, n: int = 0) -> dict[str, int]:
    """Return how many there are, of how many; as text with their percentage."""
    return {"n": int(np.sum(mask)), "n_all": int(n or len(mask))}


def lists_of(rows: pd.DataFrame, truth: pd.DataFrame | None) -> Rankings:
    """Return the lists of all users of both tables; predictions hold their own truth."""
    if truth is None:
        return from_grouped(*group_pairs(rows["user"], rows["key"], rows["rating"]))
    sides = [pd.concat([rows[role], truth[role]]) for role in PAIR]
    (users, user_ids), (items, item_ids) = (pd.factorize(side, sort=True) for side in sides)
    listed = ListedRows(users[: len(rows)], items[: len(rows)], rows["key"].to_numpy())
    judged = ListedRows(users[len(rows) :], items[len(rows) :], truth["rating"].to_numpy())
    return match(listed, judged, np.asarray(user_ids), np.asarray(item_ids))


def per_list(offsets: Any, mask: Any) -> Any:
    """Return how many entries of each list are marked."""
    return np.diff(np.append(0, np.cumsum(mask))[offsets])


def pairs_of(table: pd.DataFrame) -> pd.MultiIndex:
    """Return the pairs of user and item of a table."""
    return pd.MultiIndex.from_frame(table[PAIR])
