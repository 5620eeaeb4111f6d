"""A run's results as rows and as texts: for a screen, Markdown, CSV and LaTeX."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from numbers import Integral, Real
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from harness import metrics
from harness._util.libraries import pd
from harness.errors import ResultsError, joined
from harness.results.cells import AnyCell, CellResult
from harness.results.headline import chosen_metric
from harness.results.record import RunInfo
from harness.results.scores import deviation, mean_or_none
from harness.results.statistics import (
    FEWEST_OF_GROUP,
    AlgorithmMean,
    Bound,
    GroupScores,
    MetricComparison,
    RowResult,
    leading,
)
from harness.statistics.corrections import is_first


class Column(NamedTuple):
    """A column of numbers."""

    name: str
    """In `Run.table` and ``table.csv``."""
    title: str
    """The heading where people read the table."""
    places: int
    """Decimals where people read the table."""
    csv_places: int = 8
    """Decimals in ``table.csv`` of a number that is not whole."""
    of_search: bool = False
    """Whether only a run with a search has it."""
    in_papers: bool = False
    """Whether LaTeX and notebooks show it."""
    first: str = "ascending"
    """The order that a first click on the page gives."""


COLUMNS = (
    Column("n_trials", "trials", 0, of_search=True, first="descending"),
    Column("search_seconds", "search s", 1, 3, of_search=True),
    Column("fit_seconds", "fit s", 2, 3, in_papers=True),
    Column("score_seconds", "score s", 2, 3, in_papers=True),
    Column("metric_seconds", "metric s", 2, 3),
    Column("peak_mb", "peak MB", 0, 0),
    Column("n_users", "users", 0, first="descending"),
)
TIMES = ("fit_seconds", "score_seconds", "metric_seconds")
"""Seconds of a cell, of which a row has the mean."""
IN_PAPERS = {column.name: column for column in COLUMNS if column.in_papers}


SECONDS = Column("seconds", "seconds", 2)
"""The sum of the `TIMES`, which a narrow terminal shows in their place."""


def columns_of(names: Container[object], *, sums_seconds: bool = False) -> list[Column]:
    """Return the columns of a table that has these names, in order; one for all seconds if asked.

    >>> [column.title for column in columns_of(["n_users", "fit_seconds", "rmse"])]
    ['fit s', 'users']
    """
    columns = [column for column in COLUMNS if column.name in names]
    if not sums_seconds:
        return columns
    first = next((place for place, column in enumerate(columns) if column.name in TIMES), 0)
    others = [column for column in columns if column.name not in TIMES]
    return [*others[:first], SECONDS, *others[first:]]


AGAINST_BEST = "against best"
"""The column of answers by the headline metric, where a config has a margin."""

GROUP = ("dataset", "split", "candidates")  # what a table is called
ROW = (*GROUP, "algorithm", "table", "row")  # display names and identities of a row
BOUNDS: dict[Bound, str] = {"best": "best possible order", "random": "random order, expected"}
"""What the bounds of a table are called."""

DEFAULT_DECIMALS = 4  # if the uncertainty of a number is unknown
MOST_DECIMALS = 7
ERRORS_IN_INTERVAL = 2 * 1.96  # standard errors between the ends of a 95% interval


def printable(text: object) -> str:
    """Return text on one line, without characters that cannot be printed."""
    return " ".join("".join(c for c in str(text) if c.isprintable() or c.isspace()).split())


def escape_markdown(text: object) -> str:
    """Return text escaped for Markdown."""
    shown = re.sub(r"([\\`*_{}\[\]<>|#$])", r"\\\1", " ".join(str(text).split()))
    return shown.replace("&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")


def as_text(value: Any) -> Any:
    """Return a cell of a CSV file so that a spreadsheet takes text for text, not for a formula.

    Text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe
    in front, unless it is a number. Everything else stays as it is.
    """
    if not isinstance(value, str) or value[:1] not in tuple("=+-@\t\r"):
        return value
    return value if re.fullmatch(r"[+-]\d*\.?\d+(e[+-]?\d+)?", value) else f"'{value}"


def frame_to_csv(frame: pd.DataFrame, float_format: str | None = None) -> str:
    """Return a table as CSV, text as `as_text` has it."""
    table = frame.apply(lambda own: own.map(as_text) if own.dtype.kind == "O" else own)
    table.columns = table.columns.map(as_text)
    return str(table.to_csv(index=False, lineterminator="\n", float_format=float_format))


@dataclass(frozen=True)
class TextTable:
    """A table of texts with its title, as a screen, the page, a notebook and a paper show it."""

    title: str
    caption: str
    number: int = 1  # of the results table that it belongs to, from 1; 0 for all
    columns: Sequence[str] = ()  # empty where there is nothing to show; the caption says why
    rows: Sequence[Sequence[str]] = ()
    best: Collection[tuple[int, int]] = ()  # row and column of highlighted values
    n_words: int = 1  # how many columns, from the left, hold words
    below: Collection[int] = ()  # rows with a line above them

    @property
    def frame(self) -> pd.DataFrame:
        """The texts as a frame."""
        return pd.DataFrame([*self.rows], columns=pd.Index(self.columns))

    @property
    def csv(self) -> str:
        """The table as a file."""
        return frame_to_csv(self.frame.map(str.strip))

    @property
    def markdown(self) -> str:
        """Title, table and caption."""
        lines = [f"## {escape_markdown(self.title)}", ""]
        words = {*self.columns[: self.n_words], "gap"}
        lines += [*markdown_table(self.columns, self.rows, words), ""]
        return "\n".join([*lines, escape_markdown(self.caption), ""] if self.caption else lines)


def is_apart(table: TextTable) -> bool:
    """Return whether a table has numbers on other test ratings, which share no column."""
    return not {"dataset", "split"}.isdisjoint(table.columns)


def markdown_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[str]
) -> list[str]:
    """Return the lines of a table of texts; columns of `words` are aligned to the left."""
    line = ["---" if column in words else "---:" for column in columns]
    return ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in [columns, line, *rows]]


def decimals(errors: Iterable[float]) -> int:
    """Return the decimals that show the median standard error with two digits, from 0 to 7.

    Errors of 0 and NaN are ignored. Without any, the default is 4 decimals.
    """
    known = [each for each in errors if math.isfinite(each) and each > 0]
    if not known:
        return DEFAULT_DECIMALS
    # The error as it is written with two digits decides: 0.0996 becomes 0.10, not 0.100.
    exponent = int(f"{median(known):.1e}".partition("e")[2])
    return min(max(1 - exponent, 0), MOST_DECIMALS)


def interval_decimals(rows: Iterable[Any]) -> int:
    """Return the decimals of numbers with ``low`` and ``high``, the ends of their intervals."""
    ends = [(row.low, row.high) for row in rows if None not in (row.low, row.high)]
    return decimals((high - low) / ERRORS_IN_INTERVAL for low, high in ends)


def column_decimals(info: RunInfo) -> dict[tuple[str, str], int]:
    """Return the decimals of metrics by table and label, from the intervals over users.

    Tables of one data set and split share their columns, so they have the most decimals that one of
    them needs; tables whose values have no spread decide only where none has one. A metric without
    intervals is missing; it gets `DEFAULT_DECIMALS`.
    """
    of_columns: dict[tuple[str, str, str], list[MetricComparison]] = {}
    for each in info.statistics:
        of_columns.setdefault((each.dataset, each.split, each.metric), []).append(each)
    digits: dict[tuple[str, str], int] = {}
    for column in of_columns.values():
        spread = [each for each in column if any(_has_width(mean) for mean in each.algorithms)]
        places = max(interval_decimals(each.algorithms) for each in spread or column)
        digits |= {(each.table, each.metric): places for each in column}
    return digits


def _has_width(row: AlgorithmMean) -> bool:
    return row.low is not None and row.high is not None and row.high > row.low


def rounded(value: float | None, places: int) -> str:
    """Return a number as text without the sign of a zero, nothing where there is none."""
    if value is None or math.isnan(value):
        return ""
    text = f"{value:.{places}f}"
    return text if text.strip("-0.") else text.removeprefix("-")


def narrowed(
    info: RunInfo, labels: Sequence[str] | None = None, algorithms: Sequence[str] | None = None
) -> RunInfo:
    """Return what there is to show of a run with only some of its metrics and rows.

    Tests, letters and intervals still refer to all rows.

    Parameters
    ----------
    info : RunInfo
    labels : sequence of str, optional
        Metrics in the order in which they are shown; labels that the run does not have are passed
        over.
    algorithms : sequence of str, optional
        Names of rows, likewise.
    """
    changes: dict[str, Any] = {}
    if labels is not None:
        kept = [label for label in labels if label in info.metrics]
        changes["metrics"] = kept
        changes["headline"] = info.headline if info.headline in kept else None
        changes["groups"] = [entry for entry in info.groups if entry.metric in kept]
    if algorithms is not None:
        changes["rows"] = [row for row in info.rows if row.algorithm in algorithms]
        changes["cells"] = [cell for cell in info.cells if cell.algorithm in algorithms]
        changes["bounds"] = []
    return info.model_copy(update=changes)


def result_rows(info: RunInfo) -> list[dict[str, Any]]:
    """Return the results table; see `Run.table`."""
    searched = any(cell.n_trials is not None for cell in info.cells)
    several, tests = info.has_several_cells, info.statistics
    compared = {(each.metric, mean.row): mean for each in tests for mean in each.algorithms}
    letters = {metric for metric, _ in compared}
    answers = {(of.metric, of.table): of.answers() for of in tests if of.margin is not None}
    with_margin = {metric for metric, _ in answers}
    rows, cells_of = [], info.cells_of_rows
    for entry in info.rows:
        cells = cells_of[entry.row]
        good = [cell for cell in cells if isinstance(cell, CellResult)]
        row: dict[str, Any] = {key: entry[key] for key in ("algorithm", *GROUP)}
        for label in info.metrics:
            row[label] = _or_nan(entry.scores[label])
            if several:
                means = [_or_nan(cell.scores[label].mean) for cell in good]
                row[f"{label}_sd"] = _or_nan(deviation(means))
            if label in letters:
                found = compared.get((label, entry.row))
                row[f"{label}_low"] = _or_nan(found.low if found else None)
                row[f"{label}_high"] = _or_nan(found.high if found else None)
                row[f"{label}_letters"] = found.letters if found else ""
            if label in with_margin:
                of_table = answers.get((label, entry.table), {})
                row[f"{label}_answer"] = of_table.get(entry.algorithm, "")
        if searched:
            params = (cell.params for cell in good if cell.n_trials is not None)
            own = ({key: each for key, each in p.items() if key != "random_state"} for p in params)
            row["tuned"] = "; ".join(dict.fromkeys(json.dumps(p, sort_keys=True) for p in own))
            row["n_trials"] = sum(cell.n_trials or 0 for cell in good)
            row["search_seconds"] = math.fsum(cell.search_seconds or 0.0 for cell in good)
        for column in TIMES:
            row[column] = _or_nan(mean_or_none([cell[column] for cell in good]))
        row["peak_mb"] = max((cell.peak_mb for cell in good), default=math.nan)
        row["n_users"] = entry.n_users
        if entry.n_users is None:
            row["n_users"] = _n_users(entry, good, compared)
        row |= {"n_cells": len(good), "n_failed": len(cells) - len(good), "error": _errors(cells)}
        rows.append(row | {"table": entry.table, "row": entry.row})
    return rows


def _n_users(
    row: RowResult, cells: Sequence[CellResult], compared: Mapping[tuple[str, str], AlgorithmMean]
) -> float:
    """Return how many users are evaluated in a cell of a row of an older run; NaN if unknown."""
    if len(cells) <= 1:
        return sum(cell.n_users for cell in cells)
    counts = [mean.n_users for (_, identity), mean in compared.items() if identity == row.row]
    return max(counts, default=math.nan)


def bound_rows(info: RunInfo) -> list[dict[str, Any]]:
    """Return the table of bounds; see `Run.bounds`."""
    rows, several = [], info.has_several_cells
    for entry in info.bounds:
        row: dict[str, Any] = {"bound": BOUNDS[entry.bound]} | {key: entry[key] for key in GROUP}
        for label in info.metrics:
            row[label] = _or_nan(entry.scores.get(label))
            if several:
                row[f"{label}_sd"] = _or_nan(entry.deviations.get(label))
        rows.append(row | {"table": entry.table})
    return rows


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _errors_of(cell: AnyCell) -> list[str]:
    """Return why a cell failed, or each metric that failed in it and why."""
    if isinstance(cell, CellResult):
        return [f"{label}: {reason}" for label, reason in cell.metric_errors.items()]
    return [cell.error]


def _errors(cells: Sequence[AnyCell]) -> str:
    """Return why cells and metrics failed, such as ``fold 1: out of memory; folds 2, 3: no``."""
    folds: dict[str, dict[str, None]] = {}
    for cell in cells:
        for error in _errors_of(cell):
            folds.setdefault(error, {})[str(cell.fold + 1)] = None
    if not any(cell.n_folds > 1 for cell in cells):
        return "; ".join(folds)
    return "; ".join(
        f"fold{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}: {error}"
        for error, numbers in folds.items()
    )


def best_rows(
    frame: pd.DataFrame, label: str, comparison: MetricComparison | None
) -> pd.Series[bool]:
    """Return which rows of one results table lead by a metric; see `leading`.

    Algorithms with a failed cell are excluded: their values are of other folds.
    """
    higher = metrics.parse(label).higher_is_better
    return frame["algorithm"].isin(leading(_known(frame, label), higher, comparison))


def marked_rows(
    frame: pd.DataFrame, label: str, comparison: MetricComparison | None
) -> pd.Series[bool]:
    """Return which values of one results table are marked as the best of a metric.

    They are the `best_rows` that the tests tell apart from some row, which is significantly
    worse. None is marked where all rows have the same value, or where a row that does
    not lead has a better one, of other users. Without tests, as of rmse, the best values are.
    """
    return frame["algorithm"].isin(best_values(_known(frame, label), label, comparison))


def best_values(
    values: Mapping[str, float], label: str, comparison: MetricComparison | None
) -> list[str]:
    """Return the rows whose values of a metric are marked as best; see `marked_rows`."""
    higher = metrics.parse(label).higher_is_better
    if len({*values.values()}) < 2:
        return []
    best = (max if higher else min)(values.values())
    names = [name for name in leading(values, higher, comparison) if values[name] == best]
    if comparison is None or not comparison.pairs:
        return names
    return [
        name
        for name in names
        if any(
            comparison.favoured(pair) == name
            for other, pair in comparison.pairs_of(name).items()
            if other in values
        )
    ]


def _known(frame: pd.DataFrame, label: str) -> dict[str, float]:
    """Return the values of a metric by row, of rows without a failed cell."""
    rows = frame[(frame["n_failed"] == 0) & frame[label].notna()]
    return dict(zip(rows["algorithm"], rows[label], strict=True))


def comparison_of(info: RunInfo, table: str, label: str) -> MetricComparison | None:
    """Return the comparison of the rows of a table by a metric, where there is one."""
    for comparison in info.statistics:
        if (comparison.table, comparison.metric) == (table, label):
            return comparison
    return None


def row_name(row: Mapping[Any, Any]) -> str:
    """Return the name of a row of a table, such as ``SVD (4 of 7 cells)`` where 3 failed."""
    if not (row["n_cells"] and row["n_failed"]):
        return str(row["algorithm"])
    return f"{row['algorithm']} ({row['n_cells']} of {row['n_cells'] + row['n_failed']} cells)"


def display_table(info: RunInfo, *, sums_seconds: bool = False) -> TextTable:
    """Return the results table as text, bounds below each table.

    Facts that are the same in all rows, such as one data set, have no column.

    Each metric has, within one data set, split and candidates, the decimals that its uncertainty
    allows; see `decimals`. Values are highlighted as `marked_rows` says. With
    `sums_seconds` one column has the sum of the seconds to fit, to score and of the metrics.
    """
    named: list[dict[str, Any]] = [row | {"shown": row_name(row)} for row in result_rows(info)]
    named += [row | {"shown": row["bound"]} for row in bound_rows(info)]
    order = [*info.tables].index
    named.sort(key=lambda row: order(row["table"]))
    frame = pd.DataFrame(named)
    is_bound, digits = frame["row"].isna(), column_decimals(info)
    shown: dict[str, Iterable[str]] = {"algorithm": frame["shown"]}
    shown |= {column: frame[column] for column in GROUP if frame[column].nunique() > 1}
    best: list[tuple[int, int]] = []
    for label in info.metrics:
        for table, own in frame[~is_bound].groupby("table", sort=False):
            if len(own) > 1:
                marked = marked_rows(own, label, comparison_of(info, str(table), label))
                best += [(row, len(shown)) for row in own.index[marked]]
        places = [digits.get((table, label), DEFAULT_DECIMALS) for table in frame["table"]]
        values_and_spreads = [frame[name] for name in (label, f"{label}_sd") if name in frame]
        texts = [map(rounded, column, places) for column in values_and_spreads]
        numbers = pd.Series([" ± ".join(filter(None, pair)) for pair in zip(*texts, strict=True)])
        # Padded behind its letters: these stay beside a number, and points below each other.
        pads = [max(places) - own + (own == 0 < max(places)) for own in places]
        if f"{label}_letters" in frame:
            marks = frame[f"{label}_letters"].fillna("")
            width = marks.str.len().max() + 1
            numbers += [f" {mark}".ljust(width) if mark or width > 1 else "" for mark in marks]
        shown[label] = [text + " " * pad for text, pad in zip(numbers, pads, strict=True)]
        if label == info.primary and f"{label}_answer" in frame:
            shown[AGAINST_BEST] = frame[f"{label}_answer"].fillna("")
    if sums_seconds:
        frame = frame.assign(seconds=frame[list(TIMES)].sum(axis=1, min_count=1))
    for column in columns_of(frame, sums_seconds=sums_seconds):
        values = frame[column.name]
        if column.of_search:
            values = values.where(frame["tuned"].fillna("") != "")
        if column.name == "n_users":
            values = values.where(values != 0)
        shown[column.title] = [rounded(value, column.places) for value in values]
    # A metric that failed is a note, and leaves the row's other numbers as they are.
    if (errors := frame["error"].where(frame["n_failed"] > 0, "").fillna("")).any():
        shown["error"] = errors
    below = frame.index[is_bound.ne(is_bound.shift(fill_value=False))].tolist()
    rows = list(zip(*shown.values(), strict=True))
    return TextTable(headline(info), "", 1, list(shown), rows, best, below=below)


def headline(info: RunInfo) -> str:
    """Return one line: data, split, candidates, seeds."""
    parts = [joined(dict.fromkeys(row[key] for row in info.rows)) for key in GROUP]
    return f"data: {parts[0]}; split: {parts[1]}; candidates: {parts[2]}; seed: {info.seeds_text}"


def to_csv(info: RunInfo) -> str:
    """Return ``table.csv``: metrics to eight decimals, so that equal runs are equal bytes."""
    return rounded_csv(pd.DataFrame(result_rows(info)))


def csv_of_columns(info: RunInfo, titles: Iterable[str]) -> str:
    """Return the columns of these titles as CSV, a metric with its interval, letters and spread."""
    frame = pd.DataFrame(result_rows(info))
    frame[SECONDS.name] = frame[list(TIMES)].sum(axis=1, min_count=1)
    names = {column.title: column.name for column in (*COLUMNS, SECONDS)}
    shown = ["algorithm", *GROUP]
    for title in titles:
        if title in info.metrics:
            ends = ("", "_sd", "_low", "_high", "_letters", "_answer")
            shown += [title + end for end in ends if title + end in frame]
        elif (name := names.get(title, title)) in frame:
            shown.append(name)
    return rounded_csv(frame[[*dict.fromkeys(shown)]])


def rounded_csv(table: pd.DataFrame) -> str:
    """Return numbers as CSV: values to eight decimals, seconds to three, megabytes to none."""
    places = {column.name: column.csv_places for column in COLUMNS}
    numbers = {
        name: table[name].map(f"{{:.{places.get(name, 8)}f}}".format, na_action="ignore")
        for name in map(str, table.select_dtypes("float").columns)
    }
    return frame_to_csv(table.assign(**numbers))


def divided(table: TextTable) -> list[TextTable]:
    """Return the results tables in a table of texts each by itself, named by what differs."""
    names = [column for column in table.columns if column in GROUP]  # after the first column
    n = 1 + len(names)
    if n == 1:
        return [table]
    tables: list[TextTable] = []
    start = 0
    for values, group in groupby(table.rows, lambda row: tuple(row[1:n])):
        rows = [[row[0], *row[n:]] for row in group]
        texts = [list(column) for column in zip(*rows, strict=True)]
        for column in texts[1:]:  # what aligned them with numbers of other decimals
            padding = min((len(text) - len(text.rstrip()) for text in column if text), default=0)
            column[:] = [text[: len(text) - padding] for text in column]
        part = TextTable(
            "; ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True)),
            "",
            len(tables) + 1,
            [table.columns[0], *table.columns[n:]],
            list(zip(*texts, strict=True)),
            [(i - start, j - n + 1) for i, j in table.best if start <= i < start + len(rows)],
            below=[i - start for i in table.below if start < i < start + len(rows)],
        )
        tables.append(part)
        start += len(rows)
    return tables


FOLD_PLACES = 4
"""Decimals where people read the values."""


def fold_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each cell: names, ``seed``, ``fold`` from 1, metrics, ``error``.

    Values are of only the cell; NaN where a metric is undefined or failed, or the cell did.
    """
    rows = []
    for cell in info.cells:
        row: dict[str, object] = {key: cell[key] for key in ("algorithm", *GROUP)}
        row |= {"seed": cell.seed, "fold": cell.fold + 1}
        scores = cell.scores if isinstance(cell, CellResult) else {}
        for label in info.metrics:
            mean = scores[label].mean if label in scores else None
            row[label] = float("nan") if mean is None else mean
        row["error"] = "; ".join(_errors_of(cell))
        rows.append(row)
    return pd.DataFrame(rows)


