"""A run: its tables as frames, and the files that are written of it, `table.md` among them."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from harness._util.files import RUN_FILE, digest_of
from harness._util.libraries import pd
from harness.errors import ResultsError
from harness.results import frames
from harness.results import table as display
from harness.results.cells import FailedCell
from harness.results.fields import AGAIN
from harness.results.folder import (
    CELL,
    DERIVED,
    ESTIMATES_FILE,
    GROUPS_FILES,
    LISTS_FILE,
    OUTPUTS,
    TRIALS_FILE,
    USERS_FILE,
    Kind,
    differences,
    replace_run,
)
from harness.results.frames import rows_in, trials_in
from harness.results.importance import importance_frame
from harness.results.record import RunInfo, record_in, to_json
from harness.results.table import BOUNDS, GROUP
from harness.results.views import SessionViews, to_markdown

if TYPE_CHECKING:
    from harness.results.outputs import OutputFiles

OF_GROUPS = [
    *(*GROUP, "side", "by", "metric", "group", "algorithm", "mean", "low", "high", "letters"),
    *("rest", "rest_low", "rest_high", "random", "n_users", "n_left_out", "n_members"),
    *("table", "row"),
]
"""The columns of `Run.groups`, as the record calls them: of an algorithm's mean, its group, and the
division into groups."""
NO_ROOM = 1e-12  # best and random order that differ by no more are the same


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
        What differs between the two, such as ``other data``.
    removed : list of Path
        Earlier runs that are gone because of ``results: {keep: 10}``.
    outdated : list of str
        Files made from an earlier run of this name, such as ``report.html``, that were removed with
        it.
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
        self.removed: list[Path] = []
        self.outdated: list[str] = []
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
        significantly, and, with a margin, ``<label>_answer`` against the best row; where parameters
        were searched, ``tuned``, the settings found, ``n_trials`` and ``search_seconds``, summed
        over cells; ``fit_seconds``, ``score_seconds``, ``metric_seconds``: mean seconds a cell;
        ``peak_mb``, the largest; ``n_users``, those who are evaluated in some cell; ``n_cells``,
        those that finished, and ``n_failed``; ``error``, why cells or metrics failed, or
        empty; ``table`` and ``row``, the identities that ``run.users``, ``run.bounds`` and other
        runs use.
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
        """The table's values as normalised scores between a random (0) and the best order (1).

        Columns are ``algorithm``; ``dataset``, ``split``, ``candidates``; for each metric its
        label, NaN where it has no bounds; ``table`` and ``row``.
        """
        shares = self.table[["algorithm", *GROUP, *self.info.metrics, "table", "row"]].copy()
        tables, limits = list(self.info.tables), self.bounds.set_index(["bound", "table"])
        for label in self.info.metrics:
            low, high = (
                shares["table"].map({table: limits[label].get((name, table)) for table in tables})
                for name in (BOUNDS["random"], BOUNDS["best"])
            )
            width = (high - low).astype(float)
            shares[label] = (shares[label] - low) / width.where(width.abs() > NO_ROOM)
        return shares

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every difference of two algorithms by every metric that was compared.

        Columns are ``metric``; ``dataset``, ``split``, ``candidates``; ``claim``, whether the test
        is about algorithms or these fitted models; and what `statistics.Comparison` has of pairs;
        ``equivalent`` is None without a margin; ``answer`` is different, equivalent (by less than
        the margin) or undecided; ``favours`` is the better of the two, None where the tests found
        neither.
        """
        return pd.DataFrame(
            {"metric": comparison.metric}
            | {key: comparison[key] for key in (*GROUP, "claim")}
            | dict(pair)
            | {"answer": pair.answer, "favours": comparison.favoured(pair)}
            for comparison in self.info.statistics
            for pair in comparison.pairs
        )

    @cached_property
    def groups(self) -> pd.DataFrame:
        """The values in groups of users and items: a row for each algorithm, group and metric.

        Columns are ``dataset``, ``split``, ``candidates``; ``side`` (users or items) and ``by``, as
        in the config; ``metric``, ``group``, ``algorithm``; ``value``, the mean over users of each
        user's average over folds and seeds, ``low`` and ``high``, its interval, and ``letters``;
        ``rest``, the value less the value of everybody, or everything, else, with ``rest_low`` and
        ``rest_high``; ``random``, what a random order is expected to score; ``n_users`` with a
        score, ``n_left_out`` without, and ``n_members``: test users, or items with a test rating;
        ``table`` and ``row``. Empty without groups.
        """
        rows = (
            {**dict(entry), **dict(group), **dict(mean)}
            for entry in self.info.groups
            for group in entry.groups
            for mean in group.algorithms
        )
        return pd.DataFrame(rows, columns=OF_GROUPS).rename(columns={"mean": "value"})

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """The gaps between groups: a row for each algorithm, division into groups and metric.

        Columns are the same as in `groups` with, in place of the group, ``greatest`` and ``least``,
        the groups of most and least value among groups of 30 users or more, their ``difference``,
        and ``low`` and ``high``, its interval.
        """
        return pd.DataFrame(
            {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
            | {key: value for key, value in gap if key != "row"}
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

        return trials_in(self.path(TRIALS_FILE), self.info)

    def budget(self) -> pd.DataFrame:
        """Return how the best validation score of each tuned row grows with the number of trials.

        Returns
        -------
        DataFrame
            Columns ``dataset``, ``split``, ``candidates``, ``algorithm``, ``table`` and ``row``;
            ``trials``, from 0, only the setting of the config; ``value``, the best value of
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
        return frames.budget(self.info, self._tried())

    def importance(self) -> pd.DataFrame:
        """Return how much each parameter of each tuned row decides whether a trial is a good one.

        Good are the best quarter of the trials of each search, by ``tuning.metric``. The proportion
        of a parameter is the part of the variance of being good that only it explains, divided by
        the sum of these parts: over its values, the mean of (p / q - 1)², where p is the density
        of good trials and q the density of all. Both are kernel estimates by Optuna (S. Watanabe,
        A. Bansal and F. Hutter 2023, *PED-ANOVA*, doi:10.48550/arXiv.2304.10255).

        Returns
        -------
        DataFrame
            Columns ``dataset``, ``split``, ``candidates``, ``algorithm``, ``table`` and ``row``;
            ``parameter``, as in the search space; ``importance``, from 0 to 1, of a row in
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
        return importance_frame(self.info, self._tried())

    def _tried(self) -> pd.DataFrame:
        if self.trials is None or self.trials.empty:
            raise ResultsError(f"{self.name}: nothing was tuned; give a row of the config a search")
        return self.trials

    @property
    def lists(self) -> pd.DataFrame:
        """The first items of each test user's list in each cell.

        Columns are those that say which cell, as in ``users``; ``user``; ``rank`` from 1; ``item``;
        ``estimate``. Items of equal estimate are in an order that depends only on the ids of user
        and item. A ResultsError where the config has no ``outputs: {lists: 10}``.
        """
        return self._read(LISTS_FILE, CELL | OUTPUTS[LISTS_FILE])

    @property
    def estimates(self) -> pd.DataFrame:
        """Every test rating with its estimate in each cell.

        Columns are those that say which cell, as in ``users``; ``user``; ``item``; ``estimate``;
        ``rating``; ``rank`` in the user's list (equal estimates in input order), 0 for an item that
        is not a candidate, -1 for one that does not count in the ideal order either; ``tie_low``
        and ``tie_high``, first and last rank of its group of equal estimates; ``n_ranked``, length
        of the list, -1 for a user whose list is not evaluated. A ResultsError where the config has
        no ``outputs: {estimates: true}``.
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
        return rows_in(self.path(name), self.info, columns)

    @property
    def analyses(self) -> dict[str, pd.DataFrame]:
        """The tables from your own analyses, by name."""
        return {name: table.frame for name, table in self.info.analyses.items()}

    @property
    def failed(self) -> list[FailedCell]:
        """The cells that did not come to an end."""
        return self.info.failed

    def write(self, results: str | Path, advice: str = "") -> Run:
        """Write the run to ``results/<name>/``, completely or not at all.

        A run that is there is kept as ``results/<name>@<when it started>/``, unless it is the same:
        its config, data and computed cells are the same as in this one.

        Parameters
        ----------
        results : str or Path
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
            "table.csv": display.rounded_csv(self.table).encode("utf-8", "replace"),
            "bounds.csv": display.rounded_csv(self.bounds).encode("utf-8", "replace"),
            "table.md": to_markdown(self.info).encode("utf-8", "replace"),
            USERS_FILE: self.users.to_parquet(index=False, compression="zstd"),
        }
        if self.trials is not None:
            files[TRIALS_FILE] = self.trials.to_parquet(index=False, compression="zstd")
        if self.info.groups:
            for name, frame in zip(GROUPS_FILES, (self.groups, self.gaps), strict=True):
                files[name] = display.rounded_csv(frame).encode("utf-8", "replace")
        kept = () if self._outputs is None else self._outputs.paths
        for name in OUTPUTS:
            if name in kept or (self.folder is not None and name in self.info.files):
                files[name] = self.path(name)
        digests = {
            name: digest_of(data) if isinstance(data, Path) else sha256(data).hexdigest()
            for name, data in files.items()
        }
        info = self.info.model_copy(update={"files": digests})
        files[RUN_FILE] = to_json(info)
        folder = Path(results) / self.info.name
        derived = [name for name in DERIVED if (folder / name).is_file()]
        earlier = replace_run(folder, files, advice)
        run = Run(info, self.users, folder, self.trials)
        run.outdated = [] if earlier else derived  # which an earlier run that is kept still has
        if earlier is not None:
            run.earlier, run.changed = earlier, differences(record_in(earlier), record_in(folder))
        return run
