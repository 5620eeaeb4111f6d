"""The frames of a run that are not written with it, and those that are read back from its files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic_core import from_json

from harness import metrics
from harness._util.files import RUN_FILE
from harness._util.libraries import pa, pd, pq, psutil
from harness.errors import ResultsError, reason_of
from harness.results.fields import AGAIN
from harness.results.folder import CELL, TRIAL, Kind, check_file
from harness.results.record import RunInfo
from harness.results.table import ROW

SHARE_OF_MEMORY = 0.5


BYTES_PER_VALUE = 16  # most bytes of a value while a table is read: itself and its copy for pandas


def read_parts(
    path: Path, columns: Mapping[str, Kind], *, at_once: bool = False
) -> Iterator[pd.DataFrame]:
    """Read these columns of a table that may come from anybody, by row group or as a whole."""
    try:
        with pq.ParquetFile(path) as file:
            sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
            groups = [[*range(len(sizes))]] if at_once else [[i] for i in range(len(sizes))]
            most = sum(sizes) if at_once else max(sizes, default=0)
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


def _holds(data_type: pa.DataType, kind: Kind) -> bool:
    from pyarrow import types

    if types.is_null(data_type):  # nothing in it
        return True
    if types.is_dictionary(data_type):
        data_type = data_type.value_type
    if kind == "word":
        return bool(types.is_string(data_type) or types.is_large_string(data_type))
    return bool(types.is_integer(data_type) if kind == "count" else types.is_floating(data_type))


def is_mapping(text: str) -> bool:
    """Return whether a text is an object in JSON, not so deep that a reader of it would fail."""
    try:
        return isinstance(from_json(text), dict)
    except (TypeError, ValueError):
        return False


def budget(info: RunInfo, trials: pd.DataFrame) -> pd.DataFrame:
    """Return the best value by the number of trials; see `Run.budget`."""
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