def fold_tables(info: RunInfo) -> list[TextTable]:
    """Return a table of the cells for each results table of a run, rows in its order."""
    tables = []
    for number, (table, names) in enumerate(info.tables.items(), 1):
        rows = []
        for entry in (row for row in info.rows if row.table == table):
            for cell in info.cells_of_rows[entry.row]:
                scores = cell.scores if isinstance(cell, CellResult) else {}
                values = [
                    rounded(scores[label].mean if label in scores else None, FOLD_PLACES)
                    for label in info.metrics
                ]
                rows.append([entry.algorithm, str(cell.seed), str(cell.fold + 1), *values])
        where = f", {', '.join(names)}" if len(info.tables) > 1 else ""
        title = f"values of each fold and seed{where}"
        columns = ["algorithm", "seed", "fold", *info.metrics]
        tables.append(TextTable(title, "", number, columns, rows))
    return tables


TRAINING_PLACES = 4
"""Decimals where people read the values."""
SUFFIX = " (training)"


def training_frame(info: RunInfo) -> pd.DataFrame:
    """Return a row for each row of the results table: names, and each metric on both parts.

    Values are means over folds and seeds; `surprise.model_selection.cross_validate` has them for
    each. The column of the training set is the label with `` (training)``. NaN where a value is
    missing in a cell.

    Raises
    ------
    ResultsError
        If the run has no values of the training set.
    """
    if not any(cell.training for cell in info.finished):
        raise ResultsError(
            f"{info.name}: no values of the training set; add `outputs: {{training: true}}` to "
            "its config and run it again"
        )
    rows = []
    for entry in info.rows:
        cells = [cell for cell in info.cells_of_rows[entry.row] if isinstance(cell, CellResult)]
        row: dict[str, object] = {"algorithm": entry.algorithm}
        row |= {key: entry[key] for key in GROUP} | {"table": entry.table}
        for label in info.metrics:
            row[label] = _mean(cell.scores[label].mean for cell in cells if label in cell.scores)
            row[label + SUFFIX] = _mean(cell.training.get(label) for cell in cells)
        rows.append(row)
    return pd.DataFrame(rows)


