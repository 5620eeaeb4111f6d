"""Which searched parameters the value of a trial depends on, with Optuna."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness import metrics
from harness._util.libraries import pd
from harness.errors import AlgorithmError, ResultsError
from harness.results.fields import AGAIN
from harness.results.record import RunInfo
from harness.results.table import ROW
from harness.schema.sections import Range, SearchSpace

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


BEST = 0.25  # share of the trials of a search that count as good: of 20 trials, five
FEWEST_TRIALS = 20  # with fewer, over all searches of a row, there is no share: it would be chance


def need_optuna(what: str) -> Any:
    """Return Optuna, quiet; an AlgorithmError where it is not installed."""
    try:
        import optuna
    except ImportError:
        raise AlgorithmError(f"{what} needs Optuna; pip install 'surprise-harness[tpe]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def distributions(space: SearchSpace) -> dict[str, BaseDistribution]:
    """Return a search space as Optuna has it."""
    from optuna import distributions as kinds

    by_name: dict[str, BaseDistribution] = {}
    for name, values in space.items():
        if not isinstance(values, Range):
            by_name[name] = kinds.CategoricalDistribution(values)
        elif values.whole:
            by_name[name] = kinds.IntDistribution(int(values.low), int(values.high), log=values.log)
        else:
            by_name[name] = kinds.FloatDistribution(values.low, values.high, log=values.log)
    return by_name


def value_at(params: Mapping[str, Any], path: str) -> Any:
    """Return the value of a dotted name, None where there is none."""
    value: Any = params
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def importance_frame(info: RunInfo, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the shares that `Run.importance` describes."""
    optuna = need_optuna("importance of parameters")
    higher = metrics.parse(info.experiment.tuning.metric).higher_is_better
    searched = {item.title: item.search for item in info.experiment.algorithms} | info.spaces
    rows = []
    for key, every in trials.groupby(list(ROW), sort=False):
        title = str(key[ROW.index("algorithm")])
        space = searched.get(title)
        if not isinstance(space, dict):
            raise ResultsError(f"{info.name}: has no search space of {title}; {AGAIN}")
        own = every[every["trial"] > 0].dropna(subset=["value"])
        # Ranks within each search, from the best: searches of other folds have other levels.
        ranks = own.groupby(["seed", "fold"])["value"].rank(ascending=not higher, pct=True)
        study, known = optuna.create_study(), distributions(space)
        try:
            for params, rank in zip(map(json.loads, own["params"]), ranks, strict=True):
                setting = {name: value_at(params, name) for name in space}
                trial = {"params": setting, "distributions": known, "value": float(rank)}
                study.add_trial(optuna.trial.create_trial(**trial))
        except ValueError as error:
            raise ResultsError(f"{info.name}: a trial of {title}: {error}; {AGAIN}") from None
        shares = dict.fromkeys(space, 0.0)
        if len(own) >= FEWEST_TRIALS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of an interface that may change
                evaluator = optuna.importance.PedAnovaImportanceEvaluator(target_quantile=BEST)
                shares |= evaluator.evaluate(study)
        total = sum(shares.values()) or float("nan")
        rows += [
            dict(zip(ROW, key, strict=True))
            | {"parameter": name, "importance": share / total, "n_trials": len(own)}
            for name, share in sorted(shares.items(), key=lambda item: -item[1])
        ]
    return pd.DataFrame(rows, columns=[*ROW, "parameter", "importance", "n_trials"])
