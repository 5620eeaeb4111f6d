"""A run: its results table as numbers and as text, and its folder, checked when it is read."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from harness import metrics
from harness.errors import ResultsError, suggestion
from harness.files import digest_of, read_regular, replace_folder, restore_folder
from harness.results.record import (
    AGAIN,
    AnyCell,
    Bound,
    CellResult,
    FailedCell,
    RunInfo,
    read_info,
    to_json,
)
from harness.results.scores import deviation, mean_or_none

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from harness.results.outputs import OutputFiles

GROUP = ("dataset", "split", "candidates")
"""What a table is called."""
ROW = (*GROUP, "algorithm", "table", "row")
"""Display names and identities of a row."""
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")
BOUNDS: dict[Bound, str] = {"best": "best possible order", "random": "random order, expected"}
"""What the bounds of a table are called."""

NO_ROOM = 1e-12
"""Best and random order that differ by no more are the same."""

DEFAULT_DECIMALS = 4
"""If the uncertainty of a number is unknown."""
MOST_DECIMALS = 7
ERRORS_IN_INTERVAL = 2 * 1.96
"""Standard errors between the ends of a 95% interval."""

RUN_FILE = "run.json"
USERS_FILE = "users.parquet"
GROUPS_FILES = ("groups.csv", "gaps.csv")
TRIALS_FILE = "trials.parquet"
LISTS_FILE = "lists.parquet"
ESTIMATES_FILE = "estimates.parquet"
DERIVED = ("report.html",)
"""Files that are made from a run's files, and are outdated when these are replaced."""
Kind = Literal["word", "count", "number"]
"""What a column of a Parquet file holds."""
CELL: dict[str, Kind] = {**dict.fromkeys(ROW, "word"), "seed": "count", "fold": "count"}
"""Columns that say which cell a row is of."""
TRIAL: dict[str, Kind] = {
    "trial": "count",
    "params": "word",
    "value": "number",
    "seconds": "number",
    "error": "word",
}
OUTPUTS: dict[str, dict[str, Kind]] = {
    LISTS_FILE: {"user": "word", "rank": "count", "item": "word", "estimate": "number"},
    ESTIMATES_FILE: {
        **dict.fromkeys(("user", "item"), "word"),
        **dict.fromkeys(("estimate", "rating"), "number"),
        **dict.fromkeys(("rank", "tie_low", "tie_high", "n_ranked"), "count"),
    },
}
"""Files that a run has where its config asks for them: their columns beside those of the cell."""
TABLE_FILES = {"table.csv", "bounds.csv", "table.md"}
WRITTEN = {RUN_FILE, USERS_FILE, TRIALS_FILE, *OUTPUTS, *TABLE_FILES, *GROUPS_FILES, *DERIVED}
"""A folder with nothing else is a run's, even if its ``run.json`` is damaged."""

SHARE_OF_MEMORY = 0.5
BYTES_PER_VALUE = 16
"""Most bytes of a value while a table is read: itself and its copy for pandas."""


