"""Completed cells become scores, and each is handed to the analyses that the config asks for."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from harness._util.libraries import pd
from harness.algorithms import registry
from harness.config.experiment import DEFAULT_ANALYSES
from harness.datasets import Ratings
from harness.errors import HarnessError, PluginError, ResultsError, reason_of
from harness.experiment.analyses.base import Analysis, BuiltinAnalysis, ScoredCell
from harness.experiment.cell import compile_scoring
from harness.experiment.execute.pool import Pool
from harness.experiment.execute.progress import Stage
from harness.experiment.plan import Cell, Plan
from harness.metrics import Scores
from harness.metrics.arrays import Floats
from harness.metrics.own import locked
from harness.metrics.scoring import score_apart
from harness.notes.note import Note
from harness.plugins import registry as plugins
from harness.rankings import evaluation
from harness.results.cells import CellName, CellResult, FailedCell, Score
from harness.results.environment import is_as_started, packages, versions
from harness.results.fields import Record, Rows, WrittenNote
from harness.results.record import OwnTable
from harness.results.scores import RowScores
from harness.results.statistics import (
    BoundResult,
    ConventionScores,
    GroupScores,
    MetricComparison,
    RowResult,
    TieScores,
)
from harness.results.store import Arrays, CellRecord, key_of
from harness.results.table import ROW
from harness.splits import Split

FAILED = "analysis-failed"
"""The code of the note on an analysis that failed."""


@dataclass(eq=False)
class Evaluation:
    """The scores of a run, and what its analyses found."""

    users: pd.DataFrame
    """A row for each computed cell and user."""
    cells: list[CellResult | FailedCell] = field(default_factory=list)
    rows: list[RowResult] = field(default_factory=list)
    parts: dict[str, Any] = field(default_factory=dict)
    """What this package's own analyses add to the record, by its keys; and ``undistinguished``, by
    table and label why every order of the lists of a fold scores the same, if bounds are asked for.
    """
    tables: dict[str, OwnTable] = field(default_factory=dict)
    """The tables of other analyses, by name."""
    notes: list[Note] = field(default_factory=list)
    """Notes of the analyses."""
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """The codes of `users`, in their order."""
    statistics: list[MetricComparison] = field(default_factory=list)
    """The comparisons of rows."""
    not_compared: list[Note] = field(default_factory=list)
    is_found: bool = False
    """Whether an earlier run scored the cells, and compared the rows."""


def evaluate(
    plan: Plan, cells: Sequence[Cell], pool: Pool, failures: Mapping[str, str]
) -> Evaluation:
    """Score every completed cell, describe every cell, and hand them to the analyses."""
    results: dict[int, CellResult | FailedCell] = {}
    users: dict[int, tuple[pd.DataFrame, NDArray[np.int32]]] = {}
    evaluated = Evaluation(pd.DataFrame(columns=[*ROW, "seed", "fold", "user", *plan.labels]))
    analyses = Analyses(plan)
    names = [plan.name(cell) for cell in cells]
    tables: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for position, name in enumerate(names):
        tables[name.table][name.row].append(position)
    for rows in tables.values():
        positions = [position for of_row in rows.values() for position in of_row]
        analyses.each("start_table", [cells[position] for position in positions])
        for of_row in rows.values():  # so that what is held of each user is that of one row
            row = RowScores(plan.metrics)
            for position in of_row:
                cell, name = cells[position], names[position]
                record = None if cell.key in failures else pool.take(cell.key)
                split = plan.split(cell)
                ratings = split.ratings
                if record is None or not record.fits(ratings.n_users, ratings.n_items):
                    error = "its stored cell is not of these data" if record else "not computed"
                    results[position] = FailedCell(
                        **name.model_dump(exclude_unset=True), error=failures.get(cell.key, error)
                    )
                    continue
                pool.watch(Stage(cell.title, "metrics"))
                entry = registry.entry(plan.experiment.algorithms[cell.algorithm].name)
                prefers = entry.gives_preferences(cell.params)  # as a search chose them
                scores, result = scored(plan, split, name, record, prefers)
                result.found = cell.key not in pool.computed
                results[position] = result
                row.add(record.users, scores, result.metric_errors)
                per_user = {label: value.per_user for label, value in scores.items()}
                frame = users_of(name, ratings, record.users, per_user)
                users[position] = frame, record.users
                candidates = plan.experiment.candidates[cell.candidates]
                analyses.add(ScoredCell(name, split, candidates, record, frame), scores)
            finished = [users[position][0] for position in of_row if position in users]
            for frame in finished if row.failed else ():
                frame[[*row.failed]] = np.nan
            if finished:
                analyses.each("end_row", name)
            evaluated.rows.append(row.result(name))
        of_table = [results[position] for position in positions]
        analyses.each("end_table", name, of_table, [*tables], pool.watch)
    if users:
        frames, codes = zip(*(users[position] for position in sorted(users)), strict=True)
        evaluated.users = pd.concat(frames, ignore_index=True)
        evaluated.codes = np.concatenate(codes)
    evaluated.cells = [results[position] for position in range(len(cells))]
    analyses.end(evaluated)
    return evaluated


@dataclass(eq=False)
class Analyses:
    """The analyses that a config asks for; one that fails stops only itself."""

    plan: Plan
    builtin: dict[str, BuiltinAnalysis] = field(default_factory=dict)
    others: dict[str, Analysis] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.plan.analyses:
            kind = plugins.find("analyses", name).load()
            with self._alone(name):
                if isinstance(kind, type) and issubclass(kind, BuiltinAnalysis):
                    self.builtin[name] = kind(self.plan)
                elif isinstance(kind, type) and issubclass(kind, Analysis):
                    self.others[name] = kind()
                else:
                    raise PluginError("it is not a subclass of harness.Analysis")

    def each(
        self, step: Literal["start_table", "add", "end_row", "end_table"], *given: object
    ) -> None:
        """Take a step of a run, a method of theirs, with each analysis of this package."""
        for name, analysis in [*self.builtin.items()]:
            with self._alone(name):
                getattr(analysis, step)(*given)

    def add(self, cell: ScoredCell, scores: Mapping[str, Scores]) -> None:
        """Hand a computed cell to each."""
        self.each("add", cell, scores)
        for name, other in [*self.others.items()]:
            with self._alone(name):
                unshared = replace(cell, record=locked(cell.record), users=cell.users.copy())
                other.add(unshared, {label: locked(value) for label, value in scores.items()})

    def end(self, evaluated: Evaluation) -> None:
        """Put the results of all into an evaluation."""
        evaluated.parts = {"undistinguished": {}}
        for analysis in self.builtin.values():
            evaluated.parts |= analysis.parts
            evaluated.notes += analysis.said
        for name, other in [*self.others.items()]:
            with self._alone(name):
                table, notes = other.result(), other.notes()
                if table is not None:
                    if not isinstance(table, pd.DataFrame):
                        raise PluginError(f"`result` returned {type(table).__name__}, no DataFrame")
                    evaluated.tables[name] = other.view(name, table)
                if not all(isinstance(note, Note) for note in notes):
                    raise PluginError("`notes` returned something else than a list of Note")
                evaluated.notes += notes
        for name, reason in self.failed.items():
            values = {"analysis": name, "reason": reason}
            evaluated.notes.append(Note(FAILED, values))

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Drop an analysis that fails, and keep the reason.

        What this package's own say themselves, as of a full disk, is an error of the run.
        """
        try:
            yield
        except (Exception, SystemExit) as error:
            plugin = plugins.find("analyses", name)
            if plugin.is_builtin and isinstance(error, HarnessError):
                raise
            self.builtin.pop(name, None)
            self.others.pop(name, None)
            kind = "" if isinstance(error, PluginError) else f"{type(error).__name__}: "
            self.failed[name] = f"{kind}{reason_of(error)} ({plugin.origin})"