def _mean(values: Iterable[float | None]) -> float:
    """Return the mean of the values of cells; NaN without any, or where one is missing."""
    numbers = [np.nan if value is None else value for value in values]
    return float(np.mean(numbers)) if numbers else np.nan


def training_tables(info: RunInfo) -> list[TextTable]:
    """Return a table of both parts for each results table of a run, rows in its order."""
    frame, tables = training_frame(info), []
    columns = [label + end for label in info.metrics for end in ("", SUFFIX)]
    for number, (table, names) in enumerate(info.tables.items(), 1):
        of_table = frame[frame["table"] == table].to_dict("records")
        rows = [
            [str(row["algorithm"]), *(rounded(row[column], TRAINING_PLACES) for column in columns)]
            for row in of_table
        ]
        where = f", {', '.join(names)}" if len(info.tables) > 1 else ""
        caption = (
            "Means over folds and seeds. On the training set, each user's training ratings are "
            "ranked. A model that is much better there than on the test set has learnt the noise "
            "of its ratings."
        )
        title = f"test and training set{where}"
        tables.append(TextTable(title, caption, number, ["algorithm", *columns], rows))
    return tables


PLACES = 4
"""Decimals where people read the values."""
CONSTANT = ("dataset", "split", "candidates")
"""Names that are left out where all rows have the same."""


