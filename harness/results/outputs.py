"""The lists and the estimates of a run's cells: Parquet files with a row group for each cell."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness._util.files import report_os_error
from harness._util.kernels import group_rows
from harness._util.libraries import pa, pd, pq
from harness.candidates.base import CandidatesSection
from harness.config.experiment import Outputs
from harness.errors import MetricError, ResultsError
from harness.metrics import Metric, Pairs, Rankings
from harness.rankings import evaluation
from harness.rankings.grouped import offsets_of
from harness.results.cells import CellName
from harness.results.fields import AGAIN
from harness.results.folder import CELL, ESTIMATES_FILE, LISTS_FILE, OUTPUTS
from harness.results.frames import read_parts
from harness.results.scores import RowScores
from harness.results.store import CellRecord, are_possible
from harness.results.table import ROW
from harness.splits import Split

LEFT_OUT = -1
"""The rank of an item that does not count; in files of earlier versions also the length of the list
of a user who is not evaluated."""
MAKE_ROOM = "free space, or set TMPDIR to another folder; computed cells are cached"
NO_TRAINING = "it depends on items and their training ratings, which a run does not keep"


class OutputFiles:
    """Writes the files of a run to a temporary folder, which ends with this object."""

    def __init__(self, wanted: Outputs) -> None:
        self.most = wanted.lists or 0
        folder = Path(tempfile.mkdtemp(prefix="harness-outputs-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        types = {"word": pa.string(), "count": pa.int64(), "number": pa.float64()}
        names = [LISTS_FILE] * bool(self.most) + [ESTIMATES_FILE] * wanted.estimates
        self.paths = {name: folder / name for name in names}
        self._writers = {}
        for name, path in self.paths.items():
            schema = pa.schema([(key, types[kind]) for key, kind in (CELL | OUTPUTS[name]).items()])
            self._writers[name] = pq.ParquetWriter(path, schema, compression="zstd")

    def add(
        self, name: CellName, split: Split, section: CandidatesSection, record: CellRecord
    ) -> None:
        """Write the rows of a cell."""
        for file, writer in self._writers.items():
            lists = file == LISTS_FILE
            rows = _lists(split, record, self.most) if lists else _estimates(split, section, record)
            frame = pd.DataFrame({key: name[key] for key in CELL} | rows)
            table = pa.Table.from_pandas(frame, writer.schema, preserve_index=False)
            with report_os_error(self.paths[file], advice=MAKE_ROOM):
                writer.write_table(table, row_group_size=max(1, len(frame)))

    def close(self) -> None:
        """End the files."""
        for file, writer in self._writers.items():
            with report_os_error(self.paths[file], advice=MAKE_ROOM):
                writer.close()


def _lists(split: Split, record: CellRecord, most: int) -> dict[str, Any]:
    """Return the first items of each list."""
    ratings, lists = split.ratings, record.rankings
    assert lists.top_items is not None
    assert lists.top_estimates is not None
    top = lists.top_items[:, :most]
    owners, places = np.nonzero(top >= 0)
    return {
        "user": ratings.user_ids[record.users[owners]].astype(str),
        "rank": places + 1,
        "item": ratings.item_ids[top[owners, places]].astype(str),
        "estimate": lists.top_estimates[owners, places],
    }


def _estimates(split: Split, section: CandidatesSection, record: CellRecord) -> dict[str, Any]:
    """Return the pairs of a cell, users as in the cell and the items of each as in the test set."""
    ratings, lists, pairs = split.ratings, record.rankings, record.pairs
    assert lists.items is not None
    evaluated = np.zeros(ratings.n_users, dtype=bool)
    evaluated[record.users] = True
    rows = split.test[evaluated[ratings.users[split.test]]]
    items = ratings.items[rows[np.argsort(ratings.users[rows], kind="stable")]]
    sizes = np.diff(pairs.offsets)
    owners = np.repeat(np.arange(lists.n_users), np.diff(lists.offsets))
    tested = pd.Index(np.repeat(np.arange(len(sizes)), sizes) * ratings.n_items + items)
    rows = tested.get_indexer(owners * ratings.n_items + lists.items)
    ranks = {name: np.zeros(len(items), dtype=np.int64) for name in ("rank", "tie_low", "tie_high")}
    for name, column in ranks.items():
        column[rows[rows >= 0]] = getattr(lists, name)[rows >= 0]  # -1: an item of a sample
    ranks["rank"][~section.judged_items(split)[items]] = LEFT_OUT
    return {
        "user": np.repeat(ratings.user_ids[record.users].astype(str), sizes),
        "item": ratings.item_ids[items].astype(str),
        "estimate": pairs.estimates,
        "rating": pairs.ratings,
        **ranks,
        "n_ranked": np.repeat(lists.n_ranked, sizes),
    }


class RescoredRow(NamedTuple):
    """The scores of a row of a run, computed from its estimates."""

    names: dict[str, str]  # what `ROW` lists
    values: dict[str, float | None]
    n_undefined: dict[str, int]  # of these users, those without a score in any cell, by metric
    n_users: int  # who are evaluated in a cell
    users: pd.DataFrame  # seed, fold, user and scores


def evaluates(path: Path) -> bool:
    """Return whether a file has the columns of a run's estimates; refuse a run's lists."""
    names: set[str] = set()
    with suppress(pa.ArrowException, OSError):
        names = {*pq.read_schema(path).names}
    if "rating" not in names and {*CELL, *OUTPUTS[LISTS_FILE]} <= names:
        raise MetricError(
            f"{path}: has the lists of a run, without ratings; name the run's folder, whose "
            f"{ESTIMATES_FILE} has the rank of every test rating"
        )
    return {*CELL, *OUTPUTS[ESTIMATES_FILE]} <= names


def rescore(path: Path, asked: Sequence[Metric]) -> Iterator[RescoredRow]:
    """Score the rows of a run again from its ``estimates.parquet``, one cell in memory at a time.

    The file has the rank of every test item, so that metrics of whole lists are exact; metrics of
    which items are shown and metrics with weights need the training ratings: a MetricError, which
    names the metric.
    """
    if shown := next((metric for metric in asked if metric.needs_exposure), None):
        raise MetricError(f"{shown}: {NO_TRAINING}; leave it out")
    seen: set[tuple[object, ...]] = set()
    for row, cells in itertools.groupby(cells_of(path), lambda cell: cell[0][: len(ROW)]):
        names = dict(zip(ROW, map(str, row), strict=True))
        if CandidatesSection.of_name(names["candidates"]).judges_unrated:
            for metric in asked:
                if use := _use_of_unrated(metric):
                    raise MetricError(
                        f"{metric}: it {use} of the unrated items of {names['candidates']}, which "
                        "are not in the file; leave it out"
                    )
        collected, codes, frames = RowScores(asked), dict[str, int](), []
        for key, cell in cells:
            try:
                users, lists, pairs = _evidence(cell)
                by_label = evaluation.evaluate(asked, lists, pairs)
            except (MetricError, ValueError) as error:
                raise ResultsError(f"{path}: {key[3]}: {error}") from None
            numbers = np.array([codes.setdefault(user, len(codes)) for user in users], np.int32)
            collected.add(numbers, by_label)
            columns = {label: scores.per_user for label, scores in by_label.items()}
            where = dict(zip(("seed", "fold"), key[len(ROW) :], strict=True))
            frames.append(pd.DataFrame(where | {"user": users} | columns))
            if key in seen or row in seen:
                raise ResultsError(f"{path}: the rows of a cell are apart; sort them by row")
            seen.add(key)
        seen.add(row)
        n_users, n_undefined = collected.counts
        yield RescoredRow(names, collected.values, n_undefined, n_users, pd.concat(frames))
    if not seen:
        raise ResultsError(f"{path}: no cell finished; {AGAIN}")


def _use_of_unrated(metric: Metric) -> str:
    """Return why an item of relevance 0 does not count as one that nobody judged; '' if it does."""
    gain, ties = metric.params.get("gain"), metric.params.get("ties")
    if ties is not None and ties.word == "random":
        return "draws the order of ties, also"
    binary = "threshold" in metric.params if gain is None else gain.word == "binary"
    counts = metric.neutral < 0 or (binary and metric.neutral == 0)
    return "gives a gain to a relevance of 0, as that" * (counts and not metric.needs_pairs)


def cells_of(path: Path) -> Iterator[tuple[tuple[object, ...], pd.DataFrame]]:
    """Yield the rows of each cell, which can begin and end inside a row group."""
    cells: list[tuple[tuple[object, ...], pd.DataFrame]] = []
    for part in read_parts(path, CELL | OUTPUTS[ESTIMATES_FILE]):
        frame = pd.concat([*(rows for _, rows in cells), part])
        cells = [*frame.groupby(list(CELL), sort=False, dropna=False)]
        while len(cells) > 1:
            yield cells.pop(0)
    yield from cells


def _evidence(cell: pd.DataFrame) -> tuple[NDArray[Any], Rankings, Pairs]:
    """Return the evaluated users of a cell, their lists and their pairs."""
    cell = cell[cell["n_ranked"] > LEFT_OUT]
    codes, names = pd.factorize(cell["user"])
    offsets, order = group_rows(codes, len(names))
    columns = {name: cell[name].to_numpy()[order] for name in OUTPUTS[ESTIMATES_FILE]}
    n_ranked, ratings, rank = columns["n_ranked"][offsets[:-1]], columns["rating"], columns["rank"]
    owners = np.repeat(np.arange(len(names)), np.diff(offsets))
    listed = np.flatnonzero(rank > 0)
    listed = listed[np.lexsort((rank[listed], owners[listed]))]
    counted = np.flatnonzero(rank > LEFT_OUT)
    counted = counted[np.lexsort((-ratings[counted], owners[counted]))]
    lists = Rankings(
        offsets_of(owners[listed], len(names)),
        ratings[listed],
        rank[listed],
        columns["tie_low"][listed],
        columns["tie_high"][listed],
        n_ranked,
        offsets_of(owners[counted], len(names)),
        ratings[counted],
    )
    pairs = Pairs(offsets, columns["estimate"], ratings)
    if not are_possible(lists, pairs):
        raise ValueError("ranks, ties and lengths of lists contradict each other; run it again")
    return np.asarray(names), lists, pairs
