"""Published values that need no training, computed from their inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import metrics, rankings
from harness.errors import MetricError
from harness.metrics import Rankings
from harness.reproduce.published import Quantity

__all__ = ["compute"]


def compute(quantity: Quantity) -> Any:
    """Return the value of a quantity in the form of its ``expected``, or None if it needs a run.

    Examples
    --------
    >>> from harness.reproduce.published import published
    >>> round(compute(published("vincent-2018")[4]), 12)
    0.961845355481
    """
    made = _BY_SOURCE.get(quantity.source)
    return made(quantity) if made else None


def _worked_example(quantity: Quantity) -> Any:
    """Compute a number of the notebook: ten ratings, their estimates, ties in input order."""
    estimates, ratings = quantity.inputs["estimates"], quantity.inputs["ratings"]
    if quantity.what.startswith("sorted"):
        keys = estimates if "estimate" in quantity.what else ratings
        order = rankings.from_matrix([np.arange(len(keys))], [keys]).relevance.astype(int)
        return [[estimates[i], ratings[i]] for i in order]
    lists = rankings.from_matrix([ratings], [estimates])
    kind, k = quantity.what.removeprefix("the open question: ").split()[0:2], _rank(quantity.what)
    name = "idcg" if kind[0] == "ideal" else kind[0].split("@")[0].casefold()
    label = "idcg" if name == "idcg" else f"{name}(ties=first)"
    return _mean(f"{label}@{k}", lists)


def _frames(quantity: Quantity) -> Any:
    """Compute the per-user values of a documentation's example."""
    reco, interactions = quantity.inputs["reco"], quantity.inputs["interactions"]
    lists = rankings.from_recommendations(
        {"user_id": reco["user"], "item_id": reco["item"], "rank": reco["rank"]},
        {"user_id": interactions["user"], "item_id": interactions["item"]},
    )
    k = int(quantity.what.partition("k=")[2].partition(")")[0])
    return _per_user(metrics.conventions()["rectools"].metrics(k)["ndcg"], lists)


def _demonstration(quantity: Quantity) -> Any:
    """Compute a row of the small table; the others need data and training."""
    inputs = quantity.inputs
    if "scores" not in inputs:
        return None
    lists = rankings.from_matrix([inputs["relevance"]], [inputs["scores"]])
    return _mean(f"ndcg(gain=linear, ties=last)@{inputs['k']}", lists)


def _list_of_relevances(quantity: Quantity) -> Any:
    """Compute a number of the article in Scala: relevances in ranked order."""
    ranking = quantity.inputs.get("ranking")
    if ranking is None:
        try:
            rankings.from_matrix([[1.0, 2.0]], [[1.0, 2.0, 3.0]])
        except MetricError:
            return "an error"
        return 0.0
    lists = rankings.from_matrix([ranking], [-np.arange(len(ranking))])
    return _mean("idcg" if quantity.what == "IDCG" else "ndcg(ties=first)", lists)


def _predictions_and_labels(quantity: Quantity) -> Any:
    """Compute a table of the article on confusion: lists of predictions and labels."""
    users = quantity.inputs["users"]
    lists = rankings.from_lists(
        [user["predictions"] for user in users], [user["labels"] for user in users]
    )
    role = _ROLES.get(quantity.what)
    if role is None:  # the denominators that the article distinguishes, on its second user
        by_word = {word: metrics.parse(f"ap(denominator={word})@5") for word in _DENOMINATORS}
        return [
            f"{by_word[word]}: {_per_user(by_word[word], lists)[1]:.4f}" for word in _DENOMINATORS
        ]
    wanted = [metrics.conventions()["bellei-2017"].metrics(k)[role] for k in quantity.inputs["k"]]
    scores = metrics.score(wanted, lists)
    return {
        "per_user": np.column_stack([scores[each].per_user for each in wanted]).tolist(),
        "mean": [scores[each].mean for each in wanted],
    }


_ROLES = {
    "precision@k": "precision",
    "recall@k": "recall",
    "F1@k": "f1",
    "average precision@k": "ap",
    "reciprocal rank@k": "rr",
    "NDCG@k": "ndcg",
}

_DENOMINATORS = ("hits", "list", "relevant")

_BY_SOURCE: dict[str, Callable[[Quantity], Any]] = {
    "vincent-2018": _worked_example,
    "rectools-docs": _frames,
    "singh-2025": _demonstration,
    "nicolas-2022": _list_of_relevances,
    "bellei-2017": _predictions_and_labels,
}


def _rank(what: str) -> int:
    digits = what.partition("@")[2].split()[0]
    return int(digits)


def _mean(label: str, lists: Rankings) -> float:
    metric = metrics.parse(label)
    return metrics.score([metric], lists)[metric].mean


def _per_user(metric: metrics.Metric, lists: Rankings) -> list[float]:
    values: list[float] = metrics.score([metric], lists)[metric].per_user.tolist()
    return values
