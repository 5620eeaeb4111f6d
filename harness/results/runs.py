"""A run: its tables as frames, and its folder, checked when it is read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic_core import from_json

from harness import metrics
from harness.errors import ResultsError, reason_of, suggestion
from harness.files import (
    digest_of,
    refuse_below_file,
    replace_folder,
    report_os_error,
    restore_folder,
)
from harness.lazy import pa, pd, pq, psutil
from harness.results import display
from harness.results.cells import FailedCell
from harness.results.display import BOUNDS, GROUP, ROW
from harness.results.history import (
    RUN_FILE,
    differences,
    earlier_runs,
    name_of,
    place_of_earlier,
    record_in,
)
from harness.results.markdown import to_markdown
from harness.results.notebook import SessionViews
from harness.results.record import AGAIN, RunInfo, read_info, to_json

if TYPE_CHECKING:
    from harness.results.outputs import OutputFiles

NO_ROOM = 1e-12  # best and random order that differ by no more are the same

USERS_FILE = "users.parquet"
GROUPS_FILES = ("groups.csv", "gaps.csv")
TRIALS_FILE = "trials.parquet"
LISTS_FILE = "lists.parquet"
ESTIMATES_FILE = "estimates.parquet"
DERIVED = ("report.html",)  # made from a run's files, and outdated when these are replaced
Kind = Literal["word", "count", "number"]  # what a column of a Parquet file holds
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
"""A folder with ``run.json`` and nothing else but these is a run's, even if that is damaged."""

SHARE_OF_MEMORY = 0.5
BYTES_PER_VALUE = 16  # most bytes of a value while a table is read: itself and its copy for pandas


