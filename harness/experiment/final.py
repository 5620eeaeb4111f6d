"""A model for use: one row of a run or of a config, fitted on all ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness import datasets, seeds
from harness.algorithms import models, registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.config.experiment import Experiment
from harness.errors import AlgorithmError, DataError, suggestion
from harness.experiment.cell import refuse_what_cannot_fit
from harness.experiment.plan import Plan
from harness.results.best import best
from harness.results.runs import Run

__all__ = ["fit_row"]


def fit_row(
    source: Run | str | Path | Mapping[str, Any] | Experiment,
    algorithm: str | None = None,
    *,
    ratings: Any = None,
    progress: Callable[[str, int, int], object] = lambda stage, done, total: None,
    say: Callable[[str], object] = lambda sentence: None,
    **table: str | None,
) -> surprise.AlgoBase:
    """Fit one row of a run or of a config on all ratings, training and test alike.

    Parameters
    ----------
    source : Run, path, mapping or Experiment
        A run, or a config with one data set; its splits and metrics are not used.
    algorithm : str, optional
        The display name of a row. By default the best row of a run, see `harness.best`, or the only
        algorithm of a config.
    ratings : Ratings, DataFrame or surprise.Dataset, optional
        Loaded data, in place of the data set; needed where a run was given its data from Python.
    progress : callable, optional
        Called with the stage, steps done and steps in all, from time to time.
    say : callable, optional
        Called with each sentence of the evidence for the row of a run.
    **table : str
        ``dataset``, ``split``, ``candidates`` or ``metric``, to choose among the tables of a run.

    Returns
    -------
    surprise.AlgoBase
        For `harness.recommend`, `harness.save_model` or ``predict``.

    Raises
    ------
    AlgorithmError
        If several rows could be meant, or none of this name is there.
    CapacityError
        If the algorithm needs more memory than is free.
    DataError
        If the data are not those that the run was made with.
    ResultsError
        As from `harness.best`.

    Notes
    -----
    A row that a search tuned has the parameters of `harness.best`; a config with a search has to be
    run first. A seed that the parameters do not set is derived from the run's first seed by name.

    Examples
    --------
    >>> import harness
    >>> model = harness.fit_row({"dataset": "bundled", "algorithms": ["ItemMean"],
    ...                          "metrics": ["rmse"], "baselines": False})
    >>> round(float(model.predict("1", "31").est), 3)
    3.179
    """
    expected = folder = None
    config: Any = source
    if isinstance(source, Run):
        found = best(source, algorithm=algorithm, **table)
        names = {each.name: each.fingerprint for each in source.info.datasets}
        config, expected, algorithm = dict(found.config), names[found.row.dataset], None
        folder, data = found.folder, config["dataset"]
        data_path = Path(data.get("path", "")) if isinstance(data, dict) else Path()
        if ratings is None and not (folder / data_path.expanduser()).exists():
            raise DataError(
                f"{source.name}: its data, {data_path}, are not found from here; change to the "
                f"folder in which `harness run {source.info.config_file}` was called, or write a "
                "config with `harness best` and correct its path"
            )
        for sentence in found.evidence:
            say(sentence)
        config |= {"baselines": False, "statistics": None}
    plan = Plan.from_config(
        config,
        # Without a name the rows that are written count, not those that are added to them.
        overrides=("baselines=false", "statistics=null") if algorithm is None else (),
        ratings=None if ratings is None else datasets.load(ratings),
        progress=lambda done, total: progress("loading", done, total),
        folder=folder,
    )
    experiment = plan.experiment
    rows = {each.title: each for each in experiment.algorithms}
    if algorithm is None:
        wanted = [
            title
            for title, each in rows.items()
            if len(rows) == 1 or registry.canonical(each.name) not in ("Random", "Popularity")
        ]
        if len(wanted) != 1:
            raise AlgorithmError(
                f"algorithm: the config has {', '.join(rows)}; choose one (--algorithm)"
            )
        algorithm = wanted[0]
    if algorithm not in rows:
        raise AlgorithmError(f"algorithm: no row {algorithm!r}; {suggestion(algorithm, rows)}")
    chosen = rows[algorithm]
    if chosen.search is not None:
        raise AlgorithmError(f"{algorithm}: its parameters are searched; run the config first")
    if len(experiment.dataset) > 1:
        raise AlgorithmError("dataset: the config has several; use one, or a run and its best row")
    progress("loading", 0, 0)
    data, _ = plan.ratings(0)
    if expected is not None and expected != data.fingerprint:
        raise DataError(
            f"{data.name}: the ratings are not those of the run ({expected[:12]} then, "
            f"{data.fingerprint[:12]} now); run the config again"
        )
    trainset = ColumnTrainset.of_ratings(data)
    seed = seeds.derive(experiment.seed[0], "all ratings", chosen.title)
    refuse_what_cannot_fit(chosen.name, chosen.params, trainset)
    model = registry.create(chosen.name, chosen.params, seed)
    progress("fitting", 0, 0)
    how = {"accelerate": experiment.accelerate, "as_surprise": chosen.as_surprise}
    with seeds.global_generators(seed):
        models.fit(model, trainset, progress=lambda n, total: progress("fitting", n, total), **how)
    return model
