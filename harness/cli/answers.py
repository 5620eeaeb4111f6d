"""The parts of a config that a call can name: options, and what their texts stand for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import click

from harness.cli import words
from harness.cli.options import Choice
from harness.errors import AlgorithmError, MetricError
from harness.splits import TEST_SHARE

DATASET = "bundled"
ALGORITHMS = "SVD, KNNBaseline, BaselineOnly, ItemMean"
METRICS = "ndcg@5,10,rmse"
"""What a call leaves out."""
SPLITS = {
    "holdout": {"kind": "holdout", "test_size": TEST_SHARE},
    "kfold": {"kind": "kfold", "n_splits": 5},
    "leave-one-out": {"kind": "leave-n-out", "n": 1, "too_few": "train"},
    "user-fraction": {"kind": "user-fraction", "fraction": 0.2, "too_few": "train"},
    "global-time": {"kind": "global-time", "quantile": 0.8},
}
KEYS = ("dataset", "split", "candidates", "algorithms", "metrics", "seed")
"""The parameters that `options` adds."""

split = Choice(tuple(SPLITS))
candidates = Choice(("rated", "catalogue", "sampled"))
seed = click.IntRange(0, 2**32 - 1)


def columns(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return the option that names the columns of a file of ratings."""
    return click.option(
        *names,
        "data_columns",
        metavar="ROLE=NAME,...",
        help="Columns of a file with unusual names, for example "
        "user=who,item=what,rating=stars; positions count from 1.",
    )


def options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options that name the parts of a config."""
    for option in reversed(
        (
            click.option(
                "--dataset",
                metavar="NAME",
                shell_complete=words.datasets,
                help="A name from `harness list datasets`, a file of ratings, or `synthetic`.",
            ),
            click.option("--split", type=split, help="How ratings are split."),
            click.option("--candidates", type=candidates, help="Which items are ranked."),
            click.option(
                "--algorithms",
                shell_complete=words.of_kind("algorithms"),
                metavar="NAME,...",
                help="Names with commas, or `all`.",
            ),
            click.option(
                "--metrics",
                shell_complete=words.of_kind("metrics"),
                metavar="LABEL,...",
                help="For example ndcg@5,10,rmse.",
            ),
            click.option("--seed", type=seed, help="The seed of all random numbers."),
        )
    ):
        function = option(function)
    return function


def names(answer: str) -> list[str]:
    """Return names of algorithms in the form of a config."""
    from harness.algorithms import registry

    if answer.strip().casefold() == "all":
        return [*registry.names("surprise"), "ItemMean"]
    return [name.strip() for name in answer.split(",") if name.strip()]


def labels(answer: str) -> list[str]:
    """Return labels in the form of a config; errors are found with all other faults."""
    from harness.metrics import parse_many

    try:
        return [str(metric) for metric in parse_many(answer)]
    except MetricError:
        return [answer]


def canonical(name: str) -> str:
    """Return the usual spelling of the name of an algorithm; an unknown name as it is."""
    from harness.algorithms import registry

    with suppress(AlgorithmError):
        return registry.canonical(name)
    return name
