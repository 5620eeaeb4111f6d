"""Folds for another program, and what it made of them as a row of the run's table."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from harness._util.files import RUN_FILE, report_os_error, write_whole
from harness._util.libraries import pd
from harness.algorithms.trainset import Bools, Codes, Floats
from harness.candidates.base import Candidates, CandidatesSection
from harness.config.experiment import NAME
from harness.datasets.exchanged import Written, read_table
from harness.datasets.section import name_of_given
from harness.errors import ResultsError, SplitError, counted, joined, reason_of, suggestion
from harness.experiment.cell import Scorer
from harness.experiment.evaluate import scored, users_of
from harness.experiment.plan import Plan
from harness.metrics import Pairs, Rankings
from harness.notes.note import Note, by_weight
from harness.rankings.lists import ListedRows, match
from harness.results.cells import OUTSIDE, AnyCell, CellFacts, CellName, CellResult
from harness.results.reading import read_run
from harness.results.runs import Run
from harness.results.scores import RowScores, notes_on_failed_metrics
from harness.results.statistics import RowResult
from harness.results.store import CellRecord, key_of, short_key
from harness.splits import Split

MOST = 1e9
"""Seconds or megabytes beyond which a number is a mistake."""


class Costs(NamedTuple):
    """What fitting and scoring a fold took; NaN where it is not known."""

    fit_seconds: float = math.nan
    score_seconds: float = math.nan
    peak_mb: float = math.nan


def read_costs(path: Path, n_folds: int) -> list[Costs]:
    """Return what a file says of each fold.

    It holds an object with ``fit_seconds``, ``score_seconds`` and ``peak_mb``, each of which may be
    left out, or a list of such objects, one for each fold.

    Raises
    ------
    ResultsError
        If the file cannot be read, has other keys, or not one object for each fold.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not JSON"
        raise ResultsError(f"{path}: {reason}; give a JSON file of seconds and memory") from None
    entries = content if isinstance(content, list) else [content]
    if len(entries) != n_folds:
        raise ResultsError(
            f"{path}: costs of {counted(len(entries), 'fold')}, and there are {n_folds}; give a "
            "list with one object for each"
        )
    return [_costs(f"{path}: [{number}]", entry) for number, entry in enumerate(entries)]


def _costs(where: str, entry: object) -> Costs:
    if not isinstance(entry, dict):
        raise ResultsError(f"{where}: no object; write one with {joined(Costs._fields, 'or')}")
    for key, value in entry.items():
        if key not in Costs._fields:
            raise ResultsError(f"{where}: unknown key {key!r}; {suggestion(key, Costs._fields)}")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value <= MOST):
            raise ResultsError(f"{where}.{key}: found {value!r:.40}; write a number, 0 or more")
    return Costs(**{key: float(value) for key, value in entry.items()})


INDEX = "split.json"
Place = tuple[int, int, int, Split]
"""Positions of a data set and a split in a config, the seed, and a fold."""


def _folds(plan: Plan) -> Iterator[Place]:
    """Yield every fold of a run, in the order of the index and of the files that come back."""
    experiment = plan.experiment
    positions = range(len(experiment.dataset)), range(len(experiment.split)), experiment.split_seeds
    for dataset, split, seed in itertools.product(*positions):
        for fold in plan.splits(dataset, split, seed):
            yield dataset, split, seed, fold


def export(plan: Plan, folder: Path) -> Iterator[str]:
    """Write the ratings of every fold as CSV, and an index; yield a line for each fold.

    Rows of the parts are in the order in which the run's own models see them.
    """
    with report_os_error(folder, advice="choose another folder", kind=SplitError):
        if folder.is_dir() and any(folder.iterdir()):
            raise SplitError(f"{folder}: not empty; choose a new folder")
        index: list[dict[str, object]] = []
        places = list(_folds(plan))
        infos = {
            (entry.dataset, entry.split, entry.seed, entry.fold): entry for entry in plan.made()
        }
        for dataset, split, seed, fold in places:
            names = plan.names["dataset"][dataset], plan.names["split"][split]
            info = infos[(*names, seed, fold.fold)]
            where = folder / f"fold-{len(index) + 1}" if len(places) > 1 else folder
            where.mkdir(parents=True, exist_ok=True)
            parts = {"train": fold.train, "test": fold.test}
            if plan.is_tuned or plan.experiment.split[split].validation is not None:
                inner = plan.inner(split, seed, fold)
                for number, part in enumerate(inner, start=1):
                    end = f"-{number}" if len(inner) > 1 else ""
                    parts |= {f"tuning-train{end}": part.train, f"validation{end}": part.test}
            for name, rows in parts.items():
                frame = fold.ratings.take(rows).to_frame()
                frame.to_csv(where / f"{name}.csv", index=False, lineterminator="\n")
            start = f"{where.name}/" if len(places) > 1 else ""
            files = {name: f"{start}{name}.csv" for name in parts}
            index.append({**info.model_dump(), "scale": fold.ratings.scale, "files": files})
            counts = ", ".join(f"{name} {len(rows):,}" for name, rows in parts.items())
            of = f"{info.dataset}, " * (len(plan.experiment.dataset) > 1)
            yield f"{where}: {of}{info.split}, seed {seed}, fold {fold.fold + 1}: {counts}"
        text = json.dumps(index, indent=1, ensure_ascii=False) + "\n"
        write_whole(folder / INDEX, text.encode())
        yield f"{folder / INDEX}: fingerprints and files of {counted(len(index), 'fold')}"


