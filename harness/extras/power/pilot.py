"""The power of a run that is done, or, from a pilot on a sample of users, of one that is not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.arguments import checked
from harness.config.trackers import UNTRACKED
from harness.errors import ComparisonError, counted
from harness.experiment.execute.progress import Stage, Watch
from harness.experiment.plan import Plan
from harness.experiment.run import default_display, run
from harness.extras.power.analysis import PowerAnalysis, analyse, check_request
from harness.results.reading import read_run
from harness.results.runs import Run
from harness.statistics.standard_error import POWER

if TYPE_CHECKING:
    from harness.config.experiment import Experiment


FEWEST_PILOT = 25
"""Users of a pilot below which variances are not reliable."""


@checked(ComparisonError)
def power(
    run: Run | str | Path | Mapping[str, object] | Experiment,
    *,
    difference: float | None = None,
    power: float = POWER,
    metric: str | None = None,
    pilot: int | None = None,
    overrides: Iterable[str] = (),
    workers: int | None = None,
    watch: Watch | None = None,
) -> PowerAnalysis:
    r"""Say which differences a run can find, and how many users and seeds it needs for one.

    For each pair of algorithms the variances of their difference are taken from the run: between
    users and, where the claim is about algorithms, between seeds and of users under other seeds.
    A design of n users and S seeds finds a true difference with the power of its test, at the
    level that the smallest p-value of all pairs is compared with, so that the power of Holm's
    correction is this or more.

    Parameters
    ----------
    run : Run, path, str, mapping or Experiment
        A run or its folder; with `pilot`, a config as `harness.run` takes it.
    difference : float, optional
        Above 0, in the unit of the metric: how many users, and how many seeds, would be needed to
        find it.
    power : float
        The chance to find a difference that is there, above the level and below 1.
    metric : str, optional
        A mean over users; by default the headline metric.
    pilot : int, optional
        Fit the config on this many users, sampled at random, and say what the whole would find.
    overrides : iterable of str
        ``key.path=value`` each; for a pilot.
    workers : int, optional
        Processes of a pilot.
    watch : callable, optional
        Receives what is being done; by default a notebook shows it.

    Returns
    -------
    PowerAnalysis

    Raises
    ------
    ComparisonError
        If no rows are compared by the metric, the test is Nadeau and Bengio's, users are not
        the same under each seed, or a number is out of its range.
    ResultsError, ConfigError, DataError
        If there is no such run or metric, or the config cannot be run.

    References
    ----------
    .. [1] T. Sakai, *Topic set size design*, Information Retrieval Journal 19, 2016,
       doi:10.1007/s10791-015-9273-z.

    Examples
    --------
    >>> import harness
    >>> done = harness.run({
    ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
    ...     "algorithms": ["BaselineOnly", "Random"], "metrics": ["ndcg@5"], "baselines": False},
    ...     results=None)
    >>> found = harness.power(done, difference=0.02)
    >>> found.pairs[["n_users", "users_needed"]].astype(int).values.tolist()
    [[39, 350]]
    """
    with default_display() if watch is None else nullcontext(watch) as shown:
        if pilot is None:
            whole, scale = _opened(run), 1.0
        else:
            check = partial(check_request, difference=difference, power=power, metric=metric)
            whole, scale = _pilot(run, pilot, list(overrides), workers, shown, check)
        return analyse(
            whole,
            difference=difference,
            power=power,
            metric=metric,
            scale=scale,
            pilot=pilot,
            progress=lambda done, total: shown(Stage("", "power", done, total)),
        )


def _opened(run: Run | str | Path | Mapping[str, object] | Experiment) -> Run:
    """Return a run that is done."""
    if isinstance(run, Run):
        return run
    if not isinstance(run, str | os.PathLike):
        raise ComparisonError(
            f"power: a {type(run).__name__} and no pilot; give a run, or `pilot=500` with a config"
        )

    return read_run(Path(run))


def _pilot(
    config: Run | str | Path | Mapping[str, object] | Experiment,
    n_users: int,
    overrides: list[str],
    workers: int | None,
    watch: Watch,
    check: Callable[[Experiment, list[str]], object],
) -> tuple[Run, float]:
    """Run a config on a sample of users; return the run and how many times larger the whole is.

    `check` is called with the experiment and the labels of its metrics before anything is fitted.
    """
    if isinstance(config, Run):
        raise ComparisonError("power: a run and a pilot; give a config, or leave `pilot` out")
    if n_users < FEWEST_PILOT:
        raise ComparisonError(f"power: a pilot of {n_users} users; use {FEWEST_PILOT} or more")

    plan = Plan.from_config(config, overrides=overrides)
    experiment = plan.experiment
    check(experiment, [*map(str, plan.metrics)])
    if len(experiment.dataset) > 1:
        raise ComparisonError("power: a pilot of several data sets; give a config of one")
    if any(section.from_files for section in experiment.split):
        raise ComparisonError(
            "power: a pilot of a split that files hold; use a split that the harness makes"
        )
    n_all = plan.ratings(0)[0].n_users
    if n_users >= n_all:
        raise ComparisonError(
            f"power: a pilot of {counted(n_users, 'user')} of {n_all:,}; use fewer, or run the "
            "whole"
        )
    filters = [section.stated() for section in experiment.filters]
    filters.append({"kind": "sample-users", "n": n_users})
    sample = f"filters={json.dumps(filters)}"
    stated = [*overrides, sample, UNTRACKED]
    sampled = run(config, results=None, overrides=stated, workers=workers, watch=watch)
    return sampled, n_all / n_users
