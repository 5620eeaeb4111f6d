"""The record of a run, ``run.json``: one model that writes it and, since anybody may, reads it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

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
from harness.config.experiment import GIVEN, NAME, Experiment
from harness.errors import MetricError, ResultsError
from harness.sections import dotted

__all__ = [
    "SCHEMA_VERSION",
    "AlgorithmMean",
    "AnyCell",
    "BoundResult",
    "CellFacts",
    "CellName",
    "CellResult",
    "Conditions",
    "ConventionRow",
    "ConventionScores",
    "DataInfo",
    "FailedCell",
    "Machine",
    "MetricComparison",
    "PairDifference",
    "Record",
    "RowName",
    "RowResult",
    "RunInfo",
    "Score",
    "SplitInfo",
    "TableName",
    "TieRow",
    "TieScores",
    "read_info",
    "to_json",
]

SCHEMA_VERSION = 2
MOST_BYTES = 64_000_000
NO_DIGEST = "0" * 64
"""What stands for the file's own SHA-256 while it is computed."""

Text = Annotated[str, Field(max_length=1_000_000)]
Word = Annotated[str, Field(min_length=1, max_length=10_000)]
Number = Annotated[float, Field(ge=-1e100, le=1e100)]
Amount = Annotated[float, Field(ge=0, le=1e100)]
"""Far from what overflows in a sum or a square."""
Count = Annotated[int, Field(ge=0, lt=2**53)]
Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Scores = dict[str, Number | None]
Bound = Literal["best", "random"]

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


class Record(BaseModel):
    """A part of a run's record; ``part["key"]`` is short for ``part.key``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def __getitem__(self, key: str) -> Any:
        if key not in type(self).model_fields:
            raise KeyError(key)
        return getattr(self, key)


class TableName(Record):
    """Display names and identity of a table."""

    dataset: Word
    split: Word
    candidates: Word
    table: Identity

    @property
    def names(self) -> tuple[str, str, str]:
        """Data set, split and candidates."""
        return self.dataset, self.split, self.candidates

    @property
    def of_table(self) -> dict[str, str]:
        """Names and identity of the table alone."""
        return {key: getattr(self, key) for key in TableName.model_fields}


class RowName(TableName):
    """Display names and identity of a row: an algorithm in a table."""

    row: Identity
    algorithm: Word

    @property
    def of_row(self) -> dict[str, str]:
        """Names and identities of the row alone."""
        return {key: getattr(self, key) for key in RowName.model_fields}


class RowResult(RowName):
    """The value of each metric in a row of a table."""

    scores: Scores


class CellName(RowName):
    """A cell: one fit of an algorithm, on one fold under one seed."""

    seed: Count
    fold: Count
    n_folds: Count
    key: Digest
    split_fingerprint: Word
    params: Params
    found: bool = False
    """Whether it was in the cache before the run."""
    n_trials: Count | None = None
    """Of the search for its parameters; None where nothing was searched."""
    search_seconds: Amount | None = None

    @model_validator(mode="after")
    def _search_is_whole(self) -> Self:
        if (self.n_trials is None) != (self.search_seconds is None):
            raise ValueError("n_trials without search_seconds, or the other way round")
        return self


class Conditions(Record):
    """What the seconds of a cell depend on, and when they were measured."""

    processor: str
    cores: Count
    workers: Count
    threads: Count
    version: str
    date: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class CellFacts(Record):
    """What is known of a finished cell beside its lists and scores."""

    fit_seconds: Amount
    score_seconds: Amount
    peak_mb: Amount
    """What the cell added to the memory of its process, at the most."""
    measured: Conditions
    fit_path: str
    scoring_path: str
    n_impossible: Count
    n_test: Count
    notes: list[str]
    judged: dict[str, Annotated[float, Field(allow_inf_nan=False)] | None] = {}
    """By label, what a trial scored; None where no user has a score."""


class Score(Record):
    """The mean of a metric in a cell, and of how many users it is undefined."""

    mean: Number | None
    n_undefined: Count


class CellResult(CellFacts, CellName):
    """A finished cell."""

    error: ClassVar[None] = None
    metric_seconds: Amount
    n_users: Count
    scores: dict[str, Score]
    tied_at_cut: dict[str, Share]


class FailedCell(CellName):
    """A cell that did not come to an end."""

    error: Word


def _kind(cell: object) -> str:
    failed = "error" in cell if isinstance(cell, dict) else isinstance(cell, FailedCell)
    return "failed" if failed else "finished"


AnyCell = Annotated[
    Annotated[FailedCell, Tag("failed")] | Annotated[CellResult, Tag("finished")],
    Discriminator(_kind),
]


class BoundResult(TableName):
    """What the best or, on average, a random order of the lists of a table scores."""

    bound: Bound
    scores: Scores
    deviations: Scores


class AlgorithmMean(Record):
    """An algorithm's mean over users with its interval; a shared letter: no difference."""

    row: Identity
    algorithm: Word
    mean: Number | None
    low: Number | None
    high: Number | None
    letters: Annotated[str, Field(pattern="^[a-z.]{0,10000}$")]
    n_users: Count


