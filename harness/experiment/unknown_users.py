"""Notes on how users without training ratings are answered; imported where some are tested."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from harness.algorithms import registry
from harness.config.experiment import Experiment
from harness.experiment.cell import FALLBACKS
from harness.notes import Note


def notes_on_answers(experiment: Experiment) -> Iterator[Note]:
    """Note how users without training ratings are answered, equal answers together."""
    answers: dict[str, list[str]] = defaultdict(list)
    for algorithm in experiment.algorithms:
        entry = registry.entry(algorithm.name)
        if entry.is_personal:
            answers[entry.unknown_user].append(algorithm.title)
    if experiment.fallback == "default":
        stated = "; ".join(f"{', '.join(names)}: {answer}" for answer, names in answers.items())
        if stated:
            yield Note("unknown-users-answered", {"answers": stated})
    else:
        fallback = experiment.fallback
        yield Note("fallback", {"algorithm": FALLBACKS[fallback], "fallback": fallback})