def users_of(
    name: CellName, ratings: Ratings, users: NDArray[np.int32], scores: Mapping[str, Floats]
) -> pd.DataFrame:
    """Return the scores by label of each user of a cell, given their codes."""
    return pd.DataFrame(
        {key: name[key] for key in (*ROW, "seed", "fold")}
        | {"user": ratings.user_ids[users].astype(str)}
        | dict(scores)
    )


def scored(
    plan: Plan, split: Split, name: CellName, record: CellRecord, prefers: bool
) -> tuple[dict[str, Scores], CellResult]:
    """Return the scores of a computed cell, scores of ratings blank if it `prefers`; and facts.

    Scores of a metric that fails are blank too, and the facts say why.
    """
    wanted = plan.metrics
    compile_scoring(wanted, plan.depth)
    begun = time.perf_counter()
    exposure = evaluation.exposure_for(wanted, split, record.users)
    defined = [metric for metric in wanted if not (prefers and metric.needs_ratings)]
    blank = Scores(np.full(len(record.users), np.nan), np.nan, 0)
    of_defined, errors = score_apart(defined, record.rankings, record.pairs, exposure)
    scores = dict.fromkeys(map(str, wanted), blank) | of_defined
    seconds = time.perf_counter() - begun
    scorable = [metric for metric in wanted if str(metric) not in errors]
    result = CellResult(
        **name.model_dump(exclude_unset=True),
        **record.facts.model_dump(exclude_unset=True),
        metric_seconds=seconds,
        n_users=len(record.users),
        scores={label: Score.of(each) for label, each in scores.items()},
        tied=evaluation.tied_shares(scorable, record.rankings),
    )
    if errors:
        result.metric_errors = errors
    return scores, result


NOT_DECISIVE = {"name", "description", "execution", "results", "trackers"}
"""Keys of a config on which no score depends."""
FIELDS = ("cells", "rows", "notes", "statistics", "not_compared")
"""Fields of an evaluation, beside the parts that analyses add to a record."""