def against(
    run: Run,
    files: Sequence[Path],
    label: str,
    written: Written | None = None,
    costs: Path | None = None,
) -> Run:
    """Return what another program made of a run's folds, as a run with a row in each table.

    `files` are one for each fold, in the order of the index, and `written` says how; estimates are
    never clipped. The file `costs` has the seconds and the memory of each fold, in that order.
    """
    info = run.info
    if run.folder is None or name_of_given(info.config["dataset"]) is not None:
        raise ResultsError(
            f"{run.name}: its ratings came from Python, so its test ratings cannot be read again; "
            "run it from a config"
        )
    if (facts := next(iter(info.finished), None)) is None:
        raise ResultsError(f"{run.name}: no cached cell to compare with; run it again")
    # Data, split, candidates and metrics alone are needed: code that the config names is not run.
    other = ["algorithms=[{name: ItemMean, search: recommended}]", "statistics=null"]
    plan = Plan.from_config(run.folder, overrides=other)
    places, recorded = list(_folds(plan)), {entry.fingerprint for entry in info.splits}
    if changed := [fold for *_, fold in places if fold.fingerprint not in recorded]:
        raise ResultsError(
            f"{run.name}: {changed[0].name} of {changed[0].ratings.name} is not the split that it "
            "recorded; use the data of the run, or run it again"
        )
    if len(files) != len(places):
        raise ResultsError(
            f"{counted(len(files), 'file')} for {counted(len(places), 'fold')} of {run.name}; "
            f"give one for each fold, in the order of {INDEX}"
        )
    notes: Counter[Note] = Counter()
    measured = [Costs()] * len(files) if costs is None else read_costs(costs, len(files))
    answers = [
        _File(path, place[-1], notes, written, cost)
        for path, place, cost in zip(files, places, measured, strict=True)
    ]
    refused: list[str] = []
    cells: list[CellResult] = []
    rows: list[RowResult] = []
    frames: list[pd.DataFrame] = []
    for number, section in enumerate(plan.experiment.candidates):
        for (dataset, split), group in itertools.groupby(
            zip(answers, places, strict=True), lambda entry: entry[1][:2]
        ):
            table = plan.tables[dataset, split, number].table
            alike = {(c.seed, c.fold): c for c in info.cells if c.table == table}
            row = RowScores(plan.metrics)
            try:
                scored_cells = [
                    file.cell(plan, section, alike[seed, fold.fold], label, facts, row)
                    for file, (*_, seed, fold) in group
                ]
            except _MissingError as error:
                refused.append(str(error))
                continue
            cells += [cell for cell, _ in scored_cells]
            for _, frame in scored_cells if row.failed else ():
                frame[[*row.failed]] = np.nan
            frames += [frame for _, frame in scored_cells]
            rows.append(row.result(cells[-1]))
    if not rows:
        raise ResultsError(refused[0])
    counts = [Note(note.code, {**note.values, "n": n}, label) for note, n in notes.items()]
    counts += [note.at(label) for note in notes_on_failed_metrics(cells)]
    lines = by_weight([*counts, *(Note("not-shown", {"reason": reason}) for reason in refused)])
    update = {"name": label, "cells": cells, "rows": rows, "notes": lines, "statistics": []}
    update |= {"bounds": [], "conventions": [], "ties": [], "groups": []}
    return Run(info.model_copy(update=update), pd.concat(frames, ignore_index=True))


