"""What every proof of `docs/guarantees.md` has: arguments, a clock, and figures that add up.

A proof that takes long can be done in pieces: ``--minutes 3 --tally FILE`` stops in time and keeps
the figures in the file, and the same command goes on from there.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

__all__ = ["Proof"]


class Proof:
    """A proof that does something a number of times.

    Parameters
    ----------
    about : str
        For ``--help``: the first line of a docstring.
    full, quick : int
        How often, and how often with ``--quick``.
    """

    def __init__(self, about: str, full: int, quick: int) -> None:
        parser = argparse.ArgumentParser(description=about.splitlines()[0])
        parser.add_argument("--count", type=int, default=full, help="how often (%(default)s)")
        parser.add_argument("--quick", action="store_true", help=f"no more than {quick} times")
        parser.add_argument("--tally", type=Path, help="file of the figures of earlier pieces")
        parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long")
        asked = parser.parse_args()
        self.quick: bool = asked.quick
        self.count: int = min(asked.count, quick) if asked.quick else asked.count
        self.tally: Path | None = asked.tally
        self.figures: dict[str, float] = {}
        if self.tally is not None and self.tally.exists():
            self.figures = json.loads(self.tally.read_text())
        self.begun = self.since = time.monotonic()
        self.end = self.begun + 60 * asked.minutes

    def __getitem__(self, name: str) -> int:
        return int(self.figures.get(name, 0))

    @property
    def done(self) -> int:
        """How often it was done so far."""
        return self["done"]

    @property
    def goes_on(self) -> bool:
        """Whether there is more to do, and time for it."""
        return self.done < self.count and time.monotonic() < self.end

    def add(self, name: str, amount: float = 1) -> None:
        """Add to a figure."""
        self.figures[name] = self.figures.get(name, 0) + amount

    def most(self, name: str, amount: float) -> None:
        """Raise a figure to an amount."""
        self.figures[name] = max(self.figures.get(name, 0), amount)

    def fault(self, message: str) -> None:
        """Tell of something that must not be."""
        self.add("faults")
        print(f"FAULT: {message}", file=sys.stderr, flush=True)

    def keep(self) -> None:
        """Write the figures down."""
        now = time.monotonic()
        self.add("seconds", now - self.since)
        self.since = now
        if self.tally is not None:
            self.tally.write_text(json.dumps(self.figures, indent=1) + "\n")

    def close(self, *lines: str) -> int:
        """Print the figures and return the exit code."""
        self.keep()
        for line in lines:
            print(line)
        print(f"{self['faults']} faults; {self.figures['seconds']:.0f} s")
        if self.done < self.count:
            print(f"{self.done} of {self.count} done: run the same command again to go on")
        return 1 if self["faults"] else 0
