"""What is wrong with an argument of a public function, in words; `harness.arguments` finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import numpy as np

from harness.errors import joined, suggestion

WORDS: dict[Any, str] = {
    bool: "True or False", int: "a whole number", float: "a number", str: "text",
    Path: "a path", type(None): "None", Mapping: "a mapping", Callable: "a function",
    np.ndarray: "an array of numbers", Any: "anything",
}  # fmt: skip
SHOWN = 60
"""Characters of a value that a message quotes."""


def refusal(function: str, name: str, value: object, hint: Any, choices: Iterable[Any]) -> str:
    """Return why a value is none of an annotation, whose parts are `choices`, and what to give.

    >>> refusal("half", "number", "2", float, [float])
    "half: number is '2' (str); give a number"
    """
    if isinstance(value, type):  # in place of its object, a usual slip
        return f"{function}: {name} is the class {value.__name__}; give an object of it"
    if get_origin(hint) is Literal and isinstance(value, str):
        names = map(str, get_args(hint))
        return f"unknown {name} {_shown(repr(value))}; {suggestion(value, names)}"
    words = dict.fromkeys(_word(choice) for choice in choices)
    return f"{function}: {name} is {quoted(value)}; give {joined(words, 'or')}"


def quoted(value: object) -> str:
    """Return a value on one line, as a message shows it, with its type."""
    try:
        text = " ".join(f"{value!r:.1000}".split())
    except Exception:  # an object whose own text cannot be made
        text = "an object"
    return _shown(text) + ("" if value is None else f" ({type(value).__name__})")


def _shown(text: str) -> str:
    return f"{text[:SHOWN]} …" if len(text) > SHOWN else text


def _word(hint: Any) -> str:
    origin = get_origin(hint) or hint
    if origin is Literal:
        return joined(map(repr, get_args(hint)), "or")
    if origin in WORDS:
        return WORDS[origin]
    if get_origin(hint) and issubclass(origin, Iterable):
        return "a list"
    package = origin.__module__.partition(".")[0]
    name = (
        origin.__name__ if package in ("builtins", __package__) else f"{package}.{origin.__name__}"
    )
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
