"""The best row of a run, as a config that runs and with the evidence for it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from harness import metrics
from harness._util.arguments import checked
from harness._util.libraries import pd
from harness._util.names import no_name
from harness.config.document import moved
from harness.config.experiment import headline_of, settings_of_one
from harness.config.yaml import as_yaml, folder_of
from harness.datasets.section import name_of_given
from harness.errors import ResultsError, counted, joined, suggestion
from harness.plugins.registry import folded
from harness.results.cells import why_without
from harness.results.folder import name_of
from harness.results.headline import chosen_metric
from harness.results.record import RunInfo
from harness.results.runs import Run
from harness.results.statistics import Answer, PairDifference, RowResult
from harness.results.table import GROUP, best_rows, comparison_of, printable
from harness.results.verdict import Standing, smallest_found
from harness.schema.sections import PATHS

NOT_PERSONALISED = frozenset({"random", "popularity", "itemmean", "normalpredictor"})
"""Algorithms whose estimates do not depend on the user; `folded` writes their names so."""


class Best(NamedTuple):
    """A row of a run with the parameters to use it with.

    Attributes
    ----------
    row : RowResult
        Display names, identities and scores of the row.
    params : dict
        Parameters; of a tuned row, those that `best` selects.
    config : dict
        A config of only this row, with the data, split, candidates, metrics and seeds of the run.
    evidence : list of str
        Sentences: value and interval, rows that are not significantly different, seconds, and how
        the parameters were selected.
    folder : Path
        What paths in the config are relative to.
    """

    row: RowResult
    params: dict[str, Any]
    config: dict[str, Any]
    evidence: list[str]
    folder: Path

    def __repr__(self) -> str:
        params = ", ".join(f"{key}={value!r}" for key, value in self.params.items())
        lines = [f"<Best {printable(self.row.algorithm)}({printable(params)})>", *self.evidence]
        return "\n".join(map(printable, lines))

    if not TYPE_CHECKING:  # type: ignore[misc]  # a checker would take any name for one

        def __getattr__(self, name: str) -> object:
            """Say what to use for a name that a best row does not have."""
            public = [*self._fields, "config_in", "to_yaml"]
            raise AttributeError(no_name("best", "the best row", name, public), name=name, obj=self)

    def _repr_html_(self) -> str:
        title, *evidence = (escape(line) for line in repr(self).split("\n"))
        items = "".join(f"<li>{line}</li>" for line in evidence)
        return f"<p><strong>{title}</strong></p>\n<ul>{items}</ul>"

    def to_yaml(self, folder: str | Path = ".") -> str:
        """Return the config as YAML for a file in a folder, with the evidence as comments."""
        comments = "".join(f"# {printable(sentence)}\n" for sentence in self.evidence)
        return comments + as_yaml(self.config_in(folder))

    def config_in(self, folder: str | Path = ".") -> dict[str, Any]:
        """Return the config with paths relative to a folder."""
        config = dict(self.config)
        for section in ("dataset", "split"):
            config[section] = moved(config[section], self.folder, folder, PATHS)
        return config


@checked(ResultsError)
def best(
    run: Run,
    *,
    metric: str | None = None,
    algorithm: str | None = None,
    dataset: str | None = None,
    split: str | None = None,
    candidates: str | None = None,
) -> Best:
    """Return the best row of a run's table, or the row of a name, as a config.

    Parameters
    ----------
    run : Run
    metric : str, optional
        A label of the run; its headline metric by default. Lower is better where it is an error.
    algorithm : str, optional
        The display name of a row; the best row by default: that with the best value of those that
        no other is significantly better than, for the users that the two share. Rows with a failed
        cell are not the best: their values are of other folds.
    dataset, split, candidates : str, optional
        Display names that select one table of several.

    Returns
    -------
    Best

    Raises
    ------
    ResultsError
        If no row or more than one table fits, the row has a failed cell, or no row has a value.
    MetricError
        If `metric` is not a label.

    Notes
    -----
    A search may find other parameters on every fold. Selected is the setting that was most above
    the setting of the config in validation, on average over the folds on which it was tried; test
    ratings have no part in it.

    Examples
    --------
    >>> import harness
    >>> done = harness.run(
    ...     {
    ...         "dataset": "bundled",
    ...         "algorithms": ["BaselineOnly", "Random"],
    ...         "metrics": ["ndcg@10"],
    ...         "baselines": False,
    ...     },
    ...     results=None,
    ... )
    >>> harness.best(done).config["algorithms"]
    [{'name': 'BaselineOnly', 'params': {}}]
    """
    info = run.info
    label = chosen_metric(metric, info.metrics, f"{info.name}: no metric", info.headline)
    filters = {"dataset": dataset, "split": split, "candidates": candidates}
    fits = [run.table[key] == name for key, name in filters.items() if name is not None]
    table = run.table[np.logical_and.reduce([*fits, run.table["row"] != ""])].set_index("row")
    names = [", ".join(entry) for entry in dict.fromkeys(table[[*filters]].itertuples(index=False))]
    if len(names) != 1:
        shown = "; ".join(names or [", ".join(entry) for entry in info.tables.values()])
        asked = joined([f"{key} {name!r}" for key, name in filters.items() if name is not None])
        fault = "several tables fit" if names else f"no table fits {asked}"
        raise ResultsError(
            f"{info.name}: {fault}; choose by data set, split or candidates: {shown}"
        )
    row = _row(run, table, label, algorithm)
    cells = info.cells_of_rows[row.row]
    if failed := next((cell.error for cell in cells if cell.error), None):
        raise ResultsError(f"{run.name}: {algorithm} failed ({failed}); choose another row")
    titled = {entry.title: entry for entry in info.experiment.algorithms}
    if row.algorithm not in titled:
        raise ResultsError(
            f"{run.name}: {row.algorithm} is a row of another program or run, not an algorithm "
            "of its config; choose another row"
        )
    chosen = titled[row.algorithm]
    params, how = _selected(run, row, seeded="random_state" in chosen.params)
    written = info.experiment.stated()
    suffix = "best" if algorithm is None else re.sub(r"[^A-Za-z0-9._-]+", "-", algorithm)
    config: dict[str, Any] = {"name": f"{name_of(Path(info.name))}-{suffix}"[:80]}
    fields = ("filters", "fallback", "clip", "accelerate")
    config |= {key: written[key] for key in fields if key in written}
    for key in GROUP:
        config[key] = info.section(key, row[key]).stated({"validation"})
    if name_of_given(info.config["dataset"]) is not None:
        config["dataset"] = info.config["dataset"][0]
    config |= {
        "algorithms": [chosen.stated({"search"}) | {"params": params}],
        "metrics": list(dict.fromkeys([label, *info.metrics])),
        "seed": list(info.experiment.seed),
    }
    if headline_of(config["metrics"]) != label:
        config["headline"] = label
    if seeds := info.experiment.seeds.stated({"search"}):  # nothing is searched
        config["seeds"] = seeds
    evidence = [*_evidence(info, table, row, label, leads=algorithm is None), *how]
    if not info.section("candidates", row["candidates"]).is_whole_catalogue:
        began, other = "Chosen by how it orders", "which can have another best row"
        if algorithm is not None or table[label].notna().sum() < 2:
            began, other = "The value is of how it orders", "where other rows can be better"
        evidence.append(
            f"{began} {row.candidates} items; recommendations come from the whole catalogue, "
            f"{other}: run `candidates: catalogue` too."
        )
    alike = next(
        (titles for titles in settings_of_one(info.experiment).values() if row.algorithm in titles),
        [],
    )
    if alike and algorithm is None:
        evidence.append(
            f"Chosen among {len(alike)} settings of {chosen.name} by the test ratings that also "
            "measure it, so its value is optimistic: give one row a `search`, which chooses on a "
            "validation set."
        )
    if folded(chosen.name) in NOT_PERSONALISED:
        evidence.append("It is not personalised: users differ only in what they have rated.")
    module, colon, _ = chosen.name.partition(":")
    if colon:
        beside = "where it is used: beside the config, or installed"
        evidence.append(f"Its class is imported: the module {module} has to be {beside}.")

    folder = folder_of(config, info.config_file or "", run.folder)
    return Best(row, params, config, evidence, folder)


def _row(run: Run, table: pd.DataFrame, label: str, algorithm: str | None) -> RowResult:
    """Return the row of a name, or the best row, of one table whose index are its rows."""
    if algorithm is None:
        comparison = comparison_of(run.info, table["table"].iloc[0], label)
        chosen = best_rows(table, label, comparison)
        reason = why_without(run.info.cells, label)
        fault = f"no row has a value of {label} on every fold{reason}"
    else:
        chosen = table["algorithm"] == algorithm
        fault = f"no row {algorithm!r}; {suggestion(algorithm, table['algorithm'])}"
    if not chosen.any():
        raise ResultsError(f"{run.name}: {fault}")
    return next(entry for entry in run.info.rows if entry.row == chosen.idxmax())


def _evidence(
    info: RunInfo, table: pd.DataFrame, row: RowResult, label: str, *, leads: bool
) -> list[str]:
    """Return where a row comes from, its value, and which rows are similar or better."""
    figures: dict[str, Any] = dict(table.loc[row.row])
    sentence = f"{row.algorithm}: {label} {figures[label]:.4f}"
    contrast = f"Rows were not compared by {label}."
    standing = Standing(info, row.table, label)
    comparison = standing.comparison
    pairs = comparison.pairs_of(row.algorithm) if comparison else {}
    if comparison and pairs:
        low, high = figures[f"{label}_low"], figures[f"{label}_high"]
        settings = info.experiment.statistics
        percent = f"{100 * settings.confidence:g}% " if settings is not None else ""
        level = 1 - settings.confidence if settings is not None else 0.0
        if not math.isnan(low):
            sentence += f" ({percent}interval {low:.4f} to {high:.4f})"
        said: dict[str, list[str]] = {
            "Not significantly different": [],
            "Undecided, test and mean point in opposite directions": [],
            "Significantly better": [],
        }
        equal, contradicted, better = said.values()
        for other, pair in pairs.items():
            users = f" ({counted(pair.n_users, 'common user')})"
            name = other + users * comparison.has_other_users(pair)
            if comparison.favoured(pair) == other:
                better.append(name)
            elif pair.is_contradicted(level):
                contradicted.append(name)
            elif comparison.favoured(pair) is None:
                equal.append(name)
        values = table.set_index("algorithm")[label]
        uncompared = [name for name in values.index if name not in {row.algorithm, *pairs}]
        every = "every other row" + " that was compared" * bool(uncompared)
        contrast = " ".join(f"{verb}: {', '.join(names)}." for verb, names in said.items() if names)
        contrast = contrast or f"Significantly better than {every}."
        contrast += f" Not compared: {', '.join(uncompared)}." * bool(uncompared)
        contrast += _answers(pairs, label, info)
        if not standing.can_decide:
            contrast += " The test cannot decide: too few users differ."
        if users_said := standing.about_users() if leads else "":
            contrast += f" {users_said}"
    seconds = figures["fit_seconds"] + figures["score_seconds"]
    where = f"From the run {info.name}: {', '.join(row.names)}."
    return [where, f"{sentence}; {seconds:.2f} s to fit and score a fold.", contrast]


def _answers(pairs: Mapping[str, PairDifference], label: str, info: RunInfo) -> str:
    """Return the rows by their answer within the margin, or what could have been found."""
    names: dict[Answer, list[str]] = {}
    for other, pair in pairs.items():
        names.setdefault(pair.answer, []).append(other)
    margin = info.experiment.statistics.margin if info.experiment.statistics else None
    said = ""
    if margin is not None:
        about = (
            ("equivalent", f" Within {margin:g} of {label} equivalent to: "),
            ("undecided", " Undecided against: "),
            ("different", " Different from: "),
        )
        said = "".join(
            f"{began}{', '.join(names[answer])}." for answer, began in about if answer in names
        )
    undecided = [pairs[other] for other in names.get("undecided", [])]
    sizes = [pair.detectable for pair in undecided if pair.can_decide and pair.detectable]
    if sizes:
        size = max(sizes)
        said += f" {smallest_found(label, size, f'{size:.2g}', '', 'the run')}"
    return said


def _selected(run: Run, row: RowResult, *, seeded: bool) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a row, and how they were selected.

    A seed that the run derived for a fold is none of them, unless the config is `seeded`.
    """

    def own(params: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in params.items() if seeded or key != "random_state"}

    trials = None if run.trials is None else run.trials[run.trials["row"] == row.row]
    if trials is None or trials.empty:
        return own(run.info.cells_of_rows[row.row][0].params), []
    settings = trials["params"].map(lambda text: json.dumps(own(json.loads(text)), sort_keys=True))
    higher = metrics.parse(run.info.experiment.tuning.metric).higher_is_better
    signed = trials["value"] if higher else -trials["value"]
    searches, level = [trials["seed"], trials["fold"]], "the setting of the config"
    first = signed.where(trials["trial"] == 0).groupby(searches).transform("first")
    if not run.info.experiment.tuning.try_default:
        first, level = signed.groupby(searches).transform("mean"), "the mean of all"
    gains = (signed - first).fillna(-math.inf)
    means = gains.groupby(settings).mean()
    params, label = str(means.idxmax()), run.info.experiment.tuning.metric
    n_folds = len(trials.loc[settings == params, ["seed", "fold"]].drop_duplicates())
    return json.loads(params), [
        f"Parameters: of {counted(len(means), 'setting')} that the search tried, the one furthest "
        f"above {level} in validation {label} (by {means.max():.4f}, on "
        f"{counted(n_folds, 'fold')})."
    ]
