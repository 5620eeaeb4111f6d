"""Notes: facts that change how numbers are read, each a code with values and one text."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from harness.errors import counted, joined, masked_text, masked_value

PLAIN = "plain"
"""The code of a sentence without one, as older runs have."""
SEPARATOR = ": "
"""Between where a note belongs and what it says."""


@dataclass(frozen=True, repr=False)
class Note:
    """A fact that a reader of numbers should know; ``str(note)`` is its text.

    Parameters
    ----------
    code : str
        What kind of fact it is, such as ``ties-decide``: programs decide by it, never by the text.
    values : mapping of str to JSON values
        The numbers and names of the fact. NumPy numbers become plain ones.
    where : str
        What it is about where that is not all of a run: a data set, a split, a table, a row.
    table : str
        The identity of its table, where it is about one.
    text : str
        Made from code and values where it is left out; needed for a code of a plug-in.
    weight : int
        How much it changes how a table is read: 3 another meaning, 2 some of its numbers, 1 how
        they were made. By default the weight of the code.

    Raises
    ------
    ValueError
        For a code that nobody declared, without a text.

    Examples
    --------
    >>> note = Note("users-undefined", {"metric": "ndcg@10", "n": 1, "n_all": 3})
    >>> str(note), note.weight
    ('ndcg@10: mean over 1 of 3 users, undefined for the others', 2)
    >>> str(Note("mine:few", {"n": 3}, where="ml-100k", text="3 users bought nothing"))
    'ml-100k: 3 users bought nothing'
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    where: str = ""
    table: str = ""
    text: str = ""
    weight: int = 0

    def __post_init__(self) -> None:
        declared = codes().get(self.code, {})
        if not (declared or self.text):
            raise ValueError(f"{self.code}: a note with an unknown code; give its text")
        values = plain(self.values, masked_value)
        text = masked_text(self.text) or sentence(str(declared["text"]), **values)
        weight = self.weight or int(declared.get("weight", 2))
        vars(self).update(values=values, where=masked_text(self.where), text=text, weight=weight)

    def __str__(self) -> str:
        return f"{self.where}{SEPARATOR}{self.text}" if self.where else self.text

    def __repr__(self) -> str:
        return f"<Note {self.code}: {self}>"

    def at(self, where: str, table: str = "") -> Note:
        """Return the note of a part of something larger, whose name stands before its own."""
        begun = SEPARATOR.join(filter(None, (where, self.where)))
        return replace(self, where=begun, table=table or self.table)

    def mapped(self, change: Callable[[str], str]) -> Note:
        """Return the note with every text in it changed."""
        values = plain(self.values, change)
        return replace(self, values=values, where=change(self.where), text=change(self.text))

    def to_dict(self) -> dict[str, Any]:
        """Return the note as JSON holds it."""
        entries = asdict(self).items()
        return {name: value for name, value in entries if value or name not in ("where", "table")}


def as_note(value: Note | str) -> Note:
    """Return a note, which a sentence becomes without its own code.

    >>> as_note("old: a sentence").code
    'plain'
    """
    return value if isinstance(value, Note) else Note(PLAIN, text=value)


def by_weight(notes: Iterable[Note]) -> list[Note]:
    """Return notes, each once: first what changes most how a table is read, else in their order."""
    return sorted(dict.fromkeys(notes), key=lambda note: -note.weight)


def sentence(template: str, **values: Any) -> str:
    """Return a text with values: ``{name:format}``, with formats for lists, counts and plurals.

    ``list``, ``and`` and ``or`` join; ``n user`` counts; ``is|are`` chooses by a number or by how
    many there are; ``percent`` is a share with one digit; ``n`` of ``n_all`` is written with its
    percentage.

    >>> sentence("{n:n user} {n:is|are} left, as {names:and}", n=1, names=["a", "b"])
    '1 user is left, as a and b'
    >>> sentence("{share:percent}", share=0.0004)
    'less than 0.1%'
    """
    return _Sentence().vformat(template, (), values)


class _Sentence(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Mapping):
            if "text" in value:  # a note in a note
                value = value["text"]
            elif {"n", "n_all"} == {*value}:
                return f"{value['n']:,} of {value['n_all']:,} ({value['n'] / value['n_all']:.1%})"
        if format_spec == "list":
            return ", ".join(map(str, value))
        if format_spec in ("and", "or"):
            return joined(value, format_spec)
        if format_spec.startswith("n "):
            return counted(value, format_spec[2:])
        if "|" in format_spec:
            n = len(value) if isinstance(value, Sized) else value
            return format_spec.split("|")[n != 1]
        if format_spec == "percent":
            return f"{100 * value:.1f}%" if value >= 0.0005 else "less than 0.1%"
        return str(super().format_field(value, format_spec))


@cache
def codes() -> Mapping[str, Mapping[str, Any]]:
    """Return the declared codes, each with its ``weight`` and ``text``."""
    return tomllib.loads(Path(__file__).with_name("notes.toml").read_text(encoding="utf-8"))


def plain(value: Any, change: Callable[[str], str] = str) -> Any:
    """Return a value as JSON has it, no NumPy, no tuples, a note as an object; texts changed."""
    if isinstance(value, Note):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): plain(item, change) for name, item in value.items()}
    if isinstance(value, str):
        return change(value)
    if not hasattr(value, "__iter__"):
        return value.item() if hasattr(value, "item") else value
    return [plain(item, change) for item in value]


WEIGHTS = {
    3: "The numbers mean something else than they seem to",
    2: "Some numbers depend on this",
    1: "How the numbers were made",
}
"""What notes of a weight change."""


def in_groups(notes: Iterable[Note]) -> dict[str, list[Note]]:
    """Return notes by what they change, under the titles of `WEIGHTS`, the most important first.

    >>> few = Note("users-undefined", {"metric": "rmse", "n": 1, "n_all": 3})
    >>> [(title, len(notes)) for title, notes in in_groups([few, few]).items()]
    [('Some numbers depend on this', 1)]
    """
    groups: dict[str, list[Note]] = {}
    for note in by_weight(notes):
        groups.setdefault(WEIGHTS[min(max(note.weight, 1), 3)], []).append(note)
    return groups
