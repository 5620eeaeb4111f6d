"""The best row of a run, as a config that runs and with the evidence for it."""

from __future__ import annotations

import io
import json
import math
import os
import re
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from harness import metrics
from harness.config.experiment import GIVEN
from harness.errors import ResultsError, counted, suggestion
from harness.results.record import AlgorithmMean, CellResult, MetricComparison, RowResult, RunInfo
from harness.results.runs import Run, best_of
from harness.sections import folded

__all__ = ["NOT_PERSONALISED", "Best", "best"]

NOT_PERSONALISED = frozenset({"random", "popularity", "itemmean", "normalpredictor"})
"""Algorithms whose estimates do not depend on the user, as `folded` writes their names."""


class Best(NamedTuple):
    """A row of a run with the parameters to use it with.

    Attributes
    ----------
    row : RowResult
        Display names, identities and scores of the row.
    params : dict
        Parameters; of a tuned row, those that `best` selects.
    config : dict
        A config of this row alone, with the data, split, candidates, metrics and seeds of the run.
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

    def to_yaml(self, folder: str | Path = ".") -> str:
        """Return the config as YAML for a file in a folder, with the evidence as comments."""
        comments = "".join(f"# {sentence}\n" for sentence in self.evidence)
        text = io.StringIO()
        YAML().dump(self.config_in(folder), text)
        return comments + text.getvalue()

    def config_in(self, folder: str | Path = ".") -> dict[str, Any]:
        """Return the config with paths relative to a folder."""
        config = dict(self.config)
        for section in ("dataset", "split"):
            config[section] = self._moved(config[section], folder)
        return config

    def _moved(self, entry: Any, folder: str | Path) -> Any:
        """Return a part of the config with its paths, at any depth, relative to a folder."""
        if not isinstance(entry, dict):
            return entry
        moved = {key: self._moved(value, folder) for key, value in entry.items()}
        if "path" in moved:
            moved["path"] = Path(os.path.relpath(self.folder / moved["path"], folder)).as_posix()
        return moved


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
        A label of the run; its first metric by default. Lower is better where it is an error.
    algorithm : str, optional
        The display name of a row; the best row by default. Rows with a failed cell are not the
        best: their values are of other folds.
    dataset, split, candidates : str, optional
        Display names that select one table of several.

    Returns
    -------
    Best

    Raises
    ------
    ResultsError
        If no row or more than one table fits, the row has a failed cell, or no row has a value.

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
    label = _label(info, metric)
    rows = _rows_of_one_table(info, {"dataset": dataset, "split": split, "candidates": candidates})
    cells = info.cells_of_rows
    if algorithm is not None:
        named = {row.algorithm: row for row in rows}
        if algorithm not in named:
            raise ResultsError(f"{run.name}: no row {algorithm!r}; {suggestion(algorithm, named)}")
        row = named[algorithm]
        failed = [cell.error for cell in cells[row.row] if cell.error]
        if failed:
            raise ResultsError(f"{run.name}: {algorithm} failed ({failed[0]}); choose another row")
    else:
        values = [
            {
                label: _number(each.scores[label]),
                "n_failed": sum(bool(c.error) for c in cells[each.row]),
            }
            for each in rows
        ]
        positions = best_of(values, label)
        if not positions:
            raise ResultsError(f"{run.name}: no row has a value of {label} on every fold")
        row = rows[positions[0]]
    finished = [cell for cell in cells[row.row] if isinstance(cell, CellResult)]
    titled = {each.title: each for each in info.experiment.algorithms}
    if row.algorithm not in titled:
        raise ResultsError(
            f"{run.name}: {row.algorithm} is no algorithm of its config but a row of another "
            "program or run; choose another row"
        )
    chosen = titled[row.algorithm]
    params, how = _selected(run, row, finished, seeded="random_state" in chosen.params)
    algorithm_entry: dict[str, Any] = {"name": chosen.name, "params": params}
    if chosen.label:
        algorithm_entry["label"] = chosen.label
    written = info.experiment.model_dump(mode="json", exclude_defaults=True)
    which = "best" if algorithm is None else re.sub(r"[^A-Za-z0-9._-]+", "-", algorithm)
    config: dict[str, Any] = {"name": f"{info.name}-{which}"[:80]}
    kept = ("filters", "fallback", "clip", "accelerate")
    config |= {key: written[key] for key in kept if key in written}
    places = {
        "dataset": [each.name for each in info.datasets].index(row.dataset),
        "split": list(dict.fromkeys(each.split for each in info.splits)).index(row.split),
        "candidates": list(dict.fromkeys(each.candidates for each in info.rows)).index(
            row.candidates
        ),
    }
    for key, place in places.items():
        section = getattr(info.experiment, key)[place]
        entry = section.model_dump(mode="json", exclude_defaults=True, exclude={"validation"})
        kind = {"kind": section.kind} if hasattr(section, "kind") else {}
        config[key] = kind | entry
    if info.config["dataset"] and str(info.config["dataset"][0]).startswith(GIVEN):
        config["dataset"] = info.config["dataset"][0]
    config |= {
        "algorithms": [algorithm_entry],
        "metrics": list(dict.fromkeys([label, *info.metrics])),
        "seed": list(info.experiment.seed),
    }
    config |= {"seeds": written["seeds"]} if "seeds" in written else {}
    from harness.config.load import folder_of  # with it comes Surprise, which pages do not need

    folder = folder_of(config, info.config_file or "", run.folder)
    evidence = [*_evidence(info, row, label, finished), *how, *_cautions(row, chosen.name, config)]
    return Best(row, params, config, evidence, folder)


def _compared(compared: MetricComparison, own: AlgorithmMean) -> str:
    """Return which rows are similar, and which are significantly better."""
    higher = metrics.parse(compared.metric).higher_is_better
    similar, better = [], []
    for each in compared.algorithms:
        if each.row == own.row:
            continue
        if set(each.letters) & set(own.letters) - {"."}:
            similar.append(each.algorithm)
        elif (_number(each.mean) > _number(own.mean)) == higher:
            better.append(each.algorithm)
    said = [f"Not significantly different: {', '.join(similar)}."] if similar else []
    said += [f"Significantly better: {', '.join(better)}."] if better else []
    return " ".join(said) or "Significantly better than every other row."


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _label(info: RunInfo, metric: str | None) -> str:
    if metric is None:
        return info.metrics[0]
    label = str(metrics.parse(metric))
    if label not in info.metrics:
        raise ResultsError(f"{info.name}: no metric {metric!r}; {suggestion(metric, info.metrics)}")
    return label


def _rows_of_one_table(info: RunInfo, wanted: dict[str, str | None]) -> list[RowResult]:
    rows = [
        row
        for row in info.rows
        if all(name is None or getattr(row, key) == name for key, name in wanted.items())
    ]
    tables = {row.table: ", ".join(row.names) for row in rows}
    if len(tables) != 1:
        shown = "; ".join(tables.values() or [", ".join(each) for each in info.tables.values()])
        what = "several tables fit" if tables else "no table fits"
        raise ResultsError(f"{info.name}: {what}; choose by data set, split or candidates: {shown}")
    return rows


def _selected(
    run: Run, row: RowResult, cells: list[CellResult], *, seeded: bool
) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a row, and how they were selected.

    A seed that the run derived for a fold is none of them, unless the config is `seeded`.
    """

    def own(params: dict[str, Any]) -> dict[str, Any]:
        return {key: each for key, each in params.items() if seeded or key != "random_state"}

    trials = None if run.trials is None else run.trials[run.trials["row"] == row.row]
    if trials is None or trials.empty:
        return own(cells[0].params), []
    settings = trials["params"].map(lambda text: json.dumps(own(json.loads(text)), sort_keys=True))
    higher = metrics.parse(run.info.experiment.tuning.metric).higher_is_better
    signed = trials["value"] if higher else -trials["value"]
    first = signed.where(trials["trial"] == 0)
    searches = [trials["seed"], trials["fold"]]
    gains = (signed - first.groupby(searches).transform("first")).fillna(-math.inf)
    means = gains.groupby(settings).mean()
    params = str(means.idxmax())
    n_folds = len(trials.loc[settings == params, ["seed", "fold"]].drop_duplicates())
    label = run.info.experiment.tuning.metric
    n_settings = settings.nunique()
    return json.loads(params), [
        f"Parameters: of {counted(n_settings, 'setting')} that the search tried, the one furthest "
        f"above the setting of the config in validation {label} (by {means.max():.4f}, on "
        f"{counted(n_folds, 'fold')})."
    ]