def analysis_table(title: str, frame: pd.DataFrame, caption: str = "") -> TextTable:
    """Return the table of an analysis with rounded numbers.

    >>> analysis_table("lengths", pd.DataFrame({"algorithm": ["SVD"], "mean": [2.5]})).rows
    [['SVD', '2.5000']]
    """
    alike = [key for key in CONSTANT if key in frame and frame[key].nunique() == 1]
    shown = frame.drop(columns=alike)
    rows = [[_text(value) for value in row] for row in shown.astype(object).to_numpy().tolist()]
    columns = [str(column) for column in shown.columns]
    is_number = [pd.api.types.is_numeric_dtype(shown[column]) for column in shown.columns]
    n_words = next((place for place, number in enumerate(is_number) if number), len(columns))
    return TextTable(title, caption, 0, columns, rows, n_words=n_words)


def _text(value: object) -> str:
    """Return a value as people read it."""
    if value is None or isinstance(value, bool | str):
        return "" if value is None else str(value)
    if isinstance(value, Integral):
        return f"{value:,}"
    return rounded(float(value), PLACES) if isinstance(value, Real) else str(value)


def group_tables(
    info: RunInfo, label: str | None = None, *, asked: bool = False
) -> list[TextTable]:
    """Return a table of one metric for each division into groups.

    By default the metric is the headline, else the first ranking metric with groups. With `asked`,
    what the config does not ask for is left out. A ResultsError is raised if no group has the
    metric.
    """
    by_metric = dict.fromkeys(entry.metric for entry in info.groups)
    if not by_metric:
        return []
    label = chosen_metric(label, by_metric, f"{info.name}: no groups with", info.headline)
    titles = {entry.title for entry in info.experiment.groups}
    entries = [entry for entry in info.groups if entry.metric == label]
    return [_group_table(info, entry) for entry in entries if entry.title in titles or not asked]


