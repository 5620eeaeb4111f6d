"""What a run can find: the smallest difference of each pair, and the users or seeds it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from harness import metrics
from harness._util.libraries import pd
from harness._util.names import Named
from harness.comparison.best import NOT_PERSONALISED
from harness.comparison.inference import Design, UserScores
from harness.config.experiment import Claim, Experiment, Inference
from harness.errors import ComparisonError, counted
from harness.plugins.registry import folded
from harness.results.headline import chosen_metric
from harness.results.runs import Run
from harness.results.scores import is_mean_of_users
from harness.results.statistics import MetricComparison
from harness.results.table import GROUP
from harness.statistics import SEED_TESTS, sample_size
from harness.statistics.corrections import CORRECTIONS
from harness.statistics.standard_error import POWER

NO_NUMBER = "no number"
"""What stands where no number of users, or of seeds, is enough."""
FEW_SEEDS = 20
"""Below it the variance between seeds is rough: dev/benchmarks/power_study.py."""


@dataclass(frozen=True, eq=False)
class PowerAnalysis(Named):
    """What tests of a run can find.

    Parameters
    ----------
    pairs : DataFrame
        A row for each pair of algorithms: ``dataset``, ``split``, ``candidates``; ``first`` and
        ``second``; the mean ``difference`` of the run; ``with_baseline``, whether one of the two is
        not personalised, as Random, whose difference from a model varies in another way than that
        of two models; ``detectable``, the smallest true difference
        that is found with the power; ``n_users`` and ``n_seeds`` of the design (0 seeds where the
        claim is about fitted models); ``power``, with which `difference` is found, and
        ``users_needed`` and ``seeds_needed`` for it, each with the other number as it is: NaN where
        no number is enough, or where seeds have no part. These three only with a difference.
    metric : str
        Label of the metric.
    claim : {"models", "algorithms"}
        What the tests are about.
    difference : float or None
        The difference that is asked for, in the unit of the metric.
    power : float
        The power that is asked for, in (0, 1).
    level : float
        Level of one test: the run's level, divided by the number of pairs if they are corrected.
    pilot : int or None
        Users of the sample that was fitted, where the numbers are about a larger run.
    notes : list of str
        What changes how the numbers are read.
    """

    pairs: pd.DataFrame
    metric: str
    claim: Claim
    difference: float | None
    power: float
    level: float
    pilot: int | None = None
    notes: list[str] = field(default_factory=list)

    _guessed = (None, "the analysis")

    def sentences(self) -> list[str]:
        """Return the answer as text, what is asked for first; numbers name their pairs."""
        pairs = self.pairs
        ordered = pairs.sort_values("detectable", kind="stable")
        smallest, largest = ordered.iloc[0], ordered.iloc[-1]
        low, high = (f"{end['detectable']:.4g}" for end in (smallest, largest))
        sizes = low
        if low != high:
            sizes = f"{low} ({self._named(smallest)}) to {high} ({self._named(largest)})"
        design = counted(int(pairs["n_users"].max()), "user")
        if self.claim == "algorithms":
            design += f" and {counted(int(pairs['n_seeds'].max()), 'seed')}"
        power = f"{100 * self.power:.4g}%"
        whole = "this run" if self.pilot is None else "the whole run"
        said = [
            f"The smallest difference in {self.metric} that {whole} ({design}) finds with a power "
            f"of {power} is {sizes}."
        ]
        least, most = metrics.parse(self.metric).range
        if smallest["detectable"] > most - least:
            said[0] += f" {self.metric} lies between {least:g} and {most:g}: none can be found."
        if self.difference is not None:
            said.insert(
                0,
                f"A difference of {self.difference:g} in {self.metric} is found with a power of "
                f"{power} for {self._answer(pairs)}.",
            )
            models = pairs[~pairs["with_baseline"]]
            if 0 < len(models) < len(pairs):
                said.insert(1, f"Without baselines it is found for {self._answer(models)}.")
        return said

    def _answer(self, pairs: pd.DataFrame) -> str:
        """Return for how many of some pairs the difference is found, and what all of them need."""
        enough = int((pairs["detectable"] <= self.difference).sum())
        said = f"{enough} of {counted(len(pairs), 'pair')}"
        if enough == len(pairs):
            return said
        needs = []
        for noun in ("user", "seed") if self.claim == "algorithms" else ("user",):
            numbers = pairs[f"{noun}s_needed"].fillna(math.inf)
            most = float(numbers.max())
            number = f"{counted(int(most), noun)} are" if most < math.inf else ""
            of = f" ({self._named(pairs.iloc[int(numbers.argmax())])})" * (len(pairs) > 1)
            needs.append(f"{number or f'{NO_NUMBER} of {noun}s is'} enough{of}")
        which = "all of them" if len(pairs) > 1 else "it"
        return f"{said}; for {which} {', or '.join(needs)}"

    def _named(self, pair: pd.Series) -> str:
        """Return the two rows of a pair, and its table where there are several."""
        where = [str(pair[key]) for key in GROUP if self.pairs[key].nunique() > 1]
        return ", ".join([f"{pair['first']} and {pair['second']}", *where])

    def to_dict(self) -> dict[str, object]:
        """Return the answer as plain data that JSON holds; None where no number is enough."""
        rows = [
            {
                key: None if isinstance(value, float) and math.isnan(value) else value
                for key, value in row.items()
            }
            for row in self.pairs.to_dict("records")
        ]
        keys = ("metric", "claim", "difference", "power", "level", "pilot", "notes")
        return {key: getattr(self, key) for key in keys} | {"pairs": rows}


def check_request(
    experiment: Experiment,
    labels: Sequence[str],
    *,
    difference: float | None,
    power: float,
    metric: str | None,
) -> str:
    """Return the label of the metric, or refuse what no run of an experiment can answer.

    Parameters
    ----------
    experiment : Experiment
    labels : sequence of str
        The metrics of its run.
    difference, power, metric
        As of `harness.power`.

    Raises
    ------
    ComparisonError
        For a number out of its range, a metric that is not a mean over users, and a test that is
        not over users.
    ResultsError
        If there is no such metric.
    """
    name = experiment.name
    if difference is not None and not 0 < difference < math.inf:
        raise ComparisonError(f"power: difference {difference}; use one above 0, such as 0.005")
    if not 0 < power < 1:
        raise ComparisonError(f"power: {power}; use a chance above the level, such as 0.8")
    label = chosen_metric(metric, labels, f"{name}: no metric", experiment.headline)
    if not is_mean_of_users(metrics.parse(label)):
        raise ComparisonError(
            f"{name}: {label} is not a mean over users, which the tests need; choose another metric"
        )
    if (experiment.statistics or Inference()).test == "nadeau-bengio":
        raise ComparisonError(
            f"{name}: `test: nadeau-bengio` is over folds, not over users; use `test: two-way` "
            "and several seeds, or a test over users"
        )
    return label


def analyse(
    run: Run,
    *,
    difference: float | None = None,
    power: float = POWER,
    metric: str | None = None,
    scale: float = 1.0,
    pilot: int | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> PowerAnalysis:
    """Return what the tests of a run can find, or of a run with `scale` times its users.

    `progress` is called with the number of pairs that are done, and of all.
    """
    label = check_request(
        run.info.experiment,
        run.info.metrics,
        difference=difference,
        power=power,
        metric=metric,
    )
    settings = run.info.experiment.statistics or Inference()
    compared = [entry for entry in run.info.statistics if entry.metric == label]
    if not compared:
        raise ComparisonError(
            f"{run.name}: no rows are compared by {label}; run two algorithms or more, with "
            "`statistics`"
        )
    n_counted = max(len(entry.pairs) for entry in compared)
    level = (1 - settings.confidence) / CORRECTIONS[settings.correction].n_counted(n_counted)
    if not level < power < 1:
        raise ComparisonError(f"power: {power}; use a chance above the level, such as 0.8")
    rows, n_pairs = list[dict[str, object]](), sum(len(entry.pairs) for entry in compared)
    for comparison in compared:
        for row in _pairs(run, comparison, settings, difference, power, scale):
            rows.append(row)
            progress(len(rows), n_pairs)
    claim = compared[0].claim
    notes = []
    if settings.test == "wilcoxon":
        notes.append("the power is computed for the t-test; Wilcoxon's test can have more or less")
    if claim == "models":
        notes.append(
            "the tests are about these fitted models, so seeds have no part; a run of five seeds "
            "is about the algorithms, and says how many seeds are needed"
        )
    elif len(run.info.seeds) < FEW_SEEDS:
        notes.append(
            f"the variance between seeds is of {counted(len(run.info.seeds), 'seed')}, so these "
            "numbers are rough: the power reached can be seven points lower"
        )
    if pilot is not None:
        notes.append(
            f"the variances come from models of {counted(pilot, 'user')}; models of more users "
            "can differ less or more"
        )
    return PowerAnalysis(pd.DataFrame(rows), label, claim, difference, power, level, pilot, notes)


def _pairs(
    run: Run,
    comparison: MetricComparison,
    settings: Inference,
    difference: float | None,
    power: float,
    scale: float,
) -> Iterator[dict[str, object]]:
    """Yield what is known of each pair of a table."""
    label, over_seeds = comparison.metric, comparison.claim == "algorithms"
    rows = {mean.algorithm: mean.row for mean in comparison.algorithms}
    users = run.users
    scores = UserScores(users[users["table"] == comparison.table])
    identities = list(rows.values())
    means = scores.means(label, identities)
    by_seed = None
    if over_seeds:
        cells = [cell for cell in run.info.cells if cell.row in identities]
        design = Design.of(cells, run.info.experiment.draws)
        is_scored: NDArray[np.bool_] = np.any(~np.isnan(means), axis=0)
        by_seed = design.by_part(scores, label, identities, is_scored, SEED_TESTS[0])
    baselines = {
        entry.title
        for entry in run.info.experiment.algorithms
        if folded(entry.name) in NOT_PERSONALISED
    }
    place = {name: number for number, name in enumerate(rows)}
    n_pairs = CORRECTIONS[settings.correction].n_counted(len(comparison.pairs))
    level = (1 - settings.confidence) / n_pairs
    for pair in comparison.pairs:
        one, other = place[pair.first], place[pair.second]
        if by_seed is None:
            differences, n_seeds = means[one] - means[other], None
        else:
            differences, n_seeds = (by_seed[..., one] - by_seed[..., other]).T, len(by_seed)
            complete = int((~np.isnan(differences)).all(axis=1).sum())
            if complete < max(2, pair.n_users / 2):
                raise ComparisonError(
                    f"{comparison.place(run.info.tables) or run.name}: {complete} of "
                    f"{counted(pair.n_users, 'user')} have a score under every seed, too few for "
                    "variances; use a split that tests the same users under each seed"
                )
        variances = sample_size.spread(differences)
        n_users = max(2, round(scale * pair.n_users))
        row: dict[str, object] = {key: comparison[key] for key in GROUP}
        row |= {"first": pair.first, "second": pair.second, "difference": pair.difference}
        row["with_baseline"] = not baselines.isdisjoint((pair.first, pair.second))
        row["detectable"] = sample_size.detectable(variances, n_users, n_seeds, level, power)
        row |= {"n_users": n_users, "n_seeds": n_seeds or 0}
        if difference is not None:
            row["power"] = sample_size.reached(difference, variances, n_users, n_seeds, level)
            row["users_needed"] = _number(
                sample_size.users_needed(difference, variances, n_seeds, level, power)
            )
            row["seeds_needed"] = math.nan
            if n_seeds is not None:
                row["seeds_needed"] = _number(
                    sample_size.seeds_needed(difference, variances, n_users, level, power)
                )
        yield row


def _number(value: int | None) -> float:
    return math.nan if value is None else float(value)


def columns(analysis: PowerAnalysis) -> tuple[Sequence[str], list[list[str]]]:
    """Return titles and rows of texts."""
    pairs = analysis.pairs
    names = [key for key in GROUP if pairs[key].nunique() > 1]
    titles = [*names, "first", "second", "difference", "detectable"]
    needs = []
    if analysis.difference is not None:
        needs = ["users_needed", *["seeds_needed"] * (analysis.claim == "algorithms")]
        titles += ["power", *(name.replace("_", " ") for name in needs)]
    rows = []
    for row in pairs.to_dict("records"):
        texts = [str(row[key]) for key in (*names, "first", "second")]
        texts += [f"{row['difference']:.4f}", f"{row['detectable']:.4f}"]
        if analysis.difference is not None:
            texts.append(f"{100 * row['power']:.1f}%")
        for name in needs:
            texts.append(NO_NUMBER if math.isnan(row[name]) else f"{row[name]:,.0f}")
        rows.append(texts)
    return titles, rows