class Run:
    """One experiment, done.

    Parameters
    ----------
    info : RunInfo
        What ``run.json`` holds: config, data, splits, seeds, versions, machine, cells.
    users : DataFrame, optional
        One row for each cell and test user: ``dataset``, ``split``, ``candidates``,
        ``algorithm``, ``table`` and ``row``, their identities, ``seed``, ``fold``, ``user`` and a
        column for each metric label, NaN where the metric is undefined. Read from the
        folder on first use.
    folder : Path, optional
        Where it is on disk.
    trials : DataFrame, optional
        One row for each setting that a search tried: where, ``trial``, ``params`` (JSON),
        ``value``, ``seconds``, ``error``; None when nothing was tuned.
    outputs : OutputFiles, optional
        The lists and estimates, where the config asks for them and they are not yet in the folder.
    """

    def __init__(
        self,
        info: RunInfo,
        users: pd.DataFrame | None = None,
        folder: Path | None = None,
        trials: pd.DataFrame | None = None,
        outputs: OutputFiles | None = None,
    ) -> None:
        self.info = info
        self.folder = folder
        self._users = users
        self._trials = trials
        self._outputs = outputs

    @property
    def name(self) -> str:
        """Name of the run."""
        return self.info.name

    @cached_property
    def table(self) -> pd.DataFrame:
        """The results table: a row for each algorithm, data set, split and candidates.

        Columns are ``algorithm``; ``dataset``, ``split``, ``candidates``; for each metric its
        label, the value: for a metric that is a mean of users' scores the mean over users of each
        user's average over folds and seeds, for any other the mean over folds and seeds; with
        ``<label>_sd``, the standard deviation of the folds' and seeds' means where there are
        several, and, where users were compared, ``<label>_low`` and ``<label>_high``, the interval
        over users, and ``<label>_letters``, one in common where two algorithms do not differ
        significantly; where parameters were searched, ``tuned``, the settings found, ``n_trials``
        and ``search_seconds``, summed over cells; ``fit_seconds``, ``score_seconds``,
        ``metric_seconds``: mean seconds a cell; ``peak_mb``, the largest; ``n_users``; ``n_cells``,
        those that finished, and ``n_failed``; ``error``, empty when every cell finished; ``table``
        and ``row``, the identities that ``run.users``, ``run.bounds`` and other runs use.
        """
        import pandas as pd

        return pd.DataFrame(_result_rows(self.info))

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """What the best order and, on average, a random order of the same items would score.

        Columns are ``bound``; ``dataset``, ``split``, ``candidates``; for each metric its label,
        averaged like the algorithms' values, NaN where it has no bounds, with ``<label>_sd`` as
        they have; ``table``.
        """
        return _bounds_table(self.info)

    @cached_property
    def room(self) -> pd.DataFrame:
        """The table's values as shares of the room between a random (0) and the best order (1).

        Columns are ``algorithm``; ``dataset``, ``split``, ``candidates``; for each metric its
        label, NaN where it has no bounds; ``table`` and ``row``.
        """
        shares = self.table[["algorithm", *GROUP, *self.info.metrics, "table", "row"]].copy()
        tables, bounds = list(self.info.tables), self.bounds.set_index(["bound", "table"])
        for label in self.info.metrics:
            low, high = (
                shares["table"].map({each: bounds[label].get((name, each)) for each in tables})
                for name in (BOUNDS["random"], BOUNDS["best"])
            )
            room = (high - low).astype(float)
            shares[label] = (shares[label] - low) / room.where(room.abs() > NO_ROOM)
        return shares

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every difference of two algorithms by every metric that was compared.

        Columns are ``metric``; ``dataset``, ``split``, ``candidates``; ``claim``, whether the test
        is about algorithms or these fitted models; and what `statistics.Comparison` has of pairs;
        ``equivalent`` is None without a margin.
        """
        import pandas as pd

        return pd.DataFrame(
            {"metric": each.metric} | {key: each[key] for key in (*GROUP, "claim")} | dict(pair)
            for each in self.info.statistics
            for pair in each.pairs
        )

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The values in groups of users and items: a row for each algorithm, group and metric.

        Columns are ``dataset``, ``split``, ``candidates``; ``side`` (users or items) and ``by``, as
        in the config; ``metric``, ``group``, ``algorithm``; ``value``, the mean over users of each
        user's average over folds and seeds, ``low`` and ``high``, its interval, and ``letters``;
        ``rest``, the value less that of everybody, or everything, else, with ``rest_low`` and
        ``rest_high``; ``random``, what a random order is expected to score; ``n_users`` with a
        score, ``n_left_out`` without, and ``n_members``: test users, or items with a test rating;
        ``table`` and ``row``. Empty without groups.
        """
        from harness.results.group_tables import groups_frame

        return groups_frame(self.info)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """The gaps between groups: a row for each algorithm, division into groups and metric.

        Columns are those of `groups` with, in place of the group, ``greatest`` and ``least``, the
        groups of most and least value among those of 30 users or more, their ``difference``, and
        ``low`` and ``high``, its interval.
        """
        from harness.results.group_tables import gaps_frame

        return gaps_frame(self.info)

    @cached_property
    def users(self) -> pd.DataFrame:
        """One row for each cell and test user."""
        if self._users is not None:
            return self._users
        scores: dict[str, Kind] = dict.fromkeys(self.info.metrics, "number")
        return self._read(USERS_FILE, {**CELL, "user": "word", **scores})

    @cached_property
    def trials(self) -> pd.DataFrame | None:
        """One row for each setting that a search tried, None when nothing was tuned."""
        if self._trials is not None or TRIALS_FILE not in self.info.files:
            return self._trials
        return self._read(TRIALS_FILE, CELL | TRIAL)

    def budget(self) -> pd.DataFrame:
        """Return how the best validation score of each tuned row grows with the number of trials.

        Returns
        -------
        DataFrame
            Columns ``dataset``, ``split``, ``candidates``, ``algorithm``, ``table`` and ``row``;
            ``trials``, from 0, the setting of the config alone; ``value``, the best value of
            ``tuning.metric`` among the first so many trials of a search, averaged over folds and
            seeds. A search that ended earlier keeps its best; one without a score so far is left
            out of the mean, NaN where all are.

        Raises
        ------
        ResultsError
            If nothing was tuned.

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": [{"name": "ItemMean", "search": {"damping": [1.0, 10.0]}}],
        ...     "metrics": ["rmse"], "tuning": {"metric": "rmse"}}, results=None)
        >>> run.budget()["trials"].tolist()
        [0, 1, 2]
        """
        trials = self._tried()
        higher = metrics.parse(self.info.experiment.tuning.metric).higher_is_better
        own = {"index": list(CELL), "columns": "trial", "values": "value"}
        searches = trials.pivot(**own).ffill(axis=1)  # noqa: PD010 - it would drop NaN
        best = searches.cummax(axis=1) if higher else searches.cummin(axis=1)
        means = best.groupby(list(ROW), sort=False).mean().reset_index()
        long = means.melt(list(ROW), var_name="trials", value_name="value", ignore_index=False)
        return long.sort_index(kind="stable").reset_index(drop=True)

    def importance(self) -> pd.DataFrame:
        """Return how much each parameter of each tuned row decides whether a trial is a good one.

        Good are the best quarter of the trials of each search, by ``tuning.metric``. The share of
        a parameter is the part that it alone explains of the variance of being good, divided by
        the sum of these parts: over its values, the mean of (p / q - 1)², where p is the density
        of good trials and q that of all. Both are kernel estimates by Optuna (S. Watanabe, A.
        Bansal and F. Hutter 2023, *PED-ANOVA*, doi:10.48550/arXiv.2304.10255).

        Returns
        -------
        DataFrame
            Columns ``dataset``, ``split``, ``candidates``, ``algorithm``, ``table`` and ``row``;
            ``parameter``, as in the search space; ``importance``, from 0 to 1, that of a row in
            descending order, NaN with fewer than 20 trials or where all values are equal;
            ``n_trials`` with a value, over folds and seeds, without the setting of the config.

        Raises
        ------
        ResultsError
            If nothing was tuned, or the run does not hold its search space.
        AlgorithmError
            If Optuna is not installed (the extra ``tpe``).

        Examples
        --------
        >>> import harness
        >>> run = harness.run({
        ...     "dataset": {"synthetic": {"n_users": 50, "n_items": 40, "n_ratings": 800}},
        ...     "algorithms": [{"name": "ItemMean", "search": {"damping": {"low": 1, "high": 99}}}],
        ...     "metrics": ["rmse"], "tuning": {"trials": 20, "metric": "rmse"}}, results=None)
        >>> run.importance()[["algorithm", "parameter", "importance", "n_trials"]].values.tolist()
        [['ItemMean', 'damping', 1.0, 20]]
        """
        from harness.results.importance import importance_frame

        return importance_frame(self.info, self._tried())

    def _tried(self) -> pd.DataFrame:
        if self.trials is None or self.trials.empty:
            raise ResultsError(f"{self.name}: nothing was tuned; give a row of the config a search")
        return self.trials

    @property
    def lists(self) -> pd.DataFrame:
        """The first items of each test user's list in each cell.

        Columns are those that say which cell, as in ``users``; ``user``; ``rank`` from 1; ``item``;
        ``estimate``. Items of equal estimate are in an order that depends on the ids of user and
        item alone. A ResultsError where the config has no ``outputs: {lists: 10}``.
        """
        return self._read(LISTS_FILE, CELL | OUTPUTS[LISTS_FILE])

    @property
    def estimates(self) -> pd.DataFrame:
        """Every test rating with its estimate in each cell.

        Columns are those that say which cell, as in ``users``; ``user``; ``item``; ``estimate``;
        ``rating``; ``rank`` in the user's list (equal estimates in input order), 0 for an item that
        is no candidate, -1 for one that does not count in the ideal order either; ``tie_low`` and
        ``tie_high``, first and last rank of its group of equal estimates; ``n_ranked``, length of
        the list, -1 for a user whose list is not evaluated. A ResultsError where the config has no
        ``outputs: {estimates: true}``.
        """
        return self._read(ESTIMATES_FILE, CELL | OUTPUTS[ESTIMATES_FILE])

    def path(self, name: str) -> Path:
        """Return where a file of the run is; a ResultsError where the run has none."""
        if self._outputs is not None and name in self._outputs.paths:
            return self._outputs.paths[name]
        if self.folder is None or name not in self.info.files:
            key = {LISTS_FILE: "lists: 10", ESTIMATES_FILE: "estimates: true"}.get(name)
            advice = f"add `outputs: {{{key}}}` to its config, and run it" if key else AGAIN
            raise ResultsError(f"{self.name}: has no {name}; {advice}")
        return self.folder / name

    def _read(self, name: str, columns: dict[str, Kind]) -> pd.DataFrame:
        path = self.path(name)
        if name in self.info.files:
            _check_file(path, self.info.files[name])
        (frame,) = read_parts(path, columns, whole=True)
        cells = {tuple(cell[key] for key in CELL) for cell in self.info.cells}
        if not cells.issuperset(frame[list(CELL)].drop_duplicates().itertuples(index=False)):
            raise ResultsError(f"{path}: has rows of cells that {RUN_FILE} does not have; {AGAIN}")
        return frame

    @property
    def failed(self) -> list[FailedCell]:
        """The cells that did not come to an end."""
        return self.info.failed

    def _repr_html_(self) -> str:
        return str(display_table(self.info).frame.to_html(index=False, escape=True))

    def write(self, results: Path) -> Run:
        """Write the run to ``results/<name>/``, replacing an older one, completely or not at all.

        Returns
        -------
        Run
            The same, knowing its folder.

        Raises
        ------
        ResultsError
            If the folder cannot be written.
        """
        files: dict[str, bytes | Path] = {
            "table.csv": to_csv(self.info).encode("utf-8", "replace"),
            "bounds.csv": bounds_to_csv(self.info).encode("utf-8", "replace"),
            "table.md": to_markdown(self.info).encode("utf-8", "replace"),
            USERS_FILE: self.users.to_parquet(index=False, compression="zstd"),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = self.trials.to_parquet(index=False, compression="zstd")
        if self.info.groups:
            for name, frame in zip(GROUPS_FILES, (self.groups, self.gaps), strict=True):
                files[name] = _csv(frame.copy()).encode("utf-8", "replace")
        for name in OUTPUTS:
            with suppress(ResultsError):
                files[name] = self.path(name)
        digests = {
            name: digest_of(data) if isinstance(data, Path) else hashlib.sha256(data).hexdigest()
            for name, data in files.items()
        }
        info = self.info.model_copy(update={"files": digests})
        files[RUN_FILE] = to_json(info)
        folder = results / self.name
        try:
            check_replaceable(folder)
            replace_folder(folder, files, own_names)
        except OSError as error:
            raise ResultsError(
                f"{results}: cannot write the results ({(error.strerror or str(error)).lower()}); "
                "finished cells are kept: fix it and run again, or use --results DIR"
            ) from None
        return Run(info, self.users, folder, self.trials)


def _result_rows(info: RunInfo) -> list[dict[str, Any]]:
    """Return the results table, as `Run.table` describes it."""
    searched = any(cell.n_trials is not None for cell in info.cells)
    compared = {
        (each.table, each.metric): {mean.row: mean for mean in each.algorithms}
        for each in info.statistics
    }
    letters = {metric for _, metric in compared}
    several = _has_several_cells(info)
    cells_of = info.cells_of_rows
    rows = []
    for entry in info.rows:
        cells = cells_of[entry.row]
        good = [cell for cell in cells if isinstance(cell, CellResult)]
        row: dict[str, Any] = {key: entry[key] for key in ("algorithm", *GROUP)}
        for label in info.metrics:
            row[label] = _or_nan(entry.scores[label])
            if several:
                row[f"{label}_sd"] = _or_nan(
                    deviation([_or_nan(cell.scores[label].mean) for cell in good])
                )
            if label in letters:
                found = compared.get((entry.table, label), {}).get(entry.row)
                row[f"{label}_low"] = _or_nan(found.low if found else None)
                row[f"{label}_high"] = _or_nan(found.high if found else None)
                row[f"{label}_letters"] = found.letters if found else ""
        if searched:
            found_params = (
                {key: value for key, value in cell.params.items() if key != "random_state"}
                for cell in good
                if cell.n_trials is not None
            )
            settings = (json.dumps(params, sort_keys=True) for params in found_params)
            row["tuned"] = "; ".join(dict.fromkeys(settings))
            row["n_trials"] = sum(cell.n_trials or 0 for cell in good)
            row["search_seconds"] = math.fsum(cell.search_seconds or 0.0 for cell in good)
        for column in TIMES:
            row[column] = _or_nan(mean_or_none([cell[column] for cell in good]))
        row["peak_mb"] = max((cell.peak_mb for cell in good), default=math.nan)
        row["n_users"] = max((cell.n_users for cell in good), default=0)
        row["n_cells"], row["n_failed"] = len(good), len(cells) - len(good)
        row["error"] = _errors(cells)
        rows.append(row | {"table": entry.table, "row": entry.row})
    return rows


def _bounds_table(info: RunInfo) -> pd.DataFrame:
    """Return the table of bounds, as `Run.bounds` describes it."""
    import pandas as pd

    several = _has_several_cells(info)
    rows = []
    for entry in info.bounds:
        row: dict[str, object] = {
            "bound": BOUNDS[entry.bound],
            **{key: entry[key] for key in GROUP},
        }
        for label in info.metrics:
            row[label] = _or_nan(entry.scores.get(label))
            if several:
                row[f"{label}_sd"] = _or_nan(entry.deviations.get(label))
        rows.append(row | {"table": entry.table})
    return pd.DataFrame(rows, columns=None if rows else ["bound", *GROUP, *info.metrics, "table"])


def _has_several_cells(info: RunInfo) -> bool:
    return any(len(cells) > 1 for cells in info.cells_of_rows.values())


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _errors(cells: Sequence[AnyCell]) -> str:
    """Return why cells failed, as ``fold 1: out of memory; folds 2, 3: no``."""
    folds: dict[str, dict[str, None]] = {}
    for cell in cells:
        if cell.error:
            folds.setdefault(cell.error, {})[str(cell.fold + 1)] = None
    if not any(cell.n_folds > 1 for cell in cells):
        return "; ".join(folds)
    return "; ".join(
        f"fold{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}: {error}"
        for error, numbers in folds.items()
    )


def best_of(rows: Sequence[Mapping[Any, Any]], label: str) -> list[int]:
    """Return the positions of the best rows of a table: one, or several that are equal.

    Algorithms with a failed cell are excluded: their values are of other folds.
    """
    values = {
        i: row[label]
        for i, row in enumerate(rows)
        if not row["n_failed"] and not math.isnan(row[label])
    }
    choose = max if metrics.parse(label).higher_is_better else min
    best = choose(values.values(), default=None)
    return [i for i, value in values.items() if value == best]


def row_name(row: Mapping[Any, Any]) -> str:
    """Return the name of a row of a results table, as ``SVD (4 of 7 cells)`` where 3 failed."""
    if not (row["n_cells"] and row["n_failed"]):
        return str(row["algorithm"])
    return f"{row['algorithm']} ({row['n_cells']} of {row['n_cells'] + row['n_failed']} cells)"


def decimals(errors: Iterable[float]) -> int:
    """Return the decimals that show the median standard error with two digits, from 0 to 7.

    Errors of 0 and NaN are ignored. Without any, the default is 4 decimals.
    """
    known = [each for each in errors if math.isfinite(each) and each > 0]
    if not known:
        return DEFAULT_DECIMALS
    # The error as it is written with two digits decides: 0.0996 becomes 0.10, not 0.100.
    exponent = int(f"{median(known):.1e}".partition("e")[2])
    return min(max(1 - exponent, 0), MOST_DECIMALS)


def column_decimals(info: RunInfo) -> dict[tuple[str, str], int]:
    """Return the decimals of metrics by table and label, from the intervals over users.

    A metric without intervals is missing; it gets `DEFAULT_DECIMALS`.
    """
    return {
        (entry.table, entry.metric): decimals(
            (row.high - row.low) / ERRORS_IN_INTERVAL
            for row in entry.algorithms
            if row.low is not None and row.high is not None
        )
        for entry in info.statistics
    }


def rounded(value: float | None, places: int) -> str:
    """Return a number as text without the sign of a zero, nothing where there is none."""
    if value is None or math.isnan(value):
        return ""
    text = f"{value:.{places}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


@dataclass(frozen=True, eq=False)
class DisplayTable:
    """The results table as text."""

    frame: pd.DataFrame
    """Of strings, bounds below each table, without empty columns."""
    bounds: list[int]
    """Which rows are bounds."""
    best: dict[str, list[int]]
    """By metric, the rows with the best value of their table, unless they are alone in it."""


def display_table(info: RunInfo) -> DisplayTable:
    """Return the results table as text.

    Each metric has, within one data set, split and candidates, the decimals that its uncertainty
    allows; see `decimals`.
    """
    import pandas as pd

    results = _result_rows(info)
    bounds: list[dict[Any, Any]] = _bounds_table(info).to_dict(orient="records")
    rows: list[dict[Any, Any]] = []
    best: dict[str, list[int]] = {label: [] for label in info.metrics}
    for table in info.tables:
        own = [row for row in results if row["table"] == table]
        for label, found in best.items():
            found += [len(rows) + i for i in best_of(own, label) if len(own) > 1]
        rows += [*own, *(bound for bound in bounds if bound["table"] == table)]
    is_bound = ["bound" in row for row in rows]
    digits = column_decimals(info)
    shown: dict[str, Sequence[str]] = {
        "algorithm": [row["bound"] if "bound" in row else row_name(row) for row in rows]
    }
    for column in GROUP:
        if len({row[column] for row in rows}) > 1:
            shown[column] = [row[column] for row in rows]
    for label in info.metrics:
        places = [digits.get((row["table"], label), DEFAULT_DECIMALS) for row in rows]
        numbers = [
            _with_spread(row[label], row.get(f"{label}_sd"), own, max(places))
            for row, own in zip(rows, places, strict=True)
        ]
        if any(f"{label}_letters" in row for row in rows):
            letters = [row.get(f"{label}_letters", "") for row in rows]
            # Padded, so that the numbers stay under each other.
            widths = max(map(len, numbers)), max(map(len, letters))
            numbers = [
                f"{number:>{widths[0]}} {marks:<{widths[1]}}"
                for number, marks in zip(numbers, letters, strict=True)
            ]
        shown[label] = numbers
    if "n_trials" in rows[0]:
        for title, column, form in (
            ("trials", "n_trials", "d"),
            ("search s", "search_seconds", ".1f"),
        ):
            shown[title] = [format(row[column], form) if row.get("tuned") else "" for row in rows]
    for column in TIMES:
        shown[column.replace("_seconds", " s")] = [rounded(row.get(column), 2) for row in rows]
    shown["peak MB"] = [rounded(row.get("peak_mb"), 0) for row in rows]
    shown["users"] = [str(row.get("n_users") or "") for row in rows]
    if any(row.get("error") for row in rows):
        shown["error"] = [row.get("error", "") for row in rows]
    return DisplayTable(pd.DataFrame(shown), [i for i, each in enumerate(is_bound) if each], best)


def _with_spread(value: float, spread: float | None, places: int, widest: int) -> str:
    """Return a number, padded to align decimal points, and its spread."""
    missing = widest - places + (places == 0 < widest)
    padded = [text + " " * missing for each in (value, spread) if (text := rounded(each, places))]
    return " ± ".join(padded)


def to_markdown(info: RunInfo) -> str:
    """Return ``table.md``: what was run, the table, and the notes under it."""
    lines = [
        f"# {escape_markdown(info.name)}",
        "",
        *([escape_markdown(info.description), ""] if info.description else []),
        escape_markdown(headline(info)),
        "",
        *markdown_table(display_table(info).frame, {"algorithm", "error", *GROUP}),
        *([""] if info.notes else []),
        *(f"- {escape_markdown(note)}" for note in info.notes),
    ]
    return "\n".join(lines) + "\n"


def markdown_table(frame: pd.DataFrame, words: Collection[str]) -> list[str]:
    """Return the lines of a table of texts; columns of `words` are aligned to the left."""
    rows = [
        list(frame.columns),
        ["---" if column in words else "---:" for column in frame.columns],
        *frame.itertuples(index=False),
    ]
    return ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in rows]


