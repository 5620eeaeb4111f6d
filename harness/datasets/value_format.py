"""How values are written in a file or a frame."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
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
    """

    decimal: str = ""
    thousands: str = ""
    time_format: str = ""
    id_spellings: str = "keep"