def _group_table(info: RunInfo, entry: GroupScores) -> TextTable:
    """Return the algorithms of a table in each group, a random order, and the sizes of groups."""
    groups, of_items = entry.groups, entry.side == "items"
    order = [row for row in info.rows if row.table == entry.table]
    places = interval_decimals(mean for group in groups for mean in group.algorithms)
    choose = max if metrics.parse(entry.metric).higher_is_better else min
    sizes = {"users": [group.n_users for group in groups]}
    if any(group.n_left_out for group in groups):
        sizes["without a score"] = [group.n_left_out for group in groups]
    if of_items:
        sizes["test items"] = [group.n_members for group in groups]
    columns = [("algorithm", [*(row.algorithm for row in order), BOUNDS["random"], *sizes])]
    best, caption = [], []
    for j, group in enumerate(groups):
        means = {mean.row: (mean.mean, mean.letters) for mean in group.algorithms}
        members = [means.get(row.row, (None, "")) for row in order]
        values = {value for value, _ in members if value is not None}
        if len(values) > 1 and not group.is_small:
            best += [
                (i, j + 1)
                for i, (value, letters) in enumerate(members)
                if value == choose(values)
                and is_first(letters)
                and any({*letters}.isdisjoint(others) for _, others in members if others)
            ]
        texts = [(rounded(value, places), letters) for value, letters in members]
        texts += [(rounded(group.random, places), "")]
        texts += [(f"{size[j]:,}", "") for size in sizes.values()]
        width = max((len(letters) + 1 for _, letters in members if letters), default=0)
        shown = [f"{text}{f' {letters}' if letters else '':<{width}}" for text, letters in texts]
        columns.append((group.group + " *" * group.is_small, shown))
    if any(mean.letters for group in groups for mean in group.algorithms):
        caption.append(
            "Algorithms that share a letter in a group are not significantly different there."
        )
    if entry.gaps:
        gaps, digits = {gap.row: gap for gap in entry.gaps}, interval_decimals(entry.gaps)
        shown = [""] * (len(order) + 1 + len(sizes))
        for i, gap in enumerate(gaps.get(row.row) for row in order):
            if gap is not None:
                shown[i], *ends = (rounded(x, digits) for x in (gap.difference, gap.low, gap.high))
                shown[i] += f" ({' to '.join(ends)})" if ends[0] else ""
        columns.append(("gap", shown))
        pairs = ", over users with a score in both" * of_items
        caption.append(
            f"gap: an algorithm's greatest group less its least{pairs}, with the interval."
        )
    if any(group.is_small for group in groups):
        few = f"*: fewer than {FEWEST_OF_GROUP} users, so without letters and not in the gap."
        caption.append(few)
    if of_items:
        caption.append(
            "Ranks are of the whole lists; only items of the group are relevant and in the "
            "ideal. Users without a relevant item of the group have no score."
        )
    where = f", {', '.join(entry.names)}" if len(info.tables) > 1 else ""
    return TextTable(
        f"{entry.metric} by {entry.title}{where}",
        " ".join(caption),
        [*info.tables].index(entry.table) + 1,
        [title for title, _ in columns],
        list(zip(*(members for _, members in columns), strict=True)),
        best,
        below=[len(order)],
    )


