"""The parts of ``run.json`` that the code uses, checked on reading: it may be from anywhere.

Keys that are not used pass unchanged; those that
are computed with, compared or shown are declared here.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    FailFast,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from harness import metrics
from harness.config.experiment import NAME
from harness.config.faults import dotted
from harness.config.inference import Inference
from harness.errors import MetricError, ResultsError

__all__ = ["SCHEMA_VERSION", "read_description", "to_json"]

SCHEMA_VERSION = 2
MOST_BYTES = 64_000_000
NO_DIGEST = "0" * 64
"""What stands for the file's own SHA-256 while it is computed."""

Text = Annotated[str, Field(max_length=10_000)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]

Item = TypeVar("Item")
Rows = Annotated[list[Item], FailFast()]
"""A list that reports only its first fault: there may be a million."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Place(_Part):
    dataset: Text
    split: Text
    candidates: Text
    table: Identity


class _Score(_Part):
    mean: Number | None
    n_undefined: Count


class _Row(_Place):
    row: Identity
    algorithm: Text


class _Valued(_Row):
    scores: dict[str, Number | None]


class _Failed(_Row):
    seed: Count
    fold: Count
    n_folds: Count
    params: dict[str, Any]
    error: Text | None = None


class _Conditions(_Part):
    processor: Text
    cores: Count
    workers: Count
    threads: Count
    version: Text
    date: Text


class _Finished(_Failed):
    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    fit_seconds: Amount
    score_seconds: Amount
    metric_seconds: Amount
    peak_mb: Amount
    n_trials: Count = 0
    measured: _Conditions | None = None
    found: bool = False
    n_users: Count
    n_test: Count
    n_impossible: Count
    notes: Rows[Text]
    scores: dict[str, _Score]
    tied_at_cut: dict[str, Share] = {}


def _kind(cell: Any) -> str:
    return "failed" if isinstance(cell, dict) and cell.get("error") else "finished"


_Cell = Annotated[
    Annotated[_Failed, Tag("failed")] | Annotated[_Finished, Tag("finished")], Discriminator(_kind)
]


class _Bound(_Place):
    bound: Literal["best", "random"]
    scores: dict[str, Number | None]
    deviations: dict[str, Number | None]


class _Standing(_Part):
    row: Identity
    algorithm: Text
    mean: Number | None
    low: Number | None
    high: Number | None
    letters: Text
    n_users: Count


class _Pair(_Part):
    first: Text
    second: Text
    difference: Number | None
    low: Number | None
    high: Number | None
    effect_size: Number | None
    p: Share | None
    p_is_bound: bool = False
    p_adjusted: Share | None
    significant: bool
    n_users: Count


class _Compared(_Place):
    metric: Text
    method: Text
    note: Text = ""
    algorithms: Rows[_Standing]
    pairs: Rows[_Pair]


class _Redefined(_Part):
    convention: Text
    label: Text
    scores: dict[str, Number | None]
    note: Text


class _Conventions(_Place):
    metric: Text
    k: Count
    rows: Rows[_Redefined]


class _Tied(_Part):
    row: Identity
    algorithm: Text
    tied: Share
    scores: dict[str, Number | None]


class _Ties(_Place):
    metric: Text
    rows: Rows[_Tied]


class _Config(_Part):
    clip: bool
    statistics: Inference | None = None


class _Data(_Part):
    name: Text
    fingerprint: Text


class _Split(_Part):
    fingerprint: Text


class _Description(_Part):
    name: Annotated[str, Field(pattern=NAME)]
    description: Text
    metrics: Annotated[Rows[Text], Field(min_length=1)]
    seeds: Annotated[Rows[Count], Field(min_length=1)]
    config: _Config
    datasets: Rows[_Data]
    splits: Rows[_Split]
    notes: Rows[Text]
    cells: Rows[_Cell]
    rows: Annotated[Rows[_Valued], Field(min_length=1)]
    bounds: Rows[_Bound]
    statistics: Rows[_Compared]
    conventions: Rows[_Conventions] = []
    ties: Rows[_Ties] = []
    started: Text
    files: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]

    @model_validator(mode="after")
    def _metrics_are_known_and_have_scores(self) -> Self:
        for entry in self.conventions:
            for row in entry.rows:
                metrics.parse(row.label)
        for label in self.metrics:
            metrics.parse(label)
            for cell in self.cells:
                if isinstance(cell, _Finished) and label not in cell.scores:
                    raise ValueError(f"a cell of {cell.algorithm} has no {label}")
            for valued in self.rows:
                if label not in valued.scores:
                    raise ValueError(f"the row of {valued.algorithm} has no {label}")
        return self

    @model_validator(mode="after")
    def _names_and_identities_agree(self) -> Self:
        """Check that identities and display names correspond one to one."""
        tables = {row.table: (row.dataset, row.split, row.candidates) for row in self.rows}
        names = {row.row: (row.table, row.algorithm) for row in self.rows}
        for found, of in ((tables, "tables"), (names, "rows")):
            if len(set(found.values())) < len(found):
                raise ValueError(f"two {of} have the same name")
        if len(names) < len(self.rows):
            raise ValueError("a row is there twice")
        used = {cell.row for cell in self.cells}
        if used != set(names):
            raise ValueError("its rows are not those of its cells")
        parts: list[_Place] = [*self.rows, *self.cells, *self.bounds, *self.statistics]
        for part in [*parts, *self.conventions, *self.ties]:
            if tables.get(part.table) != (part.dataset, part.split, part.candidates):
                raise ValueError(f"table {part.table} has two names, or no row")
        named: list[tuple[str, str, str]] = [(c.table, c.row, c.algorithm) for c in self.cells]
        named += [
            (e.table, each.row, each.algorithm) for e in self.statistics for each in e.algorithms
        ]
        named += [(e.table, each.row, each.algorithm) for e in self.ties for each in e.rows]
        for shown in self.conventions:
            known = {row for row, (table, _) in names.items() if table == shown.table}
            if not all(set(each.scores) <= known for each in shown.rows):
                raise ValueError("conventions: a score of an unknown row")
        for table, row, algorithm in named:
            if names.get(row) != (table, algorithm):
                raise ValueError(f"row {row} has two names, or is not in the table")
        return self


def to_json(info: dict[str, Any]) -> bytes:
    """Return a description as a file, which begins with the SHA-256 of its other bytes.

    Examples
    --------
    >>> print(to_json({"name": "run"}).decode())
    {
     "sha256": "e00bd66138e8731b5d7934699c853a3d8c860bcaca270ab8ee40ad50fa0d4d47",
     "name": "run"
    }
    """
    text = json.dumps({"sha256": NO_DIGEST, **info}, indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "replace")
    return data.replace(NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def _is_as_written(data: bytes, digest: Any) -> bool:
    if not isinstance(digest, str) or len(digest) != len(NO_DIGEST) or not digest.isascii():
        return False
    blank = data.replace(digest.encode(), NO_DIGEST.encode(), 1)
    return hashlib.sha256(blank).hexdigest() == digest


def _command_for(info: Any, path: Path) -> str:
    """Return the command that repeats a run, if its config is known."""
    config = info.get("config_file") if isinstance(info, dict) else None
    if not (isinstance(config, str) and re.fullmatch(r"[\w./-]{1,200}", config)):
        return "run its config again"
    return f"harness run {config} --results {path.parent.parent}"


def read_description(path: Path) -> dict[str, Any]:
    """Return what a ``run.json`` holds.

    Raises
    ------
    ResultsError
        If it cannot be read, or is not what a run of this version writes.
    """
    again = "run the config again"
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ResultsError(f"{path}: larger than {MOST_BYTES:,} bytes; {again}")
        data = path.read_bytes()
        info = from_json(data)
        version = info["schema_version"]
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
    except (ValueError, LookupError, TypeError):
        raise ResultsError(f"{path}: not a run's description; {again}") from None
    if version != SCHEMA_VERSION or not isinstance(version, int):
        raise ResultsError(
            f"{path}: written by another version of harness, in a format that this version does "
            f"not read; make it again: {_command_for(info, path)}"
        )
    if "sha256" in info and not _is_as_written(data, info.pop("sha256")):
        raise ResultsError(f"{path}: changed since it was written; {again}")
    try:
        _Description.model_validate(info)
    except MetricError as error:
        raise ResultsError(f"{path}: metrics: {error}; {again}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = dotted(tuple(part for part in first["loc"] if part not in ("failed", "finished")))
        found = first["msg"].removeprefix("Value error, ")
        raise ResultsError(f"{path}: {place or 'the run'}: {found}; {again}") from None
    described: dict[str, Any] = info
    return described
