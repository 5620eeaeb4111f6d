"""The record of a run, ``run.json``: one model that writes it and, since anybody may, reads it."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, TypeAdapter, model_validator

from harness import plugins
from harness.config.experiment import NAME, Experiment, headline_of
from harness.config.from_python import name_of_given
from harness.errors import MetricError, masked_values
from harness.files import RUN_FILE, read_regular
from harness.lazy import pd
from harness.quantities import SearchSpace
from harness.results.agreement import check_parts, refusal
from harness.results.cells import AnyCell, CellResult, FailedCell
from harness.results.description import DataDescription
from harness.results.environment import Machine
from harness.results.fields import (
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
    """Share of test users, and of test ratings by their item, without a training rating."""


class OwnTable(Record):
    """The table of an analysis that is not this package's own."""

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
    bundled = {"dataset": ["bundled"]} if isinstance(named, str) else {}
    return Experiment.model_validate(config | bundled)


def _explicit(config: dict[str, Any]) -> dict[str, Any]:
    """Return a config with every key, and no secret of an address.

    The name of data from a session stands for itself.
    """
    config = masked_values(config)
    explicit = _experiment(config).model_dump(mode="json")
    if explicit != config:
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
    def checked(cls, contents: object, where: str = RUN_FILE) -> Self:
        """Return a record whose parts agree, or a ResultsError of the first key that is wrong."""
        try:
            info = cls.model_validate(contents)
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
        return any(n > 1 for n in Counter(cell.row for cell in self.cells).values())

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
    text = json.dumps(described, indent=1, ensure_ascii=False) + "\n"
    data = text.encode("utf-8", "replace")
    return data.replace(NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def record_in(folder: Path) -> dict[str, Any]:
    """Return what a folder's ``run.json`` holds; nothing where it is missing or another format."""
    try:
        described = json.loads(read_regular(folder / RUN_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    return described if isinstance(described, dict) else {}
