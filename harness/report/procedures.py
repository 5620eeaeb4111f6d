"""How data were divided, candidates chosen and nDCG computed, each as a sentence of a paper."""

from __future__ import annotations

from typing import Any

from harness import metrics
from harness.config.quantities import written
from harness.report.sentences import joined

__all__ = ["candidates_sentence", "ndcg_sentence", "split_sentence"]


def split_sentence(section: dict[str, Any]) -> str:
    """Return how training and test part were divided.

    Parameters
    ----------
    section : dict
        One of the config's ``split``.

    Examples
    --------
    >>> split_sentence({"kind": "leave-n-out", "n": 1, "choose": "latest"})
    '1 rating of each user, the latest, is the test part.'
    """
    kind = section["kind"]
    drawn = "drawn at random" if section.get("choose", "random") == "random" else "the latest"
    if kind == "holdout":
        test, train = section.get("test_size"), section.get("train_size")
        share = f"{written(test)} of the ratings" if test is not None else (
            f"all ratings but {written(train or 0)}"
        )  # fmt: skip
        how = "drawn at random" if section.get("shuffle", True) else "in the order of the data"
        like = "scikit-learn" if section.get("like") == "sklearn" else "Surprise"
        own = _own_seed(section)
        return f"{share[0].upper() + share[1:]}, {how} as by {like}{own}, are the test part."
    if kind in ("kfold", "repeated-kfold"):
        repeats = f", {section['n_repeats']} times over" if kind == "repeated-kfold" else ""
        return (
            f"The ratings were divided at random into {section['n_splits']} folds{repeats}"
            f"{_own_seed(section)}, each the test part once."
        )
    if kind == "leave-n-out":
        n = section["n"]
        many = ("ratings", "are") if n > 1 else ("rating", "is")
        return f"{n} {many[0]} of each user, {drawn}, {many[1]} the test part."
    if kind == "user-fraction":
        return f"{written(section['fraction'])} of each user's ratings, {drawn}, are the test part."
    if kind == "global-time":
        if section.get("date") is not None:
            return (
                f"Ratings from {section['date']} on are the test part, those before are training."
            )
        return (
            f"The test part begins at the moment that {written(section['quantile'])} of the "
            "ratings come before."
        )
    if kind == "user-holdout":
        return (
            f"Of {written(section['users'])} of the users, {written(section['given'])} of their "
            f"ratings are given and the others, {drawn}, are the test part; all other users are "
            "training."
        )
    if kind == "own-training":
        return (
            "Models were tested on the very ratings that they were fitted on, so the scores tell "
            "what they remember and nothing of what they predict."
        )
    return "Training and test parts were divided beforehand and read from files."


def _own_seed(section: dict[str, Any]) -> str:
    state = section.get("random_state")
    return "" if state is None else f" (random_state {state})"


def candidates_sentence(section: dict[str, Any]) -> str:
    """Return which items each test user was asked about.

    Parameters
    ----------
    section : dict
        One of the config's ``candidates``.

    Examples
    --------
    >>> candidates_sentence({"kind": "rated"})
    "Each user's own test ratings are put in order."
    """
    kind = section["kind"]
    known = (
        " Users without a training rating are left out."
        if section.get("unknown_users") == "drop"
        else ""
    )
    unknown = {
        "count": " Test items that training never saw cannot be ranked but count in the ideal.",
        "drop": " Test items that training never saw are left out.",
    }.get(section.get("unknown_items", ""), "")
    if kind == "rated":
        return f"Each user's own test ratings are put in order.{known}"
    if kind == "catalogue":
        own = "included" if section.get("training_items") == "keep" else "left out"
        return (
            "Every item of the training part is ranked for every test user, those that the user "
            f"rated in training {own}; an item without a test rating has relevance 0."
            f"{unknown}{known}"
        )
    return (
        f"Each user's test ratings are ranked among {section['n']} items drawn at random from "
        f"those without a rating of the user, which have relevance 0.{unknown}{known}"
    )


def ndcg_sentence(metric: metrics.Metric) -> str:
    """Return gain, discount, ties and empty users of an nDCG, as it is computed."""
    params = metric.params
    gain = params["gain"]
    worth = {
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
        f"There dcg@k = sum over ranks i ≤ k of gain / {discount} with gain {worth}, rel the true "
        f"rating; idcg@k is that of the best order; the value is {ties}; users without a relevant "
        f"item are {empty}.{also}"
    )
