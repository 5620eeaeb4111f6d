"""Checks of a config's metrics against the data, before anything is fitted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from harness import evaluation, metrics
from harness.candidates import CandidatesSection, Catalogue, Rated, Sampled
from harness.config.document import Document
from harness.config.experiment import Experiment
from harness.config.load import repeated
from harness.errors import ConfigError, MetricError
from harness.experiment.plan import requested_metrics
from harness.experiment.workspace import Workspace
from harness.metrics import Metric, Rankings
from harness.splits import Split

__all__ = ["check_relevance", "check_tables", "notes_before_fit"]


def check_tables(experiment: Experiment, workspace: Workspace, document: Document) -> None:
    """Refuse entries of a config that give the same table: equal data, or equal splits.

    Parameters
    ----------
    experiment : Experiment
    workspace : Workspace
        Loads the data and makes the splits.
    document : Document
        Knows the lines of the entries.

    Raises
    ------
    ConfigError
        It names both entries.
    """
    seen: dict[str, tuple[int, int, int]] = {}
    for place in itertools.product(
        range(len(experiment.dataset)),
        range(len(experiment.split)),
        range(len(experiment.candidates)),
    ):
        first = seen.setdefault(workspace.table(*place)["table"], place)
        for key, how, one, other in zip(
            ("dataset", "split"),
            ("holds the same ratings as", "has the same training and test parts as"),
            first,
            place,
            strict=False,
        ):
            if one != other:
                fault = repeated(document, key, one, other, how)
                raise ConfigError(document.source, [fault])


def check_relevance(experiment: Experiment, workspace: Workspace) -> None:
    """Refuse data whose ratings a metric of the config does not define.

    All ratings are checked, so that the result, and the
    offset that the message suggests, do not depend on the split.

    Parameters
    ----------
    experiment : Experiment
    workspace : Workspace
        Loads the data.

    Raises
    ------
    MetricError
        If a metric has no gain for some rating: a negative one, one beyond the table of gains or
        above ``max`` of err, or one so large that 2 to its power is no number.
    """
    import pandas as pd

    wanted = list(requested_metrics(experiment))
    if any(algorithm.search is not None for algorithm in experiment.algorithms):
        wanted.append(metrics.parse(experiment.tuning.metric))
    for position in range(len(experiment.dataset)):
        ratings, _ = workspace.ratings(position)
        relevance = np.sort(pd.unique(ratings.ratings))
        if relevance[0] < 0:  # suggest an offset that suits the whole scale
            relevance = np.append(relevance, min(relevance[0], ratings.scale[0]))
        for metric in wanted:
            try:
                metrics.check_relevance(metric, relevance)
            except MetricError as error:
                low, high = ratings.scale
                raise MetricError(
                    f"{ratings.name}, rated from {low:g} to {high:g}: {error}"
                ) from None


def notes_before_fit(experiment: Experiment, workspace: Workspace) -> list[str]:
    """Return which metrics of a config cannot distinguish algorithms on its test lists.

    Parameters
    ----------
    experiment : Experiment
    workspace : Workspace
        Loads the data and makes the splits; the first fold under the first seed is looked at.

    Returns
    -------
    list of str
        A sentence each; those of several tables begin with the table's data, split and candidates.
    """
    wanted = requested_metrics(experiment)
    places = list(
        itertools.product(
            range(len(experiment.dataset)),
            range(len(experiment.split)),
            range(len(experiment.candidates)),
        )
    )
    notes = []
    for dataset, split, candidates_number in places:
        made = workspace.splits(dataset, split, experiment.seed[0])[0]
        section = experiment.candidates[candidates_number]
        names = workspace.table(dataset, split, candidates_number)
        where = f"{names['dataset']}, {names['split']}, {names['candidates']}: "
        notes += [
            (where if len(places) > 1 else "") + note
            for note in _undistinguished(wanted, _test_lists(section, made))
        ]
    return notes


def _undistinguished(wanted: tuple[Metric, ...], lists: Rankings) -> Iterator[str]:
    for metric in wanted:
        reason = evaluation.cannot_distinguish(metric, lists)
        if reason:
            yield f"{metric} cannot distinguish algorithms: {reason}"


def _test_lists(section: CandidatesSection, split: Split) -> Rankings:
    """Return the lists of a split in no particular order: all candidates of a user are tied."""
    rule = section if isinstance(section, Rated) else Catalogue(unknown_users=section.unknown_users)
    asked = rule.select(split, seed=0)
    ratings, kept = split.ratings, asked.kept
    owners = np.repeat(np.arange(asked.n_users), np.diff(asked.offsets))[asked.known]
    counts = n_ranked = np.bincount(owners, minlength=asked.n_users)
    if not isinstance(section, Rated):
        n_items = len(np.unique(ratings.items[split.train]))
        seen = np.bincount(ratings.users[split.train], minlength=ratings.n_users)[asked.users]
        if isinstance(section, Sampled):
            n_ranked = np.minimum(counts + section.n, n_items - seen)
        else:
            n_ranked = n_items - seen * (section.training_items == "drop")
    offsets = np.concatenate(([0], np.cumsum(counts[kept])))
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts[kept]) + 1
    relevance = asked.ratings[asked.known][kept[owners]]
    return Rankings(offsets, relevance, rank, rank, rank, np.maximum(n_ranked, counts)[kept])
