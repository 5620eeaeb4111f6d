"""One row of a run or of a config, fitted on all ratings for use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness._util import seeds
from harness._util.arguments import checked
from harness._util.files import are_there, as_list
from harness.algorithms import registry, surprise
from harness.algorithms.trainset import ColumnTrainset
from harness.comparison.best import best
from harness.config.experiment import Experiment
from harness.datasets.section import OF_LOADED
from harness.errors import AlgorithmError, DataError, HarnessError, suggestion
from harness.experiment.cell import refuse_what_cannot_fit
from harness.experiment.plan import Plan
from harness.models import estimates as models
from harness.models import estimates as numerical_faults
from harness.results.runs import Run

BARE = ("baselines=false", "statistics=null")
"""Changes of a config that leave the rows that are written."""


@checked(HarnessError)
def fit_row(
    source: Run | str | Path | Mapping[str, Any] | Experiment,
    algorithm: str | None = None,
    *,
    ratings: Any = None,
    overrides: Sequence[str] = (),
    progress: Callable[[str, int, int], object] = lambda stage, done, total: None,
    say: Callable[[str], object] = lambda sentence: None,
    check: Callable[[ColumnTrainset], object] = lambda trainset: None,
    check_model: Callable[[surprise.AlgoBase], object] = lambda model: None,
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
    overrides : sequence of str, optional
        Changes of a config, such as ``"algorithms[0].params.k=20"``; a run takes none, because its
        numbers belong to its config.
    progress : callable, optional
        Called with the stage, steps done and steps in all, from time to time.
    say : callable, optional
        Called with each sentence of the evidence for the row of a run.
    check : callable, optional
        Called with the ratings as a training set before the fit; if it raises, nothing is fitted.
    check_model : callable, optional
        Called with the model, not fitted yet, before the ratings are loaded; if it raises, nothing
        is loaded or fitted.
    **table : str
        ``dataset``, ``split``, ``candidates`` or ``metric``, to choose among the tables of a run.

    Returns
    -------
    surprise.AlgoBase
        For `harness.recommend`, `harness.save_model` or ``predict``.

    Raises
    ------
    AlgorithmError
        If several rows could be meant, or none of this name is there; if a config is given with the
        choice of a table, or a run with changes of its config.
    ConfigError
        If the config has problems, or the run was given its data from Python and they are not here.
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
    if unknown := table.keys() - {"dataset", "split", "candidates", "metric"}:
        raise TypeError(f"fit_row() got an unexpected keyword argument {min(unknown)!r}")
    expected = folder = None
    config: Any = source
    if isinstance(source, Run):
        if overrides:
            raise AlgorithmError(
                f"{source.name}: a run was measured with its own config, not a changed one; "
                "write a config with `harness best`, and change that"
            )
        choice = best(source, algorithm=algorithm, **table)
        names = {entry.name: entry.fingerprint for entry in source.info.datasets}
        config, expected, algorithm = dict(choice.config), names[choice.row.dataset], None
        folder, data = choice.folder, config["dataset"]
        if ratings is not None and isinstance(data, dict):  # which have to be those of the run
            config["dataset"] = {key: data[key] for key in OF_LOADED if key in data}
        paths = as_list(data.get("path") or []) if isinstance(data, dict) else []
        if ratings is None and not are_there(paths, folder):
            raise DataError(
                f"{source.name}: its data, {', '.join(paths)}, are not found from here; change "
                f"to the folder where `harness run {source.info.config_file}` was called, or "
                "write a config with `harness best` and correct its path"
            )
        for sentence in choice.evidence:
            say(sentence)
    elif options := ", ".join(key for key, value in table.items() if value is not None):
        raise AlgorithmError(f"{options}: only a run has tables to choose from; leave it out")
    plan = Plan.from_config(
        config,
        # Without a name the rows that are written count, not those that are added to them.
        overrides=(*overrides, *(BARE if algorithm is None else ())),
        ratings=ratings,
        progress=lambda done, total: progress("loading", done, total),
        folder=folder,
    )
    experiment = plan.experiment
    rows = {entry.title: entry for entry in experiment.algorithms}
    if algorithm is None:
        titles = [
            title
            for title, entry in rows.items()
            if len(rows) == 1 or registry.canonical(entry.name) not in ("Random", "Popularity")
        ]
        if len(titles) != 1:
            raise AlgorithmError(
                f"algorithm: the config has {', '.join(rows)}; choose one (--algorithm)"
            )
        algorithm = titles[0]
    if algorithm not in rows:
        raise AlgorithmError(f"algorithm: no row {algorithm!r}; {suggestion(algorithm, rows)}")
    chosen = rows[algorithm]
    if chosen.search is not None:
        raise AlgorithmError(
            f"{algorithm}: its parameters are searched; run the config, "
            "and give the run in place of the config"
        )
    if len(experiment.dataset) > 1:
        raise AlgorithmError("dataset: the config has several; use one, or a run and its best row")
    seed = seeds.derive(experiment.seed[0], "all ratings", chosen.title)
    model = registry.create(chosen.name, chosen.params, seed)
    check_model(model)
    progress("loading", 0, 0)
    data, _ = plan.ratings(0)
    if expected is not None and expected != data.fingerprint:
        raise DataError(
            f"{data.name}: the ratings are not the ratings of the run ({expected[:12]} then, "
            f"{data.fingerprint[:12]} now); run the config again"
        )
    trainset = ColumnTrainset.of_ratings(data)
    check(trainset)
    refuse_what_cannot_fit(chosen.name, chosen.params, trainset)
    progress("fitting", 0, 0)
    how = {"accelerate": experiment.accelerate, "as_surprise": chosen.as_surprise}
    with seeds.global_generators(seed), numerical_faults.report_division_by_zero(model):
        models.fit(model, trainset, progress=lambda n, total: progress("fitting", n, total), **how)
    return model
