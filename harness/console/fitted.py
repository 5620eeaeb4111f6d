"""The model of a row of a run or of a config, fitted on all ratings, for commands that use it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
from harness.config.load import load
from harness.config.yaml import bundled
from harness.console import options
from harness.console.screen import say
from harness.errors import HarnessError, ResultsError
from harness.experiment.execute.progress import Stage, in_words

if TYPE_CHECKING:
    from harness.algorithms.trainset import ColumnTrainset
    from harness.results.runs import Run


SAVED = ".zip"
"""The ending of a saved model."""
CONFIG_ENDINGS = (".yaml", ".yml")
SAY_SECONDS = 5.0
"""Seconds between two lines that say how far a stage is."""


def fitted(
    source: str,
    results: Path,
    choice: dict[str, str | None],
    check: Callable[[ColumnTrainset, bool], object] = lambda trainset, clip: None,
    check_model: Callable[[Any], object] = lambda model: None,
    *,
    overrides: Sequence[str] = (),
) -> tuple[Any, bool]:
    """Return the model of a row of a run or of a config, and whether estimates are clipped.

    Parameters
    ----------
    source : str
        A config, a run by its folder or its name, or a model that `harness save` wrote.
    results : Path
        Folder of the runs.
    choice : dict
        Options that choose a table of the run and its row.
    check : callable
        Called with the training set, and whether estimates are clipped, before anything is fitted;
        raises a `HarnessError`.
    check_model : callable
        Called with the model before the ratings are loaded; raises a `HarnessError`.
    overrides : sequence of str
        Changes of a config, as of `harness run`.
    """
    if Path(source).suffix.lower() == SAVED and Path(source).is_file():
        stated = [f"--{key}" for key, value in choice.items() if value]
        if stated or overrides:
            raise HarnessError(
                f"{[*stated, '--set'][0]}: {source} is a saved model; leave the option out"
            )
        model = harness.load_model(source)
        check_model(model)
        check(model.trainset, True)
        return model, True
    origin: Run | str = source
    if Path(source).suffix not in CONFIG_ENDINGS:
        try:
            (origin,) = options.opened((source,), results)
        except ResultsError:
            if source not in bundled() and not Path(source).is_file():
                raise
    if isinstance(origin, str) and any(v for k, v in choice.items() if k != "algorithm"):
        raise HarnessError(
            "--metric, --dataset, --split and --candidates choose a table of a run, and "
            f"{source} is a config; leave them out"
        )

    def note(sentence: str) -> None:
        say(sentence, err=True)

    experiment = (
        load(origin, overrides=overrides)[0] if isinstance(origin, str) else origin.info.experiment
    )
    model = harness.fit_row(
        origin,
        choice.pop("algorithm"),
        overrides=overrides,
        progress=stages(),
        say=note,
        check=lambda trainset: check(trainset, experiment.clip),
        check_model=check_model,
        **choice,
    )
    return model, experiment.clip


def stages() -> Callable[[str, int, int], None]:
    """Return what says a stage when it begins and, every few seconds, how far it is."""
    last, said = "", 0.0

    def progress(stage: str, step: int, total: int) -> None:
        nonlocal last, said
        now = time.monotonic()
        if stage != last or (total and now - said >= SAY_SECONDS):
            say(in_words(Stage("", stage, step, total)) if stage == last else stage, err=True)
            last, said = stage, now

    return progress
