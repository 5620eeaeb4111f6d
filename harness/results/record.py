"""The record of a run, ``run.json``: one model that writes it and, since anybody may, reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from harness import metrics
from harness._util.files import RUN_FILE, read_regular
from harness._util.libraries import pd
from harness.config.experiment import NAME, Experiment, headline_of
from harness.datasets.section import name_of_given
from harness.errors import MetricError, ResultsError, masked_value
from harness.notes.note import plain
from harness.plugins import registry as plugins
from harness.results.cells import AnyCell, CellResult, FailedCell, RowKey, TableName
from harness.results.description import DataDescription
from harness.results.environment import Machine
from harness.results.fields import (
    AGAIN,
    Amount,
    Count,
    Digest,
    Number,
    Params,
    Record,
    Rows,
    Share,
    Some,
    Text,
    Word,
    WrittenNote,
)
from harness.results.statistics import (
    BoundResult,
    ConventionScores,
    GroupScores,
    MetricComparison,
    RowResult,
    TieScores,
)
from harness.schema.sections import SearchSpace, dotted

OF_THIS_RUN = {"is_read": False}
"""The context in which a record is validated that this process has made."""


def check_parts(info: RunInfo) -> None:
    """Raise ValueError where two parts of a record contradict each other."""
    _check_labels(info)
    parts = [*_rows_of_parts(info)]
    for kind, keys in _unique_keys(info, parts):
        if len({*keys}) < len(keys):
            raise ValueError(f"{kind} is there twice")
    for expected, scores, owner in _scored_parts(info):
        for label in sorted({*expected} ^ {*scores}):
            lacks = "no" if label in expected else "a score of"
            raise ValueError(f"{owner} has {lacks} {label}")
    _check_names(info, parts)
    _check_statistics(info)
    _check_conventions(info)
    if any(cell.fold >= cell.n_folds or cell.seed not in info.seeds for cell in info.cells):
        raise ValueError("a cell of a seed or a fold that the run does not have")


def refusal(error: Exception, where: str) -> ResultsError:
    """Return the error that names the first key of a record that is missing or wrong."""
    if isinstance(error, MetricError):
        return ResultsError(f"{where}: metrics: {error}; {AGAIN}")
    path, reason = "", str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        path = dotted(tuple(part for part in first["loc"] if part not in ("failed", "finished")))
        reason = first["msg"].removeprefix("Value error, ")
    return ResultsError(f"{where}: {path or 'the run'}: {reason.splitlines()[0]}; {AGAIN}")


def _check_labels(info: RunInfo) -> None:
    if info.headline is not None and info.headline not in info.metrics:
        raise ValueError(f"the headline {info.headline} is not among its metrics")
    labels = [row.label for table in info.conventions for row in table.rows]
    for label in [*labels, *(table.metric for table in info.ties), *info.metrics]:
        metrics.parse(label)


def _rows_of_parts(info: RunInfo) -> Iterator[tuple[str, Sequence[RowKey]]]:
    """Yield the identity of a table, and the rows that a part of the record has of it."""
    for comparison in info.statistics:
        yield comparison.table, comparison.algorithms
    for tied in info.ties:
        yield tied.table, tied.rows
    for division in info.groups:
        for group in division.groups:
            yield division.table, group.algorithms
        yield division.table, division.gaps


def _unique_keys(
    info: RunInfo, parts: Iterable[tuple[str, Sequence[RowKey]]]
) -> Iterator[tuple[str, Sequence[object]]]:
    """Yield a kind of thing, and the keys of all that there are, of which no two may be equal."""
    yield "a metric", info.metrics
    yield "a row", [row.row for row in info.rows]
    yield "a cell", [(cell.row, cell.seed, cell.fold) for cell in info.cells]
    yield "a bound", [(bound.table, bound.bound) for bound in info.bounds]
    yield "a comparison", [(comparison.table, comparison.metric) for comparison in info.statistics]
    for table in info.conventions:
        yield "a convention", [row.convention for row in table.rows]
    divisions = [(division.table, division.title, division.metric) for division in info.groups]
    yield "a division into groups", divisions
    for division in info.groups:
        yield "a group", [group.group for group in division.groups]
    for _, rows in parts:
        yield "a row of a part", [row.row for row in rows]


def _scored_parts(info: RunInfo) -> Iterator[tuple[Iterable[str], Iterable[str], str]]:
    """Yield the labels that a part must have scores of, those that it has, and what it is."""
    for cell in info.finished:
        yield info.metrics, cell.scores, f"a cell of {cell.algorithm}"
    for row in info.rows:
        yield info.metrics, row.scores, f"the row of {row.algorithm}"
    for bound in info.bounds:
        labels = [label for label in info.metrics if label in bound.scores]
        for scores in (bound.scores, bound.deviations):
            yield labels, scores, f"the {bound.bound} order"


def _check_names(info: RunInfo, parts: Iterable[tuple[str, Sequence[RowKey]]]) -> None:
    """Check that a table and a row have one name everywhere, and no other has it."""
    tables = info.tables
    rows = {row.row: (row.table, row.algorithm) for row in info.rows}
    for names, kind in ((tables, "tables"), (rows, "rows")):
        if len({*names.values()}) < len(names):
            raise ValueError(f"two {kind} have the same name")
    if {cell.row for cell in info.cells} != {*rows}:
        raise ValueError("its rows do not match its cells")
    named: list[TableName] = [*info.rows, *info.cells, *info.bounds, *info.statistics]
    for part in [*named, *info.conventions, *info.ties, *info.groups]:
        if tables.get(part.table) != part.names:
            raise ValueError(f"table {part.table} has two names, or no row")
    for table, keys in [*parts, *((cell.table, [cell]) for cell in info.cells)]:
        for key in keys:
            if rows.get(key.row) != (table, key.algorithm):
                raise ValueError(f"row {key.row} has two names, or is not in the table")


def _check_statistics(info: RunInfo) -> None:
    for label in [part.metric for parts in (info.statistics, info.groups) for part in parts]:
        if label not in info.metrics:
            raise ValueError(f"statistics of {label}, which the run does not have")
    for comparison in info.statistics:
        names = {mean.algorithm for mean in comparison.algorithms}
        for pair in [*comparison.pairs, *(comparison.baseline or [])]:
            if pair.first == pair.second or not {pair.first, pair.second} <= names:
                raise ValueError(
                    "statistics: a pair of an unknown algorithm, or of one with itself"
                )


def _check_conventions(info: RunInfo) -> None:
    for table in info.conventions:
        rows = {row.row for row in info.rows if row.table == table.table}
        if not all({*row.scores} <= rows for row in table.rows):
            raise ValueError("conventions: a score of an unknown row")


SCHEMA_VERSION = 2
NO_DIGEST = "0" * 64  # what stands for the file's own SHA-256 while it is computed


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
    notes: Rows[WrittenNote]
    genres: Text = ""  # identity of the genres of the items, where a metric of the run needs them


class SplitInfo(Record):
    """A fold of a run."""

    dataset: Word
    split: Word
    seed: Count
    fold: Count
    fingerprint: Word
    n_train: Count
    n_test: Count
    notes: Rows[WrittenNote]
    unknown: Annotated[list[Share], Field(min_length=2, max_length=2)] | None = None
    """Proportion of test users, and of test ratings by their item, without a training rating."""


About = Annotated[str, Field(max_length=10_000)]


class OwnTable(Record):
    """The table of an analysis that is not this package's own."""

    title: About = ""
    caption: About = ""
    columns: Rows[Word]
    rows: Rows[list[str | int | float | bool | None]]

    @model_validator(mode="before")
    @classmethod
    def _of_frame(cls, table: object) -> object:
        if not isinstance(table, pd.DataFrame):
            return table
        split = json.loads(table.to_json(orient="split", index=False, date_format="iso"))
        columns = [str(column) for column in table.columns]
        plain = (str, int, float, bool, type(None))
        rows = [
            [value if isinstance(value, plain) else json.dumps(value) for value in row]
            for row in split["data"]
        ]
        return {"columns": columns, "rows": rows}

    @classmethod
    def of(cls, frame: pd.DataFrame, *, title: str, caption: str) -> OwnTable:
        """Return a frame as a table with a title and a caption."""
        table = cls.model_validate(frame)
        table.title, table.caption = title, caption
        return table

    @property
    def frame(self) -> pd.DataFrame:
        """The table as a frame."""
        return pd.DataFrame(self.rows, columns=self.columns)


