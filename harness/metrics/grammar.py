"""The grammar of a metric's label: ``name(parameter=value, ...)@k``.

A value is a number, a word, or a word with numbers behind it, as ``binary(4)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import MetricError

__all__ = ["Value", "Written", "number", "read", "split"]

_LABEL = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<params>.*)\))?\s*(?:@\s*(?P<k>[^@()]*))?\s*", re.DOTALL
)
_VALUE = re.compile(r"(?P<word>[^\s()]+)\s*(?:\([^()]*\))?")


def number(value: float) -> str:
    """Write a number as a label does: whole numbers without a point.

    Examples
    --------
    >>> number(2.0), number(0.8)
    ('2', '0.8')
    """
    return (
        str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    )


class Value(str):
    """The canonical text of a parameter's value: a word, a number, or a word with numbers.

    Examples
    --------
    >>> value = Value("table(0, 1, 4)")
    >>> value.word, value.numbers, value.as_number
    ('table', (0.0, 1.0, 4.0), None)
    """

    __slots__ = ()

    @property
    def word(self) -> str:
        """What stands before the brackets; a number too."""
        return self.partition("(")[0].strip()

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers in brackets."""
        inside = self.partition("(")[2].removesuffix(")")
        return tuple(float(each) for each in inside.split(",")) if inside else ()

    @property
    def as_number(self) -> float | None:
        """The whole text as a number, or None if it is not one."""
        try:
            return float(self)
        except ValueError:
            return None


@dataclass(frozen=True)
class Written:
    """A parsed label, not yet checked against the metrics."""

    name: str
    params: tuple[tuple[str, Value], ...]
    k: str | None


def split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets.

    Examples
    --------
    >>> list(split("ndcg(gain=table(0, 1), ties=first)@5,10,rmse"))
    ['ndcg(gain=table(0, 1), ties=first)@5', '10', 'rmse']
    """
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:position].strip()
            start = position + 1
    yield text[start:].strip()


def read(label: str) -> Written:
    """Split a label into its parts.

    Parameters
    ----------
    label : str

    Raises
    ------
    MetricError
        If it does not follow the grammar.

    Examples
    --------
    >>> read("ndcg(gain=linear)@10")
    Written(name='ndcg', params=(('gain', 'linear'),), k='10')
    """
    found = _LABEL.fullmatch(label)
    if not found or label.count("(") != label.count(")"):
        raise MetricError(
            f"{label}: not a metric label; write name@k or name(parameter=value, ...)@k, "
            "as ndcg(gain=linear)@10"
        )
    inside = found["params"]
    params = tuple(_parameter(label, part) for part in split(inside)) if inside else ()
    names = [name for name, _ in params]
    for name in names:
        if names.count(name) > 1:
            raise MetricError(f"{label}: {name} is given twice; keep one")
    return Written(found["name"], params, found["k"] if found["k"] is None else found["k"].strip())


def _parameter(label: str, text: str) -> tuple[str, Value]:
    name, equals, written = text.partition("=")
    found = _VALUE.fullmatch(written.strip())
    if not equals or not name.strip() or not found:
        raise MetricError(f"{label}: {text!r} is not a parameter; write parameter=value")
    value = Value(found[0])
    try:
        _ = value.numbers
    except ValueError:
        raise MetricError(
            f"{label}: {written.strip()!r} has something other than numbers in its brackets; "
            f"write them as {found['word']}(1, 2)"
        ) from None
    return name.strip(), value