class PairDifference(Record):
    """One algorithm less another."""

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


class MetricComparison(TableName):
    """The algorithms of a table, compared by one metric."""

    metric: Word
    method: Text
    note: Text
    algorithms: Some[AlgorithmMean]
    pairs: Rows[PairDifference]
    baseline: list[PairDifference] | None


class ConventionRow(Record):
    """The scores of a table's rows by the definition of one library."""

    convention: Word
    label: Word
    scores: Scores
    note: Text


class ConventionScores(TableName):
    """The scores of a table's rows by the definitions of libraries."""

    metric: Word
    k: Annotated[Count, Field(ge=1)]
    rows: Some[ConventionRow]


class TieRow(Record):
    """The users with a tie at the cut in a row, and its scores under each rule for ties."""

    row: Identity
    algorithm: Word
    tied: Share | None
    scores: Scores


class TieScores(TableName):
    """The scores of a table's rows under each rule for ties."""

    metric: Word
    rows: Some[TieRow]


class DataInfo(Record):
    """A data set of a run."""

    name: Word
    source: Word
    fingerprint: Word
    n_users: Count
    n_items: Count
    n_ratings: Count
    scale: Annotated[list[Number], Field(min_length=2, max_length=2)]
    filters: Rows[Text]
    notes: Rows[Text]


class SplitInfo(Record):
    """A fold of a run."""

    dataset: Word
    split: Word
    seed: Count
    fold: Count
    fingerprint: Word
    n_train: Count
    n_test: Count
    notes: Rows[Text]


class Machine(Record):
    """Properties of the machine that affect timings."""

    system: Text
    processor: Text
    cores: Count
    memory_gb: Amount


def _comes_from_python(config: dict[str, Any]) -> bool:
    given = config.get("dataset")
    return isinstance(given, list) and len(given) == 1 and str(given[0]).startswith(GIVEN)


def _experiment(config: dict[str, Any]) -> Experiment:
    given = {"dataset": ["bundled"]} if _comes_from_python(config) else {}
    return Experiment.model_validate(config | given)