_LATEX = (
    {c: f"\\{c}" for c in "{}$&#_%"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\char34{}"}
    | {c: f"{{{c}}}" for c in "[]*"}  # at the beginning of a row they are arguments of its end
    | {
        "±": r"$\pm$",
        "²": r"\textsuperscript{2}",
        "∈": r"$\in$",
        "×": r"$\times$",
        "−": "$-$",
        "≤": r"$\le$",
        "≥": r"$\ge$",
        "·": r"$\cdot$",
    }
    | {"…": r"\dots{}", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"}
)
"""How LaTeX writes what is special in it, or not in its usual fonts."""
_LIGATURES = re.compile(r"(?<=[-`',!?])(?=[-`',])")
"""Between two characters that LaTeX would join, such as ``--`` into a dash."""


def escape_latex(text: object) -> str:
    """Return text escaped for LaTeX; characters without a usual font become code points."""
    return "{}".join(
        "".join(_LATEX.get(c, c if _is_usual(c) else f"{{[}}U+{ord(c):04X}{{]}}") for c in part)
        for part in _LIGATURES.split(unicodedata.normalize("NFC", printable(text)))
    )


def _is_usual(character: str) -> bool:
    """Return whether LaTeX's usual fonts have a character."""
    return character.isascii() or "À" <= character <= "ž"


def identifier(name: str) -> str:
    """Return a name as letters, digits and dashes."""
    return "".join(c if c.isascii() and c.isalnum() else "-" for c in name)


COLUMN_POINTS = 241
"""Width of a column in the narrowest usual template of two columns, `acmart`."""
PAGE_POINTS = 345
"""Width of the text in `article`, the narrowest usual template of one column."""
SEPARATION = {"": 6, "small": 3, "footnotesize": 2}
"""Points between a column and its edge, by the size of the text; the first is LaTeX's own."""
SIZES = {"": 1.0, "small": 0.9, "footnotesize": 0.8}
"""Sizes of text beside the usual one."""
RAISED = 0.7
"""Size of a raised letter."""
LONG_HEADING = 45
"""Points from which the words of a heading are put on two lines."""
_LETTERS = {"ijlft.,:;'|()[]- ": 3.4, "mw@=<>+&%MW": 8.0}
_POINTS = {letter: points for letters, points in _LETTERS.items() for letter in letters}


def latex_table(
    frame: pd.DataFrame, caption: str, label: str, n_words: int = 1, *, grouped: bool = False
) -> str:
    """Return a table of LaTeX from escaped cells, the first columns aligned to the left.

    A table that is too wide for a column of a paper gets smaller letters and headings of two lines.
    If that is not enough, it is a ``table*``, which in a paper of two columns takes both.
    With `grouped`, the headings have two levels, the first of them is of several columns.
    """
    titles = [str(own[-1] if grouped else own) for own in frame.columns]
    columns = frame.to_numpy(str).T
    texts = [max(map(_points, column), default=0.0) for column in columns]
    environment, size = "table", ""
    if _table_points(titles, texts, size) > COLUMN_POINTS:
        titles = [
            _stacked(title, number < n_words) if _points(title) > texts[number] else title
            for number, title in enumerate(titles)
        ]
        widths = {size: _table_points(titles, texts, size) for size in SIZES}
        if widths["footnotesize"] <= COLUMN_POINTS:
            size = "small" if widths["small"] <= COLUMN_POINTS else "footnotesize"
        else:
            environment = "table*"
            size = "small" if widths["small"] <= PAGE_POINTS else "footnotesize"
    width = _table_points(titles, texts, size)
    heads = pd.Index(titles)
    if grouped:
        heads = pd.MultiIndex.from_arrays([frame.columns.get_level_values(0), heads])
    shown = frame.set_axis(heads, axis="columns")
    text: str = shown.style.hide(axis="index").to_latex(
        caption=escape_latex(caption),
        label=f"tab:{label}",
        column_format="l" * n_words + "r" * (len(frame.columns) - n_words),
        position_float="centering",
        multicol_align="c",
        hrules=True,
        environment=environment,
    )
    before = ""
    if width > PAGE_POINTS:
        before += f"% about {width:.0f} pt wide: leave out columns, or use sidewaystable\n"
    if size:
        before += f"\\{size}\n\\setlength{{\\tabcolsep}}{{{SEPARATION[size]}pt}}\n"
    return text.replace("\\begin{tabular}", before + "\\begin{tabular}", 1)


def _table_points(titles: Sequence[str], texts: Sequence[float], size: str) -> float:
    """Return about how many points wide a table is, by its titles and the widths of its texts."""
    widths = [max(_points(title), width) for title, width in zip(titles, texts, strict=True)]
    return SIZES[size] * sum(widths) + 2 * SEPARATION[size] * len(widths)


def _points(text: str) -> float:
    """Return about how many points wide an escaped text is in Computer Modern of 10 points."""
    if stacked := re.fullmatch(r"\\begin\{tabular\}.*?@\{\}\}(.*)\\end\{tabular\}", text):
        return max(map(_points, stacked[1].split(r"\\")))
    bare, *raised = re.split(r"\$\^\{\\mathrm\{(\w+)\}\}\$", text)
    widths = [
        _POINTS.get(letter, 7.3 if letter.isupper() else 5.2)
        for letter in re.sub(r"\\[a-zA-Z]+|[{}\\]", "", bare)
    ]
    bold = 1.15 if r"\textbf" in bare else 1.0
    return bold * sum(widths) + RAISED * sum(map(_points, raised))


def _stacked(title: str, is_left: bool) -> str:
    r"""Return an escaped heading of two lines: a metric over its parameters, or words halved.

    >>> print(_stacked("ap(threshold=4)@10", False))
    \begin{tabular}[b]{@{}r@{}}ap@10\\(threshold=4)\end{tabular}
    """
    words = title.split(" ")
    if found := re.fullmatch(r"([^()]+)(\(.*\))([^()]*)", title):
        lines = (found[1].strip() + found[3], found[2])
    elif len(words) > 1 and _points(title) > LONG_HEADING:
        halves = [(" ".join(words[:n]), " ".join(words[n:])) for n in range(1, len(words))]
        lines = min(halves, key=lambda half: max(map(_points, half)))
    else:
        return title
    side = "l" if is_left else "r"
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{lines[0]}\\{lines[1]}\end{{tabular}}"


def table_latex(table: TextTable) -> str:
    """Return a table of texts for a paper; it needs the package ``booktabs``."""
    frame = table.frame.map(escape_latex).rename(columns=escape_latex)
    caption, label = f"{table.title}. {table.caption}", identifier(table.title)
    return latex_table(frame, caption, label, table.n_words)