class Run(SessionViews):
    """One experiment, done.

    Parameters
    ----------
    info : RunInfo
        What ``run.json`` holds: config, data, splits, seeds, versions, machine, cells.
    users : DataFrame, optional
        One row for each cell and evaluated user: ``dataset``, ``split``, ``candidates``,
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

    Attributes
    ----------
    earlier : Path or None
        Where the run is kept that was in the folder when this one was written there; None where
        there was none, or the same.
    changed : list of str
        What differs between the two, as ``other data``.
    """

    def __init__(
        self,
        info: RunInfo,
        users: pd.DataFrame | None = None,
        folder: Path | None = None,
        trials: pd.DataFrame | None = None,
        outputs: OutputFiles | None = None,
    ) -> None:
        self.info, self.folder, self._outputs = info, folder, outputs
        self.earlier: Path | None = None
        self.changed: list[str] = []
        if users is not None:  # else both are read from the folder when they are asked for
            self.users = users
        if trials is not None:
            self.trials = trials

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
        ``metric_seconds``: mean seconds a cell; ``peak_mb``, the largest; ``n_users``, those who
        are evaluated in some cell; ``n_cells``, those that finished, and ``n_failed``; ``error``,
        empty when every cell finished; ``table`` and ``row``, the identities that ``run.users``,
        ``run.bounds`` and other runs use.
        """
        return pd.DataFrame(display.result_rows(self.info))

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """What the best order and, on average, a random order of the same items would score.

        Columns are ``bound``; ``dataset``, ``split``, ``candidates``; for each metric its label,
        averaged like the algorithms' values, NaN where it has no bounds, with ``<label>_sd`` as
        they have; ``table``.
        """
        rows = display.bound_rows(self.info)
        columns = ["bound", *GROUP, *self.info.metrics, "table"]
        return pd.DataFrame(rows, columns=None if rows else columns)

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
        means = ("low", "high", "letters", "rest", "rest_low", "rest_high")
        return pd.DataFrame(
            {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
            | {"group": group.group, "algorithm": mean.algorithm, "value": mean.mean}
            | {key: mean[key] for key in means}
            | {"random": group.random, "n_users": mean.n_users, "n_left_out": group.n_left_out}
            | {"n_members": group.n_members, "table": entry.table, "row": mean.row}
            for entry in self.info.groups
            for group in entry.groups
            for mean in group.algorithms
        )

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """The gaps between groups: a row for each algorithm, division into groups and metric.

        Columns are those of `groups` with, in place of the group, ``greatest`` and ``least``, the
        groups of most and least value among those of 30 users or more, their ``difference``, and
        ``low`` and ``high``, its interval.
        """
        return pd.DataFrame(
            {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
            | {key: each for key, each in gap if key != "row"}
            | {"table": entry.table, "row": gap.row}
            for entry in self.info.groups
            for gap in entry.gaps
        )

    @cached_property
    def users(self) -> pd.DataFrame:
        """One row for each cell and test user."""
        scores: dict[str, Kind] = dict.fromkeys(self.info.metrics, "number")
        return self._read(USERS_FILE, {**CELL, "user": "word", **scores})

    @cached_property
    def trials(self) -> pd.DataFrame | None:
        """One row for each setting that a search tried, None when nothing was tuned."""
        if TRIALS_FILE not in self.info.files:
            return None
        trials = self._read(TRIALS_FILE, CELL | TRIAL)
        path, again = self.path(TRIALS_FILE), trials.duplicated([*CELL, "trial"])
        if again.any() or not trials["params"].map(_is_mapping).all():
            raise ResultsError(f"{path}: a trial twice, or without its parameters; {AGAIN}")
        return trials

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
        # pivot_table would drop NaN
        searches = trials.pivot(index=list(CELL), columns="trial", values="value").ffill(axis=1)
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
    def analyses(self) -> dict[str, pd.DataFrame]:
        """The tables of analyses of your own, by name."""
        return {name: table.frame for name, table in self.info.analyses.items()}

    @property
    def failed(self) -> list[FailedCell]:
        """The cells that did not come to an end."""
        return self.info.failed

    def write(self, results: Path, advice: str = "") -> Run:
        """Write the run to ``results/<name>/``, completely or not at all.

        A run that is there is kept as ``results/<name>@<when it started>/``, unless it is the same:
        its config, data and finished cells are those of this one.

        Parameters
        ----------
        results : Path
        advice : str, optional
            What an error tells the reader to do; by default, what there is to do after a run.

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
            "table.csv": display.to_csv(self.info).encode("utf-8", "replace"),
            "bounds.csv": display.rounded_csv(self.bounds).encode("utf-8", "replace"),
            "table.md": to_markdown(self.info).encode("utf-8", "replace"),
            USERS_FILE: self.users.to_parquet(index=False, compression="zstd"),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = self.trials.to_parquet(index=False, compression="zstd")
        if self.info.groups:
            for name, frame in zip(GROUPS_FILES, (self.groups, self.gaps), strict=True):
                files[name] = display.rounded_csv(frame).encode("utf-8", "replace")
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
        kept = "finished cells are kept: fix it and run again, or use --results DIR"
        with report_os_error(results, "cannot write the results", advice or kept):
            check_replaceable(folder, advice)
            earlier = replace_folder(folder, files, own_names, place_of_earlier)
        done = Run(info, self.users, folder, self.trials)
        if earlier is not None:
            done.earlier, done.changed = earlier, differences(record_in(earlier), record_in(folder))
        return done


def _is_mapping(text: str) -> bool:
    """Return whether a text is an object in JSON, not so deep that a reader of it would fail."""
    try:
        return isinstance(from_json(text), dict)
    except (TypeError, ValueError):
        return False


def read_run(folder: Path | str) -> Run:
    """Read a run back, checked against the hashes that were written with it.

    Parameters
    ----------
    folder : Path or str
        ``results/<name>``, or the ``run.json`` in it.

    Raises
    ------
    ResultsError
        If there is no run, a file is missing or changed, or another version wrote it.
    """
    folder = _folder_of(folder)
    before = _stamp(folder)
    try:
        return _read_run(folder)
    except ResultsError:
        if _stamp(folder) == before:
            raise
        return _read_run(folder)  # it was replaced while it was read


def _folder_of(path: Path | str) -> Path:
    """Return the folder of a run, given itself or its ``run.json``."""
    path = Path(path)
    return path.parent if path.name == RUN_FILE else path


