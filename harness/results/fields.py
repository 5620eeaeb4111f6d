"""Types of what a record of a run holds, each with the bounds that it is checked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    PlainSerializer,
    WrapValidator,
)

from harness.notes.note import PLAIN, Note

AGAIN = "run the config again"
"""What to do where a record, or a file beside it, cannot be read."""

Text = Annotated[str, Field(max_length=1_000_000)]
Word = Annotated[str, Field(min_length=1, max_length=10_000)]
Number = Annotated[float, Field(ge=-1e100, le=1e100)]
Amount = Annotated[float, Field(ge=0, le=1e100)]  # far from what overflows in a sum or a square
Measured = Annotated[
    Amount,
    WrapValidator(
        lambda value, check: math.nan if value is None or value is math.nan else check(value)
    ),
    PlainSerializer(lambda value: None if math.isnan(value) else value),
]
"""An amount, or NaN where nobody measured it, which is null in a file."""
Count = Annotated[int, Field(ge=0, lt=2**53)]
Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Identity = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]

Item = TypeVar("Item")
Rows = Annotated[list[Item], FailFast()]  # reports only its first fault: there may be a million
Some = Annotated[list[Item], FailFast(), Field(min_length=1)]


def _small(value: object) -> object:
    """Refuse numbers that cannot be written out; nothing else of a parameter is known here."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _small(part)
    elif isinstance(value, int) and abs(value) > 2**64:
        raise ValueError("a number beyond 2^64")
    return value


Params = Annotated[dict[str, Any], AfterValidator(_small)]


class Record(BaseModel):
    """A part of a run's record; ``part["key"]`` is short for ``part.key``."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    def __getitem__(self, key: str) -> Any:
        return vars(self)[key]

    def only(self, kind: type[Record]) -> dict[str, Any]:
        """Return the fields of a base class: the names and identities of a table or a row."""
        return {key: getattr(self, key) for key in kind.model_fields}


class _WrittenNote(Record):
    code: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_:.-]{0,199}$")]
    values: Params = {}
    where: Text = ""
    table: Annotated[str, Field(pattern="^([0-9a-f]{16})?$")] = ""
    text: Annotated[Text, Field(min_length=1)]
    weight: Annotated[int, Field(ge=1, le=3)] = 2


def _read_note(value: object, check: Callable[[object], _WrittenNote]) -> Note:
    if isinstance(value, Note):
        return value
    if isinstance(value, str):  # of a run of before notes had codes
        value = {"code": PLAIN, "text": value}
    return Note(**check(value).model_dump())


if TYPE_CHECKING:
    WrittenNote = Note
else:
    WrittenNote = Annotated[
        _WrittenNote, WrapValidator(_read_note), PlainSerializer(lambda note: note.to_dict())
    ]
"""A note as a record holds it: an object or, in older runs, a sentence."""
