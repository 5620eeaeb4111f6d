"""Every key of ``run.json``: checked when it is written and, since anybody may write one, read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
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
from harness.config.experiment import NAME, Experiment
from harness.config.faults import dotted
from harness.config.load import GIVEN
from harness.errors import MetricError, ResultsError
from harness.results.record import Amount, Count, Facts

__all__ = ["SCHEMA_VERSION", "check", "read_description", "to_json"]

SCHEMA_VERSION = 2
MOST_BYTES = 64_000_000
NO_DIGEST = "0" * 64
"""What stands for the file's own SHA-256 while it is computed."""

Text = Annotated[str, Field(max_length=1_000_000)]
Word = Annotated[str, Field(min_length=1, max_length=10_000)]
Number = Annotated[float, Field(ge=-1e100, le=1e100)]
Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Scores = dict[str, Number | None]

Item = TypeVar("Item")
Rows = Annotated[list[Item], FailFast()]
"""A list that reports only its first fault: there may be a million."""
Some = Annotated[list[Item], FailFast(), Field(min_length=1)]


def _small(value: Any) -> Any:
    """Refuse numbers that cannot be written out; nothing else of a parameter is known here."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            _small(each)
    elif isinstance(value, int) and abs(value) > 2**64:
        raise ValueError("a number beyond 2^64")
    return value


Params = Annotated[dict[str, Any], AfterValidator(_small)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Place(_Part):
    dataset: Word
    split: Word
    candidates: Word
    table: Identity


class _Score(_Part):
    mean: Number | None
    n_undefined: Count


class _Row(_Place):
    row: Identity
    algorithm: Word


class _Valued(_Row):
    scores: Scores


class _Cell(_Row):
    seed: Count
    fold: Count
    n_folds: Count
    key: Digest
    split_fingerprint: Word
    params: Params
    found: bool = False
    n_trials: Count = 0
    search_seconds: Amount = 0.0

    @model_validator(mode="after")
    def _search_is_whole(self) -> Self:
        if len(self.model_fields_set & {"n_trials", "search_seconds"}) == 1:
            raise ValueError("n_trials without search_seconds, or the other way round")
        return self


class _Failed(_Cell):
    error: Word


class _Finished(_Cell, Facts):
    metric_seconds: Amount
    n_users: Count
    scores: dict[str, _Score]
    tied_at_cut: dict[str, Share]


def _kind(cell: Any) -> str:
    return "failed" if isinstance(cell, dict) and "error" in cell else "finished"


_AnyCell = Annotated[
    Annotated[_Failed, Tag("failed")] | Annotated[_Finished, Tag("finished")], Discriminator(_kind)
]


class _Bound(_Place):
    bound: Literal["best", "random"]
    scores: Scores
    deviations: Scores


class _Standing(_Part):
    row: Identity
    algorithm: Word
    mean: Number | None
    low: Number | None
    high: Number | None
    letters: Annotated[str, Field(pattern="^[a-z.]{0,10000}$")]
    n_users: Count


class _Pair(_Part):
    first: Word
    second: Word
    difference: Number
    low: Number | None
    high: Number | None
    effect_size: Number | None
    p: Share
    p_is_bound: bool
    p_adjusted: Share
    significant: bool
    n_users: Count
    n_left_out: Count


class _Compared(_Place):
    metric: Word
    method: Text
    note: Text
    algorithms: Some[_Standing]
    pairs: Rows[_Pair]
    baseline: list[_Pair] | None


class _Redefined(_Part):
    convention: Word
    label: Word
    scores: Scores
    note: Text


class _Conventions(_Place):
    metric: Word
    k: Annotated[Count, Field(ge=1)]
    rows: Some[_Redefined]


class _Tied(_Part):
    row: Identity
    algorithm: Word
    tied: Share | None
    scores: Scores


class _Ties(_Place):
    metric: Word
    rows: Some[_Tied]


class _Data(_Part):
    name: Word
    source: Word
    fingerprint: Word
    n_users: Count
    n_items: Count
    n_ratings: Count
    scale: Annotated[list[Number], Field(min_length=2, max_length=2)]
    filters: Rows[Text]
    notes: Rows[Text]


class _Split(_Part):
    dataset: Word
    split: Word
    seed: Count
    fold: Count
    fingerprint: Word
    n_train: Count
    n_test: Count
    notes: Rows[Text]


class _Machine(_Part):
    system: Text
    processor: Text
    cores: Count
    memory_gb: Amount


def _config(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config with every key; the name of data from a session stands for itself."""
    given = config.get("dataset")
    session = isinstance(given, list) and len(given) == 1 and str(given[0]).startswith(GIVEN)
    checked = Experiment.model_validate(config | ({"dataset": ["bundled"]} if session else {}))
    return checked.model_dump(mode="json") | ({"dataset": given} if session else {})


