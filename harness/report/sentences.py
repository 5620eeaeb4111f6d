"""The results in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.report.styles import plain
from harness.results.table import TIMES
from harness.results.values import decimals, rounded

if TYPE_CHECKING:
    from harness.report.digest import Digest, Place

__all__ = ["counted", "headline", "joined", "seconds_text"]


def headline(told: Digest) -> list[str]:
    """Return the result of a run, a sentence or two for each table.

    Parameters
    ----------
    told : Digest
    """
    sentences = [_headline_of(told, place) for place in told.places]
    failed = told.info.failed
    if failed:
        names = joined(list(dict.fromkeys(plain(cell.algorithm) for cell in failed)))
        sentences.append(f"{counted(len(failed), 'cell')} failed: {names}.")
    return sentences


def seconds_text(value: float) -> str:
    """Return a duration in a short form.

    Examples
    --------
    >>> seconds_text(0.0042), seconds_text(1.234), seconds_text(93.0), seconds_text(7300.0)
    ('4 ms', '1.2 s', '93 s', '122 min')
    """
    if value < 0.95:
        return f"{max(value * 1000, 1):.0f} ms"
    if value < 9.95:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 600 else f"{value / 60:.0f} min"


def joined(words: Sequence[str]) -> str:
    """Return a list as English writes it.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _headline_of(told: Digest, place: Place) -> str:
    label = told.primary
    ranked = place.ranked(label)
    where = _where(told, place)
    if not ranked:
        return f"{where}, no algorithm finished with a value of {label}."
    best = place.best(label)
    digits = place.decimals[label]
    row = place.rows[place.rows["algorithm"] == best[0]].iloc[0]
    value = rounded(float(row[label]), digits)
    evidence = place.evidence.get(label)
    standing = evidence.standing(best[0]) if evidence else None
    sure = (
        f" ({_percent(1 - evidence.level)} interval {rounded(standing.low, digits)} to "
        f"{rounded(standing.high, digits)})"
        if evidence and standing
        else ""
    )
    sentence = (
        f"{where}, {joined([plain(name) for name in best])} "
        f"{'reaches' if len(best) == 1 else 'reach'} the best {label}, {value}{sure}"
    )
    rest = [name for name in ranked if name not in best]
    if rest:
        sentence += _beside(told, place, best[0], rest)
    seconds = float(row[TIMES[0]] + row[TIMES[1]])
    return f"{sentence}. {plain(best[0])} takes {seconds_text(seconds)} to fit and score."


def _beside(told: Digest, place: Place, best: str, rest: Sequence[str]) -> str:
    """Return the algorithms not significantly different from the best, and the next difference."""
    evidence = place.evidence.get(told.primary)
    if evidence is None:
        return f", ahead of {plain(rest[0])}"
    level = evidence.level
    pairs = {name: evidence.between(best, name) for name in rest}
    equal = [n for n, pair in pairs.items() if pair and pair["p_adjusted"] > level]
    behind = [n for n, pair in pairs.items() if pair and pair["p_adjusted"] <= level]
    parts = []
    if equal:
        shown = [plain(name) for name in equal[:4]] + (
            [f"{len(equal) - 4} more"] if len(equal) > 4 else []
        )
        parts.append(f", not significantly different from {joined(shown)}")
    if behind:
        pair = pairs[behind[0]]
        assert pair is not None
        digits = decimals([abs(pair["high"] - pair["low"]) / 3.92])
        word = ", but significantly ahead of" if equal else ", significantly ahead of"
        parts.append(
            f"{word} {plain(behind[0])} by {rounded(abs(pair['difference']), digits)} "
            f"({_p(pair['p_adjusted'], pair.get('p_is_bound', False))} after correction)"
        )
    return "".join(parts)


def _where(told: Digest, place: Place) -> str:
    data, split, candidates = (plain(part) for part in place.names)
    return f"On {data} ({split}; candidates: {candidates})"


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


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


def counted(n: int, word: str) -> str:
    """Return a number with what it counts.

    Examples
    --------
    >>> counted(1, "cell"), counted(1200, "cell")
    ('1 cell', '1,200 cells')
    """
    return f"{n:,} {word}{'' if n == 1 else 's'}"
