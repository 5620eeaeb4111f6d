"""The record of a run, ``run.json``: one model that writes it and, since anybody may, reads it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    AliasChoices,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from harness import metrics, plugins
from harness.config.experiment import NAME, Claim, Experiment, headline_of, name_of_given
from harness.errors import MetricError, ResultsError, counted
from harness.files import report_os_error
from harness.lazy import pd
from harness.results.description import DataDescription
from harness.results.environment import Machine
from harness.results.fields import (
    Amount,
    Count,
    Digest,
    Identity,
    Measured,
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
from harness.sections import SearchSpace, dotted

SCHEMA_VERSION = 2
OUTSIDE = "not a model of the run: its estimates or lists were read from files"
"""How a row of another program was fitted."""
MOST_BYTES = 64_000_000
NO_DIGEST = "0" * 64  # what stands for the file's own SHA-256 while it is computed
AGAIN = "run the config again"
FEWEST_USERS = 30
"""A group of fewer users gets no letters, and is left out of the gap between groups."""
LONGEST_VALUE = 40
"""Characters of a setting that distinguishes two names."""

Key = TypeVar("Key")
Value = TypeVar("Value")
Scores = dict[str, Number | None]
Bound = Literal["best", "random"]


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

    def place(self, tables: Sized) -> str:
        """Return what this one of some tables is called; '' where there is no other."""
        return ", ".join(self.names) if len(tables) > 1 else ""

    def start(self, tables: Sized) -> str:
        """Return how a message about this one of some tables begins; of a single one, with ''."""
        return f"{place}: " if (place := self.place(tables)) else ""


class RowKey(Record):
    """Identity and display name of a row within its table."""

    row: Identity
    algorithm: Word


class RowName(RowKey, TableName):
    """Display names and identities of a row: an algorithm in a table."""


class RowResult(RowName):
    """The value of each metric in a row of a table, and the users that it is of."""

    scores: Scores
    n_users: Count | None = None
    """Users who are evaluated in a cell of the row, each counted once; None in older runs."""
    n_undefined: dict[str, Count] = {}
    """By metric that is a mean of users' scores, how many of these users have none in any cell;
    only metrics of which there are some."""


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
    """Of the search for its parameters; None without one, and where another cell has it."""
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

    def __str__(self) -> str:
        each = "" if self.workers == 1 else " each"
        return (
            f"on {self.date}, {self.processor}, {counted(self.cores, 'core')}, "
            f"{counted(self.workers, 'cell')} at a time with "
            f"{counted(self.threads, 'thread')}{each}, harness {self.version}"
        )


class CellFacts(Record):
    """What is known of a finished cell beside its lists and scores."""

    fit_seconds: Measured
    score_seconds: Measured
    peak_mb: Measured  # what the cell added to the memory of its process, at the most
    measured: Conditions
    fit_path: str
    scoring_path: str
    n_impossible: Count
    n_test: Count
    n_unknown_users: Count = 0  # evaluated users without a training rating
    n_dropped_users: Count = 0  # test users who are not evaluated, as they have no training rating
    notes: Rows[WrittenNote]
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
    tied: dict[str, Share] = Field(validation_alias=AliasChoices("tied", "tied_at_cut"))
    """By metric of lists, the share of users whose score depends on the order of ties; under its
    former name, of those with a tie across the cut-off rank."""


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


class AlgorithmMean(RowKey):
    """An algorithm's mean over users with its interval; a shared letter: no difference."""

    mean: Number | None
    low: Number | None
    high: Number | None
    letters: Annotated[str, Field(pattern="^[a-z.]{0,10000}$")]
    n_users: Count
    components: dict[str, Amount] = {}
    """Variances: of users, of the seeds of each level, and the rest; none for a single seed."""


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
    standard_error: Amount | None = None
    degrees: Amount | None = None  # of freedom
    detectable: Amount | None = None  # the difference that such a test finds with a power of 80%
    p_equivalent: Share | None = None
    equivalent: bool | None = None
    """Whether the difference is significantly within the margin; None without one."""


class MetricComparison(TableName):
    """The algorithms of a table, compared by one metric."""

    metric: Word
    method: Text
    note: Text
    claim: Claim = "models"
    about: Text = ""  # the claim as a sentence
    margin: Amount | None = None
    from_moments: bool = False  # intervals and p-values of many users, else from resamples
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


class TieRow(RowKey):
    """The users whose score depends on ties in a row, and its scores under each rule for ties."""

    tied: Share | None
    scores: Scores