def _stamp(folder: Path) -> tuple[int, int] | None:
    """Return what changes when a folder is replaced."""
    with suppress(OSError):
        status = folder.stat()
        return status.st_ino, status.st_mtime_ns
    return None


def _read_run(folder: Path) -> Run:
    restore_folder(folder, own_names, place_of_earlier)
    if not (folder / RUN_FILE).is_file():
        known = [each.name for each in find_runs(folder.parent)]
        hint = suggestion(folder.name, known) if known else "run a config first"
        raise ResultsError(f"{folder}: no run there; {hint}")
    info = read_info(folder / RUN_FILE)
    for name, digest in info.files.items():
        if Path(name).name != name or not (folder / name).is_file():
            raise ResultsError(f"{folder / name}: missing; {AGAIN}")
        _check_file(folder / name, digest)
    return Run(info, folder=folder)


def find_runs(results: Path) -> list[Path]:
    """Return the run folders in a results folder, by name, the earlier runs of a name after it."""
    if not results.is_dir():
        return []
    records = (path for path in results.glob(f"*/{RUN_FILE}") if path.is_file())
    folders = [path.parent for path in records if not path.parent.name.startswith(".")]
    current = sorted({folder.with_name(name_of(folder)) for folder in folders})
    return [
        folder
        for latest in current
        for folder in (*[latest] * (latest in folders), *earlier_runs(latest))
    ]


def is_run(path: Path, results: Path) -> bool:
    """Return whether a path or a name is meant to be of a run, not of another program's file."""
    is_file = path.is_file() or (path.suffix and not (results / path).is_dir())
    return path.name == RUN_FILE or path.is_dir() or not is_file


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
    if path.suffix in (".yaml", ".yml"):
        raise ResultsError(f"{name}: a config; give the name or the folder of its run")
    hint = suggestion(name, known) if known else "run a config first"
    hint += "" if hint.endswith("?") else ", or give the folder of a run"
    raise ResultsError(f"{name}: no run of this name in {results}/; {hint}")


def _check_file(path: Path, digest: str) -> None:
    """Compare a file with the SHA-256 that was noted when it was written."""
    with report_os_error(path, "cannot be read", "check its permissions"):
        found = digest_of(path)
    if found != digest:
        raise ResultsError(f"{path}: changed since it was written; {AGAIN}")


def read_parts(
    path: Path, columns: Mapping[str, Kind], *, whole: bool = False
) -> Iterator[pd.DataFrame]:
    """Read these columns of a table that may come from anybody, by row group or as a whole."""
    try:
        with pq.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            groups = [[*range(len(sizes))]] if whole else [[i] for i in range(len(sizes))]
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
        raise ResultsError(f"{path}: not a table ({reason_of(error)}); {AGAIN}") from None


def _holds(found: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_null(found):  # nothing in it
        return True
    if types.is_dictionary(found):
        found = found.value_type
    if kind == "word":
        return bool(types.is_string(found) or types.is_large_string(found))
    return bool(types.is_integer(found) if kind == "count" else types.is_floating(found))


def check_replaceable(folder: Path, advice: str = "") -> None:
    """Refuse a path below a file, and an existing one that has files but no run."""
    refuse_below_file(folder)
    if not folder.exists():
        return
    if folder.is_dir():
        names = {each.name for each in folder.iterdir()}
        if not names or RUN_FILE in names <= WRITTEN | {"plots"}:
            return
    if "schema_version" not in record_in(folder):
        advice = advice or "give the run another name, or use --results DIR"
        raise ResultsError(f"{folder}: has files, and no run that the harness wrote; {advice}")


def own_names(folder: Path) -> set[str]:
    """Return the names of the files in a folder that a run wrote and that are unchanged."""
    written = record_in(folder).get("files", {})
    names = {RUN_FILE, *DERIVED}
    for name, digest in written.items() if isinstance(written, dict) else ():
        with suppress(OSError):
            if digest_of(folder / name) == digest:
                names.add(name)
    return names
