"""The same lists under other rules for ties, and by the definitions of other libraries."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import metrics
from harness.report.sentences import joined, plain
from harness.report.summary import ResultTable, Summary
from harness.results.record import ConventionRow, TieScores
from harness.results.table import as_text

__all__ = ["SensitivityTable", "convention_table", "sensitivity_tables", "tie_table"]

ABSENT = (
    "This run was written without it, and its cells are not in the cache of this machine. "
    "Run its config again: finished cells are used again."
)
LEAST_GAP = 5e-5
"""Smallest difference between best and worst algorithm for a definition to be shown."""

Scores = Sequence[float | None]


@dataclass(frozen=True)
class SensitivityTable:
    """A table of the page beside the results."""

    title: str
    caption: str
    number: int
    """Of the results table that it belongs to, from 1."""
    columns: tuple[str, ...] = ()
    """Empty where there is nothing to show; the caption says why."""
    rows: tuple[tuple[str, ...], ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()
    """Row and column of highlighted values."""
    n_words: int = 1
    """How many columns, from the left, hold words."""

    @property
    def csv(self) -> str:
        """The table as a file."""
        text = io.StringIO()
        rows = ([as_text(value) for value in row] for row in (self.columns, *self.rows))
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def sensitivity_tables(summary: Summary) -> list[SensitivityTable]:
    """Return both tables for each results table of a run."""
    return [
        make(summary, table) for table in summary.tables for make in (tie_table, convention_table)
    ]


def tie_table(summary: Summary, table: ResultTable) -> SensitivityTable:
    """Return the users with ties at the cut, and the values under each rule for ties."""
    title = _titled("Ties at the cut", summary, table)
    shares: dict[str, dict[str, float]] = {}
    for cell in table.cells:
        own = shares.setdefault(cell.algorithm, {})
        for label, share in cell.tied_at_cut.items():
            own[label] = max(own.get(label, 0.0), share)
    labels = [each for each in summary.info.metrics if any(each in own for own in shares.values())]
    entry = next((each for each in summary.info.ties if each.table == table.key), None)
    scores = {row.algorithm: row.scores for row in entry.rows} if entry else {}
    rules = list(next(iter(scores.values()), {}))
    names = [name for name in table.ranked(summary.primary) if name in shares]
    if not names or not (labels or rules):
        return SensitivityTable(title, f"No metric with a cut-off rank. {ABSENT}", table.number)
    rows = [
        (
            name,
            *(f"{100 * shares[name].get(each, 0.0):.1f}%" for each in labels),
            *(table.text(summary.primary, scores.get(name, {}).get(rule)) for rule in rules),
        )
        for name in names
    ]
    tied, values = (f"tied, {each}" for each in labels), (f"ties={rule}" for rule in rules)
    caption = " ".join(_tie_sentences(summary, table, entry))
    columns = ("algorithm", *tied, *values)
    return SensitivityTable(title, caption, table.number, columns, tuple(rows))


def convention_table(summary: Summary, table: ResultTable) -> SensitivityTable:
    """Return the scores of the same lists by the definition of each library.

    Libraries with the same definition share a row.
    """
    entry = next((each for each in summary.info.conventions if each.table == table.key), None)
    if entry is None:
        return SensitivityTable(_titled("Conventions", summary, table), ABSENT, table.number)
    title = _titled(f"{entry.metric}@{entry.k} by library and document", summary, table)
    by_label: dict[str, list[ConventionRow]] = {}
    for each in entry.rows:
        by_label.setdefault(each.label, []).append(each)
    known = {key for each in entry.rows for key in each.scores}
    keys = {name: table.records[name]["row"] for name in table.ranked(summary.primary)}
    keys = {name: key for name, key in keys.items() if key in known}
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    values_of: dict[str, Scores] = {}
    for label, group in by_label.items():
        values = values_of[label] = [group[0].scores.get(key) for key in keys.values()]
        if _distinguishes(values):
            top = max(value for value in values if value is not None)
            best |= {(len(rows), i + 2) for i, value in enumerate(values) if value == top}
        libraries = ", ".join(each.convention for each in group)
        definition = label + (f" ({group[0].note})" if group[0].note else "")
        shown = [table.text(summary.primary, value) for value in values]
        rows.append((libraries, definition, *shown))
    caption = " ".join(_convention_sentences(summary, table, list(keys), values_of))
    columns = ("library or document", "definition", *keys)
    return SensitivityTable(
        title, caption, table.number, columns, tuple(rows), frozenset(best), n_words=2
    )


def _tie_sentences(summary: Summary, table: ResultTable, entry: TieScores | None) -> Iterator[str]:
    yield (
        "Percent of users for whom a tie among estimates decides which of their judged items are "
        "above rank k; the largest of the folds and seeds."
    )
    if entry is None or not entry.rows:
        yield f"The values under other rules for ties are missing. {ABSENT}"
        return
    yield f"Then {entry.metric} of the same lists under each rule for ties."
    gaps = {
        row.algorithm: best - worst
        for row in entry.rows
        if (best := row.scores.get("best")) is not None
        and (worst := row.scores.get("worst")) is not None
    }
    if gaps:
        name = max(gaps, key=lambda each: gaps[each])
        gap = table.text(summary.primary, gaps[name])
        yield (
            f"From the worst to the best order of its ties, {plain(name)} gains {gap}, more than "
            "any other."
            if float(gap)
            else "No rule changes a value that is shown."
        )


def _convention_sentences(
    summary: Summary, table: ResultTable, names: Sequence[str], values_of: dict[str, Scores]
) -> Iterator[str]:
    yield "All rows score the same lists and ratings; only the definition differs."
    if not names:
        return
    of_first = [values[0] for values in values_of.values() if values[0] is not None]
    if len(of_first) > 1:
        low, high = (table.text(summary.primary, end(of_first)) for end in (min, max))
        yield f"{plain(names[0])} goes from {low} to {high}."
    distinct = [values for values in values_of.values() if _distinguishes(values)]
    if distinct and len(names) > 1:
        ranked = [[-float("inf") if each is None else each for each in row] for row in distinct]
        winners = [names[row.index(max(row))] for row in ranked]
        counts = {name: winners.count(name) for name in names if name in winners}
        best = joined([f"{plain(name)} under {count}" for name, count in counts.items()])
        yield f"Of {len(distinct)} definitions that distinguish the algorithms, the best is {best}."
    blind = [label for label, values in values_of.items() if not _distinguishes(values)]
    if blind:
        number = f"{len(blind)} definitions give" if len(blind) > 1 else "One definition gives"
        gains = [str(metrics.parse(label).params.get("gain")) for label in blind]
        binary = all(gain.startswith("binary") for gain in gains)
        why = ": every rating counts as relevant" if binary else ""
        yield f"{number} all algorithms the same value{why}."


def _titled(title: str, summary: Summary, table: ResultTable) -> str:
    return title + (f", {table.title}" if len(summary.tables) > 1 else "")


def _distinguishes(values: Scores) -> bool:
    known = [value for value in values if value is not None]
    return len(known) > 1 and max(known) - min(known) > LEAST_GAP