def _explicit(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config with every key; the name of data from a session stands for itself."""
    given = {"dataset": config["dataset"]} if _comes_from_python(config) else {}
    explicit = _experiment(config).model_dump(mode="json") | given
    _experiment(explicit)  # a default is checked where it is written out
    return explicit


class RunInfo(Record):
    """What ``run.json`` holds; each part is an object with attributes, or reads as ``part["key"]``.

    Attributes
    ----------
    name, description : str
    metrics : list of str
        Labels, in the order of the config.
    seeds : list of int
    config : dict
        With every key; `experiment` is the same as an object.
    datasets, splits : list
        Counts and fingerprints of each data set, and of each fold.
    cells : list of CellResult or FailedCell
        One fit on one fold under one seed each: parameters, seconds, memory and scores, or
        ``error``; also as `finished` and `failed`.
    rows, bounds : list
        The value of each metric in each row of a table, and of the best and a random order.
    statistics : list of MetricComparison
        By table and metric: intervals and letters of the ``algorithms``, ``pairs``, and
        differences to the ``baseline``.
    conventions, ties : list
        Scores by the definitions of other libraries, and under other rules for ties.
    notes : list of str
    versions, machine, commit, config_file, started, seconds
        With what, where, from what and when the run was made.
    files : dict of str to str
        SHA-256 of the other files of the run.
    """

    schema_version: Literal[2] = 2
    name: Annotated[str, Field(pattern=NAME)]
    description: Text
    metrics: Some[Word]
    seeds: Some[Count]
    config: Annotated[Params, AfterValidator(_explicit)]
    datasets: Some[DataInfo]
    splits: Some[SplitInfo]
    notes: Rows[Text]
    cells: Some[AnyCell]
    rows: Some[RowResult]
    bounds: Rows[BoundResult]
    conventions: Rows[ConventionScores] = []
    ties: Rows[TieScores] = []
    statistics: Rows[MetricComparison]
    versions: dict[str, Text]
    machine: Machine
    commit: Text | None
    config_file: Text | None
    started: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+\d:]{0,6}$")]
    seconds: Amount
    files: dict[str, Digest]

    @classmethod
    def checked(cls, found: Any, where: str = "run.json") -> Self:
        """Return a record if it is whole.

        Parameters
        ----------
        found : dict
        where : str
            What an error names as its place.

        Raises
        ------
        ResultsError
            With the first key that is missing, unknown or wrong.
        """
        again = "run the config again"
        try:
            return cls.model_validate(found)
        except MetricError as error:
            raise ResultsError(f"{where}: metrics: {error}; {again}") from None
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            path = tuple(part for part in first["loc"] if part not in ("failed", "finished"))
            reason = first["msg"].removeprefix("Value error, ").splitlines()[0]
            raise ResultsError(f"{where}: {dotted(path) or 'the run'}: {reason}; {again}") from None

    @property
    def experiment(self) -> Experiment:
        """The config; data that came from Python, which no config can name, are bundled ones."""
        return _experiment(self.config)

    @property
    def finished(self) -> list[CellResult]:
        """The cells that came to an end."""
        return [cell for cell in self.cells if isinstance(cell, CellResult)]

    @property
    def failed(self) -> list[FailedCell]:
        """The cells that did not."""
        return [cell for cell in self.cells if isinstance(cell, FailedCell)]

    @property
    def tables(self) -> dict[str, tuple[str, str, str]]:
        """Display names of each table, by its identity."""
        return {row.table: row.names for row in self.rows}

    @property
    def algorithms(self) -> list[str]:
        """Display name of every algorithm, each once."""
        return list(dict.fromkeys(cell.algorithm for cell in self.cells))

    @model_validator(mode="after")
    def _metrics_are_known_and_have_scores(self) -> Self:
        """Check that every label is a metric, and that nothing has a score of another."""
        labels = [row.label for entry in self.conventions for row in entry.rows]
        for label in [*labels, *(tied.metric for tied in self.ties), *self.metrics]:
            metrics.parse(label)
        _once("a metric", self.metrics)
        for cell in self.finished:
            _of(self.metrics, cell.scores, f"a cell of {cell.algorithm}")
        for row in self.rows:
            _of(self.metrics, row.scores, f"the row of {row.algorithm}")
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
        tables = self.tables
        names = {row.row: (row.table, row.algorithm) for row in self.rows}
        for found, of in ((tables, "tables"), (names, "rows")):
            if len(set(found.values())) < len(found):
                raise ValueError(f"two {of} have the same name")
        if {cell.row for cell in self.cells} != set(names):
            raise ValueError("its rows are not those of its cells")
        parts: list[TableName] = [*self.rows, *self.cells, *self.bounds, *self.statistics]
        for part in [*parts, *self.conventions, *self.ties]:
            if tables.get(part.table) != part.names:
                raise ValueError(f"table {part.table} has two names, or no row")
        named: list[tuple[str, str, str]] = [(c.table, c.row, c.algorithm) for c in self.cells]
        listed: list[tuple[str, Sequence[AlgorithmMean | TieRow]]]
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


def _once(what: str, keys: Iterable[object]) -> None:
    keys = list(keys)
    if len(set(keys)) < len(keys):
        raise ValueError(f"{what} is there twice")


def to_json(info: RunInfo) -> bytes:
    """Return a record as a file, which begins with the SHA-256 of its other bytes."""
    described = {"sha256": NO_DIGEST, **info.model_dump(exclude_unset=True)}
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "replace")
    return data.replace(NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def read_info(path: Path) -> RunInfo:
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
        found = from_json(data)
        version = found["schema_version"]
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}; check its permissions") from None
    except (ValueError, LookupError, TypeError):
        raise ResultsError(f"{path}: not a run's description; {again}") from None
    if version != SCHEMA_VERSION or not isinstance(version, int):
        raise ResultsError(
            f"{path}: written by another version of harness, in a format that this version does "
            f"not read; make it again: {_command_for(found, path)}"
        )
    if "sha256" in found and not _is_as_written(data, found.pop("sha256")):
        raise ResultsError(f"{path}: changed since it was written; {again}")
    return RunInfo.checked(found, str(path))


def _is_as_written(data: bytes, digest: object) -> bool:
    if not isinstance(digest, str) or len(digest) != len(NO_DIGEST) or not digest.isascii():
        return False
    blank = data.replace(digest.encode(), NO_DIGEST.encode(), 1)
    return hashlib.sha256(blank).hexdigest() == digest


def _command_for(found: object, path: Path) -> str:
    """Return the command that repeats a run, if its config is known."""
    config = found.get("config_file") if isinstance(found, dict) else None
    if not (isinstance(config, str) and re.fullmatch(r"[\w./-]{1,200}", config)):
        return "run its config again"
    return f"harness run {config} --results {path.parent.parent}"