class ScoresHeader(Record):
    """What a file says beside the scores of users, and of which cells it is."""

    key: str
    checksums: dict[str, str]
    """By key of a cell, the checksum of its file."""
    cells: Rows[CellResult]
    rows: Rows[RowResult]
    bounds: Rows[BoundResult] = Field(default_factory=list)
    conventions: Rows[ConventionScores] = Field(default_factory=list)
    ties: Rows[TieScores] = Field(default_factory=list)
    groups: Rows[GroupScores] = Field(default_factory=list)
    undistinguished: dict[str, dict[str, list[WrittenNote | None]]] = Field(default_factory=dict)
    notes: Rows[WrittenNote]
    statistics: Rows[MetricComparison]
    not_compared: Rows[WrittenNote]


@dataclass(eq=False)
class StoredScores:
    """The file with the scores and comparisons of the cells of a run.

    There is none where a cell failed, where your own code, such as a metric or an analysis,
    decides, and where the run has outputs.
    """

    plan: Plan
    cells: Sequence[Cell]
    pool: Pool
    failed: bool

    @cached_property
    def key(self) -> str:
        """What names the file; '' where there is none."""
        plan, experiment = self.plan, self.plan.experiment
        uses_features = experiment.groups or any(m.needs_features for m in plan.metrics)
        analyses = [plugins.find("analyses", name) for name in plan.analyses]
        are_decided = all(a.is_builtin and getattr(a.load(), "is_decided", False) for a in analyses)
        origins = {m.definition.compute.__module__.partition(".")[0] for m in plan.metrics}
        uses_own = self.pool.of_session or experiment.plugins or origins != {"harness"}
        if self.failed or uses_own or not are_decided or plan.absent or not is_as_started():
            return ""
        return key_of(
            {
                "cells": [plan.name(cell).model_dump() for cell in self.cells],
                "config": experiment.model_dump(mode="json", exclude=NOT_DECISIVE),
                "splits": [split.model_dump() for split in plan.made()],
                "known": [*_known(plan)] if uses_features else [],
                "versions": versions(),
                "packages": packages(),
            }
        )

    def _checksums(self) -> dict[str, str]:
        keys = [self.plan.stored_as.get(cell.key, cell.key) for cell in self.cells]
        return {key: self.pool.store.checksum(key) for key in keys}

    def read(self) -> Evaluation | None:
        """Return what an earlier run found for these cells; None where a file is missing or bad."""
        if not self.key:
            return None
        try:
            content, arrays = self.pool.store.get_scores(self.key)
            header = ScoresHeader.model_validate_json(content)
            if header.key != self.key or header.checksums != self._checksums():
                return None
        except (OSError, ResultsError, ValueError):  # missing or damaged: it is computed again
            return None

        return evaluation_of(header, arrays, self.plan, self.cells)

    def write(self, evaluation: Evaluation) -> None:
        """Keep what was found, or nothing: where a disk is full, or a number is out of its range.

        The run itself is checked and written next, and says what is wrong.
        """
        finished = all(isinstance(cell, CellResult) for cell in evaluation.cells)
        if not self.key or not finished or any(n.code == FAILED for n in evaluation.notes):
            return
        with suppress(OSError, ValueError):
            found = {name: getattr(evaluation, name) for name in FIELDS} | evaluation.parts
            header = ScoresHeader(key=self.key, checksums=self._checksums(), **found)
            scores = evaluation.users[self.plan.labels].to_numpy(np.float64).T
            arrays = {"scores": scores, "users": evaluation.codes}
            text = header.model_dump_json(exclude_unset=True).encode()
            self.pool.store.put_scores(self.key, text, arrays)


def _known(plan: Plan) -> Iterator[object]:
    """Yield the metadata of users and items, which are not part of a fingerprint."""
    for number, (ratings, _) in sorted(plan.read.items()):
        features = ratings.user_features, ratings.item_features
        yield number, [None if frame is None else frame.to_dict("list") for frame in features]
        yield None if ratings.at_random is None else ratings.at_random.tolist()


PARTS = (*DEFAULT_ANALYSES, "groups", "undistinguished")


def evaluation_of(
    header: ScoresHeader, arrays: Arrays, plan: Plan, cells: Sequence[Cell]
) -> Evaluation:
    """Return what an earlier run found for the cells of a plan."""
    for cell in header.cells:
        cell.found = True
    ends = np.cumsum([0, *(cell.n_users for cell in header.cells)])
    frames = []
    for number, (cell, low, high) in enumerate(zip(header.cells, ends, ends[1:], strict=False)):
        ratings = plan.split(cells[number]).ratings
        scores = dict(zip(plan.labels, arrays["scores"][:, low:high], strict=True))
        frames.append(users_of(cell, ratings, arrays["users"][low:high], scores))
    return Evaluation(
        pd.concat(frames, ignore_index=True),
        cells=[*header.cells],
        rows=header.rows,
        parts={name: getattr(header, name) for name in PARTS},
        notes=header.notes,
        statistics=header.statistics,
        not_compared=header.not_compared,
        is_found=True,
    )