def write(joined: Run, folder: Path) -> Path:
    """Write a run with rows of other programs, and return its folder.

    Raises ResultsError where the folder holds a run without such rows, which would be lost.
    """
    name = folder.name
    if not re.match(NAME, name):
        raise ResultsError(f"{folder}: {name!r} cannot be the name of a run; choose another folder")
    is_run = (folder / RUN_FILE).is_file()
    if is_run and all(cell.fit_path != OUTSIDE for cell in read_run(folder).info.finished):
        raise ResultsError(f"{folder}: has another run; choose a new folder")
    named = Run(joined.info.model_copy(update={"name": name}), joined.users)
    named.write(folder.parent, advice="choose another folder")
    return folder


class _MissingError(ResultsError):
    """A file lacks rows that some candidates need."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _FromFile(Scorer):
    """Values of pairs that a file holds, in place of a model's estimates; never clipped."""

    file: _File

    def _estimate(self, users: Codes, items: Codes) -> tuple[Floats, Bools]:
        rows, split = self.file.rows, self.file.split
        n_items = split.ratings.n_items
        stated = pd.Index(rows.users * n_items + rows.items)
        positions = stated.get_indexer(users.astype(np.int64) * n_items + items)
        if (missing := np.flatnonzero(positions < 0)).size:
            user = str(split.ratings.user_ids[users[missing[0]]])
            item = str(split.ratings.item_ids[items[missing[0]]])
            raise _MissingError(
                f"{self.file.path}: no row for {len(missing):,} of the {len(positions):,} "
                f"candidates of {split.name}, fold {split.fold + 1} (the first: user {user!r}, "
                f"item {item!r}); give one for each rating of its test file"
            )
        return rows.values[positions], np.zeros(len(positions), dtype=bool)