def headline(info: RunInfo) -> str:
    """Return one line: data, split, candidates, seeds."""
    parts = [" and ".join(dict.fromkeys(row[key] for row in info.rows)) for key in GROUP]
    return f"data: {parts[0]}; split: {parts[1]}; candidates: {parts[2]}; seed: {info.seeds_text}"


def escape_markdown(text: object) -> str:
    """Return text escaped for Markdown."""
    shown = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(str(text).split()))
    return shown.replace("&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")


def to_csv(info: RunInfo) -> str:
    """Return ``table.csv``: metrics to eight decimals, so that equal runs are equal bytes."""
    import pandas as pd

    return _csv(pd.DataFrame(_result_rows(info)))


def bounds_to_csv(info: RunInfo) -> str:
    """Return ``bounds.csv``: what the best and a random order would score."""
    return _csv(_bounds_table(info))


def _csv(table: pd.DataFrame) -> str:
    forms = dict.fromkeys((*TIMES, "search_seconds"), "{:.3f}") | {"peak_mb": "{:.0f}"}
    for name in table.select_dtypes("float").columns:
        table[name] = table[name].map(forms.get(name, "{:.8f}").format, na_action="ignore")
    return frame_to_csv(table)


def as_text(value: Any) -> Any:
    """Return a cell of a CSV file so that a spreadsheet takes text for text, not for a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
    in front, unless it is a number. Everything else stays as it is.
    """
    if not isinstance(value, str) or value[:1] not in tuple("=+-@\t\r"):
        return value
    return value if re.fullmatch(r"[+-]\d*\.?\d+(e[+-]?\d+)?", value) else f"'{value}"