def _cautions(row: RowResult, name: str, config: dict[str, Any]) -> list[str]:
    """Return what the reader of recommendations should know."""
    found = []
    if config["candidates"]["kind"] != "catalogue":
        found.append(
            f"Chosen by how it orders {row.candidates} items; recommendations come from the whole "
            "catalogue, which can have another best row: run `candidates: catalogue` too."
        )
    if folded(name) in NOT_PERSONALISED:
        found.append("It is not personalised: users differ only in what they have rated.")
    return found


def _evidence(info: RunInfo, row: RowResult, label: str, cells: list[CellResult]) -> list[str]:
    value = row.scores[label]
    sentence = f"{row.algorithm}: {label} {_number(value):.4f}"
    others = f"Rows were not compared by {label}."
    for compared in info.statistics:
        if compared.table != row.table or compared.metric != label:
            continue
        own = next(each for each in compared.algorithms if each.row == row.row)
        if own.low is not None and own.high is not None:
            level = info.experiment.statistics
            percent = f"{100 * level.confidence:g}% " if level is not None else ""
            sentence += f" ({percent}interval over users {own.low:.4f} to {own.high:.4f})"
        others = _compared(compared, own)
    seconds = sum(cell.fit_seconds + cell.score_seconds for cell in cells) / len(cells)
    return [
        f"From the run {info.name}: {', '.join(row.names)}.",
        f"{sentence}; {seconds:.2f} s to fit and score a fold.",
        others,
    ]