class TieScores(TableName):
    """The scores of a table's rows under each rule for ties."""

    metric: Word
    rows: Some[TieRow]


class GroupMean(AlgorithmMean):
    """An algorithm's mean over the users of a group, and how far it is above that of the rest."""

    rest: Number | None
    rest_low: Number | None
    rest_high: Number | None


class GroupResult(Record):
    """A group of users or items: its members in the test part, and the users with a score."""

    group: Word
    n_members: Count
    n_users: Count
    n_left_out: Count  # users without a score, as those without a relevant item of the group
    random: Number | None  # what a random order is expected to score
    algorithms: Rows[GroupMean]

    @property
    def is_small(self) -> bool:
        """Whether its users are too few for letters and for the gap between groups."""
        return self.n_users < FEWEST_USERS


class GroupGap(RowKey):
    """An algorithm's greatest mean of a group less its least."""

    greatest: Word
    least: Word
    difference: Number
    low: Number | None
    high: Number | None


class GroupScores(TableName):
    """The algorithms of a table by one metric, in each group of its users or items."""

    side: Literal["users", "items"]
    by: Word
    metric: Word
    groups: Rows[GroupResult]
    gaps: Rows[GroupGap]

    @property
    def title(self) -> str:
        """What is divided by what, as ``users: age``."""
        return f"{self.side}: {self.by}"


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
    """Share of test users, and of test ratings by their item, without a training rating."""


class OwnTable(Record):
    """The table of an analysis that is not this package's own."""

    columns: Rows[Word]
    rows: Rows[list[str | int | float | bool | None]]

    @model_validator(mode="before")
    @classmethod
    def _of_frame(cls, given: object) -> object:
        if not isinstance(given, pd.DataFrame):
            return given
        split = json.loads(given.to_json(orient="split", index=False, date_format="iso"))
        columns = [str(column) for column in given.columns]
        plain = (str, int, float, bool, type(None))
        rows = [
            [value if isinstance(value, plain) else json.dumps(value) for value in row]
            for row in split["data"]
        ]
        return {"columns": columns, "rows": rows}

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


def _is_from_python(config: dict[str, Any]) -> bool:
    """Return whether the data set of a config is data from a session, which no file can name."""
    return name_of_given(config.get("dataset")) is not None


def _experiment(config: dict[str, Any]) -> Experiment:
    named = config["dataset"][0] if _is_from_python(config) else None
    given = {"dataset": ["bundled"]} if isinstance(named, str) else {}
    return Experiment.model_validate(config | given)