def frame_to_csv(frame: pd.DataFrame, float_format: str | None = None) -> str:
    """Return a table as CSV, text as `as_text` has it."""
    words = {
        str(name): column.map(as_text) for name, column in frame.items() if column.dtype.kind == "O"
    }
    table = frame.assign(**words)
    return str(table.to_csv(index=False, lineterminator="\n", float_format=float_format))


def read_run(folder: Path | str) -> Run:
    """Read a run back, checked against the hashes that were written with it.

    Parameters
    ----------
    folder : Path or str
        ``results/<name>``.

    Raises
    ------
    ResultsError
        If there is no run, a file is missing or changed, or another version wrote it.
    """
    folder = Path(folder)
    before = _stamp(folder)
    try:
        return _read_run(folder)
    except ResultsError:
        if _stamp(folder) == before:
            raise
        return _read_run(folder)  # it was replaced while it was read


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return what changes when a folder is replaced."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read_run(folder: Path) -> Run:
    restore_folder(folder, own_names)
    path = folder / RUN_FILE
    if not path.is_file():
        known = [each.name for each in find_runs(folder.parent)]
        hint = suggestion(folder.name, known) if known else "run a config first"
        raise ResultsError(f"{folder}: no run there; {hint}")
    info = read_info(path)
    for name, digest in info.files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ResultsError(f"{folder / name}: missing; {AGAIN}")
        _check_file(folder / name, digest)
    return Run(info, folder=folder)


