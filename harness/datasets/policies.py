"""How values are written in a file or a frame, and what becomes of rows that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

DuplicatePolicy = Literal["error", "first", "last", "latest", "mean", "sum", "count"]
"""Policy for a pair of user and item that is rated more than once."""


@dataclass(frozen=True, kw_only=True)
class ValueFormat:
    """How values are written, as a config says; empty text is found out.

    Parameters
    ----------
    decimal : str
        The decimal mark of numbers in text.
    thousands : str
        The mark between groups of three digits.
    time_format : str
        A pattern of `strptime`, or a unit of `harness.datasets.times.UNITS`.
    id_spellings : str
        ``join`` makes one id of those that only Unicode or blanks tell apart; ``keep`` counts them.
    no_id : sequence of str, optional
        Texts that stand for no user or item; None finds them out.
    values : dict, optional
        The numbers of texts in place of ratings.
    in_config : bool
        Whether a config can name all this, so that messages may advise it.
    """

    decimal: str = ""
    thousands: str = ""
    time_format: str = ""
    id_spellings: str = "keep"
    no_id: Sequence[str] | None = None
    values: Mapping[str, float] | None = None
    in_config: bool = True


class Policies(TypedDict, total=False):
    """What to do with rows that cannot be used unchanged, by the keys of a config."""

    scale: tuple[float, float] | None
    duplicates: str
    missing: str
    out_of_scale: str
    unreadable: str
    not_rated: list[float] | None
    no_id: list[str] | None
    values: dict[str, float] | None