def _explicit(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config with every key; the name of data from a session stands for itself."""
    explicit = _experiment(config).model_dump(mode="json")
    _experiment(explicit)  # a default is checked where it is written out
    return explicit | ({"dataset": config["dataset"]} if _is_from_python(config) else {})


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
        The tables of analyses of your own, by name; see `Run.analyses`.
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
    def checked(cls, found: object, where: str = "run.json") -> Self:
        """Return a record; a ResultsError names the first key that is missing or wrong."""
        try:
            return cls.model_validate(found)
        except MetricError as error:
            raise ResultsError(f"{where}: metrics: {error}; {AGAIN}") from None
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            path = tuple(part for part in first["loc"] if part not in ("failed", "finished"))
            reason = first["msg"].removeprefix("Value error, ").splitlines()[0]
            raise ResultsError(f"{where}: {dotted(path) or 'the run'}: {reason}; {AGAIN}") from None

    @model_validator(mode="before")
    @classmethod
    def _remember_plugins(cls, given: object) -> object:
        """Let labels and sections be read without the code that they name."""
        written = given.get("plugins", []) if isinstance(given, dict) else []
        for plugin in TypeAdapter(Rows[PluginUsed]).validate_python(written):
            package = (plugin.package, plugin.version) if plugin.version else None
            plugins.remember(plugin.kind, plugin.name, plugin.facts, package)
        return given

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
        known = dict.fromkeys(row[key] for row in self.rows)
        return getattr(self.experiment, key)[[*known].index(name)]

    @property
    def has_several_cells(self) -> bool:
        """Whether a row is a mean of several cells."""
        return any(n > 1 for n in Counter(cell.row for cell in self.cells).values())

    @property
    def cells_of_rows(self) -> dict[str, list[AnyCell]]:
        """The cells of each row, by its identity, in the order of the tables."""
        found: dict[str, list[AnyCell]] = {row.row: [] for row in self.rows}
        for cell in self.cells:
            found[cell.row].append(cell)
        return found

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        """Check that all parts are of the same metrics and rows, each listed once."""
        if self.headline is not None and self.headline not in self.metrics:
            raise ValueError(f"the headline {self.headline} is not among its metrics")
        labels = [row.label for entry in self.conventions for row in entry.rows]
        for label in [*labels, *(entry.metric for entry in self.ties), *self.metrics]:
            metrics.parse(label)
        listed: list[tuple[str, Sequence[RowKey]]] = [
            *((each.table, each.algorithms) for each in self.statistics),
            *((each.table, each.rows) for each in self.ties),
            *((each.table, group.algorithms) for each in self.groups for group in each.groups),
            *((each.table, each.gaps) for each in self.groups),
        ]
        titles = [(each.table, each.title, each.metric) for each in self.groups]
        once: list[tuple[str, Sequence[object]]] = [
            ("a metric", self.metrics),
            ("a row", [row.row for row in self.rows]),
            ("a cell", [(cell.row, cell.seed, cell.fold) for cell in self.cells]),
            ("a bound", [(each.table, each.bound) for each in self.bounds]),
            ("a comparison", [(each.table, each.metric) for each in self.statistics]),
            *(("a convention", [e.convention for e in shown.rows]) for shown in self.conventions),
            ("a division into groups", titles),
            *(("a group", [g.group for g in each.groups]) for each in self.groups),
            *(("a row of a part", [row.row for row in rows]) for _, rows in listed),
        ]
        for what, keys in once:
            if len({*keys}) < len(keys):
                raise ValueError(f"{what} is there twice")
        scored: list[tuple[Iterable[str], Iterable[str], str]] = [
            *((self.metrics, each.scores, f"a cell of {each.algorithm}") for each in self.finished),
            *((self.metrics, each.scores, f"the row of {each.algorithm}") for each in self.rows),
        ]
        for bound in self.bounds:
            known = [label for label in self.metrics if label in bound.scores]
            of_bound = bound.scores, bound.deviations
            scored += [(known, each, f"the {bound.bound} order") for each in of_bound]
        for expected, scores, what in scored:
            for label in sorted({*expected} ^ {*scores}):
                lacks = "no" if label in expected else "a score of"
                raise ValueError(f"{what} has {lacks} {label}")

        tables = self.tables
        names = {row.row: (row.table, row.algorithm) for row in self.rows}
        for found, of in ((tables, "tables"), (names, "rows")):
            if len({*found.values()}) < len(found):
                raise ValueError(f"two {of} have the same name")
        if {cell.row for cell in self.cells} != {*names}:
            raise ValueError("its rows are not those of its cells")
        parts: list[TableName] = [*self.rows, *self.cells, *self.bounds, *self.statistics]
        for part in [*parts, *self.conventions, *self.ties, *self.groups]:
            if tables.get(part.table) != part.names:
                raise ValueError(f"table {part.table} has two names, or no row")
        for table, rows in [*listed, *((cell.table, [cell]) for cell in self.cells)]:
            for row in rows:
                if names.get(row.row) != (table, row.algorithm):
                    raise ValueError(f"row {row.row} has two names, or is not in the table")
        for label in [each.metric for parts in (self.statistics, self.groups) for each in parts]:
            if label not in self.metrics:
                raise ValueError(f"statistics of {label}, which the run does not have")
        for compared in self.statistics:
            compared_names = {each.algorithm for each in compared.algorithms}
            for pair in [*compared.pairs, *(compared.baseline or [])]:
                if pair.first == pair.second or not {pair.first, pair.second} <= compared_names:
                    raise ValueError("statistics: a pair of an unknown algorithm, or of one alone")
        for shown in self.conventions:
            in_table = {row for row, (table, _) in names.items() if table == shown.table}
            if not all({*each.scores} <= in_table for each in shown.rows):
                raise ValueError("conventions: a score of an unknown row")
        if any(cell.fold >= cell.n_folds or cell.seed not in self.seeds for cell in self.cells):
            raise ValueError("a cell of a seed or a fold that the run does not have")
        return self


def to_json(info: RunInfo) -> bytes:
    """Return a record as a file, which begins with the SHA-256 of its other bytes."""
    described = {"sha256": NO_DIGEST, **info.model_dump(exclude_unset=True)}
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "replace")
    return data.replace(NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def read_info(path: Path) -> RunInfo:
    """Return what a ``run.json`` holds; a ResultsError if this version does not write that."""
    with report_os_error(path, "cannot be read", "check its permissions"):
        if path.stat().st_size > MOST_BYTES:
            raise ResultsError(f"{path}: larger than {MOST_BYTES:,} bytes; {AGAIN}")
        data = path.read_bytes()
    try:
        found = from_json(data)
        written_in = found["schema_version"]
    except (ValueError, LookupError, TypeError):
        raise ResultsError(f"{path}: not a run's description; {AGAIN}") from None
    if written_in != SCHEMA_VERSION or not isinstance(written_in, int):
        command, config = "run its config again", found.get("config_file")
        if isinstance(config, str) and re.fullmatch(r"[\w./-]{1,200}", config):
            command = f"harness run {config} --results {path.parent.parent}"
        raise ResultsError(
            f"{path}: written by another version of harness, in a format that this version does "
            f"not read; make it again: {command}"
        )
    digest = found.pop("sha256", None)
    if digest is not None and not _is_as_written(data, digest):
        raise ResultsError(f"{path}: changed since it was written; {AGAIN}")
    return RunInfo.checked(found, str(path))


def _is_as_written(data: bytes, digest: object) -> bool:
    if not isinstance(digest, str) or len(digest) != len(NO_DIGEST) or not digest.isascii():
        return False
    blank = data.replace(digest.encode(), NO_DIGEST.encode(), 1)
    return hashlib.sha256(blank).hexdigest() == digest


def distinct_names(names: Sequence[str], settings: Sequence[Mapping[str, object]]) -> list[str]:
    """Return names of which no two are equal, marked by the settings in which they differ.

    `settings` holds what each name stands for, without defaults; mappings may be nested. A ``path``
    replaces the name by an end of the path, as long as it must be to distinguish them.
    """
    shown = list(names)
    for group in _equal(shown):
        paths = [str(settings[i].get("path", "")).replace("\\", "/").split("/") for i in group]
        n_paths = len({*map(tuple, paths)})
        if n_paths > 1:
            lengths = range(1, max(map(len, paths)) + 1)
            ends = ([path[-n:] for path in paths] for n in lengths)
            distinct = next(each for each in ends if len({*map(tuple, each)}) == n_paths)
            for i, end in zip(group, distinct, strict=True):
                shown[i] = "/".join(end) or shown[i]
    for group in _equal(shown):
        flat = {i: {k: value[:LONGEST_VALUE] for k, value in flattened(settings[i])} for i in group}
        keys = dict.fromkeys(key for each in flat.values() for key in each if key != "path")
        differing = [key for key in keys if len({each.get(key) for each in flat.values()}) > 1]
        for i, values in flat.items():
            marks = [f"{k.rpartition('.')[2]} {values[k]}" for k in differing if k in values]
            shown[i] += f" ({', '.join(marks)})" if marks else ""
    unique: list[str] = []
    for name in shown:
        number, free = 1, name
        while free in unique or (number > 1 and free in shown):
            number += 1
            free = f"{name} ({number})"
        unique.append(free)
    return unique


def _equal(names: Sequence[str]) -> list[list[int]]:
    """Return the positions of names that occur several times, by name."""
    positions = grouped((name, i) for i, name in enumerate(names))
    return [group for group in positions.values() if len(group) > 1]


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the second parts of pairs by the first."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def flattened(settings: Mapping[str, object], start: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names of nested settings, and their values as text."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{start}{key}.")
        elif value is not None:
            yield f"{start}{key}", str(value).lower() if isinstance(value, bool) else str(value)


def measured(cells: Iterable[AnyCell]) -> list[str]:
    """Return the conditions under which cells were measured, the most frequent first.

    Each with its number of cells where there are several: ``3 of 4 cells on 2026-11-20, ...``.
    """
    totals = Counter(str(cell.measured) for cell in cells if isinstance(cell, CellResult))
    if len(totals) == 1:
        return [*totals]
    return [f"{n} of {totals.total()} cells {text}" for text, n in totals.most_common()]


def took(infos: Iterable[RunInfo]) -> str:
    """Return how long runs took: ``0.3 s, with 2 of 2 cells found in the cache``."""
    infos = list(infos)
    cells = [cell for info in infos for cell in info.cells]
    found = sum(cell.found for cell in cells)
    seconds = f"{sum(info.seconds for info in infos):.1f} s"
    if not found:
        return seconds
    return f"{seconds}, with {found} of {counted(len(cells), 'cell')} found in the cache"
