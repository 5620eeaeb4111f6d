"""The frames of a run that are not written with it, and those that are read back from its files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness import metrics
from harness.errors import ResultsError
from harness.files import RUN_FILE
from harness.lazy import pd
from harness.results.display import BOUNDS, GROUP, ROW
from harness.results.fields import AGAIN
from harness.results.folder import check_file
from harness.results.parquet import is_mapping, read_parts
from harness.results.parts import CELL, TRIAL, Kind
from harness.results.record import RunInfo

NO_ROOM = 1e-12  # best and random order that differ by no more are the same


def room(info: RunInfo, table: pd.DataFrame, bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the values of a table as shares, as `Run.room` describes them."""
    shares = table[["algorithm", *GROUP, *info.metrics, "table", "row"]].copy()
    tables, limits = list(info.tables), bounds.set_index(["bound", "table"])
    for label in info.metrics:
        low, high = (
            shares["table"].map({table: limits[label].get((name, table)) for table in tables})
            for name in (BOUNDS["random"], BOUNDS["best"])
        )
        width = (high - low).astype(float)
        shares[label] = (shares[label] - low) / width.where(width.abs() > NO_ROOM)
    return shares


def pairs(info: RunInfo) -> pd.DataFrame:
    """Return the differences of two algorithms, as `Run.pairs` describes them."""
    return pd.DataFrame(
        {"metric": comparison.metric}
        | {key: comparison[key] for key in (*GROUP, "claim")}
        | dict(pair)
        | {"answer": pair.answer, "favours": comparison.favoured(pair)}
        for comparison in info.statistics
        for pair in comparison.pairs
    )


def groups(info: RunInfo) -> pd.DataFrame:
    """Return the values in groups of users and items, as `Run.groups` describes them."""
    means = ("low", "high", "letters", "rest", "rest_low", "rest_high")
    return pd.DataFrame(
        {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
        | {"group": group.group, "algorithm": mean.algorithm, "value": mean.mean}
        | {key: mean[key] for key in means}
        | {"random": group.random, "n_users": mean.n_users, "n_left_out": group.n_left_out}
        | {"n_members": group.n_members, "table": entry.table, "row": mean.row}
        for entry in info.groups
        for group in entry.groups
        for mean in group.algorithms
    )


def gaps(info: RunInfo) -> pd.DataFrame:
    """Return the gaps between groups, as `Run.gaps` describes them."""
    return pd.DataFrame(
        {key: entry[key] for key in (*GROUP, "side", "by", "metric")}
        | {key: value for key, value in gap if key != "row"}
        | {"table": entry.table, "row": gap.row}
        for entry in info.groups
        for gap in entry.gaps
    )


def budget(info: RunInfo, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the best value by the number of trials, as `Run.budget` describes it."""
    higher = metrics.parse(info.experiment.tuning.metric).higher_is_better
    # pivot_table would drop NaN
    searches = trials.pivot(index=list(CELL), columns="trial", values="value").ffill(axis=1)
    best = searches.cummax(axis=1) if higher else searches.cummin(axis=1)
    means = best.groupby(list(ROW), sort=False).mean().reset_index()
    long = means.melt(list(ROW), var_name="trials", value_name="value", ignore_index=False)
    return long.sort_index(kind="stable").reset_index(drop=True)


def rows_in(path: Path, info: RunInfo, columns: Mapping[str, Kind]) -> pd.DataFrame:
    """Return the rows of a Parquet file of a run, which are of cells that it has."""
    if path.name in info.files:
        check_file(path, info.files[path.name])
    (frame,) = read_parts(path, columns, at_once=True)
    cells = {tuple(cell[key] for key in CELL) for cell in info.cells}
    if not cells.issuperset(frame[list(CELL)].drop_duplicates().itertuples(index=False)):
        raise ResultsError(f"{path}: has rows of cells that {RUN_FILE} does not have; {AGAIN}")
    return frame


def trials_in(path: Path, info: RunInfo) -> pd.DataFrame:
    """Return the rows of a run's file of trials, each there once and with its parameters."""
    trials = rows_in(path, info, CELL | TRIAL)
    again = trials.duplicated([*CELL, "trial"])
    if again.any() or not trials["params"].map(is_mapping).all():
        raise ResultsError(f"{path}: a trial twice, or without its parameters; {AGAIN}")
    return trials