class PluginUsed(Record):
    """A plug-in that took part in a run and is not this package's own."""

    kind: Word
    name: Word
    package: Word
    version: Text
    facts: Params = {}
    """What readers need of a metric or a split, so that reading a run imports no code."""


def _experiment(config: dict[str, Any]) -> Experiment:
    """Return a config as an object; data from a session, which no file can name, are bundled."""
    data = config.get("dataset")
    if name_of_given(data) is not None and isinstance(data, list) and isinstance(data[0], str):
        config = config | {"dataset": ["bundled"]}
    return Experiment.model_validate(config)


def _explicit(config: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Return a config with every key, and no secret of an address.

    The name of data from a session stands for itself. A run has checked its config, and written
    every key.
    """
    config = plain(config, masked_value)
    if info.context == OF_THIS_RUN:
        return config
    explicit = _experiment(config).model_dump(mode="json")
    if explicit != config:
        _experiment(explicit)  # a default is checked where it is written out
    is_given = name_of_given(config.get("dataset")) is not None
    return explicit | ({"dataset": config["dataset"]} if is_given else {})


class RunInfo(Record):
    """What ``run.json`` holds; each part is an object with attributes, or reads as ``part["key"]``.

    Attributes
    ----------
    name, description : str
    metrics : list of str
        Labels, in the order of the config.
    headline : str or None
        The metric that decides which row is the best; None in older runs, see `primary`.
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
    descriptions : list of DataDescription
        What each data set and the first fold of each split is like; empty in older runs.
    conventions, ties : list
        Scores by the definitions of other libraries, and under other rules for ties.
    groups : list of GroupScores
        Scores in groups of users or items, by table and metric; see `Run.groups`.
    notes : list of Note
        What changes most how the tables are read comes first.
    spaces : dict
        By label, the space that an algorithm was searched in, recommended ones written out.
    versions, machine, commit, config_file, started, seconds
        With what, where, from what and when the run was made.
    analyses : dict of str to OwnTable
        The tables from your own analyses, by name; see `Run.analyses`.
    plugins : list of PluginUsed
        What is not this package's own, with package and version.
    packages : dict of str to str
        By package, the SHA-256 of the paths and hashes of its installed files.
    files : dict of str to str
        SHA-256 of the other files of the run.
    """

    schema_version: Literal[2] = 2
    name: Annotated[str, Field(pattern=NAME)]
    description: Text
    metrics: Some[Word]
    headline: Word | None = None
    seeds: Some[Count]
    config: Annotated[Params, AfterValidator(_explicit)]
    datasets: Some[DataInfo]
    splits: Some[SplitInfo]
    descriptions: Rows[DataDescription] = []
    notes: Rows[WrittenNote]
    cells: Some[AnyCell]
    rows: Some[RowResult]
    bounds: Rows[BoundResult]
    conventions: Rows[ConventionScores] = []
    ties: Rows[TieScores] = []
    statistics: Rows[MetricComparison]
    groups: Rows[GroupScores] = []
    spaces: dict[Word, SearchSpace] = {}
    versions: dict[str, Text]
    packages: dict[Word, Digest] = {}
    plugins: Rows[PluginUsed] = []
    analyses: dict[Word, OwnTable] = {}
    machine: Machine
    commit: Text | None
    config_file: Text | None
    started: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+\d:]{0,6}$")]
    seconds: Amount
    files: dict[str, Digest]

    @classmethod
    def checked(cls, contents: object, where: str = RUN_FILE, *, is_read: bool = True) -> Self:
        """Return a record, or a ResultsError of the first key that is wrong.

        The parts of one that is read, from whomever it comes, have to agree with each other.
        """
        try:
            info = cls.model_validate(contents, context=None if is_read else OF_THIS_RUN)
            if is_read:
                check_parts(info)
        except (MetricError, ValueError) as error:
            raise refusal(error, where) from None
        return info

    @model_validator(mode="before")
    @classmethod
    def _remember_plugins(cls, contents: object) -> object:
        """Let labels and sections be read without the code that they name."""
        written = contents.get("plugins", []) if isinstance(contents, dict) else []
        for plugin in TypeAdapter(Rows[PluginUsed]).validate_python(written):
            package = (plugin.package, plugin.version) if plugin.version else None
            plugins.remember(plugin.kind, plugin.name, plugin.facts, package)
        return contents

    @cached_property
    def experiment(self) -> Experiment:
        """The config; data that came from Python, which no config can name, are bundled ones."""
        return _experiment(self.config)

    @property
    def primary(self) -> str:
        """The headline metric; of a run that does not name one, the first ranking metric."""
        return headline_of(self.metrics, self.headline)

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
    def seeds_text(self) -> str:
        """The seeds, or, where they are crossed, the run's and how many of each kind there are."""
        several = [f"{n} {kind}" for kind, n in self.config["seeds"].items() if n > 1]
        if several:
            return f"{self.config['seed'][0]}, crossed: {' × '.join(several)}"
        return ", ".join(map(str, self.seeds))

    @property
    def algorithms(self) -> list[str]:
        """Display name of every algorithm, each once."""
        return list(dict.fromkeys(cell.algorithm for cell in self.cells))

    def section(self, key: str, name: str) -> Any:
        """Return the part of the config that a display name stands for."""
        names = dict.fromkeys(row[key] for row in self.rows)
        return getattr(self.experiment, key)[[*names].index(name)]

    @property
    def has_several_cells(self) -> bool:
        """Whether a row is a mean of several cells."""
        return len({cell.row for cell in self.cells}) < len(self.cells)

    @property
    def cells_of_rows(self) -> dict[str, list[AnyCell]]:
        """The cells of each row, by its identity, in the order of the tables."""
        cells: dict[str, list[AnyCell]] = {row.row: [] for row in self.rows}
        for cell in self.cells:
            cells[cell.row].append(cell)
        return cells


def to_json(info: RunInfo) -> bytes:
    """Return a record as a file, which begins with the SHA-256 of its other bytes."""
    described = {"sha256": NO_DIGEST, **info.model_dump(exclude_unset=True)}
    data = f"{json.dumps(described, indent=1, ensure_ascii=False)}\n".encode("utf-8", "replace")
    return data.replace(NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def record_in(folder: Path) -> dict[str, Any]:
    """Return what a folder's ``run.json`` holds; nothing where it is missing or another format."""
    try:
        described = json.loads(read_regular(folder / RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}