class _File:
    """What another program made of one fold."""

    def __init__(
        self,
        path: Path,
        split: Split,
        notes: Counter[Note],
        written: Written | None,
        costs: Costs,
    ) -> None:
        self.path, self.split, self.notes, self.costs = path, split, notes, costs
        table = read_table(path, ("user", "item"), ("estimate", "rank"), written=written)
        if not table.numbers:
            raise ResultsError(f"{path}: no column of estimate or rank; add one")
        self.by_rank = "estimate" not in table.numbers
        values = -table.numbers["rank"] if self.by_rank else table.numbers["estimate"]
        ratings, codes = split.ratings, []
        for role, ids in (("user", ratings.user_ids), ("item", ratings.item_ids)):
            of_rows = table.ids[role].ids[table.ids[role].codes]
            codes.append(pd.Index(ids).get_indexer(pd.Index(of_rows)).astype(np.int64))
            if (unknown := np.flatnonzero(codes[-1] < 0)).size:
                raise ResultsError(
                    f"{path}: {len(unknown):,} of {counted(len(of_rows), 'row')} with a {role} "
                    f"that {ratings.name} does not have, such as {str(of_rows[unknown[0]])!r}; "
                    "write ids as the exported files do"
                )
        self.rows = ListedRows(codes[0], codes[1], values)
        if not self.by_rank:
            low, high = ratings.scale
            outside = np.count_nonzero((values < low) | (values > high))
            self._note(outside, "estimates-outside", low=low, high=high)

    def _note(self, number: int | np.integer[Any], code: str, **values: object) -> None:
        """Count what a note of the row will say of all files."""
        if number:
            self.notes[Note(code, {**values, "n": 0})] += int(number)

    def cell(
        self,
        plan: Plan,
        section: CandidatesSection,
        like: AnyCell,
        label: str,
        facts: CellFacts,
        row: RowScores,
    ) -> tuple[CellResult, pd.DataFrame]:
        """Score the file beside the cell `like`; return a cell and the scores of its users."""
        selected, ratings = section.select(self.split, like.seed), self.split.ratings
        if self.by_rank and section.least_estimate is not None:
            raise _MissingError(
                f"{self.path}: not shown under {section.describe()}, because it has ranks; give "
                "estimates"
            )
        no_model: Any = None
        scorer = _FromFile(no_model, selected, clip=False, accelerate=False, file=self)
        pairs = Pairs(np.zeros(selected.n_users + 1, np.int64), [], [])
        try:
            estimated, _ = scorer.pairs()
        except _MissingError:
            if not section.is_whole_catalogue:
                raise
        else:
            pairs = pairs if self.by_rank else estimated
        if section.is_whole_catalogue:
            lists = self._catalogue(plan, section, selected)
        else:
            ids = ratings.user_ids, ratings.item_ids
            named = plan.names_items
            lists = scorer.rank(section, estimated, depth=plan.depth, named=named, ids=ids)
            n_ranked = len(selected.items) + len(selected.extra_items)
            n_outside = len(self.rows.users) - n_ranked
            self._note(n_outside, "no-candidates", candidates=section.describe())
        no_errors = not len(pairs.ratings)
        if no_errors and (errors := [m for m in plan.metrics if m.needs_pairs]):
            self._note(1, "estimates-missing", metrics=list(map(str, errors)))
        replaced = {
            "fit_path": OUTSIDE,
            "scoring_path": OUTSIDE,
            "notes": [],
            "n_impossible": 0,
            "n_test": len(selected.items),
            "n_unknown_users": selected.n_unknown,
            "n_dropped_users": selected.n_dropped,
            "judged": {},
        }
        of_program = CellFacts(**facts.only(CellFacts) | replaced)
        record = CellRecord(of_program, selected.users, lists, pairs)
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        new: dict[str, Any] = {"params": {}, "n_trials": None, "search_seconds": None}
        new |= {"row": short_key({"table": like.table, "program": label}), "algorithm": label}
        name = CellName(**like.only(CellName) | new | {"key": key_of({"file": digest})})
        scores, result = scored(plan, self.split, name, record, no_errors)
        # Nobody has measured the other program here: what it did not say is empty in the table.
        result.fit_seconds, result.score_seconds, result.peak_mb = self.costs
        row.add(record.users, scores, result.metric_errors)
        return result, users_of(
            name, ratings, record.users, {label: of.per_user for label, of in scores.items()}
        )

    def _catalogue(self, plan: Plan, section: CandidatesSection, selected: Candidates) -> Rankings:
        """Return the file's lists of the evaluated users, over the items of the training set."""
        split, ratings, rows = self.split, self.split.ratings, self.rows
        users = selected.users.astype(np.int64)
        position = np.full(ratings.n_users, -1)
        position[users] = np.arange(len(users))
        inner = plan.trainset(split).inner_items
        pairs = rows.users * ratings.n_items + rows.items
        trained = ratings.users[split.train].astype(np.int64) * ratings.n_items
        seen = np.isin(pairs, trained + ratings.items[split.train])
        if not section.keeps_training_items and (n_seen := int(seen.sum())):
            raise ResultsError(
                f"{self.path}: {n_seen:,} of {counted(len(seen), 'row')} with an item that the "
                f"user rated in the training set of {split.name}, fold {split.fold + 1}, which "
                "this run leaves out of lists; leave them out, and give a file for each fold in "
                f"the order of {INDEX}"
            )
        trained_items, tested = inner[rows.items] >= 0, position[rows.users] >= 0
        if self.by_rank and not trained_items.all():
            raise ResultsError(
                f"{self.path}: {(~trained_items).sum():,} of "
                f"{counted(len(trained_items), 'row')} with an item without a training rating "
                f"in {split.name}, fold {split.fold + 1}; rank only "
                "items of its training file"
            )
        self._note(np.count_nonzero(tested & ~trained_items), "unranked")
        self._note(np.count_nonzero(~tested), "not-tested")
        ranked = np.flatnonzero(trained_items & tested & (rows.values >= section.least))
        ranked = ranked[np.argsort(inner[rows.items[ranked]], kind="stable")]  # as the run's models
        positions, items = position[rows.users[ranked]], rows.items[ranked]
        self._note(len(users) - len(np.unique(positions)), "without-list")
        owners = np.repeat(selected.users, np.diff(selected.offsets)).astype(np.int64)
        test = owners * ratings.n_items + selected.items
        if ranked.size and np.isin(pairs[ranked], test).all():
            raise _MissingError(
                f"{self.path}: not shown under {section.describe()}, because all of its rows are "
                "test ratings; give lists or estimates of the other items too"
            )
        judged, owners = selected.judged, position[owners]
        judged_items, relevant = selected.items[judged].astype(np.int64), selected.ratings[judged]
        listed = ListedRows(positions, items, rows.values[ranked])
        truth = ListedRows(owners[judged], judged_items, relevant)
        ids, by_name = (ratings.user_ids[users], ratings.item_ids), not section.ties_as_in_training
        lists = match(listed, truth, *ids, by_rank=self.by_rank, by_name=by_name)
        top = None if lists.top_items is None else lists.top_items[:, : plan.depth]
        return replace(lists, top_items=top if plan.depth else None)
