"""The published values: each with its source, its protocol and what was printed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from harness import metrics, rankings
from harness.errors import MetricError, ResultsError, suggestion
from harness.metrics import Rankings

__all__ = ["Quantity", "compute", "is_nan", "leaves", "published", "sources"]


class Quantity(BaseModel):
    """A published quantity, as ``published.toml`` describes it.

    Parameters
    ----------
    source : str
        Key of the source, as ``vincent-2018``.
    what : str
        The quantity, as the source calls it.
    expected : object
        The value or values as printed; None stands for NaN.
    note : str
        What a reader has to know.
    errata : dict of str to (float, str)
        For wrong values of the source: what it printed, and why it is wrong. `expected` then holds
        the right value.
    estimates, ratings : list of float
        Of the items of one user, scored by `metrics`, or put in the `order` of one of them.
    recommendations, truth : dict
        Columns ``user``, ``item`` and ``rank``.
    predictions, labels : list of list
        Items of each user.
    metrics : list of str
    user : int, optional
        Whose value of each metric is meant.
    config : str
        A config that ships, to be run.
    algorithm : str
        Its row.
    values : dict of str to str
        The metric, or ``seconds``, of each of the expected values; of a single one under ``""``.
    needs, why : str
        A data set that is not fetched for this, and the reason.
    """

    model_config = ConfigDict(extra="forbid")

    source: str
    what: str
    expected: Any
    note: str = ""
    errata: dict[str, tuple[float, str]] = {}
    estimates: list[int | float] = []
    ratings: list[int | float] = []
    order: Literal["estimates", "ratings"] | None = None
    recommendations: dict[str, list[int]] = {}
    truth: dict[str, list[int]] = {}
    predictions: list[list[int]] = []
    labels: list[list[int]] = []
    metrics: list[str] = []
    user: int | None = None
    config: str = ""
    algorithm: str = ""
    values: dict[str, str] = {}
    needs: str = ""
    why: str = ""


def sources() -> dict[str, str]:
    """Return the sources: key and title.

    A source that defines metrics of its own has its title in `metrics.conventions`.

    Examples
    --------
    >>> sources()["nicolas-2022"]
    'Patrick Nicolas, 2022: Discounted Cumulative Gain in Scala (article)'
    """
    known = metrics.conventions()
    return {key: each.get("title") or known[key].source for key, each in _entries().items()}


def published(source: str | None = None) -> list[Quantity]:
    """Return what was published, of one source or of all.

    Raises
    ------
    ResultsError
        If there is no such source.

    Examples
    --------
    >>> [quantity.what for quantity in published("nicolas-2022")][:2]
    ['IDCG', 'NDCG score']
    """
    entries = _entries()
    if source is not None and source not in entries:
        raise ResultsError(f"{source}: unknown source; {suggestion(source, entries)}")
    found = []
    for key in entries if source is None else [source]:
        alone = {"quantities": entries[key].get("quantities", [])}
        for group in [*entries[key].get("groups", []), alone]:
            shared = {name: value for name, value in group.items() if name != "quantities"}
            found += [Quantity(source=key, **shared, **each) for each in group["quantities"]]
    return found


@cache
def _entries() -> dict[str, dict[str, Any]]:
    text = files("harness.reproduce").joinpath("published.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def compute(quantity: Quantity) -> Any:
    """Return the value of a quantity in the form of its ``expected``, or None if it needs a run.

    Examples
    --------
    >>> round(compute(published("vincent-2018")[4]), 12)
    0.961845355481
    """
    if quantity.config:
        return None
    if quantity.order:
        keys = quantity.estimates if quantity.order == "estimates" else quantity.ratings
        order = rankings.from_matrix([np.arange(len(keys))], [keys]).relevance.astype(int)
        return [[quantity.estimates[i], quantity.ratings[i]] for i in order]
    try:
        lists = _lists(quantity)
    except MetricError:
        return "an error"
    wanted = [metrics.parse(label) for label in quantity.metrics]
    scores = [metrics.score([metric], lists)[metric] for metric in wanted]
    per_user = np.column_stack([each.per_user for each in scores])
    if quantity.user is not None:
        values = per_user[quantity.user]
        return [f"{metric}: {value:.4f}" for metric, value in zip(wanted, values, strict=True)]
    if isinstance(quantity.expected, dict):
        return {"per_user": per_user.tolist(), "mean": [each.mean for each in scores]}
    return per_user[:, 0].tolist() if isinstance(quantity.expected, list) else scores[0].mean


def _lists(quantity: Quantity) -> Rankings:
    if quantity.recommendations:
        names = {"user": "user_id", "item": "item_id", "rank": "rank"}
        tables = [
            {names[key]: column for key, column in table.items()}
            for table in (quantity.recommendations, quantity.truth)
        ]
        return rankings.from_recommendations(*tables)
    if quantity.predictions:
        return rankings.from_lists(quantity.predictions, quantity.labels)
    return rankings.from_matrix([quantity.ratings], [quantity.estimates])


def leaves(quantity: Quantity, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each single value of a quantity with what distinguishes it from the others.

    A list of pairs, as a sorted list of estimates and ratings, is one value.

    Examples
    --------
    >>> [precision] = [each for each in published("bellei-2017") if each.what == "precision@k"]
    >>> list(leaves(precision, precision.expected))[:2]
    [('@1, user 1', 1), ('@3, user 1', 0.6666666666666666)]
    """
    if isinstance(value, dict) and "per_user" in value:
        ks = [metrics.parse(label).k for label in quantity.metrics]
        for user, row in enumerate(value["per_user"], start=1):
            yield from ((f"@{k}, user {user}", each) for k, each in zip(ks, row, strict=True))
        yield from ((f"@{k}, mean", each) for k, each in zip(ks, value["mean"], strict=True))
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list) and not isinstance(value[0], list):
        for position, each in enumerate(value, start=1):
            yield f"{position} of {len(value)}", each
    else:
        yield "", value


def is_nan(value: Any) -> bool:
    """Return whether a single value stands for NaN.

    Examples
    --------
    >>> is_nan(None), is_nan(float("nan")), is_nan("text")
    (True, True, False)
    """
    return value is None or (isinstance(value, float) and math.isnan(value))
