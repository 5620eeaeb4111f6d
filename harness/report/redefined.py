"""The tie table and the convention table: the same lists under other definitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import metrics
from harness.report.digest import Digest, Place
from harness.report.sentences import joined
from harness.report.styles import plain
from harness.results.record import ConventionRow
from harness.results.table import as_text
from harness.results.values import rounded

__all__ = ["WordedTable", "convention_table", "redefined_tables", "tie_table"]

ABSENT = (
    "This run was written without it, and its cells are not in the cache of this machine. "
    "Run its config again: finished cells are used again."
)
LEAST_GAP = 5e-5
"""Smallest difference between best and worst algorithm for a definition to be shown."""


@dataclass(frozen=True)
class WordedTable:
    """A table of the page beside the results.

    Parameters
    ----------
    title, caption : str
    place : int
        Number of the results table that it belongs to, from 1.
    columns : tuple of str
        Empty where there is nothing to show; the caption says why.
    rows : tuple of tuple of str
    best : frozenset of (int, int)
        Row and column of highlighted values.
    words : frozenset of int
        Columns of words, to be aligned to the left.
    """

    title: str
    caption: str
    place: int
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()
    words: frozenset[int] = frozenset({0})

    @property
    def csv(self) -> str:
        """The table as a file."""
        import csv
        import io

        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [as_text(value) for value in row] for row in (self.columns, *self.rows)
        )
        return text.getvalue()


def redefined_tables(told: Digest) -> list[WordedTable]:
    """Return both tables for each results table of a run.

    Parameters
    ----------
    told : Digest
    """
    return [
        make(told, place, number)
        for number, place in enumerate(told.places, 1)
        for make in (tie_table, convention_table)
    ]


def tie_table(told: Digest, place: Place, number: int) -> WordedTable:
    """Return the users with ties at the cut, and the values under each rule for ties.

    Parameters
    ----------
    told : Digest
    place : Place
    number : int
        Of the place, from 1.
    """
    title = _titled("Ties at the cut", told, place)
    shares = _shares(place)
    labels = [each for each in told.labels if any(each in of_one for of_one in shares.values())]
    entry = next((each for each in told.info.ties if each.table == place.key), None)
    scores = {row.algorithm: row.scores for row in entry.rows} if entry else {}
    rules = list(next(iter(scores.values()), {}))
    names = [name for name in place.ranked(told.primary) if name in shares]
    if not names or not (labels or rules):
        return WordedTable(title, f"No metric with a cut-off rank. {ABSENT}", number)
    digits = place.decimals.get(told.primary, 4)
    rows = [
        (
            name,
            *(f"{100 * shares[name].get(each, 0.0):.1f}%" for each in labels),
            *(rounded(scores.get(name, {}).get(rule), digits) for rule in rules),
        )
        for name in names
    ]
    metric = entry.metric if entry else ""
    columns = (
        "algorithm",
        *(f"tied, {each}" for each in labels),
        *(f"ties={rule}" for rule in rules),
    )
    return WordedTable(
        title,
        " ".join(_tie_sentences(shares, scores, metric, digits)),
        number,
        tuple(columns),
        tuple(rows),
    )


def convention_table(told: Digest, place: Place, number: int) -> WordedTable:
    """Return the scores of the same lists by the definition of each library.

    Libraries with the same definition share a row.

    Parameters
    ----------
    told : Digest
    place : Place
    number : int
        Of the place, from 1.
    """
    entry = next((each for each in told.info.conventions if each.table == place.key), None)
    if entry is None:
        return WordedTable(_titled("Conventions", told, place), ABSENT, number)
    title = _titled(f"{entry.metric}@{entry.k} by library and document", told, place)
    names_of = dict(zip(place.rows["row"], place.rows["algorithm"], strict=True))
    by_label: dict[str, list[ConventionRow]] = {}
    for row in entry.rows:
        named = {names_of[key]: value for key, value in row.scores.items()}
        by_label.setdefault(row.label, []).append(row.model_copy(update={"scores": named}))
    groups = list(by_label.values())
    known = {name for group in groups for row in group for name in row.scores}
    names = [name for name in place.ranked(told.primary) if name in known]
    digits = place.decimals.get(told.primary, 4)
    rows, best = [], set()
    for number_of_row, group in enumerate(groups):
        values = [group[0].scores.get(name) for name in names]
        shown = [rounded(value, digits) for value in values]
        label = group[0].label + (f" ({group[0].note})" if group[0].note else "")
        rows.append((", ".join(row.convention for row in group), label, *shown))
        if _distinguishes(values):
            top = max(value for value in values if value is not None)
            best |= {(number_of_row, i + 2) for i, value in enumerate(values) if value == top}
    return WordedTable(
        title,
        " ".join(_convention_sentences(groups, names, digits)),
        number,
        ("library or document", "definition", *names),
        tuple(rows),
        frozenset(best),
        frozenset({0, 1}),
    )


def _tie_sentences(
    shares: dict[str, dict[str, float]],
    scores: dict[str, dict[str, float | None]],
    metric: str,
    digits: int,
) -> Iterator[str]:
    yield (
        "Percent of users for whom a tie among estimates decides which of their judged items are "
        "above rank k; the largest of the folds and seeds."
    )
    if not scores:
        yield f"The values under other rules for ties are missing. {ABSENT}"
        return
    yield f"Then {metric} of the same lists under each rule for ties."
    gaps = {
        name: best - worst
        for name, each in scores.items()
        if (best := each.get("best")) is not None and (worst := each.get("worst")) is not None
    }
    if gaps:
        name = max(gaps, key=lambda each: gaps[each])
        gap = rounded(gaps[name], digits)
        yield (
            f"From the worst to the best order of its ties, {plain(name)} gains {gap}, more than "
            "any other."
            if float(gap)
            else "No rule changes a value that is shown."
        )


def _convention_sentences(
    groups: Sequence[Sequence[ConventionRow]], names: Sequence[str], digits: int
) -> Iterator[str]:
    yield "All rows score the same lists and ratings; only the definition differs."
    if not names:
        return
    first = names[0]
    values = [each for group in groups if (each := group[0].scores.get(first)) is not None]
    if len(values) > 1:
        yield (
            f"{plain(first)} goes from {rounded(min(values), digits)} to "
            f"{rounded(max(values), digits)}."
        )
    distinct = [g for g in groups if _distinguishes([g[0].scores.get(name) for name in names])]
    winners = [
        max(names, key=lambda name: _or_least(group[0].scores.get(name))) for group in distinct
    ]
    if distinct and len(names) > 1:
        counts = {name: winners.count(name) for name in names if name in winners}
        best = joined([f"{plain(name)} under {count}" for name, count in counts.items()])
        yield f"Of {len(distinct)} definitions that distinguish the algorithms, the best is {best}."
    blind = [group[0].label for group in groups if group not in distinct]
    if blind:
        number = f"{len(blind)} definitions give" if len(blind) > 1 else "One definition gives"
        why = ": every rating counts as relevant" if all(map(_is_binary, blind)) else ""
        yield f"{number} all algorithms the same value{why}."


def _shares(place: Place) -> dict[str, dict[str, float]]:
    """Return, by algorithm and metric, the largest share of users with a tie at the cut."""
    shares: dict[str, dict[str, float]] = {}
    for cell in place.cells:
        own = shares.setdefault(cell.algorithm, {})
        for label, share in cell.tied_at_cut.items():
            own[label] = max(own.get(label, 0.0), share)
    return shares


def _titled(title: str, told: Digest, place: Place) -> str:
    return title + (f", {place.title}" if len(told.places) > 1 else "")


def _distinguishes(values: Sequence[float | None]) -> bool:
    known = [value for value in values if value is not None]
    return len(known) > 1 and max(known) - min(known) > LEAST_GAP


def _is_binary(label: str) -> bool:
    gain = metrics.parse(label).params.get("gain")
    return gain is not None and gain.word == "binary"


def _or_least(value: float | None) -> float:
    return float("-inf") if value is None else value
