"""Split, candidates and nDCG, each described in a sentence for a paper."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from harness import metrics
from harness.candidates import CandidatesSection
from harness.config.experiment import Tuning
from harness.report.sentences import joined
from harness.report.styles import plain
from harness.splits import SplitSection

__all__ = [
    "candidates_sentence",
    "ndcg_sentence",
    "space_sentence",
    "split_sentence",
    "validation_sentence",
]


def split_sentence(section: dict[str, Any], part: str = "test part") -> str:
    """Return a sentence on how training and test part were split.

    Parameters
    ----------
    section : dict
        One of the config's ``split``.
    part : str
        Name of the part on which models are scored.

    Examples
    --------
    >>> split_sentence({"kind": "kfold", "n_splits": 3, "shuffle": False})
    'The ratings were divided in the order of the data into 3 folds, each the test part once.'
    """
    split = TypeAdapter[Any](SplitSection).validate_python(section)
    return plain(split.sentence(part))


def validation_sentence(split: dict[str, Any], tuning: dict[str, Any]) -> str:
    """Return a sentence on how the training part was split for tuning.

    Parameters
    ----------
    split, tuning : dict
        One of the config's ``split``, and its ``tuning``.

    Examples
    --------
    >>> validation_sentence({"kind": "kfold"}, {})
    '20% of the ratings, drawn at random as by Surprise, are the validation part.'
    """
    outer = TypeAdapter[Any](SplitSection).validate_python(split)
    inner = Tuning.model_validate(tuning).validation_of(outer)
    return plain(inner.sentence("validation part"))


def candidates_sentence(section: dict[str, Any]) -> str:
    """Return a sentence on the items that were ranked for each test user.

    Parameters
    ----------
    section : dict
        One of the config's ``candidates``.

    Examples
    --------
    >>> candidates_sentence({"kind": "rated"})
    "Each user's own test ratings are ranked."
    """
    candidates = TypeAdapter[Any](CandidatesSection).validate_python(section)
    return str(candidates.sentence())


def space_sentence(space: dict[str, Any]) -> str:
    """Return a search space in words.

    Parameters
    ----------
    space : dict
        By parameter a list of values, or a `Range` as a dictionary.

    Examples
    --------
    >>> space_sentence({"k": [5, 10], "lr_all": {"low": 0.001, "high": 0.1, "log": True}})
    'k from 5 and 10, lr_all from 0.001 to 0.1 (logarithmic)'
    """
    parts = []
    for name, values in space.items():
        if isinstance(values, dict):
            log = " (logarithmic)" if values.get("log") else ""
            parts.append(f"{name} from {values['low']:g} to {values['high']:g}{log}")
        elif len(values) == 1:
            parts.append(f"{name} {values[0]}")
        else:
            parts.append(f"{name} from {joined([str(value) for value in values])}")
    return plain(", ".join(parts))


def ndcg_sentence(metric: metrics.Metric) -> str:
    """Return gain, discount, ties and empty users of an nDCG, as it is computed."""
    params = metric.params
    gain = params["gain"]
    formula = {
        "exp2": "2^rel − 1",
        "linear": "rel",
        "table": f"{gain}",
        "binary": f"1 from relevance {gain.numbers[0]:g} on" if gain.numbers else "1 or 0",
    }[gain.word]
    base = str(params["base"])
    log = "ln" if base == "e" else f"log{base}"
    discount = {
        "log": f"{log}(i + 1)",
        "jarvelin": f"max(1, {log}(i))",
        "reciprocal": "i",
        "none": "1",
    }[str(params["discount"])]
    ties = {
        "average": "the mean over all orders of equal estimates",
        "first": "equal estimates in input order",
        "last": "equal estimates in reversed input order",
        "best": "equal estimates in the best order",
        "worst": "equal estimates in the worst order",
    }.get(params["ties"].word, "equal estimates in random order")
    empty = {
        "nan": "left out of the mean",
    }.get(str(params["undefined"]), f"counted as {params['undefined']}")
    others = [
        f"{name}={value}"
        for name, value in metric.chosen
        if name not in ("gain", "base", "discount", "ties", "undefined")
    ]
    also = f" Also {joined(others)}." if others else ""
    return (
        f"There dcg@k = sum over ranks i ≤ k of gain / {discount} with gain {formula}, rel the "
        f"true rating; idcg@k is that of the best order; the value is {ties}; users without a "
        f"relevant item are {empty}.{also}"
    )