class _Description(_Part):
    """What a run writes and what every command reads, each key once."""

    schema_version: Literal[2]
    name: Annotated[str, Field(pattern=NAME)]
    description: Text
    metrics: Some[Word]
    seeds: Some[Count]
    config: Annotated[Params, AfterValidator(_config)]
    datasets: Some[_Data]
    splits: Some[_Split]
    notes: Rows[Text]
    cells: Some[_AnyCell]
    rows: Some[_Valued]
    bounds: Rows[_Bound]
    statistics: Rows[_Compared]
    conventions: Rows[_Conventions] = []
    ties: Rows[_Ties] = []
    versions: dict[str, Text]
    machine: _Machine
    commit: Text | None
    config_file: Text | None
    started: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+\d:]{0,6}$")]
    seconds: Amount
    files: dict[str, Digest]

    @model_validator(mode="after")
    def _metrics_are_known_and_have_scores(self) -> Self:
        """Check that every label is a metric, and that nothing has a score of another."""
        for entry in self.conventions:
            for row in entry.rows:
                metrics.parse(row.label)
        for tied in self.ties:
            metrics.parse(tied.metric)
        for label in self.metrics:
            metrics.parse(label)
        _once("a metric", self.metrics)
        for cell in self.cells:
            if isinstance(cell, _Finished):
                _of(self.metrics, cell.scores, f"a cell of {cell.algorithm}")
        for valued in self.rows:
            _of(self.metrics, valued.scores, f"the row of {valued.algorithm}")
        for bound in self.bounds:
            _of(bound.scores, {*bound.scores} & {*self.metrics}, f"the {bound.bound} order")
            _of(bound.scores, bound.deviations, f"the {bound.bound} order")
        for compared in self.statistics:
            if compared.metric not in self.metrics:
                raise ValueError(f"statistics of {compared.metric}, which the run does not have")
        return self

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        """Check that identities and display names correspond one to one, each thing listed once."""
        tables = {row.table: (row.dataset, row.split, row.candidates) for row in self.rows}
        names = {row.row: (row.table, row.algorithm) for row in self.rows}
        for found, of in ((tables, "tables"), (names, "rows")):
            if len(set(found.values())) < len(found):
                raise ValueError(f"two {of} have the same name")
        if {cell.row for cell in self.cells} != set(names):
            raise ValueError("its rows are not those of its cells")
        parts: list[_Place] = [*self.rows, *self.cells, *self.bounds, *self.statistics]
        for part in [*parts, *self.conventions, *self.ties]:
            if tables.get(part.table) != (part.dataset, part.split, part.candidates):
                raise ValueError(f"table {part.table} has two names, or no row")
        named: list[tuple[str, str, str]] = [(c.table, c.row, c.algorithm) for c in self.cells]
        listed: list[tuple[str, Sequence[_Standing | _Tied]]]
        listed = [(each.table, each.algorithms) for each in self.statistics]
        for table, own in [*listed, *((each.table, each.rows) for each in self.ties)]:
            named += [(table, each.row, each.algorithm) for each in own]
            _once("a row of statistics or ties", [each.row for each in own])
        for table, row, algorithm in named:
            if names.get(row) != (table, algorithm):
                raise ValueError(f"row {row} has two names, or is not in the table")
        for compared in self.statistics:
            known = {each.algorithm for each in compared.algorithms}
            for pair in [*compared.pairs, *(compared.baseline or [])]:
                if pair.first == pair.second or not {pair.first, pair.second} <= known:
                    raise ValueError("statistics: a pair of an unknown algorithm, or of one alone")
        for shown in self.conventions:
            rows = {row for row, (table, _) in names.items() if table == shown.table}
            if not all(set(each.scores) <= rows for each in shown.rows):
                raise ValueError("conventions: a score of an unknown row")
            _once("a convention", [each.convention for each in shown.rows])
        _once("a row", [row.row for row in self.rows])
        _once("a cell", [(cell.row, cell.seed, cell.fold) for cell in self.cells])
        _once("a bound", [(each.table, each.bound) for each in self.bounds])
        _once("a comparison", [(each.table, each.metric) for each in self.statistics])
        if any(cell.fold >= cell.n_folds or cell.seed not in self.seeds for cell in self.cells):
            raise ValueError("a cell of a seed or a fold that the run does not have")
        return self


def _of(labels: Collection[str], scores: Collection[str], what: str) -> None:
    for label in sorted(set(labels) ^ set(scores)):
        found = "no" if label in labels else "a score of"
        raise ValueError(f"{what} has {found} {label}")


def _once(what: str, keys: Sequence[Any]) -> None:
    if len(set(keys)) < len(keys):
        raise ValueError(f"{what} is there twice")


def to_json(info: dict[str, Any]) -> bytes:
    """Return a description as a file, which begins with the SHA-256 of its other bytes.

    Raises
    ------
    ResultsError
        If it is not what a run writes.
    """
    check(info, "run.json")
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
    return check(info, str(path))


def check(info: Any, where: str) -> dict[str, Any]:
    """Return a description if it is whole, every key of its config written out.

    Parameters
    ----------
    info : dict
    where : str
        What an error names as its place.

    Raises
    ------
    ResultsError
        With the first key that is missing, unknown or wrong.
    """
    again = "run the config again"
    try:
        checked = _Description.model_validate(info)
    except MetricError as error:
        raise ResultsError(f"{where}: metrics: {error}; {again}") from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = dotted(tuple(part for part in first["loc"] if part not in ("failed", "finished")))
        found = first["msg"].removeprefix("Value error, ").splitlines()[0]
        raise ResultsError(f"{where}: {place or 'the run'}: {found}; {again}") from None
    described: dict[str, Any] = info | {"config": checked.config}
    return described