def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name."""
    if not results.is_dir():
        return []
    found = (path for path in results.glob(f"*/{RUN_FILE}") if path.is_file())
    return sorted(path.parent for path in found if not path.parent.name.startswith("."))


def open_run(name: str, results: Path) -> Run:
    """Return a run by its folder, its ``run.json`` or, within `results`, its name."""
    path = Path(name)
    if path.name == RUN_FILE:
        path = path.parent
    if (path / RUN_FILE).is_file():
        return read_run(path)
    known = {run.name: run for run in find_runs(results)}
    if name in known:
        return read_run(known[name])
    hint = suggestion(name, known) if known else "run a config first"
    hint += "" if hint.endswith("?") else ", or give the folder of a run"
    raise ResultsError(f"{name}: no run of this name in {results}/; {hint}")


def _check_file(path: Path, digest: str) -> None:
    """Compare a file with the SHA-256 that was noted when it was written."""
    try:
        found = digest_of(path)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
    if found != digest:
        raise ResultsError(f"{path}: changed since it was written; {AGAIN}")


def read_parts(
    path: Path, columns: Mapping[str, Kind], *, whole: bool = False
) -> Iterator[pd.DataFrame]:
    """Read these columns of a table that may come from anybody, by row group or as a whole."""
    import psutil
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            every = range(file.num_row_groups)
            groups = [[*every]] if whole else [[each] for each in every]
            sizes = [file.metadata.row_group(each).num_rows for each in every]
            most = sum(sizes) if whole else max(sizes, default=0)
            needed = BYTES_PER_VALUE * most * len(columns)
            if needed > SHARE_OF_MEMORY * psutil.virtual_memory().available:
                raise ResultsError(f"{path}: would take {needed / 1e9:.0f} GB; free memory first")
            schema = file.schema_arrow
            for name, kind in columns.items():
                if schema.names.count(name) != 1 or not _holds(schema.field(name).type, kind):
                    raise ResultsError(f"{path}: no column {name!r}; {AGAIN}")
            for group in groups:
                # What the file says of pandas is not needed, and may be anything.
                table = file.read_row_groups(group, columns=list(columns))
                frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
                for name, kind in columns.items():
                    if kind == "number" and frame[name].abs().max() == math.inf:
                        raise ResultsError(f"{path}: an infinite number in {name!r}; {AGAIN}")
                yield frame[list(columns)]
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise ResultsError(f"{path}: not a table ({reason}); {AGAIN}") from None


def _holds(found: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_null(found):  # nothing in it
        return True
    if types.is_dictionary(found):
        found = found.value_type
    if kind == "word":
        return bool(types.is_string(found) or types.is_large_string(found))
    return bool(types.is_integer(found) if kind == "count" else types.is_floating(found))


def check_replaceable(folder: Path) -> None:
    """Refuse an existing path that has files but no run."""
    known = WRITTEN | {"plots"}
    if not folder.exists():
        return
    if folder.is_dir() and known.issuperset(each.name for each in folder.iterdir()):
        return
    if "schema_version" not in _description(folder):
        raise ResultsError(
            f"{folder}: has files, and no run that the harness wrote; "
            "give the run another name, or use --results DIR"
        )


def own_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder that a run wrote and that are unchanged."""
    written = _description(folder).get("files", {})
    names = {RUN_FILE, *DERIVED}
    for name, digest in written.items() if isinstance(written, dict) else ():
        with suppress(OSError):
            if digest_of(folder / name) == digest:
                names.add(name)
    return names


def _description(folder: Path) -> dict[str, object]:
    """Return what a folder's ``run.json`` holds; nothing where it is missing or another format."""
    try:
        found = json.loads(read_regular(folder / RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
