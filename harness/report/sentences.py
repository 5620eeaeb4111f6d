"""The results in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.results.table import TIMES
from harness.results.values import decimals, rounded

if TYPE_CHECKING:
    from harness.report.summary import ResultTable, Summary

__all__ = ["counted", "headline", "joined", "plain", "seconds_text", "shortened"]


def headline(summary: Summary) -> list[str]:
    """Return the result of a run, a sentence or two for each table."""
    sentences = [_headline_of(summary, table) for table in summary.tables]
    failed = summary.info.failed
    if failed:
        names = joined(list(dict.fromkeys(plain(cell.algorithm) for cell in failed)))
        sentences.append(f"{counted(len(failed), 'cell')} failed: {names}.")
    return sentences


def plain(text: object) -> str:
    r"""Return text on one line, without characters that cannot be printed."""
    return " ".join("".join(c for c in str(text) if c.isprintable() or c.isspace()).split())


def shortened(name: str, width: int = 22) -> str:
    """Return a name that fits beside a plot, its middle cut if it is too long."""
    text = plain(name)
    if len(text) <= width:
        return text
    end = (width - 1) // 2
    return f"{text[: width - 1 - end]}…{text[-end:]}"


def seconds_text(value: float) -> str:
    """Return a duration in a short form."""
    if value < 0.95:
        return f"{max(value * 1000, 1):.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"


def joined(words: Sequence[str]) -> str:
    """Return a list as English writes it."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _headline_of(summary: Summary, table: ResultTable) -> str:
    label = summary.primary
    ranked = table.ranked(label)
    data, split, candidates = (plain(part) for part in table.names)
    where = f"On {data} ({split}; candidates: {candidates})"
    if not ranked:
        return f"{where}, no algorithm finished with a value of {label}."
    best = table.best(label)
    row = table.records[best[0]]
    low, high = table.interval_text(label, best[0])
    sure = f" ({100 * (1 - table.level):.4g}% interval {low} to {high})" if low else ""
    sentence = (
        f"{where}, {joined([plain(name) for name in best])} "
        f"{'reaches' if len(best) == 1 else 'reach'} the best {label}, "
        f"{table.text(label, row[label])}{sure}"
    )
    rest = [name for name in ranked if name not in best]
    if rest:
        sentence += _beside(table, label, best[0], rest)
    seconds = seconds_text(row[TIMES[0]] + row[TIMES[1]])
    return f"{sentence}. {plain(best[0])} takes {seconds} to fit and score."


def _beside(table: ResultTable, label: str, best: str, rest: Sequence[str]) -> str:
    """Return the algorithms not significantly different from the best, and the next difference."""
    if label not in table.comparisons:
        return f", ahead of {plain(rest[0])}"
    pairs = {pair.first: pair for pair in table.differences(label, best)}
    compared = [pairs[name] for name in rest if name in pairs]
    equal = [plain(pair.first) for pair in compared if pair.p_adjusted > table.level]
    behind = next((pair for pair in compared if pair.p_adjusted <= table.level), None)
    parts = []
    if equal:
        shown = equal[:4] + ([f"{len(equal) - 4} more"] if len(equal) > 4 else [])
        parts.append(f", not significantly different from {joined(shown)}")
    if behind:
        width = (behind.high or 0.0) - (behind.low or 0.0)
        gap = rounded(abs(behind.difference), decimals([width / 3.92]))
        parts.append(
            f"{', but' if equal else ','} significantly ahead of {plain(behind.first)} by {gap} "
            f"({_p(behind.p_adjusted, behind.p_is_bound)} after correction)"
        )
    return "".join(parts)


def _p(value: float, is_bound: bool) -> str:
    """Write a p-value; an upper bound as one, in no more digits than resamples can give.

    Examples
    --------
    >>> _p(0.012, False), _p(0.0091, True), _p(1e-9, True), _p(2e-9, False)
    ('p = 0.012', 'p ≤ 0.0091', 'p ≤ 0.0001', 'p = 2e-9')
    """
    if is_bound:
        return f"p ≤ {max(value, 1e-4):.2g}"
    return "p = " + (f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}".replace("e-0", "e-"))


def counted(n: int, word: str) -> str:
    """Return a number with what it counts."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"
